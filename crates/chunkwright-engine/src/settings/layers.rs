//! Combines layers to the settings in force.

use chunkwright::ChunkConfig;
use chunkwright::Key;
use chunkwright::OtherName;
use chunkwright::options::KEYS;
use chunkwright::preset;
use chunkwright_index::StoreLocation;
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use crate::settings::environment;
use crate::settings::error::SettingsError;
use crate::settings::file;
use crate::settings::in_force::Settings;
use crate::settings::key;
use crate::settings::layer::{FolderMeta, Layer};
use crate::settings::meta;
use crate::settings::origin::{Origin, Source, Why};
use crate::settings::services::Services;
use crate::settings::walk;

/// The current generation and the one to go back to.
pub(crate) const KEEP_GENERATIONS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

/// Default of [`Settings::embed_minutes`]: enough for a repository of ten thousand chunks with the slowest model here.
const EMBED_MINUTES: u64 = 30;

/// The layers below that of a front end.
///
/// ```
/// use chunkwright_engine::settings::{Layers, Source};
/// use serde_json::json;
///
/// let settings = Layers::default().settings(Source::Request, [("max_size".into(), json!(512))])?;
/// assert_eq!((settings.chunk.max_size, settings.chunk.target_size), (512, 400));
/// # Ok::<(), chunkwright_engine::settings::SettingsError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// Lowest first.
    pub(super) stack: Vec<Layer>,
    /// The user's own presets, each a table of cutting keys and `base`.
    pub(super) presets: BTreeMap<String, Layer>,
    pub(super) services: Services,
    pub(super) meta: FolderMeta,
}

impl Layers {
    /// Reads the configuration file at `path` and adds it as the highest layer. Only a file that the user named
    /// (`is_named`) may locate keys of services: a file found in a parent folder could come with any repository, and
    /// send a key to any address.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, that is not TOML, or that has a key that does not exist.
    pub fn with_file(mut self, path: &Path, is_named: bool) -> Result<Self, SettingsError> {
        let file = file::read(path, is_named)?;
        self.stack.push(file.layer);
        self.presets = file.presets;
        self.services = file.services;
        self.meta = file.meta;
        Ok(self)
    }

    /// Adds the nearest `chunkwright.toml` in `folder` or above it, if there is one.
    ///
    /// # Errors
    ///
    /// As [`with_file`](Self::with_file).
    pub fn with_nearest_file(self, folder: &Path) -> Result<Self, SettingsError> {
        match file::nearest(folder) {
            Some(path) => self.with_file(&path, false),
            None => Ok(self),
        }
    }

    /// Adds the variables `CHUNKWRIGHT_<KEY>` among `variables` as the highest layer.
    ///
    /// # Errors
    ///
    /// An alias that contradicts a key.
    pub fn with_environment(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        self.stack.push(environment::layer(variables)?);
        Ok(self)
    }

    /// The files that the layers refer to, including the configuration file. A command may read them although its own
    /// arguments do not name them.
    pub fn files(&self) -> Vec<PathBuf> {
        let values = self.stack.iter().flat_map(|layer| layer.values.values());
        let values = values.chain(self.services.values().map(|(_, value)| value));
        let named = values.filter_map(Value::as_str).map(PathBuf::from).filter(|path| path.is_file());
        named.chain(self.services.path().map(Path::to_owned)).collect()
    }

    /// The names of the user's own presets.
    pub fn own_presets(&self) -> impl Iterator<Item = &str> {
        self.presets.keys().map(String::as_str)
    }

    /// The value of a text key in the layers, before a front end adds its own.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.stack.iter().rev().find_map(|layer| layer.values.get(key)?.as_str())
    }

    /// Warnings, one sentence each, about unknown variables with our prefix.
    pub fn unknown_variables(&self, names: impl IntoIterator<Item = String>) -> Vec<String> {
        environment::unknown(names, &self.services.variables())
    }

    /// The settings in force, with `values` as the highest layer.
    ///
    /// # Errors
    ///
    /// A key that does not exist, a value that its key does not take, values that cannot be used together.
    pub fn settings(
        &self,
        source: Source,
        values: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<Settings, SettingsError> {
        self.combine(Layer::checked(source, values)?)
    }

    pub(crate) fn combine(&self, highest: Layer) -> Result<Settings, SettingsError> {
        let settings = self.combine_unchecked(highest)?;
        settings.chunk.check()?;
        Ok(settings)
    }

    /// As [`combine`](Self::combine), but the values together may be unusable.
    pub(crate) fn combine_unchecked(&self, highest: Layer) -> Result<Settings, SettingsError> {
        let mut layers = self.stack.clone();
        layers.push(highest.clone());
        let (preset, first, selected) = Self::start(&layers)?;
        let (mut chunk, base) = self.preset(&preset, &mut Vec::new())?;
        let preset = match OtherName::find(&preset).filter(|other| !self.presets.contains_key(other.name)) {
            Some(other) => other.preset.to_owned(),
            None => preset,
        };
        let mut origins = BTreeMap::new();
        let of_preset = |key: &Key| Origin::set(Source::Preset(preset.clone()), key.name);
        origins.extend(KEYS.iter().map(|key| (key.name.to_owned(), of_preset(key))));
        for layer in &layers[first..] {
            layer.apply(&mut chunk, &base, &mut origins)?;
        }
        for key in key::keys(key::Group::Files) {
            let found = layers.iter().rev().find(|layer| layer.values.contains_key(key.name));
            let source = found.map_or(Source::Default, |layer| layer.source.clone());
            origins.insert(key.name.into(), Origin::set(source, key.name));
        }
        let walk = walk::options(&layers)?;
        let mut value = |key: &Key| -> Result<Option<Value>, SettingsError> {
            let found = layers.iter().rev().find(|layer| layer.values.contains_key(key.name));
            let source = found.map_or(Source::Default, |layer| layer.source.clone());
            origins.insert(key.name.into(), Origin::set(source, key.name));
            found.map_or(Ok(None), |layer| layer.value(key))
        };
        let embed_minutes = value(&key::EMBED_MINUTES)?.and_then(|minutes| minutes.as_u64());
        let search_memory = value(&key::SEARCH_MEMORY)?.and_then(|bytes| bytes.as_u64());
        let keep = value(&key::KEEP_GENERATIONS)?.and_then(|keep| usize::try_from(keep.as_u64()?).ok());
        let mut text = |key: &Key| -> Result<Option<String>, SettingsError> {
            Ok(value(key)?.and_then(|value| value.as_str().map(str::to_owned)))
        };
        text(&key::PRESET)?;
        let mut settings = Settings {
            walk,
            preset,
            tokenizer: text(&key::TOKENIZER)?.unwrap_or_else(|| "o200k".into()),
            collection: text(&key::COLLECTION)?.unwrap_or_else(|| "default".into()),
            store: text(&key::STORE)?,
            store_key_file: text(&key::STORE_KEY_FILE)?,
            embedder: text(&key::EMBEDDER)?,
            embedder_url: text(&key::EMBEDDER_URL)?,
            reranker: text(&key::RERANKER)?,
            reranker_url: text(&key::RERANKER_URL)?,
            writer: text(&key::WRITER)?,
            writer_url: text(&key::WRITER_URL)?,
            data: text(&key::DATA)?,
            keep_generations: keep.and_then(NonZeroUsize::new).unwrap_or(KEEP_GENERATIONS),
            search_memory: search_memory.unwrap_or(StoreLocation::MEMORY),
            embed_minutes: embed_minutes.unwrap_or(EMBED_MINUTES),
            services: self.services.clone(),
            meta: self.meta.clone(),
            chunk,
            origins,
            layers: Arc::new((self.clone(), highest)),
        };
        if let Some(path) = self.services.path() {
            let origin = |name: &String| Origin::set(Source::File(path.to_owned()), name);
            let origins = self.services.values().map(|(name, _)| (name.clone(), origin(name)));
            settings.origins.extend(origins);
        }
        if let Some(file) = layers.iter().rfind(|layer| matches!(layer.source, Source::File(_))) {
            let names = meta::values(&self.meta).map(|(name, _)| name);
            settings
                .origins
                .extend(names.map(|name| (name.clone(), Origin::set(file.source.clone(), &name))));
        }
        settings.origins.extend(selected.map(|origin| (key::PRESET.name.to_owned(), origin)));
        Ok(settings)
    }

    /// The preset to start from, the first layer applied on top of it, and the origin of the preset if a key of another
    /// system selected it.
    pub(crate) fn start(layers: &[Layer]) -> Result<(String, usize, Option<Origin>), SettingsError> {
        if let Some(index) = layers.iter().rposition(|layer| layer.values.contains_key("preset")) {
            return Ok((layers[index].text(&key::PRESET)?.unwrap_or_default(), index, None));
        }
        let Some(layer) = layers.iter().rev().find(|layer| layer.aliased.preset.is_some()) else {
            return Ok(("auto".to_owned(), 0, None));
        };
        let preset = layer.aliased.preset.unwrap_or_default();
        let is_of_other = |layer: &Layer| layer.aliased.preset.is_some_and(|other| other != preset);
        let first = layers.iter().rposition(is_of_other).map_or(0, |index| index + 1);
        let names = &layer.aliased.names;
        let set =
            names.get("max_size").or_else(|| names.values().next()).copied().unwrap_or("strategy").to_owned();
        let origin = Origin { source: layer.source.clone(), set, why: Why::Selected };
        Ok((preset.to_owned(), first, Some(origin)))
    }

    /// The configuration of a preset (for the user's own, on top of its base), and the name of the built-in preset.
    pub(crate) fn preset(
        &self,
        name: &str,
        above: &mut Vec<String>,
    ) -> Result<(ChunkConfig, String), SettingsError> {
        if above.iter().any(|other| other == name) {
            return Err(SettingsError::PresetLoop { name: name.into() });
        }
        let Some(own) = self.presets.get(name) else {
            let config = preset::preset(name).map_err(|error| {
                let own = self.presets.keys().cloned().collect();
                SettingsError::Preset { error, own }
            })?;
            return Ok((config, OtherName::find(name).map_or(name, |other| other.preset).to_owned()));
        };
        let base = match own.values.get("base") {
            None => own.aliased.preset.unwrap_or("auto").to_owned(),
            Some(Value::String(base)) => base.clone(),
            Some(other) => return Err(SettingsError::Base { preset: name.into(), base: other.to_string() }),
        };
        above.push(name.into());
        let (mut config, base) = self.preset(&base, above)?;
        own.apply(&mut config, &base, &mut BTreeMap::new())?;
        Ok((config, base))
    }
}
