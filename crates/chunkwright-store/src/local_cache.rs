//! A cache in a local file, for stores on servers: expensive results survive the loss of a server and need no network
//! to be looked up.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashSet;
use std::path::Path;

use rusqlite::{Connection, params};

use crate::cache::CacheUsage;
use crate::contract::Access;
use crate::error::StoreError;
use crate::sqlite::{Commit, cache, create_folder, set_up};
use crate::vector::Vector;
use chunkwright_models::TextHash;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL,
    sparse INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS vectors (
    key INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    vector BLOB NOT NULL,
    sparse BLOB,
    UNIQUE (model, text_hash)
);
CREATE TABLE IF NOT EXISTS notes (key BLOB PRIMARY KEY, note TEXT NOT NULL) WITHOUT ROWID;
";

/// Vectors that some chunk needs, by model name and text hash.
pub type Used = HashSet<(String, TextHash)>;

/// A cache of vectors and notes in one file. Any number of processes may open it.
#[derive(Debug)]
pub struct SqliteCache {
    connection: Mutex<Connection>,
}

impl SqliteCache {
    /// Name of the file in its folder.
    const FILE: &str = "cache.sqlite3";

    /// Opens the cache in `folder`; opening to write creates both. Opened to read, a missing cache counts as empty.
    ///
    /// # Errors
    ///
    /// Errors of the cache file.
    pub fn open(folder: &Path, access: Access) -> Result<Self, StoreError> {
        let file = folder.join(Self::FILE);
        let connection = if access == Access::Read && !file.exists() {
            Connection::open_in_memory()?
        } else {
            let io = |error| StoreError::Io { path: folder.display().to_string(), error };
            create_folder(folder).map_err(io)?;
            Connection::open(&file)?
        };
        set_up(&connection)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.execute_batch(TABLES)?;
        Ok(Self { connection: Mutex::new(connection) })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock()
    }

    fn write<T>(
        &self,
        body: impl FnOnce(&Connection) -> Result<(T, Commit), StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        let (value, _) = body(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// As [`Cache::vectors`](crate::Cache::vectors).
    ///
    /// # Errors
    ///
    /// Errors of the cache file.
    pub fn vectors(&self, model: &str, hashes: &[TextHash]) -> Result<Vec<Option<Vector>>, StoreError> {
        cache::vectors(&self.lock(), model, hashes)
    }

    /// As [`Cache::put_vectors`](crate::Cache::put_vectors).
    ///
    /// # Errors
    ///
    /// Errors of the cache file.
    pub fn put_vectors(&self, model: &str, vectors: &[(TextHash, Vector)]) -> Result<(), StoreError> {
        self.write(|connection| cache::put_vectors(connection, model, vectors))
    }

    /// As [`Cache::notes`](crate::Cache::notes).
    ///
    /// # Errors
    ///
    /// Errors of the cache file.
    pub fn notes(&self, keys: &[TextHash]) -> Result<Vec<Option<String>>, StoreError> {
        cache::notes(&self.lock(), keys)
    }

    /// As [`Cache::put_notes`](crate::Cache::put_notes).
    ///
    /// # Errors
    ///
    /// Errors of the cache file.
    pub fn put_notes(&self, notes: &[(TextHash, String)]) -> Result<(), StoreError> {
        self.write(|connection| cache::put_notes(connection, notes))
    }

    /// The contents of the cache; `used` are the vectors that chunks need.
    ///
    /// # Errors
    ///
    /// Errors of the cache file.
    pub fn usage(&self, used: &Used) -> Result<Vec<CacheUsage>, StoreError> {
        let connection = self.lock();
        let mut usage: Vec<CacheUsage> = Vec::new();
        for (_, model, hash, bytes) in entries(&connection)? {
            if usage.last().is_none_or(|last| last.model.as_ref() != Some(&model)) {
                usage.push(CacheUsage { model: Some(model.clone()), entries: 0, bytes: 0, used: 0 });
            }
            if let Some(last) = usage.last_mut() {
                last.entries += 1;
                last.bytes += bytes;
                last.used += usize::from(used.contains(&(model, hash)));
            }
        }
        usage.push(cache::notes_usage(&connection)?);
        Ok(usage)
    }

    /// Removes all notes, and the vectors that are not in `used`; returns the number of entries removed.
    ///
    /// # Errors
    ///
    /// Errors of the cache file.
    pub fn clear(&self, used: &Used) -> Result<usize, StoreError> {
        self.write(|connection| {
            let mut cleared = connection.execute("DELETE FROM notes", [])?;
            for (key, model, hash, _) in entries(connection)? {
                if !used.contains(&(model, hash)) {
                    cleared += connection.execute("DELETE FROM vectors WHERE key = ?1", params![key])?;
                }
            }
            cache::clear_codes(connection)?;
            Ok((cleared, Commit::Yes))
        })
    }
}

/// Key, model, hash of the text and length of the numbers in bytes of every vector, by model.
fn entries(connection: &Connection) -> Result<Vec<(i64, String, TextHash, u64)>, StoreError> {
    let mut statement = connection.prepare(
        "SELECT key, name, text_hash, 4 * dimension + coalesce(length(vectors.sparse) - 8, 0)
         FROM vectors JOIN models ON models.id = model ORDER BY name",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
