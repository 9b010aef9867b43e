//! The settings in force.

use chunkwright::ChunkConfig;
use chunkwright::options::KEYS;
use chunkwright_source::WalkOptions;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use crate::settings::environment;
use crate::settings::error::SettingsError;
use crate::settings::key;
use crate::settings::layer::{FolderMeta, Layer, flag};
use crate::settings::layers::Layers;
use crate::settings::meta;
use crate::settings::origin::{Origin, Source, Why};
use crate::settings::services;
use crate::settings::services::Services;
use crate::settings::walk;

/// The settings in force.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The configuration of cutting.
    pub chunk: ChunkConfig,
    /// Name of the preset.
    pub preset: String,
    /// The name of the token counter.
    pub tokenizer: String,
    /// The selection of files in folders.
    pub walk: WalkOptions,
    /// The collection to index into and search.
    pub collection: String,
    /// The location of collections; `None`: in the data folder.
    pub store: Option<String>,
    /// The file that holds the key of a store on a server.
    pub store_key_file: Option<String>,
    /// The embedder; `None`: the best one installed.
    pub embedder: Option<String>,
    /// The address of the embedder; `None`: the one in its table, or its default.
    pub embedder_url: Option<String>,
    /// The reranker of the best hits; `None`: no reranker.
    pub reranker: Option<String>,
    /// The address of the reranker.
    pub reranker_url: Option<String>,
    /// The writer of notes; `None`: no writer.
    pub writer: Option<String>,
    /// The address of the writer.
    pub writer_url: Option<String>,
    /// The folder of models and of the default store; `None`: the user's data folder.
    pub data: Option<String>,
    /// Number of generations of a collection that are kept after a switch, including the current one.
    pub keep_generations: NonZeroUsize,
    /// Bytes of what searches read of a store in a folder that stay in memory.
    pub search_memory: u64,
    /// Minutes that a served folder spends on vectors before it asks whether to go on.
    pub embed_minutes: u64,
    /// The options of services.
    pub(super) services: Services,
    /// Metadata of documents from the configuration file.
    pub(super) meta: FolderMeta,
    pub(super) origins: BTreeMap<String, Origin>,
    /// The layers that the settings were combined from: the lower ones, and the highest.
    pub(super) layers: Arc<(Layers, Layer)>,
}

/// A value of the settings, as `config show` lists it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// The key.
    pub key: String,
    /// Its value, without what is secret in it; absent where nothing is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Where the value came from.
    pub origin: String,
    /// The key that the value follows or is limited by, as it was set; absent where the value follows none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
}

impl Settings {
    /// Returns whether anything but the defaults sets `key`.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.origins.get(key).is_some_and(|origin| origin.source != Source::Default)
    }

    /// These settings with other values of some keys in their highest layer.
    ///
    /// # Errors
    ///
    /// As [`Layers::settings`].
    pub fn with(&self, values: impl IntoIterator<Item = (String, Value)>) -> Result<Self, SettingsError> {
        let (layers, highest) = &*self.layers;
        let over = Layer::checked(highest.source.clone(), values)?;
        let mut changed = highest.clone();
        changed.values.extend(over.values);
        changed.aliased.names.extend(over.aliased.names);
        changed.aliased.preset = over.aliased.preset.or(changed.aliased.preset);
        layers.combine(changed)
    }

    /// The metadata of documents below folders, from the configuration file.
    pub fn meta(&self) -> &[(PathBuf, BTreeMap<String, String>)] {
        &self.meta
    }

    /// The values of the keys that are neither of cutting nor of which files.
    pub(super) fn others(&self) -> impl Iterator<Item = (&'static str, Option<Value>)> {
        let texts = [
            (key::TOKENIZER, Some(&self.tokenizer)),
            (key::COLLECTION, Some(&self.collection)),
            (key::STORE, self.store.as_ref()),
            (key::STORE_KEY_FILE, self.store_key_file.as_ref()),
            (key::EMBEDDER, self.embedder.as_ref()),
            (key::EMBEDDER_URL, self.embedder_url.as_ref()),
            (key::RERANKER, self.reranker.as_ref()),
            (key::RERANKER_URL, self.reranker_url.as_ref()),
            (key::WRITER, self.writer.as_ref()),
            (key::WRITER_URL, self.writer_url.as_ref()),
            (key::DATA, self.data.as_ref()),
        ];
        let numbers = [
            (key::KEEP_GENERATIONS, self.keep_generations.get().into()),
            (key::SEARCH_MEMORY, self.search_memory.into()),
            (key::EMBED_MINUTES, self.embed_minutes.into()),
        ];
        let texts =
            texts.into_iter().map(|(key, value)| (key.name, value.map(|value| value.as_str().into())));
        texts.chain(numbers.map(|(key, value)| (key.name, Some(value))))
    }

    /// Every key and its value, in the order of help texts.
    pub fn list(&self) -> Vec<Setting> {
        let chunk = serde_json::to_value(&self.chunk).unwrap_or_default();
        let cutting =
            KEYS.iter().map(|key| (key.name, chunk.get(key.name).filter(|value| !value.is_null()).cloned()));
        let known = [(key::PRESET.name, Some(self.preset.as_str().into()))].into_iter().chain(cutting);
        let mut known: HashMap<&str, Option<Value>> =
            known.chain(walk::values(&self.walk)).chain(self.others()).collect();
        let values =
            key::all().into_iter().map(|key| (key.name.to_owned(), known.remove(key.name).flatten()));
        let mut values: Vec<(String, Option<Value>)> =
            values.map(|(key, value)| (key, value.map(|value| services::without_secrets(&value)))).collect();
        values.extend(meta::values(&self.meta).map(|(name, value)| (name, Some(value))));
        values.extend(self.services.values().map(|(name, value)| (name.clone(), Some(value.clone()))));
        let row = |(key, value): (String, _)| Setting {
            origin: self.origin(&key),
            follows: self.follows(&key).map(str::to_owned),
            key,
            value,
        };
        values.into_iter().map(row).collect()
    }

    /// The key, as it was set, that the value of `key` follows or is limited by.
    pub(crate) fn follows(&self, key: &str) -> Option<&str> {
        let Origin { set, why, .. } = self.origins.get(key)?;
        matches!(why, Why::Follows | Why::Limited).then_some(set)
    }

    /// The origin of the value of `key`, in words.
    pub fn origin(&self, key: &str) -> String {
        self.origin_in(key, |file| file.display().to_string())
    }

    /// The origin of the value of `key`, for callers who may not know where files are.
    pub(crate) fn origin_without_places(&self, key: &str) -> String {
        self.origin_in(key, |file| file.file_name().unwrap_or_default().display().to_string())
    }

    pub(crate) fn origin_in(&self, key: &str, shown: impl Fn(&Path) -> String) -> String {
        let Some(Origin { source, set, why }) = self.origins.get(key) else { return "built in".into() };
        let place = match source {
            Source::Default => "built in".into(),
            Source::Preset(name) => format!("preset `{name}`"),
            Source::File(path) => shown(path),
            Source::Environment => environment::variable(set),
            Source::Flags => flag(set),
            Source::Request => format!("`{set}` of the request"),
        };
        match why {
            Why::Set => place,
            Why::Follows => format!("in proportion to `{set}`, {place}"),
            Why::Limited => format!("the most that `{set}` allows, {place}"),
            Why::Selected => format!("selected by `{set}`, {place}"),
        }
    }
}
