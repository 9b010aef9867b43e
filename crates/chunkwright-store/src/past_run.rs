//! Runs that changed a collection, as its store remembers them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A run that changed a collection, as its store remembers it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PastRun {
    /// Which run of the collection it was, from 1.
    pub number: u64,
    /// When it began, in UTC, as RFC 3339 has it.
    pub at: String,
    /// Number of the generation that was brought up to date.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub generation: Option<i64>,
    /// Documents written, empty ones and those of other paths among them.
    pub indexed: usize,
    /// Documents whose stored version was still right.
    pub unchanged: usize,
    /// Documents removed.
    pub removed: usize,
    /// Documents that could not be indexed.
    pub failed: usize,
    /// Chunks of the documents written.
    pub chunks: usize,
    /// Texts embedded.
    pub embedded: usize,
    /// Texts whose vectors were known already.
    pub reused: usize,
    /// Tokens of the texts whose vectors were not known.
    pub tokens: usize,
    /// Files and folders left out, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub skipped: BTreeMap<String, usize>,
    /// Whether it was told to stop before its end.
    pub cancelled: bool,
    /// Where the time went; none where the caller gave no clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timings: Option<Timings>,
}

impl PastRun {
    /// How many runs of a collection are remembered, the last ones.
    pub const KEPT: usize = 100;
}

/// Where the time of a run went, in milliseconds. Files are read and cut on several threads at once, whose times are
/// added, while texts of earlier ones are embedded: the stages need not add up to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timings {
    /// Reading files.
    pub read_ms: u64,
    /// Decoding, parsing and cutting.
    pub cut_ms: u64,
    /// Asking the embedder, and looking up what it said before.
    pub embed_ms: u64,
    /// Writing documents to the store.
    pub store_ms: u64,
    /// From the beginning to the end.
    pub total_ms: u64,
}
