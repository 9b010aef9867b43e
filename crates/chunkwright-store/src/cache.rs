//! The cache of what is expensive to make: vectors and notes. They belong to texts, not to chunks, and outlive both.

use chunkwright_models::TextHash;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::vector::Vector;

/// Caches vectors by model and text, and notes by the input that they were made from.
///
/// # Errors
///
/// Every method fails if the storage engine does.
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, above")]
pub trait Cache: Send + Sync {
    /// The vectors of `hashes` by `model`, in order; `None` where unknown.
    fn vectors(&self, model: &str, hashes: &[TextHash]) -> Result<Vec<Option<Vector>>, StoreError>;

    /// Stores vectors by `model`, those of a text as one entry. If one cannot be compared, or is of another kind than
    /// those stored, all are rejected.
    fn put_vectors(&self, model: &str, vectors: &[(TextHash, Vector)]) -> Result<(), StoreError>;

    /// The notes by their keys, in order; `None` where unknown.
    fn notes(&self, keys: &[TextHash]) -> Result<Vec<Option<String>>, StoreError>;

    /// Stores notes.
    fn put_notes(&self, notes: &[(TextHash, String)]) -> Result<(), StoreError>;

    /// The contents of the cache: vectors by model, then notes.
    fn usage(&self) -> Result<Vec<CacheUsage>, StoreError>;

    /// Removes entries that no chunk needs; returns their number.
    fn clear(&self) -> Result<usize, StoreError>;
}

/// How much a cache remembers of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheUsage {
    /// The model whose vectors they are; none for notes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// Number of entries.
    pub entries: usize,
    /// Their size, without codes of tokens and the engine's bookkeeping.
    pub bytes: u64,
    /// Entries that some chunk needs; always all of the notes, since nothing says which.
    pub used: usize,
}
