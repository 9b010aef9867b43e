//! Generations, and their removal.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chunkwright_index::{GenerationStatus, Glob};
use serde::{Deserialize, Serialize};

/// The generations of a collection.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GenerationsAnswer {
    /// The collection.
    pub collection: String,
    /// Its generations, oldest first.
    pub generations: Vec<GenerationStatus>,
    /// Number of chunks by strategy version, over all generations.
    pub stats: BTreeMap<String, usize>,
}

/// Which generations are removed, or what of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PruneRequest {
    /// Remove generations that were never completed too.
    pub unfinished: bool,
    /// Remove only this generation, by its number; it must not be the one that searches see.
    pub generation: Option<i64>,
    /// Remove only documents whose id matches this pattern.
    pub source: Option<Glob>,
    /// Remove nothing, and answer what would be removed.
    pub dry_run: bool,
}

/// What was removed of a generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrunedGeneration {
    /// The generation, as it was.
    pub generation: GenerationStatus,
    /// Number of documents removed.
    pub documents: usize,
    /// Number of chunks removed.
    pub chunks: usize,
    /// Whether nothing was removed, because the request was a dry run.
    pub dry_run: bool,
}

/// Which documents are removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeleteRequest {
    /// The documents.
    pub what: Deleted,
    /// Remove nothing, and answer what would be removed.
    #[serde(default)]
    pub dry_run: bool,
}

/// Documents to be removed from a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Deleted {
    /// Those whose id matches this pattern.
    Source(Glob),
    /// Those of this folder and of folders inside it, which need not exist any more.
    Folder(PathBuf),
    /// The whole collection, including changes made by hand.
    All,
}

/// A document that was removed from a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeletedDocument {
    /// The document.
    pub doc_id: String,
    /// Number of the generation.
    pub generation: i64,
    /// Number of its chunks.
    pub chunks: u32,
    /// Whether nothing was removed, because the request was a dry run.
    pub dry_run: bool,
}

impl DeleteRequest {
    /// The folders named by the request.
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        match &mut self.what {
            Deleted::Folder(folder) => Some(folder),
            Deleted::Source(_) | Deleted::All => None,
        }
        .into_iter()
    }
}
