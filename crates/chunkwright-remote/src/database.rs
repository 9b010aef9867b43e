//! What a server must be able to do, and what it is given.

use std::fmt;

use chunkwright::{ChunkId, Record};
use serde_json::Value;

use crate::entry::{Entry, Kind};
use chunkwright_models::TextHash;
use chunkwright_store::bm25::TermCounts;
use chunkwright_store::bm25::TermId;
use chunkwright_store::filter::record_symbols;
use chunkwright_store::{DocumentInfo, Filter, Generation, GenerationSpec, NewChunk, StoreError, Vector};

/// A server that keeps entries and points. Every method may be repeated.
pub(crate) trait Database: Send + Sync + fmt::Debug {
    /// The entries with these keys, in order; none where there is none.
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>, StoreError>;

    /// The values of all entries of a kind and owner.
    fn list(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError>;

    /// The keys of all entries of a kind and owner.
    fn keys(&self, kind: Kind, owner: &str) -> Result<Vec<String>, StoreError>;

    /// Puts entries, each as a whole, in place of those with their keys.
    fn put(&self, entries: &[Entry]) -> Result<(), StoreError>;

    /// Removes the entries with these keys, where there are.
    fn forget(&self, keys: &[String]) -> Result<(), StoreError>;

    /// The names that a generation takes on the server, none of which another collection may have.
    fn names(&self, generation: &Generation) -> Vec<String>;

    /// Sees to it that the generation can be given points.
    fn create_points(&self, generation: &Generation) -> Result<(), StoreError>;

    /// Removes the generation's points and what holds them.
    fn drop_points(&self, generation: &Generation) -> Result<(), StoreError>;

    /// Generations that there is room for and that `known` does not name: what is left of one whose making or
    /// removal was stopped. Of their specification nothing is known.
    fn left(&self, known: &[&Generation]) -> Result<Vec<Generation>, StoreError>;

    /// Shows other readers of the server the generation under its collection's name, where names can point.
    fn publish(&self, _generation: &Generation) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether other readers are shown this generation, where names can point.
    fn is_published(&self, _generation: &Generation) -> Result<bool, StoreError> {
        Ok(true)
    }

    /// Takes back [`publish`](Self::publish).
    fn withdraw(&self, _collection: &str) -> Result<(), StoreError> {
        Ok(())
    }

    /// What a collection holds that another program made; none if there is no such collection.
    fn foreign(&self, _collection: &str) -> Result<Option<GenerationSpec>, StoreError> {
        Ok(None)
    }

    /// Puts points.
    fn upsert(&self, generation: &Generation, points: &[Written<'_>]) -> Result<(), StoreError>;

    /// Removes all points of these versions.
    fn delete(&self, generation: &Generation, versions: &[i64]) -> Result<(), StoreError>;

    /// Points, whole; their vectors where asked for.
    fn points(&self, generation: &Generation, which: Which<'_>, part: Part)
    -> Result<Vec<Point>, StoreError>;

    /// What points are of, without what they hold.
    fn marks(&self, generation: &Generation, which: Which<'_>) -> Result<Vec<Mark>, StoreError>;

    /// The `limit` points with the greatest dot product with `query`, best first, of those that the server
    /// lets pass by `filter`: more than pass it, where the server cannot decide it.
    fn dense(
        &self,
        generation: &Generation,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, StoreError>;

    /// The `limit` points with the greatest dot product with the sparse vector `query`, as
    /// [`dense`](Self::dense); none if the server does not compare such.
    fn sparse(
        &self,
        _generation: &Generation,
        _query: &[(u32, f32)],
        _filter: &Filter,
        _limit: usize,
    ) -> Result<Option<Vec<Found>>, StoreError> {
        Ok(None)
    }

    /// The `limit` points that BM25 ranks first, as [`dense`](Self::dense); none if the server does not rank
    /// by words.
    fn lexical(
        &self,
        _generation: &Generation,
        _terms: &[TermId],
        _filter: &Filter,
        _limit: usize,
    ) -> Result<Option<Vec<Found>>, StoreError> {
        Ok(None)
    }
}

/// Which points are meant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which<'a> {
    All,
    Versions(&'a [i64]),
    Chunks(&'a [ChunkId]),
    /// Of a document, all versions.
    Document(&'a str),
    /// Of a version, those in these places.
    Places(i64, (u32, u32)),
}

impl Which<'_> {
    /// Whether none are.
    pub(crate) fn is_empty(self) -> bool {
        match self {
            Self::Versions(versions) => versions.is_empty(),
            Self::Chunks(ids) => ids.is_empty(),
            Self::All | Self::Document(_) => false,
            Self::Places(_, (from, to)) => from >= to,
        }
    }
}

/// How much of points is read.
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
    /// Its place among what was stored of its document, summaries behind chunks.
    pub(crate) place: u32,
    pub(crate) id: ChunkId,
    pub(crate) text_hash: TextHash,
    pub(crate) terms: TermCounts,
    pub(crate) enabled: bool,
    /// Whether it has a vector, which need not have been read.
    pub(crate) embedded: bool,
    pub(crate) vector: Option<Vec<f32>>,
    /// Its sparse vector, as far as it was read; empty for none.
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

/// A point to be put, and its document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'a> {
    pub(crate) point: &'a Point,
    pub(crate) info: &'a DocumentInfo,
    pub(crate) doc_toc: &'a str,
}

/// What a point is of.
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
    /// Where the server could not decide the filter.
    pub(crate) record: Option<Record>,
}

/// An id of 128 bits for what `parts` name, as UUIDs are written: what is put twice is there once.
pub(crate) fn point_id(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let text = hex(&hasher.finalize().as_bytes()[..16]);
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

/// The number of the generation that `name` ends with, as servers' collections are called: `notes-g3`.
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

/// What every server keeps of a point as it is: its record without the text, which stands apart.
impl Point {
    /// The record to be kept.
    pub(crate) fn kept_record(&self) -> Result<Value, StoreError> {
        let mut record = serde_json::to_value(&self.record)
            .map_err(|error| StoreError::Unwritable { reason: error.to_string() })?;
        if let Value::Object(fields) = &mut record {
            fields.shift_remove("text");
        }
        Ok(record)
    }

    /// The record that was kept, and its text.
    pub(crate) fn whole_record(mut kept: Value, text: &str) -> Result<Record, StoreError> {
        if let Value::Object(fields) = &mut kept {
            fields.insert("text".into(), text.into());
        }
        let mut record: Record = serde_json::from_value(kept)
            .map_err(|error| StoreError::Damaged { problem: format!("a chunk cannot be read: {error}") })?;
        // Older programs stored some parents that begin after their chunk. The document always holds it.
        if record.holding_parent(usize::MAX).is_none() {
            record.parent.clone_from(&record.doc_id);
        }
        Ok(record)
    }
}
