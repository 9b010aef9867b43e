//! The BERT encoder: token ids in, one vector per text out.
//!
//! Written here rather than run by an inference library, because it is a page of matrix products:
//! no native library to find at run time, no export of weights to another format, and texts are
//! laid end to end without padding, so that a text's vector does not depend on its neighbours.

use std::ops::Range;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, Slice};

use crate::e5_file::{dequantize, quantized_len};
use crate::embedders::normalized;

/// An encoder with its weights.
pub(crate) struct Bert {
    pub(crate) words: WordTable,
    /// Vectors of positions, with the vector of the only token type added.
    pub(crate) positions: Array2<f32>,
    pub(crate) norm: Norm,
    pub(crate) layers: Vec<Layer>,
    pub(crate) heads: usize,
    pub(crate) epsilon: f32,
}

/// Vectors of tokens, in quantized blocks: by far the largest matrix, of which a text needs a few rows.
pub(crate) struct WordTable {
    pub(crate) blocks: Vec<u8>,
    pub(crate) hidden: usize,
}

/// Weights and bias of `x W^T + b`.
pub(crate) struct Linear {
    pub(crate) weight: Array2<f32>,
    pub(crate) bias: Array1<f32>,
}

/// Scale and shift of a layer normalization.
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// One layer: self-attention, then a two-layer network, each added to its input and normalized.
pub(crate) struct Layer {
    /// Query, key and value below each other.
    pub(crate) query_key_value: Linear,
    pub(crate) attention_out: Linear,
    pub(crate) attention_norm: Norm,
    pub(crate) inner: Linear,
    pub(crate) outer: Linear,
    pub(crate) norm: Norm,
}

impl Bert {
    /// Length of the vectors.
    pub(crate) fn hidden(&self) -> usize {
        self.positions.ncols()
    }

    /// The mean of each text's token vectors after the last layer, scaled to length 1.
    ///
    /// Each text must hold at least one token, no more tokens than there are positions, and no id beyond the
    /// vocabulary.
    pub(crate) fn embed(&self, texts: &[&[u32]]) -> Vec<Vec<f32>> {
        let mean = |tokens: Array2<f32>| tokens.mean_axis(Axis(0)).unwrap_or_default().to_vec();
        self.tokens(texts).into_iter().map(|tokens| normalized(mean(tokens))).collect()
    }

    /// Each text's token vectors after the last layer, a row a token. Texts are as for [`Bert::embed`].
    pub(crate) fn tokens(&self, texts: &[&[u32]]) -> Vec<Array2<f32>> {
        let mut x = self.look_up(texts);
        for layer in &self.layers {
            let attended = self.attend(layer, &x, texts);
            layer.attention_out.add_to(&attended, &mut x);
            layer.attention_norm.apply(x.view_mut(), self.epsilon);
            let mut inner = layer.inner.apply(&x);
            gelu(inner.as_slice_mut().unwrap_or_default());
            layer.outer.add_to(&inner, &mut x);
            layer.norm.apply(x.view_mut(), self.epsilon);
        }
        rows(texts).map(|rows| x.slice_axis(Axis(0), Slice::from(rows)).to_owned()).collect()
    }

    fn look_up(&self, texts: &[&[u32]]) -> Array2<f32> {
        let tokens = texts.iter().map(|text| text.len()).sum();
        let mut x = Array2::zeros((tokens, self.hidden()));
        let places = texts.iter().flat_map(|text| text.iter().enumerate());
        for (mut row, (position, &id)) in x.rows_mut().into_iter().zip(places) {
            if let Some(row) = row.as_slice_mut() {
                self.words.read(id as usize, row);
            }
            row += &self.positions.row(position);
        }
        self.norm.apply(x.view_mut(), self.epsilon);
        x
    }

    fn attend(&self, layer: &Layer, x: &Array2<f32>, texts: &[&[u32]]) -> Array2<f32> {
        let hidden = self.hidden();
        let width = hidden / self.heads;
        let scale = 1.0 / (width as f32).sqrt();
        let all = layer.query_key_value.apply(x);
        let mut attended = Array2::zeros((x.nrows(), hidden));
        for rows in rows(texts) {
            for head in 0..self.heads {
                let part = |which: usize| {
                    let first = which * hidden + head * width;
                    let mut part = all.view();
                    part.slice_axis_inplace(Axis(0), Slice::from(rows.clone()));
                    part.slice_axis_inplace(Axis(1), Slice::from(first..first + width));
                    part
                };
                let mut weights = part(0).dot(&part(1).t());
                softmax(&mut weights, scale);
                let mut out = attended.view_mut();
                out.slice_axis_inplace(Axis(0), Slice::from(rows.clone()));
                out.slice_axis_inplace(Axis(1), Slice::from(head * width..(head + 1) * width));
                general_mat_mul(1.0, &weights, &part(2), 0.0, &mut out);
            }
        }
        attended
    }
}

/// The rows of each text, when texts are laid end to end.
fn rows(texts: &[&[u32]]) -> impl Iterator<Item = Range<usize>> {
    texts.iter().scan(0, |start, text| {
        let rows = *start..*start + text.len();
        *start = rows.end;
        Some(rows)
    })
}

impl WordTable {
    fn read(&self, id: usize, row: &mut [f32]) {
        let len = quantized_len(self.hidden);
        dequantize(&self.blocks[id * len..(id + 1) * len], row);
    }
}

impl Linear {
    fn apply(&self, x: &Array2<f32>) -> Array2<f32> {
        let mut y =
            self.bias.broadcast((x.nrows(), self.bias.len())).map(|b| b.to_owned()).unwrap_or_default();
        general_mat_mul(1.0, x, &self.weight.t(), 1.0, &mut y);
        y
    }

    fn add_to(&self, x: &Array2<f32>, sum: &mut Array2<f32>) {
        general_mat_mul(1.0, x, &self.weight.t(), 1.0, sum);
        *sum += &self.bias;
    }
}

impl Norm {
    fn apply(&self, mut x: ArrayViewMut2<'_, f32>, epsilon: f32) {
        for mut row in x.rows_mut() {
            let Some(row) = row.as_slice_mut() else { continue };
            let len = row.len() as f32;
            let mean = sum(row.iter().copied()) / len;
            let variance = sum(row.iter().map(|x| (x - mean) * (x - mean))) / len;
            let scale = 1.0 / (variance + epsilon).sqrt();
            for ((x, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
                *x = (*x - mean) * scale * weight + bias;
            }
        }
    }
}

fn sum(numbers: impl Iterator<Item = f32>) -> f32 {
    // In double precision: rows are short, and the order of a vectorized sum would depend on the CPU.
    numbers.map(f64::from).sum::<f64>() as f32
}

/// Each row's exponentials of `scale` times it, divided by their sum.
fn softmax(x: &mut Array2<f32>, scale: f32) {
    for mut row in x.rows_mut() {
        let Some(row) = row.as_slice_mut() else { continue };
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for x in row.iter_mut() {
            *x = exp((*x - largest) * scale);
        }
        let total = 1.0 / sum(row.iter().copied());
        for x in row {
            *x *= total;
        }
    }
}

/// `e^x` for `x <= 0`, without branches so that the loop around it vectorizes; relative error below
/// 1e-5, and below 1e-6 for `x > -8`. Of `x / ln 2` the whole part becomes the exponent and the rest a Taylor polynomial.
fn exp(x: f32) -> f32 {
    let x = x.max(-87.0) * std::f32::consts::LOG2_E;
    let whole = (x - 0.5) as i32;
    let rest = (x - whole as f32) * std::f32::consts::LN_2;
    let series = 1.0 / 720.0;
    let series = series * rest + 1.0 / 120.0;
    let series = series * rest + 1.0 / 24.0;
    let series = series * rest + 1.0 / 6.0;
    let series = series * rest + 0.5;
    let series = series * rest + 1.0;
    let series = series * rest + 1.0;
    series * f32::from_bits(((whole + 127) as u32) << 23)
}

/// `x/2 (1 + erf(x/sqrt 2))` of each number, by Abramowitz and Stegun 7.1.28 (error below 3e-7).
fn gelu(x: &mut [f32]) {
    for x in x {
        let a = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
        let series = 0.000_043_063_8;
        let series = series * a + 0.000_276_567_2;
        let series = series * a + 0.000_152_014_3;
        let series = series * a + 0.009_270_527;
        let series = series * a + 0.042_282_01;
        let series = series * a + 0.070_523_076;
        let series = series * a + 1.0_f32;
        let squared = series * series;
        let fourth = squared * squared;
        let eighth = fourth * fourth;
        let erf = (1.0 - 1.0 / (eighth * eighth)).copysign(*x);
        *x *= 0.5 * (1.0 + erf);
    }
}

/// A matrix from its rows' numbers; `None` if there are not `rows` times `columns`.
pub(crate) fn matrix(rows: usize, columns: usize, numbers: Vec<f32>) -> Option<Array2<f32>> {
    Array2::from_shape_vec((rows, columns), numbers).ok()
}

/// Matrices below each other.
pub(crate) fn stacked(parts: &[ArrayView2<'_, f32>]) -> Option<Array2<f32>> {
    ndarray::concatenate(Axis(0), parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_the_exponential() {
        for step in 0..=8_700 {
            let x = -f32::from(step as u16) / 100.0;
            let expected = f64::from(x).exp();
            let allowed = if x > -8.0 { 1e-6 } else { 1e-5 };
            assert!((f64::from(exp(x)) / expected - 1.0).abs() < allowed, "{x}: {} for {expected}", exp(x));
        }
        assert!(exp(-1e9) < 1e-37);
    }

    #[test]
    fn gelu_is_the_gaussian_error_linear_unit() {
        // Values of x/2 (1 + erf(x/sqrt 2)), to seven places.
        let known = [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-1.0, -0.158_655_3),
            (2.0, 1.954_499_7),
            (-3.0, -0.004_049_7),
            (0.5, 0.345_731_2),
            (30.0, 30.0),
            (-30.0, 0.0),
        ];
        for (x, expected) in known {
            let mut y = [x];
            gelu(&mut y);
            assert!((y[0] - expected).abs() < 2e-6, "{x}: {} for {expected}", y[0]);
        }
    }

    #[test]
    fn softmax_rows_are_shares_of_one() {
        let mut x = matrix(2, 3, vec![1.0, 2.0, 3.0, 100.0, -100.0, 100.0]).unwrap();
        softmax(&mut x, 1.0);
        for (found, expected) in x.iter().zip([0.090_030_6, 0.244_728_5, 0.665_241, 0.5, 0.0, 0.5]) {
            assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
        }
    }
}
