//! The embedded store: `SQLite` in one folder.
//!
//! * Everything of a document changes in one transaction, its words (FTS5) included. Measured over 100
//!   kills: with two transactions 55 documents had two versions at once, with one none.
//! * `synchronous=FULL`: `NORMAL` lost 439 acknowledged commits in one of five power cuts. Documents
//!   are written in batches instead, so that the cost is shared.
//! * Keys are `AUTOINCREMENT`: a row of words never meets a new chunk under an old key.
//! * Each collection has its own table of words, so that BM25 weighs by that collection alone.
//! * One process writes, and says so in a lock that the system releases when the process ends, however
//!   it ends. Any number of processes read meanwhile.

mod check;
mod read;
mod setup;
mod write;

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chunkwright::{ChunkId, Record};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};

use super::rank::DenseIndex;
use super::{
    Access, Change, CheckReport, Collection, DocumentInfo, Filter, Model, Outcome, Scored, Store, StoreError,
    StoredChunk, StoredDocument, TextHash, check_name, unknown_collection,
};
use crate::analysis;
use setup::{BUSY_TIMEOUT, analysis_version, check_layout, create_folder, lock, prepare};

/// The embedded store. See [`Store`].
#[derive(Debug)]
pub struct SqliteStore {
    file: PathBuf,
    /// What the file is opened with to read.
    flags: ReadFlags,
    /// None in a store opened to read.
    writer: Option<Writer>,
    /// Connections to read that are not in use.
    readers: Mutex<Vec<Connection>>,
    /// Vectors by collection, as of a change.
    dense: Mutex<HashMap<i64, (u64, Arc<DenseIndex>)>>,
}

#[derive(Debug)]
struct Writer {
    connection: Mutex<Connection>,
    /// Held for as long as the store is open.
    _lock: File,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadFlags {
    Shared,
    /// The folder cannot be written, not even by `SQLite` for its own bookkeeping.
    Immutable,
}

impl SqliteStore {
    /// Name of the file in the store's folder.
    const FILE: &str = "chunkwright.sqlite3";

    /// Opens the store in the folder `path`, which begins to exist when it is opened to write.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`], at once, if another process writes to it; [`StoreError::Missing`] if
    /// there is none to read; a layout of another program version.
    pub fn open(path: &Path, access: Access) -> Result<Self, StoreError> {
        let file = path.join(Self::FILE);
        let shown = || path.display().to_string();
        let writer = match access {
            Access::Read if !file.exists() => return Err(StoreError::Missing { path: shown() }),
            Access::Read => None,
            Access::Write => {
                create_folder(path).map_err(|error| StoreError::Io { path: shown(), error })?;
                let lock = lock(path)?;
                let mut connection = Connection::open(&file)?;
                prepare(&mut connection)?;
                Some(Writer { connection: Mutex::new(connection), _lock: lock })
            }
        };
        let store = Self {
            file,
            flags: ReadFlags::Shared,
            writer,
            readers: Mutex::default(),
            dense: Mutex::default(),
        };
        if store.writer.is_some() {
            return Ok(store);
        }
        let store = match store.connect() {
            Ok(connection) => {
                lock_mutex(&store.readers).push(connection);
                store
            }
            Err(_) if !store.has_log() => Self { flags: ReadFlags::Immutable, ..store },
            Err(error) => return Err(error),
        };
        store.read(|transaction| {
            check_layout(transaction)?;
            match analysis_version(transaction)? {
                Some(version) if version == i64::from(analysis::VERSION) => Ok(()),
                _ => Err(StoreError::Analysis { path: shown() }),
            }
        })?;
        Ok(store)
    }

    /// Whether commits wait in the write-ahead log.
    fn has_log(&self) -> bool {
        let log = self.file.with_extension("sqlite3-wal");
        fs::metadata(log).is_ok_and(|metadata| metadata.len() > 0)
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
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // The first access finds out whether the file can be read at all.
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
        Ok(connection)
    }

    /// Runs `body` over one snapshot of the store.
    fn read<T>(&self, body: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let pooled = lock_mutex(&self.readers).pop();
        let mut connection = match pooled {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let result = {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
            body(&transaction)
        };
        if result.is_ok() {
            lock_mutex(&self.readers).push(connection);
        }
        result
    }

    /// Runs `body` as one transaction; it is undone if `body` fails or answers that nothing changed.
    fn write_with<T>(
        &self,
        body: impl FnOnce(&Transaction<'_>) -> Result<(T, Commit), StoreError>,
    ) -> Result<T, StoreError> {
        let writer = self.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        let mut connection = lock_mutex(&writer.connection);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (value, commit) = body(&transaction)?;
        match commit {
            Commit::Yes => transaction.commit()?,
            Commit::NothingChanged => transaction.rollback()?,
        }
        Ok(value)
    }
}

/// Whether a transaction has anything to keep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commit {
    Yes,
    NothingChanged,
}

/// A lock is only poisoned if a caller's code panicked; what it guards is whole at any time.
fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A collection's row.
#[derive(Debug)]
struct CollectionRow {
    id: i64,
    model: Option<Model>,
    change: u64,
}

impl CollectionRow {
    fn find(connection: &Connection, name: &str) -> Result<Option<Self>, StoreError> {
        let mut statement = connection
            .prepare_cached("SELECT id, model, dimension, change FROM collections WHERE name = ?1")?;
        let row = statement.query_row([name], |row| {
            let (model, dimension) = (row.get::<_, Option<String>>(1)?, row.get::<_, Option<usize>>(2)?);
            let model = model.zip(dimension).map(|(name, dimension)| Model { name, dimension });
            Ok(Self { id: row.get(0)?, model, change: row.get(3)? })
        });
        Ok(row.optional()?)
    }

    fn get(connection: &Connection, name: &str) -> Result<Self, StoreError> {
        if let Some(found) = Self::find(connection, name)? {
            return Ok(found);
        }
        let mut statement = connection.prepare("SELECT name FROM collections ORDER BY name")?;
        let known = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
        Err(unknown_collection(name, known.iter().map(String::as_str)))
    }

    /// Name of its table of words.
    fn words(&self) -> String {
        format!("words_{}", self.id)
    }
}

impl Store for SqliteStore {
    fn collections(&self) -> Result<Vec<Collection>, StoreError> {
        self.read(|transaction| read::collections(transaction))
    }

    fn write(&self, collection: &str, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        check_name(collection)?;
        self.write_with(|transaction| write::write(transaction, collection, changes))
    }

    fn model(&self, collection: &str) -> Result<Option<Model>, StoreError> {
        self.read(|transaction| Ok(CollectionRow::get(transaction, collection)?.model))
    }

    fn set_model(&self, collection: &str, model: &Model) -> Result<(), StoreError> {
        check_name(collection)?;
        self.write_with(|transaction| write::set_model(transaction, collection, model))
    }

    fn drop_collection(&self, collection: &str) -> Result<(), StoreError> {
        self.write_with(|transaction| write::drop_collection(transaction, collection))
    }

    fn documents(&self, collection: &str) -> Result<Vec<DocumentInfo>, StoreError> {
        self.read(|transaction| read::documents(transaction, collection))
    }

    fn document(&self, collection: &str, doc_id: &str) -> Result<Option<StoredDocument>, StoreError> {
        self.read(|transaction| read::document(transaction, collection, doc_id))
    }

    fn records(&self, collection: &str, doc_id: &str) -> Result<Vec<Record>, StoreError> {
        self.read(|transaction| read::records(transaction, collection, doc_id))
    }

    fn chunk(&self, collection: &str, id: ChunkId) -> Result<Option<StoredChunk>, StoreError> {
        self.read(|transaction| read::chunk(transaction, collection, id))
    }

    fn vectors(&self, model: &str, hashes: &[TextHash]) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        self.read(|transaction| read::vectors(transaction, model, hashes))
    }

    fn put_vectors(&self, model: &str, vectors: &[(TextHash, Vec<f32>)]) -> Result<(), StoreError> {
        self.write_with(|transaction| write::put_vectors(transaction, model, vectors))
    }

    fn dense(
        &self,
        collection: &str,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        self.read(|transaction| {
            let row = CollectionRow::get(transaction, collection)?;
            let Some(model) = &row.model else { return Ok(Vec::new()) };
            super::check_vector(query, model.dimension)?;
            let known =
                lock_mutex(&self.dense).get(&row.id).filter(|(change, _)| *change == row.change).cloned();
            let index = if let Some((_, index)) = known {
                index
            } else {
                let index = Arc::new(read::dense_index(transaction, row.id, model)?);
                lock_mutex(&self.dense).insert(row.id, (row.change, Arc::clone(&index)));
                index
            };
            Ok(index.search(query, filter, limit))
        })
    }

    fn lexical(
        &self,
        collection: &str,
        terms: &[String],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        self.read(|transaction| {
            let row = CollectionRow::get(transaction, collection)?;
            read::lexical(transaction, &row, terms, filter, limit)
        })
    }

    fn check(&self) -> Result<CheckReport, StoreError> {
        // A connection of its own: FTS5's part of the check trusts what it remembers of an older state.
        let mut connection = self.connect()?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
        check::check(&transaction)
    }

    fn collect_garbage(&self) -> Result<usize, StoreError> {
        self.write_with(|transaction| write::collect_garbage(transaction))
    }
}
