//! JSON Schemas of requests and answers.
//!
//! They are derived from the types that serde reads and writes, so that a schema cannot contradict the JSON. They are
//! behind the feature `schema`; no front end needs it to work.
//!
//! In answers, an absent value has no key: `null` is never written, and no schema of an answer allows it. An empty list
//! is a value.

mod shape;

use chunkwright::diff::{Change, Diff, Summary};
use chunkwright::explain::Explanation;
use chunkwright::{ChunkOptions, Record};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::evaluation::{Report, RetrievalLine, Run, StabilityLine};
use crate::request::amend::{AmendRequest, OverlaysAnswer, OverlaysRequest};
use crate::request::boundary::{BoundaryAnswer, BoundaryRequest};
use crate::request::cache::ClearedCache;
use crate::request::collections::{
    CollectionCoverage, CollectionStatistics, CollectionStatus, ListedCollection,
};
use crate::request::diff::{DiffAnswer, Operation, PlannedDiffRequest};
use crate::request::doctor::Finding;
use crate::request::documents::{
    ChunkRequest, DocumentStatistics, ExplainAnswer, ExplainRequest, ExplainedChunk, OutlineAnswer,
    OutlineRow, ReadReport,
};
use crate::request::evaluate::{EvaluateAnswer, EvaluateRequest, Proposal, TuneAnswer, TuneCandidate};
use crate::request::fetch::{FetchAnswer, FetchRequest};
use crate::request::generations::{
    DeleteRequest, Deleted, DeletedDocument, GenerationsAnswer, PruneRequest, PrunedGeneration,
};
use crate::request::index::{IndexAnswer, IndexRequest};
use crate::request::list::{ChunkDetail, DocumentPage, ListDocumentsRequest, Neighbours, RelatedAnswer};
use crate::request::models::{InstallModelsRequest, ModelChange, ModelEntry, RemoveModelsRequest};
use crate::request::preview::{PreviewAnswer, PreviewRequest};
use crate::request::put::{PutAnswer, PutRequest};
use crate::request::registries::{PresetEntry, RegistriesAnswer};
use crate::request::resolve::{ResolveAnswer, ResolveRequest};
use crate::request::search::SearchAnswer;
use crate::request::search::hit::{FoundPassage, Hit};
use crate::request::search::options::SearchRequest;
use crate::request::transfer::{ExportRequest, ImportAnswer};
use crate::settings::Setting;
use crate::{
    CheckReport, ChunkPage, Explained, GenerationStatus, ListRequest, ListedChunk, ListedOverlay, PastRun,
    Statistics, StatisticsRequest, SymbolPlaces,
};

pub use crate::request::search::schema::{of_option, of_search};
pub use crate::settings::schema::{RequestedSettings, of_every_setting, of_settings};
pub use shape::{Misshapen, check_shape};

/// A type that is read or written as JSON.
#[derive(Clone, Copy, Debug)]
pub struct NamedSchema {
    /// The name of the type.
    pub name: &'static str,
    /// Creates its schema (draft 2020-12).
    pub schema: fn() -> Schema,
}

macro_rules! schemas {
    ($settings:ident: $($type:ident),* $(,)?) => {
        &[$(NamedSchema { name: stringify!($type), schema: || $settings::<$type>() }),*]
    };
}

/// The requests of the engine.
pub static REQUESTS: &[NamedSchema] = schemas![read:
    AmendRequest, BoundaryRequest, ChunkOptions, ChunkRequest, DeleteRequest, EvaluateRequest, ExplainRequest, ExportRequest, FetchRequest, IndexRequest, InstallModelsRequest,
    ListDocumentsRequest, ListRequest, OverlaysRequest, PlannedDiffRequest, PreviewRequest, PruneRequest, PutRequest, RemoveModelsRequest, ResolveRequest, SearchRequest, StatisticsRequest,
];

/// The answers of the engine, and their parts that front ends return one by one.
pub static ANSWERS: &[NamedSchema] = schemas![written:
    BoundaryAnswer, Change, CheckReport, ChunkDetail, ChunkPage, ClearedCache, CollectionCoverage, CollectionStatistics, CollectionStatus, Deleted, DeletedDocument, Diff, DiffAnswer,
    DocumentPage, DocumentStatistics, EvaluateAnswer, ExplainAnswer, Explained, ExplainedChunk, Explanation, FetchAnswer, Finding, FoundPassage, GenerationStatus, GenerationsAnswer, Hit, ImportAnswer,
    IndexAnswer, ListedChunk, ListedCollection, ListedOverlay, ModelChange, ModelEntry, Neighbours, Operation, OutlineAnswer, OutlineRow,
    OverlaysAnswer, PastRun, PresetEntry, PreviewAnswer, Proposal, PrunedGeneration, PutAnswer, ReadReport, Record, RegistriesAnswer, RelatedAnswer, Report, ResolveAnswer, RetrievalLine, Run, SearchAnswer, Setting,
    StabilityLine, Statistics, Summary, SymbolPlaces, TuneAnswer, TuneCandidate,
];

/// The schema of the request or answer called `name`.
pub fn schema(name: &str) -> Option<Schema> {
    REQUESTS.iter().chain(ANSWERS).find(|named| named.name == name).map(|named| (named.schema)())
}

fn read<T: JsonSchema>() -> Schema {
    of_requests().into_generator().into_root_schema_for::<T>()
}

fn written<T: JsonSchema>() -> Schema {
    let mut schema = of_answers().into_generator().into_root_schema_for::<T>();
    without_nulls(&mut schema);
    schema
}

/// Settings for schemas of requests: draft 2020-12, which OpenAPI 3.1 uses too.
pub fn of_requests() -> SchemaSettings {
    SchemaSettings::draft2020_12().with_transform(RecursiveTransform(bounded))
}

/// Settings for schemas of answers, before [`without_nulls`].
pub fn of_answers() -> SchemaSettings {
    SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(bounded))
}

/// Adds numeric bounds to integers, which otherwise only their `format` implies.
fn bounded(schema: &mut Schema) {
    let most = match schema.get("format").and_then(Value::as_str) {
        Some("uint32") => u64::from(u32::MAX),
        Some("int64") => i64::MAX as u64,
        Some("uint" | "uint64") => u64::MAX,
        _ => return,
    };
    if schema.get("maximum").is_none() {
        schema.insert("maximum".into(), most.into());
    }
}

/// Removes `null` from optional properties, everywhere in a schema of an answer.
pub fn without_nulls(schema: &mut Schema) {
    RecursiveTransform(|schema: &mut Schema| without_null(schema)).transform(schema);
}

/// Removes `null` from optional properties. A property that is required and may be `null` stays so, and a test reports
/// it.
fn without_null(schema: &mut Schema) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (_, property) in properties.iter_mut().filter(|(name, _)| !required.contains(&json!(name))) {
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|kind| kind != "null");
        }
        if let Some(Value::Array(forms)) = property.get_mut("anyOf") {
            forms.retain(|form| form["type"] != "null");
        }
    }
}
