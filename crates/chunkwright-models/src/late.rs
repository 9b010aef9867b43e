//! Late interaction: each token of a question is compared with a few vectors of a text, which are kept as bits.
//!
//! The token vectors of a text are centred and averaged in groups of those that are alike, and only the signs of their
//! numbers are kept, a code of [`CODE_BYTES`] bytes a group. A question's tokens keep their numbers. The score is the mean
//! over the question's tokens of the greatest product with a code (`MaxSim` of `ColBERT`, Khattab and Zaharia 2020, as a
//! mean).

#[cfg(feature = "local")]
mod centre;

#[cfg(feature = "local")]
pub(crate) use centre::Centre;

/// Numbers of a token vector, and so bits of a code.
pub const BITS: usize = 384;

/// Bytes of a code.
pub const CODE_BYTES: usize = BITS / 8;

/// Most codes of a text.
pub const MOST_CODES: usize = 32;

/// What late interaction compares: a question's tokens with a text's.
#[derive(Clone, Debug, PartialEq)]
pub enum Tokens {
    /// The centred vectors of a question's tokens, [`BITS`] numbers each, one after the other.
    Query(Vec<f32>),
    /// The [codes](are_codes) of a text.
    Passage(Vec<u8>),
}

impl Tokens {
    /// The codes of a text; `None` of a question.
    pub fn into_codes(self) -> Option<Vec<u8>> {
        match self {
            Self::Passage(codes) => Some(codes),
            Self::Query(_) => None,
        }
    }
}

/// Whether bytes can be the codes of a text: 1 to [`MOST_CODES`] of [`CODE_BYTES`] each, one after the other.
pub fn are_codes(bytes: &[u8]) -> bool {
    (CODE_BYTES..=CODE_BYTES * MOST_CODES).contains(&bytes.len()) && bytes.len().is_multiple_of(CODE_BYTES)
}

/// How well each text, given by its codes, answers a question, given by its [tokens](Tokens::Query); higher is better. Only
/// scores of one question can be compared. All are 0 if the question has no tokens.
pub fn late_scores(query: &[f32], texts: &[&[u8]]) -> Vec<f32> {
    let mut scores = vec![0.0; texts.len()];
    let tokens = query.as_chunks().0;
    for token in tokens {
        let sums = sums(token);
        for (score, codes) in scores.iter_mut().zip(texts) {
            let product = |code: &[u8; CODE_BYTES]| -> f32 {
                code.iter().zip(&sums).map(|(byte, sums)| sums[usize::from(*byte)]).sum()
            };
            *score += codes.as_chunks().0.iter().map(product).fold(f32::NEG_INFINITY, f32::max);
        }
    }
    for score in &mut scores {
        *score /= tokens.len().max(1) as f32;
    }
    scores
}

/// For each byte of a code and each value of it, the sum of eight numbers of a token, each with the sign of its bit.
fn sums(token: &[f32; BITS]) -> Vec<[f32; 256]> {
    let of = |numbers: &[f32; 8]| {
        let mut sums = [0.0; 256];
        sums[0] = -numbers.iter().sum::<f32>();
        for byte in 1..256_usize {
            // Without its lowest bit it is a smaller byte, whose sum is known.
            let lowest = byte.trailing_zeros() as usize;
            sums[byte] = sums[byte & (byte - 1)] + 2.0 * numbers[lowest];
        }
        sums
    };
    token.as_chunks().0.iter().map(of).collect()
}
