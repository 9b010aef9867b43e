//! The engine behind every front end: the command line, servers and bindings translate their input into a request, call
//! the [`Engine`], and translate its answer.
//!
//! ```text
//! files, variables, flags --Layers--> Settings --Engine::open--> Engine --collection--> Collection --snapshot--> Snapshot
//! ```
//!
//! * [`settings`] combines the settings in force and records the origin of each, driven by one table of keys.
//! * An [`Engine`] has the store, the models (loaded when they are first needed), a clock and its own threads.
//! * A [`Collection`] is indexed and searched as one; a [`Snapshot`] is one moment of it, in which searching, fetching
//!   and listing see the same generation.
//! * Requests and answers are plain types that serde reads and writes. They are the JSON that the command line prints.
//! * Every failure is an [`Error`] with a [`Code`]; one table maps codes to exit status, HTTP status and more.
//!
//! Its modules lie on four floors, and what is on one uses only those below: `request` (plain data), `core` (the engine:
//! store, models, clock, threads), `noun` (collections, snapshots, documents), `work` (what changes a store).
//!
//! The engine prints nothing, reads no flag and keeps no state outside its values.

mod core;
mod error;
mod fields;
pub mod files;
pub mod json_lines;
mod notice;
mod noun;
pub mod page;
pub mod paging;
mod places;
mod request;
mod roots;
#[cfg(feature = "schema")]
pub mod schema;
pub mod settings;
mod table;
pub mod web;
pub mod words;
mod work;

pub use chunkwright::ChunkId;
pub use chunkwright::chunk::BoundaryKind;
pub use chunkwright_arrow::is_catching;
#[cfg(feature = "sqlite")]
pub use chunkwright_index::Damaged;
pub use chunkwright_index::filter::suggestion;
pub use chunkwright_index::{
    Away, CacheUsage, CheckReport, ChunkPage, CollectionSort, Cursor, Direction, DocumentInfo, Duplicates,
    Expand, Explained, Field, Filter, Folder, FoundChunk, Fusion, Generation, GenerationSpec,
    GenerationStatus, Glob, IndexReport, Kept, ListRequest, ListedChunk, ListedOverlay, MAX_PAGE,
    MAX_QUERY_CHARS, MOST_RANGES, MemoryStore, Metadata, Mode, NameRanking, Named, Overlay, OverlayState,
    Passage, PastRun, Prefix, Progress, Proximity, Prune, Related, Renamed, Rendering, RepeatedText,
    Siblings, SortKey, SourceForm, SourcePart, Stage, Standing, Stands, Statistics, StatisticsRequest,
    SymbolPlace, SymbolPlaces, Timings, Verdict, Visibility, WhyAway, file_of, meta,
};
pub use chunkwright_source::{
    FormatHint, Input, NewSource, SkipReason, Skipped, Stream, convert, doc_id, redact,
};
pub mod evaluation {
    //! The figures of an evaluation.
    pub use chunkwright_eval::{
        Interval, MeasuredValue, PassagePlace, QuestionLine, Report, RetrievalLine, Run, Sizes, Stability,
        StabilityLine,
    };
}
pub use crate::core::engine::builder::Builder;
pub use crate::core::engine::clock::Clock;
pub use crate::core::engine::{Access, Engine};
pub use crate::core::observe::{EmbedCall, IndexedRun, Observer, SearchCall, TRACE};
pub use crate::error::{CODES, Code, Error, FieldError, ShardsError, pointer_to};
pub use crate::fields::{Fields, FieldsError, Selected};
pub use crate::notice::{Notice, NoticeCode};
pub use crate::noun::collection::Collection;
pub use crate::noun::documents::Documents;
pub use crate::noun::documents::chunk::{ChunkedDocument, Written};
pub use crate::noun::documents::diff::DiffSide;
pub use crate::noun::documents::revision::Revision;
pub use crate::noun::documents::shards::ShardState;
pub use crate::noun::documents::shards::join::{Joined, join as join_shards};
pub use crate::noun::embed::EmbedAnswer;
pub use crate::noun::query_log::{Door, LoggedQuery, LoggedRequest, QueryCall, QueryLog};
pub use crate::noun::skipped::skipped_in_words;
pub use crate::noun::snapshot::Snapshot;
pub use crate::noun::source::{SOURCE_PART, Source, SourceParts};
pub use crate::noun::vectors::VectorState;
pub use crate::places::without_places;
pub use crate::request::amend::{AmendRequest, OverlaysAnswer, OverlaysRequest};
pub use crate::request::boundary::{BoundaryAnswer, BoundaryChange, BoundaryRequest};
pub use crate::request::cache::ClearedCache;
pub use crate::request::chunk_use::{ChunkUse, UseAnswer, UseRequest, UseState};
pub use crate::request::collections::{
    CollectionCoverage, CollectionPage, CollectionStatistics, CollectionStatus, ListCollectionsRequest,
    ListedCollection, RenameRequest, RenamedCollection,
};
pub use crate::request::diff::{DiffAnswer, MOST_CHUNKS, Operation, PlannedDiffAnswer, PlannedDiffRequest};
pub use crate::request::doctor::{Finding, State};
pub use crate::request::documents::{
    ChunkRequest, Coverage, DocumentStatistics, DocumentsRequest, ExplainAnswer, ExplainRequest,
    ExplainedChunk, OutlineAnswer, OutlineRow, Promise, ReadReport, Violation,
};
pub use crate::request::evaluate::{
    EditsRequest, EvaluateAnswer, EvaluateRequest, EvaluationStep, Proposal, TuneAnswer, TuneCandidate,
    TuneRequest,
};
pub use crate::request::fetch::{FetchAnswer, FetchForm, FetchRequest};
pub use crate::request::generations::{
    DeleteRequest, Deleted, DeletedDocument, GenerationsAnswer, PruneRequest, PrunedGeneration,
};
pub use crate::request::index::progress::RunProgress;
pub use crate::request::index::summary::IndexSummary;
pub use crate::request::index::{IndexAnswer, IndexRequest};
pub use crate::request::job::{Job, JobError, JobRequest, JobState};
pub use crate::request::list::{ChunkDetail, DocumentPage, ListDocumentsRequest, Neighbours, RelatedAnswer};
pub use crate::request::models::{
    InstallModelsRequest, ModelAction, ModelChange, ModelEntry, RemoveModelsRequest,
};
pub use crate::request::preview::{PreviewAnswer, PreviewRequest};
pub use crate::request::put::{Base64, GivenDocument, PutAnswer, PutRequest, PutResult, PutState};
pub use crate::request::questions::{
    AskQuestionsRequest, AskedQuestion, AskedQuestions, AskedVersion, ExpectedLines, SaveQuestionRequest,
    SavedQuestion,
};
pub use crate::request::registries::{PresetEntry, RegistriesAnswer, RegistryEntry};
pub use crate::request::resolve::{ResolveAnswer, ResolveRequest};
pub use crate::request::search::hit::{FoundPassage, Hit, HitPlace};
pub use crate::request::search::options::{
    ExpandRequest, Needs, OptionGroup, OptionValues, SEARCH_OPTIONS, SearchOption, SearchRequest, Switch,
};
pub use crate::request::search::{Budget, Found, LeftOutHit, SearchAnswer, SearchedCollection, Translation};
pub use crate::request::shard::{Shard, ShardError};
pub use crate::request::task::{PutDocument, Task};
pub use crate::request::transfer::{ExportRequest, ImportAnswer};
pub use crate::roots::{RootFolder, Roots};
pub use crate::settings::{Layers, Settings};
pub use crate::table::{RecordTable, TableFormat};
pub use crate::work::background::{Background, IndexState, ServedFolders, Then};
pub use crate::work::index::Indexer;
pub use crate::work::jobs::Jobs;
pub use crate::work::served::Models;
pub use crate::work::watch::Watched;
pub use chunkwright_eval::made::Origin;
pub use chunkwright_index::transfer::Imported;
