//! Reads the arguments of a call by the schema of its tool.
//!
//! A model that learns what was wrong and what would be right calls again; it often cannot see a protocol error.
//! Therefore one sentence names everything that is wrong. Values with a clear meaning are converted: models write `"5"`
//! for 5, `"true"` for true, and `null` for omitted arguments.

use std::fmt;

use chunkwright_engine::suggestion;
use rmcp::model::{JsonObject, Tool};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Maximum number of characters of a name or value that a sentence repeats.
const MAX_SHOWN: usize = 60;

/// Arguments that a tool does not accept: what was wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid arguments of `{tool}`: {faults}")]
pub(in crate::mcp) struct Invalid {
    tool: String,
    faults: String,
}

/// The arguments of a call of `tool`.
///
/// # Errors
///
/// Names that the tool does not know, values of other types or outside their range, arguments that are missing.
pub(in crate::mcp) fn read<T: DeserializeOwned>(tool: &Tool, given: Option<Value>) -> Result<T, Invalid> {
    let invalid = |faults: String| Invalid { tool: tool.name.to_string(), faults };
    // Some models write the object as a string.
    let given = match given {
        Some(Value::String(text)) => Some(serde_json::from_str(&text).unwrap_or(Value::String(text))),
        given => given,
    };
    let given = match given {
        None | Some(Value::Null) => JsonObject::new(),
        Some(Value::Object(given)) => given,
        Some(other) => {
            let example = Value::Object(example(&tool.input_schema));
            let other = Shown(&other);
            return Err(invalid(format!("they are {other}; they must be an object such as `{example}`")));
        }
    };
    let arguments = checked(&tool.input_schema, given).map_err(|faults| invalid(faults.join("; ")))?;
    serde_json::from_value(Value::Object(arguments)).map_err(|error| invalid(error.to_string()))
}

/// The arguments converted to the types of the schema, or everything that is wrong with them.
fn checked(schema: &JsonObject, given: JsonObject) -> Result<JsonObject, Vec<String>> {
    let no_properties = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&no_properties);
    let is_missing = |name: &&str| given.get(*name).is_none_or(Value::is_null);
    let missing = required(schema).filter(is_missing);
    let missing =
        missing.map(|name| format!("`{name}` is missing; it must be {}", Expected(&properties[name])));
    let mut faults: Vec<String> = missing.collect();
    let mut taken = JsonObject::new();
    for (name, value) in given {
        match properties.get(&name) {
            None => faults.push(unknown(&name, properties.keys())),
            Some(_) if value.is_null() => {}
            Some(property) => match typed(property, value) {
                Ok(value) => _ = taken.insert(name, value),
                Err(value) => {
                    faults.push(format!("`{name}` is {}; it must be {}", Shown(&value), Expected(property)));
                }
            },
        }
    }
    if faults.is_empty() { Ok(taken) } else { Err(faults) }
}

fn required(schema: &JsonObject) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The smallest valid arguments of a tool.
fn example(schema: &JsonObject) -> JsonObject {
    let of = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        _ => json!("..."),
    };
    required(schema).map(|name| (name.to_owned(), of(name))).collect()
}

/// Converts a value to the type of the property; returns it unchanged as an error if it has another type or is out of
/// range.
fn typed(property: &Value, value: Value) -> Result<Value, Value> {
    let kind = property["type"].as_str().unwrap_or_default();
    let meant = match &value {
        Value::String(text) if matches!(kind, "integer" | "number" | "boolean") => {
            serde_json::from_str(&text.trim().to_lowercase()).unwrap_or_default()
        }
        _ => value.clone(),
    };
    let least = property["minimum"].as_f64().unwrap_or(f64::MIN);
    let most = property["maximum"].as_f64().unwrap_or(f64::MAX);
    let in_range = |number: &f64| (least..=most).contains(number);
    let taken = match kind {
        "integer" => whole(&meant).filter(|number| number.as_f64().is_some_and(|number| in_range(&number))),
        "number" => meant.as_f64().filter(in_range).map(|_| meant),
        "boolean" => meant.as_bool().map(Value::from),
        "array" => texts(meant),
        // The engine limits the length of texts, in every interface alike.
        "string" => Some(meant).filter(|text| text.is_string() && is_listed(property, text)),
        _ => Some(meant),
    };
    taken.ok_or(value)
}

/// A list of texts; models also write one text, or the list as text.
fn texts(value: Value) -> Option<Value> {
    let value = match value {
        Value::String(text) if text.trim_start().starts_with('[') => serde_json::from_str(&text).ok()?,
        Value::String(text) => json!([text]),
        value => value,
    };
    value.as_array()?.iter().all(Value::is_string).then_some(value)
}

/// The number, if it is an integer; models also write 5.0 for 5.
fn whole(value: &Value) -> Option<Value> {
    /// Up to here, every integer is exact in JavaScript.
    const MOST: f64 = 9_007_199_254_740_991.0;
    if value.is_i64() || value.is_u64() {
        return Some(value.clone());
    }
    let number = value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() <= MOST)?;
    Some(json!(number as i64))
}

fn is_listed(property: &Value, value: &Value) -> bool {
    property["enum"].as_array().is_none_or(|values| values.contains(value))
}

/// Suggests what would be right instead of an unknown name.
fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> String {
    format!("unknown argument `{}`; {}", Short(name), suggestion(name, known.map(String::as_str)))
}

/// The beginning of a text, to repeat in a sentence.
struct Short<'a>(&'a str);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(MAX_SHOWN) {
            Some((end, _)) => write!(f, "{}...", &self.0[..end]),
            None => f.write_str(self.0),
        }
    }
}

/// A value, to repeat in a sentence.
struct Shown<'a>(&'a Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Array(_) => f.write_str("an array"),
            Value::Object(_) => f.write_str("an object"),
            value => write!(f, "`{}`", Short(&value.to_string())),
        }
    }
}

/// What a property accepts, in words.
struct Expected<'a>(&'a Value);

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let property = self.0;
        if let Some(values) = property["enum"].as_array() {
            let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            return write!(f, "`{}`", values.join("` or `"));
        }
        f.write_str(match property["type"].as_str() {
            Some("integer") => "a whole number",
            Some("number") => "a number",
            Some("boolean") => return f.write_str("`true` or `false`"),
            Some("array") => "an array of strings",
            Some("object") => "an object",
            _ => "a string",
        })?;
        match (property.get("minimum"), property.get("maximum"), property.get("maxLength")) {
            (Some(least), Some(most), _) => write!(f, " from {least} to {most}"),
            (Some(least), None, _) => write!(f, " of at least {least}"),
            (None, Some(most), _) => write!(f, " of at most {most}"),
            (None, None, Some(most)) => write!(f, " of at most {most} characters"),
            (None, None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool with an argument of every type.
    fn tool() -> Tool {
        let schema = json!({
            "type": "object",
            "required": ["query"],
            "properties": {
                "query": { "type": "string", "maxLength": 20 },
                "limit": { "type": "integer", "minimum": 1, "maximum": 50 },
                "offset": { "type": "integer", "minimum": 0 },
                "weight": { "type": "number", "maximum": 1 },
                "exact": { "type": "boolean" },
                "format": { "type": "string", "enum": ["text", "structured"] },
            },
        });
        Tool::new("find", "", schema.as_object().cloned().unwrap())
    }

    #[test]
    fn what_a_model_means_beyond_doubt_is_taken() {
        let check = |given: Value, taken: Value| {
            assert_eq!(read::<Value>(&tool(), Some(given.clone())), Ok(taken), "{given}");
        };
        let with = |name: &str, value: Value| {
            let mut arguments = json!({ "query": "a" });
            arguments[name] = value;
            arguments
        };
        for (name, given, taken) in [
            ("limit", json!("5"), json!(5)),
            ("limit", json!(" 50 "), json!(50)),
            ("limit", json!(5.0), json!(5)),
            ("offset", json!("5.0"), json!(5)),
            ("offset", json!(u64::MAX), json!(u64::MAX)),
            ("weight", json!("0.5"), json!(0.5)),
            ("exact", json!("true"), json!(true)),
            ("exact", json!("False"), json!(false)),
            ("format", json!("text"), json!("text")),
            ("query", json!("5"), json!("5")),
        ] {
            check(with(name, given), with(name, taken));
        }
        check(with("limit", Value::Null), json!({ "query": "a" }));
        check(json!(r#"{"query": "a", "limit": "5"}"#), with("limit", json!(5)));
    }

    #[test]
    fn what_is_wrong_is_named_all_at_once_with_what_would_be_right() {
        let check = |given: Value, said: &str| {
            let invalid = read::<Value>(&tool(), Some(given.clone())).unwrap_err().to_string();
            assert_eq!(invalid, format!("invalid arguments of `find`: {said}"), "{given}");
        };
        check(json!({}), "`query` is missing; it must be a string of at most 20 characters");
        check(json!({ "query": null }), "`query` is missing; it must be a string of at most 20 characters");
        check(json!({ "query": 7 }), "`query` is `7`; it must be a string of at most 20 characters");
        check(json!({ "query": ["a"] }), "`query` is an array; it must be a string of at most 20 characters");
        for (name, value, said) in [
            ("limit", json!("many"), "`limit` is `\"many\"`; it must be a whole number from 1 to 50"),
            ("limit", json!(0), "`limit` is `0`; it must be a whole number from 1 to 50"),
            ("limit", json!("51"), "`limit` is `\"51\"`; it must be a whole number from 1 to 50"),
            ("limit", json!(1.5), "`limit` is `1.5`; it must be a whole number from 1 to 50"),
            ("limit", json!(true), "`limit` is `true`; it must be a whole number from 1 to 50"),
            ("offset", json!(-1), "`offset` is `-1`; it must be a whole number of at least 0"),
            ("offset", json!("-3"), "`offset` is `\"-3\"`; it must be a whole number of at least 0"),
            ("weight", json!("1.5"), "`weight` is `\"1.5\"`; it must be a number of at most 1"),
            ("exact", json!("yes"), "`exact` is `\"yes\"`; it must be `true` or `false`"),
            ("exact", json!({}), "`exact` is an object; it must be `true` or `false`"),
            (
                "limit",
                json!("a".repeat(80)),
                format!("`limit` is `\"{}...`; it must be a whole number from 1 to 50", "a".repeat(59))
                    .as_str(),
            ),
            ("format", json!("xml"), "`format` is `\"xml\"`; it must be `text` or `structured`"),
            ("Limit", json!(5), "unknown argument `Limit`; did you mean `limit`?"),
            ("ofset", json!(5), "unknown argument `ofset`; did you mean `offset`?"),
            (
                "top_k",
                json!(5),
                "unknown argument `top_k`; known are `query`, `limit`, `offset`, `weight`, `exact`, `format`",
            ),
        ] {
            let mut given = json!({ "query": "a" });
            given[name] = value;
            check(given, said);
        }
        check(
            json!({ "limit": 0, "qery": "a" }),
            "`query` is missing; it must be a string of at most 20 characters; \
             `limit` is `0`; it must be a whole number from 1 to 50; unknown argument `qery`; did you mean `query`?",
        );
        for (given, what) in [(json!([]), "an array"), (json!("a"), "`\"a\"`"), (json!(7), "`7`")] {
            check(given, &format!("they are {what}; they must be an object such as `{{\"query\":\"...\"}}`"));
        }
    }
}
