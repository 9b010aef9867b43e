//! Remembered counts or tokens of words.
//!
//! Tokenizers first split a text into words and then encode each word alone, and documents repeat
//! their words, so most counts are known before they are asked for. The cache is a fixed table of
//! short words with their counts: exact, because an entry holds the whole word; bounded, because a
//! new word simply takes the place of an old one. Threads borrow tables from a small pool, so that
//! they never wait for each other while counting and short-lived threads find a warm table.

use parking_lot::Mutex;

/// Longest word that is remembered, in bytes.
const MAX_WORD: usize = 32;
/// Pairs of entries of a table: 2^15 of 80 bytes are 2.5 MiB, about a core's own cache.
const PAIR_BITS: u32 = 15;

/// Tables of remembered counts; as many as there were threads counting at once.
pub(crate) struct WordCache<V = u32> {
    idle: Mutex<Vec<Table<V>>>,
}

impl<V> Default for WordCache<V> {
    fn default() -> Self {
        Self { idle: Mutex::default() }
    }
}

impl<V: Copy + Default> WordCache<V> {
    /// Lends a table to `count`.
    pub(crate) fn with<T>(&self, count: impl FnOnce(&mut Table<V>) -> T) -> T {
        let idle = || self.idle.lock();
        let taken = idle().pop();
        let mut table = taken.unwrap_or_default();
        let result = count(&mut table);
        idle().push(table);
        result
    }
}

/// A table from short words to what is known of them: their counts, unless said otherwise. Two words that share a place
/// are both remembered, of three the last two.
pub(crate) struct Table<V = u32>(Box<[[Entry<V>; 2]]>);

#[derive(Clone, Copy, Default)]
struct Entry<V> {
    word: Packed,
    value: V,
}

impl<V: Copy + Default> Default for Table<V> {
    fn default() -> Self {
        Self(vec![[Entry::default(); 2]; 1 << PAIR_BITS].into_boxed_slice())
    }
}

impl<V: Copy> Table<V> {
    /// What is known of `word`: remembered, or by `make` and then remembered.
    pub(crate) fn get(&mut self, word: &str, make: impl FnOnce(&str) -> V) -> V {
        let Some(packed) = Packed::new(word.as_bytes()) else { return make(word) };
        let pair = &mut self.0[packed.hash()];
        if let Some(known) = pair.iter().find(|entry| entry.word == packed) {
            return known.value;
        }
        let value = make(word);
        *pair = [Entry { word: packed, value }, pair[0]];
        value
    }
}

/// A word of 1 to 32 bytes, or a longer one of a single byte, as numbers, which compare faster than bytes: its length,
/// its bytes from the front and from the back, which may overlap. Length 0 means no word.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Packed {
    parts: [u64; 4],
    len: u32,
}

impl Packed {
    /// Packs a word, unless it is empty or too long. Length and parts tell all words apart.
    fn new(word: &[u8]) -> Option<Self> {
        let len = word.len();
        let parts = match len {
            1..=3 => {
                [u64::from(word[0]) | u64::from(word[len / 2]) << 8 | u64::from(word[len - 1]) << 16, 0, 0, 0]
            }
            4..=8 => [four(word) | four(&word[len - 4..]) << 32, 0, 0, 0],
            9..=16 => [eight(word), eight(&word[len - 8..]), 0, 0],
            17..=MAX_WORD => {
                [eight(word), eight(&word[8..]), eight(&word[len - 16..]), eight(&word[len - 8..])]
            }
            // Indentations and lines of dashes: one byte, so many times.
            1.. if word.iter().all(|&byte| byte == word[0]) => [u64::from(word[0]), len as u64, 0, 0],
            _ => return None,
        };
        Some(Self { parts, len: len as u32 })
    }

    /// The place of the word's entry. Words that collide there are distinguished by their parts.
    fn hash(&self) -> usize {
        let [a, b, c, d] = self.parts;
        let mut hash =
            a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(21);
        hash ^= c.wrapping_mul(0x1656_67b1_9e37_79f9).rotate_left(42) ^ d.wrapping_mul(0x27d4_eb2f_1656_67c5);
        hash ^= hash >> 32;
        (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PAIR_BITS)) as usize
    }
}

/// The first four bytes.
fn four(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&bytes| u64::from(u32::from_le_bytes(bytes)))
}

/// The first eight bytes.
fn eight(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&bytes| u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_counted_once_while_its_entry_lasts() {
        let cache = WordCache::default();
        let mut calls = 0;
        for _ in 0..3 {
            for word in ["one", "one\0", "", "слово", "a word that is longer than any entry can hold"] {
                let count = cache.with(|table| {
                    table.get(word, |word| {
                        calls += 1;
                        word.len() as u32
                    })
                });
                assert_eq!(count as usize, word.len(), "{word:?}");
            }
        }
        assert_eq!(calls, 3 + 2 * 3);
    }

    #[test]
    fn words_that_share_an_entry_are_told_apart() {
        let mut table = Table::default();
        for round in 0..2 {
            for number in 0..100_000 {
                assert_eq!(table.get(&number.to_string(), |_| number % 200), number % 200, "round {round}");
            }
        }
    }

    #[test]
    fn words_that_differ_in_one_byte_or_in_length_are_packed_differently() {
        for len in 1..4 * MAX_WORD {
            let word = vec![b'x'; len];
            let packed = Packed::new(&word);
            assert!(packed.is_some());
            assert!(packed != Packed::new(&word[1..]), "{len}");
            assert!(packed != Packed::new(&vec![b'y'; len]), "{len}");
            for at in 0..len {
                let mut other = word.clone();
                other[at] = b'y';
                let other = Packed::new(&other);
                assert!(packed != other, "{len}, {at}");
                assert_eq!(other.is_some(), len <= MAX_WORD, "{len}, {at}");
            }
        }
    }
}
