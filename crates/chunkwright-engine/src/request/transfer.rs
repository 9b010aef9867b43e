//! Records that leave a collection or come into it.

use chunkwright_index::transfer::Imported;
use serde::{Deserialize, Serialize};

use crate::notice::Notice;

/// What of a collection is exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ExportRequest {
    /// Vectors too.
    pub vectors: bool,
    /// Records and changes by hand only, without the documents.
    pub records_only: bool,
}

/// What an import did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportAnswer {
    /// What came in.
    #[serde(flatten)]
    pub imported: Imported,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}
