//! Indexes documents from memory: takes them from an iterator, rejects those that cannot be put, and stores those cut
//! elsewhere.

use chunkwright_models::Embedder;
use chunkwright_source::{NewSource, NewSourceError};

use super::IndexOptions;
use super::embed::Vectors;
use super::input::{WINDOW_BYTES, WINDOW_DOCUMENTS};
use chunkwright_store::{Change, Generation, NewDocument, Store, StoreError};

/// The reason why a document cannot be put.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SourceRefusal {
    #[error(transparent)]
    Invalid(#[from] NewSourceError),
    #[error("a document of the folder `{root}` has its id; choose another id, or remove that document first")]
    OfFolder { root: String },
    #[error("an earlier document of the same run has this id; put each id once")]
    Twice,
}

/// Windows taken from an iterator at once: while one of them is stored, the next ones are cut.
const WINDOWS_AT_ONCE: usize = 4;

/// The next documents, as many as are processed at once; empty at the end.
pub(super) fn next_sources(documents: &mut dyn Iterator<Item = NewSource>) -> Vec<NewSource> {
    let (mut sources, mut bytes) = (Vec::new(), 0);
    while sources.len() < WINDOWS_AT_ONCE * WINDOW_DOCUMENTS
        && bytes < WINDOWS_AT_ONCE as u64 * WINDOW_BYTES
        && let Some(source) = documents.next()
    {
        bytes += source.bytes.len() as u64;
        sources.push(source);
    }
    sources
}

/// Stores documents with the chunks that they come with, replacing their versions in the generation. Returns the
/// embedder's last error, if any; lexical searches still find a chunk without a vector.
///
/// # Errors
///
/// A failing store, two chunks with the same id.
pub fn put_cut(
    store: &dyn Store,
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
    documents: Vec<NewDocument>,
) -> Result<Option<String>, StoreError> {
    let mut vectors = Vectors::new(embedder, store.cache(), &IndexOptions::default());
    vectors.add(&documents.iter().collect::<Vec<_>>(), &|_| {})?;
    let changes: Vec<Change> =
        documents.into_iter().map(|document| Change::Replace(Box::new(document))).collect();
    store.write(generation, &changes)?;
    Ok(vectors.error)
}
