//! Changes to chunks by hand, and the overlays that they leave.

use chunkwright_index::{Filter, ListedOverlay};
use serde::{Deserialize, Serialize};

/// A change by hand to how chunks are found. What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AmendRequest {
    /// The chunks, by their ids, by those that overlays were made for, or as `DOC_ID#INDEX` (also `DOC_ID_chunkINDEX`).
    /// What names a boundary can only be reset, which takes it back, or accepted.
    pub chunks: Vec<String>,
    /// The chunks that pass, hidden or not, beside those named; an empty filter selects none.
    #[serde(deserialize_with = "crate::request::search::options::filter")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::request::search::options::FilterForm"))]
    pub filter: Filter,
    /// Whether searches may find them.
    pub enabled: Option<bool>,
    /// What is embedded and searched instead of the text, within the limit; empty takes it back.
    pub text: Option<String>,
    /// Words that they are also found by; none takes them back.
    pub keywords: Option<Vec<String>>,
    /// Queries that they are the first answer to; none takes them back.
    pub pins: Option<Vec<String>>,
    /// Whether text, keywords and queries are taken back before the rest is done.
    pub reset: bool,
    /// Whether a change that was carried or is in conflict is accepted on the chunk that it is on now.
    pub accept: bool,
    /// Versions of which every chunk that is named must have one, or nothing is changed: the `ETag`s of the chunks that
    /// the caller saw. None for any; `*` is every version.
    pub expected: Vec<String>,
}

/// The overlays that a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct OverlaysRequest {
    /// Only those that need a review: carried, in conflict, orphaned, or not yet applied.
    pub review: bool,
}

/// Overlays, by chunk id.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverlaysAnswer {
    /// Those that were asked for.
    pub overlays: Vec<ListedOverlay>,
    /// Number of all overlays of the collection.
    pub total: usize,
}
