//! Sets of characters and of character pairs, for tests on every character of a text.

#[cfg(feature = "local")]
use crate::bpe::layout;

/// The parts of a word between neighbours that `are_apart`.
pub(crate) fn parts(mut word: &str, are_apart: impl Fn(char, char) -> bool) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let mut chars = word.char_indices();
        let (_, mut before) = chars.next()?;
        let end = chars.find(|&(_, c)| are_apart(std::mem::replace(&mut before, c), c));
        let (part, rest) = word.split_at(end.map_or(word.len(), |(at, _)| at));
        word = rest;
        Some(part)
    })
}

#[cfg(feature = "local")]
/// A set of characters, one bit for each in Unicode.
pub(crate) struct CharSet(Box<[u64]>);

#[cfg(feature = "local")]
impl CharSet {
    pub(crate) fn contains(&self, c: char) -> bool {
        self.0[c as usize / 64] >> (c as usize % 64) & 1 == 1
    }
}

#[cfg(feature = "local")]
impl FromIterator<char> for CharSet {
    fn from_iter<I: IntoIterator<Item = char>>(chars: I) -> Self {
        let mut bits = vec![0_u64; (char::MAX as usize + 1) / 64].into_boxed_slice();
        chars.into_iter().for_each(|c| bits[c as usize / 64] |= 1 << (c as usize % 64));
        Self(bits)
    }
}

#[cfg(feature = "local")]
/// A set of pairs of characters that holds all that were inserted and a few more.
pub(crate) struct PairFilter(Box<[u64]>);

#[cfg(feature = "local")]
impl PairFilter {
    /// An empty set for a vocabulary of `pieces`.
    pub(crate) fn new(pieces: usize) -> Self {
        Self(vec![0; layout::filter_words(pieces)].into_boxed_slice())
    }

    pub(crate) fn insert(&mut self, a: char, b: char) {
        let bit = self.bit(a, b);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    /// Whether the pair may have been inserted: false positives occur, false negatives do not.
    pub(crate) fn may_hold(&self, a: char, b: char) -> bool {
        let bit = self.bit(a, b);
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn bit(&self, a: char, b: char) -> usize {
        layout::filter_bit(a, b, self.0.len() * 64)
    }
}

#[cfg(all(test, feature = "local"))]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_collected() {
        let set: CharSet = ['a', '字', char::MAX].into_iter().collect();
        for c in ['a', '字', char::MAX] {
            assert!(set.contains(c), "{c:?}");
        }
        for c in ['\0', 'b', '学', '\u{10fffe}'] {
            assert!(!set.contains(c), "{c:?}");
        }
    }

    #[test]
    fn a_filter_holds_every_pair_and_few_others() {
        let letters = || 'а'..='я';
        let mut filter = PairFilter::new(1000);
        letters().for_each(|c| filter.insert(c, 'ж'));
        assert!(letters().all(|c| filter.may_hold(c, 'ж')));
        assert!(letters().filter(|&c| c != 'ж' && filter.may_hold('ж', c)).count() < 4);
    }
}
