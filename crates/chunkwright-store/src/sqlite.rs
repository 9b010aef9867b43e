//! The embedded store: `SQLite` in one folder.
//!
//! * A document changes in one transaction. Measured over 100 kills: with two transactions 55 documents had two
//!   versions at once; with one transaction, none had.
//! * `synchronous=FULL`: `NORMAL` lost 439 acknowledged commits in one of five power cuts. Documents are written in
//!   batches, so that they share the cost.
//! * Keys are `AUTOINCREMENT`: a version of a document has a greater number than any earlier one, and the in-memory
//!   [index](super::index) is updated by that number.
//! * One process writes, under a lock that the system releases however the process ends. Any number of processes may
//!   read meanwhile.

mod backup;
pub(super) mod cache;
mod check;
mod collections;
mod derived;
mod disk;
mod documents;
mod persist;

mod list;
mod read;
mod readers;
#[cfg(test)]
mod ready;
mod recent;
mod setup;
mod stamp;
mod stored;
mod write;

use parking_lot::{Mutex, RwLock};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chunkwright::{ChunkId, Record};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::analysis;
use crate::atomic_file::folder_of;
use crate::bm25::TermId;
use crate::cache::{Cache, CacheUsage};
use crate::check_report::CheckReport;
use crate::collections::{CollectionsBehind, ListedCollections};
use crate::contract::{
    Access, ChunkStore, CollectionStore, DocumentStore, GenerationStore, OverlayStore, Store,
};
use crate::document::{Change, DocumentInfo, IndexedChunk, Origin, Outcome, StoredChunk, StoredDocument};
use crate::documents::{DocumentsBehind, ListedDocuments, Totals};
use crate::error::{StoreError, unknown_generation};
use crate::filter::Filter;
use crate::generation::{Collection, Generation, GenerationSpec};
use crate::index::{Gone, SearchIndex, SharedIndex};
use crate::list::PageBuilder;
use crate::list::{ChunkPage, ListRequest};
use crate::name::{checked_name, no_collection, normalized_name, parse_name, unknown_collection};
use crate::overlay::{Overlay, Overlays};
use crate::past_run::PastRun;
use crate::place::StoreLocation;
use crate::scored::Scored;
use crate::source::{SourcePart, SourceRange};
use crate::statistics::{Statistics, StatisticsRequest};
use crate::vector::{Vector, check_sparse, check_vector, of_query};
pub use backup::Damaged;
use chunkwright_models::TextHash;
use collections::Counts;
use derived::SharedColumns;
use disk::DiskCache;
use readers::Readers;
use recent::Recent;
use setup::{analysis_version, check_layout, create, has_no_tables, is_locked_once, prepare};
pub use setup::{create_folder, lock, set_up};
use stamp::Stamp;

/// The embedded store. See [`Store`].
#[derive(Debug)]
pub struct SqliteStore {
    file: PathBuf,
    /// The flags for opening the file to read.
    flags: ReadFlags,
    /// The file as it was when it was opened.
    stamp: Option<Stamp>,
    /// Connections for reading. They are closed before the one that writes, which then leaves one file and no log
    /// behind.
    readers: Readers,
    /// `None` in a store opened to read.
    writer: Option<Writer>,
    /// Search indexes, by generation.
    indexes: Mutex<HashMap<i64, Arc<SharedIndex>>>,
    /// Generations whose persisted index could not be read.
    unreadable: Mutex<HashSet<i64>>,
    /// Posting lists and vectors that were read last.
    disk: DiskCache,
    limits: persist::Limits,
    /// Columns for lists and statistics, by generation.
    columns: Mutex<HashMap<i64, Arc<RwLock<SharedColumns>>>>,
    /// Cached document counts.
    totals: Totals,
    /// Cached counts of generations.
    counts: Counts,
    /// Recently read chunks and sources.
    recent: Recent,
    /// Grows with every change of overlays.
    overlays_revision: AtomicU64,
}

#[derive(Debug)]
struct Writer {
    connection: Mutex<Connection>,
    /// The folder that the lock is in.
    folder: PathBuf,
    /// Held while the store is open, except between `release` and `claim`.
    lock: Mutex<Option<File>>,
}

impl Writer {
    fn claim(&self) -> Result<(), StoreError> {
        let mut held = self.lock.lock();
        if held.is_none() {
            *held = Some(lock(&self.folder)?);
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadFlags {
    Shared,
    /// The folder cannot be written, not even by `SQLite` for its own bookkeeping.
    Immutable,
}

impl SqliteStore {
    /// Name of the file in the store's folder.
    pub const FILE: &str = "chunkwright.sqlite3";

    /// Sets the [`memory`](StoreLocation::memory) of a location.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Self {
        Self { disk: DiskCache::of(bytes), ..self }
    }

    /// Opens the store in the folder `path`. Opening to write creates a missing store, and migrates one of an older
    /// layout to this program's.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`], at once, if another process has it open to write; [`StoreError::Missing`] if there is
    /// none to read; a layout of a newer program version.
    pub fn open(path: &Path, access: Access) -> Result<Self, StoreError> {
        let file = path.join(Self::FILE);
        let shown = || path.display().to_string();
        // A store is created together with its tables, so an empty file was once a store.
        if is_locked_once(path) && fs::metadata(&file).is_ok_and(|metadata| metadata.len() == 0) {
            return Err(StoreError::Empty { path: shown(), file: Self::FILE });
        }
        let writer = match access {
            Access::Read if !file.exists() => return Err(StoreError::Missing { path: shown() }),
            Access::Read => None,
            Access::Write => {
                create_folder(path).map_err(|error| StoreError::Io { path: shown(), error })?;
                let lock = lock(path)?;
                if !file.exists() {
                    create(&file)?;
                }
                let mut connection = Connection::open(&file)?;
                prepare(&mut connection)?;
                Some(Writer {
                    connection: Mutex::new(connection),
                    folder: path.to_owned(),
                    lock: Mutex::new(Some(lock)),
                })
            }
        };
        let store = Self {
            stamp: Stamp::of(&file),
            file,
            flags: ReadFlags::Shared,
            writer,
            readers: Readers::default(),
            indexes: Mutex::default(),
            unreadable: Mutex::default(),
            disk: DiskCache::of(StoreLocation::MEMORY),
            limits: persist::Limits::default(),
            columns: Mutex::default(),
            totals: Totals::default(),
            counts: Counts::default(),
            recent: Recent::default(),
            overlays_revision: AtomicU64::default(),
        };
        if store.writer.is_some() {
            return Ok(store);
        }
        let store = match store.connect() {
            Ok(connection) => {
                store.readers.keep(connection);
                store
            }
            Err(_) if !store.has_log() => Self { flags: ReadFlags::Immutable, ..store },
            Err(_) if store.is_unwritable() => return Err(StoreError::UnreadableLog { path: shown() }),
            Err(error) => return Err(error),
        };
        store.read(|transaction| {
            // The process that was creating it was killed.
            if has_no_tables(transaction)? {
                return Err(StoreError::Missing { path: shown() });
            }
            check_layout(transaction)?;
            match analysis_version(transaction)? {
                Some(version) if version == i64::from(analysis::VERSION) => Ok(()),
                _ => Err(StoreError::Analysis { path: shown() }),
            }
        })?;
        Ok(store)
    }

    /// Returns whether the write-ahead log holds commits.
    fn has_log(&self) -> bool {
        let log = self.file.with_extension("sqlite3-wal");
        fs::metadata(log).is_ok_and(|metadata| metadata.len() > 0)
    }

    /// Returns whether `SQLite` cannot create the file beside the log that its readers need.
    fn is_unwritable(&self) -> bool {
        let index = self.file.with_extension("sqlite3-shm");
        !index.exists() && tempfile::tempfile_in(folder_of(&self.file)).is_err()
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match self.flags {
            ReadFlags::Shared => {
                Connection::open_with_flags(&self.file, flags & !OpenFlags::SQLITE_OPEN_URI)?
            }
            ReadFlags::Immutable => {
                let path =
                    self.file.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
                Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)?
            }
        };
        set_up(&connection)?;
        connection.pragma_update(None, "cache_size", -4_000)?;
        // The first access shows whether the file can be read at all.
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
        Ok(connection)
    }

    /// Runs `body` over one snapshot of the store.
    fn read<T>(&self, body: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let result = self.readers.lend(
            || self.connect(),
            |connection| {
                let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
                body(&transaction)
            },
        );
        // Without locks, a change made meanwhile may have been read in part.
        if self.flags == ReadFlags::Immutable && self.is_outdated() {
            return Err(StoreError::Replaced);
        }
        result
    }

    /// As [`write_with`](Self::write_with), but only while the right to write is held; else nothing is done.
    fn write_if_claimed<T>(
        &self,
        body: impl FnOnce(&Transaction<'_>) -> Result<(T, Commit), StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let Some(writer) = &self.writer else { return Ok(None) };
        let mut connection = writer.connection.lock();
        if writer.lock.lock().is_none() {
            return Ok(None);
        }
        transact(&mut connection, body).map(Some)
    }

    /// Runs `body` as one transaction, which is rolled back if `body` fails or returns that nothing changed.
    fn write_with<T>(
        &self,
        body: impl FnOnce(&Transaction<'_>) -> Result<(T, Commit), StoreError>,
    ) -> Result<T, StoreError> {
        let writer = self.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        writer.claim()?;
        transact(&mut writer.connection.lock(), body)
    }
}

fn transact<T>(
    connection: &mut Connection,
    body: impl FnOnce(&Transaction<'_>) -> Result<(T, Commit), StoreError>,
) -> Result<T, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (value, commit) = body(&transaction)?;
    match commit {
        Commit::Yes => transaction.commit()?,
        Commit::NothingChanged => transaction.rollback()?,
    }
    Ok(value)
}

/// Whether a transaction has anything to commit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Commit {
    Yes,
    NothingChanged,
}

impl From<bool> for Commit {
    fn from(changed: bool) -> Self {
        if changed { Self::Yes } else { Self::NothingChanged }
    }
}

impl CollectionStore for SqliteStore {
    fn list_collections(&self, request: &CollectionsBehind<'_>) -> Result<ListedCollections, StoreError> {
        self.read(|transaction| collections::page(transaction, request, &self.counts))
    }

    fn collection(&self, name: &str) -> Result<Option<Collection>, StoreError> {
        self.read(|transaction| collections::collection(transaction, &normalized_name(name), &self.counts))
    }

    fn visible(&self) -> Result<Vec<Generation>, StoreError> {
        self.read(|transaction| collections::visible(transaction))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StoreError> {
        let (from, to) = (checked_name(from)?, checked_name(to)?);
        let from = self.open(&from)?.collection;
        self.write_with(|transaction| collections::rename(transaction, &from, &to))?;
        self.overlays_revision.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl GenerationStore for SqliteStore {
    fn lookup(&self, name: &str) -> Result<Option<Generation>, StoreError> {
        self.read(|transaction| read::lookup(transaction, name))
    }

    fn find(&self, collection: &str, spec: &GenerationSpec) -> Result<Option<Generation>, StoreError> {
        self.read(|transaction| read::find_spec(transaction, &normalized_name(collection), spec))
    }

    fn begin(&self, collection: &str, spec: &GenerationSpec) -> Result<Generation, StoreError> {
        let collection = &*checked_name(collection)?;
        // If it exists, reading suffices, so that a run that changes nothing waits for no lock.
        if let Some(found) = self.find(collection, spec)? {
            return Ok(found);
        }
        self.write_with(|transaction| write::begin(transaction, collection, spec))
    }

    fn switch(&self, generation: &Generation) -> Result<(), StoreError> {
        // Without it, the index is read from the documents, and the next run tries again.
        let _ = self.persist_index(generation);
        let before = self.lookup(&generation.collection).ok().flatten();
        let before = before.filter(|before| before.number != generation.number);
        let is_searched = |before: &Generation| self.indexes.lock().contains_key(&before.number);
        if before.as_ref().is_some_and(is_searched) {
            // Builds the index now, so that no search waits for it. The first search reports a failure again.
            let _ = self.read(|transaction| self.with_index(transaction, generation, |_, _, _| Ok(())));
        }
        self.write_with(|transaction| write::switch(transaction, generation))?;
        // Searches that began before the switch continue with the previous generation.
        let is_old =
            |number: i64| number != generation.number && Some(number) != before.as_ref().map(|it| it.number);
        let known = self.collection(&generation.collection).unwrap_or_default();
        let known = known.into_iter().flat_map(|known| known.generations);
        for old in known.filter(|it| is_old(it.generation.number)) {
            self.forget(old.generation.number);
        }
        Ok(())
    }

    fn is_complete(&self, generation: &Generation) -> Result<bool, StoreError> {
        self.read(|transaction| read::is_complete(transaction, generation))
    }

    fn remove(&self, generation: &Generation) -> Result<(), StoreError> {
        let removed = self.write_with(|transaction| write::remove(transaction, generation))?;
        for number in &removed {
            self.forget(*number);
        }
        Ok(())
    }
}

impl DocumentStore for SqliteStore {
    fn write(&self, generation: &Generation, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        let prepared = write::prepare(generation, changes)?;
        let shared = self.indexes.lock().get(&generation.number).map(Arc::clone);
        let turn = shared.as_ref().and_then(|shared| shared.turn());
        let (outcomes, added) = self.write_with(|transaction| {
            let before = read::change(transaction, generation)?;
            let last = read::last_version(transaction)?;
            let write::Written { outcomes, commit, gone } =
                write::write(transaction, generation, changes, &prepared)?;
            // An index that also lacks other changes is updated by the next search.
            let turn = turn.as_ref().filter(|turn| commit == Commit::Yes && turn.is_of(before));
            let added = turn.map(|turn| {
                let gone = turn.add(|last_version, add: &mut dyn FnMut(SearchIndex)| {
                    let lacking = (last_version, read::Newer::Written(last));
                    let read = read::new_versions(transaction, generation, lacking, add);
                    read.map(|()| Gone::These(gone))
                })?;
                Ok::<_, StoreError>((read::change(transaction, generation)?, gone))
            });
            Ok(((outcomes, added), commit))
        })?;
        // The next search retries, and reports a failure.
        if let (Some(turn), Some(Ok((change, gone)))) = (turn, added) {
            turn.show(change, &gone);
        }
        Ok(outcomes)
    }

    fn documents(&self, generation: &Generation) -> Result<Vec<DocumentInfo>, StoreError> {
        self.read(|transaction| read::documents(transaction, generation))
    }

    fn list_documents(
        &self,
        generation: &Generation,
        request: &DocumentsBehind<'_>,
    ) -> Result<ListedDocuments, StoreError> {
        self.read(|transaction| {
            let change = read::change(transaction, generation)?;
            let count = || documents::count(transaction, generation, request);
            let total = self.totals.get(generation, change, request.source, count)?;
            let (documents, is_more) = documents::page(transaction, generation, request)?;
            Ok(ListedDocuments { documents, total, is_more })
        })
    }

    fn document_infos(
        &self,
        generation: &Generation,
        doc_ids: &[&str],
    ) -> Result<Vec<Option<DocumentInfo>>, StoreError> {
        self.read(|transaction| {
            read::change(transaction, generation)?;
            doc_ids.iter().map(|doc_id| read::document_info(transaction, generation, doc_id)).collect()
        })
    }

    fn document(&self, generation: &Generation, doc_id: &str) -> Result<Option<StoredDocument>, StoreError> {
        self.read(|transaction| read::document(transaction, generation, doc_id))
    }

    fn source(
        &self,
        generation: &Generation,
        range: SourceRange<'_>,
    ) -> Result<Option<SourcePart>, StoreError> {
        self.read(|transaction| {
            read::change(transaction, generation)?;
            read::source_part(transaction, range)
        })
    }

    fn records(&self, generation: &Generation, doc_id: &str) -> Result<Vec<Record>, StoreError> {
        self.read(|transaction| read::records(transaction, generation, doc_id))
    }
}

impl ChunkStore for SqliteStore {
    fn chunks(
        &self,
        generation: &Generation,
        ids: &[ChunkId],
    ) -> Result<Vec<Option<Arc<StoredChunk>>>, StoreError> {
        self.read(|transaction| {
            let places = self.places(transaction, generation, ids)?;
            let ids = ids.iter().enumerate().map(|(at, id)| (*id, places.get(at).copied().flatten()));
            read::chunks(transaction, generation, ids, &self.recent)
        })
    }

    fn origins(&self, generation: &Generation, ids: &[ChunkId]) -> Result<Vec<Option<Origin>>, StoreError> {
        self.search(generation, &Filter::default(), |index, _, _| Ok(index.origins(ids)))
    }

    fn indexed(
        &self,
        generation: &Generation,
        ids: &[ChunkId],
        terms: &[TermId],
        query: Option<&[f32]>,
    ) -> Result<Vec<Option<IndexedChunk>>, StoreError> {
        let query = of_query(generation, query)?;
        self.search(generation, &Filter::default(), |index, _, disk| index.indexed(ids, terms, query, disk))
    }

    fn codes(&self, generation: &Generation, ids: &[ChunkId]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.read(|transaction| cache::codes(transaction, generation, ids))
    }

    fn list(&self, generation: &Generation, request: &ListRequest) -> Result<ChunkPage, StoreError> {
        let after = request.position(generation)?;
        let mut page = PageBuilder::new(request, generation)?;
        self.read(|transaction| {
            if request.is_in_document_order() {
                read::change(transaction, generation)?;
                return list::in_document_order(transaction, generation, request, after.as_ref(), &mut page);
            }
            let listed =
                self.with_columns(transaction, generation, &request.filter, |columns, passing| {
                    let listed = columns.page(request, after, passing);
                    listed.iter().map(|listed| (listed.place, listed.version, listed.id)).collect()
                })?;
            list::by_id(transaction, generation, listed, &self.recent, &mut page)
        })?;
        Ok(page.finish())
    }

    fn statistics(
        &self,
        generation: &Generation,
        request: &StatisticsRequest,
    ) -> Result<Statistics, StoreError> {
        self.read(|transaction| {
            self.with_columns(transaction, generation, &request.filter, |columns, passing| {
                columns.statistics(request, passing)
            })
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
        self.search(generation, filter, |index, passing, disk| index.dense(query, passing, limit, disk))
    }

    fn sparse(
        &self,
        generation: &Generation,
        query: &[(u32, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        check_sparse(query)?;
        self.search(generation, filter, |index, passing, disk| index.sparse(query, passing, limit, disk))
    }

    fn lexical(
        &self,
        generation: &Generation,
        terms: &[(TermId, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        self.search(generation, filter, |index, passing, disk| index.lexical(terms, passing, limit, disk))
    }
}

impl OverlayStore for SqliteStore {
    fn overlays(&self, collection: &str) -> Result<Overlays, StoreError> {
        self.read(|transaction| read::overlays(transaction, &normalized_name(collection)))
    }

    fn put_overlays(&self, collection: &str, overlays: &[Overlay]) -> Result<(), StoreError> {
        let written = self.write_with(|transaction| {
            write::put_overlays(transaction, &normalized_name(collection), overlays)
        });
        self.overlays_revision.fetch_add(1, Ordering::SeqCst);
        written
    }

    fn overlays_revision(&self) -> u64 {
        self.overlays_revision.load(Ordering::SeqCst)
    }

    fn runs(&self, collection: &str) -> Result<Vec<PastRun>, StoreError> {
        self.read(|transaction| read::runs(transaction, &normalized_name(collection)))
    }

    fn add_run(&self, collection: &str, run: &PastRun) -> Result<(), StoreError> {
        self.write_with(|transaction| write::add_run(transaction, &normalized_name(collection), run))?;
        // The end of a run. If the index cannot be persisted, the next run tries again.
        if let Some(generation) = self.lookup(collection)? {
            let _ = self.persist_index(&generation);
        }
        Ok(())
    }
}

impl Store for SqliteStore {
    fn is_outdated(&self) -> bool {
        let stamp = self.stamp.as_ref().filter(|_| self.writer.is_none());
        let (Some(then), Some(now)) = (stamp, Stamp::of(&self.file)) else { return false };
        match self.flags {
            ReadFlags::Shared => !then.is_same_file(&now),
            ReadFlags::Immutable => *then != now || self.has_log(),
        }
    }

    fn release(&self) {
        if let Some(writer) = &self.writer {
            // No other thread is writing.
            let connection = writer.connection.lock();
            writer.lock.lock().take();
            drop(connection);
        }
    }

    fn claim(&self) -> Result<(), StoreError> {
        self.writer.as_ref().map_or(Ok(()), Writer::claim)
    }

    fn cache(&self) -> &dyn Cache {
        self
    }

    fn check_documents_of(&self, collection: Option<&str>) -> Result<CheckReport, StoreError> {
        self.read(|transaction| check::check(transaction, collection))
    }
}

impl Cache for SqliteStore {
    fn vectors(&self, model: &str, hashes: &[TextHash]) -> Result<Vec<Option<Vector>>, StoreError> {
        self.read(|transaction| cache::vectors(transaction, model, hashes))
    }

    fn put_vectors(&self, model: &str, vectors: &[(TextHash, Vector)]) -> Result<(), StoreError> {
        self.write_with(|transaction| cache::put_vectors(transaction, model, vectors))
    }

    fn notes(&self, keys: &[TextHash]) -> Result<Vec<Option<String>>, StoreError> {
        self.read(|transaction| cache::notes(transaction, keys))
    }

    fn put_notes(&self, notes: &[(TextHash, String)]) -> Result<(), StoreError> {
        self.write_with(|transaction| cache::put_notes(transaction, notes))
    }

    fn usage(&self) -> Result<Vec<CacheUsage>, StoreError> {
        self.read(|transaction| cache::usage(transaction))
    }

    fn clear(&self) -> Result<usize, StoreError> {
        self.write_with(|transaction| cache::clear(transaction))
    }
}
