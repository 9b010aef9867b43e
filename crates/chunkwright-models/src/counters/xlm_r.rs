//! The vocabulary of XLM-RoBERTa, as BGE-M3 and multilingual-e5 use it.

use chunkwright::TokenCounter;

use super::word_cache::WordCache;
use crate::xlm_r::Vocabulary;

/// Counts tokens of XLM-RoBERTa's vocabulary, by an exact Unigram model with remembered words and
/// remembered parts of them.
///
/// Control symbols that a text spells out (`<s>`, `<mask>`) are counted as the text they are.
pub struct XlmRoberta {
    vocabulary: std::sync::Arc<Vocabulary>,
    words: WordCache,
    parts: WordCache,
}

impl XlmRoberta {
    pub(crate) fn new(vocabulary: std::sync::Arc<Vocabulary>) -> Self {
        Self { vocabulary, words: WordCache::default(), parts: WordCache::default() }
    }
}

impl TokenCounter for XlmRoberta {
    fn name(&self) -> &'static str {
        "xlm-r"
    }

    fn count(&self, text: &str) -> usize {
        let tokenizer = self.vocabulary.whole();
        self.words.with(|words| {
            self.parts.with(|parts| {
                let mut count = |word: &str| {
                    let mut count = 0;
                    tokenizer.each_part(word, |part| {
                        count += parts.get(part, |part| tokenizer.count_part(part) as u32);
                    });
                    count
                };
                tokenizer.words(text).map(|word| words.get(word, &mut count) as usize).sum()
            })
        })
    }

    /// Words are independent.
    fn adds_up(&self, before: &str, _: &str) -> bool {
        before.ends_with([' ', '\n', '\t'])
    }
}
