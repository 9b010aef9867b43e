//! The JSON Schema of the settings that a request may set, from the table of keys.

use std::collections::BTreeMap;

use chunkwright::{ALIASES, Key, Values};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::settings::key;
use crate::settings::layers::Layers;
use crate::settings::origin::Source;
use chunkwright::options::paragraphs;

/// The schema of the settings that a request may set, as an object, with what a form needs of every key:
///
/// * `x-group`: its subject; `x-groups` of the object lists the subjects in order, each with a title.
/// * `x-unit`: the unit of its numbers; `size` is what the key `unit` says.
/// * `x-follows`: the keys that its value follows unless it is set, the first of them that is set.
/// * `x-strategy`: the only strategy that reads it.
/// * `default`: its value where nothing sets it, neither a configuration nor a preset nor a key that it follows.
pub fn of_settings() -> Schema {
    described(key::requestable())
}

/// The schema of every setting, as [`of_settings`]: what a program sets that performs its own requests.
pub fn of_every_setting() -> Schema {
    described(key::all().into_iter())
}

fn described(keys: impl Iterator<Item = &'static Key>) -> Schema {
    let built_in = Layers::default().settings(Source::Request, []).map(|settings| settings.list());
    let built_in: BTreeMap<String, Value> =
        built_in.into_iter().flatten().filter_map(|setting| Some((setting.key, setting.value?))).collect();
    let annotated = keys.map(|key| {
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
