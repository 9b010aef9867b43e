//! Posting lists and vectors that stay on disk until a search needs them.
//!
//! Rows are persisted in parts, each with posting lists of its own. Lists stand in blocks in the order of their keys, and a
//! directory has the first key of each block, so that one block is read for each part to find a term.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::postings::List;
pub use super::postings::Value;
use crate::bm25::{put, take};
use crate::error::StoreError;

/// What an index reads from.
pub trait Disk {
    /// The postings of a term in the index's persisted rows.
    ///
    /// # Errors
    ///
    /// Errors of reading.
    fn terms(&self, parts: &[DiskPart], term: u32) -> Result<Option<Arc<List<u8>>>, StoreError>;

    /// The postings of a token of sparse vectors in the index's persisted rows.
    ///
    /// # Errors
    ///
    /// Errors of reading.
    fn tokens(&self, parts: &[DiskPart], token: u32) -> Result<Option<Arc<List<f32>>>, StoreError>;

    /// Calls `each` with every vector and its place in `vectors`.
    ///
    /// # Errors
    ///
    /// Errors of reading.
    fn vectors(&self, vectors: &[DiskVector], each: &mut dyn FnMut(usize, &[f32])) -> Result<(), StoreError>;

    /// As [`vectors`](Self::vectors), of vectors that are not read again. Those that are gone are left out.
    ///
    /// # Errors
    ///
    /// Errors of reading.
    fn all_vectors(
        &self,
        vectors: &[DiskVector],
        each: &mut dyn FnMut(usize, &[f32]),
    ) -> Result<(), StoreError>;

    /// Room for so many bytes of vectors, if there is.
    fn claim(&self, bytes: u64) -> Option<Claim>;
}

/// A vector on disk. A key may be used again once no chunk has it, but never in the same version of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DiskVector {
    pub(crate) key: i64,
    pub(crate) version: i64,
}

/// Room for vectors in memory, which is given back when this is dropped.
#[derive(Debug)]
pub struct Claim {
    bytes: u64,
    used: Arc<AtomicU64>,
}

impl Claim {
    /// Claims so many bytes of `most`, of which `used` are claimed; `None` if there are too few.
    pub(crate) fn of(bytes: u64, used: &Arc<AtomicU64>, most: u64) -> Option<Self> {
        let sum = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= most);
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).ok()?;
        Some(Self { bytes, used: Arc::clone(used) })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The source of an index that has everything in memory.
pub struct NoDisk;

impl Disk for NoDisk {
    fn terms(&self, _: &[DiskPart], _: u32) -> Result<Option<Arc<List<u8>>>, StoreError> {
        Ok(None)
    }

    fn tokens(&self, _: &[DiskPart], _: u32) -> Result<Option<Arc<List<f32>>>, StoreError> {
        Ok(None)
    }

    fn vectors(&self, _: &[DiskVector], _: &mut dyn FnMut(usize, &[f32])) -> Result<(), StoreError> {
        Ok(())
    }

    fn all_vectors(&self, _: &[DiskVector], _: &mut dyn FnMut(usize, &[f32])) -> Result<(), StoreError> {
        Ok(())
    }

    fn claim(&self, _: u64) -> Option<Claim> {
        None
    }
}

/// Rows whose posting lists are on disk.
#[derive(Clone, Debug)]
pub struct DiskPart {
    /// The number of its first row in the index.
    pub(crate) first: u32,
    pub(crate) terms: Directory,
    pub(crate) tokens: Directory,
}

/// Where the lists of a part are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    /// The number of the first block; those after it follow.
    pub(crate) block: i64,
    /// The first key of each block.
    pub(crate) firsts: Vec<u32>,
}

impl Directory {
    /// The block that has the list of a key, if any has.
    pub(crate) fn block_of(&self, key: u32) -> Option<i64> {
        let after = self.firsts.partition_point(|first| *first <= key);
        self.block.checked_add_unsigned(after.checked_sub(1)? as u64)
    }

    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.block as u64);
        put(bytes, self.firsts.len() as u64);
        bytes.extend(self.firsts.iter().flat_map(|first| first.to_le_bytes()));
    }

    /// Takes what [`encode`](Self::encode) wrote; `None` if it is not that.
    pub(crate) fn take(bytes: &mut &[u8]) -> Option<Self> {
        let block = i64::try_from(take(bytes)?).ok()?;
        let length = usize::try_from(take(bytes)?).ok()?;
        let (firsts, rest) = bytes.split_at_checked(length.checked_mul(4)?)?;
        *bytes = rest;
        Some(Self {
            block,
            firsts: firsts.as_chunks().0.iter().map(|first| u32::from_le_bytes(*first)).collect(),
        })
    }
}

/// Bytes of a block's lists from which on another block begins. A block fits a page, unless a list alone does not.
const BLOCK: usize = 12_000;

/// Posting lists as blocks, each with its checksum, and the first key of each.
pub(crate) fn blocks<V: Value>(lists: &[(u32, &List<V>)]) -> Vec<(u32, Vec<u8>)> {
    let mut blocks = Vec::new();
    let (mut keys, mut starts, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (key, list)) in lists.iter().enumerate() {
        keys.push(*key);
        starts.push(bytes.len() as u32);
        list.encode(&mut bytes);
        if bytes.len() + 8 * keys.len() < BLOCK && at + 1 < lists.len() {
            continue;
        }
        let mut block = Vec::with_capacity(bytes.len() + 8 * keys.len() + 4);
        block.extend((keys.len() as u32).to_le_bytes());
        block.extend(keys.iter().chain(&starts).flat_map(|number| number.to_le_bytes()));
        block.append(&mut bytes);
        blocks.push((keys[0], sealed(block)));
        (keys, starts) = (Vec::new(), Vec::new());
    }
    blocks
}

/// Adds the postings of `key` in a block to `list`, by rows from `first` on; `None` if it is no block.
pub(crate) fn add_list<V: Value>(block: &[u8], key: u32, first: u32, list: &mut List<V>) -> Option<()> {
    let block = unsealed(block)?;
    let (length, rest) = block.split_first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    let (keys, rest) = rest.split_at_checked(4 * length)?;
    let (starts, lists) = rest.split_at_checked(4 * length)?;
    let keys = keys.as_chunks().0;
    let Ok(at) = keys.binary_search_by_key(&key, |key| u32::from_le_bytes(*key)) else { return Some(()) };
    let start = u32::from_le_bytes(*starts.as_chunks().0.get(at)?) as usize;
    list.decode(lists.get(start..)?, first)
}

/// Bytes with their checksum before them.
pub(crate) fn sealed(bytes: Vec<u8>) -> Vec<u8> {
    let mut sealed = xxh3_64(&bytes).to_le_bytes().to_vec();
    sealed.extend(bytes);
    sealed
}

/// What [`sealed`] had; `None` if its checksum is another.
pub(crate) fn unsealed(bytes: &[u8]) -> Option<&[u8]> {
    let (sum, rest) = bytes.split_first_chunk()?;
    Some(rest).filter(|rest| xxh3_64(rest).to_le_bytes() == *sum)
}
