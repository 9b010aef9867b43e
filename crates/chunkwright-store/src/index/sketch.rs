//! Sketches of vectors, one bit per component: read first where vectors are many.
//!
//! A bit says whether a number is above the mean of all vectors. With `r` what is left of a vector without the mean,
//! `r . q` is about `|r|^2 / |r|_1` times the sum of `q` by the signs of `r`: the estimate of `RaBitQ` (Gao and Long, SIGMOD
//! 2024) without its rotation. As there, the numbers of a query become levels of four bits, so that the sum is made
//! of counts: of the bits that a sketch has in common with each bit of the levels. Sketches of eight rows lie side by
//! side, word by word, for processors that count many words at once.

use std::ops::Range;

use multiversion::multiversion;

use super::Places;
use super::stretches::stretches;

/// Number of rows whose words are interleaved.
const LANES: usize = 8;
/// Rows whose sums are computed at once. Threads work on whole runs.
pub(super) const RUN: usize = 512;
/// Sketches that one thread makes before a second thread pays off.
const MADE: usize = 8_192;
/// Bits per quantized component of a query.
const LEVEL_BITS: usize = 4;
const WORD: usize = u64::BITS as usize;

/// The sketches of the rows that existed at the last [update](Self::extend).
#[derive(Debug, Default)]
pub(super) struct Sketches {
    mean: Vec<f32>,
    /// Number of rows that the mean was computed over.
    mean_of: usize,
    /// The words of sketches, block by block, one lane per row.
    words: Vec<[u64; LANES]>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    /// The factor of the sum by signs.
    factor: f32,
    /// Number of bits that are set.
    ones: f32,
}

/// A query, quantized for comparison with sketches.
pub(super) struct Levels {
    /// For each word of a sketch, the bits of the levels.
    planes: Vec<[u64; LEVEL_BITS]>,
    /// The value of level 0, and the step between levels.
    least: f32,
    step: f32,
    /// Sum of the query's components.
    sum: f32,
}

impl Sketches {
    /// Number of rows that have a sketch.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Makes the missing sketches of `vectors`. The mean is recomputed when the number of rows has doubled since.
    pub(super) fn extend(&mut self, vectors: &[f32], dimension: usize) {
        let rows = vectors.len() / dimension;
        if rows >= 2 * self.mean_of {
            *self = Self { mean: mean(vectors, dimension), mean_of: rows, ..Self::default() };
        }
        let new = &vectors[self.len() * dimension..];
        let sketches = stretches(new.len() / dimension, MADE, |rows| {
            let vectors = new[rows.start * dimension..rows.end * dimension].chunks_exact(dimension);
            vectors.map(|vector| sketch(vector, &self.mean)).collect::<Vec<_>>()
        });
        for (row, words) in sketches.into_iter().flatten() {
            self.push(row, words.into_iter());
        }
    }

    fn push(&mut self, row: Row, words: impl ExactSizeIterator<Item = u64>) {
        let (block, lane) = (self.len() / LANES * words.len(), self.len() % LANES);
        if lane == 0 {
            self.words.resize(block + words.len(), [0; LANES]);
        }
        self.words[block..].iter_mut().zip(words).for_each(|(lanes, word)| lanes[lane] = word);
        self.rows.push(row);
    }

    /// The sketches of kept rows at their new places.
    pub(super) fn moved(&self, places: &Places) -> Self {
        let mut moved = Self { mean: self.mean.clone(), mean_of: self.mean_of, ..Self::default() };
        let width = self.mean.len().div_ceil(WORD);
        for row in places.kept().take_while(|row| *row < self.len()) {
            let block = &self.words[row / LANES * width..][..width];
            moved.push(self.rows[row], block.iter().map(|lanes| lanes[row % LANES]));
        }
        moved
    }

    /// The passing rows of `rows` with the `wanted` greatest estimates, unordered; `rows` begins where a [run](RUN)
    /// does.
    pub(super) fn best(
        &self,
        query: &Levels,
        rows: Range<usize>,
        passes: &(impl Fn(usize) -> bool + Sync),
        wanted: usize,
    ) -> Vec<(f32, u32)> {
        let width = query.planes.len();
        let mut kept: Vec<(f32, u32)> = Vec::with_capacity(2 * wanted.min(rows.len()));
        let mut least = f32::NEG_INFINITY;
        for start in rows.clone().step_by(RUN) {
            let run = start..(start + RUN).min(rows.end);
            if !run.clone().any(passes) {
                continue;
            }
            let mut sums = [[0; LANES]; RUN / LANES];
            let blocks = start / LANES..run.end.div_ceil(LANES);
            common_bits(&query.planes, &self.words[blocks.start * width..blocks.end * width], &mut sums);
            for (row, sum) in run.zip(sums.as_flattened()) {
                let Row { factor, ones } = self.rows[row];
                let estimate = factor * (2.0 * (query.least * ones + query.step * *sum as f32) - query.sum);
                if estimate > least && passes(row) {
                    kept.push((estimate, row as u32));
                    // Now and then what cannot be among the first any more is dropped.
                    if kept.len() >= 2 * wanted {
                        kept = first(kept, wanted);
                        least = kept.iter().map(|(estimate, _)| *estimate).fold(f32::INFINITY, f32::min);
                    }
                }
            }
        }
        first(kept, wanted)
    }
}

impl Levels {
    pub(super) fn of(query: &[f32]) -> Self {
        let least = query.iter().copied().fold(f32::INFINITY, f32::min);
        let greatest = query.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let step = (greatest - least) / ((1 << LEVEL_BITS) - 1) as f32;
        let level = |number: &f32| if step > 0.0 { ((number - least) / step).round() as u64 } else { 0 };
        let planes = |numbers: &[f32]| {
            let mut planes = [0; LEVEL_BITS];
            for (at, level) in numbers.iter().map(level).enumerate() {
                for (bit, plane) in planes.iter_mut().enumerate() {
                    *plane |= (level >> bit & 1) << at;
                }
            }
            planes
        };
        let planes = query.chunks(WORD).map(planes).collect();
        Self { planes, least, step, sum: query.iter().sum() }
    }
}

/// The `wanted` greatest, unordered; among equal ones, the first rows.
pub(super) fn first(mut estimates: Vec<(f32, u32)>, wanted: usize) -> Vec<(f32, u32)> {
    if estimates.len() > wanted {
        estimates.select_nth_unstable_by(wanted - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        estimates.truncate(wanted);
    }
    estimates
}

/// The sum of the levels of the bits that are set, for each row of each block.
// Compiled for processors that count the bits of eight words at once, of four, and of any.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx512vpopcntdq+avx2+popcnt",
    "x86_64+avx2+popcnt",
    "x86_64+popcnt"
))]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators that are not inlined are not compiled for the processor"
)]
fn common_bits(planes: &[[u64; LEVEL_BITS]], words: &[[u64; LANES]], sums: &mut [[u32; LANES]]) {
    for (block, sums) in words.chunks_exact(planes.len()).zip(sums) {
        let mut counts = [[0_u64; LANES]; LEVEL_BITS];
        for (lanes, planes) in block.iter().zip(planes) {
            for bit in 0..LEVEL_BITS {
                for lane in 0..LANES {
                    counts[bit][lane] += u64::from((lanes[lane] & planes[bit]).count_ones());
                }
            }
        }
        for lane in 0..LANES {
            sums[lane] = 0;
            for bit in 0..LEVEL_BITS {
                sums[lane] += (counts[bit][lane] as u32) << bit;
            }
        }
    }
}

fn mean(vectors: &[f32], dimension: usize) -> Vec<f32> {
    let mut sums = vec![0.0_f64; dimension];
    for vector in vectors.chunks_exact(dimension) {
        sums.iter_mut().zip(vector).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let rows = (vectors.len() / dimension).max(1) as f64;
    sums.into_iter().map(|sum| (sum / rows) as f32).collect()
}

/// The signs of a vector minus the mean, and the terms that estimates need. Sums are computed in lanes that a compiler
/// turns into vector instructions.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn sketch(vector: &[f32], mean: &[f32]) -> (Row, Vec<u64>) {
    let mut words = vec![0; vector.len().div_ceil(WORD)];
    let (mut squares, mut lengths) = ([0.0_f32; WORD], [0.0_f32; WORD]);
    for ((values, means), word) in vector.chunks(WORD).zip(mean.chunks(WORD)).zip(&mut words) {
        let mut rests = [0.0_f32; WORD];
        for at in 0..values.len() {
            rests[at] = values[at] - means[at];
        }
        for at in 0..WORD {
            squares[at] += rests[at] * rests[at];
            lengths[at] += rests[at].abs();
            *word |= u64::from(rests[at] > 0.0) << at;
        }
    }
    let (squares, lengths): (f32, f32) = (squares.iter().sum(), lengths.iter().sum());
    let ones = words.iter().map(|word| word.count_ones()).sum::<u32>() as f32;
    (Row { factor: if lengths > 0.0 { squares / lengths } else { 0.0 }, ones }, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_levels_of_bits_that_are_set() {
        let mut seed = 3_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1_u64 << 24) as f32 - 0.3
        };
        for (dimension, rows) in [(1_usize, 1_usize), (63, 8), (64, 9), (65, 23), (384, 17)] {
            let query: Vec<f32> = (0..dimension).map(|_| random()).collect();
            let vectors: Vec<f32> = (0..rows * dimension).map(|_| random()).collect();
            let levels = Levels::of(&query);
            let mut sketches = Sketches::default();
            // In two batches, the second of which begins inside a block.
            sketches.extend(&vectors[..rows.div_ceil(2) * dimension], dimension);
            sketches.mean_of = rows;
            sketches.extend(&vectors, dimension);
            let mut sums = vec![[0; LANES]; rows.div_ceil(LANES)];
            common_bits(&levels.planes, &sketches.words, &mut sums);
            for (vector, sum) in vectors.chunks_exact(dimension).zip(sums.as_flattened()) {
                let is_above = |at: &usize| vector[*at] > sketches.mean[*at];
                let level = |at: usize| ((query[at] - levels.least) / levels.step).round() as u32;
                let wanted =
                    if levels.step > 0.0 { (0..dimension).filter(is_above).map(level).sum() } else { 0 };
                assert_eq!(*sum, wanted, "{dimension} numbers, {rows} rows");
            }
        }
    }
}
