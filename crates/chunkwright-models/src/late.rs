//! Late interaction: each token of a question is compared with a few vectors of a text, which are kept as bits.
//!
//! The token vectors of a text are averaged in groups of neighbours and centred, and only the signs of their numbers are
//! kept: [`MOST_CODES`] codes of [`CODE_BYTES`] bytes at most. A question's tokens keep their numbers. The score is the mean
//! over the question's tokens of the greatest product with a code (`MaxSim` of `ColBERT`, Khattab and Zaharia 2020, as a
//! mean). Of the other forms of 512 bytes that were tried, none was nearer to the scores of whole token vectors: 16 codes of
//! 256 bits and 32 of 128, along the directions of the greatest variance, two bits a number, and product quantization.

/// Numbers of a token vector, and so bits of a code.
pub const BITS: usize = 384;

/// Bytes of a code.
pub const CODE_BYTES: usize = BITS / 8;

/// Most codes of a text.
pub const MOST_CODES: usize = 10;

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

/// The mean of a model's token vectors: most of what any two of them have in common, which says nothing.
#[cfg(feature = "local")]
pub(crate) struct Centre([f32; BITS]);

#[cfg(feature = "local")]
impl Centre {
    /// That of multilingual-e5-small, over texts of this repository in three languages and code; 16-bit integers, 32,767
    /// for 1. `cargo test -p chunkwright-models centre_of_e5 -- --ignored` makes it.
    const E5: &[u8; 2 * BITS] = include_bytes!("late/e5_centre.bin");

    /// That of multilingual-e5-small.
    pub(crate) fn of_e5() -> Self {
        let mut numbers = Self::E5.as_chunks().0.iter().map(|bytes| f32::from(i16::from_le_bytes(*bytes)));
        Self(std::array::from_fn(|_| numbers.next().unwrap_or(0.0) / f32::from(i16::MAX)))
    }

    /// What is compared of a question with these token vectors.
    pub(crate) fn query(&self, tokens: &[Vec<f32>]) -> Tokens {
        Tokens::Query(
            tokens.iter().flat_map(|token| token.iter().zip(&self.0).map(|(x, mean)| x - mean)).collect(),
        )
    }

    /// What is compared of a text with these token vectors, at least one.
    pub(crate) fn passage(&self, tokens: &[Vec<f32>]) -> Tokens {
        let groups = tokens.len().min(MOST_CODES);
        let start = |group: usize| group * tokens.len() / groups;
        let mut codes = Vec::with_capacity(groups * CODE_BYTES);
        for group in 0..groups {
            let group = &tokens[start(group)..start(group + 1)];
            // The sign of the mean's distance from the centre is that of the sum of distances.
            let mut sums = [0.0; BITS];
            for token in group {
                let distances = token.iter().zip(&self.0).map(|(x, mean)| x - mean);
                sums.iter_mut().zip(distances).for_each(|(sum, distance)| *sum += distance);
            }
            let byte = |numbers: &[f32; 8]| {
                numbers.iter().rev().fold(0_u8, |byte, number| byte << 1 | u8::from(*number > 0.0))
            };
            codes.extend(sums.as_chunks().0.iter().map(byte));
        }
        Tokens::Passage(codes)
    }
}

#[cfg(all(test, feature = "local"))]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::embedders::{E5, Role};
    use crate::test_models::data_dir_with;

    fn token(at: usize) -> Vec<f32> {
        (0..BITS).map(|x| ((x * x * 7 + at * at * 3 + at * x) % 29) as f32 - 14.0).collect()
    }

    fn codes(tokens: &[Vec<f32>]) -> Vec<u8> {
        Centre::of_e5().passage(tokens).into_codes().unwrap_or_default()
    }

    #[test]
    fn a_text_has_a_code_for_each_group_of_its_tokens() {
        for (count, groups) in [(1, 1), (9, 9), (10, 10), (11, 10), (500, 10)] {
            let found = codes(&(0..count).map(token).collect::<Vec<_>>());
            assert_eq!(found.len(), groups * CODE_BYTES);
            assert!(are_codes(&found));
        }
        for bytes in [0, 1, CODE_BYTES - 1, CODE_BYTES + 1, (MOST_CODES + 1) * CODE_BYTES] {
            assert!(!are_codes(&vec![0; bytes]), "{bytes}");
        }
    }

    #[test]
    fn the_score_is_the_mean_of_the_greatest_products() {
        let tokens: Vec<Vec<f32>> = (1..7).map(token).collect();
        let Tokens::Query(query) = Centre::of_e5().query(&tokens[..2]) else { unreachable!() };
        let texts = [codes(&tokens[..1]), codes(&tokens[1..4]), codes(&tokens)];
        let sign = |code: &[u8], at: usize| if code[at / 8] >> (at % 8) & 1 == 1 { 1.0 } else { -1.0 };
        let product = |token: &[f32], code: &[u8]| -> f64 {
            token.iter().enumerate().map(|(at, x)| f64::from(*x) * sign(code, at)).sum()
        };
        let expected = |text: &Vec<u8>| -> f64 {
            let greatest = |token: &[f32]| {
                text.chunks(CODE_BYTES).map(|code| product(token, code)).fold(f64::NEG_INFINITY, f64::max)
            };
            query.chunks(BITS).map(greatest).sum::<f64>() / 2.0
        };
        let given: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        for (score, text) in late_scores(&query, &given).into_iter().zip(&texts) {
            assert!((f64::from(score) - expected(text)).abs() < 1.0, "{score} {}", expected(text));
        }
        assert_eq!(late_scores(&[], &given), [0.0; 3]);
    }

    /// Texts in English, Chinese and Russian, and code.
    const FOLDERS: [&str; 9] = [
        "docs",
        "examples/corpus/en",
        "examples/corpus/zh",
        "examples/corpus/ru",
        "web/src/i18n/zh",
        "web/src/i18n/ru",
        "web/src/pages",
        "crates/chunkwright-index/src",
        "bindings/python",
    ];

    /// Files of the repository below `folder`.
    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            let is_read = |ending| ["md", "rs", "py", "ts"].iter().any(|known| ending == *known);
            if path.is_dir() {
                files(&path, found);
            } else if path.extension().is_some_and(is_read) {
                found.push(path);
            }
        }
    }

    #[test]
    #[ignore = "writes `e5_centre.bin`"]
    fn the_centre_of_e5_is_made() {
        let e5 = E5::open(&data_dir_with("e5").unwrap()).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pieces: Vec<String> = Vec::new();
        // As many pieces of each, so that every language has its share.
        for folder in FOLDERS {
            let mut paths = Vec::new();
            files(&root.join(folder), &mut paths);
            let text: String = paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
            let letters: Vec<char> = text.chars().collect();
            let all = letters.chunks(500);
            let step = all.len().div_ceil(60);
            pieces.extend(all.step_by(step).map(String::from_iter));
        }
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let tokens = e5.token_vectors(&pieces, Role::Passage).unwrap();
        let rows = || tokens.iter().flat_map(|text| text.chunks_exact(BITS));
        let mut mean = [0.0; BITS];
        for row in rows() {
            mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += f64::from(*x));
        }
        let integer = |sum: &f64| (sum / rows().count() as f64 * f64::from(i16::MAX)).round() as i16;
        let bytes: Vec<u8> = mean.iter().flat_map(|sum| integer(sum).to_le_bytes()).collect();
        fs::write(root.join("crates/chunkwright-models/src/late/e5_centre.bin"), bytes).unwrap();
    }
}
