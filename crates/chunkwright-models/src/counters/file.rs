//! Any model's own tokenizer, as its `tokenizer.json` describes it.
//!
//! The file may come from anywhere. Only a regular file is opened, a large one is not read, one that makes the library
//! panic is invalid, and so is one whose normalizer could make a text a thousand times as long.

use std::fs::{File, metadata};
use std::io::{Error, ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use chunkwright::TokenCounter;
use tokenizers::Tokenizer;
use tokenizers::normalizers::NormalizerWrapper;
use tokenizers::normalizers::replace::ReplacePattern;

use super::CounterError;

/// Largest `tokenizer.json`, in bytes (64 MiB). The largest in use have 33 million.
const MAX_TOKENIZER_SIZE: u64 = 64 << 20;

/// Most growth of a text by a normalizer, as a factor. Those in use replace a blank by `▁` (3) or decompose ligatures
/// (18).
const MAX_GROWTH: usize = 1000;

/// A text that a tokenizer has to survive.
const PROBE: &str = "The quick brown fox, 123; съешь ещё этих булок; 敏捷的狐狸 🦀\n\tend";

/// Counts by a `tokenizer.json` of the `tokenizers` library.
///
/// The file's truncation and padding are ignored, nothing is added to the text, and special tokens that the text spells
/// out (`[CLS]`, `</s>`) are counted as the text they are.
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
        let bytes =
            read(path).map_err(|source| CounterError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&path.display().to_string(), &bytes)
            .map_err(|reason| CounterError::Invalid { path: path.to_owned(), reason })
    }

    /// Parses the content of such a file; `name` is the counter's name.
    ///
    /// # Errors
    ///
    /// The error message of the `tokenizers` library.
    pub fn parse(name: &str, json: &[u8]) -> Result<Self, String> {
        let broken = |_| "the `tokenizers` library fails on it".to_owned();
        // Its other constructors are generic, and compiled into this crate: they were a third of it.
        let text = str::from_utf8(json).map_err(|error| error.to_string())?;
        let parsed = catch_unwind(|| text.parse::<Tokenizer>()).map_err(broken)?;
        let mut tokenizer = parsed.map_err(|error| error.to_string())?;
        let growth = tokenizer.get_normalizer().map_or(1, growth);
        if growth > MAX_GROWTH {
            return Err(format!(
                "its normalizer may make a text {growth} times as long; the limit is {MAX_GROWTH}"
            ));
        }
        // Some files are read, and fail on the first text.
        let probe = || tokenizer.encode_fast(PROBE, false).map(|encoding| encoding.len());
        let _ = catch_unwind(AssertUnwindSafe(probe)).map_err(broken)?;
        tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        Ok(Self { name: name.to_owned(), tokenizer })
    }

    /// The token ids of a text alone, or the error message of the `tokenizers` library.
    pub(crate) fn ids(&self, text: &str) -> Result<Vec<u32>, String> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The token ids that a model wants before and after a text.
    pub(crate) fn added(&self) -> Result<(Vec<u32>, Vec<u32>), String> {
        let encoding = self.tokenizer.encode("a", true).map_err(|error| error.to_string())?;
        let (ids, added) = (encoding.get_ids(), encoding.get_special_tokens_mask());
        let first = added.iter().position(|&added| added == 0).unwrap_or(ids.len());
        let last = added.iter().rposition(|&added| added == 0).map_or(ids.len(), |last| last + 1);
        Ok((ids[..first].to_vec(), ids[last..].to_vec()))
    }

    /// The token ids of a question and a text as a cross-encoder reads them, and their types; the end of the longer is cut
    /// off where they are more than `window`.
    #[cfg(feature = "onnx")]
    pub(crate) fn pair(
        &self,
        query: &str,
        text: &str,
        window: usize,
    ) -> Result<(Vec<u32>, Vec<u32>), String> {
        let message = |error: tokenizers::Error| error.to_string();
        let alone = |text: &str| self.tokenizer.encode(text, false).map_err(message);
        let (mut query, mut text) = (alone(query)?, alone(text)?);
        let processor = self.tokenizer.get_post_processor();
        let added = processor.map_or(0, |processor| tokenizers::PostProcessor::added_tokens(processor, true));
        while query.len() + text.len() + added > window && query.len() + text.len() > 0 {
            let more = query.len() + text.len() + added - window;
            let (longer, other) =
                if query.len() > text.len() { (&mut query, text.len()) } else { (&mut text, query.len()) };
            let kept = longer.len().saturating_sub(more).max(other.min(longer.len() - 1));
            longer.truncate(kept, 0, tokenizers::TruncationDirection::Right);
        }
        let both = self.tokenizer.post_process(query, Some(text), true).map_err(message)?;
        Ok((both.get_ids().to_vec(), both.get_type_ids().to_vec()))
    }
}

/// The content of a regular file of no more than [`MAX_TOKENIZER_SIZE`].
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let refused = |reason: String| Err(Error::new(ErrorKind::InvalidInput, reason));
    // Looked at before it is opened: opening a FIFO would wait for its writer.
    if !metadata(path)?.is_file() {
        return refused("it is not a regular file".into());
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_TOKENIZER_SIZE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_TOKENIZER_SIZE {
        return refused(format!("it has more than {MAX_TOKENIZER_SIZE} bytes"));
    }
    Ok(bytes)
}

/// The largest factor by which a text may grow.
fn growth(normalizer: &NormalizerWrapper) -> usize {
    match normalizer {
        NormalizerWrapper::Sequence(steps) => {
            steps.as_ref().iter().map(growth).fold(1, usize::saturating_mul)
        }
        NormalizerWrapper::Replace(replace) => replacement_growth(replace),
        NormalizerWrapper::Prepend(prepend) => 1 + prepend.prepend.len() / 64,
        NormalizerWrapper::NFKC(_) | NormalizerWrapper::NFKD(_) => 18,
        NormalizerWrapper::NFC(_)
        | NormalizerWrapper::NFD(_)
        | NormalizerWrapper::Lowercase(_)
        | NormalizerWrapper::ByteLevel(_)
        | NormalizerWrapper::BertNormalizer(_) => 3,
        _ => 1,
    }
}

/// A pattern takes its own length away, of an expression one byte.
fn replacement_growth(replace: &tokenizers::normalizers::Replace) -> usize {
    #[derive(serde::Deserialize)]
    struct Shape {
        pattern: ReplacePattern,
    }
    let shape = serde_json::to_value(replace).and_then(serde_json::from_value::<Shape>);
    match shape.map(|shape| shape.pattern) {
        Ok(ReplacePattern::String(pattern)) if !pattern.is_empty() => {
            replace.content.len().div_ceil(pattern.len()).max(1)
        }
        _ => replace.content.len().max(1),
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
