//! The byte-pair encodings of `OpenAI`.

mod joined;
mod words;

use std::sync::OnceLock;

use bpe_openai::Tokenizer;
use chunkwright::TokenCounter;

use self::joined::Joined;
use self::words::{Letters, plain_word};
use super::word_cache::{Table, WordCache};

/// Counts the tokens of one of `OpenAI`'s encodings, by `bpe-openai` with remembered word counts.
///
/// The encoding's tables are unpacked at the first count, not when the counter is made. Time is
/// linear in the text, whatever it holds.
pub struct OpenAi {
    name: &'static str,
    tokenizer: fn() -> &'static Tokenizer,
    letters: Letters,
    counts: WordCache,
    joined: OnceLock<Joined>,
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
        Self { name, tokenizer, letters, counts: WordCache::default(), joined: OnceLock::new() }
    }

    /// The words of a text, which are encoded each alone, and whether each is plain; together they are the text.
    fn words<'a>(&self, mut text: &'a str) -> impl Iterator<Item = (&'a str, bool)> {
        let tokenizer = (self.tokenizer)();
        let letters = self.letters;
        std::iter::from_fn(move || {
            if text.is_empty() {
                return None;
            }
            let plain = plain_word(text.as_bytes(), letters);
            let len = match plain {
                0 => tokenizer.split(text).next().map_or(text.len(), str::len),
                len => len,
            };
            let (word, rest) = text.split_at(len);
            text = rest;
            Some((word, plain > 0))
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
        let count_word = |known: &mut Table, (word, is_plain): (&str, bool)| {
            if is_plain || word.is_ascii() {
                return known.get(word, count);
            }
            // Where there are no blanks, a word is a clause, which does not come back; its parts do.
            let joined = self.joined.get_or_init(|| Joined::of(&tokenizer.bpe));
            joined.parts(word).map(|part| known.get(part, count)).sum()
        };
        self.counts.with(|known| self.words(text).map(|word| count_word(known, word)).sum())
    }

    /// No word goes on after a line break but one of blanks, and `/` after marks.
    fn adds_up(&self, before: &str, after: &str) -> bool {
        before.ends_with('\n') && after.starts_with(|c: char| c != '/' && !c.is_whitespace())
    }
}
