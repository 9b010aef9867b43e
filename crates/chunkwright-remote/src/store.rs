//! Stores on servers: [`Store`] implemented once, over any [`Database`], with transactions or without.
//!
//! * A generation is a collection of points, one per chunk. A small collection beside them, the catalog, lists the
//!   generations and, for each document, its live version.
//! * A document is replaced in three steps: its chunks are written as points of a new version, which no reader sees;
//!   its entry in the catalog is written, which is one point and therefore atomic (**the commit**); points of earlier
//!   versions are deleted. A reader drops points of versions that are not live, and requests more if too few are left.
//! * A crash leaves points that no reader sees. A generation's entry records that a write has begun and, later, that it
//!   is done; a writer that finds it unfinished deletes the points that are not live before it writes.
//! * Every step is idempotent: ids of points are derived from their content. So a request that timed out and is sent
//!   again does no harm.
//! * Where a server has transactions, each of these changes is one, and several processes may write at once. The rest is
//!   for servers without.
//! * One process writes to a collection at a time; a lock on the machine keeps its own processes apart, but processes
//!   on different machines are only assumed to be, since nothing on the server can be locked. Each write leaves a
//!   number in the generation's entry, and commits only while that number is there; if two commit nevertheless, the one
//!   that then reads the other's version has lost, and returns [`Outcome::Stale`].
//! * Another version of the text analysis needs another generation, as another model does: it is built beside the old
//!   one, which it then replaces. A generation whose terms are of another version can be read, but not searched or
//!   added to.

mod catalog;
mod collections;
mod documents;
mod generations;
mod list;
mod machine_lock;
mod plan;
mod read;
mod rename;
mod source;
mod sweep;

use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chunkwright::{ChunkId, Record};

use crate::database::Database;
use crate::entry::{self, Entry, Kind};
use chunkwright_models::TextHash;
use chunkwright_store::bm25::TermId;
use chunkwright_store::documents::{DocumentsBehind, ListedDocuments, Totals};
use chunkwright_store::index::disk::NoDisk;
use chunkwright_store::local_cache::SqliteCache;
use chunkwright_store::name::{checked_name, unknown_collection};
use chunkwright_store::vector::{check_sparse, check_vector};
use chunkwright_store::{
    Access, Cache, CacheUsage, Change, CheckReport, ChunkPage, ChunkStore, Collection, CollectionStore,
    CollectionsBehind, DocumentInfo, DocumentStore, Filter, Generation, GenerationSpec, GenerationStore,
    ListRequest, ListedCollections, Origin, Outcome, Overlay, OverlayStore, Overlays, Scored, SourcePart,
    SourceRange, Statistics, StatisticsRequest, Store, StoreError, StoreLocation, StoredChunk,
    StoredDocument, Vector, normalized_name,
};
use list::ColumnsHere;
use machine_lock::MachineLock;
use read::{Live, RankedHere};
use rename::OVERLAYS_AT_ONCE;

use chunkwright_store::PastRun;

/// A store on a server. See [`Store`].
///
/// Vectors and notes are cached in a file on this machine, so that edits do not fetch them.
#[derive(Debug)]
pub struct RemoteStore {
    database: Box<dyn Database>,
    cache: SqliteCache,
    access: Access,
    /// Excludes other writers on this machine.
    lock: Option<MachineLock>,
    /// Held by the thread of this process that writes to a collection, by the name that it is stored as: a server without
    /// transactions would take the second of two for another process.
    turns: Mutex<HashMap<String, Arc<Mutex<()>>>>,
    /// Live versions, by generation.
    live: Mutex<HashMap<Generation, (u64, Arc<Live>)>>,
    /// Indexes for rankings that the server does not compute.
    indexes: Mutex<HashMap<Generation, Arc<RwLock<RankedHere>>>>,
    /// Cached document counts.
    totals: Totals,
    /// Columns for lists and statistics.
    columns: Mutex<HashMap<Generation, Arc<Mutex<ColumnsHere>>>>,
    /// Grows with every change of overlays.
    overlays_revision: AtomicU64,
}

impl RemoteStore {
    pub(super) fn new(
        database: Box<dyn Database>,
        cache_folder: &Path,
        access: Access,
    ) -> Result<Self, StoreError> {
        let cache = SqliteCache::open(cache_folder, access)?;
        Ok(Self {
            database,
            cache,
            access,
            lock: None,
            turns: Mutex::default(),
            live: Mutex::default(),
            indexes: Mutex::default(),
            columns: Mutex::default(),
            overlays_revision: AtomicU64::default(),
            totals: Totals::default(),
        })
    }

    /// The same store, locked against other writers on this machine if `place` names a lock.
    pub(super) fn locked(mut self, place: &StoreLocation) -> Result<Self, StoreError> {
        if let (Some(folder), Access::Write) = (&place.lock, self.access) {
            let lock = MachineLock::new(folder, &place.address());
            lock.claim()?;
            self.lock = Some(lock);
        }
        Ok(self)
    }

    fn writable(&self) -> Result<(), StoreError> {
        if self.access != Access::Write {
            return Err(StoreError::ReadOnly);
        }
        self.lock.as_ref().map_or(Ok(()), MachineLock::claim)
    }

    /// Runs `work` as one transaction with these collections locked, where the server has transactions.
    fn transaction<T>(
        &self,
        collections: &[&str],
        mut work: impl FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.access != Access::Write {
            return work();
        }
        let mut done = None;
        self.database.transaction(collections, &mut || {
            done = Some(work()?);
            Ok(())
        })?;
        Ok(done.expect("a transaction that succeeded has called its work"))
    }
}

impl CollectionStore for RemoteStore {
    fn list_collections(&self, request: &CollectionsBehind<'_>) -> Result<ListedCollections, StoreError> {
        self.page_of_collections(request)
    }

    fn collection(&self, name: &str) -> Result<Option<Collection>, StoreError> {
        self.read_collection(name)
    }

    fn visible(&self) -> Result<Vec<Generation>, StoreError> {
        self.visible_generations()
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.writable()?;
        let (from, to) = (&*normalized_name(from), &*checked_name(to)?);
        self.transaction(&["", from, to], || self.rename_collection(from, to))?;
        self.overlays_revision.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl GenerationStore for RemoteStore {
    fn lookup(&self, name: &str) -> Result<Option<Generation>, StoreError> {
        self.look_up(name)
    }

    fn find(&self, collection: &str, spec: &GenerationSpec) -> Result<Option<Generation>, StoreError> {
        self.find_generation(collection, spec)
    }

    fn begin(&self, collection: &str, spec: &GenerationSpec) -> Result<Generation, StoreError> {
        let collection = &*checked_name(collection)?;
        self.transaction(&["", collection], || self.begin_generation(collection, spec))
    }

    fn switch(&self, generation: &Generation) -> Result<(), StoreError> {
        self.writable()?;
        self.transaction(&["", &generation.collection], || self.switch_generation(generation))
    }

    fn is_complete(&self, generation: &Generation) -> Result<bool, StoreError> {
        Ok(generation.number == FOREIGN || self.generation_entry(generation)?.was_current)
    }

    fn remove(&self, generation: &Generation) -> Result<(), StoreError> {
        self.writable()?;
        self.transaction(&["", &generation.collection], || self.remove_generation(generation))
    }
}

impl DocumentStore for RemoteStore {
    fn write(&self, generation: &Generation, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        self.writable()?;
        if generation.number == FOREIGN {
            return Err(StoreError::Foreign { name: generation.collection.clone() });
        }
        let turn = Arc::clone(self.turns.lock().entry(generation.stored_as().to_owned()).or_default());
        let _turn = turn.lock();
        self.transaction(&[generation.stored_as()], || plan::write(self, generation, changes))
    }

    fn documents(&self, generation: &Generation) -> Result<Vec<DocumentInfo>, StoreError> {
        self.read_documents(generation)
    }

    fn list_documents(
        &self,
        generation: &Generation,
        request: &DocumentsBehind<'_>,
    ) -> Result<ListedDocuments, StoreError> {
        self.read_documents_behind(generation, request)
    }

    fn document_infos(
        &self,
        generation: &Generation,
        doc_ids: &[&str],
    ) -> Result<Vec<Option<DocumentInfo>>, StoreError> {
        self.read_document_infos(generation, doc_ids)
    }

    fn document(&self, generation: &Generation, doc_id: &str) -> Result<Option<StoredDocument>, StoreError> {
        self.read_document(generation, doc_id)
    }

    fn source(
        &self,
        generation: &Generation,
        range: SourceRange<'_>,
    ) -> Result<Option<SourcePart>, StoreError> {
        self.read_source(generation, range)
    }

    fn records(&self, generation: &Generation, doc_id: &str) -> Result<Vec<Record>, StoreError> {
        self.read_records(generation, doc_id)
    }
}

impl ChunkStore for RemoteStore {
    fn chunks(
        &self,
        generation: &Generation,
        ids: &[ChunkId],
    ) -> Result<Vec<Option<Arc<StoredChunk>>>, StoreError> {
        self.read_chunks(generation, ids)
    }

    fn origins(&self, generation: &Generation, ids: &[ChunkId]) -> Result<Vec<Option<Origin>>, StoreError> {
        self.read_origins(generation, ids)
    }

    fn codes(&self, generation: &Generation, ids: &[ChunkId]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.read_codes(generation, ids)
    }

    fn list(&self, generation: &Generation, request: &ListRequest) -> Result<ChunkPage, StoreError> {
        self.read_page(generation, request)
    }

    fn statistics(
        &self,
        generation: &Generation,
        request: &StatisticsRequest,
    ) -> Result<Statistics, StoreError> {
        self.with_columns(generation, &request.filter, |columns, passing| {
            columns.statistics(request, passing)
        })
    }

    fn dense(
        &self,
        generation: &Generation,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        let Some(model) = &generation.spec.model else { return Ok(Vec::new()) };
        check_vector(query, model.dimension)?;
        let ask = |asked| self.database.dense(generation, query, filter, asked).map(Some);
        self.answer(generation, filter, limit, &ask, &mut true)
    }

    fn sparse(
        &self,
        generation: &Generation,
        query: &[(u32, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        check_sparse(query)?;
        if query.is_empty() || generation.spec.model.as_ref().is_none_or(|model| !model.sparse) {
            return Ok(Vec::new());
        }
        let mut compares = true;
        let ask = |asked| self.database.sparse(generation, query, filter, asked);
        let found = self.answer(generation, filter, limit, &ask, &mut compares)?;
        if compares {
            return Ok(found);
        }
        self.ranked_here(generation, filter, |index, passing| index.sparse(query, passing, limit, &NoDisk))
    }

    fn lexical(
        &self,
        generation: &Generation,
        terms: &[(TermId, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let mut knows_words = true;
        let ask = |asked| self.database.lexical(generation, terms, filter, asked);
        let found = self.answer(generation, filter, limit, &ask, &mut knows_words)?;
        if knows_words {
            return Ok(found);
        }
        self.ranked_here(generation, filter, |index, passing| index.lexical(terms, passing, limit, &NoDisk))
    }
}

impl OverlayStore for RemoteStore {
    fn overlays(&self, collection: &str) -> Result<Overlays, StoreError> {
        Ok(self.list::<Overlay>(Kind::Overlay, &normalized_name(collection))?.into_iter().collect())
    }

    fn put_overlays(&self, collection: &str, overlays: &[Overlay]) -> Result<(), StoreError> {
        self.writable()?;
        // Part of it may be stored even where this fails.
        self.overlays_revision.fetch_add(1, Ordering::SeqCst);
        let collection = &*normalized_name(collection);
        if self.collection_entry(collection)?.is_none() {
            return Err(unknown_collection(collection, std::iter::empty()));
        }
        let (gone, kept): (Vec<&Overlay>, Vec<&Overlay>) =
            overlays.iter().partition(|overlay| overlay.is_empty());
        self.transaction(&[collection], || {
            self.put_kept(collection, &kept)?;
            for gone in gone.chunks(OVERLAYS_AT_ONCE) {
                let key = |overlay: &&Overlay| entry::key(Kind::Overlay, collection, &overlay.chunk_id);
                self.database.forget(&gone.iter().map(key).collect::<Vec<_>>())?;
            }
            Ok(())
        })?;
        self.overlays_revision.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn overlays_revision(&self) -> u64 {
        self.overlays_revision.load(Ordering::SeqCst)
    }

    fn runs(&self, collection: &str) -> Result<Vec<PastRun>, StoreError> {
        let name = normalized_name(collection);
        Ok(self.entry(&entry::key(Kind::Runs, "", &name))?.unwrap_or_default())
    }

    fn add_run(&self, collection: &str, run: &PastRun) -> Result<(), StoreError> {
        self.writable()?;
        let name = &*normalized_name(collection);
        self.transaction(&[name], || {
            if self.collection_entry(name)?.is_none() {
                return Ok(());
            }
            let mut runs = self.runs(name)?;
            let number = runs.first().map_or(1, |last| last.number + 1);
            runs.insert(0, PastRun { number, ..run.clone() });
            runs.truncate(PastRun::KEPT);
            self.database.put(&[Entry::new(Kind::Runs, "", name, &runs)?])
        })
    }
}

impl Store for RemoteStore {
    fn release(&self) {
        if let Some(lock) = &self.lock {
            lock.release();
        }
    }

    fn claim(&self) -> Result<(), StoreError> {
        self.lock.as_ref().map_or(Ok(()), MachineLock::claim)
    }

    fn cache(&self) -> &dyn Cache {
        self
    }

    fn check_documents_of(&self, collection: Option<&str>) -> Result<CheckReport, StoreError> {
        sweep::check(self, collection)
    }
}

/// Number of the only generation of a collection that another program made.
pub(super) const FOREIGN: i64 = 0;

impl Cache for RemoteStore {
    fn vectors(&self, model: &str, hashes: &[TextHash]) -> Result<Vec<Option<Vector>>, StoreError> {
        self.cache.vectors(model, hashes)
    }

    fn put_vectors(&self, model: &str, vectors: &[(TextHash, Vector)]) -> Result<(), StoreError> {
        self.cache.put_vectors(model, vectors)
    }

    fn notes(&self, keys: &[TextHash]) -> Result<Vec<Option<String>>, StoreError> {
        self.cache.notes(keys)
    }

    fn put_notes(&self, notes: &[(TextHash, String)]) -> Result<(), StoreError> {
        self.cache.put_notes(notes)
    }

    fn usage(&self) -> Result<Vec<CacheUsage>, StoreError> {
        self.cache.usage(&sweep::used(self)?)
    }

    fn clear(&self) -> Result<usize, StoreError> {
        self.writable()?;
        self.cache.clear(&sweep::used(self)?)
    }
}
