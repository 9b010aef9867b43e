//! What do requests and answers look like, as JSON Schema?
//!
//! Derived from the types that serde reads and writes, so that a schema cannot say anything else than the JSON. The
//! feature `schema` has it; no front end needs it to work.

use chunkwright::diff::{Change, Diff, Summary};
use chunkwright::explain::Explanation;
use chunkwright::{ChunkOptions, Record};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::evaluation::{Report, RetrievalLine, Run, StabilityLine};
use crate::{
    AmendRequest, Answer, CheckReport, ChunkPage, ChunkRequest, ClearedCache, CollectionStatus,
    DeleteRequest, Deleted, DeletedDocument, DiffAnswer, DocumentStatistics, EvaluateAnswer, ExplainAnswer,
    ExplainRequest, Explained, ExplainedChunk, ExportRequest, FetchAnswer, FetchRequest, Finding,
    FoundPassage, GenerationStatus, GenerationsAnswer, Hit, ImportAnswer, IndexAnswer, IndexRequest,
    InstallModelsRequest, ListRequest, ListedChunk, ListedOverlay, ModelChange, ModelEntry, OutlineAnswer,
    OutlineRow, OverlaysAnswer, OverlaysRequest, Proposal, PruneRequest, PrunedGeneration, ReadReport,
    RelatedAnswer, RemoveModelsRequest, SearchAnswer, SearchRequest, Statistics, StatisticsRequest,
    TuneAnswer, TuneCandidate, settings::Setting,
};

/// A type that is read or written as JSON.
#[derive(Clone, Copy, Debug)]
pub struct NamedSchema {
    /// The name of the type.
    pub name: &'static str,
    /// Makes its schema: draft 2020-12.
    pub schema: fn() -> Schema,
}

macro_rules! schemas {
    ($settings:ident: $($type:ident),* $(,)?) => {
        &[$(NamedSchema { name: stringify!($type), schema: || $settings::<$type>() }),*]
    };
}

/// What the engine is asked.
pub static REQUESTS: &[NamedSchema] = schemas![read:
    AmendRequest, ChunkOptions, ChunkRequest, DeleteRequest, ExplainRequest, ExportRequest, FetchRequest, IndexRequest, InstallModelsRequest,
    ListRequest, OverlaysRequest, PruneRequest, RemoveModelsRequest, SearchRequest, StatisticsRequest,
];

/// What it answers, and of what its answers consist where front ends give them one by one.
pub static ANSWERS: &[NamedSchema] = schemas![written:
    Answer, Change, CheckReport, ChunkPage, ClearedCache, CollectionStatus, Deleted, DeletedDocument, Diff, DiffAnswer,
    DocumentStatistics, EvaluateAnswer, ExplainAnswer, Explained, ExplainedChunk, Explanation, FetchAnswer, Finding, FoundPassage, GenerationStatus, GenerationsAnswer, Hit, ImportAnswer,
    IndexAnswer, ListedChunk, ListedOverlay, ModelChange, ModelEntry, OutlineAnswer, OutlineRow, OverlaysAnswer,
    Proposal, PrunedGeneration, ReadReport, Record, RelatedAnswer, Report, RetrievalLine, Run, SearchAnswer, Setting,
    StabilityLine, Statistics, Summary, TuneAnswer, TuneCandidate,
];

/// The schema of the request or answer called `name`.
pub fn schema(name: &str) -> Option<Schema> {
    REQUESTS.iter().chain(ANSWERS).find(|named| named.name == name).map(|named| (named.schema)())
}

fn read<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
}

fn written<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}
