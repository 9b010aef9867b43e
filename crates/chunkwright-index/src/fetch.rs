//! Fetch: the source again, exactly.

use chunkwright::Record;

use crate::store::{DocumentInfo, Store, StoreError};

/// How to fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchOptions {
    /// Number of neighbours on each side of a chunk that come with it.
    pub window: usize,
}

/// What was fetched.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetched {
    /// The document it is of.
    pub document: DocumentInfo,
    /// Outline of the document.
    pub doc_toc: String,
    /// What part of the document it is.
    pub extent: Extent,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, 1-based, inclusive; one less than `start_line` for a document without a byte.
    pub end_line: u32,
    /// The decoded text: the exact slice of the decoded source.
    pub text: String,
    /// The raw file, where the whole document was fetched and its bytes are not those of `text`.
    pub raw: Option<Vec<u8>>,
    /// The chunks of this part, in order; for lines those that touch them.
    pub records: Vec<Record>,
}

/// What part of a document was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Document,
    /// A chunk, with neighbours if they were asked for.
    Chunk,
    /// A range of lines.
    Lines,
}

impl Fetched {
    /// The exact bytes: of the raw file for a whole document, else of the decoded text.
    pub fn bytes(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or(self.text.as_bytes())
    }
}

/// Why nothing was fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No document or chunk has this name.
    #[error(
        "`{reference}` is not in collection `{collection}`; a reference is a document's id, a chunk's id, `DOC_ID#INDEX` or `DOC_ID#L10-L80`"
    )]
    Unknown {
        /// The collection.
        collection: String,
        /// What was asked for.
        reference: String,
    },
    /// Lines that the document does not have.
    #[error("`{doc_id}` has lines 1 to {last}; `{start}` to `{end}` is not a range of them")]
    Lines {
        /// The document.
        doc_id: String,
        /// Its last line.
        last: usize,
        /// First line asked for.
        start: usize,
        /// Last line asked for.
        end: usize,
    },
    /// A chunk index that the document does not have.
    #[error("`{doc_id}` has {total} chunks, numbered from 0; there is no `{index}`")]
    Index {
        /// The document.
        doc_id: String,
        /// Number of its chunks.
        total: usize,
        /// Index asked for.
        index: usize,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fetches what `reference` names in `collection`: a document's id, a chunk's id, `DOC_ID#INDEX` or
/// `DOC_ID#L10-L80` (lines, both included).
///
/// # Errors
///
/// An unknown reference or collection; lines or an index that the document does not have.
pub fn fetch(
    store: &dyn Store,
    collection: &str,
    reference: &str,
    options: FetchOptions,
) -> Result<Fetched, FetchError> {
    unimplemented!()
}
