//! Counting tokens: the seam between cutting and models.

use unicode_segmentation::UnicodeSegmentation;

/// Counts the tokens of a text. Implementations are exact unless their name starts with `estimate:`.
///
/// Counting is a pure function of the text: special tokens in it are text, nothing is truncated or
/// padded, and the empty text has 0 tokens.
pub trait TokenCounter: Send + Sync {
    /// The name that records and configuration use: `o200k`, `chars`, ...
    fn name(&self) -> &str;

    /// Number of tokens of `text`.
    fn count(&self, text: &str) -> usize;

    /// Whether the tokens of `before` and of `after` are together those of both joined, by what stands at
    /// the border alone. `false` where that is not certain, and by default: joined texts are then counted.
    fn adds_up(&self, before: &str, after: &str) -> bool {
        let _ = (before, after);
        false
    }
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

    fn adds_up(&self, _: &str, _: &str) -> bool {
        true
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
