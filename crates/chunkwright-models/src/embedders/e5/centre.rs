//! What multilingual-e5-small gives for late interaction.

use crate::late::{BITS, CODE_BYTES, MOST_CODES, Tokens};

/// The mean of a model's token vectors: most of what any two of them have in common, which says nothing.
pub(super) struct Centre([f32; BITS]);

impl Centre {
    /// That of multilingual-e5-small, over texts of this repository in three languages and code; 16-bit integers, 32,767
    /// for 1. A test says of which texts, and that it is their mean.
    const E5: &[u8; 2 * BITS] = include_bytes!("centre.bin");

    /// That of multilingual-e5-small.
    pub(super) fn of_e5() -> Self {
        let mut numbers = Self::E5.as_chunks().0.iter().map(|bytes| f32::from(i16::from_le_bytes(*bytes)));
        Self(std::array::from_fn(|_| numbers.next().unwrap_or(0.0) / f32::from(i16::MAX)))
    }

    /// What is compared of a question with these token vectors.
    pub(super) fn query(&self, tokens: &[Vec<f32>]) -> Tokens {
        Tokens::Query(
            tokens.iter().flat_map(|token| token.iter().zip(&self.0).map(|(x, mean)| x - mean)).collect(),
        )
    }

    /// What is compared of a text with these token vectors, at least one.
    pub(super) fn passage(&self, tokens: &[Vec<f32>]) -> Tokens {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::embedders::{E5, Role};
    use crate::late::{are_codes, late_scores};
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

    /// The mean of the token vectors of `count` pieces of each folder, so that every language has its share.
    fn mean_of(e5: &E5, count: usize) -> [f64; BITS] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pieces: Vec<String> = Vec::new();
        for folder in FOLDERS {
            let mut paths = Vec::new();
            files(&root.join(folder), &mut paths);
            let text: String = paths.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
            let letters: Vec<char> = text.chars().collect();
            let all = letters.chunks(500);
            let step = all.len().div_ceil(count);
            pieces.extend(all.step_by(step).map(String::from_iter));
        }
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let tokens = e5.token_vectors(&pieces, Role::Passage).unwrap_or_default();
        let rows = || tokens.iter().flat_map(|text| text.chunks_exact(BITS));
        let mut mean = [0.0; BITS];
        for row in rows() {
            mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += f64::from(*x));
        }
        mean.map(|sum| sum / rows().count() as f64)
    }

    /// The committed one is of 60 pieces of each folder.
    #[test]
    fn the_centre_is_the_mean_of_the_tokens_of_texts_in_three_languages_and_code() {
        let Some(dir) = data_dir_with("e5") else { return };
        let e5 = E5::open(&dir).unwrap();
        let mean = mean_of(&e5, 2);
        let centre = Centre::of_e5().0.map(f64::from);
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let cosine = dot(&mean, &centre) / (dot(&mean, &mean) * dot(&centre, &centre)).sqrt();
        let lengths = (dot(&centre, &centre) / dot(&mean, &mean)).sqrt();
        assert!(cosine > 0.99 && (lengths - 1.0).abs() < 0.03, "{cosine} {lengths}");
    }
}
