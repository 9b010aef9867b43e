//! The operations that a server must provide, and their arguments.

use std::fmt;

use chunkwright::{ChunkId, Record};
use serde_json::Value;

use crate::entry::{Entry, Kind};
use chunkwright_models::TextHash;
use chunkwright_store::bm25::TermCounts;
use chunkwright_store::bm25::TermId;
use chunkwright_store::filter::record_symbols;
use chunkwright_store::{DocumentInfo, Filter, Generation, GenerationSpec, NewChunk, StoreError, Vector};

/// A server that stores entries and points. Every method is idempotent.
pub(crate) trait Database: Send + Sync + fmt::Debug {
    /// Runs `work` as one transaction that locks these collections, and the list of collections for an empty name, where
    /// the server has transactions. What the calling thread asks meanwhile is part of it. `work` may be called several
    /// times, each from the start.
    fn transaction(
        &self,
        _collections: &[&str],
        work: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        work()
    }

    /// The entries with these keys, in order; `None` for a missing one.
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>, StoreError>;

    /// The values of all entries of a kind and owner.
    fn list(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError>;

    /// The keys of all entries of a kind and owner.
    fn keys(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError>;

    /// Writes entries, each atomically, replacing those with their keys.
    fn put(&self, entries: &[Entry]) -> Result<(), StoreError>;

    /// Removes the entries with these keys, if they exist.
    fn forget(&self, keys: &[String]) -> Result<(), StoreError>;

    /// The names that a generation uses on the server, which must not belong to another collection.
    fn names(&self, generation: &Generation) -> Vec<String>;

    /// Checks that no other program has one of these names, before anything is created.
    fn check_free(&self, _generation: &Generation) -> Result<(), StoreError> {
        Ok(())
    }

    /// Creates what holds the generation's points, unless it exists.
    fn create_points(&self, generation: &Generation) -> Result<(), StoreError>;

    /// Removes the generation's points and what holds them.
    fn drop_points(&self, generation: &Generation) -> Result<(), StoreError>;

    /// Generations on the server that are not in `known`: leftovers of an interrupted creation or removal. Their
    /// specification is unknown.
    fn left(&self, known: &[&Generation]) -> Result<Vec<Generation>, StoreError>;

    /// Builds what makes searches of a complete generation fast, unless it is there. What is written before is
    /// written faster without.
    fn prepare(&self, _generation: &Generation) -> Result<(), StoreError> {
        Ok(())
    }

    /// Publishes the generation to other clients of the server under its collection's name, where the server has
    /// aliases.
    fn publish(&self, _generation: &Generation) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns whether other clients see this generation, where the server has aliases.
    fn is_published(&self, _generation: &Generation) -> Result<bool, StoreError> {
        Ok(true)
    }

    /// Undoes [`publish`](Self::publish).
    fn withdraw(&self, _collection: &str) -> Result<(), StoreError> {
        Ok(())
    }

    /// Makes the generation readable by the name that it is kept under, before its collection gets another name.
    fn hide(&self, _generation: &Generation) -> Result<(), StoreError> {
        Ok(())
    }

    /// Writes the name of a renamed collection into the points of a generation, where they carry it.
    fn relabel(&self, _generation: &Generation) -> Result<(), StoreError> {
        Ok(())
    }

    /// The specification of a collection that another program made; `None` if there is no such collection.
    fn foreign(&self, _collection: &str) -> Result<Option<GenerationSpec>, StoreError> {
        Ok(None)
    }

    /// Writes points.
    fn upsert(&self, generation: &Generation, points: &[Written<'_>]) -> Result<(), StoreError>;

    /// Removes all points of these versions.
    fn delete(&self, generation: &Generation, versions: &[i64]) -> Result<(), StoreError>;

    /// Points with their records; with vectors if `part` requests them.
    fn points(&self, generation: &Generation, which: Which<'_>, part: Part)
    -> Result<Vec<Point>, StoreError>;

    /// The marks of points: what identifies them, without their content.
    fn marks(&self, generation: &Generation, which: Which<'_>) -> Result<Vec<Mark>, StoreError>;

    /// The `limit` points with the greatest dot product with `query`, best first, among those that the server accepts
    /// by `filter`. These may be more than pass it, where the server cannot decide it.
    fn dense(
        &self,
        generation: &Generation,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, StoreError>;

    /// The `limit` points with the greatest dot product with the sparse vector `query`, as [`dense`](Self::dense);
    /// `None` if the server does not compare sparse vectors.
    fn sparse(
        &self,
        _generation: &Generation,
        _query: &[(u32, f32)],
        _filter: &Filter,
        _limit: usize,
    ) -> Result<Option<Vec<Found>>, StoreError> {
        Ok(None)
    }

    /// The `limit` points that BM25 ranks first, as [`dense`](Self::dense); `None` if the server has no lexical
    /// ranking.
    fn lexical(
        &self,
        _generation: &Generation,
        _terms: &[(TermId, f32)],
        _filter: &Filter,
        _limit: usize,
    ) -> Result<Option<Vec<Found>>, StoreError> {
        Ok(None)
    }
}

/// A selection of points.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which<'a> {
    All,
    Versions(&'a [i64]),
    Chunks(&'a [ChunkId]),
    /// Those of a document, in all versions.
    Document(&'a str),
    /// Those of a version in these places.
    Places(i64, (u32, u32)),
}

impl Which<'_> {
    /// Returns whether the selection is empty.
    pub(crate) fn is_empty(self) -> bool {
        match self {
            Self::Versions(versions) => versions.is_empty(),
            Self::Chunks(ids) => ids.is_empty(),
            Self::All | Self::Document(_) => false,
            Self::Places(_, (from, to)) => from >= to,
        }
    }
}

/// The part of points that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    WithoutVectors,
    Whole,
}

/// A chunk as a server keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// Version of its document.
    pub(crate) version: i64,
    /// Its place in its document, where summaries follow the chunks.
    pub(crate) place: u32,
    pub(crate) id: ChunkId,
    pub(crate) text_hash: TextHash,
    pub(crate) terms: TermCounts,
    pub(crate) enabled: bool,
    /// Whether it has a vector, which need not have been read.
    pub(crate) embedded: bool,
    pub(crate) vector: Option<Vec<f32>>,
    /// Its sparse vector, if it was read; empty for none.
    pub(crate) sparse: Vec<(u32, f32)>,
    pub(crate) record: Record,
}

impl Point {
    pub(crate) fn new(chunk: &NewChunk, place: usize, version: i64, vector: Option<Vector>) -> Self {
        let (dense, sparse) = vector.map(|vector| (vector.dense, vector.sparse)).unzip();
        Self {
            version,
            place: place as u32,
            id: chunk.id(),
            text_hash: chunk.text_hash,
            terms: chunk.terms.clone(),
            enabled: chunk.enabled,
            embedded: dense.is_some(),
            vector: dense,
            sparse: sparse.flatten().unwrap_or_default(),
            record: chunk.record.clone(),
        }
    }

    /// By [`record_symbols`].
    pub(crate) fn symbols(&self) -> String {
        record_symbols(&self.record)
    }
}

/// A point to be written, and its document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'a> {
    pub(crate) point: &'a Point,
    pub(crate) info: &'a DocumentInfo,
    pub(crate) doc_toc: &'a str,
}

/// What identifies a point.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) doc_id: String,
    pub(crate) version: i64,
    pub(crate) id: ChunkId,
    pub(crate) text_hash: TextHash,
}

/// A point that was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) doc_id: String,
    pub(crate) version: i64,
    pub(crate) id: ChunkId,
    pub(crate) score: f64,
    /// Read only if the server could not decide the filter.
    pub(crate) record: Option<Record>,
}

/// An id of 128 bits derived from `parts`, formatted as a UUID, so that writing the same thing twice stores it once.
pub(crate) fn point_id(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let text = hex(&hasher.finalize().as_bytes()[..16]);
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

/// The generation number at the end of the name of a server's collection, such as `notes-g3`.
pub(crate) fn numbered(name: &str) -> Option<i64> {
    name.rsplit_once("-g")?.1.parse().ok()
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Reads what [`hex`] wrote.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

/// The stored form of a point's record, the same on every server: without the text, which is stored separately.
impl Point {
    /// The record in its stored form.
    pub(crate) fn kept_record(&self) -> Result<Value, StoreError> {
        let mut record = serde_json::to_value(&self.record)
            .map_err(|error| StoreError::Unwritable { reason: error.to_string() })?;
        if let Value::Object(fields) = &mut record {
            fields.shift_remove("text");
        }
        Ok(record)
    }

    /// Restores a record from its stored form and its text.
    pub(crate) fn whole_record(mut kept: Value, text: &str) -> Result<Record, StoreError> {
        if let Value::Object(fields) = &mut kept {
            fields.insert("text".into(), text.into());
        }
        let mut record: Record = serde_json::from_value(kept)
            .map_err(|error| StoreError::Damaged { problem: format!("a chunk cannot be read: {error}") })?;
        // Older versions stored some parents that begin after their chunk. The document always contains the chunk.
        if record.holding_parent(usize::MAX).is_none() {
            record.parent.clone_from(&record.doc_id);
        }
        Ok(record)
    }
}
