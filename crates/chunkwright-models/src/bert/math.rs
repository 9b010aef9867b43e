//! Functions of the encoder, in loops that are compiled for the processor. They have no fused operations, and sums are
//! in [`LANES`], so that results are the same on all.

use multiversion::multiversion;

use crate::int8::{from_key, to_key};

/// Independent sums: as many as the widest registers hold.
const LANES: usize = 16;

/// The sum of lanes, in one order.
#[inline]
fn total(mut lanes: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// Normalizes a row to mean 0 and variance 1, then scales and shifts it. Its length must be a multiple of [`LANES`].
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn normalize(row: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    let len = row.len();
    let mut sums = [0.0; LANES];
    for row in row.chunks_exact(LANES) {
        for lane in 0..LANES {
            sums[lane] += row[lane];
        }
    }
    let mean = total(sums) / len as f32;
    let mut squares = [0.0; LANES];
    for row in row.chunks_exact(LANES) {
        for lane in 0..LANES {
            squares[lane] += (row[lane] - mean) * (row[lane] - mean);
        }
    }
    let scale = 1.0 / (total(squares) / len as f32 + epsilon).sqrt();
    // One loop over slices of one length: that is what compilers vectorize.
    let (row, weight, bias) = (&mut row[..len], &weight[..len], &bias[..len]);
    for at in 0..len {
        row[at] = (row[at] - mean) * scale * weight[at] + bias[at];
    }
}

/// Turns numbers into the exponentials of what they are less than the largest, and returns their sum. Their count must be
/// a multiple of [`LANES`].
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators that are not inlined are not compiled for the processor"
)]
pub(super) fn exponentials(x: &mut [f32]) -> f32 {
    let mut largest = i32::MIN;
    for at in 0..x.len() {
        largest = largest.max(to_key(x[at]));
    }
    let largest = from_key(largest);
    for at in 0..x.len() {
        x[at] = exp(x[at] - largest);
    }
    let mut sums = [0.0; LANES];
    for x in x.chunks_exact(LANES) {
        for lane in 0..LANES {
            sums[lane] += x[lane];
        }
    }
    total(sums)
}

/// `e^x` for `x <= 0`, without branches so that the loop around it vectorizes; relative error below
/// 1e-5, and below 1e-6 for `x > -8`. Of `x / ln 2` the whole part becomes the exponent and the rest a Taylor polynomial.
#[inline]
fn exp(x: f32) -> f32 {
    // Added to it, a number is rounded to a whole one, which is in the low bits.
    const WHOLE: f32 = 12_582_912.0;
    let x = if x > -87.0 { x } else { -87.0 } * std::f32::consts::LOG2_E;
    let shifted = x + WHOLE;
    let rest = (x - (shifted - WHOLE)) * std::f32::consts::LN_2;
    let series = 1.0 / 720.0;
    let series = series * rest + 1.0 / 120.0;
    let series = series * rest + 1.0 / 24.0;
    let series = series * rest + 1.0 / 6.0;
    let series = series * rest + 0.5;
    let series = series * rest + 1.0;
    let series = series * rest + 1.0;
    let exponent = shifted.to_bits().wrapping_sub(WHOLE.to_bits()).wrapping_add(127);
    series * f32::from_bits(exponent << 23)
}

/// `x/2 (1 + erf(x/sqrt 2))` of each number, by Abramowitz and Stegun 7.1.28 (error below 3e-7).
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
#[expect(
    clippy::needless_range_loop,
    reason = "iterators that are not inlined are not compiled for the processor"
)]
pub(super) fn gelu(x: &mut [f32]) {
    for at in 0..x.len() {
        let value = x[at];
        let a = value.abs() * std::f32::consts::FRAC_1_SQRT_2;
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
        let erf = (1.0 - 1.0 / (eighth * eighth)).copysign(value);
        x[at] = value * (0.5 * (1.0 + erf));
    }
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
    fn a_normalized_row_has_mean_0_and_variance_1_before_it_is_scaled_and_shifted() {
        let mut row: Vec<f32> = (0..96_u8).map(|at| f32::from(at % 7) * 3.0 + 50.0).collect();
        normalize(&mut row, &[2.0; 96], &[1.0; 96], 0.0);
        let mean = row.iter().sum::<f32>() / 96.0;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / 96.0;
        assert!((mean - 1.0).abs() < 1e-5 && (variance - 4.0).abs() < 1e-4, "{mean}, {variance}");
    }
}
