//! The inner loops for x86-64. Intrinsics are safe functions where the processor's features are declared, and numbers
//! are copied to registers by value.

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_add_epi32, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_setzero_si256, _mm512_dpbusd_epi32, _mm512_set1_epi32, _mm512_setzero_si512,
};

use bytemuck::cast;

use super::{Activations, COLUMNS, DEPTH, Weights, finish};

/// Defines the product of some processors: `$product` of `$most` rows at a time, which share what is read of the
/// weights, and of as many outputs as `$parts` registers have, whose sums stay in registers. `$few` are the smaller
/// numbers of rows.
macro_rules! product {
    (
        $product:ident, $rows:ident, $features:literal, $few:tt..$most:literal, $parts:literal of $register:ty,
        $zero:ident, $all:ident, $add:ident
    ) => {
        #[target_feature(enable = $features)]
        pub(super) fn $product<const ADD: bool>(x: &Activations, weights: &Weights, out: &mut [f32]) {
            const TOGETHER: usize = $parts * size_of::<$register>() / DEPTH;
            for (block, packed) in weights.packed.chunks_exact(COLUMNS * weights.inputs).enumerate() {
                for column in (block * COLUMNS..(block + 1) * COLUMNS).step_by(TOGETHER) {
                    for row in (0..x.rows.len()).step_by($most) {
                        product!(
                            @rows $few $most, x.rows.len() - row,
                            $rows::<ADD> (x, weights, packed, row, column, out)
                        );
                    }
                }
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn $rows<const ADD: bool, const ROWS: usize>(
            x: &Activations,
            weights: &Weights,
            packed: &[i8],
            row: usize,
            column: usize,
            out: &mut [f32],
        ) {
            const BYTES: usize = size_of::<$register>();
            let mut sums = [[$zero(); $parts]; ROWS];
            let mut rows: [&[[u8; DEPTH]]; ROWS] = [&[]; ROWS];
            for (at, bytes) in rows.iter_mut().enumerate() {
                *bytes = x.bytes[(row + at) * weights.inputs..][..weights.inputs].as_chunks().0;
            }
            for (at, step) in packed.as_chunks::<{ COLUMNS * DEPTH }>().0.iter().enumerate() {
                let parts = &step.as_chunks::<BYTES>().0[column % COLUMNS * DEPTH / BYTES..][..$parts];
                // A closure is not compiled for the processor unless it is inlined.
                let mut read = [$zero(); $parts];
                for part in 0..$parts {
                    read[part] = cast(parts[part]);
                }
                // Sums stay in registers if they are indexed.
                for row in 0..ROWS {
                    let bytes = $all(i32::from_le_bytes(rows[row][at]));
                    for part in 0..$parts {
                        sums[row][part] = $add(sums[row][part], bytes, read[part]);
                    }
                }
            }
            for (at, sums) in sums.into_iter().enumerate() {
                let out = &mut out[(row + at) * weights.outputs()..];
                finish::<ADD, { $parts * BYTES / DEPTH }>(&cast(sums), x.rows[row + at], weights, column, out);
            }
        }
    };
    (@rows [$($few:literal)*] $most:literal, $left:expr, $rows:ident::<ADD> $arguments:tt) => {
        match $left {
            $($few => $rows::<ADD, $few> $arguments,)*
            _ => $rows::<ADD, $most> $arguments,
        }
    };
}

product!(
    multiply_vnni, rows_vnni, "avx512f,avx512bw,avx512vl,avx512vnni", [1 2 3 4 5]..6, 4 of __m512i,
    _mm512_setzero_si512, _mm512_set1_epi32, _mm512_dpbusd_epi32
);

product!(
    multiply_avx2, rows_avx2, "avx2", [1 2 3]..4, 2 of __m256i,
    _mm256_setzero_si256, _mm256_set1_epi32, add_avx2
);

/// Two products of bytes fit 16 bits, since weights have seven: see [`super::LARGEST_WEIGHT`].
#[inline]
#[target_feature(enable = "avx2")]
fn add_avx2(sums: __m256i, bytes: __m256i, weights: __m256i) -> __m256i {
    let pairs = _mm256_maddubs_epi16(bytes, weights);
    _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
}
