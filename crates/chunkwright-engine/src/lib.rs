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
//! The engine prints nothing, reads no flag and keeps no state outside its values.

mod amend;
mod background;
mod boundary;
mod collection;
mod collections;
mod configured;
mod coverage;
mod doctor;
mod documents;
mod embedding;
mod engine;
mod error;
mod evaluate;
mod fetch;
mod fields;
pub mod files;
mod generations;
mod index;
mod installed;
mod job_request;
mod jobs;
pub mod json_lines;
mod list;
mod maintenance;
mod metrics;
mod models;
mod notice;
mod observe;
#[cfg_attr(not(unix), path = "owner/none.rs")]
mod owner;
pub mod page;
pub mod paging;
mod places;
mod put;
mod query_log;
mod questions;
mod registries;
mod roots;
#[cfg(feature = "schema")]
pub mod schema;
mod search;
pub mod settings;
mod snapshot;
mod source;
mod state_file;
mod table;
mod task;
mod transfer;
mod turns;
mod watch;
pub mod web;
pub mod words;

pub use amend::{AmendRequest, OverlaysAnswer, OverlaysRequest};
pub use background::{Background, IndexState, ServedFolder, Then};
pub use boundary::{BoundaryAnswer, BoundaryChange, BoundaryRequest};
pub use chunkwright::chunk::BoundaryKind;
pub use chunkwright_arrow::is_catching;
pub use chunkwright_index::filter::suggestion;
pub use chunkwright_index::{
    Away, CacheUsage, CheckReport, ChunkPage, CollectionSort, Cursor, Damaged, Direction, DocumentInfo,
    Duplicates, Expand, Explained, Field, Filter, Folder, FoundChunk, Fusion, Generation, GenerationSpec,
    GenerationStatus, Glob, IndexReport, Kept, ListRequest, ListedChunk, ListedOverlay, MAX_PAGE,
    MAX_QUERY_CHARS, MOST_RANGES, Metadata, Mode, Overlay, OverlayState, Passage, PastRun, Prefix, Progress,
    Prune, Related, Renamed, RepeatedText, Siblings, SortKey, SourceForm, SourcePart, Stage, Statistics,
    StatisticsRequest, Timings, Verdict, Visibility, WhyAway, file_of, meta,
};
pub use chunkwright_source::{FormatHint, Input, NewSource, SkipReason, Skipped, Stream, convert, redact};
pub use collection::Collection;
pub use collections::{CollectionPage, CollectionStatus, ListCollectionsRequest, ListedCollection};
pub use coverage::{CollectionCoverage, CollectionStatistics};
pub use doctor::{Finding, State};
pub use documents::{
    ChunkRequest, ChunkedDocument, Coverage, DiffAnswer, DiffSide, DocumentStatistics, Documents,
    DocumentsRequest, ExplainAnswer, ExplainRequest, ExplainedChunk, MOST_CHUNKS, Operation, OutlineAnswer,
    OutlineRow, PlannedDiffAnswer, PlannedDiffRequest, PreviewAnswer, PreviewRequest, Promise, ReadReport,
    Revision, Shard, ShardError, Violation, skipped_in_words,
};
pub use engine::{Access, Builder, Clock, Engine};
pub use error::{CODES, Code, Error};
pub mod evaluation {
    //! The figures of an evaluation.
    pub use chunkwright_eval::{
        Interval, MeasuredValue, PassagePlace, QuestionLine, Report, RetrievalLine, Run, Sizes, Stability,
        StabilityLine,
    };
}
pub use evaluate::{
    EditsRequest, EvaluateAnswer, EvaluateRequest, EvaluationStep, Origin, Proposal, TuneAnswer,
    TuneCandidate, TuneRequest,
};
pub use fetch::{FetchAnswer, FetchRequest};
pub use fields::{Fields, FieldsError, Selected};
pub use generations::{
    DeleteRequest, Deleted, DeletedDocument, GenerationsAnswer, PruneRequest, PrunedGeneration,
};
pub use index::{IndexAnswer, IndexRequest, IndexSummary, Indexer, RunProgress};
pub use installed::{InstallModelsRequest, ModelAction, ModelChange, ModelEntry, RemoveModelsRequest};
pub use job_request::JobRequest;
pub use jobs::{Job, JobError, JobState, Jobs};
pub use list::{ChunkDetail, DocumentPage, ListDocumentsRequest, Neighbours};
pub use maintenance::ClearedCache;
pub use notice::{Notice, NoticeCode};
pub use observe::{EmbedCall, IndexedRun, Observer, SearchCall, TRACE};
pub use places::without_places;
pub use put::{Base64, GivenDocument, PutAnswer, PutRequest, PutResult, PutState};
pub use query_log::{Door, LoggedQuery, LoggedRequest, QueryCall, QueryLog};
pub use questions::{
    AskQuestionsRequest, AskedQuestion, AskedQuestions, AskedVersion, ExpectedLines, SaveQuestionRequest,
    SavedQuestion,
};
pub use registries::{PresetEntry, RegistriesAnswer, RegistryEntry};
pub use roots::Roots;
pub use search::{
    Budget, ExpandRequest, Found, FoundPassage, Hit, HitPlace, LeftOutHit, Needs, OptionGroup, OptionValues,
    SEARCH_OPTIONS, SearchAnswer, SearchOption, SearchRequest, SearchedCollection, Switch, Translation,
};
pub use settings::{Layers, Settings};
pub use snapshot::{RelatedAnswer, Snapshot};
pub use source::{SOURCE_PART, Source, SourceParts};
pub use table::{RecordTable, TableFormat};
pub use task::{PutDocument, Task};
pub use transfer::{ExportRequest, ImportAnswer, Imported};
pub use watch::Watched;
