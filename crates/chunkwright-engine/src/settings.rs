//! The settings in force, combined from layers, with the origin of each value.
//!
//! The layers, lowest first: the preset, `chunkwright.toml`, the environment, the values passed to the front end. Two
//! rules make combinations sensible:
//!
//! * A layer that names a preset starts from it: cutting keys of the layers below are dropped, since sizes made for
//!   one preset mean nothing in another. Where no layer names one, keys of another system select the preset that
//!   reproduces it.
//! * Sizes that a layer does not set follow those it does ([`ChunkOptions::apply`]), so that `max_size` alone keeps
//!   the preset's proportions. Keys of another system scale nothing in its preset.

mod environment;
mod error;
mod file;
pub mod key;
mod least;
mod meta;
mod portable;
mod requested;
mod services;
mod template;
mod walk;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chunkwright::options::{Aliased, KEYS, resolve_aliases};
use chunkwright::{ChunkConfig, ChunkOptions, Key, OtherName, preset};
use chunkwright_source::WalkOptions;
use serde::Serialize;
use serde_json::{Map, Value};

pub use environment::{API_KEY, LOG_LEVEL, STORE_KEY};
pub use error::SettingsError;
pub use file::FILE_NAME;
pub(crate) use portable::PortableSettings;
pub use services::Kind;
use services::Services;
pub(crate) use services::{Service, ServiceTable};
pub use template::TABLES;

/// The current generation and the one to go back to.
const KEEP_GENERATIONS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

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
    /// The options of services.
    services: Services,
    /// Metadata of documents from the configuration file.
    meta: FolderMeta,
    origins: BTreeMap<String, Origin>,
    /// The layers that the settings were combined from: the lower ones, and the highest.
    layers: Arc<(Layers, Layer)>,
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

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    source: Source,
    /// The key that was set there.
    set: String,
    why: Why,
}

/// The relation of a value to the key that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// It was set.
    Set,
    /// It follows the size that was set, in proportion.
    Follows,
    /// It is limited by the size that was set.
    Limited,
    /// It is the preset selected by a key of another system.
    Selected,
}

impl Origin {
    fn set(source: Source, key: &str) -> Self {
        Self { source, set: key.to_owned(), why: Why::Set }
    }
}

/// The source of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Built in.
    Default,
    /// A preset of this name.
    Preset(String),
    /// A configuration file.
    File(PathBuf),
    /// Variables `CHUNKWRIGHT_<KEY>`.
    Environment,
    /// Flags of a command line, whose values are text.
    Flags,
    /// A request or keywords, whose values are JSON.
    Request,
}

impl Source {
    /// Returns whether values are text that has to be parsed.
    fn is_text(&self) -> bool {
        matches!(self, Self::Environment | Self::Flags)
    }

    /// A key and its source, for messages.
    fn name(&self, key: &str) -> String {
        match self {
            Self::Default | Self::Request => format!("`{key}`"),
            Self::Preset(name) => format!("`{key}` of the preset `{name}`"),
            Self::File(path) => format!("`{key}` in `{}`", path.display()),
            Self::Environment => format!("`{}`", environment::variable(key)),
            Self::Flags => format!("`{}`", flag(key)),
        }
    }
}

/// The source of the values, for messages about several of them.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("the defaults"),
            Self::Preset(name) => write!(f, "the preset `{name}`"),
            Self::File(path) => write!(f, "`{}`", path.display()),
            Self::Environment => f.write_str("the environment"),
            Self::Flags => f.write_str("the flags"),
            Self::Request => f.write_str("the request"),
        }
    }
}

/// Values of one source.
#[derive(Clone, Debug)]
struct Layer {
    source: Source,
    /// Values by key. Every key is known, and none is an alias.
    values: Map<String, Value>,
    /// The aliases by which some of the keys were set.
    aliased: Aliased,
}

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
    stack: Vec<Layer>,
    /// The user's own presets, each a table of cutting keys and `base`.
    presets: BTreeMap<String, Layer>,
    services: Services,
    meta: FolderMeta,
}

/// Metadata of the documents below folders, each an absolute path.
type FolderMeta = Vec<(PathBuf, BTreeMap<String, String>)>;

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

    fn combine(&self, highest: Layer) -> Result<Settings, SettingsError> {
        let settings = self.combine_unchecked(highest)?;
        settings.chunk.check()?;
        Ok(settings)
    }

    /// As [`combine`](Self::combine), but the values together may be unusable.
    fn combine_unchecked(&self, highest: Layer) -> Result<Settings, SettingsError> {
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
    fn start(layers: &[Layer]) -> Result<(String, usize, Option<Origin>), SettingsError> {
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
    fn preset(&self, name: &str, above: &mut Vec<String>) -> Result<(ChunkConfig, String), SettingsError> {
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

impl Layer {
    /// Creates a layer of these values, after checking their keys.
    fn checked(
        source: Source,
        values: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<Self, SettingsError> {
        let mut values: Map<String, Value> = values.into_iter().collect();
        check_keys(&values, &key::names(), &source)?;
        let aliased = resolve_aliases(&mut values).map_err(|error| SettingsError::at(error, &source))?;
        Ok(Self { source, values, aliased })
    }

    /// Applies the cutting keys to `config`, which comes from the built-in preset `base` and the layers on top of it.
    fn apply(
        &self,
        config: &mut ChunkConfig,
        base: &str,
        origins: &mut BTreeMap<String, Origin>,
    ) -> Result<(), SettingsError> {
        let mut values = Map::new();
        for key in KEYS {
            if let Some(value) = self.value(key)? {
                values.insert(key.name.into(), value);
                origins.insert(key.name.into(), Origin::set(self.source.clone(), self.name_of(key.name)));
            }
        }
        let options = ChunkOptions::read(values).map_err(|error| SettingsError::at(error, &self.source))?;
        let (why, changed) = if self.aliased.preset == Some(base) {
            (Why::Limited, options.apply_unscaled(config))
        } else {
            (Why::Follows, options.apply(config))
        };
        for (key, by) in changed {
            let origin = Origin { source: self.source.clone(), set: self.name_of(by).to_owned(), why };
            origins.insert(key.into(), origin);
        }
        Ok(())
    }

    /// The name by which a key was set.
    fn name_of<'a>(&'a self, key: &'a str) -> &'a str {
        self.aliased.names.get(key).copied().unwrap_or(key)
    }

    /// The value of a key, checked.
    fn value(&self, key: &Key) -> Result<Option<Value>, SettingsError> {
        let Some(value) = self.values.get(key.name) else { return Ok(None) };
        let value = match value {
            Value::String(text) if self.source.is_text() => key.values.parse(text),
            value => key.values.read(value),
        };
        value.map(Some).map_err(|error| SettingsError::Value {
            key: key.name,
            place: self.source.name(key.name),
            error,
        })
    }

    /// The value of a text key.
    fn text(&self, key: &Key) -> Result<Option<String>, SettingsError> {
        Ok(self.value(key)?.and_then(|value| value.as_str().map(str::to_owned)))
    }
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
    fn follows(&self, key: &str) -> Option<&str> {
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

    fn origin_in(&self, key: &str, shown: impl Fn(&Path) -> String) -> String {
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

/// Checks that all keys are known.
fn check_keys(
    values: &Map<String, Value>,
    known: &[&str],
    place: &dyn fmt::Display,
) -> Result<(), SettingsError> {
    let is_known = |name: &&String| known.contains(&name.as_str()) || key::is_alias(name);
    match values.keys().find(|name| !is_known(name)) {
        Some(name) => Err(SettingsError::UnknownKey {
            name: name.clone(),
            place: place.to_string(),
            known: listed(known),
        }),
        None => Ok(()),
    }
}

/// `` `a`, `b`, `c` ``.
fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The flag of a key.
fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}
