//! A count by another model's tokenizer, said to be one.

use chunkwright::TokenCounter;

/// Counts by a tokenizer that is not the model's own: nothing exact may rely on it, and its name says so.
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
