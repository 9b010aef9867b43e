//! One layer of settings: what a file, the environment or a request sets.

use chunkwright::ChunkConfig;
use chunkwright::ChunkOptions;
use chunkwright::Key;
use chunkwright::options::Aliased;
use chunkwright::options::KEYS;
use chunkwright::options::resolve_aliases;
use serde_json::Map;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::settings::error::SettingsError;
use crate::settings::key;
use crate::settings::origin::{Origin, Source, Why};

/// Values of one source.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(super) source: Source,
    /// Values by key. Every key is known, and none is an alias.
    pub(super) values: Map<String, Value>,
    /// The aliases by which some of the keys were set.
    pub(super) aliased: Aliased,
}

/// Metadata of the documents below folders, each an absolute path.
pub(crate) type FolderMeta = Vec<(PathBuf, BTreeMap<String, String>)>;

impl Layer {
    /// Creates a layer of these values, after checking their keys.
    pub(crate) fn checked(
        source: Source,
        values: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<Self, SettingsError> {
        let mut values: Map<String, Value> = values.into_iter().collect();
        check_keys(&values, &key::names(), &source)?;
        let aliased = resolve_aliases(&mut values).map_err(|error| SettingsError::at(error, &source))?;
        Ok(Self { source, values, aliased })
    }

    /// Applies the cutting keys to `config`, which comes from the built-in preset `base` and the layers on top of it.
    pub(crate) fn apply(
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
    pub(crate) fn name_of<'a>(&'a self, key: &'a str) -> &'a str {
        self.aliased.names.get(key).copied().unwrap_or(key)
    }

    /// The value of a key, checked.
    pub(crate) fn value(&self, key: &Key) -> Result<Option<Value>, SettingsError> {
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
    pub(crate) fn text(&self, key: &Key) -> Result<Option<String>, SettingsError> {
        Ok(self.value(key)?.and_then(|value| value.as_str().map(str::to_owned)))
    }
}

/// Checks that all keys are known.
pub(crate) fn check_keys(
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
pub(crate) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The flag of a key.
pub(crate) fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}
