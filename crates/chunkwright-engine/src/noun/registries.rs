//! The registries: strategies, presets, formats, languages, counters and models that can be named.

use chunkwright::preset::PRESETS;
use chunkwright::{ALIASES, PARSERS, Parser as _, STRATEGIES};
use chunkwright_code::{COMPONENTS, LANGUAGES, PLAIN};
use chunkwright_index::STORES;
use chunkwright_models::InstallableModel;
use chunkwright_source::convert::CONVERTERS;
use serde_json::{Map, Value};

use crate::core::engine::Engine;
use crate::error::Error;
use crate::request::registries::{PresetEntry, RegistriesAnswer, RegistryEntry};

impl Engine {
    /// Everything that can be named, except presets. Models are told by the sizes of their files, since a page asks for this
    /// whenever it is loaded.
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
            models: self.models_by(InstallableModel::look).unwrap_or_default(),
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
