//! Posting lists: the rows that have a key, each with its value (the frequency of a term, the weight of a token).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use chunkwright::ChunkId;

use super::{Places, Selection, top};
use crate::scored::Scored;

/// Rows by key.
#[derive(Debug)]
pub(super) struct Postings<V> {
    by_key: HashMap<u32, List<V>, BuildHasherDefault<IdHasher>>,
}

/// The rows that have a key, in order, with the value of each.
#[derive(Debug)]
pub(super) struct List<V> {
    pub(super) rows: Vec<u32>,
    values: Vec<V>,
}

impl<V> Default for Postings<V> {
    fn default() -> Self {
        Self { by_key: HashMap::default() }
    }
}

impl<V: Copy> Postings<V> {
    /// Adds rows with their values for `key`; the rows are in order, and none is before the last one added.
    pub(super) fn extend(&mut self, key: u32, said: impl IntoIterator<Item = (u32, V)>) {
        let list = self.by_key.entry(key).or_insert_with(|| List { rows: Vec::new(), values: Vec::new() });
        let said = said.into_iter();
        list.rows.reserve(said.size_hint().0);
        list.values.reserve(said.size_hint().0);
        for (row, value) in said {
            list.rows.push(row);
            list.values.push(value);
        }
    }

    /// Adds the postings of other rows, which begin at `first`.
    pub(super) fn append(&mut self, first: u32, other: Self) {
        for (key, list) in other.by_key {
            self.extend(key, list.iter().map(|(row, value)| (first + row, value)));
        }
    }

    /// The postings of kept rows at their [new places](super::Places).
    pub(super) fn moved(&self, places: &Places) -> Self {
        let moved = |list: &List<V>| {
            let kept = list.iter().filter_map(|(row, value)| Some((places.of(row)?, value)));
            let (rows, values) = kept.unzip();
            List { rows, values }
        };
        let lists = self.by_key.iter().map(|(key, list)| (*key, moved(list)));
        Self { by_key: lists.filter(|(_, list)| !list.rows.is_empty()).collect() }
    }

    pub(super) fn get(&self, key: u32) -> Option<&List<V>> {
        self.by_key.get(&key)
    }
}

impl<V: Copy> List<V> {
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, V)> {
        self.rows.iter().copied().zip(self.values.iter().copied())
    }
}

/// A hasher for ids that are already hashes, and for small numbers.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0 << 8 | u64::from(byte);
        }
    }

    fn write_u32(&mut self, id: u32) {
        // The map takes buckets from one end of the hash and tags from the other: both must depend on all bits.
        self.0 = u64::from(id).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}

/// The `limit` rows with the greatest scores over 0; equal scores by chunk id.
pub(super) fn best(
    scores: &[f32],
    passing: &Selection,
    limit: usize,
    id: impl Fn(usize) -> ChunkId,
) -> Vec<Scored> {
    let mut kept: Vec<(f32, u32)> = Vec::new();
    let (mut least, mut full) = (f32::MIN_POSITIVE, limit.max(64).saturating_mul(4));
    for (row, &score) in scores.iter().enumerate() {
        if score >= least && passing.has(row) {
            kept.push((score, row as u32));
            // Drops, now and then, rows that can no longer be among the best.
            if kept.len() >= full {
                least = keep_first(&mut kept, limit);
                full = full.max(2 * kept.len());
            }
        }
    }
    // Ids are scattered in memory: few are read.
    keep_first(&mut kept, limit);
    let hit = |(score, row)| Scored { id: id(row as usize), score: f64::from(score) };
    top(kept.into_iter().map(hit).collect(), limit)
}

/// Drops rows below the `limit` greatest scores and returns the least score left. Rows with that score are all kept,
/// since any of them may be needed.
fn keep_first(kept: &mut Vec<(f32, u32)>, limit: usize) -> f32 {
    if kept.len() <= limit || limit == 0 {
        return f32::MIN_POSITIVE;
    }
    let (_, &mut (least, _), _) = kept.select_nth_unstable_by(limit - 1, |a, b| b.0.total_cmp(&a.0));
    kept.retain(|(score, _)| *score >= least);
    least
}
