//! The registries: strategies, presets, formats, languages, counters and models that can be named.

use chunkwright::preset::PRESETS;
use chunkwright::{ALIASES, PARSERS, Parser as _, STRATEGIES};
use chunkwright_code::{COMPONENTS, LANGUAGES, PLAIN};
use chunkwright_index::STORES;
use chunkwright_source::convert::CONVERTERS;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::error::Error;
use crate::installed::ModelEntry;
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
    /// Models that can be installed, and whether they are.
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
    fn new(name: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { name: name.into(), summary: summary.into(), ..Self::default() }
    }

    fn of_files(name: &str, summary: &str, extensions: &[&str]) -> Self {
        let extensions = extensions.iter().map(|extension| (*extension).to_owned()).collect();
        Self { extensions, ..Self::new(name, summary) }
    }

    /// The allowed values of a key.
    fn of_key(name: &str) -> Vec<Self> {
        let keys = key::all();
        let known = keys.iter().find(|key| key.name == name).map(|key| key::known_values(key));
        known.unwrap_or_default().into_iter().map(|(name, summary)| Self::new(name, summary)).collect()
    }
}

impl Engine {
    /// Everything that can be named, except presets.
    pub fn registries(&self) -> RegistriesAnswer {
        let strategies = STRATEGIES.iter().map(|strategy| {
            let (major, minor) = strategy.version();
            let version = Some(format!("{}-v{major}.{minor}", strategy.name()));
            RegistryEntry { version, ..RegistryEntry::new(strategy.name(), strategy.summary()) }
        });
        let texts = PARSERS.iter().chain(COMPONENTS);
        let texts = texts.map(|parser| RegistryEntry::of_files(parser.name(), "", parser.extensions()));
        let files = CONVERTERS.iter();
        let files = files.map(|it| RegistryEntry::of_files(it.name(), "converted to text", it.extensions()));
        let trees = LANGUAGES.iter();
        let trees = trees.map(|it| RegistryEntry::of_files(it.name(), "read by its syntax", it.extensions()));
        let plain = PLAIN.iter();
        let plain = plain.map(|it| RegistryEntry::of_files(it.name, "read by its layout", it.extensions));
        RegistriesAnswer {
            strategies: strategies.collect(),
            formats: texts.chain(files).collect(),
            languages: trees.chain(plain).collect(),
            tokenizers: RegistryEntry::of_key("tokenizer"),
            embedders: RegistryEntry::of_key("embedder"),
            rerankers: RegistryEntry::of_key("reranker"),
            writers: RegistryEntry::of_key("writer"),
            stores: STORES.iter().map(|kind| RegistryEntry::new(kind.name, kind.summary)).collect(),
            models: self.models().unwrap_or_default(),
        }
    }

    /// The presets, including those of the configuration.
    ///
    /// # Errors
    ///
    /// A preset of the configuration that cannot be used.
    pub fn presets(&self) -> Result<Vec<PresetEntry>, Error> {
        let own = self.settings().own_presets();
        let known = PRESETS.iter().map(|preset| (preset.name, preset.summary));
        let own = own.iter().map(|name| (name.as_str(), "of the server's configuration"));
        let entry = |(name, summary): (&str, &str)| -> Result<PresetEntry, Error> {
            let asked = Map::from_iter([("preset".to_owned(), Value::from(name))]);
            let aliases = ALIASES.iter().filter(|alias| alias.preset == name);
            Ok(PresetEntry {
                name: name.to_owned(),
                summary: summary.to_owned(),
                settings: self.settings().requested(&asked)?.cutting(),
                aliases: aliases.map(|alias| alias.name.to_owned()).collect(),
            })
        };
        known.chain(own).map(entry).collect()
    }
}
