//! What was expensive and is not made twice: vectors and notes. They belong to texts, not to chunks, and
//! outlive both.

use chunkwright_models::TextHash;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::vector::Vector;

/// Remembers vectors by model and text, and notes by what they were made of.
///
/// # Errors
///
/// Every method fails if the storage engine does.
#[expect(clippy::missing_errors_doc, reason = "what holds for all methods is said once, above")]
pub trait Cache: Send + Sync {
    /// The vectors of `hashes` by `model`, in order, where they are known.
    fn vectors(&self, model: &str, hashes: &[TextHash]) -> Result<Vec<Option<Vector>>, StoreError>;

    /// Remembers vectors by `model`, those of a text as one. One that cannot be compared, or is of another kind
    /// than those before, is refused, and all with it.
    fn put_vectors(&self, model: &str, vectors: &[(TextHash, Vector)]) -> Result<(), StoreError>;

    /// The notes by their keys, in order, where they are known.
    fn notes(&self, keys: &[TextHash]) -> Result<Vec<Option<String>>, StoreError>;

    /// Remembers notes.
    fn put_notes(&self, notes: &[(TextHash, String)]) -> Result<(), StoreError>;

    /// What is remembered: vectors by model, then notes.
    fn usage(&self) -> Result<Vec<CacheUsage>, StoreError>;

    /// Forgets what no chunk needs; answers how many entries.
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
    /// Their size, without the engine's bookkeeping.
    pub bytes: u64,
    /// Entries that some chunk needs; always all of the notes, since nothing says which.
    pub used: usize,
}
