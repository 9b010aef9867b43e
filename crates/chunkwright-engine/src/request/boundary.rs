//! Boundaries that are set by hand.

use serde::{Deserialize, Serialize};

/// A chunk to be divided, or joined to the one beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BoundaryRequest {
    /// The chunk, by its id, or as `DOC_ID#INDEX`.
    pub chunk: String,
    /// What is done.
    pub change: BoundaryChange,
}

/// What is done to a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BoundaryChange {
    /// Another chunk begins at this line of the document, 1-based.
    SplitAtLine(u32),
    /// Another chunk begins at this byte of the document.
    SplitAtByte(u32),
    /// It is joined to the chunk after it.
    MergeWithNext,
    /// It is joined to the chunk before it.
    MergeWithPrevious,
}

/// What became of a chunk that was divided, or joined to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundaryAnswer {
    /// Its document.
    pub doc_id: String,
    /// What names the boundary that was set, by which it is taken back as other changes by hand are; none if one was
    /// taken back instead.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub boundary: Option<String>,
    /// The chunks before and after the boundary, or the one that two were joined to.
    pub chunks: Vec<String>,
}
