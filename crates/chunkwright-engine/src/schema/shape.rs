//! Checks the shape of JSON from clients: objects where objects are expected, and no unknown names.
//!
//! serde also reads a struct from a list, value by value: `[false]` would disable a chunk. Inside an enum or a
//! flattened struct no deserializer can forbid that, since serde buffers such values before it knows their type. The
//! schema of a type applies wherever the type occurs.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use chunkwright_index::filter::suggestion;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::error::pointer_to;

/// Why a value does not have the shape of a type.
enum Misfit {
    /// It has another type, which the reader reports better.
    Other,
    /// It has an unknown name.
    Unknown(Misshapen),
    /// It is a list instead of an object.
    List(Misshapen),
}

/// A part of a value that does not have the shape of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misshapen {
    /// The part, as a JSON pointer.
    pub pointer: String,
    /// What is wrong and what would be right, in a sentence.
    pub sentence: String,
}

/// Checks that `value` has the shape of a `T`: no list instead of an object, and no unknown names. Converts `83.0` to
/// `83` where an integer is expected, since JSON Schema accepts it as one; the reader checks everything else. Returns
/// whether the value changed.
///
/// # Errors
///
/// The first part that has another shape.
pub fn check_shape<T: JsonSchema + 'static>(value: &mut Value) -> Result<bool, Misshapen> {
    static SCHEMAS: LazyLock<Mutex<HashMap<TypeId, Arc<Value>>>> = LazyLock::new(Mutex::default);
    let schema = {
        let mut schemas = SCHEMAS.lock();
        Arc::clone(
            schemas.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(super::read::<T>().to_value())),
        )
    };
    let mut walk = Walk { definitions: &schema["$defs"], has_changed: false };
    match walk.fits(value, &schema, "") {
        Err(Misfit::Unknown(part) | Misfit::List(part)) => Err(part),
        Ok(()) | Err(Misfit::Other) => Ok(walk.has_changed),
    }
}

/// A walk through a value and the schema of its type.
struct Walk<'a> {
    /// The schemas that `$ref` refers to.
    definitions: &'a Value,
    has_changed: bool,
}

impl Walk<'_> {
    /// Checks that `value`, found at the pointer `at`, has a shape that `schema` allows.
    fn fits(&mut self, value: &mut Value, schema: &Value, at: &str) -> Result<(), Misfit> {
        let Value::Object(schema) = schema else { return Ok(()) };
        if let Some(name) =
            schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next())
        {
            self.fits(value, &self.definitions[name], at)?;
        }
        for part in listed(schema, "allOf") {
            self.fits(value, part, at)?;
        }
        for forms in ["anyOf", "oneOf"] {
            one_of(listed(schema, forms).map(|form| self.fits(value, form, at)))?;
        }
        if schema.get("const").is_some_and(|constant| constant != value) || !is_of_type(value, schema) {
            let is_list = value.is_array() && is_of_type(&Value::Object(Map::new()), schema);
            let list = || Misshapen {
                pointer: at.to_owned(),
                sentence: format!("{} is a list; expected an object", shown(at)),
            };
            return Err(if is_list { Misfit::List(list()) } else { Misfit::Other });
        }
        let mut fit = Ok(());
        // A part that the reader refuses must not hide errors in parts that it accepts.
        let mut note = |part: Result<(), Misfit>| match part {
            Err(Misfit::Other) => {
                fit = Err(Misfit::Other);
                Ok(())
            }
            part => part,
        };
        match value {
            Value::Object(object) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                let rest = schema.get("additionalProperties");
                // For an enum, tags beside its fields select the variant.
                let mut tags =
                    properties.into_iter().flatten().filter_map(|(name, it)| Some((name, it.get("const")?)));
                if tags.any(|(name, tag)| object.get(name).is_some_and(|value| value != tag)) {
                    return Err(Misfit::Other);
                }
                for (name, value) in object {
                    let place = at.to_owned() + &pointer_to(name);
                    match (properties.and_then(|known| known.get(name)), rest) {
                        (None, Some(Value::Bool(false))) => {
                            let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
                            let right = suggestion(name, known);
                            let of = if at.is_empty() { String::new() } else { format!(" in {}", shown(at)) };
                            let sentence = format!("unknown field `{name}`{of}; {right}");
                            return Err(Misfit::Unknown(Misshapen { pointer: place, sentence }));
                        }
                        (Some(schema), _) | (None, Some(schema)) => note(self.fits(value, schema, &place))?,
                        (None, None) => {}
                    }
                }
            }
            Value::Array(values) => {
                let item = schema.get("items").unwrap_or(&Value::Bool(true));
                for (index, value) in values.iter_mut().enumerate() {
                    note(self.fits(value, item, &format!("{at}/{index}")))?;
                }
            }
            Value::Number(number) => {
                // Every integer in this range is exact as a float.
                let whole =
                    number.as_f64().filter(|it| number.is_f64() && it.fract() == 0.0 && it.abs() < 9e18);
                if let Some(whole) = whole.filter(|_| schema_types(schema).any(|kind| kind == "integer")) {
                    *value = (whole as i64).into();
                    self.has_changed = true;
                }
            }
            _ => {}
        }
        fit
    }
}

/// Succeeds if one form fits, or if there are none. An unknown name is reported only if one form can be meant.
fn one_of(forms: impl Iterator<Item = Result<(), Misfit>>) -> Result<(), Misfit> {
    let mut misfits = Vec::new();
    for form in forms {
        match form {
            Ok(()) => return Ok(()),
            Err(misfit) => misfits.push(misfit),
        }
    }
    if let Some(list) = misfits.iter().position(|it| matches!(it, Misfit::List(_))) {
        return Err(misfits.swap_remove(list));
    }
    let has_forms = !misfits.is_empty();
    misfits.retain(|it| matches!(it, Misfit::Unknown(_)));
    match (misfits.pop(), misfits.is_empty()) {
        (Some(unknown), true) => Err(unknown),
        (None, _) if !has_forms => Ok(()),
        _ => Err(Misfit::Other),
    }
}

/// Returns whether `schema` allows the JSON type of an object or a list; true for other values.
fn is_of_type(value: &Value, schema: &Map<String, Value>) -> bool {
    let name = match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        _ => return true,
    };
    schema_types(schema).next().is_none() || schema_types(schema).any(|known| known == name)
}

/// The types in a schema; none means that all are allowed.
fn schema_types(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let types = schema.get("type").into_iter();
    types
        .flat_map(|types| types.as_array().map_or(std::slice::from_ref(types), Vec::as_slice))
        .filter_map(Value::as_str)
}

fn listed<'a>(schema: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// A pointer in the words of sentences: `` `expand.with` ``, `` `documents[0]` ``.
fn shown(pointer: &str) -> String {
    let mut shown = String::new();
    for part in pointer.split('/').skip(1) {
        let is_index = part.parse::<usize>().is_ok();
        let (before, after) = if is_index { ("[", "]") } else { (".", "") };
        shown.extend([before, &part.replace("~1", "/").replace("~0", "~"), after]);
    }
    let shown = shown.trim_start_matches('.');
    if shown.is_empty() { "the value".to_owned() } else { format!("`{shown}`") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{AmendRequest, JobRequest, SearchRequest};

    #[track_caller]
    fn refused<T: JsonSchema + 'static>(value: &Value, pointer: &str, sentence: &str) {
        let (pointer, sentence) = (pointer.to_owned(), sentence.to_owned());
        assert!(value.pointer(&pointer).is_some(), "{pointer} is not in {value}");
        assert_eq!(check_shape::<T>(&mut value.clone()), Err(Misshapen { pointer, sentence }));
    }

    #[test]
    fn a_list_is_no_object_wherever_it_stands() {
        refused::<AmendRequest>(&json!([["a"], false]), "", "the value is a list; expected an object");
        refused::<SearchRequest>(
            &json!({"query": "a", "expand": ["parent"]}),
            "/expand",
            "`expand` is a list; expected an object",
        );
        refused::<JobRequest>(
            &json!({"kind": "index", "collection": "a", "request": [["docs"]]}),
            "/request",
            "`request` is a list; expected an object",
        );
        refused::<JobRequest>(&json!(["reindex", "a"]), "", "the value is a list; expected an object");
        refused::<SearchRequest>(
            &json!({"query": "a", "fusion": ["rrf", 60]}),
            "/fusion",
            "`fusion` is a list; expected an object",
        );
    }

    #[test]
    fn a_name_that_is_unknown_is_answered_by_the_one_that_is_like_it() {
        refused::<SearchRequest>(
            &json!({"query": "a", "top-k": 3}),
            "/top-k",
            "unknown field `top-k`; did you mean `top_k`?",
        );
        refused::<JobRequest>(
            &json!({"kind": "index", "collection": "a", "request": {"path": ["docs"]}}),
            "/request/path",
            "unknown field `path` in `request`; did you mean `paths`?",
        );
        refused::<JobRequest>(
            &json!({"kind": "reindex", "colection": "a"}),
            "/colection",
            "unknown field `colection`; did you mean `collection`?",
        );
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        let mut value = json!({"query": "a", "top_k": 5.0, "offset": 6_402_373_705_728_000.0, "min_relevance": 0.0, "expand": {"with": "1", "max_tokens": 9.0}});
        assert_eq!(check_shape::<SearchRequest>(&mut value), Ok(true));
        assert_eq!(
            value,
            json!({"query": "a", "top_k": 5, "offset": 6_402_373_705_728_000_u64, "min_relevance": 0.0, "expand": {"with": "1", "max_tokens": 9}})
        );
        // As it is written, not as the nearest quarter.
        let mut value = serde_json::from_str(r#"{"query": "a", "offset": 2251799813685247.0}"#).unwrap();
        assert_eq!(check_shape::<SearchRequest>(&mut value), Ok(true));
        assert_eq!(value["offset"], 2_251_799_813_685_247_u64);
    }

    #[test]
    fn what_a_type_reads_passes() {
        for value in [
            json!({"query": "a", "collections": ["b"], "filter": {"and": [{"field": "language", "in": ["rust"]}, {"meta": "a", "gt": "1"}]}}),
            json!({"query": "a", "filter": "language=rust", "expand": {"with": "parent"}, "fusion": {"method": "rrf"}}),
            json!({"query": "a", "expand": null, "filter": null}),
        ] {
            assert_eq!(check_shape::<SearchRequest>(&mut value.clone()), Ok(false), "{value}");
        }
        for value in [
            json!({"kind": "reindex", "collection": "a", "settings": {"kinds": [{"name": "api"}], "band": [1, 2]}}),
            json!({"kind": "index", "collection": "a", "request": {"paths": ["docs"], "meta": {"a": "b"}}}),
        ] {
            assert_eq!(check_shape::<JobRequest>(&mut value.clone()), Ok(false), "{value}");
        }
    }
}
