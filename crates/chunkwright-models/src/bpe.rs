//! Byte-pair encodings: merge the tokens of a word, and count them.
//!
//! A word begins as its bytes. As long as two neighbours merge into a token, the pair of the lowest rank is merged, the
//! first of equals. A table says what merges into what ([`Pairs`]). In `OpenAI`'s encodings ([`Merges`]) the rank of a
//! merge is the id of its token. `build.rs` makes their tables; they lie in the binary in the form in which they are
//! used, so they take no time to load.
//!
//! The search for the lowest rank goes over the whole word each time, which is the fastest there is for words of usual
//! length. For long ones, such as a line without blanks or an indentation, the pairs lie in a heap, and words are taken
//! in windows. That is exact, since a sequence of tokens is the encoding of its bytes if every two neighbours are the
//! encoding of theirs.

pub(crate) mod layout;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use self::layout::{EMPTY, ENTRY, ID_BITS};
use crate::char_set;

/// Most bytes of a word of usual length.
pub(crate) const USUAL: usize = 48;

/// Bytes of a long word that are merged at once.
const WINDOW: usize = 512;

/// Bytes at the end of a window whose tokens depend on what follows: a few tokens.
const TAIL: usize = 64;

/// No merge, no token: larger than all ranks and ids.
pub(crate) const NONE: u32 = u32::MAX;

/// The table of merges of an encoding: which two tokens merge into which.
pub(crate) struct Merges {
    /// The token of each byte.
    singles: [u32; 256],
    seeds: &'static [u8],
    buckets: usize,
    entries: &'static [u8],
    entry_count: usize,
    filter: &'static [u8],
    token_filter: &'static [u8],
}

impl Merges {
    /// Reads a table that `build.rs` has written.
    pub(crate) fn new(table: &'static [u8]) -> Self {
        let number = |at: usize| u32::from_le_bytes([table[at], table[at + 1], table[at + 2], table[at + 3]]);
        let [buckets, entry_count, words, token_words] = [0, 4, 8, 12].map(|at| number(at) as usize);
        let (_, rest) = table.split_at(16 + 4 * 256);
        let (seeds, rest) = rest.split_at(2 * buckets);
        let (entries, rest) = rest.split_at(ENTRY * entry_count + 1);
        let (filter, token_filter) = rest.split_at(8 * words);
        debug_assert_eq!(token_filter.len(), 8 * token_words);
        let mut singles = [0; 256];
        for (byte, single) in singles.iter_mut().enumerate() {
            *single = number(16 + 4 * byte);
        }
        Self { singles, seeds, buckets, entries, entry_count, filter, token_filter }
    }

    /// Number of tokens of a word.
    pub(crate) fn count(&self, word: &[u8]) -> usize {
        if word.len() <= USUAL {
            return self.merge(word).0;
        }
        // Twice as long a window where one has no end that holds, until it is the whole word. No such word is known.
        let mut sizes = std::iter::successors(Some(WINDOW), |size| size.checked_mul(2));
        sizes.find_map(|size| self.count_by(word, size)).unwrap_or_default()
    }

    /// The token that a word is; `None` if it is several.
    pub(crate) fn token(&self, word: &[u8]) -> Option<u32> {
        // Most texts that are asked for are none. Merging them was a fifth of the time of indexing English Markdown.
        let bits = layout::token_bits(word, 8 * self.token_filter.len());
        let may_be = bits.iter().all(|bit| self.token_filter[bit / 8] >> (bit % 8) & 1 == 1);
        let (count, first) = if may_be && word.len() <= USUAL { self.merge(word) } else { (0, NONE) };
        (count == 1).then_some(first)
    }

    /// Number of tokens, in windows of `size` bytes; `None` if one of them has no end that holds.
    fn count_by(&self, word: &[u8], size: usize) -> Option<usize> {
        let (mut from, mut count) = (0, 0);
        let mut window = self.ends(&word[..size.min(word.len())]);
        while from + size < word.len() {
            let kept = window.partition_point(|&end| end <= size - TAIL);
            let (kept, next) = (1..=kept).rev().find_map(|kept| {
                let start = if kept == 1 { 0 } else { window[kept - 2] };
                let last = window[kept - 1] - start;
                let next = from + window[kept - 1];
                let following = self.ends(&word[next..word.len().min(next + size)]);
                let first = *following.first()?;
                // The seam holds if the tokens on both sides of it are the encoding of their bytes.
                let seam = self.ends(&word[next - last..next + first]);
                (seam == [last, last + first]).then_some((kept, following))
            })?;
            from += window[kept - 1];
            count += kept;
            window = next;
        }
        Some(count + window.len())
    }

    /// The ends of the tokens of a window.
    fn ends(&self, window: &[u8]) -> Vec<usize> {
        let mut tokens: Vec<u32> = window.iter().map(|&byte| self.singles[usize::from(byte)]).collect();
        let mut ends = merge_many(self, &mut tokens);
        ends.retain(|&end| end > 0);
        ends
    }

    /// Number of tokens of a word of usual length, and the first of them.
    fn merge(&self, word: &[u8]) -> (usize, u32) {
        let mut tokens = [0; USUAL];
        for (token, &byte) in tokens.iter_mut().zip(word) {
            *token = self.singles[usize::from(byte)];
        }
        (merge_few(self, &mut tokens, word.len()), tokens[0])
    }

    /// The parts of a word whose tokens, one after the other, are those of the word.
    ///
    /// A token is made by merging two neighbours. So where no token of the vocabulary spans two neighbouring
    /// characters, none is ever made there, and the tokens of a word are exactly those of its parts.
    pub(crate) fn parts<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a str> {
        char_set::parts(word, |a, b| self.parts_between(a, b))
    }

    fn parts_between(&self, a: char, b: char) -> bool {
        let mut bytes = [0; 4];
        let end = a.encode_utf8(&mut bytes).bytes().next_back().map_or(a, layout::ends_with);
        let begin = b.encode_utf8(&mut bytes).bytes().next().map_or(b, layout::begins_with);
        let may_hold = |a, b| {
            let bit = layout::filter_bit(a, b, 8 * self.filter.len());
            self.filter[bit / 8] >> (bit % 8) & 1 == 1
        };
        let is_joined = (a.is_ascii() && b.is_ascii())
            || may_hold(a, b)
            || may_hold(a, begin)
            || may_hold(end, b)
            || may_hold(end, begin);
        !is_joined
    }
}

/// Which two neighbours merge, in what order and into what.
pub(crate) trait Pairs {
    /// The rank of the merge of two neighbours, or [`NONE`]: the lowest rank of a word merges first.
    fn merged(&self, left: u32, right: u32) -> u32;

    /// The token that a merge of this rank makes.
    fn token(&self, rank: u32) -> u32;
}

impl Pairs for Merges {
    fn merged(&self, left: u32, right: u32) -> u32 {
        let pair = layout::pair(left, right);
        let bucket = 2 * layout::bucket(pair, self.buckets);
        let seed = u16::from_le_bytes([self.seeds[bucket], self.seeds[bucket + 1]]);
        let at = ENTRY * layout::entry(pair, seed, self.entry_count);
        let entry =
            self.entries[at..].first_chunk().map_or(EMPTY, |&bytes| u64::from_le_bytes(bytes) & EMPTY);
        if entry >> ID_BITS == pair { entry as u32 & ((1 << ID_BITS) - 1) } else { NONE }
    }

    fn token(&self, rank: u32) -> u32 {
        rank
    }
}

/// Merges the first `count` tokens, and returns how many are left.
#[inline]
pub(crate) fn merge_few(pairs: &impl Pairs, tokens: &mut [u32; USUAL], mut count: usize) -> usize {
    // The rank at which each token and the next merge.
    let mut merged = [NONE; USUAL];
    for (merged, pair) in merged.iter_mut().zip(tokens[..count].windows(2)) {
        *merged = pairs.merged(pair[0], pair[1]);
    }
    while count > 1 {
        let ranks = &merged[..count - 1];
        let least = ranks.iter().fold(NONE, |least, &merged| least.min(merged));
        let at = ranks.iter().position(|&merged| merged == least);
        let Some(at) = at.filter(|_| least != NONE) else { break };
        let token = pairs.token(least);
        tokens[at] = token;
        tokens.copy_within(at + 2..count, at + 1);
        merged.copy_within(at + 1..count - 1, at);
        count -= 1;
        if at > 0 {
            merged[at - 1] = pairs.merged(tokens[at - 1], token);
        }
        if at + 1 < count {
            merged[at] = pairs.merged(token, tokens[at + 1]);
        }
    }
    count
}

/// Merges any number of tokens. Returns the end of each, 0 if it was merged into one before it; those that are left
/// stay at their beginnings.
pub(crate) fn merge_many(pairs: &impl Pairs, tokens: &mut [u32]) -> Vec<usize> {
    let count = tokens.len();
    let mut ends: Vec<usize> = (1..=count).collect();
    let mut before: Vec<usize> = (0..count).map(|at| at.wrapping_sub(1)).collect();
    // The rank at which each token and the next merge; the heap has it above the token's place.
    let mut merged: Vec<u32> = tokens.windows(2).map(|pair| pairs.merged(pair[0], pair[1])).collect();
    merged.push(NONE);
    let entry = |at: usize, merged: u32| Reverse(u64::from(merged) << 32 | at as u64);
    let known = merged.iter().enumerate().filter(|&(_, &merged)| merged != NONE);
    let mut heap: BinaryHeap<Reverse<u64>> = known.map(|(at, &merged)| entry(at, merged)).collect();
    while let Some(Reverse(pair)) = heap.pop() {
        let (rank, at) = ((pair >> 32) as u32, pair as u32 as usize);
        // Either of the two may have been merged with another meanwhile.
        if merged[at] != rank {
            continue;
        }
        let next = ends[at];
        let end = ends[next];
        (tokens[at], ends[at], ends[next], merged[next]) = (pairs.token(rank), end, 0, NONE);
        let mut join = |left: usize, right: usize| {
            merged[left] = pairs.merged(tokens[left], tokens[right]);
            if merged[left] != NONE {
                heap.push(entry(left, merged[left]));
            }
        };
        if at > 0 {
            join(before[at], at);
        }
        if end < count {
            before[end] = at;
            join(at, end);
        } else {
            merged[at] = NONE;
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::counters::Encoding;

    fn encodings() -> [(&'static Encoding, &'static bpe_openai::Tokenizer); 2] {
        [(Encoding::o200k(), bpe_openai::o200k_base()), (Encoding::cl100k(), bpe_openai::cl100k_base())]
    }

    fn check(word: &[u8]) {
        for (encoding, bare) in encodings() {
            let expected = bare.bpe.encode_via_backtracking(word);
            let mut ends: Vec<usize> = expected.iter().map(|&token| bare.bpe.token_len(token)).collect();
            (1..ends.len()).for_each(|at| ends[at] += ends[at - 1]);
            assert_eq!(encoding.merges.ends(word), ends, "{word:?}");
            assert_eq!(encoding.merges.count(word), expected.len(), "{word:?}");
        }
    }

    #[test]
    fn every_token_is_one_token() {
        for (encoding, bare) in encodings() {
            for token in 0..bare.bpe.num_tokens() as u32 {
                let bytes = bare.bpe.token_bytes(token);
                assert_eq!(encoding.merges.count(bytes), 1, "{bytes:?}");
                assert!(
                    bytes.len() > super::USUAL || encoding.merges.token(bytes) == Some(token),
                    "{bytes:?}"
                );
            }
        }
    }

    #[test]
    fn two_tokens_side_by_side_are_encoded_as_by_the_other_implementation() {
        for (encoding, bare) in encodings() {
            let (tokens, mut random) = (bare.bpe.num_tokens() as u64, 1_u64);
            let mut next = || {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                bare.bpe.token_bytes(((random >> 33) % tokens) as u32)
            };
            for _ in 0..200_000 {
                let word = [next(), next()].concat();
                let count = bare.bpe.count(&word);
                assert_eq!(encoding.merges.count(&word), count, "{word:?}");
                let is_token = count == 1 && word.len() <= super::USUAL;
                assert_eq!(encoding.merges.token(&word).is_some(), is_token, "{word:?}");
            }
        }
    }

    #[test]
    fn a_long_word_is_encoded_as_if_its_windows_were_one() {
        let random = |letters: &[u8], mut state: u32| -> Vec<u8> {
            let next = |_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                letters[(state >> 16) as usize % letters.len()]
            };
            (0..20_000).map(next).collect()
        };
        for unit in
            ["a", "ab", "=", "-=", "ACGT", "0", " ", "the", "http", "abcdefghijklmnopqrstuvwxyz", "я", "字"]
        {
            check(&unit.as_bytes().repeat(9_000 / unit.len()));
            check(&[b"x", &unit.as_bytes().repeat(3_000 / unit.len())[..]].concat());
        }
        for (state, letters) in
            (0..).zip(["a", "ab", "aA", "abc", "ACGT", "etaoin", "=-", " \t", "01", "/+aB9"])
        {
            check(&random(letters.as_bytes(), state));
        }
        let bytes: Vec<u8> = (0..=255).collect();
        check(&random(&bytes, 5));
    }

    proptest! {
        #[test]
        fn any_bytes_are_encoded_as_by_the_other_implementation(
            word in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..80),
                "[a-e]{0,40}".prop_map(String::into_bytes),
                "[a-zA-Z]{0,40}".prop_map(String::into_bytes),
                "\\PC{0,12}".prop_map(String::into_bytes),
                "[ab=]{400,1500}".prop_map(String::into_bytes),
            ],
        ) {
            check(&word);
        }
    }
}
