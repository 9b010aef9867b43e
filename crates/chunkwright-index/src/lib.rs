//! The indexing pipeline and hybrid search.
//!
//! ```text
//! paths --source--> bytes --decode--> text --format, Chunker--> records --Embedder--> vectors --> Store
//! query --analysis--> terms, --Embedder--> vector --Store--> two rankings --fuse--> hits
//! ```
//!
//! * [`Pipeline::index`] brings a collection to the state of the files it is given. Unchanged input
//!   writes nothing; a changed document is replaced in one transaction, so that a reader, and a
//!   machine that lost power, sees the old version or the new one and never both or neither.
//! * [`search()`] ranks chunks by lexical, dense and sparse stages, and reports each stage's part in every hit.
//! * [`expand()`] gives each hit the section or the neighbours around it, nothing twice.
//! * [`fetch()`] gives back the source, byte for byte.
//!
//! The crate reads files and a store, and nothing else: no clock, no environment, no configuration, and no network
//! except through the [`Embedder`](chunkwright_models::Embedder) that it is given.
//!
//! Features: one per store (`sqlite`, `qdrant`, `chroma`, `postgres`; the in-memory store is always there), and one per kind of
//! input and model (`office`, `pdf`, `local`, `remote`, sets of languages). All are on by default.

pub mod amend;
mod boundary;
pub mod expand;
pub mod fetch;
mod function_words;
pub mod fuse;
mod glossary;
pub mod joined;
pub mod paths;
mod pipeline;
pub mod prefix;
pub mod query;
pub mod related;
pub mod report;
mod script;
pub mod search;
mod settle;
mod stores;
pub mod transfer;

#[cfg(feature = "qdrant")]
pub use chunkwright_remote::QdrantOptions;
#[cfg(any(feature = "chroma", feature = "postgres", feature = "qdrant"))]
pub use chunkwright_remote::RemoteStore;
#[cfg(feature = "chroma")]
pub use chunkwright_remote::{ChromaOptions, chroma_name};

pub use amend::{AmendError, Review, amend, amend_all};
pub use boundary::plan_boundary;
pub use expand::{
    Expand, ExpandedAnswer, Expansion, FoundChunk, FoundPassage, ParseExpandError, Passage, expand,
};
pub use fetch::{Beside, Extent, FetchError, FetchOptions, Fetched, Raw, Rendering, chunk_id, fetch};
pub use fuse::Fusion;
pub use glossary::in_words_of;
pub use joined::{joined_id, resolve_joined};
pub use paths::{OtherPath, has_unproven_paths, known_paths};
pub use pipeline::{
    Clock, Embed, FillReport, Folder, FolderError, FolderOptions, IndexError, IndexOptions, NoteOptions,
    Pipeline, Progress, Prune, Rank, Revise, file_of, folders, put_cut, remove_documents, remove_folder,
};
pub use prefix::{Prefix, PrefixError};
pub use query::{MAX_QUERY_CHARS, MAX_QUERY_TERMS, Query, QueryError, check_query, parse_query};
pub use related::{Related, Siblings, related, siblings};
pub use report::{
    Away, Dominant, Failure, IndexReport, Moved, Nuls, Omitted, Renamed, TokensByKind, WhyAway,
};
pub use script::Script;
pub use search::{
    Answer, Below, CALIBRATIONS, Calibration, Duplicates, Explained, Hit, Kept, LEXICAL, Mode, Models,
    NameRanking, Named, Proximity, QueryWords, Ranked, Role, SearchError, SearchOptions, Stage, StageWatch,
    Standing, Stands, SymbolPlace, SymbolPlaces, Verdict, WEAK, WordMatch, explain, rank, search,
    search_all_versions, symbol_places,
};
pub use settle::{ListedOverlay, OverlayCounts, Tools, list_overlays, overlay_on, settle, settle_all};
pub use stores::{OpenStore, STORES, StoreKind, open_store, store_kind};

pub use chunkwright_store::cancel::stoppable;
pub use chunkwright_store::parsed::parsed;
pub use chunkwright_store::threads::on_pool;
pub use chunkwright_store::{
    Access, Applied, AppliedBoundary, Cache, CacheUsage, Change, CheckReport, ChunkPage, ChunkPlace,
    ChunkStore, Collection, CollectionPlace, CollectionSort, CollectionStore, CollectionsBehind, Condition,
    Cursor, DamagedDocument, Direction, DocumentInfo, DocumentKind, DocumentStore, DocumentsBehind, Field,
    Filter, FilterError, Generation, GenerationSpec, GenerationState, GenerationStatus, GenerationStore,
    Glob, GlobError, IndexedChunk, LEAST_LEAD, LEAST_LIKENESS, ListRequest, ListedChunk, ListedCollections,
    ListedDocuments, MAX_PAGE, MOST_RANGES, MemoryStore, Meta, MetaError, Metadata, Model, NewChunk,
    NewDocument, Origin, OriginalText, Outcome, Overlay, OverlayState, OverlayStore, Overlays, PastRun,
    RepeatedText, RepeatedTexts, Scored, SetBoundary, SortKey, SourceForm, SourcePart, SourceRange,
    Statistics, StatisticsRequest, Store, StoreError, StoreLocation, StoredChunk, StoredDocument,
    TOKEN_RANGES, Timings, TokenRange, Vector, Visibility, normalized_name,
};
#[cfg(feature = "sqlite")]
pub use chunkwright_store::{Damaged, SqliteStore};
pub use chunkwright_store::{analysis, atomic_file, bm25, filter, meta, verify};
