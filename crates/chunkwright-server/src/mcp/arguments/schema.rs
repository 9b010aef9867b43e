//! Schemas of tools, in the subset of JSON Schema that every client reads.
//!
//! Some clients pass a schema on to a service that rejects what it does not know: `format` of numbers, `default: null`,
//! references, alternatives where a list of values would do.

use std::borrow::Cow;
use std::sync::Arc;

use chunkwright_engine::schema::{of_answers, of_option, of_requests, without_nulls};
use chunkwright_engine::{SEARCH_OPTIONS, SearchOption};
use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

/// The schema of a tool's arguments.
pub(in crate::mcp) fn input<T: JsonSchema>() -> Arc<JsonObject> {
    plain::<T>(of_requests().with(|settings| settings.inline_subschemas = true))
}

/// The schema of a tool's answer.
pub(in crate::mcp) fn output<T: JsonSchema>() -> Arc<JsonObject> {
    plain::<T>(of_answers())
}

/// The type, range and default of an option of searches; the argument has its own description.
pub(in crate::mcp) fn option(name: &str) -> Schema {
    Schema::try_from(SearchOption::find(name).map(plain_option).unwrap_or_default()).unwrap_or_default()
}

fn plain_option(option: &'static SearchOption) -> Value {
    let mut schema = of_option(option);
    if let Value::Object(schema) = &mut schema {
        let left_out = ["description", "pattern", "format"];
        schema.retain(|key, _| !left_out.contains(&key.as_str()) && !key.starts_with("x-"));
    }
    schema
}

/// Options of searches as arguments, by their names in the engine's table: those that have words for agents there.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(in crate::mcp) struct Options(pub(in crate::mcp) JsonObject);

impl JsonSchema for Options {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Options".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let offered = SEARCH_OPTIONS.iter().filter(|option| !option.brief.is_empty());
        let property = |option: &'static SearchOption| {
            let mut schema = plain_option(option);
            schema["description"] = option.brief.into();
            (option.name.to_owned(), schema)
        };
        json_schema!({ "type": "object", "properties": offered.map(property).collect::<JsonObject>() })
    }
}

fn plain<T: JsonSchema>(settings: SchemaSettings) -> Arc<JsonObject> {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    without_nulls(&mut schema);
    RecursiveTransform(simplify).transform(&mut schema);
    let mut schema = schema.to_value();
    // The tool has its own name and description.
    let object = schema.as_object_mut().map(std::mem::take).unwrap_or_default();
    Arc::new(
        object
            .into_iter()
            .filter(|(key, _)| !matches!(key.as_str(), "$schema" | "title" | "description"))
            .collect(),
    )
}

/// Removes redundant keywords from a schema.
fn simplify(schema: &mut Schema) {
    if let Some([kind]) = schema.get("type").and_then(Value::as_array).map(Vec::as_slice) {
        schema.insert("type".into(), kind.clone());
    }
    if schema.get("type").is_some_and(|kind| kind == "integer" || kind == "number") {
        schema.remove("format");
        // A model does not need the maximum of an integer type.
        if schema.get("maximum").and_then(Value::as_u64).is_some_and(|most| most > u64::from(u32::MAX)) {
            schema.remove("maximum");
        }
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    let forms = schema.get("oneOf").and_then(Value::as_array).cloned().unwrap_or_default();
    let values: Vec<Value> = forms.iter().filter_map(|form| form.get("const").cloned()).collect();
    if !values.is_empty() && values.len() == forms.len() && values.iter().all(Value::is_string) {
        schema.remove("oneOf");
        schema.insert("type".into(), "string".into());
        schema.insert("enum".into(), values.into());
    }
}
