//! Rarity of a word in general language, in any language.
//!
//! A byte-pair vocabulary is a frequency list: its tokens were numbered as they were learned, the most frequent first.
//! That of `o200k` comes from text and source code in many languages and is in the binary for counting, so no list of
//! words is needed beside it.

use crate::counters::Encoding;

/// The token up to which words are in nearly every text: ` the` is number 290.
const COMMON: f64 = 300.0;

/// The number that stands for words that are no token: twice the size of the vocabulary.
const UNKNOWN: f64 = 400_000.0;

/// The rarity of the most common words.
const LEAST: f64 = 0.02;

/// Returns whether a word in lower-case ASCII letters is so common that it is a token of its own.
///
/// ```
/// # use chunkwright_models::is_common;
/// assert!(is_common("timeout") && is_common("database") && !is_common("tablepump"));
/// ```
pub fn is_common(word: &str) -> bool {
    let mut token = [b' '; 33];
    let Some(room) = token.get_mut(1..=word.len()) else { return false };
    room.copy_from_slice(word.as_bytes());
    Encoding::o200k().merges.token(&token[..=word.len()]).is_some()
}

/// Returns how rare a word is: near 0 for words of nearly every text, 1 for words that are not in the vocabulary, such
/// as most names and identifiers. It grows with the logarithm of the rank in a list of frequencies. Case does not
/// matter.
///
/// ```
/// # use chunkwright_models::rarity;
/// assert!(rarity("the") < rarity("state") && rarity("state") < rarity("lock"));
/// assert!(rarity("lock") < rarity("terraform") && rarity("terraform") < rarity("max_chunk_size"));
/// ```
pub fn rarity(word: &str) -> f64 {
    let lower = word.to_lowercase();
    let mut letters = lower.chars();
    let title: String =
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters.as_str().chars()).collect();
    let merges = &Encoding::o200k().merges;
    // Most words are tokens with the blank before them.
    let tokens = [lower.as_str(), &title, word].into_iter().flat_map(|form| {
        [merges.token(form.as_bytes()), merges.token(format!(" {form}").as_bytes())].into_iter().flatten()
    });
    let rank = tokens.min().map_or(UNKNOWN, f64::from);
    ((rank / COMMON).ln() / (UNKNOWN / COMMON).ln()).clamp(LEAST, 1.0)
}
