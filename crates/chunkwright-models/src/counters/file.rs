//! Any model's own tokenizer, as its `tokenizer.json` describes it.

use std::path::Path;

use chunkwright::TokenCounter;
use tokenizers::Tokenizer;

use super::CounterError;

/// Counts by a `tokenizer.json` of the `tokenizers` library.
///
/// What the file says about truncation and padding is ignored, nothing is added to the text, and
/// special tokens that the text spells out (`[CLS]`, `</s>`) are counted as the text they are.
pub struct TokenizerFile {
    name: String,
    tokenizer: Tokenizer,
}

impl TokenizerFile {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not a tokenizer.
    pub fn open(path: &Path) -> Result<Self, CounterError> {
        let bytes = std::fs::read(path)
            .map_err(|source| CounterError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&path.display().to_string(), &bytes)
            .map_err(|reason| CounterError::Invalid { path: path.to_owned(), reason })
    }

    /// Parses the content of such a file; `name` is what the counter is called.
    ///
    /// # Errors
    ///
    /// What is wrong, in the words of the `tokenizers` library.
    pub fn parse(name: &str, json: &[u8]) -> Result<Self, String> {
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(|error| error.to_string())?;
        tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        Ok(Self { name: name.to_owned(), tokenizer })
    }

    /// The token ids of a text, or the words of the `tokenizers` library on why there are none.
    pub(crate) fn ids(&self, text: &str) -> Result<Vec<u32>, String> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
        Ok(encoding.get_ids().to_vec())
    }
}

impl TokenCounter for TokenizerFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> usize {
        match self.tokenizer.encode_fast(text, false) {
            Ok(encoding) => encoding.len(),
            // A vocabulary without the pieces of a text and without an unknown token cannot encode
            // it. No model reads such a text; one token a character is the upper bound.
            Err(_) => text.chars().count(),
        }
    }
}
