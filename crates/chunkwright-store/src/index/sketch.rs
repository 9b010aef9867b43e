//! Sketches of vectors, one bit per component: read first where vectors are many.
//!
//! A bit says whether a number is above the mean of all vectors. With `r` what is left of a vector without the mean,
//! `r . q` is about `|r|^2 / |r|_1` times the sum of `q` by the signs of `r`: the estimate of `RaBitQ` (Gao and Long, SIGMOD
//! 2024) without its rotation. As there, the numbers of a query become levels of four bits, so that the sum is made
//! of counts: of the bits that a sketch has in common with each bit of the levels. Sketches of eight rows lie side by
//! side, word by word, for processors that count many words at once.

use multiversion::multiversion;

use super::dense::dot;
use super::stretches::stretches;

/// Number of rows whose words are interleaved.
const LANES: usize = 8;
/// Rows whose sums are computed at once, and those of them that are compared with the best at once.
const RUN: usize = 512;
const GROUP: usize = 16;
/// Sketches that one thread makes before a second thread pays off.
const MADE: usize = 8_192;
/// Bits per quantized component of a query.
const LEVEL_BITS: usize = 4;
const WORD: usize = u64::BITS as usize;

/// The sketches of a stretch of rows, which share a mean.
#[derive(Debug)]
pub(super) struct Sketches {
    mean: Vec<f32>,
    /// The words of sketches, block by block, one lane per row.
    words: Vec<[u64; LANES]>,
    /// For each row, the factor of the sum by signs.
    factors: Vec<f32>,
    /// For each row, the number of bits that are set.
    ones: Vec<f32>,
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

/// The greatest estimates so far.
pub(super) struct Best {
    wanted: usize,
    kept: Vec<(f32, u32)>,
    /// What is not above this is not among them.
    least: f32,
}

impl Best {
    pub(super) fn of(wanted: usize) -> Self {
        Self { wanted, kept: Vec::new(), least: f32::NEG_INFINITY }
    }

    fn add(&mut self, estimate: f32, row: u32) {
        self.kept.push((estimate, row));
        // Now and then what cannot be among the first any more is dropped.
        if self.kept.len() >= 2 * self.wanted {
            self.kept = first(std::mem::take(&mut self.kept), self.wanted);
            self.least = self.kept.iter().map(|(estimate, _)| *estimate).fold(f32::INFINITY, f32::min);
        }
    }

    /// The estimates with their rows, unordered.
    pub(super) fn estimates(self) -> Vec<(f32, u32)> {
        first(self.kept, self.wanted)
    }
}

impl Sketches {
    /// No sketches yet, of rows whose mean is this.
    pub(super) fn around(mean: Vec<f32>) -> Self {
        Self { mean, words: Vec::new(), factors: Vec::new(), ones: Vec::new() }
    }

    /// Number of rows that have a sketch.
    pub(super) fn len(&self) -> usize {
        self.factors.len()
    }

    pub(super) fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// Adds the sketches of the next rows.
    pub(super) fn extend(&mut self, vectors: &[f32]) {
        let dimension = self.mean.len();
        let sketches = stretches(vectors.len() / dimension, MADE, |rows| {
            let vectors = vectors[rows.start * dimension..rows.end * dimension].chunks_exact(dimension);
            vectors.map(|vector| sketch(vector, &self.mean)).collect::<Vec<_>>()
        });
        for (factor, words) in sketches.into_iter().flatten() {
            self.push(factor, words.into_iter());
        }
    }

    fn push(&mut self, factor: f32, words: impl ExactSizeIterator<Item = u64>) {
        let (block, lane) = (self.len() / LANES * words.len(), self.len() % LANES);
        if lane == 0 {
            self.words.resize(block + words.len(), [0; LANES]);
        }
        let mut ones = 0;
        for (lanes, word) in self.words[block..].iter_mut().zip(words) {
            lanes[lane] = word;
            ones += word.count_ones();
        }
        self.factors.push(factor);
        self.ones.push(ones as f32);
    }

    /// Drops all but the first rows.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.factors.truncate(rows);
        self.ones.truncate(rows);
        self.words.truncate(rows.div_ceil(LANES) * self.width());
    }

    /// Number of words of a sketch.
    fn width(&self) -> usize {
        self.mean.len().div_ceil(WORD)
    }

    /// The sketches of some rows alone, in order.
    pub(super) fn only(&self, rows: impl Iterator<Item = usize>) -> Self {
        let mut only = Self::around(self.mean.clone());
        for row in rows {
            let block = &self.words[row / LANES * self.width()..][..self.width()];
            only.push(self.factors[row], block.iter().map(|lanes| lanes[row % LANES]));
        }
        only
    }

    /// Adds the passing rows to the best. `first` is the number of the first row here.
    pub(super) fn best(
        &self,
        (query, levels): (&[f32], &Levels),
        first: usize,
        passes: &impl Fn(usize) -> bool,
        best: &mut Best,
    ) {
        let width = levels.planes.len();
        // What a mean adds to the products of its rows.
        let shared = dot(query, &self.mean);
        for start in (0..self.len()).step_by(RUN) {
            let run = start..(start + RUN).min(self.len());
            if !run.clone().any(|row| passes(first + row)) {
                continue;
            }
            let (mut sums, mut estimates) = ([[0; LANES]; RUN / LANES], [f32::NEG_INFINITY; RUN]);
            let blocks = start / LANES..run.end.div_ceil(LANES);
            common_bits(&levels.planes, &self.words[blocks.start * width..blocks.end * width], &mut sums);
            let (factors, ones) = (&self.factors[run.clone()], &self.ones[run]);
            estimate((levels, shared), (factors, ones, sums.as_flattened()), &mut estimates);
            for (group, estimates) in estimates.as_chunks::<GROUP>().0.iter().enumerate() {
                if above(estimates, best.least) == 0 {
                    continue;
                }
                for (row, estimate) in (first + start + group * GROUP..).zip(estimates) {
                    if *estimate > best.least && passes(row) {
                        best.add(*estimate, row as u32);
                    }
                }
            }
        }
    }

    /// The mean, the factors and the words, as they are kept on disk.
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.mean.iter().chain(&self.factors).flat_map(|number| number.to_le_bytes()));
        bytes.extend(self.words.as_flattened().iter().flat_map(|word| word.to_le_bytes()));
    }

    /// Bytes of what [`encode`](Self::encode) writes.
    pub(super) fn size(dimension: usize, rows: usize) -> Option<usize> {
        let words = rows
            .div_ceil(LANES)
            .checked_mul(dimension.div_ceil(WORD))?
            .checked_mul(size_of::<[u64; LANES]>())?;
        rows.checked_add(dimension)?.checked_mul(size_of::<f32>())?.checked_add(words)
    }

    /// Reads what [`encode`](Self::encode) wrote of `rows` rows; `None` if it is not that.
    pub(super) fn decode(bytes: &[u8], dimension: usize, rows: usize) -> Option<Self> {
        let (numbers, words) = bytes.split_at_checked(4 * (dimension + rows))?;
        let mut numbers = numbers.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let mean: Vec<f32> = numbers.by_ref().take(dimension).collect();
        let factors = numbers.collect();
        let words: Vec<u64> = words.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let words: Vec<[u64; LANES]> = words.as_chunks().0.to_vec();
        let width = dimension.div_ceil(WORD);
        if words.len() != rows.div_ceil(LANES) * width {
            return None;
        }
        let ones = |row: usize| -> u32 {
            words[row / LANES * width..][..width]
                .iter()
                .map(|lanes: &[u64; LANES]| lanes[row % LANES].count_ones())
                .sum()
        };
        let ones = (0..rows).map(|row| ones(row) as f32).collect();
        Some(Self { mean, words, factors, ones })
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

/// The mean of some vectors.
pub(super) fn mean(vectors: &[f32], dimension: usize) -> Vec<f32> {
    let mut sums = vec![0.0_f64; dimension];
    for vector in vectors.chunks_exact(dimension) {
        sums.iter_mut().zip(vector).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let rows = (vectors.len() / dimension).max(1) as f64;
    sums.into_iter().map(|sum| (sum / rows) as f32).collect()
}

/// The estimates of rows by their factors, their numbers of set bits and their sums. Others stay as they are.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn estimate(
    (levels, shared): (&Levels, f32),
    (factors, ones, sums): (&[f32], &[f32], &[u32]),
    estimates: &mut [f32; RUN],
) {
    let rows = factors.len().min(ones.len()).min(sums.len()).min(RUN);
    for row in 0..rows {
        let signs = 2.0 * (levels.least * ones[row] + levels.step * sums[row] as f32) - levels.sum;
        estimates[row] = shared + factors[row] * signs;
    }
}

/// Number of estimates above `least`; counted without a branch, so that a compiler compares them all at once.
fn above(estimates: &[f32; GROUP], least: f32) -> usize {
    estimates.iter().filter(|estimate| **estimate > least).count()
}

/// The signs of a vector minus the mean, and the factor that estimates need. Sums are computed in lanes that a compiler
/// turns into vector instructions.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn sketch(vector: &[f32], mean: &[f32]) -> (f32, Vec<u64>) {
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
    (if lengths > 0.0 { squares / lengths } else { 0.0 }, words)
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
            let mut sketches = Sketches::around(mean(&vectors, dimension));
            // In two batches, the second of which begins inside a block.
            let (one, other) = vectors.split_at(rows.div_ceil(2) * dimension);
            sketches.extend(one);
            sketches.extend(other);
            let mut bytes = Vec::new();
            sketches.encode(&mut bytes);
            let sketches = Sketches::decode(&bytes, dimension, rows).expect("it is what was encoded");
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
