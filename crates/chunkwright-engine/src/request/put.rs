//! Documents whose content the caller has.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chunkwright_source::memory::printable;
use chunkwright_source::{FormatHint, NewSource};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::notice::Notice;

/// Documents to be stored, each in place of the one that the collection has under its id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PutRequest {
    /// The documents; one at least.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub documents: Vec<GivenDocument>,
    /// How a new collection is cut: keys of the settings. A collection that exists is cut as it was.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "crate::settings::schema::RequestedSettings"))]
    pub settings: Map<String, Value>,
    /// Whether files with credentials are stored too, which are left out otherwise, as in folders.
    #[serde(default)]
    pub force: bool,
}

/// A document of which the caller has the content: exactly one of `text` and `bytes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GivenDocument {
    /// Its key in the collection: printable, without a part `.` or `..`, at most 1,024 bytes.
    pub doc_id: String,
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its bytes, in base64: a file of any format, such as PDF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Base64>,
    /// What tells its format, if its id does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<FormatHint>,
    /// What is said of it, by name.
    #[serde(default)]
    pub meta: BTreeMap<String, String>,
}

/// Bytes, in JSON as base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base64(pub Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = |error| serde::de::Error::custom(format!("`bytes` must be base64: {error}"));
        STANDARD.decode(text).map(Self).map_err(wrong)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Base64 {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Base64".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "contentEncoding": "base64", "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$" })
    }
}

/// What became of documents. What is stored is stored durably.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutAnswer {
    /// The collection.
    pub collection: String,
    /// Number of the generation that they were written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// The documents, in the order of the request.
    pub documents: Vec<PutResult>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// What became of one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutResult {
    /// The document.
    pub doc_id: String,
    /// What became of it.
    pub state: PutState,
    /// Number of its chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u32>,
    /// Number of its stored version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// Why it was not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What became of a document that was to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PutState {
    /// It is stored.
    Stored,
    /// It was stored before, the same.
    Unchanged,
    /// It was left out, as a folder's files with credentials are; what was stored before stays.
    Skipped,
    /// It could not be read; what was stored before stays.
    Failed,
}

impl GivenDocument {
    /// The document, if a collection can store it.
    pub(crate) fn source(self) -> Result<NewSource, Error> {
        let doc_id = printable(&self.doc_id);
        let bytes = match (self.text, self.bytes) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(Base64(bytes))) => bytes,
            _ => return Err(Error::TextOrBytes { doc_id }),
        };
        let source = NewSource { doc_id: self.doc_id, bytes, hint: self.hint };
        source.check().map_err(|error| Error::RefusedDocument { doc_id, reason: error.to_string() })?;
        Ok(source)
    }
}
