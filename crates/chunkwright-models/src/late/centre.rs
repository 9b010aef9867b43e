//! What an encoder gives for late interaction: codes of texts, and what is compared with them.

use kodama::{MethodChain, nnchain};

use super::{BITS, CODE_BYTES, MOST_CODES, Tokens};
use crate::vectors::{normalized, product};

/// The mean of a model's token vectors: most of what any two of them have in common, which says nothing.
pub(crate) struct Centre([f32; BITS]);

impl Centre {
    /// That of multilingual-e5-small, over texts of this repository in three languages and code. A test says of which
    /// texts, and that it is their mean. Changed, codes of before could not be compared.
    pub(crate) fn of_e5() -> Self {
        Self::read(include_bytes!("e5.bin"))
    }

    /// That of all-MiniLM-L6-v2, over those in English and code.
    pub(crate) fn of_minilm() -> Self {
        Self::read(include_bytes!("minilm.bin"))
    }

    /// 16-bit integers, 32,767 for 1.
    fn read(numbers: &[u8; 2 * BITS]) -> Self {
        let mut numbers = numbers.as_chunks().0.iter().map(|bytes| f32::from(i16::from_le_bytes(*bytes)));
        Self(std::array::from_fn(|_| numbers.next().unwrap_or(0.0) / f32::from(i16::MAX)))
    }

    /// The distances of rows of numbers, each scaled to length 1, from the mean.
    fn distances(&self, rows: &[f32]) -> Vec<Vec<f32>> {
        let rows = rows.chunks_exact(BITS).map(|row| normalized(row.to_vec()));
        rows.map(|row| row.iter().zip(&self.0).map(|(x, mean)| x - mean).collect()).collect()
    }

    /// What is compared of a question with these token vectors, one after the other.
    pub(crate) fn query(&self, tokens: &[f32]) -> Tokens {
        Tokens::Query(self.distances(tokens).concat())
    }

    /// What is compared of a text with these token vectors, at least one, one after the other.
    pub(crate) fn passage(&self, tokens: &[f32]) -> Tokens {
        let tokens = self.distances(tokens);
        let groups = alike(&tokens);
        let mut codes = Vec::with_capacity(groups.len() * CODE_BYTES);
        for group in groups {
            // The sign of a mean is that of the sum.
            let mut sums = [0.0; BITS];
            for token in group {
                sums.iter_mut().zip(&tokens[token]).for_each(|(sum, distance)| *sum += distance);
            }
            let byte = |numbers: &[f32; 8]| {
                numbers.iter().rev().fold(0_u8, |byte, number| byte << 1 | u8::from(*number > 0.0))
            };
            codes.extend(sums.as_chunks().0.iter().map(byte));
        }
        Tokens::Passage(codes)
    }
}

/// At most [`MOST_CODES`] groups of vectors that are alike by their directions, in the order of their first members: again
/// and again those two are joined whose members are nearest to the mean of both (Ward 1963).
fn alike(vectors: &[Vec<f32>]) -> Vec<Vec<usize>> {
    let count = vectors.len();
    let mut groups: Vec<Vec<usize>> = (0..count).map(|vector| vec![vector]).collect();
    let directions: Vec<Vec<f32>> = vectors.iter().map(|vector| normalized(vector.clone())).collect();
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    let distance =
        |(a, b): (usize, usize)| (2.0 - 2.0 * product(&directions[a], &directions[b])).max(0.0).sqrt();
    let mut distances: Vec<f32> = pairs.map(distance).collect();
    let merged = nnchain(&mut distances, count, MethodChain::Ward);
    // Each step makes a group of two, numbered after all before it.
    for step in &merged.steps()[..count.saturating_sub(MOST_CODES)] {
        let joined = [step.cluster1, step.cluster2].map(|group| std::mem::take(&mut groups[group]));
        groups.push(joined.concat());
    }
    groups.retain(|group| !group.is_empty());
    for group in &mut groups {
        group.sort_unstable();
    }
    groups.sort_unstable();
    groups
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;

    use super::*;
    use crate::embedders::{E5, MiniLm, Role};
    use crate::late::{are_codes, late_scores};
    use crate::test_models::data_dir_with;

    fn token(at: usize) -> Vec<f32> {
        (0..BITS).map(|x| ((x * x * 7 + at * at * 3 + at * x) % 29) as f32 - 14.0).collect()
    }

    fn tokens(count: usize) -> Vec<f32> {
        (0..count).flat_map(token).collect()
    }

    fn codes(tokens: &[f32]) -> Vec<u8> {
        Centre::of_e5().passage(tokens).into_codes().unwrap_or_default()
    }

    #[test]
    fn a_text_has_a_code_for_each_group_of_its_tokens() {
        for count in [1, 2, 31, 32, 33, 500] {
            let found = codes(&tokens(count));
            assert_eq!(found.len(), count.min(MOST_CODES) * CODE_BYTES);
            assert!(are_codes(&found));
        }
        for bytes in [0, 1, CODE_BYTES - 1, CODE_BYTES + 1, (MOST_CODES + 1) * CODE_BYTES] {
            assert!(!are_codes(&vec![0; bytes]), "{bytes}");
        }
    }

    /// Vectors near to one of a few, in a random order, and which each is near to.
    fn scattered() -> impl Strategy<Value = (Vec<Vec<f32>>, Vec<usize>)> {
        let near = |(to, by): (usize, usize)| {
            let noise = token(1_000 + by).into_iter().map(|x| x / 20.0);
            token(to).into_iter().zip(noise).map(|(x, noise)| x + noise).collect::<Vec<f32>>()
        };
        prop::collection::vec((0..20_usize, 0..1_000_usize), 1..200).prop_map(move |of| {
            (of.iter().map(|&of| near(of)).collect(), of.into_iter().map(|it| it.0).collect())
        })
    }

    proptest! {
        #[test]
        fn vectors_that_are_alike_share_a_group((vectors, near) in scattered()) {
            let groups = alike(&vectors);
            prop_assert!(groups.len() <= MOST_CODES && groups.is_sorted());
            let mut members = groups.concat();
            members.sort_unstable();
            prop_assert!(members.into_iter().eq(0..vectors.len()));
            for group in groups {
                prop_assert!(group.iter().all(|member| near[*member] == near[group[0]]));
            }
        }
    }

    #[test]
    fn the_score_is_the_mean_of_the_greatest_products() {
        let tokens = tokens(6);
        let Tokens::Query(query) = Centre::of_e5().query(&tokens[..2 * BITS]) else { unreachable!() };
        let texts = [codes(&tokens[..BITS]), codes(&tokens[BITS..4 * BITS]), codes(&tokens)];
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

    /// `count` pieces of the files of each folder, so that every language has its share.
    fn pieces(folders: &[&str], count: usize) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pieces: Vec<String> = Vec::new();
        for folder in folders {
            let mut paths = Vec::new();
            files(&root.join(folder), &mut paths);
            let text: String = paths.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
            let letters: Vec<char> = text.chars().collect();
            let all = letters.chunks(500);
            let step = all.len().div_ceil(count);
            pieces.extend(all.step_by(step).map(String::from_iter));
        }
        pieces
    }

    /// Asserts that a centre is the mean of token vectors, each scaled to length 1: their cosine is at least `least`.
    fn is_centre(centre: &Centre, texts: &[Vec<f32>], least: f64) {
        let mut mean = [0.0; BITS];
        let rows = || texts.iter().flat_map(|text| text.chunks_exact(BITS));
        for row in rows() {
            mean.iter_mut().zip(normalized(row.to_vec())).for_each(|(mean, x)| *mean += f64::from(x));
        }
        let mean = mean.map(|sum| sum / rows().count() as f64);
        let centre = centre.0.map(f64::from);
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let cosine = dot(&mean, &centre) / (dot(&mean, &mean) * dot(&centre, &centre)).sqrt();
        let lengths = (dot(&centre, &centre) / dot(&mean, &mean)).sqrt();
        assert!(cosine > least && (lengths - 1.0).abs() < 0.05, "{cosine} {lengths}");
    }

    /// The committed one is of 60 pieces of each folder.
    #[test]
    fn the_centre_of_e5_is_the_mean_of_the_tokens_of_texts_in_three_languages_and_code() {
        let Some(dir) = data_dir_with("e5") else { return };
        let texts = pieces(&FOLDERS, 2);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let tokens = E5::open(&dir).unwrap().token_vectors(&texts, Role::Passage).unwrap();
        is_centre(&Centre::of_e5(), &tokens, 0.99);
    }

    /// The committed one is of as many pieces, when it was made: texts of the repository change. With eight a folder the
    /// length of the mean is off by 5 %.
    #[test]
    fn the_centre_of_minilm_is_the_mean_of_the_tokens_of_english_and_code() {
        let Some(dir) = data_dir_with("minilm") else { return };
        let is_read = |folder: &&str| !folder.ends_with("zh") && !folder.ends_with("ru");
        let folders: Vec<&str> = FOLDERS.into_iter().filter(is_read).collect();
        let model = MiniLm::open(&dir).unwrap();
        let texts = pieces(&folders, 60);
        let ids: Vec<Vec<u32>> = texts.iter().map(|text| model.ids(0, text).unwrap().0).collect();
        let ids: Vec<&[u32]> = ids.iter().map(Vec::as_slice).collect();
        let own = |x: &[f32], rows| model.own(x, &rows).to_vec();
        is_centre(&Centre::of_minilm(), &model.bert.tokens(&ids, own).unwrap(), 0.95);
    }
}
