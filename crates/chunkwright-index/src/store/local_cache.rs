//! A cache in a file of its own, for stores that are elsewhere: what was expensive stays on this machine,
//! whatever becomes of a server, and is not fetched over a network to be compared.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, params};

use super::sqlite::{Commit, cache, create_folder, set_up};
use super::{Access, CacheUsage, StoreError, TextHash, Vector};

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

/// Vectors that some chunk needs: by the name of their model and the hash of their text.
pub(super) type Used = HashSet<(String, TextHash)>;

/// Vectors and notes in one file. Any number of processes may have it open.
#[derive(Debug)]
pub(super) struct SqliteCache {
    connection: Mutex<Connection>,
}

impl SqliteCache {
    /// Name of the file in its folder.
    const FILE: &str = "cache.sqlite3";

    /// Opens the cache in `folder`, which begins to exist with it when it is opened to write. To read, a cache
    /// that is not there is an empty one.
    pub(super) fn open(folder: &Path, access: Access) -> Result<Self, StoreError> {
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
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
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

    pub(super) fn vectors(
        &self,
        model: &str,
        hashes: &[TextHash],
    ) -> Result<Vec<Option<Vector>>, StoreError> {
        cache::vectors(&self.lock(), model, hashes)
    }

    pub(super) fn put_vectors(&self, model: &str, vectors: &[(TextHash, Vector)]) -> Result<(), StoreError> {
        self.write(|connection| cache::put_vectors(connection, model, vectors))
    }

    pub(super) fn notes(&self, keys: &[TextHash]) -> Result<Vec<Option<String>>, StoreError> {
        cache::notes(&self.lock(), keys)
    }

    pub(super) fn put_notes(&self, notes: &[(TextHash, String)]) -> Result<(), StoreError> {
        self.write(|connection| cache::put_notes(connection, notes))
    }

    /// What is remembered, where `used` is what chunks need.
    pub(super) fn usage(&self, used: &Used) -> Result<Vec<CacheUsage>, StoreError> {
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

    /// Forgets notes, and vectors that are not in `used`.
    pub(super) fn clear(&self, used: &Used) -> Result<usize, StoreError> {
        self.write(|connection| {
            let mut cleared = connection.execute("DELETE FROM notes", [])?;
            for (key, model, hash, _) in entries(connection)? {
                if !used.contains(&(model, hash)) {
                    cleared += connection.execute("DELETE FROM vectors WHERE key = ?1", params![key])?;
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_is_older_than_sparse_vectors_keeps_its_own_and_takes_both() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = Connection::open(folder.path().join(SqliteCache::FILE)).expect("a file");
        old.execute_batch(
            "CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL);
             CREATE TABLE vectors (key INTEGER PRIMARY KEY, model INTEGER NOT NULL, text_hash BLOB NOT NULL,
                 vector BLOB NOT NULL, UNIQUE (model, text_hash));
             INSERT INTO models VALUES (1, 'm', 2);",
        )
        .expect("its tables");
        let stored = cache::bytes(&[1.0, 2.0]);
        let statement = "INSERT INTO vectors VALUES (1, 1, ?1, ?2)";
        old.execute(statement, params![[1_u8; 16], stored]).expect("its vector");
        drop(old);
        for _ in 0..2 {
            let cache = SqliteCache::open(folder.path(), Access::Write).expect("a cache");
            let known = cache.vectors("m", &[[1; 16]]).expect("vectors");
            assert_eq!(known, [Some(vec![1.0, 2.0].into())]);
            let both = Vector { dense: vec![1.0, 2.0], sparse: Some(vec![(7, 0.5)]) };
            cache.put_vectors("n", &[([1; 16], both.clone())]).expect("a vector");
            assert_eq!(cache.vectors("n", &[[1; 16]]).expect("vectors"), [Some(both)]);
        }
    }
}
