//! What does a hit say to its reader?

use std::ops::Deref;

use chunkwright::ChunkId;
use chunkwright_index as index;
use serde::Serialize;

/// A chunk that was found, and the collection that it is of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hit {
    /// The collection.
    pub collection: String,
    /// What was found.
    #[serde(flatten)]
    pub found: index::Hit,
    /// Chunks of other collections with the same content, which were ranked lower.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<HitPlace>,
}

/// Where a chunk is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HitPlace {
    /// The collection.
    pub collection: String,
    /// The chunk.
    pub chunk_id: ChunkId,
}

/// A passage with the hits inside it, and the collection that it is of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundPassage {
    /// The collection.
    pub collection: String,
    /// What was found.
    #[serde(flatten)]
    pub found: index::FoundPassage,
}

impl Hit {
    pub(super) fn new(collection: &str, found: index::Hit) -> Self {
        Self { collection: collection.to_owned(), found, copies: Vec::new() }
    }
}

impl Deref for Hit {
    type Target = index::Hit;

    fn deref(&self) -> &index::Hit {
        &self.found
    }
}

impl Deref for FoundPassage {
    type Target = index::FoundPassage;

    fn deref(&self) -> &index::FoundPassage {
        &self.found
    }
}
