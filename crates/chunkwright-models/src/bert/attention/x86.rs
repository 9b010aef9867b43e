//! The inner loops for x86-64. Products and sums are not fused, so that they equal those of any processor.

use std::arch::x86_64::{
    __m256, __m512, _mm256_add_ps, _mm256_mul_ps, _mm256_set1_ps, _mm512_add_ps, _mm512_mul_ps,
    _mm512_set1_ps,
};

use bytemuck::{cast, cast_ref};

use super::{GROUP, QUERIES, Square, WIDTH, loops};

/// Registers of a row.
const WIDE: usize = WIDTH / 16;
const NARROW: usize = WIDTH / 8;

loops!(score_512, mix_512, add_products_512, "avx512f");
loops!(score_256, mix_256, add_products_256, "avx2");

#[inline]
#[target_feature(enable = "avx512f")]
fn add_products_512(sums: &mut [[f32; WIDTH]; QUERIES], factors: &[[f32; GROUP]; QUERIES], rows: &Square) {
    let mut added: [[__m512; WIDE]; QUERIES] = cast(*sums);
    for step in 0..GROUP {
        let row: [__m512; WIDE] = cast(rows[step]);
        for query in 0..QUERIES {
            let factor = _mm512_set1_ps(factors[query][step]);
            for part in 0..WIDE {
                added[query][part] = _mm512_add_ps(added[query][part], _mm512_mul_ps(factor, row[part]));
            }
        }
    }
    *sums = cast(added);
}

/// Two queries at a time: the sums of four would need all registers.
#[inline]
#[target_feature(enable = "avx2")]
fn add_products_256(sums: &mut [[f32; WIDTH]; QUERIES], factors: &[[f32; GROUP]; QUERIES], rows: &Square) {
    for first in (0..QUERIES).step_by(2) {
        let mut added: [[__m256; NARROW]; 2] = cast([sums[first], sums[first + 1]]);
        let factors = [&factors[first], &factors[first + 1]];
        for step in 0..GROUP {
            let row: [__m256; NARROW] = cast(rows[step]);
            for query in 0..2 {
                let factor = _mm256_set1_ps(factors[query][step]);
                for part in 0..NARROW {
                    added[query][part] = _mm256_add_ps(added[query][part], _mm256_mul_ps(factor, row[part]));
                }
            }
        }
        let [a, b]: &[[f32; WIDTH]; 2] = cast_ref(&added);
        (sums[first], sums[first + 1]) = (*a, *b);
    }
}
