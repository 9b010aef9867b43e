//! Ranking by dot product over vectors that lie in memory.
//!
//! Few vectors are all compared. Of many, a sketch is read first, a bit a number: whether it is above the
//! mean of all vectors, and a length. A query is not reduced to signs: a table gives what each byte of a sketch
//! adds to the product, so that an estimate costs one look-up for eight numbers. The tables are of 16 bits, for they
//! must stay in the nearest cache. The best estimates are then compared exactly. Filters come before everything, so a filter never costs an answer.
//!
//! The estimate is that of `RaBitQ` (Gao and Long, SIGMOD 2024) without its rotation: with `r` what is left of
//! a vector without the mean, `r . q` is about `|r|^2 / |r|_1` times the sum of `q` by the signs of `r`.

use chunkwright::ChunkId;
use rayon::prelude::*;

use super::super::Scored;
use super::bits::Bits;
use super::{Passing, Places, top};

/// Fewest rows scored by one task, and tasks for each thread: what a task keeps is looked through once more.
const ROWS_PER_TASK: usize = 16_384;
const TASKS_PER_THREAD: usize = 2;

/// From this number of rows on, sketches are read first.
pub(super) const MANY: usize = 5_000;

/// Exact comparisons for each result wanted, and the least of them, of all rows. Measured: see `eval/search.md`.
const EXACT_PER_RESULT: usize = 10;
const LEAST_EXACT: usize = 1_000;
const ROWS_PER_EXACT: usize = 100;

/// The vectors of rows.
#[derive(Debug, Default)]
pub(super) struct Dense {
    /// Length of each vector; 0 where there are none.
    dimension: usize,
    /// A vector a row; zeros where there is none.
    vectors: Vec<f32>,
    /// Rows that have one.
    has: Bits,
    sketches: Sketches,
}

/// What is read first, for as many rows as there were when they were [made](Dense::sketch) last.
#[derive(Debug, Default)]
struct Sketches {
    mean: Vec<f32>,
    /// Number of rows that the mean is of.
    mean_of: usize,
    /// A bit a number, whole bytes a row.
    codes: Vec<u8>,
    /// What the sum by signs is multiplied with.
    factors: Vec<f32>,
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

    /// The vectors of rows that have a new place, with their sketches.
    pub(super) fn moved(&self, places: &Places) -> Self {
        let (dimension, bytes) = (self.dimension, self.dimension.div_ceil(8));
        let mut moved = Self::new(dimension);
        moved.vectors.reserve_exact(places.kept().count() * dimension);
        let sketches = &mut moved.sketches;
        (sketches.mean, sketches.mean_of) = (self.sketches.mean.clone(), self.sketches.mean_of);
        for row in places.kept() {
            moved.has.push(self.has.has(row));
            moved.vectors.extend_from_slice(&self.vectors[row * dimension..][..dimension]);
            if let Some(factor) = self.sketches.factors.get(row) {
                sketches.factors.push(*factor);
                sketches.codes.extend_from_slice(&self.sketches.codes[row * bytes..][..bytes]);
            }
        }
        moved
    }

    /// Makes the sketches of rows that have none, once there are many. The mean is taken anew when there are
    /// twice as many rows as it is of.
    pub(super) fn sketch(&mut self) {
        let rows = self.vectors.len().checked_div(self.dimension).unwrap_or(0);
        if rows < MANY {
            return;
        }
        let sketches = &mut self.sketches;
        if rows >= 2 * sketches.mean_of {
            *sketches =
                Sketches { mean: mean(&self.vectors, self.dimension), mean_of: rows, ..Sketches::default() };
        }
        let done = sketches.factors.len();
        let new: Vec<(Vec<u8>, f32)> = self.vectors[done * self.dimension..]
            .par_chunks(self.dimension)
            .map(|vector| sketch(vector, &sketches.mean))
            .collect();
        for (code, factor) in new {
            sketches.codes.extend(code);
            sketches.factors.push(factor);
        }
    }

    /// The `limit` best rows that pass; equal scores by chunk id.
    pub(super) fn search(
        &self,
        query: &[f32],
        passing: &Passing,
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
        if self.sketches.factors.len() < rows || rows <= wanted {
            let best: Vec<Vec<Scored>> = tasks(rows)
                .map(|task| top(task.filter(|row| passes(*row)).map(exact).collect(), limit))
                .collect();
            return top(best.concat(), limit);
        }
        let tables = tables(query);
        let estimates: Vec<Vec<(f32, u32)>> =
            tasks(rows).map(|task| self.sketches.best(&tables, task, &passes, wanted)).collect();
        let best = first(estimates.concat(), wanted);
        top(best.into_par_iter().map(|(_, row)| exact(row as usize)).collect(), limit)
    }
}

/// Stretches of rows, to be worked on side by side.
fn tasks(rows: usize) -> impl IndexedParallelIterator<Item = std::ops::Range<usize>> {
    let size = rows.div_ceil(TASKS_PER_THREAD * rayon::current_num_threads()).max(ROWS_PER_TASK);
    (0..rows.div_ceil(size)).into_par_iter().map(move |task| task * size..((task + 1) * size).min(rows))
}

impl Sketches {
    /// The rows of a task with the greatest estimates, in no order.
    fn best(
        &self,
        tables: &[[i16; 256]],
        task: std::ops::Range<usize>,
        passes: &(impl Fn(usize) -> bool + Sync),
        wanted: usize,
    ) -> Vec<(f32, u32)> {
        let mut kept: Vec<(f32, u32)> = Vec::with_capacity(2 * wanted.min(task.len()));
        let mut least = f32::NEG_INFINITY;
        let codes = self.codes[task.start * tables.len()..].chunks_exact(tables.len());
        for ((row, code), factor) in task.clone().zip(codes).zip(&self.factors[task.start..]) {
            if !passes(row) {
                continue;
            }
            let estimate = sum(tables, code) as f32 * factor;
            if estimate > least {
                kept.push((estimate, row as u32));
                // Now and then what cannot be among the first any more is dropped.
                if kept.len() >= 2 * wanted {
                    kept = first(kept, wanted);
                    least = kept.iter().map(|(estimate, _)| *estimate).fold(f32::INFINITY, f32::min);
                }
            }
        }
        first(kept, wanted)
    }
}

/// The `wanted` greatest, in no order; of equal ones the first rows.
fn first(mut estimates: Vec<(f32, u32)>, wanted: usize) -> Vec<(f32, u32)> {
    if estimates.len() > wanted {
        estimates.select_nth_unstable_by(wanted - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        estimates.truncate(wanted);
    }
    estimates
}

fn mean(vectors: &[f32], dimension: usize) -> Vec<f32> {
    let mut sums = vec![0.0_f64; dimension];
    for vector in vectors.chunks_exact(dimension) {
        sums.iter_mut().zip(vector).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let rows = (vectors.len() / dimension).max(1) as f64;
    sums.into_iter().map(|sum| (sum / rows) as f32).collect()
}

/// The signs of a vector without the mean, and the factor of the estimate.
fn sketch(vector: &[f32], mean: &[f32]) -> (Vec<u8>, f32) {
    let mut code = vec![0; vector.len().div_ceil(8)];
    let (mut squares, mut lengths) = (0.0_f32, 0.0_f32);
    for (at, (value, mean)) in vector.iter().zip(mean).enumerate() {
        let rest = value - mean;
        code[at / 8] |= u8::from(rest > 0.0) << (at % 8);
        squares += rest * rest;
        lengths += rest.abs();
    }
    (code, if lengths > 0.0 { squares / lengths } else { 0.0 })
}

/// For each byte of a sketch, what each of its values adds: the numbers of the query, by the signs, in steps of which
/// the greatest sum has as many as 16 bits hold. Only the order of sums matters.
fn tables(query: &[f32]) -> Vec<[i16; 256]> {
    let greatest = query.chunks(8).map(|numbers| numbers.iter().map(|q| q.abs()).sum()).fold(0.0, f32::max);
    let steps = if greatest > 0.0 { f32::from(i16::MAX) / greatest } else { 0.0 };
    let table = |numbers: &[f32]| {
        std::array::from_fn(|byte| {
            let signed =
                numbers.iter().enumerate().map(|(bit, q)| if byte >> bit & 1 == 1 { *q } else { -q });
            (signed.sum::<f32>() * steps) as i16
        })
    };
    query.chunks(8).map(table).collect()
}

/// The sum of the query's numbers by the signs of a sketch, of which eight bytes are read at once, in four lanes that do
/// not wait for each other.
fn sum(tables: &[[i16; 256]], code: &[u8]) -> i32 {
    let ((tables, rest_tables), (codes, rest_codes)) = (tables.as_chunks::<8>(), code.as_chunks::<8>());
    let mut sums = [0; 4];
    for (tables, codes) in tables.iter().zip(codes) {
        let codes = u64::from_le_bytes(*codes);
        for at in 0..8 {
            sums[at % 4] += i32::from(tables[at][usize::from((codes >> (8 * at)) as u8)]);
        }
    }
    let rest = rest_tables.iter().zip(rest_codes).map(|(table, code)| i32::from(table[usize::from(*code)]));
    sums.iter().sum::<i32>() + rest.sum::<i32>()
}

/// Dot product, in lanes that a compiler turns into vector instructions. The order of additions is
/// fixed, so equal input has equal output everywhere.
fn dot(a: &[f32], b: &[f32]) -> f32 {
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
            // Rows come in two lots, and some have no vector.
            if row == MANY + 10 {
                index.sketch();
            }
            index.push((row % 97 != 0).then(|| vector.iter().copied()));
        }
        index.sketch();
        assert_eq!(index.sketches.factors.len(), rows);
        let mut passing = Bits::default();
        (0..rows).for_each(|row| passing.push(row % 3 != 1));
        let id = |row: usize| ChunkId((row as u128).to_be_bytes());
        for passing in [Passing::All, Passing::Rows(passing)] {
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
