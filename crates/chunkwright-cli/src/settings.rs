//! The configuration in force: which layers there are, how they combine, where each value came from.
//!
//! Lowest first: the preset, `chunkwright.toml` (nearest upward), the environment, the flags. Two rules
//! keep combinations sensible, and both live in this file only:
//!
//! * A layer that names a preset starts from it: cutting keys of the layers below are dropped, since
//!   sizes made for one preset mean nothing in another.
//! * A layer that sets some sizes and not others scales the others ([`overlay`]), so that `--max-size`
//!   alone keeps the preset's proportions.

mod alias;
mod file;
mod services;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use chunkwright::{ChunkConfig, Unit, preset};
use toml::{Table, Value};

pub(crate) use alias::AliasFlags;
pub(crate) use file::ConfigFile;
pub(crate) use services::{Kind, Service, ServiceTable, Services};

/// The name of the configuration file.
pub(crate) const FILE_NAME: &str = "chunkwright.toml";

/// Keys beside those of [`ChunkConfig`].
const OTHER_KEYS: [&str; 12] = [
    "preset",
    "tokenizer",
    "collection",
    "store",
    "store_key_file",
    "embedder",
    "embedder_url",
    "reranker",
    "reranker_url",
    "writer",
    "writer_url",
    "data",
];

/// The variable that holds the key of a store on a server: no key of the configuration, which is printed.
pub(crate) const STORE_KEY: &str = "CHUNKWRIGHT_STORE_KEY";

/// The configuration in force.
#[derive(Debug)]
pub(crate) struct Settings {
    /// How documents are cut.
    pub(crate) chunk: ChunkConfig,
    /// Name of the preset.
    pub(crate) preset: String,
    /// Which counter counts tokens.
    pub(crate) tokenizer: String,
    /// The collection to index into and search.
    pub(crate) collection: String,
    /// Where collections are stored; `None`: in the data directory.
    pub(crate) store: Option<String>,
    /// The file that holds the key of a store on a server.
    pub(crate) store_key_file: Option<String>,
    /// What embeds texts; `None`: the best that is installed.
    pub(crate) embedder: Option<String>,
    /// Where the embedder is; `None`: where its table says, or its usual address.
    pub(crate) embedder_url: Option<String>,
    /// What ranks the best hits anew; `None`: nothing.
    pub(crate) reranker: Option<String>,
    /// Where the reranker is.
    pub(crate) reranker_url: Option<String>,
    /// What writes notes; `None`: nothing.
    pub(crate) writer: Option<String>,
    /// Where the writer is.
    pub(crate) writer_url: Option<String>,
    /// The folder of models and of the default store; `None`: the user's data directory.
    pub(crate) data: Option<String>,
    /// How services are used.
    services: Services,
    origins: BTreeMap<String, Origin>,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    source: Source,
    /// The key that was set and that this value followed in proportion.
    follows: Option<&'static str>,
}

/// Where a layer came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Built in.
    Default,
    /// A preset of this name.
    Preset(String),
    /// A configuration file.
    File(PathBuf),
    /// Variables `CHUNKWRIGHT_<KEY>`.
    Environment,
    /// Flags of the command line.
    Flags,
}

/// Values of one source.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// Where the values came from.
    pub(crate) source: Source,
    /// Keys and values; every key is known.
    pub(crate) values: Table,
}

impl Settings {
    /// Combines `layers`, lowest first. `presets` are the user's own.
    pub(crate) fn resolve(layers: &[Layer], presets: &Table) -> Result<Self> {
        let named = layers.iter().rposition(|layer| layer.values.contains_key("preset"));
        let preset = match named {
            Some(index) => string("preset", &layers[index])?.unwrap_or_default(),
            None => "auto".to_owned(),
        };
        let mut chunk = preset_config(&preset, presets, &mut Vec::new())?;
        let mut origins = BTreeMap::new();
        let origin = Origin { source: Source::Preset(preset.clone()), follows: None };
        for key in chunk_keys() {
            origins.insert(key, origin.clone());
        }
        for layer in &layers[named.unwrap_or(0)..] {
            overlay(&mut chunk, layer, &mut origins)?;
        }
        chunk.check()?;
        let mut other = |key: &str| -> Result<Option<String>> {
            for layer in layers.iter().rev() {
                if let Some(value) = string(key, layer)? {
                    origins.insert(key.into(), Origin { source: layer.source.clone(), follows: None });
                    return Ok(Some(value));
                }
            }
            origins.insert(key.into(), Origin { source: Source::Default, follows: None });
            Ok(None)
        };
        other("preset")?;
        Ok(Self {
            preset,
            tokenizer: other("tokenizer")?.unwrap_or_else(|| "o200k".into()),
            collection: other("collection")?.unwrap_or_else(|| "default".into()),
            store: other("store")?,
            store_key_file: other("store_key_file")?,
            embedder: other("embedder")?,
            embedder_url: other("embedder_url")?,
            reranker: other("reranker")?,
            reranker_url: other("reranker_url")?,
            writer: other("writer")?,
            writer_url: other("writer_url")?,
            data: other("data")?,
            services: Services::default(),
            chunk,
            origins,
        })
    }

    /// With the tables of services that the file at `path` holds.
    pub(crate) fn with_services(mut self, services: Services, path: &Path) -> Self {
        let source = Source::File(path.to_owned());
        for (name, _) in services.values() {
            self.origins.insert(name.clone(), Origin { source: source.clone(), follows: None });
        }
        self.services = services;
        self
    }

    /// Where the value of `key` came from, in words.
    pub(crate) fn origin(&self, key: &str) -> String {
        let Some(origin) = self.origins.get(key) else { return "built in".into() };
        let source = match &origin.source {
            Source::Default => "built in".into(),
            Source::Preset(name) => format!("preset `{name}`"),
            Source::File(path) => path.display().to_string(),
            Source::Environment => variable(origin.follows.unwrap_or(key)),
            Source::Flags => flag(origin.follows.unwrap_or(key)),
        };
        match origin.follows {
            Some(key) => format!("in proportion to `{key}`, {source}"),
            None => source,
        }
    }

    /// Every key and its value, in the order of help texts, without what is secret in them. A value that is
    /// not set is `None`.
    pub(crate) fn values(&self) -> Vec<(String, Option<Value>)> {
        let text = |value: &str| Some(Value::String(value.into()));
        let mut values = vec![("preset".to_owned(), text(&self.preset))];
        let chunk = table(&self.chunk);
        values.extend(chunk_keys().into_iter().map(|key| (key.clone(), chunk.get(&key).cloned())));
        values.push(("tokenizer".into(), text(&self.tokenizer)));
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
        for (key, value) in others {
            values.push((key.into(), value.as_deref().and_then(text).map(|value| services::shown(&value))));
        }
        values.extend(self.services.values().map(|(name, value)| (name.clone(), Some(value.clone()))));
        values
    }
}

/// The keys that say how documents are cut: the fields of [`ChunkConfig`], in their order.
pub(crate) fn chunk_keys() -> Vec<String> {
    match serde_json::to_value(ChunkConfig::default()) {
        Ok(serde_json::Value::Object(fields)) => fields.into_iter().map(|(key, _)| key).collect(),
        _ => Vec::new(),
    }
}

fn table(config: &ChunkConfig) -> Table {
    Table::try_from(config).expect("a configuration of plain values is a table")
}

/// Every key a configuration file, the environment and the flags know, aliases included.
pub(crate) fn known_keys() -> Vec<String> {
    cutting_keys().into_iter().chain(OTHER_KEYS.map(String::from)).collect()
}

/// Replaces the aliases among the flags by what they stand for.
pub(crate) fn resolve_aliases(flags: &mut Table) -> Result<()> {
    alias::resolve(flags, &"the flags")
}

/// The keys that say how documents are cut, and their aliases.
fn cutting_keys() -> Vec<String> {
    chunk_keys().into_iter().chain(alias::names()).collect()
}

/// Checks that all keys of a table are known.
fn check_keys(table: &Table, known: &[String], place: &dyn fmt::Display) -> Result<()> {
    match table.keys().find(|key| !known.contains(key)) {
        Some(key) => bail!("unknown key `{key}` in {place}; known are {}", listed(&alias::without(known))),
        None => Ok(()),
    }
}

/// `` `a`, `b`, `c` ``.
pub(crate) fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The layer of the environment: every `CHUNKWRIGHT_<KEY>` that is a known key.
pub(crate) fn environment(variables: impl Iterator<Item = (String, String)>) -> Result<Layer> {
    let known = known_keys();
    let mut values = Table::new();
    for (name, value) in variables {
        let Some(key) = name.strip_prefix(PREFIX).map(str::to_ascii_lowercase) else { continue };
        if value.is_empty() || !known.contains(&key) {
            continue;
        }
        let value = value.parse::<i64>().map_or(Value::String(value), Value::Integer);
        values.insert(key, value);
    }
    alias::resolve(&mut values, &"the environment")?;
    Ok(Layer { source: Source::Environment, values })
}

/// What every variable of ours begins with.
const PREFIX: &str = "CHUNKWRIGHT_";

/// Largest number of edits between a misspelt name and the one that is suggested.
const MAX_EDITS: usize = 3;

/// Warnings of variables that look like ours and are not known: not to those of `named` either, which the
/// configuration names. A misspelt limit must not pass unseen, and one of a newer version must not stop an older one.
pub(crate) fn unknown_variables(variables: impl Iterator<Item = String>, named: &[&str]) -> Vec<String> {
    let keys: Vec<String> =
        known_keys().iter().map(|key| variable(key)).chain([STORE_KEY.to_owned()]).collect();
    let is_known =
        |name: &String| keys.contains(&name.to_ascii_uppercase()) || named.contains(&name.as_str());
    let mut unknown: Vec<String> =
        variables.filter(|name| name.starts_with(PREFIX) && !is_known(name)).collect();
    unknown.sort_unstable();
    let warning = |name: &String| {
        let edits = |key: &String| strsim::osa_distance(&name[PREFIX.len()..], &key[PREFIX.len()..]);
        // Of a short name, few edits make any other.
        let most = MAX_EDITS.min((name.len() - PREFIX.len()) / 3);
        let close = keys.iter().filter(|key| edits(key) <= most).min_by_key(|key| edits(key));
        let right = match close {
            Some(close) => format!("did you mean `{close}`?"),
            None => "`chunkwright config show` lists every key".to_owned(),
        };
        format!("unknown environment variable `{name}` is ignored; {right}")
    };
    unknown.iter().map(warning).collect()
}

/// The values of a preset: one of the user's, on its base, or a built-in one.
fn preset_config(name: &str, presets: &Table, above: &mut Vec<String>) -> Result<ChunkConfig> {
    if above.iter().any(|other| other == name) {
        bail!("the preset `{name}` is its own base; `base` must lead to a built-in preset");
    }
    let Some(Value::Table(table)) = presets.get(name) else {
        return preset::preset(name).map_err(|error| {
            let own: Vec<String> = presets.keys().cloned().collect();
            if own.is_empty() { error.into() } else { anyhow!("{error}, {}", listed(&own)) }
        });
    };
    let mut values = table.clone();
    let base = values.remove("base");
    let layer = Layer { source: Source::Preset(name.into()), values };
    let base = match base {
        None => "auto".to_owned(),
        Some(Value::String(base)) => base,
        Some(other) => bail!("`base` of the preset `{name}` is `{other}`; it must be the name of a preset"),
    };
    above.push(name.into());
    let mut config = preset_config(&base, presets, above)?;
    overlay(&mut config, &layer, &mut BTreeMap::new())?;
    Ok(config)
}

/// Puts the cutting keys of `layer` over `config`.
///
/// Sizes that the layer does not set follow those it does: in proportion to `max_size`; or, when it
/// changes the unit only, by four characters a token.
fn overlay(config: &mut ChunkConfig, layer: &Layer, origins: &mut BTreeMap<String, Origin>) -> Result<()> {
    let before = config.clone();
    for key in chunk_keys() {
        if let Some(value) = layer.values.get(&key) {
            set(config, &key, value, layer)?;
            origins.insert(key, Origin { source: layer.source.clone(), follows: None });
        }
    }
    let sets = |key: &str| layer.values.contains_key(key);
    let (times, over, follows) = match (before.unit, config.unit) {
        _ if sets("max_size") => (config.max_size, before.max_size, "max_size"),
        (Unit::Tokens, Unit::Chars) => (CHARS_PER_TOKEN, 1, "unit"),
        (Unit::Chars, Unit::Tokens) => (1, CHARS_PER_TOKEN, "unit"),
        _ => return Ok(()),
    };
    let sizes = [
        ("max_size", &mut config.max_size),
        ("target_size", &mut config.target_size),
        ("min_size", &mut config.min_size),
        ("overlap_size", &mut config.overlap_size),
        ("short_size", &mut config.short_size),
        ("long_size", &mut config.long_size),
        ("medium_max_size", &mut config.medium_max_size),
        ("medium_overlap_size", &mut config.medium_overlap_size),
    ];
    for (key, size) in sizes.into_iter().filter(|(key, _)| !sets(key)) {
        let scaled = (*size as u128 * times as u128 / over.max(1) as u128) as usize;
        if scaled != *size {
            origins.insert(key.into(), Origin { source: layer.source.clone(), follows: Some(follows) });
        }
        *size = scaled;
    }
    Ok(())
}

/// What sizes are multiplied by where the unit changes and they do not: about what English takes.
const CHARS_PER_TOKEN: usize = 4;

/// Sets one key of `config`.
fn set(config: &mut ChunkConfig, key: &str, value: &Value, layer: &Layer) -> Result<()> {
    let mut table = table(config);
    let number = matches!(table.get(key), Some(Value::Integer(_)));
    let value = &match (table.get(key), value) {
        (Some(Value::Array(_)), Value::String(list)) => alias::list(list),
        _ => value.clone(),
    };
    table.insert(key.into(), value.clone());
    *config = table.try_into().map_err(|error: toml::de::Error| {
        let right = match error.message().split_once("expected ") {
            _ if number => "a whole number, 0 or more, in range".to_owned(),
            Some((_, names)) => names.to_owned(),
            None => error.message().to_owned(),
        };
        anyhow!("{} is {value}; it must be {right}", place(key, layer))
    })?;
    Ok(())
}

/// The text value of `key` in `layer`, if it has one.
fn string(key: &str, layer: &Layer) -> Result<Option<String>> {
    match layer.values.get(key) {
        None => Ok(None),
        Some(Value::String(value)) => Ok(Some(value.clone())),
        // A variable that holds a number is text like any other.
        Some(Value::Integer(value)) if layer.source == Source::Environment => Ok(Some(value.to_string())),
        Some(value) => bail!("{} is {value}; it must be text in quotes", place(key, layer)),
    }
}

/// A key and where it stands, for messages.
fn place(key: &str, layer: &Layer) -> String {
    match &layer.source {
        Source::Default => format!("`{key}`"),
        Source::Preset(name) => format!("`{key}` of the preset `{name}`"),
        Source::File(path) => format!("`{key}` in `{}`", path.display()),
        Source::Environment => format!("`{}`", variable(key)),
        Source::Flags => format!("`{}`", flag(key)),
    }
}

fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.to_ascii_uppercase())
}

fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

/// The nearest `chunkwright.toml` in `folder` or above it.
pub(crate) fn nearest(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file())
}
