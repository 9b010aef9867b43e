//! An estimate: a count by another model's tokenizer, labelled as such.

use chunkwright::TokenCounter;

/// Counts by a tokenizer other than the model's own: nothing exact may rely on it, and its name says so.
pub struct Estimate<C> {
    counter: C,
    name: String,
}

impl<C: TokenCounter> Estimate<C> {
    /// Estimates by `counter`.
    pub fn new(counter: C) -> Self {
        let name = format!("estimate:{}", counter.name());
        Self { counter, name }
    }
}

impl<C: TokenCounter> TokenCounter for Estimate<C> {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> usize {
        self.counter.count(text)
    }
}
