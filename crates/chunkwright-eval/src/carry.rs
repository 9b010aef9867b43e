//! Measures what becomes of overlays when a document is edited or cut differently: one overlay for each chunk of the
//! old version, each placed on the chunks of the new one as if it were the only one.
//!
//! The right chunk is the one that holds most of the old chunk's bytes that the edit kept. If the edit kept less than a
//! third, there is no right chunk.

use std::collections::HashMap;
use std::ops::Range;

use chunkwright::{Chunker, Record};
use chunkwright_index::{Overlay, OverlayState, Overlays};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::edit::Edit;
use crate::stability::records;

/// The outcomes of overlays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carry {
    /// Overlays, one a chunk.
    pub overlays: usize,
    /// Those found by the chunk's id or content.
    pub on: usize,
    /// Those found by likeness.
    pub carried: usize,
    /// Those on no chunk.
    pub orphaned: usize,
    /// Overlays on no chunk although there is a right one.
    pub missed: usize,
    /// Those found by likeness on another chunk than the right one.
    pub wrong: usize,
}

impl Carry {
    fn add(self, other: Self) -> Self {
        Self {
            overlays: self.overlays + other.overlays,
            on: self.on + other.on,
            carried: self.carried + other.carried,
            orphaned: self.orphaned + other.orphaned,
            missed: self.missed + other.missed,
            wrong: self.wrong + other.wrong,
        }
    }

    /// Share of all overlays that have a right chunk and are in force.
    pub fn in_force(&self) -> f64 {
        let have = self.overlays - self.orphaned + self.missed;
        (self.on + self.carried - self.wrong) as f64 / have.max(1) as f64
    }

    /// The same, of those that neither id nor content finds.
    pub fn by_likeness(&self) -> f64 {
        let have = self.carried + self.missed;
        (self.carried - self.wrong) as f64 / have.max(1) as f64
    }

    /// Share of all overlays that are on a wrong chunk.
    pub fn wrong_share(&self) -> f64 {
        self.wrong as f64 / self.overlays.max(1) as f64
    }
}

/// Measures what becomes of the overlays on every chunk that `before` cuts, when each document is edited and cut by
/// `after`.
pub fn carry(before: &Chunker, after: &Chunker, edits: &[Edit]) -> Carry {
    let one = |edit: &Edit| carry_one(before, after, edit);
    edits.par_iter().map(one).reduce(Carry::default, Carry::add)
}

fn carry_one(before: &Chunker, after: &Chunker, edit: &Edit) -> Carry {
    let (old, new) = (records(before, edit, &edit.old), records(after, edit, &edit.new));
    let new: Vec<&Record> = new.iter().collect();
    let mut same = Vec::new();
    align(&edit.old, &edit.new, (0..edit.old.len(), 0..edit.new.len()), &mut same);
    let mut carry = Carry { overlays: old.len(), ..Carry::default() };
    for record in &old {
        let overlay = Overlay { disabled: true, ..Overlay::of(record) };
        let overlays: Overlays = std::iter::once(overlay).collect();
        let placed = overlays.place(&new);
        let at = placed.iter().position(Option::is_some);
        let shared = shared(record, &new, &same);
        let most = shared.iter().copied().max().unwrap_or(0);
        let has_right = 3 * most >= record.content.len();
        match at.and_then(|at| Some((at, placed[at]?.1))) {
            None => {
                carry.orphaned += 1;
                carry.missed += usize::from(has_right);
            }
            Some((_, OverlayState::On)) => carry.on += 1,
            Some((at, _)) => {
                carry.carried += 1;
                carry.wrong += usize::from(!has_right || shared[at] < most);
            }
        }
    }
    carry
}

/// Bytes of an old chunk that each of the new ones holds.
fn shared(old: &Record, new: &[&Record], same: &[(usize, usize, usize)]) -> Vec<usize> {
    let overlap = |a: Range<usize>, b: Range<usize>| a.end.min(b.end).saturating_sub(a.start.max(b.start));
    let span = old.start_byte as usize..old.end_byte as usize;
    let of = |record: &&Record| {
        let runs = same.iter().filter(|(from, _, len)| *from < span.end && span.start < from + len);
        runs.map(|&(from, to, len)| {
            let start = from.max(span.start);
            let end = (from + len).min(span.end);
            let moved = to + (start - from)..to + (end - from);
            overlap(moved, record.start_byte as usize..record.end_byte as usize)
        })
        .sum()
    };
    new.iter().map(of).collect()
}

/// Adds the runs of bytes that an edit left: where they were, where they are, and their length.
fn align(
    old: &str,
    new: &str,
    (from, to): (Range<usize>, Range<usize>),
    same: &mut Vec<(usize, usize, usize)>,
) {
    let (mut from, mut to) = (from, to);
    let equal = |pair: &(u8, u8)| pair.0 == pair.1;
    let pairs = old.as_bytes()[from.clone()].iter().copied().zip(new.as_bytes()[to.clone()].iter().copied());
    let head = pairs.take_while(equal).count();
    same.push((from.start, to.start, head));
    (from.start, to.start) = (from.start + head, to.start + head);
    let pairs = old.as_bytes()[from.clone()].iter().rev().copied();
    let tail = pairs.zip(new.as_bytes()[to.clone()].iter().rev().copied()).take_while(equal).count();
    (from.end, to.end) = (from.end - tail, to.end - tail);
    same.push((from.end, to.end, tail));
    if from.is_empty() || to.is_empty() {
        return;
    }
    // Lines that occur once on both sides, as long as they are in order.
    let (before, after) = (once(old, &from), once(new, &to));
    let mut pairs: Vec<(usize, usize, usize)> =
        before.iter().filter_map(|(line, at)| Some((*at, *after.get(line)?, line.len()))).collect();
    pairs.sort_unstable();
    let mut last = to.start;
    pairs.retain(|&(_, at, len)| {
        let is_next = at >= last;
        last = if is_next { at + len } else { last };
        is_next
    });
    let mut start = (from.start, to.start);
    for (at, there, len) in pairs {
        same.push((at, there, len));
        if (at, there) != start && at < from.end {
            align_gap(old, new, (start.0..at, start.1..there), same);
        }
        start = (at + len, there + len);
    }
    if start != (from.start, to.start) {
        align_gap(old, new, (start.0..from.end, start.1..to.end), same);
    }
}

fn align_gap(
    old: &str,
    new: &str,
    (from, to): (Range<usize>, Range<usize>),
    same: &mut Vec<(usize, usize, usize)>,
) {
    if !from.is_empty() && !to.is_empty() {
        align(old, new, (from, to), same);
    }
}

/// Start of each line that occurs once in the range.
fn once<'t>(text: &'t str, range: &Range<usize>) -> HashMap<&'t [u8], usize> {
    let mut at = range.start;
    let mut lines: HashMap<&[u8], Option<usize>> = HashMap::new();
    for line in text.as_bytes()[range.clone()].split_inclusive(|byte| *byte == b'\n') {
        let known = lines.contains_key(line);
        lines.insert(line, (!known).then_some(at));
        at += line.len();
    }
    lines.into_iter().filter_map(|(line, at)| Some((line, at?))).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chunkwright::{ChunkConfig, Words};

    use super::*;

    #[test]
    fn overlays_of_an_edited_document_are_counted() {
        let config = ChunkConfig { min_size: 0, ..ChunkConfig::default() };
        let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
        let old = "# A\n\nThe first of two paragraphs, with a dozen words and some more of them.\n\n# B\n\n\
            The second one, which says something else in about as many words as that.\n";
        let edit = |new: String| Edit { kind: "k".into(), doc_id: "a.md".into(), old: old.into(), new };
        let found = carry(&chunker, &chunker, &[edit(old.replace("dozen", "score of"))]);
        assert_eq!(found, Carry { overlays: 2, on: 1, carried: 1, ..Carry::default() });
        assert_eq!((found.in_force(), found.by_likeness(), found.wrong_share()), (1.0, 1.0, 0.0));
        let gone = carry(
            &chunker,
            &chunker,
            &[edit("# A\n\nAll of it is new, and none of it is as it was.\n".into())],
        );
        assert_eq!(gone, Carry { overlays: 2, orphaned: 2, ..Carry::default() });
    }

    #[test]
    fn what_an_edit_left_is_found() {
        let (old, new) = ("one\ntwo\nthree\nfour\n", "zero\none\n2\nthree more\nfour\n");
        let mut same = Vec::new();
        align(old, new, (0..old.len(), 0..new.len()), &mut same);
        let kept: usize = same.iter().map(|(.., len)| len).sum();
        assert!(
            same.iter()
                .all(|&(from, to, len)| old.as_bytes()[from..from + len] == new.as_bytes()[to..to + len])
        );
        assert!(kept >= "one\nfour\n".len(), "{same:?}");
    }
}
