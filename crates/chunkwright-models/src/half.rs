//! Half-precision numbers of model files.

/// A finite half-precision number in single precision: the exponent, five bits from 15 up, is put in the place of that
/// from 127 up, and what it lacks is multiplied, which is exact for the smallest numbers as well. Without branches, so that
/// loops around it are vectorized.
#[inline]
pub(crate) fn single([low, high]: [u8; 2]) -> f32 {
    let half = u32::from(low) | u32::from(high) << 8;
    let magnitude = f32::from_bits((half & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
    f32::from_bits(magnitude.to_bits() | (half & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_half_is_converted_exactly() {
        for bits in (0..=u16::MAX).filter(|bits| bits & 0x7c00 != 0x7c00) {
            let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
            let magnitude = if exponent == 0 {
                fraction * 2_f64.powi(-24)
            } else {
                (1024.0 + fraction) * 2_f64.powi(exponent - 25)
            };
            let expected = if bits >> 15 == 1 { -magnitude } else { magnitude };
            assert_eq!(single(bits.to_le_bytes()).to_bits(), (expected as f32).to_bits(), "{bits:x}");
        }
    }
}
