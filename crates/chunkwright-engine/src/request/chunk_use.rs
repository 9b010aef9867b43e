//! Use of chunks: how often each was found and fetched.

use chunkwright::ChunkId;
use serde::{Deserialize, Serialize};

/// Which chunks are listed, by their use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UseState {
    /// Those that searches found, the most found first.
    #[default]
    Found,
    /// Those that agents fetched, the most fetched first.
    Fetched,
    /// Those that were neither found nor fetched, in the order of documents.
    Never,
}

/// Which chunks are listed, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseRequest {
    /// By their use.
    pub state: UseState,
    /// Most chunks that are listed.
    pub limit: usize,
}

/// Use of the chunks of a collection since the log of queries begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UseAnswer {
    /// When the first query of the log was answered, ISO 8601; none while it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Number of queries and fetches in the log that met chunks of the collection.
    pub queries: usize,
    /// Number of chunks.
    pub chunks: usize,
    /// Number of chunks that were found at least once.
    pub found: usize,
    /// Number of chunks that were fetched by their id at least once.
    pub fetched: usize,
    /// Number of chunks that were neither found nor fetched.
    pub never: usize,
    /// The listed chunks.
    pub rows: Vec<ChunkUse>,
}

/// A chunk and its use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChunkUse {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Its document.
    pub doc_id: String,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, 1-based, inclusive.
    pub end_line: u32,
    /// All titles from the outermost.
    pub section_path: Vec<String>,
    /// How often searches found it.
    pub found: u64,
    /// How often it was fetched by its id.
    pub fetched: u64,
    /// When it was last found or fetched, ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}
