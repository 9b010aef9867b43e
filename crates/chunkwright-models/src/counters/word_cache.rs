//! Remembered counts of words.
//!
//! Tokenizers first split a text into words and then count each word alone, and documents repeat
//! their words, so most counts are known before they are asked for. The cache is a fixed table of
//! short words with their counts: exact, because an entry holds the whole word; bounded, because a
//! new word simply takes the place of an old one. Threads borrow tables from a small pool, so that
//! they never wait for each other while counting and short-lived threads find a warm table.

use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

/// Longest word that is remembered, in bytes. Beside it an entry holds a length and a count.
const MAX_WORD: usize = 30;
/// Entries of a table: 2^15 of 32 bytes are one mebibyte, which stays in a core's own cache.
const ENTRIES: usize = 1 << 15;

/// Tables of remembered counts; as many as there were threads counting at once.
#[derive(Default)]
pub(super) struct WordCache {
    idle: Mutex<Vec<Table>>,
}

impl WordCache {
    /// Lends a table to `count`.
    pub(super) fn with<T>(&self, count: impl FnOnce(&mut Table) -> T) -> T {
        // A poisoned lock means that a counter panicked elsewhere; the idle tables are still sound.
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut table = taken.unwrap_or_default();
        let result = count(&mut table);
        idle().push(table);
        result
    }
}

/// A direct-mapped table from short words to counts.
pub(super) struct Table(Box<[Entry]>);

/// `MAX_WORD` bytes of the word, padded with zeros; its length (0 for a free entry); its count.
type Entry = [u8; MAX_WORD + 2];

impl Default for Table {
    fn default() -> Self {
        Self(vec![[0; MAX_WORD + 2]; ENTRIES].into_boxed_slice())
    }
}

impl Table {
    /// The count of `word`: remembered, or by `count` and then remembered.
    pub(super) fn get(&mut self, word: &str, count: impl FnOnce(&str) -> usize) -> usize {
        let bytes = word.as_bytes();
        if bytes.is_empty() || bytes.len() > MAX_WORD {
            return count(word);
        }
        let mut wanted: Entry = [0; MAX_WORD + 2];
        wanted[..bytes.len()].copy_from_slice(bytes);
        wanted[MAX_WORD] = bytes.len() as u8;
        let entry = &mut self.0[xxh3_64(bytes) as usize % ENTRIES];
        if entry[..=MAX_WORD] == wanted[..=MAX_WORD] {
            return usize::from(entry[MAX_WORD + 1]);
        }
        let count = count(word);
        if let Ok(small) = u8::try_from(count) {
            wanted[MAX_WORD + 1] = small;
            *entry = wanted;
        }
        count
    }
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
                        word.len()
                    })
                });
                assert_eq!(count, word.len(), "{word:?}");
            }
        }
        assert_eq!(calls, 3 + 2 * 3);
    }

    #[test]
    fn words_that_share_an_entry_are_told_apart() {
        let mut table = Table::default();
        for round in 0..2 {
            for number in 0..2 * ENTRIES {
                assert_eq!(table.get(&number.to_string(), |_| number % 200), number % 200, "round {round}");
            }
        }
    }
}
