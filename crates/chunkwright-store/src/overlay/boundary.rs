//! Boundaries that are set by hand: a chunk is divided, or two are joined.
//!
//! A boundary is remembered by the text before and after it, so that it is found again whatever else of the document is
//! edited and by whatever settings it is cut. Like where overlays of chunks are, that depends on the text there is and
//! on nothing that happened before.

use chunkwright::chunk::{Boundary, BoundaryKind, BoundaryOutcome};
use chunkwright::{Chunked, Chunker, Document, with_lf};
use chunkwright_models::text_hash;
use serde::{Deserialize, Serialize};

use super::applied::{Stored, read, write};
use super::{Overlay, OverlayState, Overlays};
use crate::document::DocumentInfo;

/// A boundary that was set by hand, by the text beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetBoundary {
    /// Whether a chunk begins there.
    pub kind: BoundaryKind,
    /// The text before it, without blanks at its end; empty at the start of the document. Line breaks are LF.
    pub before: String,
    /// The text after it, without blanks at its start. Line breaks are LF.
    pub after: String,
}

/// Characters that are remembered on each side of a boundary; more where they stand in several places.
const CONTEXT: usize = 100;

/// Most characters that are remembered.
const MOST_CONTEXT: usize = 16 * CONTEXT;

/// Least characters that tell a place by one side alone, or by both where the rest was edited.
const TELLING: usize = 24;

impl SetBoundary {
    /// The boundary at byte `at` of a source.
    ///
    /// # Errors
    ///
    /// Whether text is on both sides: if it is, it stands in other places too, and the boundary could not be found again.
    pub fn new(kind: BoundaryKind, source: &str, at: usize) -> Result<Self, bool> {
        let sides = source.get(..at).zip(source.get(at..)).ok_or(false)?;
        let (before, after) = (with_lf(sides.0), with_lf(sides.1));
        let (before, after) = (before.trim_end(), after.trim_start());
        if before.is_empty() || after.is_empty() {
            return Err(false);
        }
        let text = with_lf(source);
        let mut context = CONTEXT;
        while context <= MOST_CONTEXT {
            let set =
                Self { kind, before: last(before, context).into(), after: first(after, context).into() };
            if find(&text, &set.before, &set.after) == Some(text.len() - after.len()) {
                return Ok(set);
            }
            context *= 2;
        }
        Err(true)
    }

    /// What names it.
    fn id(&self, doc_id: &str) -> String {
        let named = format!("{:?}\n{doc_id}\n{}\n\n{}", self.kind, self.before, self.after);
        text_hash(&named).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Where it is in a text with LF, and whether the text beside it is as it was.
    fn place(&self, text: &str) -> Option<(usize, OverlayState)> {
        if let Some(at) = find(text, &self.before, &self.after) {
            return Some((at, OverlayState::On));
        }
        let (before, after) = (last(&self.before, TELLING), first(&self.after, TELLING));
        let says_enough = |text: &&str| text.chars().count() >= TELLING;
        let sides = [
            Some((before, after)),
            Some(("", &*self.after)),
            Some(("", after)).filter(|(_, it)| says_enough(it)),
        ];
        let found = sides.into_iter().flatten().find_map(|(before, after)| find(text, before, after));
        let by_start = || {
            let before = Some(before).filter(says_enough)?;
            let mut ends = text.match_indices(before).map(|(at, found)| at + found.len());
            let (end, None) = (ends.next()?, ends.next()) else { return None };
            Some(end + text[end..].find(|c: char| !c.is_whitespace())?)
        };
        found.or_else(by_start).map(|at| (at, OverlayState::Carried))
    }
}

/// Whether only blanks are between two places of a source.
pub fn is_same_place(source: &str, a: usize, b: usize) -> bool {
    source.get(a.min(b)..a.max(b)).is_some_and(|between| between.trim().is_empty())
}

/// Most places where a text stands that are looked at: one that stands in more tells nothing.
const MOST_PLACES: usize = 4096;

/// The only place in `text` where `after` begins and `before` ends, but for blanks between them.
fn find(text: &str, before: &str, after: &str) -> Option<usize> {
    let step = after.chars().next()?.len_utf8();
    let (mut from, mut found) = (0, None);
    for _ in 0..MOST_PLACES {
        let Some(at) = text[from..].find(after).map(|at| from + at) else { return found };
        if text[..at].trim_end().ends_with(before) && found.replace(at).is_some() {
            return None;
        }
        // The next may overlap with it.
        from = at + step;
    }
    None
}

fn first(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}

fn last(text: &str, chars: usize) -> &str {
    text.char_indices().rev().nth(chars - 1).map_or(text, |(start, _)| &text[start..])
}

/// A boundary as a document is cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedBoundary {
    /// What names the boundary.
    #[serde(rename = "boundary")]
    pub id: String,
    /// How it was found; in conflict if the chunk of a merge would be over the limit.
    pub state: OverlayState,
    /// The chunk that begins there, or that it is in; none if there is no such place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub on: Option<String>,
}

impl Overlay {
    /// An overlay that sets a boundary in a document.
    pub fn of_boundary(doc_id: &str, set: SetBoundary, changed_at: &str) -> Self {
        Self {
            chunk_id: set.id(doc_id),
            doc_id: doc_id.to_owned(),
            boundary: Some(set),
            changed_at: changed_at.to_owned(),
            ..Self::default()
        }
    }
}

impl Overlay {
    /// Whether it sets a boundary of this kind at a place of a source.
    pub fn is_boundary_at(&self, source: &str, at: u32, kind: BoundaryKind) -> bool {
        let Some(set) = self.boundary.as_ref().filter(|set| set.kind == kind) else { return false };
        let (text, at) = (with_lf(source), with_lf(&source[..at as usize]).len());
        set.place(&text).is_some_and(|(place, _)| is_same_place(&text, place, at))
    }

    /// The same boundary by the text that is beside it now; none if it is no boundary, or has no place in the source.
    pub fn accepted(&self, source: &str, now: &str) -> Option<Self> {
        let (set, text) = (self.boundary.as_ref()?, with_lf(source));
        let set = SetBoundary::new(set.kind, &text, set.place(&text)?.0).ok()?;
        Some(Self::of_boundary(&self.doc_id, set, now))
    }
}

impl Overlays {
    /// Cuts a document with the boundaries that were set in it; answers how each stands.
    pub fn cut<'a>(
        &self,
        chunker: &'a Chunker,
        document: &'a Document,
    ) -> (Chunked<'a>, Vec<AppliedBoundary>) {
        let set: Vec<(&Overlay, &SetBoundary)> = self
            .boundaries_of(document.id())
            .filter_map(|overlay| Some((overlay, overlay.boundary.as_ref()?)))
            .collect();
        if set.is_empty() {
            return (chunker.chunk(document), Vec::new());
        }
        let text = with_lf(document.source());
        let places: Vec<Option<(usize, OverlayState)>> =
            set.iter().map(|(_, set)| set.place(&text)).collect();
        let boundaries = set.iter().zip(&places).filter_map(|((_, set), place)| {
            let at = document.place_in_source(place.as_ref()?.0 as u32);
            Some(Boundary { at, kind: set.kind })
        });
        let (chunks, outcomes) = chunker.chunk_with(document, &boundaries.collect::<Vec<_>>());
        let mut outcomes = outcomes.into_iter();
        let applied = set.iter().zip(places).map(|((overlay, _), place)| {
            let outcome = place.and_then(|(_, state)| Some((state, outcomes.next()?)));
            let (state, chunk) = match outcome {
                Some((state, BoundaryOutcome::InForce { chunk })) => (state, Some(chunk)),
                Some((_, BoundaryOutcome::TooLarge { chunk, .. })) => (OverlayState::Conflict, Some(chunk)),
                Some((_, BoundaryOutcome::Nowhere)) | None => (OverlayState::Orphaned, None),
            };
            let on = chunk.map(|chunk| chunks[chunk].id.to_string());
            AppliedBoundary { id: overlay.chunk_id.clone(), state, on }
        });
        let applied = applied.collect();
        (chunks, applied)
    }

    /// Whether a document is cut with the boundaries that are set in it now.
    pub fn is_cut(&self, info: &DocumentInfo) -> bool {
        let applied = info.boundaries();
        let mut set = self.boundaries_of(&info.doc_id);
        applied.iter().all(|applied| set.next().is_some_and(|set| set.chunk_id == applied.id))
            && set.next().is_none()
    }
}

impl DocumentInfo {
    /// The boundaries that it was cut with, by what names them.
    pub fn boundaries(&self) -> Vec<AppliedBoundary> {
        let of_boundary = |stored| if let Stored::Boundary(applied) = stored { Some(applied) } else { None };
        read(&self.overlays).into_iter().filter_map(of_boundary).collect()
    }

    /// Sets the boundaries that it was cut with; what is on its chunks stays.
    pub fn set_boundaries(&mut self, boundaries: &[AppliedBoundary]) {
        let applied = self.applied();
        self.overlays = write(&applied, boundaries);
    }
}
