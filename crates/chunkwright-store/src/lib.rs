//! Stores: their contract, the types they exchange, and the stores that need no server.
//!
//! [`Store`] is the contract. [`MemoryStore`] and, with the feature `sqlite`, [`SqliteStore`] keep it here; stores on
//! servers keep it in `chunkwright-remote`. What stores share is here too: filters, text analysis and BM25, the
//! in-memory index, manual changes, and verification of what is stored.
//!
//! The modules have what only implementations of a store need; the crate root re-exports the rest.
#![cfg_attr(
    not(feature = "sqlite"),
    allow(dead_code, unused_imports, reason = "a store that is left out shares it with those that are not")
)]

pub mod analysis;
pub mod atomic_file;
pub mod bm25;
mod cache;
pub mod cancel;
mod check_report;
mod collections;
pub mod columns;
mod contract;
mod document;
pub mod documents;
pub mod error;
pub mod filter;
mod generation;
pub mod index;
pub mod list;
#[cfg(feature = "sqlite")]
pub mod local_cache;
mod memory;
pub mod meta;
mod metadata;
pub mod name;
pub mod overlay;
pub mod parsed;
mod past_run;
mod place;
mod scored;
mod source;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod statistics;
pub mod threads;
mod unsound;
pub mod vector;
pub mod verify;

pub use cache::{Cache, CacheUsage};
pub use check_report::{CheckReport, DamagedDocument};
pub use collections::{CollectionPlace, CollectionSort, CollectionsBehind, ListedCollections};
pub use contract::{
    Access, ChunkStore, CollectionStore, DocumentStore, GenerationStore, OverlayStore, Store,
};
pub use document::{
    Change, DocumentInfo, DocumentKind, IndexedChunk, NewChunk, NewDocument, Origin, Outcome, StoredChunk,
    StoredDocument,
};
pub use documents::{DocumentsBehind, ListedDocuments};
pub use error::StoreError;
pub use filter::{Condition, Field, Filter, FilterError, Glob, GlobError};
pub use generation::{Collection, Generation, GenerationSpec, GenerationState, GenerationStatus, Model};
pub use list::{ChunkPage, Cursor, Direction, ListRequest, ListedChunk, MAX_PAGE, SortKey, Visibility};
pub use memory::MemoryStore;
pub use meta::{Meta, MetaError};
pub use metadata::Metadata;
pub use name::normalized_name;
pub use overlay::{
    Applied, AppliedBoundary, LEAST_LEAD, LEAST_LIKENESS, OriginalText, Overlay, OverlayState, Overlays,
    SetBoundary,
};
pub use past_run::{PastRun, Timings};
pub use place::StoreLocation;
pub use scored::Scored;
pub use source::{SourceForm, SourcePart, SourceRange};
#[cfg(feature = "sqlite")]
pub use sqlite::{Damaged, SqliteStore};
pub use statistics::{
    ChunkPlace, MOST_RANGES, RepeatedText, RepeatedTexts, Statistics, StatisticsRequest, TOKEN_RANGES,
    TokenRange,
};
pub use unsound::Unsound;
pub use vector::Vector;
