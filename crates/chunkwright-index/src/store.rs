//! Stores: what every one of them promises, and the types they speak.

mod error;
mod filter;
mod memory;
mod rank;
mod sqlite;

use std::path::Path;
use std::sync::Arc;

use chunkwright::{ChunkId, Record};
use chunkwright_models::{TextHash, text_hash};
use serde::{Deserialize, Serialize};

pub use error::StoreError;
pub use filter::Filter;
pub use memory::MemoryStore;
pub use sqlite::SqliteStore;

use crate::analysis;
use crate::format::file_hash;

pub(crate) use error::check_vector;
use error::{check_name, unknown_collection};

/// Keeps the documents, chunks, vectors and words of collections.
///
/// Guarantees of every store, tested by one suite over [`STORES`]:
///
/// * [`write`](Self::write) is atomic and durable: all of its changes or none, and once it has
///   returned they outlive the process and, for a store on disk, the machine's power;
/// * a reader sees exactly one version of a document, whole;
/// * equal scores are ordered by chunk id, so that equal queries have equal answers.
///
/// # Errors
///
/// Every method fails if the storage engine does. All but [`write`](Self::write),
/// [`set_model`](Self::set_model) and [`drop_collection`](Self::drop_collection) fail if the collection
/// does not exist.
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, above")]
pub trait Store: Send + Sync {
    /// All collections, by name.
    fn collections(&self) -> Result<Vec<Collection>, StoreError>;

    /// Makes `changes` to the collection, which begins to exist with its first write; answers what
    /// became of each, in order.
    fn write(&self, collection: &str, changes: &[Change]) -> Result<Vec<Outcome>, StoreError>;

    /// The model of the collection's vectors; none until [`set_model`](Self::set_model).
    fn model(&self, collection: &str) -> Result<Option<Model>, StoreError>;

    /// Says which model's vectors the collection holds, on its first use; later only the same is taken.
    fn set_model(&self, collection: &str, model: &Model) -> Result<(), StoreError>;

    /// Removes the collection and everything in it. Removing what does not exist is no error.
    fn drop_collection(&self, collection: &str) -> Result<(), StoreError>;

    /// All documents, by id.
    fn documents(&self, collection: &str) -> Result<Vec<DocumentInfo>, StoreError>;

    /// One document with its source.
    fn document(&self, collection: &str, doc_id: &str) -> Result<Option<StoredDocument>, StoreError>;

    /// The records of a document's chunks, in order. Empty if there is no such document.
    fn records(&self, collection: &str, doc_id: &str) -> Result<Vec<Record>, StoreError>;

    /// One chunk.
    fn chunk(&self, collection: &str, id: ChunkId) -> Result<Option<StoredChunk>, StoreError>;

    /// The vectors of `hashes` by `model`, in order, where they are known.
    fn vectors(&self, model: &str, hashes: &[TextHash]) -> Result<Vec<Option<Vec<f32>>>, StoreError>;

    /// Remembers vectors by `model`. They belong to texts, not to chunks, and outlive both.
    fn put_vectors(&self, model: &str, vectors: &[(TextHash, Vec<f32>)]) -> Result<(), StoreError>;

    /// The `limit` chunks with the greatest dot product with `query`, best first.
    fn dense(
        &self,
        collection: &str,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError>;

    /// The `limit` chunks that BM25 ranks first for `terms` (see [`analysis`]), best first.
    fn lexical(
        &self,
        collection: &str,
        terms: &[String],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError>;

    /// Looks for damage: the storage engine's own checks, chunks without documents, words without
    /// chunks, chunks without words.
    fn check(&self) -> Result<CheckReport, StoreError>;

    /// Removes vectors of texts that no chunk has; answers how many.
    fn collect_garbage(&self) -> Result<usize, StoreError>;
}

/// A kind of store, for help texts and for the tests that run over all of them.
#[derive(Clone, Copy, Debug)]
pub struct StoreKind {
    /// The name that configuration uses.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub summary: &'static str,
    /// Opens a store in the folder given, which need not exist when access is to write.
    pub open: OpenStore,
}

/// Opens a store.
pub type OpenStore = fn(&Path, Access) -> Result<Arc<dyn Store>, StoreError>;

/// All kinds of stores.
pub static STORES: &[StoreKind] = &[
    StoreKind {
        name: "sqlite",
        summary: "one folder on disk, nothing to run; the default",
        open: |path, access| Ok(Arc::new(SqliteStore::open(path, access)?)),
    },
    StoreKind {
        name: "memory",
        summary: "gone with the process; for trying things out and for tests",
        open: |_, _| Ok(Arc::new(MemoryStore::default())),
    },
];

/// What a store is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read; any number of processes at once, beside one that writes.
    Read,
    /// To read and write; one process at a time.
    Write,
}

/// A set of documents that are searched together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// Its name.
    pub name: String,
    /// The model of its vectors; none until it was indexed with an embedder.
    pub model: Option<Model>,
    /// Number of documents, empty ones included.
    pub documents: usize,
    /// Number of chunks.
    pub chunks: usize,
    /// Chunks without a vector although the collection has a model.
    pub pending: usize,
    /// Raised by every write that changed the collection.
    pub change: u64,
}

/// The model that made a collection's vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// Its name, which is different for whatever gives different vectors.
    pub name: String,
    /// Length of its vectors.
    pub dimension: usize,
}

/// A document as a store lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentInfo {
    /// Key in the collection.
    pub doc_id: String,
    /// Number of the stored version, greater than that of any version before it. 0 in a document that
    /// was not stored yet.
    pub version: i64,
    /// The folder that its id is relative to, absolute; part of no identity.
    pub root: String,
    /// BLAKE3 of the raw file, hex.
    pub file_hash: String,
    /// Length of the raw file, in bytes.
    pub bytes: u64,
    /// Hash of every setting that moves a boundary.
    pub config_hash: String,
    /// `<strategy>-v<major>.<minor>`.
    pub strategy_version: String,
    /// Name of the preset.
    pub preset: String,
    /// Name of the format's parser.
    pub format: String,
    /// Encoding of the raw file, by its name on the web.
    pub encoding: String,
    /// Whether the encoding is a guess from little text.
    pub low_confidence: bool,
    /// Number of malformed byte sequences that were replaced by U+FFFD.
    pub replacements: u32,
    /// Number of chunks; 0 for a document without a visible character.
    pub chunks: u32,
    /// Chunks without a vector although the collection has a model.
    pub pending: u32,
    /// When it was stored, ISO 8601.
    pub indexed_at: String,
}

impl DocumentInfo {
    /// Whether both were made of the same bytes in the same way, so that storing one in place of the
    /// other would change nothing.
    pub(crate) fn is_same_input(&self, other: &Self) -> bool {
        let input = |info: &Self| {
            [&info.file_hash, &info.config_hash, &info.format, &info.preset, &info.root].map(String::clone)
        };
        input(self) == input(other)
    }
}

/// A document with its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredDocument {
    /// What is known about it.
    pub info: DocumentInfo,
    /// The decoded text: what spans point into.
    pub source: String,
    /// The raw file, where it is not the same bytes as `source`.
    pub raw: Option<Vec<u8>>,
    /// The indented outline of the document, capped.
    pub doc_toc: String,
}

impl StoredDocument {
    /// The raw file.
    pub fn bytes(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or(self.source.as_bytes())
    }

    /// Whether the raw file is still the one that was stored.
    pub fn is_intact(&self) -> bool {
        file_hash(self.bytes()) == self.info.file_hash
    }
}

/// A chunk as a store keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredChunk {
    /// The chunk.
    pub record: Record,
    /// Outline of its document.
    pub doc_toc: String,
    /// Whether it has a vector of the collection's model.
    pub embedded: bool,
    /// Whether searches may find it.
    pub enabled: bool,
}

/// A document to be stored, whole.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// The document; `version`, `chunks` and `pending` of its `info` are set by the store.
    pub document: StoredDocument,
    /// The version that this one replaces, as listed when the file was read: 0 for none. If another
    /// writer was faster, the change is refused as [`Outcome::Stale`], so that an older reading of a
    /// file never replaces a newer one.
    pub base: i64,
    /// Its chunks, in order.
    pub chunks: Vec<NewChunk>,
}

/// A chunk to be stored.
#[derive(Clone, Debug)]
pub struct NewChunk {
    /// The chunk.
    pub record: Record,
    /// Key of its vector.
    pub text_hash: TextHash,
    /// Terms of its text, separated by spaces.
    pub terms: String,
}

impl NewChunk {
    /// Prepares `record` for storing: hashes and analyses its text.
    pub fn new(record: Record) -> Self {
        Self { text_hash: text_hash(&record.text), terms: analysis::terms(&record.text).join(" "), record }
    }
}

/// One change to a collection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Change {
    /// Stores a document in place of its version before, if any.
    Replace(Box<NewDocument>),
    /// Removes a document.
    Remove {
        /// The document.
        doc_id: String,
    },
    /// Lets searches find a chunk again.
    Enable(ChunkId),
    /// Hides a chunk from searches until it is enabled; holds for as long as its id lives, over
    /// replacements of its document.
    Disable(ChunkId),
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Made.
    Written,
    /// Nothing to do; nothing was written.
    Unchanged,
    /// Refused: another writer changed the document since it was listed.
    Stale,
}

/// A chunk and what a stage of the search gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// The chunk.
    pub id: ChunkId,
    /// Dot product, or BM25; greater is better.
    pub score: f64,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// Documents looked at.
    pub documents: usize,
    /// Chunks looked at.
    pub chunks: usize,
    /// Every finding, in one sentence each; empty for a sound store.
    pub problems: Vec<String>,
}
