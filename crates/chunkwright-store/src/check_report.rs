//! The findings of a store check.

use serde::{Deserialize, Serialize};

use crate::generation::Generation;
use crate::unsound::Unsound;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckReport {
    /// Documents looked at, of all generations.
    pub documents: usize,
    /// Chunks looked at.
    pub chunks: usize,
    /// Every finding, in one sentence each; empty for a sound store.
    pub problems: Vec<String>,
    /// The documents that findings are about.
    #[serde(default)]
    pub damaged: Vec<DamagedDocument>,
}

/// A document that a check found not to be sound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DamagedDocument {
    /// Its collection.
    pub collection: String,
    /// Number of its generation.
    pub generation: i64,
    /// The document.
    pub doc_id: String,
}

impl CheckReport {
    /// Adds the findings about documents of a generation.
    pub fn add(&mut self, generation: &Generation, unsound: Vec<Unsound>) {
        for Unsound { doc_id, problem } in unsound {
            self.problems.push(format!("`{generation}`, {problem}"));
            let collection = generation.collection.clone();
            self.damaged.push(DamagedDocument { collection, generation: generation.number, doc_id });
        }
    }
}
