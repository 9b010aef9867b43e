//! Collections in lists, and what one holds.

use std::collections::BTreeMap;

use chunkwright_index::{CollectionSort, Cursor, Direction, Folder, GenerationStatus, Statistics};
use serde::{Deserialize, Serialize};

use crate::request::documents::{Coverage, Violation};

/// What became of the lines of a collection's documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectionCoverage {
    /// Documents read.
    pub documents: usize,
    /// Lines, and what the last run that left anything out did so for.
    #[serde(flatten)]
    pub coverage: Coverage,
    /// Promises that were broken, at most 100.
    pub violations: Vec<Violation>,
}

/// What a collection holds: its chunks in numbers and, where it was asked for, what became of the lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectionStatistics {
    /// The chunks that pass the filter.
    #[serde(flatten)]
    pub statistics: Statistics,
    /// The lines of all documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<CollectionCoverage>,
}

/// Which collections are listed, in which order, and from where on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ListCollectionsRequest {
    /// Only collections whose name contains each of these words, whatever the case; empty for all.
    pub name: String,
    /// Only collections that a running process keeps in step with files. They are all on one page.
    pub watched: bool,
    /// What they are ordered by.
    pub sort: CollectionSort,
    /// From which end.
    pub direction: Direction,
    /// Where the page before ended; none for the first page.
    pub after: Option<Cursor>,
    /// Most collections of the page, from 1 to 1,000.
    pub limit: usize,
}

impl Default for ListCollectionsRequest {
    fn default() -> Self {
        Self {
            name: String::new(),
            watched: false,
            sort: CollectionSort::default(),
            direction: Direction::default(),
            after: None,
            limit: 100,
        }
    }
}

/// The name that a collection is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RenameRequest {
    /// Its new name, which no other collection has.
    pub name: String,
}

/// A collection that was given another name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RenamedCollection {
    /// Its name now.
    pub collection: String,
    /// Its name before.
    pub before: String,
}

/// Some collections of the store.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectionPage {
    /// The collections, in order.
    pub collections: Vec<ListedCollection>,
    /// Number of all collections of the list, those on other pages included.
    pub total: usize,
    /// Where the next page begins; none after the last collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Cursor>,
}

/// A collection in a list, and its generations as numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedCollection {
    /// The generation that searches see.
    #[serde(flatten)]
    pub status: GenerationStatus,
    /// Number of generations.
    pub generations: usize,
    /// Number of chunks by strategy version, over all generations.
    pub versions: BTreeMap<String, usize>,
    /// Number of chunks by strategy version and generation: `{"tree-v1.0@1": 100, "tree-v1.0@2": 120}`.
    pub version_generations: BTreeMap<String, usize>,
    /// The files and folders that a running process watches for it; left out if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<String>,
}

/// A collection, by the generation that searches see, and its folders.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectionStatus {
    /// The generation that searches see.
    #[serde(flatten)]
    pub status: GenerationStatus,
    /// The folders that its documents are of.
    pub folders: Vec<Folder>,
}

impl ListedCollection {
    /// The list entry of a collection, with what is watched for each; `None` if it has no generation.
    pub(crate) fn of(
        collection: &chunkwright_index::Collection,
        watched: &BTreeMap<String, Vec<String>>,
    ) -> Option<Self> {
        let (status, versions) = (collection.visible()?.clone(), collection.version_stats());
        let version_generations = collection.generation_stats();
        let watched = watched.get(&collection.name).cloned().unwrap_or_default();
        Some(Self {
            status,
            generations: collection.generations.len(),
            versions,
            version_generations,
            watched,
        })
    }

    /// The name of the collection.
    pub fn name(&self) -> &str {
        &self.status.generation.collection
    }
}
