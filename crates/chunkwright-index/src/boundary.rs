//! Manual boundaries: divides a chunk, or joins two.
//!
//! A planned boundary is stored as overlays are, and the next run of the pipeline cuts the document by it. So the
//! process may be killed at any moment.

use std::collections::HashSet;

use chunkwright::chunk::BoundaryKind;
use chunkwright::{Chunked, Chunker, Document};

use crate::amend::{AmendError, unit_of};
use chunkwright_store::overlay::is_same_place;
use chunkwright_store::{AppliedBoundary, Overlay, OverlayState, Overlays, SetBoundary};

/// Plans the overlays that make a chunk begin at byte `at` of a document, or stop beginning there: overlays that set a
/// boundary, and empty ones for those to be removed.
///
/// An opposite boundary at the same place is removed first, so that dividing and joining again leaves nothing behind.
///
/// # Errors
///
/// A place without text on both sides, or one that could not be found again; a split where a chunk begins already, or a
/// merge where none does; a merge over the limit.
pub fn plan_boundary(
    overlays: &Overlays,
    chunker: &Chunker,
    document: &Document,
    (at, kind): (u32, BoundaryKind),
    now: &str,
) -> Result<Vec<Overlay>, AmendError> {
    let (source, doc_id) = (document.source(), document.id());
    let line = document.lines().line(at) as u32;
    let nothing = || AmendError::NoBoundary { doc_id: doc_id.to_owned(), line };
    let begins = |chunks: &Chunked<'_>| {
        chunks[..].iter().any(|chunk| is_same_place(source, chunk.span.start as usize, at as usize))
    };
    let is_done = |chunks: &Chunked<'_>| begins(chunks) == (kind == BoundaryKind::Split);
    if is_done(&overlays.cut(chunker, document).0) {
        return Err(nothing());
    }
    let mut wanted = overlays.clone();
    let mut changes: Vec<Overlay> = Vec::new();
    let opposite =
        overlays.boundaries_of(doc_id).filter(|overlay| overlay.is_boundary_at(source, at, kind.opposite()));
    for overlay in opposite {
        let taken_back = Overlay { chunk_id: overlay.chunk_id.clone(), ..Overlay::default() };
        wanted.put(taken_back.clone());
        changes.push(taken_back);
    }
    let before: HashSet<String> =
        conflicts(&overlays.cut(chunker, document).1).map(|it| it.id.clone()).collect();
    let is_done_by = |wanted: &Overlays| -> Result<bool, AmendError> {
        let (chunks, applied) = wanted.cut(chunker, document);
        // Of adjacent merges, the last one would be dropped, whichever was made first.
        match conflicts(&applied).find(|it| !before.contains(&it.id)) {
            Some(refused) => Err(too_long(&chunks, chunker, source, refused).unwrap_or_else(nothing)),
            None => Ok(is_done(&chunks)),
        }
    };
    if !changes.is_empty() && is_done_by(&wanted)? {
        return Ok(changes);
    }
    let ambiguous = || AmendError::AmbiguousBoundary { doc_id: doc_id.to_owned(), line };
    let set = SetBoundary::new(kind, source, at as usize)
        .map_err(|has_text| if has_text { ambiguous() } else { nothing() })?;
    let overlay = Overlay::of_boundary(doc_id, set, now);
    wanted.put(overlay.clone());
    if !is_done_by(&wanted)? {
        return Err(nothing());
    }
    changes.insert(0, overlay);
    Ok(changes)
}

/// Boundaries that are not in force.
fn conflicts(applied: &[AppliedBoundary]) -> impl Iterator<Item = &AppliedBoundary> {
    applied.iter().filter(|applied| applied.state == OverlayState::Conflict)
}

/// The error for a merge whose chunk cannot be joined to the previous one.
fn too_long(
    chunks: &Chunked<'_>,
    chunker: &Chunker,
    source: &str,
    refused: &AppliedBoundary,
) -> Option<AmendError> {
    let on = refused.on.as_ref()?;
    let index = chunks[..].iter().position(|chunk| chunk.id.to_string() == *on)?;
    let before = chunks.get(index.checked_sub(1)?)?;
    let both = source.get(before.span.start as usize..chunks[index].span.end as usize)?;
    let (size, limit, unit) = chunker.excess(both)?;
    Some(AmendError::MergeTooLong { size, limit, unit: unit_of(unit) })
}
