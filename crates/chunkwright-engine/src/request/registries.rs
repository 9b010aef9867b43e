//! What can be chosen by name.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::request::models::ModelEntry;
use crate::settings::key;

/// Everything that can be named.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegistriesAnswer {
    /// How documents can be cut.
    pub strategies: Vec<RegistryEntry>,
    /// Formats that are read.
    pub formats: Vec<RegistryEntry>,
    /// Programming languages that are read.
    pub languages: Vec<RegistryEntry>,
    /// What counts tokens.
    pub tokenizers: Vec<RegistryEntry>,
    /// What embeds texts.
    pub embedders: Vec<RegistryEntry>,
    /// What ranks hits again.
    pub rerankers: Vec<RegistryEntry>,
    /// What writes notes.
    pub writers: Vec<RegistryEntry>,
    /// Where collections can be stored.
    pub stores: Vec<RegistryEntry>,
    /// Models that can be installed, and whether they are, by the sizes of their files.
    pub models: Vec<ModelEntry>,
}

/// A member of a registry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegistryEntry {
    /// The name that configurations and records use.
    pub name: String,
    /// What it is, where its name does not say so.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Its version, of a strategy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Extensions of its files, without the dot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

/// A preset and its values.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PresetEntry {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub summary: String,
    /// What it says of every key of cutting.
    pub settings: Map<String, Value>,
    /// Keys of another system that select it.
    pub aliases: Vec<String>,
}

impl RegistryEntry {
    pub(crate) fn new(name: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { name: name.into(), summary: summary.into(), ..Self::default() }
    }

    pub(crate) fn of_files(name: &str, summary: &str, extensions: &[&str]) -> Self {
        let extensions = extensions.iter().map(|extension| (*extension).to_owned()).collect();
        Self { extensions, ..Self::new(name, summary) }
    }

    /// The allowed values of a key.
    pub(crate) fn of_key(name: &str) -> Vec<Self> {
        let keys = key::all();
        let known = keys.iter().find(|key| key.name == name).map(|key| key::known_values(key));
        known.unwrap_or_default().into_iter().map(|(name, summary)| Self::new(name, summary)).collect()
    }
}
