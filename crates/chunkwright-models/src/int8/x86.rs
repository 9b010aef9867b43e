//! The inner loops for x86-64. Intrinsics are safe functions where the processor's features are declared, and numbers
//! are copied to registers by value.

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_add_epi32, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_setzero_si256, _mm512_dpbusd_epi32, _mm512_set1_epi32, _mm512_setzero_si512,
};

use bytemuck::cast;

use super::{Activations, COLUMNS, DEPTH, Weights, finish};

/// Bytes of [`DEPTH`] weights of a block.
const STEP: usize = COLUMNS * DEPTH;

/// Sums of a register of 512 and of 256 bits.
const WIDE: usize = 16;
const NARROW: usize = 8;

/// Rows that share what is read of the weights.
const ROWS_VNNI: usize = 6;
const ROWS_AVX2: usize = 4;

/// Outputs whose sums stay in the registers of 256 bits, with those rows.
const NARROW_COLUMNS: usize = 16;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) fn multiply_vnni<const ADD: bool>(x: &Activations, weights: &Weights, out: &mut [f32]) {
    for (block, packed) in weights.packed.chunks_exact(COLUMNS * weights.inputs).enumerate() {
        let column = block * COLUMNS;
        let mut row = 0;
        while row < x.rows.len() {
            match x.rows.len() - row {
                1 => vnni::<ADD, 1>(x, weights, packed, row, column, out),
                2 => vnni::<ADD, 2>(x, weights, packed, row, column, out),
                3 => vnni::<ADD, 3>(x, weights, packed, row, column, out),
                4 => vnni::<ADD, 4>(x, weights, packed, row, column, out),
                5 => vnni::<ADD, 5>(x, weights, packed, row, column, out),
                _ => vnni::<ADD, ROWS_VNNI>(x, weights, packed, row, column, out),
            }
            row += ROWS_VNNI;
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn vnni<const ADD: bool, const ROWS: usize>(
    x: &Activations,
    weights: &Weights,
    packed: &[i8],
    row: usize,
    column: usize,
    out: &mut [f32],
) {
    let mut sums = [[_mm512_setzero_si512(); COLUMNS / WIDE]; ROWS];
    let rows = rows::<ROWS>(x, row, weights.inputs);
    for (at, step) in packed.as_chunks::<STEP>().0.iter().enumerate() {
        let parts = step.as_chunks::<{ STEP * WIDE / COLUMNS }>().0;
        let parts: [__m512i; COLUMNS / WIDE] = std::array::from_fn(|part| cast(parts[part]));
        // Sums stay in registers if they are indexed.
        for row in 0..ROWS {
            let bytes = _mm512_set1_epi32(i32::from_le_bytes(rows[row][at]));
            for part in 0..COLUMNS / WIDE {
                sums[row][part] = _mm512_dpbusd_epi32(sums[row][part], bytes, parts[part]);
            }
        }
    }
    for (at, sums) in sums.into_iter().enumerate() {
        let out = &mut out[(row + at) * weights.outputs()..];
        finish::<ADD, COLUMNS>(&cast(sums), x.rows[row + at], weights, column, out);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn multiply_avx2<const ADD: bool>(x: &Activations, weights: &Weights, out: &mut [f32]) {
    for (block, packed) in weights.packed.chunks_exact(COLUMNS * weights.inputs).enumerate() {
        for part in 0..COLUMNS / NARROW_COLUMNS {
            let column = block * COLUMNS + part * NARROW_COLUMNS;
            let mut row = 0;
            while row < x.rows.len() {
                match x.rows.len() - row {
                    1 => avx2::<ADD, 1>(x, weights, packed, row, column, out),
                    2 => avx2::<ADD, 2>(x, weights, packed, row, column, out),
                    3 => avx2::<ADD, 3>(x, weights, packed, row, column, out),
                    _ => avx2::<ADD, ROWS_AVX2>(x, weights, packed, row, column, out),
                }
                row += ROWS_AVX2;
            }
        }
    }
}

/// Two products of bytes fit 16 bits, since weights have seven: see [`super::LARGEST_WEIGHT`].
#[inline]
#[target_feature(enable = "avx2")]
fn avx2<const ADD: bool, const ROWS: usize>(
    x: &Activations,
    weights: &Weights,
    packed: &[i8],
    row: usize,
    column: usize,
    out: &mut [f32],
) {
    const PARTS: usize = NARROW_COLUMNS / NARROW;
    let ones = _mm256_set1_epi16(1);
    let mut sums = [[_mm256_setzero_si256(); PARTS]; ROWS];
    let rows = rows::<ROWS>(x, row, weights.inputs);
    for (at, step) in packed.as_chunks::<STEP>().0.iter().enumerate() {
        let parts = &step.as_chunks::<32>().0[column % COLUMNS / NARROW..][..PARTS];
        let parts: [__m256i; PARTS] = std::array::from_fn(|part| cast(parts[part]));
        for row in 0..ROWS {
            let bytes = _mm256_set1_epi32(i32::from_le_bytes(rows[row][at]));
            for part in 0..PARTS {
                let pairs = _mm256_maddubs_epi16(bytes, parts[part]);
                sums[row][part] = _mm256_add_epi32(sums[row][part], _mm256_madd_epi16(pairs, ones));
            }
        }
    }
    for (at, sums) in sums.into_iter().enumerate() {
        let out = &mut out[(row + at) * weights.outputs()..];
        finish::<ADD, NARROW_COLUMNS>(&cast(sums), x.rows[row + at], weights, column, out);
    }
}

/// Rows of activations, [`DEPTH`] at a time.
#[inline]
fn rows<const ROWS: usize>(x: &Activations, row: usize, inputs: usize) -> [&[[u8; DEPTH]]; ROWS] {
    std::array::from_fn(|at| x.bytes[(row + at) * inputs..][..inputs].as_chunks().0)
}
