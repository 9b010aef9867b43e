//! Unigram tokenization: the most probable split of a word into pieces of a vocabulary.
//!
//! A piece has a score (a log probability) and the best split is the one with the highest sum,
//! found by dynamic programming over the ends of pieces (Viterbi). Time is linear in the word.
//! Ties and unknown characters are resolved as the `tokenizers` library does, so results are equal.
//!
//! No split goes across two neighbours that no piece holds side by side, so a word falls into parts
//! that are split each alone. Scores are single precision and of similar size, their sums in double
//! precision are exact, and so a part's best split is the same wherever it stands.

use crate::char_set::{self, CharSet, PairFilter};

/// A vocabulary of scored pieces, ready to split words.
pub(crate) struct Unigram {
    /// An open-addressing hash table that is a trie over characters: the slot of a prefix is its
    /// node, and is found by the slot of the prefix before it and its last character.
    slots: Box<[Slot]>,
    /// Characters that are pieces: none of them is ever unknown.
    known: CharSet,
    /// Neighbours in pieces.
    joined: PairFilter,
    /// Score of a character that no piece holds.
    unknown_score: f64,
    unknown_id: u32,
}

/// The entry of one piece in a vocabulary.
pub(crate) struct Piece<'a> {
    pub(crate) text: &'a str,
    pub(crate) id: u32,
    pub(crate) score: f32,
}

impl Piece<'_> {
    /// The character that is all of the piece.
    pub(crate) fn single(&self) -> Option<char> {
        let mut chars = self.text.chars();
        chars.next().filter(|_| chars.next().is_none())
    }
}

#[derive(Clone, Copy)]
struct Slot {
    /// Slot of the prefix before, shifted past the last character; `FREE` if nothing is here.
    key: u64,
    id: u32,
    score: f32,
}

const FREE: u64 = u64::MAX;
const NO_PIECE: u32 = u32::MAX;
/// The trie's root: no slot, since tables have at most 2^32 of them.
const ROOT: u64 = 1 << 32;
const CHAR_BITS: u32 = 21;
/// Score of an unknown character below that of the least probable piece.
const UNKNOWN_PENALTY: f64 = 10.0;

impl Unigram {
    /// Builds the table. `lowest` is the lowest score of the vocabulary, which may have more pieces than those; `unknown_id`
    /// stands for every run of characters that no piece holds.
    pub(crate) fn new(pieces: &[Piece<'_>], lowest: f32, unknown_id: u32) -> Self {
        let mut capacity = (pieces.len() * 4).next_power_of_two().max(64);
        let slots = loop {
            if let Some(slots) = Self::fill(pieces, capacity) {
                break slots;
            }
            capacity *= 2;
        };
        let lowest = if lowest.is_finite() { f64::from(lowest) } else { 0.0 };
        let mut joined = PairFilter::new(pieces.len());
        for piece in pieces {
            piece.text.chars().zip(piece.text.chars().skip(1)).for_each(|(a, b)| joined.insert(a, b));
        }
        let known = pieces.iter().filter_map(Piece::single).collect();
        Self { slots, known, joined, unknown_score: lowest - UNKNOWN_PENALTY, unknown_id }
    }

    /// The table with `capacity` slots, or `None` if it would be more than two thirds full.
    fn fill(pieces: &[Piece<'_>], capacity: usize) -> Option<Box<[Slot]>> {
        let mut slots = vec![Slot { key: FREE, id: NO_PIECE, score: 0.0 }; capacity].into_boxed_slice();
        let mut free = capacity / 3 * 2;
        for piece in pieces {
            let mut node = ROOT;
            for c in piece.text.chars() {
                let (slot, found) = probe(&slots, node, c);
                if !found {
                    free = free.checked_sub(1)?;
                    slots[slot].key = key(node, c);
                }
                node = slot as u64;
            }
            if node != ROOT && slots[node as usize].id == NO_PIECE {
                slots[node as usize].id = piece.id;
                slots[node as usize].score = piece.score;
            }
        }
        Some(slots)
    }

    /// The parts of a word whose best splits, one after the other, are that of the word.
    pub(crate) fn parts<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a str> {
        char_set::parts(word, |a, b| self.parts_between(a, b))
    }

    /// Whether no piece holds `a` before `b`, and neither does a run of unknown characters.
    fn parts_between(&self, a: char, b: char) -> bool {
        !self.joined.may_hold(a, b) && (self.known.contains(a) || self.known.contains(b))
    }

    /// Number of pieces of the best split of `word`.
    pub(crate) fn count(&self, word: &str) -> usize {
        let mut count = 0;
        self.walk_back(word, |_| count += 1);
        count
    }

    /// Appends the ids of the best split of `word` to `ids`.
    pub(crate) fn ids(&self, word: &str, ids: &mut Vec<u32>) {
        let first = ids.len();
        self.walk_back(word, |id| ids.push(id));
        ids[first..].reverse();
    }

    /// Calls `piece` with the ids of the best split from the last to the first; a run of unknown
    /// characters is one.
    fn walk_back(&self, word: &str, mut piece: impl FnMut(u32)) {
        let ends = self.best_ends(word);
        let (mut at, mut after) = (word.len(), NO_PIECE);
        while at > 0 {
            let end = ends[at];
            if end.id != self.unknown_id || after != self.unknown_id {
                piece(end.id);
            }
            after = end.id;
            at = end.start as usize;
        }
    }

    /// For each byte offset where a character ends: the last piece of the best split up to there.
    fn best_ends(&self, word: &str) -> Vec<End> {
        let mut ends = vec![End { score: f64::NEG_INFINITY, start: 0, id: NO_PIECE }; word.len() + 1];
        ends[0].score = 0.0;
        for (start, first) in word.char_indices() {
            let before = ends[start].score;
            let mut reach = |end: usize, score: f64, id: u32| {
                if ends[end].id == NO_PIECE || before + score > ends[end].score {
                    ends[end] = End { score: before + score, start: start as u32, id };
                }
            };
            let mut node = ROOT;
            let mut end = start;
            let mut alone = false;
            for c in word[start..].chars() {
                let (slot, found) = probe(&self.slots, node, c);
                if !found {
                    break;
                }
                node = slot as u64;
                end += c.len_utf8();
                let Slot { id, score, .. } = self.slots[slot];
                if id != NO_PIECE {
                    alone |= end == start + first.len_utf8();
                    reach(end, f64::from(score), id);
                }
            }
            if !alone {
                reach(start + first.len_utf8(), self.unknown_score, self.unknown_id);
            }
        }
        ends
    }
}

#[derive(Clone, Copy)]
struct End {
    score: f64,
    start: u32,
    id: u32,
}

fn key(node: u64, c: char) -> u64 {
    node << CHAR_BITS | u64::from(u32::from(c))
}

/// The slot of `c` after `node`, and whether it is taken; a free one if not.
fn probe(slots: &[Slot], node: u64, c: char) -> (usize, bool) {
    let key = key(node, c);
    let mask = slots.len() - 1;
    // Fibonacci hashing: the high bits of the product depend on all bits of the key.
    let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
    loop {
        match slots[slot].key {
            found if found == key => return (slot, true),
            FREE => return (slot, false),
            _ => slot = (slot + 1) & mask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;
    use tokenizers::Model;

    fn unigram(vocabulary: &[(&str, f32)]) -> Unigram {
        let piece = |(id, &(text, score))| Piece { text, id: id as u32 + 1, score };
        let lowest = vocabulary.iter().map(|&(_, score)| score).fold(f32::INFINITY, f32::min);
        Unigram::new(&vocabulary.iter().enumerate().map(piece).collect::<Vec<_>>(), lowest, 0)
    }

    fn check(word: &str, expected: &[u32]) {
        let unigram =
            unigram(&[("a", -1.0), ("b", -2.0), ("ab", -2.5), ("abc", -9.0), ("ж", -3.0), ("жж", -6.0)]);
        let mut ids = vec![77];
        unigram.ids(word, &mut ids);
        assert_eq!(ids[1..], *expected, "{word:?}");
        assert_eq!(unigram.count(word), expected.len(), "{word:?}");
    }

    #[test]
    fn the_most_probable_split_wins() {
        check("", &[]);
        check("ab", &[3]);
        check("aab", &[1, 3]);
        check("abc", &[4]);
        check("ba", &[2, 1]);
    }

    #[test]
    fn of_equal_splits_the_one_with_the_longest_last_piece_wins() {
        check("жж", &[6]);
        check("жжж", &[5, 6]);
    }

    #[test]
    fn a_run_of_unknown_characters_is_one_piece() {
        check("xyz", &[0]);
        check("xaxyb", &[0, 1, 0, 2]);
        check("字", &[0]);
    }

    #[test]
    fn a_word_falls_apart_where_no_piece_joins_it() {
        let unigram = unigram(&[("a", -1.0), ("b", -2.0), ("ab", -2.5), ("字", -3.0), ("典", -4.0)]);
        let parts: Vec<&str> = unigram.parts("ab字典babxy").collect();
        assert_eq!(parts, ["ab", "字", "典", "b", "ab", "xy"]);
    }

    proptest! {
        /// Few characters and scores, so that pieces overlap and splits are equally good.
        #[test]
        fn parts_are_split_as_the_tokenizers_library_splits_the_word(
            vocabulary in prop::collection::btree_map("[ab字典ж▁]{1,4}", 4..40_u8, 1..24),
            word in "▁?[ab字典жxж学]{1,24}",
        ) {
            let vocabulary: Vec<(&str, f32)> =
                vocabulary.iter().map(|(text, &score)| (text.as_str(), -f32::from(score) / 4.0)).collect();
            let scored = vocabulary.iter().map(|&(text, score)| (text.to_owned(), f64::from(score)));
            let scored = std::iter::once(("<unk>".to_owned(), 0.0)).chain(scored).collect();
            let peer = tokenizers::models::unigram::Unigram::from(scored, Some(0), false).unwrap();
            let expected: Vec<u32> = peer.tokenize(&word).unwrap().iter().map(|token| token.id).collect();

            let unigram = unigram(&vocabulary);
            let (mut ids, mut count) = (Vec::new(), 0);
            for part in unigram.parts(&word) {
                unigram.ids(part, &mut ids);
                count += unigram.count(part);
            }
            prop_assert_eq!(&ids, &expected);
            prop_assert_eq!(count, expected.len());
        }
    }
}
