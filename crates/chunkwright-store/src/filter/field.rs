//! The fields of records that conditions can name, and how their values are read.

use std::borrow::Cow;

use chunkwright::{Record, SummaryKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{FilterError, Test};

/// The name of a field that a condition may be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Field(&'static str);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Field {
    fn schema_name() -> Cow<'static, str> {
        "Field".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let aliases = Self::ALIASES.iter().map(|(alias, _)| *alias);
        let names: Vec<&str> = Self::all().map(Self::name).chain(aliases).collect();
        schemars::json_schema!({ "type": "string", "enum": names })
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::of(&name).ok_or_else(|| serde::de::Error::custom(FilterError::Field { name }))
    }
}

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// Text.
    Text,
    /// Numbers.
    Number,
    /// True or false.
    Bool,
    /// Lists of texts.
    List,
}

/// The fields by type. A test checks them against the record.
const FIELDS: &[(FieldType, &[&str])] = &[
    (
        FieldType::Text,
        &[
            "doc_id",
            "category",
            "language",
            "content_type",
            "artifact",
            "symbol",
            "chunk_id",
            "chunk_type",
            "parent",
            "previous",
            "next",
            "content",
            "context",
            "text",
            "header_path",
            "tokenizer",
            "token_level",
            "cut",
            "section_title",
            "prose_language",
            "strategy_version",
            "preset",
            "config_hash",
            "file_hash",
            "indexed_at",
            "symbols.function_name",
            "symbols.class_name",
            "symbols.parent_class",
        ],
    ),
    (
        FieldType::Number,
        &[
            "chunk_index",
            "total_chunks",
            "start_line",
            "end_line",
            "start_byte",
            "end_byte",
            "start_char",
            "end_char",
            "char_count",
            "word_count",
            "token_count",
            "section_index",
            "part.index",
            "part.total",
        ],
    ),
    (FieldType::Bool, &["oversize", "adaptive_chunking", "is_complete_document"]),
    (FieldType::List, &["section_path", "imports", "symbols.names"]),
];

/// Number of fields that an index holds in memory: a filter on these alone reads no record.
const QUICK: usize = 6;

impl Field {
    /// Key of the document.
    pub const DOC_ID: Self = Self("doc_id");
    /// `api`, `doc`, `demo`, `code` or a user rule's value.
    pub const CATEGORY: Self = Self("category");
    /// Programming or natural language.
    pub const LANGUAGE: Self = Self("language");
    /// Language of the document's prose: `en`, `zh`, `ru`.
    pub const PROSE_LANGUAGE: Self = Self("prose_language");
    /// `paragraph`, `function`, ...
    pub const CONTENT_TYPE: Self = Self("content_type");
    /// `chunk`, `function_summary`, `class_summary`, `file_summary`, `summary` for all of these, or `all`.
    pub const ARTIFACT: Self = Self("artifact");
    /// Name of a symbol that the chunk belongs to: `render`, or a longer qualified part of it, such as `Report.render`.
    pub const SYMBOL: Self = Self("symbol");

    /// What is embedded and searched.
    pub const TEXT: Self = Self("text");

    /// Part of the document's key, as `path:` in a query: a test of it becomes a condition on [`DOC_ID`](Self::DOC_ID).
    pub const PATH: Self = Self("path");

    /// Aliases of fields, for filters and queries: `lang:rust` and `lang=rust`.
    const ALIASES: &[(&str, Self)] = &[
        ("path", Self::PATH),
        ("lang", Self::LANGUAGE),
        ("type", Self::CONTENT_TYPE),
        ("prose", Self::PROSE_LANGUAGE),
    ];

    /// Fields that records do not have: they are derived from others.
    pub const EXTRA: &[&str] = &["symbol"];

    /// Every field.
    pub fn all() -> impl Iterator<Item = Self> {
        FIELDS.iter().flat_map(|(_, names)| names.iter().copied().map(Self))
    }

    /// The field of this name, or of the alias `path`, `lang` or `type` that queries use.
    pub fn of(name: &str) -> Option<Self> {
        let alias = Self::ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, field)| *field);
        alias.or_else(|| Self::all().find(|field| field.0 == name))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// What its values are.
    pub fn field_type(self) -> FieldType {
        let is_of = |names: &&[&str]| names.contains(&self.0);
        FIELDS.iter().find(|(_, names)| is_of(names)).map_or(FieldType::Text, |(field_type, _)| *field_type)
    }

    /// Returns whether its value is known without the record.
    pub fn is_quick(self) -> bool {
        FIELDS[0].1[..QUICK].contains(&self.0)
    }
}

/// The values of one chunk, for an evaluator.
pub trait Fields {
    /// The value of a field.
    fn get(&self, field: Field) -> Got<'_>;

    /// Whether the text passes a test of words, if that is known without the text.
    fn has_words(&self, _test: &Test) -> Option<bool> {
        None
    }

    /// The document's metadata under this name: what the caller said, and what the document says of itself. Only
    /// records have it.
    fn meta(&self, _name: &str) -> Vec<&str> {
        Vec::new()
    }
}

/// A field's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Got<'a> {
    /// It has none.
    Nothing,
    /// A text.
    Text(&'a str),
    /// A number.
    Number(u32),
    /// As the record has it in JSON.
    Value(&'a Value),
    /// By [`symbol_lines`].
    Symbols(Cow<'a, str>),
}

/// The fields of a chunk that an index knows without its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Document.
    pub doc_id: &'a str,
    /// As [`Record::category`](chunkwright::Record::category).
    pub category: &'a str,
    /// As [`Record::language`](chunkwright::Record::language).
    pub language: Option<&'a str>,
    /// As [`Record::content_type`](chunkwright::Record::content_type).
    pub content_type: &'a str,
    /// Kind of the summary; `None` for a chunk.
    pub artifact: Option<&'a str>,
    /// By [`symbol_lines`].
    pub symbols: &'a str,
}

impl Fields for Facts<'_> {
    fn get(&self, field: Field) -> Got<'_> {
        let optional = |value: Option<_>| value.map_or(Got::Nothing, Got::Text);
        match field {
            Field::DOC_ID => Got::Text(self.doc_id),
            Field::CATEGORY => Got::Text(self.category),
            Field::LANGUAGE => optional(self.language),
            Field::CONTENT_TYPE => Got::Text(self.content_type),
            Field::ARTIFACT => optional(self.artifact),
            Field::SYMBOL => Got::Symbols(self.symbols.into()),
            _ => Got::Nothing,
        }
    }
}

/// A record as JSON.
impl Fields for Value {
    fn get(&self, field: Field) -> Got<'_> {
        if field == Field::SYMBOL {
            let names =
                self.pointer("/symbols/names").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            return Got::Symbols(symbol_lines(names.iter().filter_map(Value::as_str)).into());
        }
        let found = field.0.split('.').try_fold(self, |value, key| value.get(key));
        found.filter(|value| !value.is_null()).map_or(Got::Nothing, Got::Value)
    }

    fn meta(&self, name: &str) -> Vec<&str> {
        let said = self.get("meta").and_then(|meta| meta.get(name));
        let own = self.get("properties").and_then(|properties| properties.get(name.to_lowercase()));
        let own = own.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        said.into_iter().chain(own).filter_map(Value::as_str).collect()
    }
}

/// The facts that an index keeps of a record; `symbols` is the result of [`record_symbols`].
pub fn facts<'a>(record: &'a Record, symbols: &'a str) -> Facts<'a> {
    Facts {
        doc_id: &record.doc_id,
        category: &record.category,
        language: record.language.as_deref(),
        content_type: &record.content_type,
        artifact: record.artifact.map(SummaryKind::name),
        symbols,
    }
}

/// [`symbol_lines`] of a record.
pub fn record_symbols(record: &Record) -> String {
    let names = record.symbols.as_ref().map_or(&[][..], |symbols| &symbols.names);
    symbol_lines(names.iter().map(String::as_str))
}

/// The names that a chunk's symbols can be searched by, one per line, with `\n` at both ends: each qualified name, and
/// the part of it after each dot. `::` counts as a dot.
fn symbol_lines<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut lines = String::new();
    for name in names {
        let name = name.replace("::", ".");
        let ends = name.match_indices('.').map(|(at, _)| &name[at + 1..]);
        for end in [name.as_str()].into_iter().chain(ends) {
            let line = format!("\n{end}\n");
            if !lines.contains(&line) {
                lines.push_str(if lines.is_empty() { &line } else { &line[1..] });
            }
        }
    }
    lines
}
