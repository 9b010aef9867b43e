//! Documents that are cut, explained, outlined and measured.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chunkwright::chunk::ChunkIn;
use chunkwright::explain::Explanation;
use chunkwright::stats::{Distribution, TokenLevel};
use chunkwright::{ChunkId, Unit};
use chunkwright_source::{Input, Skipped};
use serde::{Deserialize, Serialize};

use crate::notice::Notice;
use crate::request::shard::Shard;

/// The documents to process. Not a JSON type, since each front end receives bytes in its own way.
#[derive(Clone, Debug, Default)]
pub struct DocumentsRequest {
    /// Files, folders and documents from memory.
    pub inputs: Vec<Input>,
    /// Only the documents of this shard.
    pub shard: Option<Shard>,
    /// Files that are never documents, such as the file of results. Absolute paths, with links resolved.
    pub exclude: Vec<PathBuf>,
}

/// What was read, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadReport {
    /// Documents found, whichever shard they are of, without those that could not be read.
    pub found: usize,
    /// What was left out, and why.
    pub skipped: Vec<Skipped>,
    /// What could not be read although it was asked for, one sentence each.
    pub errors: Vec<String>,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// Which chunks of a document are explained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ExplainRequest {
    /// Only those that hold this line, 1-based; all without it.
    pub line: Option<usize>,
}

/// Explanations of the chunks of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainAnswer {
    /// Number of chunks that the document has.
    pub total_chunks: usize,
    /// The explanations asked for, in order; none where a blank line or an empty document was asked for.
    pub chunks: Vec<ExplainedChunk>,
}

/// An explanation, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainedChunk {
    /// The document.
    pub doc_id: String,
    /// Why the chunk is as it is.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// Its own text.
    #[serde(skip)]
    pub content: String,
}

impl From<ChunkIn<'_>> for ExplainedChunk {
    fn from(chunk: ChunkIn<'_>) -> Self {
        Self {
            doc_id: chunk.chunks().document().id().to_owned(),
            explanation: chunk.explain(),
            content: chunk.content().to_owned(),
        }
    }
}

/// The sections of a document, the whole document first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct OutlineAnswer {
    /// The document and its sections, in order.
    pub sections: Vec<OutlineRow>,
}

/// A document or one of its sections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutlineRow {
    /// The document.
    pub doc_id: String,
    /// `document`, `heading`, `key`, or the kind of a symbol.
    pub kind: &'static str,
    /// Its own title.
    pub title: String,
    /// Titles from the outermost, its own included.
    pub section_path: Vec<String>,
    /// First line, 1-based.
    pub start_line: usize,
    /// Last line that is not blank, 1-based, inclusive.
    pub end_line: usize,
    /// Tokens of its text, what is inside it included.
    pub tokens: usize,
    /// The lines that announce a symbol.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub signature: String,
    /// The language of source code, of the document only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'static str>,
    /// What the language was detected by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told_by: Option<String>,
}

/// What is measured, over all documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DocumentStatistics {
    /// Name of the preset.
    pub preset: String,
    /// The strategy and its version.
    pub strategy_version: String,
    /// Hash of every setting that moves a boundary.
    pub config_hash: String,
    /// What counts tokens.
    pub tokenizer: String,
    /// Number of documents read.
    pub documents: usize,
    /// Documents without a visible character.
    pub empty: usize,
    /// Bytes of their texts.
    pub bytes: usize,
    /// Number of chunks.
    pub chunks: usize,
    /// Tokens of the chunks' texts.
    pub tokens: Distribution,
    /// What sizes are counted in.
    pub unit: Unit,
    /// The limit, in `unit`.
    pub max_size: usize,
    /// Sizes of the chunks' texts, in `unit`.
    pub sizes: Distribution,
    /// Chunks smaller than `min_size`.
    pub below_min: usize,
    /// Chunks over the limit because a block is kept whole.
    pub oversize: usize,
    /// Number of chunks of each level.
    pub levels: BTreeMap<TokenLevel, usize>,
    /// What to do about chunks of high levels; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Number of chunks of each type.
    pub content_types: BTreeMap<String, usize>,
    /// Number of chunks that begin by each rule.
    pub cuts: BTreeMap<String, usize>,
    /// The band of sizes that is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<[usize; 2]>,
    /// Share of chunks whose size is in the band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimal_ratio: Option<f64>,
    /// What became of the lines.
    pub coverage: Coverage,
    /// Promises that were broken.
    pub violations: Vec<Violation>,
}

/// What became of the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Non-blank lines of the documents read.
    pub lines: usize,
    /// Those of which every visible character is in a chunk.
    pub lines_in_chunks: usize,
    /// Files and folders left out, by reason.
    pub skipped: BTreeMap<String, usize>,
}

/// How documents are cut, beside what the settings say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ChunkRequest {
    /// Also make summaries of files, classes and functions of source code.
    pub summaries: bool,
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Violation {
    /// Which promise.
    pub rule: Promise,
    /// The document.
    pub doc_id: String,
    /// The chunk, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_id: Option<ChunkId>,
    /// First line it is about, 1-based.
    pub line: usize,
    /// What was found.
    pub found: String,
}

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    /// A chunk's content is exactly its bytes of the source.
    ContentIsSource,
    /// A text is within the limit, or says that it is not.
    WithinLimit,
    /// No two chunks have one id.
    UniqueIds,
    /// Every visible character is in a chunk.
    NothingLost,
}
