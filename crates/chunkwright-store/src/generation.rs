//! Generations: all documents of a collection, cut and embedded in one way.

use std::collections::BTreeMap;
use std::fmt;

use chunkwright_models::ModelInfo;
use serde::{Deserialize, Serialize};

/// The model that made vectors.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    /// Its name, which is different for whatever gives different vectors.
    pub name: String,
    /// Length of its vectors.
    pub dimension: usize,
    /// Whether every text has a sparse vector beside the dense one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sparse: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl From<&ModelInfo> for Model {
    fn from(info: &ModelInfo) -> Self {
        Self { name: info.name.clone(), dimension: info.dimension, sparse: info.sparse }
    }
}

/// What all chunks of a generation have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GenerationSpec {
    /// `<strategy>-v<major>.<minor>`.
    pub strategy_version: String,
    /// Hash of every setting that moves a boundary.
    pub config_hash: String,
    /// The model of its vectors; none for a generation without.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<Model>,
}

/// One generation of a collection: what every method of a store is told, so that a reader stays with the
/// one that it began with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Generation {
    /// The collection.
    pub collection: String,
    /// Its number: greater than that of any generation of the collection before it.
    #[serde(rename = "generation")]
    pub number: i64,
    /// What its chunks have in common.
    #[serde(flatten)]
    pub spec: GenerationSpec,
    /// The name that the store keeps it under, where that is not the collection's because it was renamed.
    #[serde(skip)]
    pub stored: Option<String>,
}

impl Generation {
    /// The name that the store keeps it under.
    pub fn stored_as(&self) -> &str {
        self.stored.as_deref().unwrap_or(&self.collection)
    }

    /// `COLLECTION@N` by the name that the store keeps it under, which no renaming changes.
    pub fn key(&self) -> String {
        format!("{}@{}", self.stored_as(), self.number)
    }

    /// Name of the model; empty for none.
    pub(crate) fn model_name(&self) -> &str {
        self.spec.model.as_ref().map_or("", |model| &model.name)
    }
}

/// `COLLECTION@N`.
impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.collection, self.number)
    }
}

/// What a generation is to its collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GenerationState {
    /// What searches see.
    Current,
    /// Begun, and not complete. Searches see it nevertheless if it is the first of its collection.
    Building,
    /// Was current once.
    Old,
}

impl GenerationState {
    /// The name that reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Building => "building",
            Self::Old => "old",
        }
    }
}

/// A generation and how much is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GenerationStatus {
    /// The generation.
    #[serde(flatten)]
    pub generation: Generation,
    /// What it is to its collection.
    pub state: GenerationState,
    /// Number of documents, empty ones included.
    pub documents: usize,
    /// Number of chunks.
    pub chunks: usize,
    /// Chunks without a vector although the generation has a model.
    pub pending: usize,
    /// Raised by every write that changed what readers see.
    pub change: u64,
}

/// A set of documents that are searched together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Collection {
    /// Its name.
    pub name: String,
    /// Its generations, oldest first; one of them is current, unless the first is not complete.
    pub generations: Vec<GenerationStatus>,
}

impl Collection {
    /// The generation that searches see: the current one, or the first while it is not complete.
    pub fn visible(&self) -> Option<&GenerationStatus> {
        let is_current = |status: &&GenerationStatus| status.state == GenerationState::Current;
        self.generations.iter().find(is_current).or(self.generations.first())
    }

    /// Number of chunks by strategy version and generation, so that two cuts by one version are told apart:
    /// `{"tree-v1.0@1": 100, "tree-v1.0@2": 120}`.
    pub fn generation_stats(&self) -> BTreeMap<String, usize> {
        let count = |status: &GenerationStatus| {
            let Generation { number, spec, .. } = &status.generation;
            (format!("{}@{number}", spec.strategy_version), status.chunks)
        };
        self.generations.iter().map(count).collect()
    }

    /// Number of chunks by strategy and version, over all generations: `{"tree-v1.0": 100}`.
    pub fn version_stats(&self) -> BTreeMap<String, usize> {
        let mut stats = BTreeMap::new();
        for status in &self.generations {
            *stats.entry(status.generation.spec.strategy_version.clone()).or_default() += status.chunks;
        }
        stats
    }
}
