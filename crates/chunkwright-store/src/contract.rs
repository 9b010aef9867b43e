//! The contract of every store.

use std::slice;
use std::sync::Arc;

use chunkwright::{ChunkId, Record};
use chunkwright_models::text_hash;

use crate::bm25::TermId;
use crate::cache::Cache;
use crate::check_report::CheckReport;
use crate::collections::{CollectionsBehind, ListedCollections};
use crate::document::{Change, DocumentInfo, IndexedChunk, Origin, Outcome, StoredChunk, StoredDocument};
use crate::documents::{DocumentsBehind, ListedDocuments};
use crate::error::StoreError;
use crate::filter::Filter;
use crate::generation::{Collection, Generation, GenerationSpec};
use crate::index::dot;
use crate::list::{ChunkPage, ListRequest};
use crate::name::{parse_name, unknown_collection};
use crate::overlay::{Overlay, Overlays};
use crate::past_run::PastRun;
use crate::scored::Scored;
use crate::source::{SourcePart, SourceRange};
use crate::statistics::{Statistics, StatisticsRequest};
use crate::vector::check_vector;

/// Keeps collections: their generations, documents, chunks and vectors.
///
/// Guarantees of every store, tested by one suite over all of them:
///
/// * [`write`](Self::write) is atomic for each document and durable: a document has its old version or its new one,
///   whole, and once the call has returned the changes survive the end of the process and, for a store on disk, a power
///   failure;
/// * a reader sees exactly one version of a document, whole, and one generation of a collection;
/// * equal scores are ordered by chunk id, so that equal queries return equal results.
///
/// # Errors
///
/// Every method fails if the storage engine does, or if the generation or collection does not exist.
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, above")]
pub trait Store: GenerationStore + DocumentStore + ChunkStore + OverlayStore {
    /// Returns whether another file has replaced the one that was opened, so that the store must be opened again.
    fn is_outdated(&self) -> bool {
        false
    }

    /// Releases the write lock, so that other processes may write until [`claim`](Self::claim) takes it back. Does
    /// nothing in stores without such a lock.
    fn release(&self) {}

    /// Takes back the lock that [`release`](Self::release) released; fails at once if another process holds it.
    fn claim(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// The cache of vectors and notes.
    fn cache(&self) -> &dyn Cache;

    /// The dot products of `query` and the vectors of chunks that were read, in order, by the cache of vectors; `None` for one
    /// without a vector.
    fn products(
        &self,
        generation: &Generation,
        query: &[f32],
        chunks: &[&Record],
    ) -> Result<Vec<Option<f64>>, StoreError> {
        let Some(model) = generation.spec.model.as_ref().filter(|_| !chunks.is_empty()) else {
            return Ok(vec![None; chunks.len()]);
        };
        check_vector(query, model.dimension)?;
        let hashes: Vec<_> = chunks.iter().map(|record| text_hash(&record.text)).collect();
        let known = self.cache().vectors(&model.name, &hashes)?;
        Ok(known.into_iter().map(|vector| Some(f64::from(dot(query, &vector?.dense)))).collect())
    }

    /// Checks what is stored, by the storage engine's own checks and by [`verify`](crate::verify): documents, records,
    /// texts, vectors and manual changes.
    fn check(&self) -> Result<CheckReport, StoreError> {
        self.check_documents_of(None)
    }

    /// As [`check`](Self::check), but only for the documents of one collection.
    fn check_documents_of(&self, collection: Option<&str>) -> Result<CheckReport, StoreError>;
}

/// Collections, of a [`Store`].
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, by `Store`")]
pub trait CollectionStore: Send + Sync {
    /// A page of the collections whose name matches. In the order of names it costs what it holds plus the names that
    /// are filtered out on the way.
    fn list_collections(&self, request: &CollectionsBehind<'_>) -> Result<ListedCollections, StoreError>;

    /// All collections, by name.
    fn collections(&self) -> Result<Vec<Collection>, StoreError> {
        Ok(self.list_collections(&CollectionsBehind::default())?.collections)
    }

    /// The collection of this name with its generations, without reading any other; `None` if there is none. Here and
    /// below names are [normalized](normalized_name).
    fn collection(&self, name: &str) -> Result<Option<Collection>, StoreError>;

    /// The generation that searches see of every collection, by name, without reading documents.
    fn visible(&self) -> Result<Vec<Generation>, StoreError>;

    /// Gives a collection another name, with everything that belongs to it: readers find it by one of the two names at
    /// any moment. Fails if there is no collection `from`, or there is one called `to`. A rename that a crash
    /// interrupts is completed or undone by the next process that writes. A [`Generation`] with the name of before may
    /// become unknown.
    fn rename(&self, from: &str, to: &str) -> Result<(), StoreError>;
}

/// Generations of collections, of a [`Store`].
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, by `Store`")]
pub trait GenerationStore: CollectionStore {
    /// The generation that `name` means: the current one of the collection `name`, or number `N` of it if the name is
    /// `COLLECTION@N`; `None` if there is no such collection. The cost does not depend on how many there are.
    fn lookup(&self, name: &str) -> Result<Option<Generation>, StoreError>;

    /// As [`lookup`](Self::lookup), but an unknown collection is an error.
    fn open(&self, name: &str) -> Result<Generation, StoreError> {
        if let Some(found) = self.lookup(name)? {
            return Ok(found);
        }
        let known = self.visible()?;
        let names = known.iter().map(|generation| generation.collection.as_str());
        Err(unknown_collection(&parse_name(name).0, names))
    }

    /// The newest searchable generation of the collection that matches `spec`; `None` where [`begin`](Self::begin)
    /// would begin one.
    fn find(&self, collection: &str, spec: &GenerationSpec) -> Result<Option<Generation>, StoreError>;

    /// The generation of the collection that matches `spec`: [found](Self::find), or begun now. A collection is created
    /// with its first generation, which searches see from its beginning. Every generation is
    /// [building](GenerationState::Building) until it is [switched](Self::switch) to.
    fn begin(&self, collection: &str, spec: &GenerationSpec) -> Result<Generation, StoreError>;

    /// Makes a generation the current one of its collection, atomically. The one before stays.
    fn switch(&self, generation: &Generation) -> Result<(), StoreError>;

    /// Returns whether the generation was ever [switched](Self::switch) to, so that it had every document of at least
    /// one run.
    fn is_complete(&self, generation: &Generation) -> Result<bool, StoreError>;

    /// Removes a generation and everything in it. Removing one that does not exist is not an error; removing the
    /// current one removes the collection.
    fn remove(&self, generation: &Generation) -> Result<(), StoreError>;
}

/// Documents of a generation, of a [`Store`].
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, by `Store`")]
pub trait DocumentStore: Send + Sync {
    /// Applies `changes` and returns the outcome of each, in order. All of them are one transaction where the engine
    /// has transactions.
    fn write(&self, generation: &Generation, changes: &[Change]) -> Result<Vec<Outcome>, StoreError>;

    /// All documents, by id.
    fn documents(&self, generation: &Generation) -> Result<Vec<DocumentInfo>, StoreError>;

    /// A page of the documents whose id matches a pattern, by id. It costs what it holds plus what the pattern rejects
    /// on the way; its total costs a pass over the ids after each change of the generation.
    fn list_documents(
        &self,
        generation: &Generation,
        request: &DocumentsBehind<'_>,
    ) -> Result<ListedDocuments, StoreError>;

    /// The metadata of documents, in order; `None` for one that is not there.
    fn document_infos(
        &self,
        generation: &Generation,
        doc_ids: &[&str],
    ) -> Result<Vec<Option<DocumentInfo>>, StoreError>;

    /// As [`document_infos`](Self::document_infos), of one document.
    fn document_info(
        &self,
        generation: &Generation,
        doc_id: &str,
    ) -> Result<Option<DocumentInfo>, StoreError> {
        Ok(self.document_infos(generation, &[doc_id])?.pop().flatten())
    }

    /// One document with its source.
    fn document(&self, generation: &Generation, doc_id: &str) -> Result<Option<StoredDocument>, StoreError>;

    /// A part of the source of a version of a document, in memory proportional to the part; `None` if that version is
    /// no longer stored.
    fn source(
        &self,
        generation: &Generation,
        range: SourceRange<'_>,
    ) -> Result<Option<SourcePart>, StoreError>;

    /// The records of a document's chunks, in order. Empty if there is no such document.
    fn records(&self, generation: &Generation, doc_id: &str) -> Result<Vec<Record>, StoreError>;
}

/// Chunks of a generation, listed, counted and ranked, of a [`Store`].
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, by `Store`")]
pub trait ChunkStore: Send + Sync {
    /// Chunks by id, in order; `None` for an unknown id. All are read from one snapshot.
    fn chunks(
        &self,
        generation: &Generation,
        ids: &[ChunkId],
    ) -> Result<Vec<Option<Arc<StoredChunk>>>, StoreError>;

    /// The documents of chunks by id, in order; `None` for an unknown id. Costs less than the chunks.
    fn origins(&self, generation: &Generation, ids: &[ChunkId]) -> Result<Vec<Option<Origin>>, StoreError>;

    /// What the index in memory has of chunks by id, in order: how often they have `terms`, which are in the order of ids, and
    /// their dot product with `query`; `None` for a chunk that must be [read](Self::chunks) for that. A store without an index
    /// in memory answers `None` for every chunk.
    fn indexed(
        &self,
        _generation: &Generation,
        ids: &[ChunkId],
        _terms: &[TermId],
        _query: Option<&[f32]>,
    ) -> Result<Vec<Option<IndexedChunk>>, StoreError> {
        Ok(vec![None; ids.len()])
    }

    /// The [codes of the tokens](crate::Vector::codes) of chunks by id, in order; `None` for unknown chunks and those without.
    fn codes(&self, generation: &Generation, ids: &[ChunkId]) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// A page of the chunks that pass a filter, enabled or not, in an order. A page in document order costs what it
    /// holds plus what the filter rejects on the way; one in another order costs a pass over the in-memory columns of
    /// every chunk. Every page of a list costs the same.
    fn list(&self, generation: &Generation, request: &ListRequest) -> Result<ChunkPage, StoreError>;

    /// Statistics of the chunks that pass a filter, enabled or not.
    fn statistics(
        &self,
        generation: &Generation,
        request: &StatisticsRequest,
    ) -> Result<Statistics, StoreError>;

    /// The `limit` chunks with the greatest dot product with `query`, best first.
    fn dense(
        &self,
        generation: &Generation,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError>;

    /// The `limit` chunks with the greatest dot product with the sparse vector `query`, best first: those that have a
    /// token of it. Empty if the generation's model gives no sparse vectors.
    fn sparse(
        &self,
        generation: &Generation,
        query: &[(u32, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError>;

    /// The `limit` chunks that BM25 ranks first for `terms` (see [`bm25`](crate::bm25)) with these weights, best first.
    fn lexical(
        &self,
        generation: &Generation,
        terms: &[(TermId, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError>;
}

/// The data of a collection beside its generations, of a [`Store`]: manual changes and the last runs.
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, by `Store`")]
pub trait OverlayStore: Send + Sync {
    /// The manual changes of a collection, by chunk id.
    fn overlays(&self, collection: &str) -> Result<Overlays, StoreError>;

    /// Stores manual changes of chunks, in one commit where the store has commits; an empty overlay removes the change.
    /// The chunks stay unchanged until their document is written again.
    fn put_overlays(&self, collection: &str, overlays: &[Overlay]) -> Result<(), StoreError>;

    /// A number that grows with every [`put_overlays`](Self::put_overlays) of this store: as long as it stays, overlays
    /// that were read are those that are stored, since one process writes.
    fn overlays_revision(&self) -> u64;

    /// As [`put_overlays`](Self::put_overlays), of one chunk.
    fn put_overlay(&self, collection: &str, overlay: &Overlay) -> Result<(), StoreError> {
        self.put_overlays(collection, slice::from_ref(overlay))
    }

    /// The last runs that changed a collection, at most [`PastRun::KEPT`], newest first.
    fn runs(&self, collection: &str) -> Result<Vec<PastRun>, StoreError>;

    /// Stores a run under the next number, and drops the oldest if there are too many. Does nothing if the collection
    /// does not exist.
    fn add_run(&self, collection: &str, run: &PastRun) -> Result<(), StoreError>;
}

/// The access that a store is opened with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read; any number of processes at once, beside one that writes.
    Read,
    /// To read and write; one process at a time.
    Write,
}
