//! The settings in force.

use chunkwright::ChunkConfig;
use chunkwright::options::KEYS;
use chunkwright_source::WalkOptions;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use crate::settings::environment;
use crate::settings::error::SettingsError;
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

    /// Every key and its value, in the order of help texts.
    pub fn list(&self) -> Vec<Setting> {
        let text = |value: &str| Some(Value::from(value));
        let chunk = serde_json::to_value(&self.chunk).unwrap_or_default();
        let mut values = vec![("preset".to_owned(), text(&self.preset))];
        values.extend(
            KEYS.iter().map(|key| {
                (key.name.to_owned(), chunk.get(key.name).filter(|value| !value.is_null()).cloned())
            }),
        );
        values.push(("tokenizer".into(), text(&self.tokenizer)));
        values.extend(walk::values(&self.walk).map(|(key, value)| (key.to_owned(), value)));
        values.push(("collection".into(), text(&self.collection)));
        let others = [
            ("store", &self.store),
            ("store_key_file", &self.store_key_file),
            ("embedder", &self.embedder),
            ("embedder_url", &self.embedder_url),
            ("reranker", &self.reranker),
            ("reranker_url", &self.reranker_url),
            ("writer", &self.writer),
            ("writer_url", &self.writer_url),
            ("data", &self.data),
        ];
        let shown = |value: &str| text(value).map(|value| services::without_secrets(&value));
        values.extend(others.map(|(key, value)| (key.to_owned(), value.as_deref().and_then(shown))));
        values.push(("keep_generations".into(), Some(self.keep_generations.get().into())));
        values.push(("search_memory".into(), Some(self.search_memory.into())));
        values.push(("embed_minutes".into(), Some(self.embed_minutes.into())));
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
