//! Rows by a key of 32 bits: by a symbol that they name, so that a condition on one looks at few rows, or by their ids.
//!
//! A search for a name asks for its symbol; comparing the symbols of every row took half of a search over 18,000 chunks.

use chunkwright::ChunkId;
use xxhash_rust::xxh3::xxh3_64;

use super::{Document, SearchIndex};
use crate::document::{DocumentKind, Origin};

/// Most unknown rows, beside a share of the known ones, that are looked at one by one before the keys of all are made again.
const UNKNOWN: usize = 1_024;
const SHARE: usize = 16;

/// Entries of a bucket, on average: one or two lines of a cache.
const BUCKET: usize = 8;

/// The rows that have a key: 8 bytes for each.
#[derive(Debug)]
pub(super) struct Keyed {
    /// Keys with rows, in order.
    entries: Vec<(u32, u32)>,
    /// Where the entries of each bucket begin. Keys, which are hashes, are in the bucket that their first bits number.
    buckets: Vec<u32>,
    /// Number of rows that are known; later ones may have any key.
    known: usize,
}

impl Keyed {
    /// The keys of `rows` rows.
    fn of(entries: impl Iterator<Item = (u32, u32)>, rows: usize) -> Self {
        let mut entries: Vec<_> = entries.collect();
        // Stable, so that the rows of a key stay in order.
        radsort::sort_by_key(&mut entries, |(key, _)| *key);
        entries.shrink_to_fit();
        let count = (entries.len() / BUCKET).max(1);
        let starts =
            |bucket: usize| entries.partition_point(|(key, _)| bucket_of(*key, count) < bucket) as u32;
        let buckets = (0..=count).map(starts).collect();
        Self { entries, buckets, known: rows }
    }

    /// Whether too many of `rows` rows are not known.
    pub(super) fn is_old(&self, rows: usize) -> bool {
        rows - self.known > UNKNOWN + self.known / SHARE
    }

    /// The rows, of `rows`, that may have a key: every one that does, and few others.
    pub(super) fn having(&self, key: u32, rows: usize) -> impl Iterator<Item = usize> {
        let bucket = bucket_of(key, self.buckets.len() - 1);
        let entries = &self.entries[self.buckets[bucket] as usize..self.buckets[bucket + 1] as usize];
        let first = entries.partition_point(|(known, _)| *known < key);
        let known = entries[first..].iter().take_while(move |(known, _)| *known == key);
        known.map(|(_, row)| *row as usize).chain(self.known..rows)
    }
}

impl SearchIndex {
    /// Rows by the hashes of their symbols.
    pub(super) fn by_symbol(&self) -> Keyed {
        let symbols = self.rows.iter().zip(0..).flat_map(|(row, at)| {
            let symbols = self.facts[row.facts as usize].symbols.split('\n');
            symbols.filter(|symbol| !symbol.is_empty()).map(move |symbol| (hash(symbol), at))
        });
        Keyed::of(symbols, self.rows.len())
    }

    /// The documents of chunks, in order; `None` for an id that is not here.
    pub fn origins(&self, ids: &[ChunkId]) -> Vec<Option<Origin>> {
        let origin = |row: usize| {
            let row = &self.rows[row];
            let facts = &self.facts[row.facts as usize];
            let kind = DocumentKind::of_chunk(facts.language.as_deref(), &facts.content_type);
            Origin { doc_id: self.documents[row.document as usize].doc_id.clone(), kind }
        };
        self.rows_of(ids).map(|row| row.map(origin)).collect()
    }

    /// The versions of the documents of chunks and their numbers in them, in order; `None` for an id that is not here.
    pub(crate) fn places(&self, ids: &[ChunkId]) -> Vec<Option<(i64, u32)>> {
        self.rows_of(ids).map(|row| row.map(|row| self.place(row))).collect()
    }

    /// The version of the document of a row and the row's number in it.
    pub(super) fn place(&self, row: usize) -> (i64, u32) {
        let Document { version, rows, .. } = &self.documents[self.rows[row].document as usize];
        (*version, row as u32 - rows.start)
    }

    /// The live rows of chunks.
    pub(super) fn rows_of<'a>(&'a self, ids: &'a [ChunkId]) -> impl Iterator<Item = Option<usize>> {
        let rows = self.rows.len();
        let by_id = || Keyed::of(self.rows.iter().zip(0..).map(|(row, at)| (start(row.id), at)), rows);
        let keyed = self.ids.get_or_init(by_id);
        ids.iter().map(move |id| {
            let is_here = |row: &usize| self.rows[*row].id == *id && self.live_rows.rows().has(*row);
            keyed.having(start(*id), rows).find(is_here)
        })
    }
}

/// The bucket of a key, of `count` buckets.
fn bucket_of(key: u32, count: usize) -> usize {
    ((u64::from(key) * count as u64) >> u32::BITS) as usize
}

pub(super) fn hash(symbol: &str) -> u32 {
    xxh3_64(symbol.as_bytes()) as u32
}

/// The first bytes of an id, which is a hash.
fn start(ChunkId([a, b, c, d, ..]): ChunkId) -> u32 {
    u32::from_be_bytes([a, b, c, d])
}
