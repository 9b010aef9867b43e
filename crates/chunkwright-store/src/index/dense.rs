//! Ranking by dot product.
//!
//! Few vectors are all compared. Of many, [sketches](super::sketch) are read first, and the best estimates are then compared
//! exactly. Filters come before everything, so a filter never costs an answer.
//!
//! Where vectors are on disk too, they are in memory only until they have a sketch, and then those of the best estimates
//! are read.

use std::cmp::Ordering;
use std::collections::HashMap;

use chunkwright::ChunkId;
use multiversion::multiversion;

use super::bits::Bits;
use super::disk::{Disk, DiskVector};
use super::sketch::{Best, Levels, Sketches, mean};
use super::stretches::stretches;
use super::whole::Whole;
use super::{Places, Selection, top};
use crate::error::StoreError;
use crate::scored::Scored;

/// Rows whose vectors one thread compares before a second thread pays off: about half a millisecond.
const COMPARED: usize = 4_096;
/// Rows whose sketches one thread compares before a second one does: about half a millisecond.
const LOOKED_AT: usize = 524_288;

/// From this number of rows on, sketches are read first.
pub(crate) const MANY: usize = 5_000;

/// Most rows whose sketches have one mean.
pub(crate) const STRETCH: usize = 65_536;
/// Rows that a mean is made of, at least. Fewer have the one before.
const MEAN_OF: usize = 4_096;

/// Exact comparisons for each wanted result, and their least number over all rows. Measured: see `eval/search.md`.
const EXACT_PER_RESULT: usize = 10;
const LEAST_EXACT: usize = 1_000;
const ROWS_PER_EXACT: usize = 100;

/// Vectors are compared from the best estimate on, so many at once beside two for each wanted result, until the next one
/// is this many standard deviations of the estimates' errors below what is wanted.
const AT_ONCE: usize = 128;
const DEVIATIONS: f64 = 4.5;

/// The vectors of rows.
#[derive(Debug, Default)]
pub(super) struct Dense {
    /// Length of each vector; 0 where there are none.
    dimension: usize,
    /// Rows that have one.
    has: Bits,
    /// The vectors of the rows from `first_held` on; zeros where a row has none.
    held: Vec<f32>,
    first_held: usize,
    /// The key of each row's vector, where vectors are on disk too; 0 where a row has none.
    keys: Option<Vec<i64>>,
    sketches: Vec<Stretch>,
    whole: Whole,
}

/// Rows with sketches around one mean.
#[derive(Debug)]
struct Stretch {
    first: usize,
    sketches: Sketches,
}

impl Stretch {
    fn end(&self) -> usize {
        self.first + self.sketches.len()
    }
}

impl Dense {
    /// No vectors yet; `on_disk` says whether they are on disk too.
    pub(super) fn new(dimension: usize, on_disk: bool) -> Self {
        Self { dimension, keys: on_disk.then(Vec::new), ..Self::default() }
    }

    fn rows(&self) -> usize {
        self.has.len()
    }

    /// Number of rows that have a sketch.
    fn sketched(&self) -> usize {
        self.sketches.last().map_or(0, Stretch::end)
    }

    /// Adds the vector of the next row, which has this key.
    pub(super) fn push<V: Iterator<Item = f32>>(&mut self, vector: Option<V>, key: Option<i64>) {
        let end = self.held.len() + self.dimension;
        self.has.push(vector.is_some() && self.dimension > 0);
        if let Some(vector) = vector {
            self.held.extend(vector.take(self.dimension));
        }
        self.held.resize(end, 0.0);
        if let Some(keys) = &mut self.keys {
            keys.push(key.unwrap_or_default());
            if self.rows() - self.first_held >= 2 * MEAN_OF {
                self.sketch();
            }
        }
    }

    /// Adds the vectors of other rows, of the same dimension.
    pub(super) fn append(&mut self, other: Self) {
        let first = self.rows();
        if let Some(keys) = &mut self.keys {
            keys.extend(other.keys.unwrap_or_default());
            if other.first_held > 0 {
                self.sketch_all();
                let moved = other.sketches.into_iter();
                self.sketches.extend(moved.map(|it| Stretch { first: first + it.first, ..it }));
                self.first_held = first + other.first_held;
            }
        }
        self.has.extend(&other.has);
        self.held.extend(other.held);
    }

    /// Drops all but the first rows, which have sketches.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.has.truncate(rows);
        if let Some(keys) = &mut self.keys {
            keys.truncate(rows);
        }
        self.sketches.retain(|stretch| stretch.first < rows);
        if let Some(last) = self.sketches.last_mut() {
            last.sketches.truncate(rows - last.first);
        }
        (self.held, self.first_held) = (Vec::new(), rows);
        self.whole.clear();
    }

    /// The vectors of kept rows at their new places, with their sketches.
    pub(super) fn moved(&self, places: &Places) -> Self {
        let mut moved = Self::new(self.dimension, self.keys.is_some());
        moved.first_held = places.kept().take_while(|row| *row < self.first_held).count();
        for row in places.kept() {
            moved.has.push(self.has.has(row));
            if row >= self.first_held {
                let start = (row - self.first_held) * self.dimension;
                moved.held.extend_from_slice(&self.held[start..][..self.dimension]);
            }
        }
        moved.keys = self.keys.as_ref().map(|keys| places.kept().map(|row| keys[row]).collect());
        let mut first = 0;
        for Stretch { first: start, sketches } in &self.sketches {
            let rows = *start..start + sketches.len();
            let kept = rows.filter(|row| places.of(*row as u32).is_some()).map(|row| row - start);
            let sketches = sketches.only(kept);
            let stretch = Stretch { first, sketches };
            first = stretch.end();
            moved.sketches.extend((stretch.sketches.len() > 0).then_some(stretch));
        }
        moved
    }

    /// Makes the missing sketches, once there are many rows.
    pub(super) fn sketch(&mut self) {
        if self.rows() >= MANY || !self.sketches.is_empty() {
            self.sketch_all();
        }
    }

    /// Makes the missing sketches. Vectors that are on disk too are dropped from memory.
    pub(super) fn sketch_all(&mut self) {
        let rows = self.rows();
        let mut at = self.sketched();
        while self.dimension > 0 && at < rows {
            let new = &self.held[(at - self.first_held) * self.dimension..];
            let last = self.sketches.last_mut().filter(|last| last.sketches.len() < STRETCH);
            let stretch = if let Some(last) = last {
                last
            } else {
                let known = self.sketches.last().filter(|_| rows - at < MEAN_OF);
                let mean = known.map_or_else(|| mean(new, self.dimension), |it| it.sketches.mean().to_vec());
                self.sketches.push(Stretch { first: at, sketches: Sketches::around(mean) });
                let Some(last) = self.sketches.last_mut() else { return };
                last
            };
            let some = (STRETCH - stretch.sketches.len()).min(rows - at);
            stretch.sketches.extend(&new[..some * self.dimension]);
            at += some;
        }
        if self.keys.is_some() {
            (self.held, self.first_held) = (Vec::new(), rows);
        }
    }

    /// The `limit` best rows that pass; equal scores by chunk id.
    pub(super) fn search(
        &self,
        query: &[f32],
        passing: &Selection,
        limit: usize,
        disk: &dyn Disk,
        (id, version): (impl Fn(usize) -> ChunkId + Sync, impl Fn(usize) -> i64),
    ) -> Result<Vec<Scored>, StoreError> {
        if self.dimension == 0 {
            return Ok(Vec::new());
        }
        let passes = |row: usize| self.has.has(row) && passing.has(row);
        let rows = self.rows();
        let wanted = limit.saturating_mul(EXACT_PER_RESULT).max(LEAST_EXACT).max(rows / ROWS_PER_EXACT);
        let scored = if self.sketched() < rows || rows <= wanted {
            let all = (0..rows).filter(|row| passes(*row)).map(|row| (f32::INFINITY, row as u32)).collect();
            self.compared(query, all, (limit, rows), disk, version)?
        } else {
            let at_once = limit.saturating_mul(2).saturating_add(AT_ONCE);
            self.compared(query, self.estimated(query, &passes, wanted), (limit, at_once), disk, version)?
        };
        let hit = |(score, row): (f32, u32)| Scored { id: id(row as usize), score: f64::from(score) };
        Ok(top(scored.into_iter().map(hit).collect(), limit))
    }

    /// The product of `query` with the vector of each of these rows, by row; rows without a vector are left out.
    pub(super) fn products(
        &self,
        query: &[f32],
        rows: &[u32],
        disk: &dyn Disk,
        version: impl Fn(usize) -> i64,
    ) -> Result<HashMap<usize, f64>, StoreError> {
        let rows: Vec<_> =
            rows.iter().filter(|row| self.has.has(**row as usize)).map(|row| (f32::INFINITY, *row)).collect();
        let all = rows.len();
        let products = self.compared(query, rows, (all, all), disk, version)?;
        Ok(products.into_iter().map(|(product, row)| (row as usize, f64::from(product))).collect())
    }

    /// The passing rows with the `wanted` greatest estimates, unordered.
    fn estimated(
        &self,
        query: &[f32],
        passes: &(impl Fn(usize) -> bool + Sync),
        wanted: usize,
    ) -> Vec<(f32, u32)> {
        let levels = Levels::of(query);
        let least = if self.rows() <= LOOKED_AT { self.sketches.len() } else { 1 };
        let parts = stretches(self.sketches.len(), least, |some| {
            let mut best = Best::of(wanted);
            for Stretch { first, sketches } in &self.sketches[some] {
                sketches.best((query, &levels), *first, passes, &mut best);
            }
            best.estimates()
        });
        let mut best = parts.concat();
        separate(&mut best, wanted);
        best.truncate(wanted);
        best
    }

    /// The products of the best `limit` of some rows, and of others, unordered. The greatest estimates come first, so many
    /// at once, and the others only as far as their errors, as they were seen, may hide what is wanted.
    fn compared(
        &self,
        query: &[f32],
        mut estimates: Vec<(f32, u32)>,
        (limit, at_once): (usize, usize),
        disk: &dyn Disk,
        version: impl Fn(usize) -> i64,
    ) -> Result<Vec<(f32, u32)>, StoreError> {
        let keys = self.keys.as_deref().unwrap_or_default();
        let whole = self.whole.vectors();
        let vector = |row: u32| match self.first_held {
            0 => Some(&self.held[row as usize * self.dimension..][..self.dimension]),
            _ => whole.get(row as usize),
        };
        let mut scored: Vec<(f32, u32)> = Vec::with_capacity(at_once.min(estimates.len()));
        let (mut errors, mut read) = (Errors::default(), 0);
        while !estimates.is_empty() {
            separate(&mut estimates, at_once);
            let later = estimates.split_off(at_once.min(estimates.len()));
            let (here, mut on_disk): (Vec<_>, Vec<_>) =
                estimates.into_iter().partition(|(_, row)| vector(*row).is_some());
            let products = stretches(here.len(), COMPARED, |some| {
                let of = |(_, row): &(f32, u32)| vector(*row).unwrap_or_default();
                let (fours, rest) = here[some].as_chunks();
                let fours = fours.iter().flat_map(|four| dots(query, four.each_ref().map(of)));
                fours.chain(rest.iter().map(|it| dot(query, of(it)))).collect::<Vec<_>>()
            });
            let mut add = |(estimate, row): (f32, u32), score: f32| {
                errors.add(f64::from(score - estimate));
                scored.push((score, row));
            };
            here.iter().zip(products.concat()).for_each(|(it, score)| add(*it, score));
            // In the order of keys, neighbours are read together.
            on_disk.sort_unstable_by_key(|(_, row)| keys[*row as usize]);
            let wanted = on_disk.iter().map(|(_, row)| *row as usize);
            let wanted: Vec<_> =
                wanted.map(|row| DiskVector { key: keys[row], version: version(row) }).collect();
            disk.vectors(&wanted, &mut |at, vector| add(on_disk[at], dot(query, vector)))?;
            read += on_disk.len();
            separate(&mut scored, limit);
            let least = scored.iter().take(limit).map(|(score, _)| *score).fold(f32::INFINITY, f32::min);
            let next = later.iter().map(|(estimate, _)| *estimate).fold(f32::NEG_INFINITY, f32::max);
            if scored.len() >= limit && f64::from(next) + errors.most() < f64::from(least) {
                break;
            }
            estimates = later;
        }
        if read > 0 {
            self.whole.count(read, (keys, self.dimension), disk)?;
        }
        Ok(scored)
    }

    /// The persistent form of all rows: keys, and sketches around one mean. There are at most [`STRETCH`] rows, or a
    /// few more.
    pub(super) fn encode(&mut self, keys: &mut Vec<u8>, sketches: &mut Vec<u8>) {
        self.sketch_all();
        for key in self.keys.iter().flatten() {
            crate::bm25::put(keys, *key as u64);
        }
        for stretch in &self.sketches {
            crate::bm25::put(sketches, stretch.sketches.len() as u64);
            stretch.sketches.encode(sketches);
        }
    }

    /// Reads what [`encode`](Self::encode) wrote of `rows` rows; `None` if it is not that.
    pub(super) fn decode(
        dimension: usize,
        rows: usize,
        keys: &mut &[u8],
        mut sketches: &[u8],
    ) -> Option<Self> {
        let mut dense = Self::new(dimension, true);
        let mut all = Vec::with_capacity(rows);
        for _ in 0..rows {
            let key = i64::try_from(crate::bm25::take(keys)?).ok()?;
            dense.has.push(key != 0 && dimension > 0);
            all.push(key);
        }
        (dense.keys, dense.first_held) = (Some(all), rows);
        while !sketches.is_empty() {
            let some = usize::try_from(crate::bm25::take(&mut sketches)?).ok()?;
            let bytes = Sketches::size(dimension, some)?;
            let (stretch, rest) = sketches.split_at_checked(bytes)?;
            let first = dense.sketched();
            dense.sketches.push(Stretch { first, sketches: Sketches::decode(stretch, dimension, some)? });
            sketches = rest;
        }
        (dimension == 0 || dense.sketched() == rows).then_some(dense)
    }
}

/// Puts the `count` greatest first, unordered; among equal ones, the first rows.
fn separate(estimates: &mut [(f32, u32)], count: usize) {
    let order = |a: &(f32, u32), b: &(f32, u32)| -> Ordering { b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)) };
    if count > 0 && estimates.len() > count {
        estimates.select_nth_unstable_by(count - 1, order);
    }
}

/// The errors of estimates.
#[derive(Default)]
struct Errors {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Errors {
    fn add(&mut self, error: f64) {
        self.count += 1.0;
        self.sum += error;
        self.squares += error * error;
    }

    /// What an estimate is below the product, at the most.
    fn most(&self) -> f64 {
        let mean = self.sum / self.count;
        mean.max(0.0) + DEVIATIONS * (self.squares / self.count - mean * mean).max(0.0).sqrt()
    }
}

/// Numbers that [`dot`] multiplies at once.
const LANES: usize = 16;

/// The [products](dot) of a vector with four others of its length. Vectors at random places are waited for together.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn dots(a: &[f32], others: [&[f32]; 4]) -> [f32; 4] {
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let [b, c, d, e] = others.map(|other| other.as_chunks::<LANES>().0);
    let mut sums = [[0.0_f32; LANES]; 4];
    for ((((a, b), c), d), e) in a_lanes.iter().zip(b).zip(c).zip(d).zip(e) {
        for (sums, other) in sums.iter_mut().zip([b, c, d, e]) {
            for lane in 0..LANES {
                sums[lane] += a[lane] * other[lane];
            }
        }
    }
    let mut products = [0.0; 4];
    for ((product, sums), other) in products.iter_mut().zip(&sums).zip(others) {
        let rest: f32 = a_rest.iter().zip(other.as_chunks::<LANES>().1).map(|(a, b)| a * b).sum();
        *product = sums.iter().sum::<f32>() + rest;
    }
    products
}

/// Dot product, in lanes that a compiler turns into vector instructions. The order of additions is
/// fixed, so equal input has equal output everywhere.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a_lanes, a_rest), (b_lanes, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::disk::NoDisk;

    /// Vectors around a few centres that are far from the origin, as those of models are.
    fn vectors(rows: usize, dimension: usize, mut seed: u64) -> Vec<f32> {
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
        };
        let centres: Vec<f32> = (0..64 * dimension).map(|_| random() + 0.3).collect();
        let mut vectors = Vec::with_capacity(rows * dimension);
        for row in 0..rows {
            let centre = &centres[row % 64 * dimension..][..dimension];
            let vector: Vec<f32> = centre.iter().map(|value| value + 1.2 * random()).collect();
            let length = dot(&vector, &vector).sqrt();
            vectors.extend(vector.iter().map(|value| value / length));
        }
        vectors
    }

    #[test]
    fn sketches_find_what_comparing_all_finds_whatever_passes() {
        let (rows, dimension) = (MANY + 1000, 60);
        let all = vectors(rows, dimension, 7);
        let mut index = Dense::new(dimension, false);
        for (row, vector) in all.chunks_exact(dimension).enumerate() {
            // Rows come in two batches, and some have no vector.
            if row == MANY + 10 {
                index.sketch();
            }
            index.push((row % 97 != 0).then(|| vector.iter().copied()), None);
        }
        index.sketch();
        assert_eq!(index.sketched(), rows);
        let mut passing = Bits::default();
        (0..rows).for_each(|row| passing.push(row % 3 != 1));
        let id = |row: usize| ChunkId((row as u128).to_be_bytes());
        for passing in [Selection::All, Selection::Rows(passing)] {
            let (mut found, mut wanted) = (0, 0);
            for query in vectors(20, dimension, 99).chunks_exact(dimension) {
                let scored = all
                    .chunks_exact(dimension)
                    .enumerate()
                    .filter(|(row, _)| row % 97 != 0 && passing.has(*row));
                let exact =
                    scored.map(|(row, vector)| Scored { id: id(row), score: f64::from(dot(query, vector)) });
                let exact = top(exact.collect(), 10);
                let best = index.search(query, &passing, 10, &NoDisk, (id, |_| 0)).expect("ranked");
                wanted += exact.len();
                found += best.iter().filter(|hit| exact.contains(hit)).count();
            }
            assert!(found * 100 >= wanted * 98, "{found} of {wanted}");
        }
    }
}
