//! Fetches documents, chunks and lines from a collection.

use chunkwright_index::{Beside, Expansion, FetchOptions, fetch};

use crate::error::Error;
use crate::noun::snapshot::Snapshot;
use crate::request::fetch::{FetchAnswer, FetchForm, FetchRequest};
use crate::request::search::options::ExpandRequest;

impl Snapshot {
    /// Fetches the exact source of a reference.
    ///
    /// # Errors
    ///
    /// A reference that the generation does not have, a store that fails.
    pub fn fetch(&self, request: &FetchRequest) -> Result<FetchAnswer, Error> {
        let expand = request.expand.map(ExpandRequest::check).transpose()?;
        let counter = expand.map(|_| self.engine().counter()).transpose()?;
        let expansion = expand.zip(counter.as_deref()).map(|(expand, counter)| Expansion {
            expand: expand.with,
            max_tokens: expand.max_tokens,
            counter,
        });
        let options = FetchOptions { expansion, ..FetchOptions::default() };
        let fetched = fetch(self.store(), self.generation(), &request.reference, options)?;
        Ok(FetchAnswer::new(fetched, request.form, counter.as_ref().map(|counter| counter.name())))
    }

    /// Fetches only the text of the source: for a document or lines, no chunks are read.
    ///
    /// # Errors
    ///
    /// As [`fetch`](Self::fetch).
    pub fn fetch_text(&self, reference: &str, form: FetchForm) -> Result<FetchAnswer, Error> {
        let options = FetchOptions { beside: Beside::Nothing, ..FetchOptions::default() };
        Ok(FetchAnswer::new(fetch(self.store(), self.generation(), reference, options)?, form, None))
    }
}
