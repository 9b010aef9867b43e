//! JSON Schemas of requests and answers.
//!
//! They are derived from the types that serde reads and writes, so that a schema cannot contradict the JSON. They are
//! behind the feature `schema`; no front end needs it to work.
//!
//! In answers, an absent value has no key: `null` is never written, and no schema of an answer allows it. An empty list
//! is a value.

mod search;
mod shape;

use chunkwright::diff::{Change, Diff, Summary};
use chunkwright::explain::Explanation;
use chunkwright::{ALIASES, ChunkOptions, Key, Record, Values};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::evaluation::{Report, RetrievalLine, Run, StabilityLine};
use crate::settings::key::{self, Group};
use crate::{
    AmendRequest, BoundaryAnswer, BoundaryRequest, CheckReport, ChunkDetail, ChunkPage, ChunkRequest,
    ClearedCache, CollectionCoverage, CollectionStatistics, CollectionStatus, DeleteRequest, Deleted,
    DeletedDocument, DiffAnswer, DocumentPage, DocumentStatistics, EvaluateAnswer, EvaluateRequest,
    ExplainAnswer, ExplainRequest, Explained, ExplainedChunk, ExportRequest, FetchAnswer, FetchRequest,
    Finding, FoundPassage, GenerationStatus, GenerationsAnswer, Hit, ImportAnswer, IndexAnswer, IndexRequest,
    InstallModelsRequest, ListDocumentsRequest, ListRequest, ListedChunk, ListedCollection, ListedOverlay,
    ModelChange, ModelEntry, Neighbours, Operation, OutlineAnswer, OutlineRow, OverlaysAnswer,
    OverlaysRequest, PastRun, PlannedDiffRequest, PresetEntry, PreviewAnswer, PreviewRequest, Proposal,
    PruneRequest, PrunedGeneration, PutAnswer, PutRequest, ReadReport, RegistriesAnswer, RelatedAnswer,
    RemoveModelsRequest, SearchAnswer, SearchRequest, Statistics, StatisticsRequest, TuneAnswer,
    TuneCandidate, settings::Setting,
};

pub(crate) use search::with_ranges;
pub use search::{of_option, of_search};
pub use shape::check_shape;

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
    ListDocumentsRequest, ListRequest, OverlaysRequest, PlannedDiffRequest, PreviewRequest, PruneRequest, PutRequest, RemoveModelsRequest, SearchRequest, StatisticsRequest,
];

/// The answers of the engine, and their parts that front ends return one by one.
pub static ANSWERS: &[NamedSchema] = schemas![written:
    BoundaryAnswer, Change, CheckReport, ChunkDetail, ChunkPage, ClearedCache, CollectionCoverage, CollectionStatistics, CollectionStatus, Deleted, DeletedDocument, Diff, DiffAnswer,
    DocumentPage, DocumentStatistics, EvaluateAnswer, ExplainAnswer, Explained, ExplainedChunk, Explanation, FetchAnswer, Finding, FoundPassage, GenerationStatus, GenerationsAnswer, Hit, ImportAnswer,
    IndexAnswer, ListedChunk, ListedCollection, ListedOverlay, ModelChange, ModelEntry, Neighbours, Operation, OutlineAnswer, OutlineRow,
    OverlaysAnswer, PastRun, PresetEntry, PreviewAnswer, Proposal, PrunedGeneration, PutAnswer, ReadReport, Record, RegistriesAnswer, RelatedAnswer, Report, RetrievalLine, Run, SearchAnswer, Setting,
    StabilityLine, Statistics, Summary, TuneAnswer, TuneCandidate,
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

/// The schema of the settings that a request may set, as an object.
pub fn of_settings() -> Schema {
    let keys = [Group::Cutting, Group::Files].into_iter().flat_map(key::keys);
    let keys = keys.chain(key::keys(Group::Embedding).into_iter().take(1));
    let mut properties: Map<String, Value> = keys.map(|key| (key.name.to_owned(), of_key(key))).collect();
    for alias in ALIASES {
        let description = format!("Another system's name for a key; selects the preset `{}`.", alias.preset);
        properties.insert(alias.name.to_owned(), json!({ "description": description }));
    }
    json_schema!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// The settings of a request. Their names are not part of the shape: the settings themselves report what is wrong.
pub struct RequestedSettings;

impl JsonSchema for RequestedSettings {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RequestedSettings".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = of_settings();
        let properties = schema.get("properties").and_then(Value::as_object);
        let names: Vec<String> = properties.into_iter().flat_map(Map::keys).cloned().collect();
        schema.remove("additionalProperties");
        schema.insert("propertyNames".into(), json!({ "enum": names }));
        schema
    }
}

fn of_key(key: &Key) -> Value {
    let mut schema = match key.values {
        Values::Number(least, greatest) => {
            json!({ "type": "integer", "minimum": least, "maximum": greatest })
        }
        Values::OneOf(names) => json!({ "type": "string", "enum": names }),
        Values::SomeOf(names) => json!({ "type": "array", "items": { "type": "string", "enum": names } }),
        Values::Range => {
            json!({ "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 2, "maxItems": 2 })
        }
        Values::Tables => json!({ "type": "array", "items": { "type": "object" } }),
        Values::List(_) => json!({ "type": "array", "items": { "type": "string" } }),
        Values::Flag => json!({ "type": "boolean" }),
        Values::Bytes => json!({ "type": ["integer", "string"], "minimum": 0 }),
        _ => json!({ "type": "string" }),
    };
    schema["description"] = key::help(key).into();
    schema
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
