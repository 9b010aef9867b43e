//! The byte-pair encodings of `OpenAI`.

mod words;

use bpe_openai::Tokenizer;
use chunkwright::TokenCounter;

use self::words::{Letters, plain_word};
use super::word_cache::WordCache;

/// Counts the tokens of one of `OpenAI`'s encodings, by `bpe-openai` with remembered word counts.
///
/// The encoding's tables are unpacked at the first count, not when the counter is made. Time is
/// linear in the text, whatever it holds.
pub struct OpenAi {
    name: &'static str,
    tokenizer: fn() -> &'static Tokenizer,
    letters: Letters,
    counts: WordCache,
}

impl OpenAi {
    /// The encoding of GPT-4o and later models.
    pub fn o200k() -> Self {
        Self::new("o200k", bpe_openai::o200k_base, Letters::ByCase)
    }

    /// The encoding of GPT-4 and of the `text-embedding-*` models.
    pub fn cl100k() -> Self {
        Self::new("cl100k", bpe_openai::cl100k_base, Letters::Together)
    }

    fn new(name: &'static str, tokenizer: fn() -> &'static Tokenizer, letters: Letters) -> Self {
        Self { name, tokenizer, letters, counts: WordCache::default() }
    }

    /// The words of a text, which are encoded each alone; together they are the text.
    fn words<'a>(&self, mut text: &'a str) -> impl Iterator<Item = &'a str> {
        let tokenizer = (self.tokenizer)();
        let letters = self.letters;
        std::iter::from_fn(move || {
            if text.is_empty() {
                return None;
            }
            let len = match plain_word(text.as_bytes(), letters) {
                0 => tokenizer.split(text).next().map_or(text.len(), str::len),
                len => len,
            };
            let (word, rest) = text.split_at(len);
            text = rest;
            Some(word)
        })
    }
}

impl TokenCounter for OpenAi {
    fn name(&self) -> &str {
        self.name
    }

    fn count(&self, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        let tokenizer = (self.tokenizer)();
        let count = |word: &str| tokenizer.bpe.count(word.as_bytes());
        self.counts.with(|known| self.words(text).map(|word| known.get(word, count)).sum())
    }

    /// No word goes on after a line break but one of blanks, and `/` after marks.
    fn adds_up(&self, before: &str, after: &str) -> bool {
        before.ends_with('\n') && after.starts_with(|c: char| c != '/' && !c.is_whitespace())
    }
}
