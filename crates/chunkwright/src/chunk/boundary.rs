//! Boundaries set by hand: places where a chunk must or must not begin, whatever the strategy says.

use serde::{Deserialize, Serialize};

use crate::chunk::finish::Finisher;
use crate::chunk::tile::{place, visible};
use crate::chunk::{Cut, Draft};
use crate::document::Document;
use crate::span::{Span, is_blank};

/// A boundary that was set by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Boundary {
    /// A byte of the source. What counts is the first visible character from there on, with the indentation before it; no
    /// place is inside a grapheme cluster or inside markup.
    pub at: u32,
    /// Whether a chunk begins there.
    pub kind: BoundaryKind,
}

/// What was done by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BoundaryKind {
    /// A chunk begins there.
    Split,
    /// No chunk begins there: the two chunks beside it are one.
    Merge,
}

impl BoundaryKind {
    /// The kind that undoes it.
    pub fn opposite(self) -> Self {
        match self {
            Self::Split => Self::Merge,
            Self::Merge => Self::Split,
        }
    }
}

/// What became of a boundary that was set by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundaryOutcome {
    /// It is in force.
    InForce {
        /// Index of the chunk that begins there, or of the one that the place is in.
        chunk: usize,
    },
    /// The chunk of a merge would be over the limit, so the boundary stayed.
    TooLarge {
        /// Size that the chunk would have, without what it borrows.
        size: usize,
        /// Index of the chunk that begins there.
        chunk: usize,
    },
    /// No text is on both sides of it.
    Nowhere,
}

impl Finisher<'_> {
    /// Sets boundaries in the chunks that were made. All splits are made before the first merge, so the order of
    /// `boundaries` is of no account.
    pub(super) fn set(&mut self, boundaries: &[Boundary]) -> Vec<BoundaryOutcome> {
        if boundaries.is_empty() {
            return Vec::new();
        }
        let (made, document) = (std::mem::take(&mut self.chunks), self.document);
        let draft = |chunk: &super::Chunk| Draft {
            span: chunk.span,
            cut: chunk.cut,
            whole: chunk.oversize,
            apart: false,
        };
        let mut drafts: Vec<Draft> = made.iter().map(draft).collect();
        let starts: Vec<Option<u32>> = boundaries.iter().map(|it| start(document, &drafts, it.at)).collect();
        let mut sorted: Vec<(u32, BoundaryKind)> =
            boundaries.iter().zip(&starts).filter_map(|(it, start)| Some(((*start)?, it.kind))).collect();
        sorted.sort_by_key(|(start, kind)| (*kind == BoundaryKind::Merge, *start));
        let mut refused: Vec<(u32, usize)> = Vec::new();
        let mut is_changed = false;
        for (start, kind) in sorted {
            match kind {
                BoundaryKind::Split => is_changed |= split(document, &mut drafts, start),
                BoundaryKind::Merge => match self.merge(&mut drafts, start) {
                    Ok(was_changed) => is_changed |= was_changed,
                    Err(size) => refused.push((start, size)),
                },
            }
        }
        if is_changed {
            self.keeps_spans = true;
            for draft in drafts {
                self.fit(draft);
            }
        } else {
            self.chunks = made;
        }
        let became = |(it, start): (&Boundary, Option<u32>)| self.became(it.kind, start?, &refused);
        let outcomes = boundaries.iter().zip(starts).map(became);
        outcomes.map(|outcome| outcome.unwrap_or(BoundaryOutcome::Nowhere)).collect()
    }

    /// The outcome of the boundary at `start`.
    fn became(&self, kind: BoundaryKind, start: u32, refused: &[(u32, usize)]) -> Option<BoundaryOutcome> {
        let chunk = self.chunks.partition_point(|chunk| chunk.span.start <= start).checked_sub(1)?;
        let begins = self.chunks[chunk].span.start == start;
        match kind {
            BoundaryKind::Merge => match refused.iter().find(|(at, _)| *at == start) {
                Some(&(_, size)) => Some(BoundaryOutcome::TooLarge { size, chunk }),
                None => (!begins).then_some(BoundaryOutcome::InForce { chunk }),
            },
            BoundaryKind::Split => begins.then_some(BoundaryOutcome::InForce { chunk }),
        }
    }

    /// Joins the draft that begins at `start` to the one before it. Returns whether there is one; fails with their
    /// joint size if that is over the limit.
    fn merge(&mut self, drafts: &mut Vec<Draft>, start: u32) -> Result<bool, usize> {
        let found = drafts.binary_search_by_key(&start, |draft| draft.span.start);
        let Ok(index @ 1..) = found else { return Ok(false) };
        let span = drafts[index - 1].span.to(drafts[index].span);
        let (size, is_over) = self.measure(span, &[]);
        if is_over {
            return Err(size);
        }
        drafts.remove(index);
        drafts[index - 1].span = span;
        Ok(true)
    }
}

/// Divides the draft that has text on both sides of `start`; returns whether there is one.
fn split(document: &Document, drafts: &mut Vec<Draft>, start: u32) -> bool {
    let index = drafts.partition_point(|draft| draft.span.start < start).checked_sub(1);
    let Some(index) = index.filter(|index| start < drafts[*index].span.end) else { return false };
    let Span { start: from, end } = drafts[index].span;
    let Some(before) = visible(document, Span { start: from, end: start }) else { return false };
    drafts[index].span = Span { start: from, ..before };
    drafts[index].whole = false;
    drafts
        .insert(index + 1, Draft { span: Span { start, end }, cut: Cut::Manual, whole: false, apart: false });
    true
}

/// Start of the chunk that is to begin at `at`: the start of an existing one with only blanks between, else the first
/// visible character or the indentation before it. `None` after the last visible character.
fn start(document: &Document, drafts: &[Draft], at: u32) -> Option<u32> {
    let source = document.source();
    let from = place(document, at) as usize;
    let first = from + source[from..].find(|c| !is_blank(c))?;
    let line = source[..first].rfind('\n').map_or(0, |end| end + 1);
    let is_indented = source[line..first].chars().all(|c| is_blank(c) && c != '\u{feff}');
    let indented = if is_indented { place(document, line as u32) } else { first as u32 };
    let first = first as u32;
    let after = drafts.partition_point(|draft| draft.span.start < at.min(first));
    let begins = drafts.get(after).map(|draft| draft.span.start).filter(|start| *start <= at.max(first));
    Some(begins.unwrap_or(indented))
}
