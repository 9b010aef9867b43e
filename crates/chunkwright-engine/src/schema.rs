//! JSON Schemas of requests and answers.
//!
//! They are derived from the types that serde reads and writes, so that a schema cannot contradict the JSON. They are
//! behind the feature `schema`; no front end needs it to work.
//!
//! In answers, an absent value has no key: `null` is never written, and no schema of an answer allows it. An empty list
//! is a value.

mod shape;

use std::collections::BTreeMap;

use chunkwright::diff::{Change, Diff, Summary};
use chunkwright::explain::Explanation;
use chunkwright::options::paragraphs;
use chunkwright::{ALIASES, ChunkOptions, Key, Record, Values};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

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
use crate::request::search::hit::{FoundPassage, Hit};
use crate::request::search::{SearchAnswer, SearchRequest};
use crate::request::transfer::{ExportRequest, ImportAnswer};
use crate::settings::{Layers, Setting, Source, key};
use crate::{
    CheckReport, ChunkPage, Explained, GenerationStatus, ListRequest, ListedChunk, ListedOverlay, PastRun,
    Statistics, StatisticsRequest,
};

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

/// The schema of the settings that a request may set, as an object, with what a form needs of every key:
///
/// * `x-group`: its subject; `x-groups` of the object lists the subjects in order, each with a title.
/// * `x-unit`: the unit of its numbers; `size` is what the key `unit` says.
/// * `x-follows`: the keys that its value follows unless it is set, the first of them that is set.
/// * `x-strategy`: the only strategy that reads it.
/// * `default`: its value where nothing sets it, neither a configuration nor a preset nor a key that it follows.
pub fn of_settings() -> Schema {
    let built_in = Layers::default().settings(Source::Request, []).map(|settings| settings.list());
    let built_in: BTreeMap<String, Value> =
        built_in.into_iter().flatten().filter_map(|setting| Some((setting.key, setting.value?))).collect();
    let annotated = key::requestable().map(|key| {
        let mut schema = of_key(key);
        let is_list = matches!(key.values, Values::List(_));
        if let Some(value) = built_in.get(key.name).cloned().or(is_list.then(|| json!([]))) {
            schema["default"] = value;
        }
        schema["x-group"] = key.about.topic.name.into();
        if let Some(unit) = key.counts() {
            schema["x-unit"] = unit.name().into();
        }
        if !key.follows().is_empty() {
            schema["x-follows"] = key.follows().into();
        }
        if let Some(strategy) = key.about.strategy {
            schema["x-strategy"] = strategy.into();
        }
        (key, schema)
    });
    let mut schema = object(annotated);
    let topics = key::topics().map(|topic| json!({ "name": topic.name, "title": topic.title }));
    schema.insert("x-groups".into(), topics.collect());
    schema.insert("additionalProperties".into(), false.into());
    schema
}

/// An object with these keys and the aliases.
fn object(keys: impl Iterator<Item = (&'static Key, Value)>) -> Schema {
    let mut properties: Map<String, Value> =
        keys.map(|(key, schema)| (key.name.to_owned(), schema)).collect();
    for alias in ALIASES {
        let description = format!("Another system's name for a key; selects the preset `{}`.", alias.preset);
        properties.insert(alias.name.to_owned(), json!({ "description": description }));
    }
    json_schema!({ "type": "object", "properties": properties })
}

/// The settings of a request. Their names are not part of the shape: the settings themselves report what is wrong. Nor
/// are defaults: what a request leaves out is as the configuration in force has it.
pub struct RequestedSettings;

impl JsonSchema for RequestedSettings {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RequestedSettings".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = object(key::requestable().map(|key| (key, of_key(key))));
        let properties = schema.get("properties").and_then(Value::as_object);
        let names: Vec<String> = properties.into_iter().flat_map(Map::keys).cloned().collect();
        schema.insert("propertyNames".into(), json!({ "enum": names }));
        schema
    }
}

fn of_key(key: &Key) -> Value {
    let choices = key::constants(key).into_iter();
    let choices = choices.map(|(name, means)| json!({ "const": name, "description": means }));
    let mut choices: Vec<Value> = choices.collect();
    let mut schema = match key.values {
        Values::Number(least, greatest) => {
            json!({ "type": "integer", "minimum": least, "maximum": greatest })
        }
        Values::OneOf(_) => json!({ "type": "string", "oneOf": choices }),
        Values::SomeOf(_) => json!({ "type": "array", "items": { "type": "string", "oneOf": choices } }),
        Values::Range => {
            json!({ "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 2, "maxItems": 2 })
        }
        Values::Tables => json!({ "type": "array", "items": { "type": "object" } }),
        Values::List(_) => json!({ "type": "array", "items": { "type": "string" } }),
        Values::Flag => json!({ "type": "boolean" }),
        Values::Bytes => json!({ "type": ["integer", "string"], "minimum": 0 }),
        _ if choices.is_empty() => json!({ "type": "string" }),
        // A configuration may define others.
        _ => {
            choices.push(json!({ "type": "string" }));
            json!({ "type": "string", "anyOf": choices })
        }
    };
    schema["description"] = paragraphs(key.help).into();
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
