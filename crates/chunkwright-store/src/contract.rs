//! What every store promises.

use std::slice;

use chunkwright::{ChunkId, Record};

use crate::bm25::TermId;
use crate::cache::Cache;
use crate::check_report::CheckReport;
use crate::collections::{CollectionsBehind, ListedCollections};
use crate::document::{Change, DocumentInfo, Outcome, StoredChunk, StoredDocument};
use crate::documents::{DocumentsBehind, ListedDocuments};
use crate::error::{StoreError, unknown_collection};
use crate::filter::Filter;
use crate::generation::{Collection, Generation, GenerationSpec};
use crate::list::{ChunkPage, ListRequest};
use crate::name::parse_name;
use crate::overlay::{Overlay, Overlays};
use crate::past_run::PastRun;
use crate::scored::Scored;
use crate::source::{SourcePart, SourceRange};
use crate::statistics::{Statistics, StatisticsRequest};

/// Keeps collections: their generations, documents, chunks and vectors.
///
/// Guarantees of every store, tested by one suite over all of them:
///
/// * [`write`](Self::write) is atomic for each document and durable: a document has its old version or its
///   new one, whole, and once it has returned they outlive the process and, for a store on disk, the
///   machine's power;
/// * a reader sees exactly one version of a document, whole, and one generation of a collection;
/// * equal scores are ordered by chunk id, so that equal queries have equal answers.
///
/// # Errors
///
/// Every method fails if the storage engine does, or if the generation or collection does not exist.
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, above")]
pub trait Store: GenerationStore + DocumentStore + ChunkStore + OverlayStore {
    /// Whether what was opened is not what readers should see any more, because another file took its place: then the store
    /// is to be opened again.
    fn is_outdated(&self) -> bool {
        false
    }

    /// Lets other processes write until this one does so again: [`claim`](Self::claim) says when it may. Where writers are
    /// not kept apart by a lock, there is nothing to let go of.
    fn release(&self) {}

    /// Takes back what [`release`](Self::release) let go of, at once or not at all.
    fn claim(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Where vectors and notes are remembered.
    fn cache(&self) -> &dyn Cache;

    /// Proves what is stored: the storage engine's own checks, documents, records, texts, vectors and changes by
    /// hand, by [`verify`](crate::verify).
    fn check(&self) -> Result<CheckReport, StoreError> {
        self.check_documents_of(None)
    }

    /// As [`check`](Self::check), of the documents those of one collection only.
    fn check_documents_of(&self, collection: Option<&str>) -> Result<CheckReport, StoreError>;
}

/// Collections and their generations, of a [`Store`].
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, by `Store`")]
pub trait GenerationStore: Send + Sync {
    /// A page of the collections whose name has a part. In the order of names it costs what it holds and the names that
    /// are passed over on the way.
    fn list_collections(&self, request: &CollectionsBehind<'_>) -> Result<ListedCollections, StoreError>;

    /// All collections, by name.
    fn collections(&self) -> Result<Vec<Collection>, StoreError> {
        Ok(self.list_collections(&CollectionsBehind::default())?.collections)
    }

    /// The collection of this name with its generations, without a look at any other; none if there is none. Here and below
    /// names are [normalized](normalized_name).
    fn collection(&self, name: &str) -> Result<Option<Collection>, StoreError>;

    /// The generation that searches see of every collection, by name, without a look at their documents.
    fn visible(&self) -> Result<Vec<Generation>, StoreError>;

    /// The generation that `name` means: the current one of the collection `name`, or number `N` of
    /// it if the name is `COLLECTION@N`; none if there is no such collection. Costs no more than a look, however many
    /// there are.
    fn lookup(&self, name: &str) -> Result<Option<Generation>, StoreError>;

    /// As [`lookup`](Self::lookup), of a collection that has to exist.
    fn open(&self, name: &str) -> Result<Generation, StoreError> {
        if let Some(found) = self.lookup(name)? {
            return Ok(found);
        }
        let known = self.visible()?;
        let names = known.iter().map(|generation| generation.collection.as_str());
        Err(unknown_collection(&parse_name(name).0, names))
    }

    /// The newest generation of the collection that `spec` describes and that can be searched; none where
    /// [`begin`](Self::begin) would begin one.
    fn find(&self, collection: &str, spec: &GenerationSpec) -> Result<Option<Generation>, StoreError>;

    /// The generation of the collection that `spec` describes: [found](Self::find), or begun now. A collection begins to
    /// exist with its first, which searches see from its beginning. Every one is
    /// [building](GenerationState::Building) until it is [switched](Self::switch) to.
    fn begin(&self, collection: &str, spec: &GenerationSpec) -> Result<Generation, StoreError>;

    /// Makes a generation the current one of its collection, atomically. The one before stays.
    fn switch(&self, generation: &Generation) -> Result<(), StoreError>;

    /// Whether the generation was ever [switched](Self::switch) to: that it had every document of one run at least.
    fn is_complete(&self, generation: &Generation) -> Result<bool, StoreError>;

    /// Removes a generation and everything in it. Removing what does not exist is no error; removing the
    /// current one removes the collection.
    fn remove(&self, generation: &Generation) -> Result<(), StoreError>;
}

/// Documents of a generation, of a [`Store`].
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, by `Store`")]
pub trait DocumentStore: Send + Sync {
    /// Makes `changes` and answers what became of each, in order. The whole of `changes` is one transaction
    /// where the engine has transactions.
    fn write(&self, generation: &Generation, changes: &[Change]) -> Result<Vec<Outcome>, StoreError>;

    /// All documents, by id.
    fn documents(&self, generation: &Generation) -> Result<Vec<DocumentInfo>, StoreError>;

    /// A page of the documents whose id matches a pattern, by id. It costs what it holds and what the pattern rejects on
    /// the way; its total, a pass over the ids after a change of the generation.
    fn list_documents(
        &self,
        generation: &Generation,
        request: &DocumentsBehind<'_>,
    ) -> Result<ListedDocuments, StoreError>;

    /// What is known about one document.
    fn document_info(
        &self,
        generation: &Generation,
        doc_id: &str,
    ) -> Result<Option<DocumentInfo>, StoreError>;

    /// One document with its source.
    fn document(&self, generation: &Generation, doc_id: &str) -> Result<Option<StoredDocument>, StoreError>;

    /// A part of the source of a version of a document, in memory of the size of the part; none where that version is not
    /// stored any more.
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
    /// Chunks by id, in order; none where there is none. All are of one moment.
    fn chunks(
        &self,
        generation: &Generation,
        ids: &[ChunkId],
    ) -> Result<Vec<Option<StoredChunk>>, StoreError>;

    /// A page of the chunks that pass a filter, enabled or not, in an order. A page in the order of documents costs
    /// what it holds and what the filter rejects on the way; one in another order, a pass over the token counts and what
    /// else is kept in memory of every chunk. Other costs are the same for every page.
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

    /// The `limit` chunks with the greatest dot product with the sparse vector `query`, best first: those that
    /// have a token of it. None where the generation's model gives no sparse vectors.
    fn sparse(
        &self,
        generation: &Generation,
        query: &[(u32, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError>;

    /// The `limit` chunks that BM25 ranks first for `terms` (see [`bm25`](crate::bm25)), best first.
    fn lexical(
        &self,
        generation: &Generation,
        terms: &[TermId],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError>;
}

/// What is kept of a collection beside its generations, of a [`Store`]: what was changed by hand, and the last runs.
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, by `Store`")]
pub trait OverlayStore: Send + Sync {
    /// What was changed by hand in a collection, by chunk id.
    fn overlays(&self, collection: &str) -> Result<Overlays, StoreError>;

    /// Keeps what was changed by hand of chunks, in one commit where the store has such; an empty overlay takes
    /// what was changed back. Chunks are as they were until their document is written again.
    fn put_overlays(&self, collection: &str, overlays: &[Overlay]) -> Result<(), StoreError>;

    /// As [`put_overlays`](Self::put_overlays), of one chunk.
    fn put_overlay(&self, collection: &str, overlay: &Overlay) -> Result<(), StoreError> {
        self.put_overlays(collection, slice::from_ref(overlay))
    }

    /// The last runs that changed a collection, at most [`PastRun::KEPT`], newest first.
    fn runs(&self, collection: &str) -> Result<Vec<PastRun>, StoreError>;

    /// Remembers a run, under the next number; the oldest is forgotten where there are too many. A collection that does
    /// not exist remembers none.
    fn add_run(&self, collection: &str, run: &PastRun) -> Result<(), StoreError>;
}

/// What a store is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read; any number of processes at once, beside one that writes.
    Read,
    /// To read and write; one process at a time.
    Write,
}
