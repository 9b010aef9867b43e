//! The pipeline, its stores and hybrid search: what happens to chunks after they are cut.
//!
//! ```text
//! paths --source--> bytes --decode--> text --format, Chunker--> records --Embedder--> vectors --> Store
//! query --analysis--> terms, --Embedder--> vector --Store--> two rankings --fuse--> hits
//! ```
//!
//! * [`Pipeline::index`] brings a collection to the state of the files it is given. Unchanged input
//!   writes nothing; a changed document is replaced in one transaction, so that a reader, and a
//!   machine that lost power, sees the old version or the new one and never both or neither.
//! * [`search()`] ranks chunks by words and by meaning and says of every hit what each stage thought.
//! * [`expand()`] gives each hit the section or the neighbours around it, nothing twice.
//! * [`fetch()`] gives back the source, byte for byte.
//!
//! The crate reads files and a store, and nothing else: no clock, no environment, no configuration,
//! no network but what an [`Embedder`](chunkwright_models::Embedder) that it is given does.
//!
//! Features: a store each (`sqlite`, `qdrant`, `chroma`; the one in memory is always there); what is read and by which
//! models (`office`, `pdf`, `local`, `remote`, sets of languages). All are on by default.
#![cfg_attr(
    not(all(feature = "chroma", feature = "qdrant", feature = "sqlite")),
    allow(dead_code, unused_imports, reason = "stores that are left out share it with those that are not")
)]

pub mod amend;
pub mod analysis;
pub mod atomic_file;
pub mod bm25;
mod boundary;
mod cancel;
pub mod expand;
pub mod fetch;
pub mod fuse;
pub mod meta;
mod parsed;
pub mod pipeline;
pub mod prefix;
pub mod query;
pub mod related;
pub mod report;
pub mod search;
mod settle;
pub mod store;
mod threads;
pub mod transfer;
pub mod verify;

pub use amend::{AmendError, Review, amend, amend_all};
pub use boundary::plan_boundary;
pub use cancel::stoppable;
pub use expand::{
    Expand, ExpandedAnswer, Expansion, FoundChunk, FoundPassage, ParseExpandError, Passage, expand,
};
pub use fetch::{Beside, Extent, FetchError, FetchOptions, Fetched, Raw, chunk_id, fetch};
pub use fuse::Fusion;
pub use meta::{Meta, MetaError};
pub use parsed::parsed;
pub use pipeline::{
    Clock, Folder, FolderError, FolderOptions, IndexError, IndexOptions, NoteOptions, Pipeline, Progress,
    Prune, Revise, folders, put_cut, remove_documents, remove_folder,
};
pub use prefix::{Prefix, PrefixError};
pub use query::{MAX_QUERY_CHARS, MAX_QUERY_TERMS, QueryError, check_query, parse_query};
pub use related::{Related, Siblings, related, siblings};
pub use report::{
    Away, Dominant, Failure, IndexReport, Moved, Nuls, PastRun, Renamed, Timings, TokensByKind, WhyAway,
};
pub use search::{
    Answer, Below, CALIBRATIONS, Calibration, Duplicates, Explained, Hit, Kept, LEXICAL, Mode, Models,
    QueryWords, Ranked, SearchError, SearchOptions, Stage, StageWatch, Verdict, explain, rank, search,
    search_all_versions,
};
pub use settle::{ListedOverlay, OverlayCounts, Tools, list_overlays, settle, settle_all};
#[cfg(feature = "qdrant")]
pub use store::QdrantOptions;
#[cfg(any(feature = "chroma", feature = "qdrant"))]
pub use store::RemoteStore;
pub use store::{
    Access, Applied, AppliedBoundary, Cache, CacheUsage, Change, CheckReport, ChunkPage, ChunkPlace,
    Collection, CollectionPlace, CollectionSort, CollectionsBehind, Condition, Cursor, DamagedDocument,
    Direction, DocumentInfo, DocumentsBehind, Field, Filter, FilterError, Generation, GenerationSpec,
    GenerationState, GenerationStatus, Glob, GlobError, LEAST_LEAD, LEAST_LIKENESS, ListRequest, ListedChunk,
    ListedCollections, ListedDocuments, MAX_PAGE, MOST_RANGES, MemoryStore, Metadata, Model, NewChunk,
    NewDocument, OriginalText, Outcome, Overlay, OverlayState, Overlays, RepeatedText, RepeatedTexts, STORES,
    Scored, SetBoundary, SortKey, SourceForm, SourcePart, SourceRange, Statistics, StatisticsRequest, Store,
    StoreError, StoreLocation, StoredChunk, StoredDocument, TOKEN_RANGES, TokenRange, Vector, Visibility,
    normalized_name, open_store,
};
#[cfg(feature = "chroma")]
pub use store::{ChromaOptions, chroma_name};
#[cfg(feature = "sqlite")]
pub use store::{Damaged, SqliteStore};
pub use threads::on_pool;
