//! The stored form of records: JSON with names of one or two letters, without what follows from the document, the
//! generation, the source, other columns and neighbouring chunks. A record's full names would take more room than its
//! values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chunkwright::chunk::Part;
use chunkwright::record::{AdaptiveFields, Symbols};
use chunkwright::stats::TokenLevel;
use chunkwright::{ChunkId, Cut, Position, Record, SummaryKind};
use serde::{Deserialize, Deserializer, Serialize};

use super::read::damaged;
use crate::document::DocumentInfo;
use crate::error::StoreError;
use crate::generation::Generation;

/// Declares [`Stored`] and the functions over all of its fields. Each field has a short name in JSON, and is read by
/// either name. Names may be added but never changed, since stored records have them.
macro_rules! stored {
    ($($field:ident: $type:ty = $name:literal;)*) => {
        /// A record of which any field may be absent. A field that is present without a value is `null`.
        #[derive(Clone, Debug, Default, Serialize, Deserialize)]
        #[serde(default)]
        pub(super) struct Stored<'a> {
            $(#[serde(rename(serialize = $name), alias = $name)]
            #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
            $field: Option<Cow<'a, $type>>,)*
            #[serde(flatten)]
            adaptive: Option<Cow<'a, AdaptiveFields>>,
        }

        impl<'a> Stored<'a> {
            /// The fields of a record that differ from the known ones.
            fn unknown(record: &'a Record, known: &Stored<'_>) -> Self {
                Self {
                    $($field: (known.$field.as_deref() != Some(&record.$field)).then_some(Cow::Borrowed(&record.$field)),)*
                    adaptive: record.adaptive.as_ref().map(Cow::Borrowed),
                }
            }

            /// The full record, with known values for absent fields.
            fn record(self, chunk_id: ChunkId, known: &Stored<'_>) -> Result<Record, StoreError> {
                $(let $field = match (self.$field, &known.$field) {
                    (Some(value), _) => value.into_owned(),
                    (None, Some(value)) => value.clone().into_owned(),
                    (None, None) => return Err(unreadable(concat!("missing field `", stringify!($field), "`"))),
                };)*
                Ok(Record { chunk_id, $($field,)* adaptive: self.adaptive.map(Cow::into_owned) })
            }
        }

        #[cfg(test)]
        const NAMES: &[(&str, &str)] = &[$((stringify!($field), $name)),*];
    };
}

stored! {
    doc_id: String = "doc_id";
    artifact: Option<SummaryKind> = "f";
    chunk_index: u32 = "i";
    total_chunks: u32 = "n";
    parent: String = "p";
    previous: Option<ChunkId> = "b";
    next: Option<ChunkId> = "a";
    content: String = "content";
    context: String = "c";
    text: String = "text";
    start_line: u32 = "l";
    end_line: u32 = "m";
    start_byte: u32 = "s";
    end_byte: u32 = "e";
    start_char: u32 = "u";
    end_char: u32 = "v";
    position: Option<Position> = "z";
    header_path: String = "h";
    section_path: Vec<String> = "q";
    content_type: String = "t";
    chunk_type: String = "k";
    category: String = "g";
    language: Option<String> = "d";
    prose_language: Option<String> = "pl";
    symbols: Option<Symbols> = "y";
    imports: Option<Vec<String>> = "x";
    char_count: u32 = "cc";
    word_count: u32 = "wc";
    token_count: u32 = "tc";
    tokenizer: String = "tk";
    token_level: TokenLevel = "tl";
    oversize: bool = "o";
    part: Option<Part> = "r";
    cut: Cut = "w";
    strategy_version: String = "strategy_version";
    preset: String = "preset";
    config_hash: String = "config_hash";
    file_hash: String = "file_hash";
    indexed_at: Option<String> = "indexed_at";
    properties: BTreeMap<String, Vec<String>> = "pr";
    meta: BTreeMap<String, String> = "meta";
}

/// A present value, which may be `null`.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The data of a chunk that is known without its record.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Its index in the document.
    pub(super) index: u32,
    pub(super) category: String,
    pub(super) content_type: String,
    pub(super) start: u32,
    pub(super) end: u32,
    /// The chunks before and after it, if it and they are chunks and not summaries.
    pub(super) previous: Option<ChunkId>,
    pub(super) next: Option<ChunkId>,
}

impl<'a> Stored<'a> {
    /// The default field values: those that most records have.
    pub(super) fn usual() -> Self {
        Self {
            artifact: Some(Cow::Owned(None)),
            previous: Some(Cow::Owned(None)),
            next: Some(Cow::Owned(None)),
            context: Some(Cow::default()),
            position: Some(Cow::Owned(None)),
            header_path: Some(Cow::default()),
            section_path: Some(Cow::default()),
            language: Some(Cow::Owned(None)),
            prose_language: Some(Cow::Owned(None)),
            symbols: Some(Cow::Owned(None)),
            imports: Some(Cow::Owned(None)),
            token_level: Some(Cow::Owned(TokenLevel::Normal)),
            oversize: Some(Cow::Owned(false)),
            part: Some(Cow::Owned(None)),
            indexed_at: Some(Cow::Owned(None)),
            properties: Some(Cow::default()),
            meta: Some(Cow::default()),
            ..Self::default()
        }
    }

    /// The field values that a document and its generation determine for every record.
    pub(super) fn of_document(generation: &'a Generation, info: &'a DocumentInfo) -> Self {
        Self {
            doc_id: Some(Cow::Borrowed(&info.doc_id)),
            parent: Some(Cow::Borrowed(&info.doc_id)),
            strategy_version: Some(Cow::Borrowed(&generation.spec.strategy_version)),
            config_hash: Some(Cow::Borrowed(&generation.spec.config_hash)),
            preset: Some(Cow::Borrowed(&info.preset)),
            file_hash: Some(Cow::Borrowed(&info.file_hash)),
            indexed_at: Some(Cow::Owned(Some(info.indexed_at.clone()))),
            meta: Some(Cow::Borrowed(&info.meta)),
            ..Self::usual()
        }
    }

    /// Adds the field values that a chunk's place determines.
    pub(super) fn at(&self, place: &'a Place) -> Self {
        Self {
            chunk_index: Some(Cow::Owned(place.index)),
            category: Some(Cow::Borrowed(&place.category)),
            chunk_type: Some(Cow::Borrowed(&place.category)),
            content_type: Some(Cow::Borrowed(&place.content_type)),
            start_byte: Some(Cow::Owned(place.start)),
            end_byte: Some(Cow::Owned(place.end)),
            previous: Some(Cow::Owned(place.previous)),
            next: Some(Cow::Owned(place.next)),
            ..self.clone()
        }
    }

    /// Adds content and text if the record lacks them: the text is the borrowed context, the content and `tail`.
    fn with_content(mut self, content: String, tail: &str) -> Self {
        let borrowed = self.context.as_deref().map_or("", String::as_str);
        self.text = Some(Cow::Owned([borrowed, &content, tail].concat()));
        self.content = Some(Cow::Owned(content));
        self
    }
}

/// Encodes a record without its known fields, and without content and text if `has_tail`.
pub(super) fn encode(record: &Record, known: &Stored<'_>, has_tail: bool) -> Result<String, StoreError> {
    let mut stored = Stored::unknown(record, known);
    if has_tail {
        (stored.content, stored.text) = (None, None);
    }
    serde_json::to_string(&stored).map_err(|error| StoreError::Unwritable { reason: error.to_string() })
}

/// Decodes a stored record, with `content` and the tail after it if they are not in `json`.
pub(super) fn decode(
    json: &str,
    chunk_id: ChunkId,
    known: &Stored<'_>,
    content: Option<(&str, String)>,
) -> Result<Record, StoreError> {
    let stored: Stored<'_> = serde_json::from_str(json).map_err(unreadable)?;
    let stored = match content {
        Some((tail, content)) => stored.with_content(content, tail),
        None => stored,
    };
    stored.record(chunk_id, known)
}

fn unreadable(error: impl std::fmt::Display) -> StoreError {
    damaged(&format!("a chunk cannot be read: {error}"))
}

/// The fields of a stored record that columns read; reading the whole record would be ten times the work.
#[derive(Debug, Deserialize)]
pub(super) struct Facets<'a> {
    #[serde(rename = "tc", alias = "token_count")]
    pub(super) token_count: u32,
    #[serde(rename = "w", alias = "cut")]
    pub(super) cut: Cut,
    /// `None` if it equals the category.
    #[serde(rename = "k", alias = "chunk_type", borrow, default)]
    pub(super) chunk_type: Option<Cow<'a, str>>,
    /// `None` if it is the generation's.
    #[serde(borrow, default)]
    pub(super) strategy_version: Option<Cow<'a, str>>,
}

impl<'a> Facets<'a> {
    pub(super) fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

/// The fields of a stored record that its text is made of.
#[derive(Debug, Deserialize)]
pub(super) struct StoredText<'a> {
    #[serde(rename = "c", alias = "context", borrow, default)]
    pub(super) context: Cow<'a, str>,
    /// Empty if the text is the context, the content and the tail.
    #[serde(borrow, default)]
    pub(super) text: Cow<'a, str>,
}

impl<'a> StoredText<'a> {
    pub(super) fn read(json: &'a str) -> Result<Self, StoreError> {
        serde_json::from_str(json).map_err(unreadable)
    }
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
