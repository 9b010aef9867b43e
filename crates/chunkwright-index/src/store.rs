//! Stores: what every one of them promises, and the types they speak.

mod cache;
#[cfg(feature = "chroma")]
mod chroma;
mod collections;
mod columns;
mod documents;
#[cfg(feature = "double")]
mod double;
mod error;
pub mod filter;
mod generation;
mod index;
mod list;
#[cfg(any(feature = "chroma", feature = "qdrant"))]
mod local_cache;
mod memory;
mod metadata;
mod name;
mod overlay;
mod place;
#[cfg(feature = "qdrant")]
mod qdrant;
#[cfg(any(feature = "chroma", feature = "qdrant"))]
mod remote;
mod source;
#[cfg(feature = "sqlite")]
mod sqlite;
mod statistics;
mod vector;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use chunkwright::{ChunkId, Record};
use chunkwright_models::{TextHash, text_hash};
use serde::{Deserialize, Serialize};

pub use cache::{Cache, CacheUsage};
#[cfg(feature = "chroma")]
pub use chroma::{ChromaOptions, chroma_name};
pub use collections::{CollectionPlace, CollectionSort, CollectionsBehind, ListedCollections};
pub use documents::{DocumentsBehind, ListedDocuments};
pub use error::StoreError;
pub use filter::{Condition, Field, Filter, FilterError, Glob, GlobError};
pub use generation::{Collection, Generation, GenerationSpec, GenerationState, GenerationStatus, Model};
pub use list::{ChunkPage, Cursor, Direction, ListRequest, ListedChunk, MAX_PAGE, SortKey, Visibility};
pub use memory::MemoryStore;
pub use metadata::Metadata;
pub use name::normalized_name;
pub use overlay::{
    Applied, AppliedBoundary, LEAST_LEAD, LEAST_LIKENESS, OriginalText, Overlay, OverlayState, Overlays,
    SetBoundary,
};
pub(crate) use overlay::{Elsewhere, OverlaySearch, is_same_place, place_in, write_applied};
pub use place::StoreLocation;
#[cfg(feature = "qdrant")]
pub use qdrant::QdrantOptions;
#[cfg(any(feature = "chroma", feature = "qdrant"))]
pub use remote::RemoteStore;
pub use source::{SourceForm, SourcePart, SourceRange};
#[cfg(feature = "sqlite")]
pub use sqlite::{Damaged, SqliteStore};
pub use statistics::{
    ChunkPlace, MOST_RANGES, RepeatedText, RepeatedTexts, Statistics, StatisticsRequest, TOKEN_RANGES,
    TokenRange,
};
pub use vector::Vector;

use crate::bm25::{TermCounts, TermId};
use crate::report::PastRun;
use crate::verify::Unsound;
use chunkwright_source::format::file_hash;

use error::{check_model, no_collection, unknown_collection, unknown_generation};
use name::{checked_name, parse_name};
use vector::{check_sparse, check_vector};

/// Keeps collections: their generations, documents, chunks and vectors.
///
/// Guarantees of every store, tested by one suite over [`STORES`]:
///
/// * [`write`](Self::write) is atomic for each document and durable: a document has its old version or its
///   new one, whole, and once it has returned they outlive the process and, for a store on disk, the
///   machine's power;
/// * a reader sees exactly one version of a document, whole, and one generation of a collection;
/// * equal scores are ordered by chunk id, so that equal queries have equal answers.
///
/// # Errors
///
/// Every method fails if the storage engine does, or if the generation or collection does not exist.
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, above")]
pub trait Store: Send + Sync {
    /// A page of the collections whose name has a part. In the order of names it costs what it holds and the names that
    /// are passed over on the way.
    fn list_collections(&self, request: &CollectionsBehind<'_>) -> Result<ListedCollections, StoreError>;

    /// All collections, by name.
    fn collections(&self) -> Result<Vec<Collection>, StoreError> {
        Ok(self.list_collections(&CollectionsBehind::default())?.collections)
    }

    /// The collection of this name with its generations, without a look at any other; none if there is none. Here and below
    /// names are [normalized](normalized_name).
    fn collection(&self, name: &str) -> Result<Option<Collection>, StoreError>;

    /// The generation that searches see of every collection, by name, without a look at their documents.
    fn visible(&self) -> Result<Vec<Generation>, StoreError>;

    /// The generation that `name` means: the current one of the collection `name`, or number `N` of
    /// it if the name is `COLLECTION@N`; none if there is no such collection. Costs no more than a look, however many
    /// there are.
    fn lookup(&self, name: &str) -> Result<Option<Generation>, StoreError>;

    /// As [`lookup`](Self::lookup), of a collection that has to exist.
    fn open(&self, name: &str) -> Result<Generation, StoreError> {
        if let Some(found) = self.lookup(name)? {
            return Ok(found);
        }
        let known = self.visible()?;
        let names = known.iter().map(|generation| generation.collection.as_str());
        Err(unknown_collection(&parse_name(name).0, names))
    }

    /// The newest generation of the collection that `spec` describes and that can be searched; none where
    /// [`begin`](Self::begin) would begin one.
    fn find(&self, collection: &str, spec: &GenerationSpec) -> Result<Option<Generation>, StoreError>;

    /// The generation of the collection that `spec` describes: [found](Self::find), or begun now. A collection begins to
    /// exist with its first, which searches see from its beginning. Every one is
    /// [building](GenerationState::Building) until it is [switched](Self::switch) to.
    fn begin(&self, collection: &str, spec: &GenerationSpec) -> Result<Generation, StoreError>;

    /// Makes a generation the current one of its collection, atomically. The one before stays.
    fn switch(&self, generation: &Generation) -> Result<(), StoreError>;

    /// Whether the generation was ever [switched](Self::switch) to: that it had every document of one run at least.
    fn is_complete(&self, generation: &Generation) -> Result<bool, StoreError>;

    /// Removes a generation and everything in it. Removing what does not exist is no error; removing the
    /// current one removes the collection.
    fn remove(&self, generation: &Generation) -> Result<(), StoreError>;

    /// Makes `changes` and answers what became of each, in order. The whole of `changes` is one transaction
    /// where the engine has transactions.
    fn write(&self, generation: &Generation, changes: &[Change]) -> Result<Vec<Outcome>, StoreError>;

    /// All documents, by id.
    fn documents(&self, generation: &Generation) -> Result<Vec<DocumentInfo>, StoreError>;

    /// A page of the documents whose id matches a pattern, by id. It costs what it holds and what the pattern rejects on
    /// the way; its total, a pass over the ids after a change of the generation.
    fn list_documents(
        &self,
        generation: &Generation,
        request: &DocumentsBehind<'_>,
    ) -> Result<ListedDocuments, StoreError>;

    /// What is known about one document.
    fn document_info(
        &self,
        generation: &Generation,
        doc_id: &str,
    ) -> Result<Option<DocumentInfo>, StoreError>;

    /// One document with its source.
    fn document(&self, generation: &Generation, doc_id: &str) -> Result<Option<StoredDocument>, StoreError>;

    /// A part of the source of a version of a document, in memory of the size of the part; none where that version is not
    /// stored any more.
    fn source(
        &self,
        generation: &Generation,
        range: SourceRange<'_>,
    ) -> Result<Option<SourcePart>, StoreError>;

    /// The records of a document's chunks, in order. Empty if there is no such document.
    fn records(&self, generation: &Generation, doc_id: &str) -> Result<Vec<Record>, StoreError>;

    /// Chunks by id, in order; none where there is none. All are of one moment.
    fn chunks(
        &self,
        generation: &Generation,
        ids: &[ChunkId],
    ) -> Result<Vec<Option<StoredChunk>>, StoreError>;

    /// A page of the chunks that pass a filter, enabled or not, in an order. A page in the order of documents costs
    /// what it holds and what the filter rejects on the way; one in another order, a pass over the token counts and what
    /// else is kept in memory of every chunk. Other costs are the same for every page.
    fn list(&self, generation: &Generation, request: &ListRequest) -> Result<ChunkPage, StoreError>;

    /// Statistics of the chunks that pass a filter, enabled or not.
    fn statistics(
        &self,
        generation: &Generation,
        request: &StatisticsRequest,
    ) -> Result<Statistics, StoreError>;

    /// The `limit` chunks with the greatest dot product with `query`, best first.
    fn dense(
        &self,
        generation: &Generation,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError>;

    /// The `limit` chunks with the greatest dot product with the sparse vector `query`, best first: those that
    /// have a token of it. None where the generation's model gives no sparse vectors.
    fn sparse(
        &self,
        generation: &Generation,
        query: &[(u32, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError>;

    /// The `limit` chunks that BM25 ranks first for `terms` (see [`bm25`](crate::bm25)), best first.
    fn lexical(
        &self,
        generation: &Generation,
        terms: &[TermId],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError>;

    /// What was changed by hand in a collection, by chunk id.
    fn overlays(&self, collection: &str) -> Result<Overlays, StoreError>;

    /// Keeps what was changed by hand of chunks, in one commit where the store has such; an empty overlay takes
    /// what was changed back. Chunks are as they were until their document is written again.
    fn put_overlays(&self, collection: &str, overlays: &[Overlay]) -> Result<(), StoreError>;

    /// As [`put_overlays`](Self::put_overlays), of one chunk.
    fn put_overlay(&self, collection: &str, overlay: &Overlay) -> Result<(), StoreError> {
        self.put_overlays(collection, std::slice::from_ref(overlay))
    }

    /// The last runs that changed a collection, at most [`PastRun::KEPT`], newest first.
    fn runs(&self, collection: &str) -> Result<Vec<PastRun>, StoreError>;

    /// Remembers a run, under the next number; the oldest is forgotten where there are too many. A collection that does
    /// not exist remembers none.
    fn add_run(&self, collection: &str, run: &PastRun) -> Result<(), StoreError>;

    /// Whether what was opened is not what readers should see any more, because another file took its place: then the store
    /// is to be opened again.
    fn is_outdated(&self) -> bool {
        false
    }

    /// Lets other processes write until this one does so again: [`claim`](Self::claim) says when it may. Where writers are
    /// not kept apart by a lock, there is nothing to let go of.
    fn release(&self) {}

    /// Takes back what [`release`](Self::release) let go of, at once or not at all.
    fn claim(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Where vectors and notes are remembered.
    fn cache(&self) -> &dyn Cache;

    /// Proves what is stored: the storage engine's own checks, documents, records, texts, vectors and changes by
    /// hand, by [`verify`](crate::verify).
    fn check(&self) -> Result<CheckReport, StoreError> {
        self.check_documents_of(None)
    }

    /// As [`check`](Self::check), of the documents those of one collection only.
    fn check_documents_of(&self, collection: Option<&str>) -> Result<CheckReport, StoreError>;
}

/// A kind of store, for help texts and for the tests that run over all of them.
#[derive(Clone, Copy, Debug)]
pub struct StoreKind {
    /// The name that configuration uses.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub summary: &'static str,
    /// What addresses of such stores begin with, before `://`; none where a store is in a folder, or nowhere.
    pub schemes: &'static [&'static str],
    /// Opens a store at the place given. A folder need not exist when access is to write.
    pub open: OpenStore,
}

/// Opens a store.
pub type OpenStore = fn(&StoreLocation, Access) -> Result<Arc<dyn Store>, StoreError>;

/// All kinds of stores of this build: each but the one in memory is a feature.
pub static STORES: &[StoreKind] = &[
    #[cfg(feature = "sqlite")]
    StoreKind {
        name: "sqlite",
        summary: "a folder on disk, with no server to run; the default",
        schemes: &[],
        open: |place, access| Ok(Arc::new(SqliteStore::open(Path::new(&place.location), access)?)),
    },
    StoreKind {
        name: "memory",
        summary: "in memory, gone with the process; for experiments and tests",
        schemes: &[],
        open: |_, _| Ok(Arc::new(MemoryStore::default())),
    },
    #[cfg(feature = "qdrant")]
    StoreKind {
        name: "qdrant",
        summary: "a Qdrant server, which computes the lexical and the dense ranking",
        schemes: &["qdrant", "qdrant+https"],
        open: |place, access| Ok(Arc::new(RemoteStore::open_qdrant(place, access)?)),
    },
    #[cfg(feature = "chroma")]
    StoreKind {
        name: "chroma",
        summary: "a Chroma server, which computes the dense ranking; the lexical one is computed here",
        schemes: &["chroma", "chroma+https"],
        open: |place, access| Ok(Arc::new(RemoteStore::open_chroma(place, access)?)),
    },
];

/// Opens the store at `place`: of the kind that its scheme says, or in a folder.
///
/// # Errors
///
/// A scheme that no kind of store has, and what opening a store of that kind may fail by.
pub fn open_store(place: &StoreLocation, access: Access) -> Result<Arc<dyn Store>, StoreError> {
    let kind = match place.scheme() {
        None => STORES.iter().find(|kind| kind.name == "sqlite"),
        Some(scheme) => STORES.iter().find(|kind| kind.schemes.contains(&scheme)),
    };
    let kind = kind.ok_or_else(|| {
        let schemes: Vec<String> =
            STORES.iter().flat_map(|kind| kind.schemes).map(|scheme| format!("`{scheme}://HOST`")).collect();
        let folder = if cfg!(feature = "sqlite") { "a folder or " } else { "" };
        let reason = match &schemes[..] {
            [] if folder.is_empty() => {
                "this program is built without stores but the one in memory".to_owned()
            }
            [] => "it must be a folder".to_owned(),
            schemes => format!("it must be {folder}one of {}", schemes.join(", ")),
        };
        StoreError::Location { location: place.address().into(), reason }
    })?;
    (kind.open)(place, access)
}

/// What a store is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read; any number of processes at once, beside one that writes.
    Read,
    /// To read and write; one process at a time.
    Write,
}

/// A document as a store lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DocumentInfo {
    /// Key in the collection.
    pub doc_id: String,
    /// Number of the stored version, greater than that of any version before it. 0 in a document that
    /// was not stored yet.
    pub version: i64,
    /// The folder that its id is relative to, or the file where a single file was given; absolute, part of no
    /// identity.
    pub root: String,
    /// What stands before the path relative to `root` in its id; empty for nothing. Of a single file that was
    /// given, all of its id.
    #[serde(default)]
    pub prefix: String,
    /// BLAKE3 of the raw file, hex.
    pub file_hash: String,
    /// Length of the raw file, in bytes.
    pub bytes: u64,
    /// When the file was modified, in nanoseconds since 1970, where that and its length tell an unchanged
    /// file: 0 if it was modified so shortly before it was read that they do not.
    pub modified: i64,
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
    /// Chunks without a vector although the generation has a model.
    pub pending: u32,
    /// What of the overlays is on its chunks (see [`applied`](Self::applied)); empty for nothing.
    pub overlays: String,
    /// When it was stored, ISO 8601.
    pub indexed_at: String,
    /// What the caller said of it, such as `course_id`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meta: BTreeMap<String, String>,
}

impl DocumentInfo {
    /// Whether both were made of the same file in the same way, but for what was changed by hand.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        let file = |info: &Self| {
            [&info.file_hash, &info.format, &info.preset, &info.root, &info.prefix].map(String::clone)
        };
        !self.is_outdated() && file(self) == file(other) && self.meta == other.meta
    }

    /// What `overlays` begins with for a document that has to be cut again whatever its file says.
    pub(crate) const OUTDATED: &str = "outdated";

    /// Has it cut again by the next run, whatever its file says.
    pub(crate) fn set_outdated(&mut self) {
        if !self.is_outdated() {
            self.overlays.insert_str(0, Self::OUTDATED);
        }
    }

    /// Whether it has to be cut again whatever its file says.
    pub(crate) fn is_outdated(&self) -> bool {
        self.overlays.starts_with(Self::OUTDATED)
    }

    /// Whether both were made of the same bytes in the same way, so that storing one in place of the
    /// other would change nothing.
    pub(crate) fn is_same_input(&self, other: &Self) -> bool {
        self.is_same_file(other) && self.overlays == other.overlays
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
    /// What a chat model said it is about; empty for nothing.
    pub summary: String,
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
    /// Summary of its document; empty for none.
    pub doc_summary: String,
    /// What a search by words sees of it.
    pub terms: TermCounts,
    /// Whether it has a vector of the generation's model.
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

/// A chunk to be stored. Its vector is the one that the store's [`Cache`] knows for its text.
#[derive(Clone, Debug)]
pub struct NewChunk {
    /// The chunk.
    pub record: Record,
    /// Key of its vector.
    pub text_hash: TextHash,
    /// What a search by words sees.
    pub terms: TermCounts,
    /// Whether searches may find it.
    pub enabled: bool,
}

impl NewChunk {
    /// Prepares `record` for storing: hashes and analyses its text.
    pub fn new(record: Record) -> Self {
        Self {
            text_hash: text_hash(&record.text),
            terms: TermCounts::of(&record.text),
            enabled: true,
            record,
        }
    }

    /// Its id.
    pub(crate) fn id(&self) -> ChunkId {
        self.record.chunk_id
    }
}

/// One change to a generation.
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
    /// Puts chunks of a document in place of those with their ids. If the document no longer has the version
    /// `base`, or has no such chunks, the change is [`Outcome::Stale`].
    Amend {
        /// The document.
        doc_id: String,
        /// The chunks.
        chunks: Vec<NewChunk>,
        /// Version of the document.
        base: i64,
        /// As [`DocumentInfo::overlays`] from now on.
        overlays: String,
    },
    /// Notes that the file of a document was touched and says what it said: nothing that readers see.
    Touch {
        /// The document.
        doc_id: String,
        /// As [`DocumentInfo::modified`].
        modified: i64,
    },
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckReport {
    /// Documents looked at, of all generations.
    pub documents: usize,
    /// Chunks looked at.
    pub chunks: usize,
    /// Every finding, in one sentence each; empty for a sound store.
    pub problems: Vec<String>,
    /// The documents that findings are about.
    #[serde(default)]
    pub damaged: Vec<DamagedDocument>,
}

/// A document that a check found not to be sound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DamagedDocument {
    /// Its collection.
    pub collection: String,
    /// Number of its generation.
    pub generation: i64,
    /// The document.
    pub doc_id: String,
}

impl CheckReport {
    /// Adds what was found of documents of a generation.
    fn add(&mut self, generation: &Generation, unsound: Vec<Unsound>) {
        for Unsound { doc_id, problem } in unsound {
            self.problems.push(format!("`{generation}`, {problem}"));
            let collection = generation.collection.clone();
            self.damaged.push(DamagedDocument { collection, generation: generation.number, doc_id });
        }
    }
}
