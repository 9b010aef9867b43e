//! Products of an activation matrix and a weight matrix in 8-bit integers.
//!
//! Weights are quantized once, each output with a scale of its own, and packed in the order in which they are read.
//! Activations are quantized as they come, each row with a scale and a smallest value of its own: so a row's product
//! does not depend on the rows beside it. Sums of integers are exact, hence equal on every processor.
//!
//! Ours rather than a library: `rten-gemm` 0.27 took 1.13 times as long for this encoder's shapes with VNNI (109 to 96
//! µs a token) and saturates without it, `gemmkit` 0.1 took 1.5 times as long; `matrixmultiply` in single precision, 5
//! times.

#[cfg(target_arch = "x86_64")]
mod x86;

use multiversion::multiversion;

/// Outputs that are computed together.
pub(crate) const COLUMNS: usize = 64;

/// Inputs that are multiplied together.
const DEPTH: usize = 4;

/// Seven bits rather than eight, so that an instruction of processors without VNNI, which adds two products in 16 bits, is
/// exact: 2 * 255 * 64 < 2^15.
const LARGEST_WEIGHT: f32 = 64.0;

/// Quantized weights and the bias of `x W^T + b`.
pub(crate) struct Weights {
    /// For each [`COLUMNS`] outputs and each [`DEPTH`] inputs: the weights of the first output, of the second, and so
    /// on.
    packed: Vec<i8>,
    inputs: usize,
    columns: Columns,
}

/// Numbers of each output.
#[derive(Default)]
struct Columns {
    /// The value of a weight of 1.
    scales: Vec<f32>,
    /// The sum of its weights.
    sums: Vec<f32>,
    bias: Vec<f32>,
}

/// Quantized rows of activations.
#[derive(Default)]
pub(crate) struct Activations {
    /// From 0, the smallest of the row, to 255, its largest.
    bytes: Vec<u8>,
    rows: Vec<Row>,
}

/// The values of a row's bytes: `smallest + scale * byte`.
#[derive(Clone, Copy, Default)]
struct Row {
    smallest: f32,
    scale: f32,
}

impl Weights {
    /// An empty matrix with room for those outputs of that many inputs, which must be a multiple of 4.
    pub(crate) fn new(inputs: usize, outputs: usize) -> Self {
        Self { packed: Vec::with_capacity(inputs * outputs), inputs, columns: Columns::default() }
    }

    /// Number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.columns.scales.len()
    }

    /// Appends [`COLUMNS`] outputs: their weights one after the other, and their bias.
    pub(crate) fn push(&mut self, weights: &[f32], bias: &[f32]) {
        let mut rows = vec![0; weights.len()];
        for (weights, row) in weights.chunks_exact(self.inputs).zip(rows.chunks_exact_mut(self.inputs)) {
            let (smallest, largest) = range(weights);
            let scale = (largest.max(-smallest) / LARGEST_WEIGHT).max(f32::MIN_POSITIVE);
            let sum = write_weights(weights, 1.0 / scale, row);
            self.columns.scales.push(scale);
            self.columns.sums.push(scale * sum as f32);
        }
        self.columns.bias.extend_from_slice(bias);
        for first in (0..self.inputs).step_by(DEPTH) {
            for row in rows.chunks_exact(self.inputs) {
                self.packed.extend_from_slice(&row[first..first + DEPTH]);
            }
        }
    }

    /// Sets `out`, a row of outputs for each row of activations.
    pub(crate) fn apply(&self, x: &Activations, out: &mut [f32]) {
        multiply::<false>(x, self, out);
    }

    /// Adds to `sum` what [`Self::apply`] would set.
    pub(crate) fn add_to(&self, x: &Activations, sum: &mut [f32]) {
        multiply::<true>(x, self, sum);
    }
}

impl Activations {
    /// Quantizes rows of `width` numbers.
    pub(crate) fn set(&mut self, numbers: &[f32], width: usize) {
        self.bytes.resize(numbers.len(), 0);
        self.rows.clear();
        for (numbers, bytes) in numbers.chunks_exact(width).zip(self.bytes.chunks_exact_mut(width)) {
            self.rows.push(quantize(numbers, bytes));
        }
    }
}

/// Quantizes the weights of an output, and returns their sum.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn write_weights(weights: &[f32], factor: f32, row: &mut [i8]) -> i32 {
    let row = &mut row[..weights.len()];
    let mut sum = 0;
    for at in 0..weights.len() {
        let weight = nearest(weights[at] * factor);
        row[at] = weight as i8;
        sum += weight;
    }
    sum
}

/// Quantizes a row.
fn quantize(numbers: &[f32], bytes: &mut [u8]) -> Row {
    let (smallest, largest) = range(numbers);
    let scale = ((largest - smallest) / 255.0).max(f32::MIN_POSITIVE);
    write_bytes(numbers, smallest, 1.0 / scale, bytes);
    Row { smallest, scale }
}

// One loop over slices of one length each: that is what compilers vectorize.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn write_bytes(numbers: &[f32], smallest: f32, factor: f32, bytes: &mut [u8]) {
    let bytes = &mut bytes[..numbers.len()];
    for at in 0..numbers.len() {
        bytes[at] = nearest((numbers[at] - smallest) * factor) as u8;
    }
}

/// The smallest and the largest number of a row.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators that are not inlined are not compiled for the processor"
)]
fn range(numbers: &[f32]) -> (f32, f32) {
    let (mut smallest, mut largest) = (i32::MAX, i32::MIN);
    for at in 0..numbers.len() {
        let key = to_key(numbers[at]);
        smallest = smallest.min(key);
        largest = largest.max(key);
    }
    (from_key(smallest), from_key(largest))
}

/// A whole number that is ordered as numbers are: a compiler may take the largest of whole numbers in any order, and so
/// several at once.
#[inline]
pub(crate) fn to_key(x: f32) -> i32 {
    let bits = x.to_bits().cast_signed();
    bits ^ ((bits >> 31) & i32::MAX)
}

#[inline]
pub(crate) fn from_key(key: i32) -> f32 {
    f32::from_bits((key ^ ((key >> 31) & i32::MAX)).cast_unsigned())
}

/// The whole number nearest to a small one: added to 1.5 * 2^23, it is in the low bits. Unlike a cast it has no branches.
#[inline]
fn nearest(x: f32) -> i32 {
    (x + 12_582_912.0).to_bits().wrapping_sub(12_582_912.0_f32.to_bits()).cast_signed()
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512vnni", "x86_64+avx2"))]
fn multiply<const ADD: bool>(x: &Activations, weights: &Weights, out: &mut [f32]) {
    multiversion::target::match_target! {
        "x86_64+avx512f+avx512bw+avx512vl+avx512vnni" => x86::multiply_vnni::<ADD>(x, weights, out),
        "x86_64+avx2" => x86::multiply_avx2::<ADD>(x, weights, out),
        _ => multiply_plain::<ADD>(x, weights, out),
    }
}

/// As any processor does it.
fn multiply_plain<const ADD: bool>(x: &Activations, weights: &Weights, out: &mut [f32]) {
    let (inputs, outputs) = (weights.inputs, weights.outputs());
    for (block, packed) in weights.packed.chunks_exact(COLUMNS * inputs).enumerate() {
        for (row, bytes) in x.bytes.chunks_exact(inputs).take(x.rows.len()).enumerate() {
            let mut sums = [0; COLUMNS];
            for (bytes, step) in
                bytes.as_chunks::<DEPTH>().0.iter().zip(packed.as_chunks::<{ COLUMNS * DEPTH }>().0)
            {
                for (column, sum) in sums.iter_mut().enumerate() {
                    for at in 0..DEPTH {
                        *sum += i32::from(bytes[at]) * i32::from(step[column * DEPTH + at]);
                    }
                }
            }
            finish::<ADD, COLUMNS>(&sums, x.rows[row], weights, block * COLUMNS, &mut out[row * outputs..]);
        }
    }
}

/// Writes the values of `N` sums of a row, from the output `first` on.
#[inline]
fn finish<const ADD: bool, const N: usize>(
    sums: &[i32; N],
    row: Row,
    weights: &Weights,
    first: usize,
    out: &mut [f32],
) {
    let Columns { scales, sums: column_sums, bias } = &weights.columns;
    let (scales, column_sums) = (&scales[first..first + N], &column_sums[first..first + N]);
    let (bias, out) = (&bias[first..first + N], &mut out[first..first + N]);
    for at in 0..N {
        let product = sums[at] as f32 * (row.scale * scales[at]);
        let value = product + (row.smallest * column_sums[at] + bias[at]);
        out[at] = if ADD { out[at] + value } else { value };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from -1 to 1.
    fn numbers(count: usize, mut seed: u32) -> Vec<f32> {
        let mut next = |_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(&mut next).collect()
    }

    fn weights(inputs: usize, outputs: usize) -> (Weights, Vec<f32>, Vec<f32>) {
        let (numbers, bias) = (numbers(inputs * outputs, 7), numbers(outputs, 8));
        let mut weights = Weights::new(inputs, outputs);
        for (numbers, bias) in numbers.chunks_exact(inputs * COLUMNS).zip(bias.chunks_exact(COLUMNS)) {
            weights.push(numbers, bias);
        }
        (weights, numbers, bias)
    }

    #[test]
    fn products_are_near_those_of_the_numbers() {
        let (inputs, outputs, rows) = (96, 128, 9);
        let (weights, matrix, bias) = weights(inputs, outputs);
        let x = numbers(inputs * rows, 9);
        let mut quantized = Activations::default();
        quantized.set(&x, inputs);
        let (mut set, mut added) = (vec![9.0; rows * outputs], vec![2.0; rows * outputs]);
        weights.apply(&quantized, &mut set);
        weights.add_to(&quantized, &mut added);
        for row in 0..rows {
            for column in 0..outputs {
                let pairs = x[row * inputs..][..inputs].iter().zip(&matrix[column * inputs..][..inputs]);
                let expected = pairs.map(|(x, weight)| x * weight).sum::<f32>() + bias[column];
                let found = set[row * outputs + column];
                // Of numbers of at most 1, activations are rounded by at most 1/255 and weights by 1/128.
                assert!((found - expected).abs() < 0.2, "{row}, {column}: {found} for {expected}");
                assert!((added[row * outputs + column] - (found + 2.0)).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn every_kernel_gives_the_same_bits_whatever_rows_are_together() {
        let (inputs, outputs) = (384, 192);
        let (weights, ..) = weights(inputs, outputs);
        for rows in 1..15 {
            let x: Vec<f32> = numbers(inputs * rows, rows as u32).iter().map(|x| x * x * x * 9.0).collect();
            let mut quantized = Activations::default();
            quantized.set(&x, inputs);
            let mut plain = vec![0.0; rows * outputs];
            multiply_plain::<false>(&quantized, &weights, &mut plain);
            let mut found = vec![0.0; rows * outputs];
            weights.apply(&quantized, &mut found);
            assert_eq!(found, plain, "{rows}");
            #[cfg(target_arch = "x86_64")]
            {
                found.fill(0.0);
                without_vnni(&quantized, &weights, &mut found);
                assert_eq!(found, plain, "{rows}");
            }
            for row in 0..rows {
                quantized.set(&x[row * inputs..][..inputs], inputs);
                let mut alone = vec![0.0; outputs];
                weights.apply(&quantized, &mut alone);
                assert_eq!(alone, plain[row * outputs..][..outputs], "{row} of {rows}");
            }
        }
    }

    #[test]
    fn the_largest_products_do_not_saturate() {
        let mut weights = Weights::new(64, COLUMNS);
        weights.push(&[[1.0; 64 * COLUMNS / 2], [-1.0; 64 * COLUMNS / 2]].concat(), &[0.0; COLUMNS]);
        let mut x = Activations::default();
        let mut row = [1.0; 64];
        row[0] = 0.0;
        x.set(&row, 64);
        assert_eq!(x.bytes[1..], [255; 63]);
        let (mut plain, mut found) = (vec![0.0; COLUMNS], vec![0.0; COLUMNS]);
        multiply_plain::<false>(&x, &weights, &mut plain);
        assert!((plain[0] - 63.0).abs() < 1e-4 && (plain[COLUMNS - 1] + 63.0).abs() < 1e-4, "{plain:?}");
        weights.apply(&x, &mut found);
        assert_eq!(found, plain);
        #[cfg(target_arch = "x86_64")]
        {
            without_vnni(&x, &weights, &mut found);
            assert_eq!(found, plain);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[multiversion(targets("x86_64+avx2"))]
    fn without_vnni(x: &Activations, weights: &Weights, out: &mut [f32]) {
        multiversion::target::match_target! {
            "x86_64+avx2" => x86::multiply_avx2::<false>(x, weights, out),
            _ => multiply_plain::<false>(x, weights, out),
        }
    }

    #[test]
    fn rows_of_equal_numbers_and_zeros_are_exact() {
        for value in [0.0, -3.5, 1e30] {
            let mut bytes = [9; 32];
            let row = quantize(&[value; 32], &mut bytes);
            assert_eq!((row.smallest, bytes), (value, [0; 32]));
        }
        let mut weights = Weights::new(4, COLUMNS);
        weights.push(&[0.0; 4 * COLUMNS], &[1.5; COLUMNS]);
        let mut x = Activations::default();
        x.set(&[1.0; 16], 16);
        let mut out = vec![0.0; COLUMNS];
        x.bytes.truncate(4);
        weights.apply(&x, &mut out);
        assert_eq!(out, vec![1.5; COLUMNS]);
    }
}
