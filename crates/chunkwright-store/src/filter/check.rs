//! Validates filter conditions: a value must be one that chunks can have in that field.
//!
//! A filter that can never match looks like a collection without an answer. So every external filter, whether text,
//! JSON or the conditions of a query, is read by [`Condition::checked`].

use chunkwright::{CONTENT_TYPES, ChunkId, Cut, SummaryKind, stats::TokenLevel};
use chunkwright_source::{PROSE_LANGUAGES, language_named, language_names, prose_language_named};
use serde_json::Value;

use super::{Condition, Field, FieldType, Filter, FilterError, Glob, Test};

impl Condition {
    /// This condition with normalized values: `py` becomes `python`, a part of a path becomes a pattern.
    ///
    /// # Errors
    ///
    /// [`FilterError`] for a value that no chunk can have.
    pub fn checked(self) -> Result<Self, FilterError> {
        let all = |conditions: Vec<Self>| conditions.into_iter().map(Self::checked).collect::<Result<_, _>>();
        Ok(match self {
            Self::And(conditions) => Self::And(all(conditions)?),
            Self::Or(conditions) => Self::Or(all(conditions)?),
            Self::Not(not) => Self::Not(Box::new(not.checked()?)),
            Self::Meta { meta, test: Test::Is(value) } => Self::Meta { meta, test: Test::Is(text_of(value)) },
            Self::Meta { meta, test: Test::In(values) } => {
                Self::Meta { meta, test: Test::In(values.into_iter().map(text_of).collect()) }
            }
            Self::Field { field: Field::PATH, test } => of_path(test)?,
            Self::Field { field, test: Test::Is(value) } => {
                Self::Field { field, test: Test::Is(value_of(field, value)?) }
            }
            Self::Field { field, test: Test::In(values) } => {
                let values =
                    values.into_iter().map(|value| value_of(field, value)).collect::<Result<_, _>>()?;
                Self::Field { field, test: Test::In(values) }
            }
            other @ (Self::Meta { .. } | Self::Field { .. }) => other,
        })
    }
}

/// A metadata value, which is always text.
fn text_of(value: Value) -> Value {
    if value.is_string() { value } else { Value::String(value.to_string()) }
}

/// Converts a test of a path to a condition on the document's key.
fn of_path(test: Test) -> Result<Condition, FilterError> {
    let field = Field::DOC_ID;
    let anywhere = |value: Value| match value {
        Value::String(part) => Ok(Condition::Field { field, test: Test::Glob(Glob::anywhere(&part)) }),
        other => Err(wrong(field, &other, "text".into())),
    };
    Ok(match test {
        Test::Is(value) => anywhere(value)?,
        Test::In(values) => Condition::Or(values.into_iter().map(anywhere).collect::<Result<_, _>>()?),
        test => Condition::Field { field, test },
    })
}

/// Normalizes a value for its field.
fn value_of(field: Field, value: Value) -> Result<Value, FilterError> {
    let is_right = match field.field_type() {
        FieldType::Number => value.is_number(),
        FieldType::Bool => value.is_boolean(),
        FieldType::Text | FieldType::List => value.is_string(),
    };
    if !is_right {
        return Err(wrong(field, &value, format!("expected {}", right(field))));
    }
    let Value::String(text) = &value else { return Ok(value) };
    let is_id = matches!(field.name(), "chunk_id" | "previous" | "next");
    if is_id && text.parse::<ChunkId>().is_err() {
        return Err(wrong(field, &value, "expected 32 hex digits".into()));
    }
    if field == Field::LANGUAGE {
        if let Some(language) = language_named(text) {
            return Ok(language.name().into());
        }
        return Err(wrong(field, &value, suggestion(text, language_names())));
    }
    if field == Field::PROSE_LANGUAGE {
        let known = PROSE_LANGUAGES.iter().map(|(code, _)| *code);
        let unknown = || wrong(field, &value, suggestion(text, known));
        return prose_language_named(text).map(Value::from).ok_or_else(unknown);
    }
    match known(field) {
        Some(known) if !known.contains(&text.as_str()) => {
            Err(wrong(field, &value, suggestion(text, known.into_iter())))
        }
        _ => Ok(value),
    }
}

/// All values of a field that has a fixed set.
fn known(field: Field) -> Option<Vec<&'static str>> {
    let summaries = SummaryKind::ALL.iter().map(|kind| kind.name());
    Some(match field.name() {
        "artifact" => Filter::ARTIFACTS.iter().copied().chain(summaries).collect(),
        "content_type" => CONTENT_TYPES.iter().copied().chain(summaries).collect(),
        "token_level" => TokenLevel::ALL.iter().map(|level| level.as_str()).collect(),
        "cut" => Cut::ALL.iter().map(|cut| cut.as_str()).collect(),
        _ => return None,
    })
}

/// Describes the values of a field, for messages.
pub(super) fn right(field: Field) -> &'static str {
    match field.field_type() {
        FieldType::Number => "a number",
        FieldType::Bool => "`true` or `false`",
        FieldType::Text | FieldType::List => "text",
    }
}

fn wrong(field: Field, value: &Value, right: String) -> FilterError {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    FilterError::Value { field: field.name(), value, right }
}

/// Longest name, in characters, for which a similar one is searched.
const MAX_NAME: usize = 64;

/// Suggests a replacement for `name`: the most similar known name, or all of them.
pub fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let name = name.trim_start_matches('=').to_lowercase();
    let known: Vec<&str> = known.collect();
    let edits = |known: &&&str| strsim::osa_distance(&name, known);
    // A few edits turn a short name into any other; a long one is similar to none.
    let length = name.chars().count();
    let most = length / 3;
    let comparable = if length <= MAX_NAME { &known[..] } else { &[] };
    if let Some(close) = comparable.iter().filter(|known| edits(known) <= most).min_by_key(edits) {
        return format!("did you mean `{close}`?");
    }
    let mut listed: Vec<String> = Vec::new();
    for name in known {
        let name = format!("`{name}`");
        if !listed.contains(&name) {
            listed.push(name);
        }
    }
    format!("known are {}", listed.join(", "))
}
