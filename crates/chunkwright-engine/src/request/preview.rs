//! Chunks of a text as it is typed.

use chunkwright::Record;
use chunkwright_source::FormatHint;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::notice::Notice;
use crate::request::documents::{DocumentStatistics, ExplainedChunk};
use crate::request::put::Base64;

/// A document to be cut for a look: exactly one of `text` and `bytes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PreviewRequest {
    /// Its name, which tells its format; without one it is Markdown.
    pub doc_id: Option<String>,
    /// Its text.
    pub text: Option<String>,
    /// Its bytes, in base64: a file of any format, such as PDF.
    pub bytes: Option<Base64>,
    /// What tells its format, if its name does not.
    pub hint: Option<FormatHint>,
    /// How it is cut: keys of the settings, over those in force.
    #[cfg_attr(feature = "schema", schemars(with = "crate::settings::schema::RequestedSettings"))]
    pub settings: Map<String, Value>,
    /// Whether the answer says of every chunk why it begins and ends where it does.
    pub explain: bool,
    /// Whether source code gets summaries of its files, classes and functions.
    pub summaries: bool,
    /// Number of chunks before the first that is answered.
    pub offset: usize,
    /// Most chunks that are answered, from 1 to 20,000; by default all, and a document of more than 20,000 is refused.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 20_000)))]
    pub limit: Option<usize>,
}

/// The chunks of a document, and what they are together.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PreviewAnswer {
    /// The document.
    pub doc_id: String,
    /// Its chunks, in order.
    pub chunks: Vec<Record>,
    /// Summaries of source code, where they were asked for; empty for other documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summaries: Option<Vec<Record>>,
    /// Why the chunks are as they are, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<ExplainedChunk>,
    /// Sizes, promises and lines.
    pub statistics: DocumentStatistics,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}
