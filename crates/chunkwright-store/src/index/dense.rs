//! Ranking by dot product over vectors that lie in memory.
//!
//! Few vectors are all compared. Of many, [sketches](super::sketch) are read first, and the best estimates are then compared
//! exactly. Filters come before everything, so a filter never costs an answer.

use chunkwright::ChunkId;
use multiversion::multiversion;

use super::bits::Bits;
use super::sketch::{Levels, RUN, Sketches, first};
use super::stretches::stretches;
use super::{Places, Selection, top};
use crate::scored::Scored;

/// Rows whose vectors and sketches one thread compares before a second thread pays off: about half a millisecond.
const COMPARED: usize = 4_096;
const LOOKED_AT: usize = 256 * RUN;

/// From this number of rows on, sketches are read first.
pub(super) const MANY: usize = 5_000;

/// Exact comparisons for each wanted result, and their least number over all rows. Measured: see `eval/search.md`.
const EXACT_PER_RESULT: usize = 10;
const LEAST_EXACT: usize = 1_000;
const ROWS_PER_EXACT: usize = 100;

/// The vectors of rows.
#[derive(Debug, Default)]
pub(super) struct Dense {
    /// Length of each vector; 0 where there are none.
    dimension: usize,
    /// One vector per row; zeros where a row has none.
    vectors: Vec<f32>,
    /// Rows that have one.
    has: Bits,
    sketches: Sketches,
}

impl Dense {
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension, ..Self::default() }
    }

    /// Adds the vector of the next row.
    pub(super) fn push<V: Iterator<Item = f32>>(&mut self, vector: Option<V>) {
        let end = self.vectors.len() + self.dimension;
        self.has.push(vector.is_some() && self.dimension > 0);
        if let Some(vector) = vector {
            self.vectors.extend(vector.take(self.dimension));
        }
        self.vectors.resize(end, 0.0);
    }

    /// Adds the vectors of other rows, of the same dimension.
    pub(super) fn append(&mut self, other: Self) {
        self.vectors.extend(other.vectors);
        self.has.extend(&other.has);
    }

    /// The vectors of kept rows at their new places, with their sketches.
    pub(super) fn moved(&self, places: &Places) -> Self {
        let dimension = self.dimension;
        let mut moved = Self { sketches: self.sketches.moved(places), ..Self::new(dimension) };
        moved.vectors.reserve_exact(places.kept().count() * dimension);
        for row in places.kept() {
            moved.has.push(self.has.has(row));
            moved.vectors.extend_from_slice(&self.vectors[row * dimension..][..dimension]);
        }
        moved
    }

    /// Makes the missing sketches, once there are many rows.
    pub(super) fn sketch(&mut self) {
        if self.dimension > 0 && self.vectors.len() / self.dimension >= MANY {
            self.sketches.extend(&self.vectors, self.dimension);
        }
    }

    /// The `limit` best rows that pass; equal scores by chunk id.
    pub(super) fn search(
        &self,
        query: &[f32],
        passing: &Selection,
        limit: usize,
        id: impl Fn(usize) -> ChunkId + Sync,
    ) -> Vec<Scored> {
        if self.dimension == 0 {
            return Vec::new();
        }
        let passes = |row: usize| self.has.has(row) && passing.has(row);
        let exact = |row: usize| {
            let vector = &self.vectors[row * self.dimension..][..self.dimension];
            Scored { id: id(row), score: f64::from(dot(query, vector)) }
        };
        let rows = self.vectors.len() / self.dimension;
        let wanted = limit.saturating_mul(EXACT_PER_RESULT).max(LEAST_EXACT).max(rows / ROWS_PER_EXACT);
        if self.sketches.len() < rows || rows <= wanted {
            let best = stretches(rows, COMPARED, |rows| {
                top(rows.filter(|row| passes(*row)).map(exact).collect(), limit)
            });
            return top(best.concat(), limit);
        }
        let levels = Levels::of(query);
        let estimates =
            stretches(rows, LOOKED_AT, |rows| self.sketches.best(&levels, rows, &passes, wanted)).concat();
        let best = first(estimates, wanted);
        let compared = stretches(best.len(), COMPARED, |some| {
            best[some].iter().map(|(_, row)| exact(*row as usize)).collect::<Vec<_>>()
        });
        top(compared.concat(), limit)
    }
}

/// Dot product, in lanes that a compiler turns into vector instructions. The order of additions is
/// fixed, so equal input has equal output everywhere.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
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
        let mut index = Dense::new(dimension);
        for (row, vector) in all.chunks_exact(dimension).enumerate() {
            // Rows come in two batches, and some have no vector.
            if row == MANY + 10 {
                index.sketch();
            }
            index.push((row % 97 != 0).then(|| vector.iter().copied()));
        }
        index.sketch();
        assert_eq!(index.sketches.len(), rows);
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
                let best = index.search(query, &passing, 10, id);
                wanted += exact.len();
                found += best.iter().filter(|hit| exact.contains(hit)).count();
            }
            assert!(found * 100 >= wanted * 98, "{found} of {wanted}");
        }
    }
}
