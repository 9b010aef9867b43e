//! A cache of recently read sources and chunks.
//!
//! A version of a document has one source and the same chunks for as long as it exists, and its number is never reused,
//! so no entry can be out of date: the caller has read the version in its own snapshot.
//!
//! Sources are kept beside chunks, since a chunk's content is a range of its source and `SQLite` reads a value from its
//! beginning: without them a search with five hits in documents of a megabyte would read five megabytes for five
//! kilobytes.

use std::fmt;
use std::sync::Arc;

use chunkwright::ChunkId;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rusqlite::Connection;

use super::read;
use crate::document::StoredChunk;
use crate::error::StoreError;

/// Most bytes of sources, and most bytes of chunks.
const MAX_BYTES: u64 = 32 << 20;

/// Recently read sources and chunks, by the version of their document.
pub(super) struct Recent {
    sources: Cache<i64, Arc<str>, Bytes>,
    chunks: Cache<(i64, ChunkId), Arc<StoredChunk>, Bytes>,
}

#[derive(Clone)]
struct Bytes;

/// Approximate size of an entry without its texts, in bytes.
const ENTRY: usize = 1_024;

impl<K> Weighter<K, Arc<str>> for Bytes {
    fn weight(&self, _: &K, source: &Arc<str>) -> u64 {
        (source.len() + ENTRY) as u64
    }
}

impl<K> Weighter<K, Arc<StoredChunk>> for Bytes {
    fn weight(&self, _: &K, chunk: &Arc<StoredChunk>) -> u64 {
        let StoredChunk { record, doc_toc, doc_summary, terms, .. } = &**chunk;
        let texts = [&record.text, &record.content, &record.context, doc_toc, doc_summary];
        (texts.iter().map(|text| text.len()).sum::<usize>() + 8 * terms.counts.len() + ENTRY) as u64
    }
}

impl Recent {
    /// The source of a version of a document.
    pub(super) fn source(&self, connection: &Connection, version: i64) -> Result<Arc<str>, StoreError> {
        self.sources.get_or_insert_with(&version, || Ok(read::source(connection, version)?.into()))
    }

    /// A chunk of a version of a document, which `read` reads.
    pub(super) fn chunk(
        &self,
        version: i64,
        id: ChunkId,
        read: impl FnOnce() -> Result<StoredChunk, StoreError>,
    ) -> Result<Arc<StoredChunk>, StoreError> {
        self.chunks.get_or_insert_with(&(version, id), || read().map(Arc::new))
    }
}

impl Default for Recent {
    fn default() -> Self {
        let entries = MAX_BYTES as usize / (4 * ENTRY);
        Self {
            sources: Cache::with_weighter(entries, MAX_BYTES, Bytes),
            chunks: Cache::with_weighter(entries, MAX_BYTES, Bytes),
        }
    }
}

impl fmt::Debug for Recent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recent").finish_non_exhaustive()
    }
}
