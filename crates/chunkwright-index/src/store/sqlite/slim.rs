//! Records as they lie in the table: JSON with names of one or two letters, and without what the document,
//! the generation, the source, other columns and the chunks beside it say. A record's names take more room than its
//! values.

mod fields;

use std::borrow::Cow;

use chunkwright::{ChunkId, Record};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use fields::Fields;

use super::super::{DocumentInfo, Generation, StoreError};
use super::read::damaged;

/// What stands for a record's names. To be added to only: what is stored has them. A name that is not here
/// stands for itself.
const NAMES: &[(&str, &str)] = &[
    ("chunk_index", "i"),
    ("total_chunks", "n"),
    ("parent", "p"),
    ("previous", "b"),
    ("next", "a"),
    ("context", "c"),
    ("start_line", "l"),
    ("end_line", "m"),
    ("start_byte", "s"),
    ("end_byte", "e"),
    ("start_char", "u"),
    ("end_char", "v"),
    ("header_path", "h"),
    ("section_path", "q"),
    ("content_type", "t"),
    ("chunk_type", "k"),
    ("category", "g"),
    ("language", "d"),
    ("symbols", "y"),
    ("imports", "x"),
    ("char_count", "cc"),
    ("word_count", "wc"),
    ("token_count", "tc"),
    ("tokenizer", "tk"),
    ("token_level", "tl"),
    ("oversize", "o"),
    ("part", "r"),
    ("cut", "w"),
    ("artifact", "f"),
    ("position", "z"),
    ("prose_language", "pl"),
];

/// Values that are left out, since many records have them.
fn usual() -> [(&'static str, Value); 5] {
    [
        ("oversize", Value::Bool(false)),
        ("token_level", "normal".into()),
        ("context", "".into()),
        ("header_path", "".into()),
        ("section_path", Value::Array(Vec::new())),
    ]
}

/// What a document and its generation say of every record, by the record's names.
pub(super) fn common(generation: &Generation, info: &DocumentInfo) -> Vec<(&'static str, Value)> {
    let text = |text: &str| Value::String(text.into());
    let said = [
        ("doc_id", text(&info.doc_id)),
        ("parent", text(&info.doc_id)),
        ("strategy_version", text(&generation.spec.strategy_version)),
        ("config_hash", text(&generation.spec.config_hash)),
        ("preset", text(&info.preset)),
        ("file_hash", text(&info.file_hash)),
        ("indexed_at", text(&info.indexed_at)),
    ];
    let meta = (!info.meta.is_empty()).then(|| ("meta", json!(info.meta)));
    said.into_iter().chain(meta).chain(usual()).collect()
}

/// What is known of a chunk without its record.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Its number in the document.
    pub(super) index: usize,
    pub(super) category: String,
    pub(super) content_type: String,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The chunks before and after it, if it and they are chunks and not summaries.
    pub(super) previous: Option<ChunkId>,
    pub(super) next: Option<ChunkId>,
}

impl Place {
    /// What the place says of the record, by the record's names.
    fn said(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let id = |id: Option<ChunkId>| id.map(|id| Value::String(id.to_string()));
        let said = [
            ("chunk_index", Some(self.index.into())),
            ("category", Some(self.category.as_str().into())),
            ("chunk_type", Some(self.category.as_str().into())),
            ("content_type", Some(self.content_type.as_str().into())),
            ("start_byte", Some(self.start.into())),
            ("end_byte", Some(self.end.into())),
            ("previous", id(self.previous)),
            ("next", id(self.next)),
        ];
        said.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

/// What is said of a record elsewhere, as JSON.
pub(super) fn as_json(
    said: impl IntoIterator<Item = (&'static str, Value)>,
) -> impl Iterator<Item = (&'static str, String)> {
    said.into_iter().map(|(name, value)| (name, value.to_string()))
}

/// A record without what `common` (as JSON) and its place say, and without content and text if `has_tail`.
pub(super) fn slim(
    record: &Record,
    common: &[(&'static str, String)],
    place: Option<&Place>,
    has_tail: bool,
) -> Result<String, StoreError> {
    let place: Vec<(&'static str, String)> = as_json(place.into_iter().flat_map(Place::said)).collect();
    let common: Vec<(&str, &str)> =
        common.iter().chain(&place).map(|(name, value)| (*name, value.as_str())).collect();
    let mut json = String::from("{");
    let mut add = |name: &str, value: &str| {
        let separator = if json.len() > 1 { "," } else { "" };
        json.extend([separator, "\"", name, "\":", value]);
    };
    let mut said = vec![false; common.len()];
    let wanted = |name: &str| !(name == "chunk_id" || has_tail && (name == "content" || name == "text"));
    let mut each = |name: &str, value: &str| {
        if let Some(at) = common.iter().position(|(common, _)| *common == name) {
            said[at] = true;
            if common[at].1 == value {
                return;
            }
        }
        let short = NAMES.iter().find(|(long, _)| *long == name).map_or(name, |(_, short)| short);
        add(short, value);
    };
    record
        .serialize(Fields::new(&wanted, &mut each))
        .map_err(|error| StoreError::Unwritable { reason: error.to_string() })?;
    // What it does not say must not be filled in.
    for ((name, _), _) in common.iter().zip(said).filter(|(_, said)| !said) {
        add(name, "null");
    }
    json.push('}');
    Ok(json)
}

/// A record, whole again; `content` and the tail after it, where they are not in `json`.
pub(super) fn whole(
    json: &str,
    chunk_id: ChunkId,
    common: &[(&'static str, Value)],
    place: &Place,
    content: Option<(&str, String)>,
) -> Result<Record, StoreError> {
    let unreadable = |error| damaged(&format!("a chunk cannot be read: {error}"));
    let stored: Map<String, Value> = serde_json::from_str(json).map_err(unreadable)?;
    let long =
        |key: String| NAMES.iter().find(|(_, short)| *short == key).map_or(key, |(name, _)| (*name).into());
    let mut fields: Map<String, Value> = stored.into_iter().map(|(key, value)| (long(key), value)).collect();
    for (key, value) in common.iter().cloned().chain(place.said()) {
        if !fields.contains_key(key) {
            fields.insert(key.to_owned(), value);
        }
    }
    fields.insert("chunk_id".into(), chunk_id.to_string().into());
    if let Some((tail, content)) = content {
        let borrowed = fields.get("context").and_then(Value::as_str).unwrap_or_default();
        let text = [borrowed, &content, tail].concat();
        fields.insert("text".into(), text.into());
        fields.insert("content".into(), content.into());
    }
    serde_json::from_value(Value::Object(fields)).map_err(unreadable)
}

/// What columns read of a stored record: in place of the whole, which is ten times the work.
#[derive(Debug, Deserialize)]
pub(super) struct Said<'a> {
    #[serde(rename = "tc", alias = "token_count")]
    pub(super) token_count: u32,
    /// None where it is the category.
    #[serde(rename = "k", alias = "chunk_type", borrow, default)]
    pub(super) chunk_type: Option<Cow<'a, str>>,
    /// None where it is the generation's.
    #[serde(borrow, default)]
    pub(super) strategy_version: Option<Cow<'a, str>>,
}

impl<'a> Said<'a> {
    pub(super) fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

/// A stored record with another parent.
pub(super) fn with_parent(json: &str, doc_id: &str, parent: &str) -> Result<String, StoreError> {
    let unreadable = |error| damaged(&format!("a chunk cannot be read: {error}"));
    let mut stored: Map<String, Value> = serde_json::from_str(json).map_err(unreadable)?;
    stored.shift_remove("parent");
    stored.shift_remove("p");
    if parent != doc_id {
        stored.insert("p".into(), parent.into());
    }
    Ok(Value::Object(stored).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_stand_for_one_name_each_and_for_no_other() {
        for (at, (name, short)) in NAMES.iter().enumerate() {
            let others = NAMES.iter().enumerate().filter(|(other, _)| *other != at);
            for (_, (other, other_short)) in others {
                assert!(name != other && short != other_short && short != other, "{name} {short}");
            }
        }
    }
}
