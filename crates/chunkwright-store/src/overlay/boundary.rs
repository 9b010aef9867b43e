//! Manual boundaries: a chunk is divided, or two are joined.
//!
//! A boundary is identified by the text before and after it, so that it is found again whatever else in the document is
//! edited and whatever settings the document is cut by. Like the placing of chunk overlays, this depends on the present
//! text alone, not on history.

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

/// Characters of context stored on each side of a boundary; more if they occur in several places.
const CONTEXT: usize = 100;

/// Most characters of context stored on each side.
const MOST_CONTEXT: usize = 16 * CONTEXT;

/// Least characters that identify a place by one side alone, or by both if the rest was edited.
const TELLING: usize = 24;

impl SetBoundary {
    /// The boundary at byte `at` of a source.
    ///
    /// # Errors
    ///
    /// `false` if there is no text on one side or `at` is invalid; `true` if the text on both sides also occurs
    /// elsewhere, so that the boundary could not be found again.
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

    /// The id of the boundary.
    fn id(&self, doc_id: &str) -> String {
        let named = format!("{:?}\n{doc_id}\n{}\n\n{}", self.kind, self.before, self.after);
        text_hash(&named).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Finds the boundary in a text with LF line breaks; the state says whether the text beside it is unchanged.
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

/// Returns whether two places of a source have only blanks between them.
pub fn is_same_place(source: &str, a: usize, b: usize) -> bool {
    source.get(a.min(b)..a.max(b)).is_some_and(|between| between.trim().is_empty())
}

/// Most occurrences of a text that are examined: one with more identifies nothing.
const MOST_PLACES: usize = 4096;

/// The only place in `text` where `before` ends and `after` begins, with at most blanks between them.
fn find(text: &str, before: &str, after: &str) -> Option<usize> {
    let step = after.chars().next()?.len_utf8();
    let (mut from, mut found) = (0, None);
    for _ in 0..MOST_PLACES {
        let Some(at) = text[from..].find(after).map(|at| from + at) else { return found };
        if text[..at].trim_end().ends_with(before) && found.replace(at).is_some() {
            return None;
        }
        // The next occurrence may overlap.
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

/// A manual boundary as applied to a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedBoundary {
    /// The id of the boundary.
    #[serde(rename = "boundary")]
    pub id: String,
    /// How its place was found; in conflict if the chunk of a merge would be over the limit.
    pub state: OverlayState,
    /// The chunk that begins there, or that it is in; `None` if its place was not found.
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
    /// Returns whether it sets a boundary of this kind at this place of a source.
    pub fn is_boundary_at(&self, source: &str, at: u32, kind: BoundaryKind) -> bool {
        let Some(set) = self.boundary.as_ref().filter(|set| set.kind == kind) else { return false };
        let (text, at) = (with_lf(source), with_lf(&source[..at as usize]).len());
        set.place(&text).is_some_and(|(place, _)| is_same_place(&text, place, at))
    }

    /// The same boundary with the text now beside it; `None` if it is not a boundary, or its place is not found in the
    /// source.
    pub fn accepted(&self, source: &str, now: &str) -> Option<Self> {
        let (set, text) = (self.boundary.as_ref()?, with_lf(source));
        let set = SetBoundary::new(set.kind, &text, set.place(&text)?.0).ok()?;
        Some(Self::of_boundary(&self.doc_id, set, now))
    }
}

impl Overlays {
    /// Cuts a document by its manual boundaries; returns the state of each.
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

    /// Returns whether a stored document was cut by its present manual boundaries.
    pub fn is_cut(&self, info: &DocumentInfo) -> bool {
        let applied = info.boundaries();
        let mut set = self.boundaries_of(&info.doc_id);
        applied.iter().all(|applied| set.next().is_some_and(|set| set.chunk_id == applied.id))
            && set.next().is_none()
    }
}

impl DocumentInfo {
    /// The manual boundaries that it was cut by, in the order of their ids.
    pub fn boundaries(&self) -> Vec<AppliedBoundary> {
        let of_boundary = |stored| if let Stored::Boundary(applied) = stored { Some(applied) } else { None };
        read(&self.overlays).into_iter().filter_map(of_boundary).collect()
    }

    /// Sets the manual boundaries that it was cut by; the overlays on its chunks stay.
    pub fn set_boundaries(&mut self, boundaries: &[AppliedBoundary]) {
        let applied = self.applied();
        self.overlays = write(&applied, boundaries);
    }
}
