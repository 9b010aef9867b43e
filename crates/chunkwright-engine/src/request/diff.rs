//! Comparisons of chunks.

use chunkwright::diff::{Diff, Summary};
use chunkwright::{ChunkId, Record};
use chunkwright_index::Glob;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::notice::Notice;
use crate::request::documents::ReadReport;

/// Maximum number of chunks in an immediate answer, on either side of a comparison or in a preview.
pub const MOST_CHUNKS: usize = 20_000;

/// Which documents are cut again for a comparison, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PlannedDiffRequest {
    /// Only this document.
    pub doc_id: Option<String>,
    /// Only documents whose id matches this pattern.
    pub source: Option<Glob>,
    /// How they would be cut: keys of the settings, over those in force.
    #[cfg_attr(feature = "schema", schemars(with = "crate::settings::schema::RequestedSettings"))]
    pub settings: Map<String, Value>,
    /// Whether only the counts are answered, without every chunk.
    pub summary_only: bool,
}

/// What a comparison came to, whose changes were written elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedDiffAnswer {
    /// The counts.
    pub summary: Summary,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// What became of chunks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffAnswer {
    /// Every chunk of either side, and the sums.
    #[serde(flatten)]
    pub diff: Diff,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// What of folders was not read, of the old side and the new one.
    #[serde(skip)]
    pub reports: Vec<ReadReport>,
    #[serde(skip)]
    pub(crate) old: Vec<Record>,
    #[serde(skip)]
    pub(crate) new: Vec<Record>,
    /// Records of the old side that are of other documents than the one that was compared.
    #[serde(skip)]
    pub(crate) others: Vec<Record>,
}

/// What a vector database has to do that holds the chunks of the old side and shall hold those of the new one. Done in
/// order, every chunk has the vector of its text, and a text is embedded only if no chunk had it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Operation<'a> {
    /// Add a chunk.
    Upsert {
        /// Its id.
        chunk_id: ChunkId,
        /// The chunk whose vector it has; without it, the text is to be embedded.
        #[serde(skip_serializing_if = "Option::is_none")]
        vector_of: Option<ChunkId>,
        /// The chunk.
        record: &'a Record,
    },
    /// Give a chunk another id and record, and keep its vector: its document was renamed.
    Rename {
        /// Its id from now on.
        chunk_id: ChunkId,
        /// Its id until now.
        old_chunk_id: ChunkId,
        /// The chunk.
        record: &'a Record,
    },
    /// Give a chunk another record, and keep its id and its vector.
    Update {
        /// Its id.
        chunk_id: ChunkId,
        /// The chunk.
        record: &'a Record,
    },
    /// Remove a chunk.
    Delete {
        /// Its id.
        chunk_id: ChunkId,
    },
}
