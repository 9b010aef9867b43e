//! Neighbours that some token of an encoding holds side by side.
//!
//! A token is made by merging two that stand side by side. So where no token reaches across two neighbours, none is
//! ever made there, and the tokens of a word are those of its parts: exactly, not nearly.

use bpe_openai::byte_pair_encoding::BytePairEncoding;

use crate::char_set::{self, PairFilter};

/// Pairs of characters that tokens reach across. Some tokens hold only the last bytes of the first character, or
/// the first of the second: they may hold any that has these.
pub(super) struct Joined(PairFilter);

impl Joined {
    /// Those of an encoding; takes milliseconds. Of ASCII there is nothing to know: it is not parted.
    pub(super) fn of(encoding: &BytePairEncoding) -> Self {
        let tokens = encoding.num_tokens();
        let mut pairs = PairFilter::new(tokens);
        for token in 0..tokens as u32 {
            let bytes = encoding.token_bytes(token);
            if bytes.is_ascii() {
                continue;
            }
            let begins = |at: &usize| bytes[*at] & 0xC0 != 0x80;
            for at in (1..bytes.len()).filter(begins) {
                let (left, right) = bytes.split_at(at);
                let before = left.utf8_chunks().last();
                let before = before.filter(|chunk| chunk.invalid().is_empty());
                let before = before.and_then(|chunk| chunk.valid().chars().next_back());
                let after = right.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
                pairs.insert(
                    before.unwrap_or_else(|| ends_with(left[at - 1])),
                    after.unwrap_or_else(|| begins_with(right[0])),
                );
            }
        }
        Self(pairs)
    }

    /// The parts of a word whose tokens, one after the other, are those of the word.
    pub(super) fn parts<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a str> {
        char_set::parts(word, |a, b| self.parts_between(a, b))
    }

    fn parts_between(&self, a: char, b: char) -> bool {
        let mut bytes = [0; 4];
        let end = a.encode_utf8(&mut bytes).bytes().next_back().map_or(a, ends_with);
        let begin = b.encode_utf8(&mut bytes).bytes().next().map_or(b, begins_with);
        let Self(pairs) = self;
        let may_hold = |a, b| pairs.may_hold(a, b);
        let is_joined = (a.is_ascii() && b.is_ascii())
            || may_hold(a, b)
            || may_hold(a, begin)
            || may_hold(end, b)
            || may_hold(end, begin);
        !is_joined
    }
}

/// Stands for any character whose last byte is this. Private characters, which no token holds.
fn ends_with(byte: u8) -> char {
    char::from_u32(0xF_0000 + u32::from(byte)).unwrap_or_default()
}

/// Stands for any character whose first byte is this.
fn begins_with(byte: u8) -> char {
    char::from_u32(0xF_0100 + u32::from(byte)).unwrap_or_default()
}
