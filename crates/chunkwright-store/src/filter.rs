//! Filters: conditions on the fields of records, joined by and, or and not.
//!
//! One evaluator decides for every store. An engine may be given the part of a filter that it can decide itself, as
//! long as it rejects nothing that the evaluator accepts.

mod check;
mod field;
mod parse;
mod words;

use std::borrow::Cow;

use chunkwright::Record;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub use check::suggestion;
pub use chunkwright_source::{Glob, GlobError};
pub use field::{Field, FieldType};
pub use parse::FilterError;

pub use field::{Facts, Fields, Got, facts, record_symbols};
pub use parse::quoted;
pub(crate) use words::Wanted;
use words::WithText;

/// Which chunks a search may find. The default lets every chunk pass. Summaries pass only where a
/// condition speaks of `artifact`.
///
/// As JSON: `{"field": "language", "is": "rust"}`, `{"meta": "course_id", "is": "13"}`, `{"and": [..]}`, `{"or": [..]}`, `{"not": ..}`; tests
/// are `is`, `in` (a list), `prefix`, `glob`, `word`, `phrase`, `gt`, `gte`, `lt`, `lte`. As text, see [`Filter::parse`].
/// A value that no chunk can have, such as a language that does not exist, is an error where a filter is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Filter {
    #[serde(deserialize_with = "checked")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Condition>"))]
    condition: Option<Condition>,
}

fn checked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Condition>, D::Error> {
    let Some(value) = Option::<Value>::deserialize(deserializer)? else { return Ok(None) };
    // Serde's error for an untagged enum does not name the fault.
    if let Some(name) = unknown_field(&value) {
        return Err(serde::de::Error::custom(FilterError::Field { name: name.into() }));
    }
    // Nor does it say what a condition consists of.
    let condition = Condition::deserialize(&value).map_err(|_| {
        serde::de::Error::custom(format!(
            "`{value}` is not a condition; expected `field` or `meta` with one of `is`, `in`, `prefix`, `glob`, `word`, `phrase`, or with bounds `gt`, `gte`, \
             `lt`, `lte`; or `and`, `or` or `not` alone"
        ))
    })?;
    condition.checked().map(Some).map_err(serde::de::Error::custom)
}

/// The first unknown field name in a condition as JSON.
fn unknown_field(condition: &Value) -> Option<&str> {
    match condition {
        Value::Array(all) => all.iter().find_map(unknown_field),
        Value::Object(keys) => keys.iter().find_map(|(key, value)| match (key.as_str(), value) {
            ("field", Value::String(name)) => Some(name.as_str()).filter(|name| Field::of(name).is_none()),
            ("and" | "or" | "not", inner) => unknown_field(inner),
            _ => None,
        }),
        _ => None,
    }
}

/// What a chunk must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// All of these; of none, always true.
    And(Vec<Condition>),
    /// One of these at least; of none, never true.
    Or(Vec<Condition>),
    /// Anything but this.
    Not(Box<Condition>),
    /// What the caller said of the document under this name, or what it says of itself in its front matter.
    #[serde(untagged)]
    Meta {
        /// The name, such as `course_id`.
        meta: String,
        /// What the text must be.
        #[serde(flatten)]
        test: Test,
    },
    /// One field.
    #[serde(untagged)]
    Field {
        /// A field of the record, or one of [`Field::EXTRA`].
        field: Field,
        /// What its value must be. Of a list, one element must.
        #[serde(flatten)]
        test: Test,
    },
}

/// What a value must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// This value.
    Is(Value),
    /// One of these values.
    In(Vec<Value>),
    /// A text that begins so.
    Prefix(String),
    /// A text that the pattern matches.
    Glob(Glob),
    /// A text with this word, in any of its forms. For the field `text`, the name of the file counts too.
    Word(String),
    /// A text with these words side by side, as they are written; case, marks and punctuation do not matter.
    Phrase(String),
    /// A number or text in a range; texts are ordered by their characters, so times in ISO 8601 are as well.
    #[serde(untagged)]
    Range(Box<Range>),
}

/// Bounds, each of which may be missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Greater than this.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gt: Option<Value>,
    /// This or greater.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gte: Option<Value>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lt: Option<Value>,
    /// This or less.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lte: Option<Value>,
}

impl Filter {
    /// Values of `artifact` that are no kind of summary.
    pub const ARTIFACTS: &[&str] = &["chunk", "summary", "all"];

    /// A filter of one condition.
    pub fn new(condition: Condition) -> Self {
        Self { condition: Some(condition) }
    }

    /// Chunks whose `field` is `value`.
    pub fn is(field: Field, value: impl Into<Value>) -> Self {
        Self::new(Condition::is(field, value))
    }

    /// The filter that accepts what both accept.
    pub fn and(self, other: Self) -> Self {
        match (self.condition, other.condition) {
            (Some(Condition::And(mut all)), Some(other)) => {
                all.push(other);
                Self::new(Condition::And(all))
            }
            (Some(condition), Some(other)) => Self::new(Condition::And(vec![condition, other])),
            (condition, other) => Self { condition: condition.or(other) },
        }
    }

    /// The filter that accepts what this one rejects.
    pub fn negated(self) -> Self {
        Self::new(Condition::Not(Box::new(self.condition.unwrap_or(Condition::And(Vec::new())))))
    }

    /// The condition; `None` for a filter that every chunk passes.
    pub fn condition(&self) -> Option<&Condition> {
        self.condition.as_ref()
    }

    /// Whether every chunk passes.
    pub fn is_empty(&self) -> bool {
        self.condition.is_none()
    }

    /// Whether a condition is about `field`.
    pub fn mentions(&self, field: Field) -> bool {
        self.any_field(&|found| found == Some(field))
    }

    /// Returns whether [`Facts`] suffice to decide.
    pub(crate) fn is_quick(&self) -> bool {
        self.mentions_only(&Field::is_quick)
    }

    /// Whether every condition is about one of these fields.
    pub(crate) fn mentions_only(&self, is: &dyn Fn(Field) -> bool) -> bool {
        !self.any_field(&|field| field.is_none_or(|field| !is(field)))
    }

    /// Returns whether a condition is about such a field; conditions on metadata pass `None`.
    fn any_field(&self, is: &dyn Fn(Option<Field>) -> bool) -> bool {
        let mut any = false;
        self.each_leaf(&mut |condition| {
            any |= is(if let Condition::Field { field, .. } = condition { Some(*field) } else { None });
        });
        any
    }

    /// Calls `each` with every condition on a field or on metadata.
    pub fn each_leaf<'a>(&'a self, each: &mut dyn FnMut(&'a Condition)) {
        fn all<'a>(condition: &'a Condition, each: &mut dyn FnMut(&'a Condition)) {
            match condition {
                Condition::And(inner) | Condition::Or(inner) => inner.iter().for_each(|one| all(one, each)),
                Condition::Not(not) => all(not, each),
                Condition::Meta { .. } | Condition::Field { .. } => each(condition),
            }
        }
        if let Some(condition) = &self.condition {
            all(condition, each);
        }
    }

    /// The symbols of which every chunk that passes names one, as chunks list them; `None` if the filter does not say.
    pub(crate) fn needed_symbols(&self) -> Option<Vec<String>> {
        fn needed(condition: &Condition) -> Option<Vec<String>> {
            let listed = |symbol: &Value| Some(as_listed(symbol.as_str()?).into_owned());
            match condition {
                Condition::And(all) => all.iter().find_map(needed),
                Condition::Or(any) => {
                    any.iter().map(needed).collect::<Option<Vec<_>>>().map(|all| all.concat())
                }
                Condition::Field { field: Field::SYMBOL, test: Test::Is(symbol) } => {
                    Some(vec![listed(symbol)?])
                }
                Condition::Field { field: Field::SYMBOL, test: Test::In(any) } => {
                    any.iter().map(listed).collect()
                }
                _ => None,
            }
        }
        self.condition.as_ref().and_then(needed)
    }

    /// Returns whether a chunk passes. A filter that does not mention `artifact` accepts chunks only.
    pub(crate) fn passes(&self, fields: &dyn Fields) -> bool {
        (fields.get(Field::ARTIFACT) == Got::Nothing || self.mentions(Field::ARTIFACT))
            && self.condition.as_ref().is_none_or(|condition| condition.passes(fields))
    }

    /// Whether a record passes.
    pub fn passes_record(&self, record: &Record) -> bool {
        if self.is_quick_but_for_words() {
            let symbols = record_symbols(record);
            return self.passes(&WithText { facts: facts(record, &symbols), text: &record.text });
        }
        serde_json::to_value(record).is_ok_and(|value| self.passes(&value))
    }
}

impl Condition {
    /// Whether `field` is `value`, exactly.
    pub fn is(field: Field, value: impl Into<Value>) -> Self {
        Self::Field { field, test: Test::Is(value.into()) }
    }

    fn passes(&self, fields: &dyn Fields) -> bool {
        match self {
            Self::And(all) => all.iter().all(|one| one.passes(fields)),
            Self::Or(any) => any.iter().any(|one| one.passes(fields)),
            Self::Not(not) => !not.passes(fields),
            Self::Field { field: Field::ARTIFACT, test: Test::Is(Value::String(wanted)) } => {
                let is_chunk = fields.get(Field::ARTIFACT) == Got::Nothing;
                match wanted.as_str() {
                    "chunk" => is_chunk,
                    "summary" => !is_chunk,
                    "all" => true,
                    wanted => {
                        fields.get(Field::ARTIFACT) == Got::Text(wanted)
                            || matches!(fields.get(Field::ARTIFACT), Got::Value(Value::String(is)) if is == wanted)
                    }
                }
            }
            Self::Field { field: Field::TEXT, test: test @ (Test::Word(_) | Test::Phrase(_)) } => {
                words::passes(fields, test)
            }
            Self::Meta { meta, test } => fields.meta(meta).into_iter().any(|text| test.passes_text(text)),
            Self::Field { field, test } => match fields.get(*field) {
                Got::Nothing => false,
                Got::Text(text) => test.passes_text(text),
                Got::Number(number) => test.passes(&number.into()),
                Got::Value(Value::Array(values)) => values.iter().any(|value| test.passes(value)),
                Got::Value(value) => test.passes(value),
                Got::Symbols(lines) => test.passes_symbols(&lines),
            },
        }
    }
}

impl Test {
    fn passes(&self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::String(text)) => self.passes_text(text),
            (Self::Is(wanted), _) => same(wanted, value),
            (Self::In(wanted), _) => wanted.iter().any(|wanted| same(wanted, value)),
            (Self::Range(range), Value::Number(number)) => {
                let number = number.as_f64();
                let holds = |bound: &Option<Value>, is: fn(&f64, &f64) -> bool| {
                    bound.as_ref().is_none_or(|bound| match (number, bound.as_f64()) {
                        (Some(number), Some(bound)) => is(&number, &bound),
                        _ => false,
                    })
                };
                holds(&range.gt, f64::gt)
                    && holds(&range.gte, f64::ge)
                    && holds(&range.lt, f64::lt)
                    && holds(&range.lte, f64::le)
            }
            _ => false,
        }
    }

    fn passes_text(&self, text: &str) -> bool {
        match self {
            Self::Is(wanted) => wanted.as_str() == Some(text),
            Self::In(wanted) => wanted.iter().filter_map(Value::as_str).any(|wanted| wanted == text),
            Self::Prefix(prefix) => text.starts_with(prefix.as_str()),
            Self::Glob(pattern) => pattern.matches(text),
            Self::Word(_) | Self::Phrase(_) => Wanted::of(self).is_some_and(|wanted| wanted.is_in(text)),
            Self::Range(range) => {
                let holds = |bound: &Option<Value>, is: fn(&str, &str) -> bool| {
                    bound.as_ref().is_none_or(|bound| bound.as_str().is_some_and(|bound| is(text, bound)))
                };
                holds(&range.gt, |a, b| a > b)
                    && holds(&range.gte, |a, b| a >= b)
                    && holds(&range.lt, |a, b| a < b)
                    && holds(&range.lte, |a, b| a <= b)
            }
        }
    }

    fn passes_symbols(&self, lines: &str) -> bool {
        let has = |symbol: &str| {
            let symbol = as_listed(symbol);
            !symbol.is_empty() && lines.split('\n').any(|line| line == symbol)
        };
        match self {
            Self::Is(Value::String(symbol)) => has(symbol),
            Self::In(symbols) => symbols.iter().filter_map(Value::as_str).any(has),
            _ => lines.lines().filter(|line| !line.is_empty()).any(|line| self.passes_text(line)),
        }
    }
}

/// A symbol as chunks list it: qualified by dots.
fn as_listed(symbol: &str) -> Cow<'_, str> {
    if symbol.contains("::") { symbol.replace("::", ".").into() } else { symbol.into() }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A record with a value in every field.
    fn full() -> Value {
        let json = r#"{
            "chunk_id": "00000000000000000000000000000000", "doc_id": "docs/a.md", "artifact": "file_summary", "chunk_index": 3, "total_chunks": 9,
            "parent": "docs/a.md", "previous": "11111111111111111111111111111111",
            "next": "22222222222222222222222222222222", "content": "c", "context": "x", "text": "xc",
            "start_line": 10, "end_line": 12, "start_byte": 0, "end_byte": 1, "start_char": 0, "end_char": 1,
            "header_path": "H1 A", "section_path": ["A", "B"], "content_type": "function", "chunk_type": "function",
            "category": "code", "language": "rust", "prose_language": "ru",
            "symbols": {"function_name": "f", "class_name": "c", "parent_class": "p", "names": ["Report::render"]},
            "imports": ["use std::fmt;"], "char_count": 2, "word_count": 1, "token_count": 200, "tokenizer": "o200k",
            "token_level": "normal", "oversize": false, "part": {"index": 0, "total": 2}, "cut": "heading",
            "adaptive_chunking": true, "is_complete_document": false, "section_title": "A", "section_index": 1,
            "strategy_version": "tree-v1.2", "preset": "auto", "config_hash": "0", "file_hash": "1",
            "indexed_at": "2026-01-01T00:00:00Z", "properties": {"tags": ["ops", "net"], "date": ["2024-05-01"]}, "meta": {"course_id": "13", "课程": "向量"}
        }"#;
        serde_json::from_str(json).expect("JSON")
    }

    #[test]
    fn every_field_of_a_record_can_be_filtered_by() {
        let record: Record = serde_json::from_value(full()).expect("a record");
        let mut keys = BTreeSet::new();
        let Value::Object(fields) = serde_json::to_value(record).expect("JSON") else { panic!("no object") };
        for (key, value) in fields {
            match value {
                Value::Object(_) if key == "meta" || key == "properties" => {}
                Value::Object(inner) => keys.extend(inner.keys().map(|name| format!("{key}.{name}"))),
                _ => _ = keys.insert(key),
            }
        }
        let known: BTreeSet<String> = Field::all()
            .filter(|field| !Field::EXTRA.contains(&field.name()))
            .map(|field| field.name().to_owned())
            .collect();
        assert_eq!(keys, known);
    }

    #[test]
    fn conditions_read_as_text_and_as_json_mean_the_same() {
        for (text, expected) in [
            ("language=rust", true),
            ("language!=rust", false),
            ("language=python or category=code", true),
            ("not language=python and token_count>=200", true),
            ("token_count>200", false),
            ("token_count>100 and token_count<=200", true),
            ("(language=python or language=rust) and not (oversize=true)", true),
            ("doc_id~docs/*.md", true),
            ("doc_id~*.md", false),
            ("doc_id~**/*.{md,rs}", true),
            ("doc_id^=docs/", true),
            ("doc_id!=docs/b.md", true),
            ("section_path=B", true),
            ("section_path=C", false),
            ("symbol=render", true),
            ("symbol=Report.render", true),
            ("lang=rs", true),
            ("language=RUST", true),
            ("prose_language=ru", true),
            ("prose=Russian", true),
            ("prose!=en", true),
            ("lang!=c++", true),
            ("type=function", true),
            ("path=docs", true),
            ("path=docs/*.md", true),
            ("path=*.md", false),
            ("path!=src", true),
            ("path~docs/**", true),
            ("symbols.function_name=f", true),
            ("part.total>=2", true),
            ("indexed_at>=2026-01-01", true),
            ("indexed_at<2026-01-01", false),
            ("section_title=\"A\"", true),
            ("preset=\"a b\"", false),
            ("meta.tags=net and meta.Tags=ops", true),
            ("meta.tags!=ops", false),
            ("meta.date>=2024 and meta.date<2025", true),
            ("meta.course_id=13", true),
            ("meta.course_id!=13 or meta.term=1", false),
            ("meta.课程^=向 and meta.course_id~1?", true),
            ("meta.course_id>=13 and meta.course_id<14", true),
            ("not meta.term=1", true),
        ] {
            let filter = Filter::parse(text).expect(text).and(Filter::is(Field::ARTIFACT, "all"));
            assert_eq!(filter.passes(&full()), expected, "{text}");
            let json = serde_json::to_string(&filter).expect("JSON");
            assert!(!json.contains(r#""field":"path""#), "{json}");
            assert_eq!(serde_json::from_str::<Filter>(&json).expect(&json), filter);
        }
        for (json, right) in [
            (r#"{"field":"lang","is":"pyhton"}"#, "`language` cannot be `pyhton`; did you mean `python`?"),
            (r#"{"not":{"field":"cut","in":["heading","headng"]}}"#, "did you mean `heading`?"),
            (r#"{"field":"token_count","is":"many"}"#, "`token_count` cannot be `many`; expected a number"),
            (r#"{"field":"language","is":5}"#, "`language` cannot be `5`; expected text"),
            (r#"{"field":"langage","is":"rust"}"#, "did you mean `language`?"),
        ] {
            let error = serde_json::from_str::<Filter>(json).expect_err(json).to_string();
            assert!(error.contains(right), "{error}");
        }
        let path: Filter = serde_json::from_str(r#"{"field":"path","is":"docs"}"#).expect("a filter");
        assert_eq!(path, Filter::parse("path=docs").expect("a filter"));
        assert!(!Filter::default().passes(&full()), "a summary");
        assert!(!Filter::is(Field::LANGUAGE, "rust").passes(&full()), "a summary");
    }
}
