//! Reads posting lists and vectors that are on disk, and keeps those that were read last in memory, up to a bound.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rusqlite::Connection;

use super::read::damaged;
use super::{cache, persist};
use crate::error::StoreError;
use crate::index::List;
use crate::index::disk::{Claim, Directory, Disk, DiskPart, DiskVector, Value as Posting, add_list};

/// Lists and vectors that were read last.
pub(super) struct DiskCache {
    read: Cache<Key, Value, Bytes>,
    /// Bytes of vectors that indexes hold whole, and the most of them.
    held: Arc<AtomicU64>,
    most_held: u64,
}

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Terms(ListKey),
    Tokens(ListKey),
    Vector(DiskVector),
}

/// A list as of a revision of the persisted index of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ListKey {
    generation: i64,
    revision: i64,
    key: u32,
}

#[derive(Clone)]
enum Value {
    Terms(Option<Arc<List<u8>>>),
    Tokens(Option<Arc<List<f32>>>),
    Vector(Arc<[f32]>),
}

#[derive(Clone)]
struct Bytes;

/// Approximate size of an entry without what is in it, and of one of those that there are most of, in bytes.
const ENTRY: u64 = 128;
const USUAL: u64 = 1_536;

impl Weighter<Key, Value> for Bytes {
    fn weight(&self, _: &Key, value: &Value) -> u64 {
        ENTRY
            + match value {
                Value::Terms(list) => list.as_ref().map_or(0, |list| list.size() as u64),
                Value::Tokens(list) => list.as_ref().map_or(0, |list| list.size() as u64),
                Value::Vector(vector) => size_of_val(&**vector) as u64,
            }
    }
}

impl DiskCache {
    /// An empty cache of at most so many bytes: half of them for what is read, half for indexes that hold all vectors.
    pub(super) fn of(bytes: u64) -> Self {
        let half = bytes / 2;
        let read = Cache::with_weighter((half / (ENTRY + USUAL)) as usize + 16, half, Bytes);
        Self { read, held: Arc::default(), most_held: half }
    }
}

impl fmt::Debug for DiskCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskCache").finish_non_exhaustive()
    }
}

/// What an index of a generation reads, in a snapshot.
pub(super) struct SqliteDisk<'a> {
    pub(super) connection: &'a Connection,
    pub(super) generation: i64,
    /// The revision of the persisted index, in the snapshot as in memory.
    pub(super) revision: i64,
    pub(super) cache: &'a DiskCache,
}

impl SqliteDisk<'_> {
    fn list<V: Posting>(
        &self,
        parts: &[DiskPart],
        directory: impl Fn(&DiskPart) -> &Directory,
        key: u32,
    ) -> Result<Option<Arc<List<V>>>, StoreError> {
        let mut list = List::default();
        for part in parts {
            let Some(id) = directory(part).block_of(key) else { continue };
            let block = persist::block(self.connection, id)?.unwrap_or_default();
            add_list(&block, key, part.first, &mut list).ok_or_else(|| damaged(UNREADABLE))?;
        }
        Ok(Some(list).filter(|list| !list.is_empty()).map(Arc::new))
    }

    fn key(&self, key: u32) -> ListKey {
        ListKey { generation: self.generation, revision: self.revision, key }
    }
}

/// The problem of a damaged or missing part or posting list.
pub(super) const UNREADABLE: &str = "a persisted search index cannot be read";

const VECTOR: &str = "SELECT vector FROM vectors WHERE key = ?1";

impl Disk for SqliteDisk<'_> {
    fn terms(&self, parts: &[DiskPart], term: u32) -> Result<Option<Arc<List<u8>>>, StoreError> {
        if parts.is_empty() {
            return Ok(None);
        }
        let read = || self.list(parts, |part| &part.terms, term).map(Value::Terms);
        match self.cache.read.get_or_insert_with(&Key::Terms(self.key(term)), read)? {
            Value::Terms(list) => Ok(list),
            Value::Tokens(_) | Value::Vector(_) => Ok(None),
        }
    }

    fn tokens(&self, parts: &[DiskPart], token: u32) -> Result<Option<Arc<List<f32>>>, StoreError> {
        if parts.is_empty() {
            return Ok(None);
        }
        let read = || self.list(parts, |part| &part.tokens, token).map(Value::Tokens);
        match self.cache.read.get_or_insert_with(&Key::Tokens(self.key(token)), read)? {
            Value::Tokens(list) => Ok(list),
            Value::Terms(_) | Value::Vector(_) => Ok(None),
        }
    }

    fn claim(&self, bytes: u64) -> Option<Claim> {
        Claim::of(bytes, &self.cache.held, self.cache.most_held)
    }

    fn all_vectors(
        &self,
        vectors: &[DiskVector],
        each: &mut dyn FnMut(usize, &[f32]),
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(VECTOR)?;
        let mut numbers = Vec::new();
        for (at, DiskVector { key, .. }) in vectors.iter().enumerate() {
            let mut found = statement.query([key])?;
            let Some(found) = found.next()? else { continue };
            numbers.clear();
            numbers.extend(cache::numbers(found.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?)?);
            each(at, &numbers);
        }
        Ok(())
    }

    fn vectors(&self, vectors: &[DiskVector], each: &mut dyn FnMut(usize, &[f32])) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(VECTOR)?;
        for (at, wanted) in vectors.iter().enumerate() {
            if let Some(Value::Vector(vector)) = self.cache.read.get(&Key::Vector(*wanted)) {
                each(at, &vector);
                continue;
            }
            let mut found = statement.query([wanted.key])?;
            let found = found.next()?.ok_or_else(|| damaged("a chunk has a vector that is gone"))?;
            let bytes = found.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            let vector: Arc<[f32]> = cache::numbers(bytes)?.collect();
            each(at, &vector);
            self.cache.read.insert(Key::Vector(*wanted), Value::Vector(vector));
        }
        Ok(())
    }
}
