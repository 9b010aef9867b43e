//! Posting lists: the rows that have a key, each with its value (the frequency of a term, the weight of a token).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use chunkwright::ChunkId;
use multiversion::multiversion;

use super::{Places, top};
use crate::bm25::{put, take};
use crate::scored::Scored;

/// Rows by key.
#[derive(Debug)]
pub(super) struct Postings<V> {
    by_key: ById<u32, List<V>>,
}

/// A map whose keys are hashes, or small numbers.
pub(super) type ById<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// The rows that have a key, in order, with the value of each.
#[derive(Debug)]
pub struct List<V> {
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
        let list = self.by_key.entry(key).or_default();
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

    /// The lists by ascending key.
    pub(super) fn sorted(&self) -> Vec<(u32, &List<V>)> {
        let mut lists: Vec<_> = self.by_key.iter().map(|(key, list)| (*key, list)).collect();
        lists.sort_unstable_by_key(|(key, _)| *key);
        lists
    }

    pub(super) fn get(&self, key: u32) -> Option<&List<V>> {
        self.by_key.get(&key)
    }
}

/// The value of a posting.
pub trait Value: Copy {
    /// Adds the distance to the row before, and the value.
    fn put(self, distance: u64, bytes: &mut Vec<u8>);

    /// Takes what [`put`](Self::put) added.
    fn take(bytes: &mut &[u8]) -> Option<(u64, Self)>;
}

/// A frequency: mostly 1, which a bit of the distance says.
impl Value for u8 {
    fn put(self, distance: u64, bytes: &mut Vec<u8>) {
        put(bytes, distance << 1 | u64::from(self != 1));
        if self != 1 {
            bytes.push(self);
        }
    }

    fn take(bytes: &mut &[u8]) -> Option<(u64, Self)> {
        // Most are of rows that are not far apart.
        if let Some((&number @ ..0x80, rest)) = bytes.split_first()
            && number & 1 == 0
        {
            *bytes = rest;
            return Some((u64::from(number >> 1), 1));
        }
        let number = take(bytes)?;
        if number & 1 == 0 {
            return Some((number >> 1, 1));
        }
        let (value, rest) = bytes.split_first()?;
        *bytes = rest;
        Some((number >> 1, *value))
    }
}

/// A weight.
impl Value for f32 {
    fn put(self, distance: u64, bytes: &mut Vec<u8>) {
        put(bytes, distance);
        bytes.extend(self.to_le_bytes());
    }

    fn take(bytes: &mut &[u8]) -> Option<(u64, Self)> {
        let distance = take(bytes)?;
        let (value, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some((distance, Self::from_le_bytes(*value)))
    }
}

impl<V> Default for List<V> {
    fn default() -> Self {
        Self { rows: Vec::new(), values: Vec::new() }
    }
}

impl<V: Value> List<V> {
    /// A compact form: the number of rows, and for each the distance to the one before with its value.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.rows.len() as u64);
        let mut before = 0;
        for (row, value) in self.iter() {
            value.put(u64::from(row - before), bytes);
            before = row;
        }
    }

    /// Adds what [`encode`](Self::encode) wrote at the start of `bytes`, with rows counted from `first` on; `None` if it is
    /// not that.
    pub(crate) fn decode(&mut self, mut bytes: &[u8], first: u32) -> Option<()> {
        let length = usize::try_from(take(&mut bytes)?).ok().filter(|length| *length <= bytes.len())?;
        self.rows.reserve(length);
        self.values.reserve(length);
        let mut row = u64::from(first);
        let postings = (0..length).map_while(|_| {
            let (distance, value) = V::take(&mut bytes)?;
            row += distance;
            Some((u32::try_from(row).ok()?, value))
        });
        let before = self.rows.len();
        for (row, value) in postings {
            self.rows.push(row);
            self.values.push(value);
        }
        (self.rows.len() - before == length).then_some(())
    }

    /// Bytes that it takes in memory.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>() + self.rows.len() * (size_of::<u32>() + size_of::<V>())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl<V: Copy> List<V> {
    /// The value of a row, if it is here.
    pub(super) fn value(&self, row: u32) -> Option<V> {
        self.rows.binary_search(&row).ok().map(|at| self.values[at])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, V)> {
        self.rows.iter().zip(&self.values).map(|(row, value)| (*row, *value))
    }
}

/// A hasher for ids that are already hashes, and for small numbers.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0 << 8 | u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write_u32(&mut self, id: u32) {
        // The map takes buckets from one end of the hash and tags from the other: both must depend on all bits.
        self.0 = u64::from(id).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}

/// Scores of which the greatest is computed at once.
const GROUP: usize = 32;

/// The `limit` greatest scores over 0; equal scores by chunk id. `row` is the row of a score by its position.
pub(super) fn best(
    scores: &[f32],
    row: impl Fn(usize) -> usize,
    limit: usize,
    id: impl Fn(usize) -> ChunkId,
) -> Vec<Scored> {
    let mut greatest = Vec::with_capacity(scores.len().div_ceil(GROUP));
    greatest_of_groups(scores, &mut greatest);
    // A score of each of `limit` groups is this or more, so those below it are not among the best.
    let least = match limit.checked_sub(1) {
        Some(before) if limit < greatest.len() => {
            let mut ordered = greatest.clone();
            let (_, least, _) = ordered.select_nth_unstable_by(before, |a, b| b.total_cmp(a));
            least.max(f32::MIN_POSITIVE)
        }
        _ => f32::MIN_POSITIVE,
    };
    let mut kept: Vec<(f32, u32)> = Vec::new();
    let with_some = (0..)
        .step_by(GROUP)
        .zip(scores.chunks(GROUP))
        .zip(&greatest)
        .filter(|(_, greatest)| **greatest >= least);
    for ((first, group), _) in with_some {
        // The scores first: there may be no row after the last.
        let of_group = group.iter().zip((first..).map(&row)).filter(|(score, _)| **score >= least);
        kept.extend(of_group.map(|(score, row)| (*score, row as u32)));
    }
    // Ids are scattered in memory: few are read.
    keep_first(&mut kept, limit);
    let hit = |(score, row)| Scored { id: id(row as usize), score: f64::from(score) };
    top(kept.into_iter().map(hit).collect(), limit)
}

/// Pushes the greatest score of each group; 0 if none is greater. The bits of positive numbers are ordered as the numbers
/// are, and a compiler compares many integers at once.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn greatest_of_groups(scores: &[f32], greatest: &mut Vec<f32>) {
    let bits = |score: &f32| if *score > 0.0 { score.to_bits() } else { 0 };
    greatest
        .extend(scores.chunks(GROUP).map(|group| f32::from_bits(group.iter().map(bits).fold(0, u32::max))));
}

/// Drops rows below the `limit` greatest scores. Rows with the least score left are all kept, since any of them may be
/// needed.
fn keep_first(kept: &mut Vec<(f32, u32)>, limit: usize) {
    if kept.len() > limit && limit > 0 {
        let (_, &mut (least, _), _) = kept.select_nth_unstable_by(limit - 1, |a, b| b.0.total_cmp(&a.0));
        kept.retain(|(score, _)| *score >= least);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_are_the_first_of_all_in_order(
            // Few values, so that many are equal, and what a score may be by accident.
            some in prop::collection::vec(0_usize..20, 0..300),
            repeats in 1_usize..20,
            limit in 0_usize..400,
        ) {
            const RARE: [f32; 7] = [0.0, -0.0, -1.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE, 1e-40];
            let score = |at: &usize| RARE.get(*at).copied().unwrap_or(*at as f32);
            let scores: Vec<f32> = some.iter().map(score).collect::<Vec<_>>().repeat(repeats);
            let id = |row: usize| ChunkId((row as u128).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
            let rows = scores.iter().enumerate().filter(|(_, score)| **score >= f32::MIN_POSITIVE);
            let all = rows.map(|(row, score)| Scored { id: id(row), score: f64::from(*score) }).collect();
            prop_assert_eq!(best(&scores, |at| at, limit, id), top(all, limit));
        }
    }
}
