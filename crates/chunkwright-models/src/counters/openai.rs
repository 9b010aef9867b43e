//! The byte-pair encodings of OpenAI.

use bpe_openai::Tokenizer;
use chunkwright::TokenCounter;

use super::word_cache::WordCache;

/// Counts the tokens of one of OpenAI's encodings, by `bpe-openai` with remembered word counts.
///
/// The encoding's tables are unpacked at the first count, not when the counter is made. Time is
/// linear in the text, whatever it holds.
pub struct OpenAi {
    name: &'static str,
    tokenizer: fn() -> &'static Tokenizer,
    words: WordCache,
}

impl OpenAi {
    /// The encoding of GPT-4o and later models.
    pub fn o200k() -> Self {
        Self { name: "o200k", tokenizer: bpe_openai::o200k_base, words: WordCache::default() }
    }

    /// The encoding of GPT-4 and of the `text-embedding-*` models.
    pub fn cl100k() -> Self {
        Self { name: "cl100k", tokenizer: bpe_openai::cl100k_base, words: WordCache::default() }
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
        self.words.with(|known| tokenizer.split(text).map(|word| known.get(word, count)).sum())
    }
}
