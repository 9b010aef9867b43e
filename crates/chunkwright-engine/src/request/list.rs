//! Documents and chunks in lists.

use crate::error::Error;
use chunkwright_index::{Cursor, DocumentInfo, Glob, ListedChunk, ListedOverlay, Metadata, Siblings};
use serde::{Deserialize, Serialize};

/// Documents beside one, and documents about the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RelatedAnswer {
    /// The documents of its folder.
    pub siblings: Siblings,
    /// Documents with chunks near the mean of its vectors, best first.
    pub related: Vec<chunkwright_index::Related>,
}

/// Which documents are listed, by id, and from where on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ListDocumentsRequest {
    /// Only documents whose id matches this pattern.
    pub source: Option<Glob>,
    /// Where the page before ended; none for the first page.
    pub after: Option<Cursor>,
    /// Number of documents to pass over before the page. To read a whole list, continue by cursors.
    pub skip: usize,
    /// Most documents of the page, from 1 to 1,000.
    pub limit: usize,
}

impl Default for ListDocumentsRequest {
    fn default() -> Self {
        Self { source: None, after: None, skip: 0, limit: 100 }
    }
}

/// Some documents of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DocumentPage {
    /// The documents, by id.
    pub documents: Vec<DocumentInfo>,
    /// Number of all documents of the list.
    pub total: usize,
    /// Where the next page begins; none after the last document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Cursor>,
}

/// A chunk, and what is known of it beside its record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChunkDetail {
    /// The collection.
    pub collection: String,
    /// Number of the generation that it is of.
    pub generation: i64,
    /// The chunk.
    #[serde(flatten)]
    pub chunk: ListedChunk,
    /// What is known of its file and its place there.
    pub metadata: Metadata,
    /// What was changed of it by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlay: Option<ListedOverlay>,
}

impl ChunkDetail {
    /// The version of the chunk with all that is known of it: a hash, 32 digits long.
    ///
    /// # Errors
    ///
    /// None that is known: the chunk can be written as JSON.
    pub fn version(&self) -> Result<String, Error> {
        Ok(blake3::hash(&serde_json::to_vec(self)?).to_hex()[..32].to_owned())
    }
}

/// A chunk between those beside it in its document.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Neighbours {
    /// Those before it, in order.
    pub before: Vec<chunkwright::Record>,
    /// The chunk.
    pub chunk: chunkwright::Record,
    /// Those behind it, in order.
    pub after: Vec<chunkwright::Record>,
}
