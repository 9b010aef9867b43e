//! The cache of vectors and notes.

use serde::{Deserialize, Serialize};

/// How much was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClearedCache {
    /// Number of entries.
    pub forgotten: usize,
}
