//! Counting tokens: the seam between cutting and models.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Mutex;

use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::Xxh3Default;

/// Counts the tokens of a text. Implementations are exact unless their name starts with `estimate:`.
///
/// Counting is a pure function of the text: special tokens in it are text, nothing is truncated or
/// padded, and the empty text has 0 tokens.
pub trait TokenCounter: Send + Sync {
    /// The name that records and configuration use: `o200k`, `chars`, ...
    fn name(&self) -> &str;

    /// Number of tokens of `text`.
    fn count(&self, text: &str) -> usize;
}

/// Counts Unicode scalar values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chars;

impl TokenCounter for Chars {
    fn name(&self) -> &'static str {
        "chars"
    }

    fn count(&self, text: &str) -> usize {
        text.chars().count()
    }
}

/// Counts words by Unicode segmentation (UAX #29): runs with a letter or digit; every ideograph is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words;

impl TokenCounter for Words {
    fn name(&self) -> &'static str {
        "words"
    }

    fn count(&self, text: &str) -> usize {
        text.unicode_words().count()
    }
}

/// Remembers the counts of texts seen before: worth it for slow counters and repeated text.
///
/// Bounded: the cache is emptied when it holds [`Cached::CAPACITY`] texts; only the length of the
/// longest cacheable text bounds each entry.
#[derive(Debug)]
pub struct Cached<C> {
    counter: C,
    counts: Mutex<HashMap<Box<str>, u32, BuildHasherDefault<Xxh3Default>>>,
}

impl<C: TokenCounter> Cached<C> {
    /// Number of texts that are remembered at most.
    pub const CAPACITY: usize = 1 << 16;
    /// Longest text that is remembered, in bytes.
    const MAX_LEN: usize = 512;

    /// Puts a cache in front of `counter`.
    pub fn new(counter: C) -> Self {
        Self { counter, counts: Mutex::default() }
    }
}

impl<C: TokenCounter> TokenCounter for Cached<C> {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn count(&self, text: &str) -> usize {
        if text.len() > Self::MAX_LEN {
            return self.counter.count(text);
        }
        // A poisoned lock means that a counter panicked elsewhere; the cache itself is still sound.
        let lock = || self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(&count) = lock().get(text) {
            return count as usize;
        }
        let count = self.counter.count(text);
        let mut counts = lock();
        if counts.len() >= Self::CAPACITY {
            counts.clear();
        }
        counts.insert(text.into(), count as u32);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_counter_counts_as_the_bare_one() {
        let cached = Cached::new(Words);
        for text in ["one two", "", "中文字", "привет, мир", "one two"] {
            assert_eq!(cached.count(text), Words.count(text), "{text:?}");
        }
    }
}
