//! Errors in settings.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use chunkwright::options::resolve_aliases;
use chunkwright::{ConfigError, OptionsError, ValueError};
use serde_json::{Map, Value};

use crate::settings::key;

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// An error in the values of a request.
    #[error("{error}")]
    Requested {
        /// The key at fault, as the request names it.
        key: String,
        /// The error.
        error: Box<Self>,
    },
    /// Metadata that cannot be used.
    #[error("{place}: {message}")]
    Meta {
        /// Its location.
        place: String,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// A configuration file that cannot be read.
    #[error("the configuration `{}` could not be read: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system error.
        error: io::Error,
    },
    /// A configuration file that is not TOML.
    #[error("`{}` is not valid TOML at line {line}: {message}", .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser expected.
        message: String,
    },
    /// A key that does not exist.
    #[error("unknown key `{name}` in {place}; known are {known}")]
    UnknownKey {
        /// The key.
        name: String,
        /// Its location.
        place: String,
        /// The keys that exist there.
        known: String,
    },
    /// A value that its key does not take.
    #[error("{place} {error}")]
    Value {
        /// The key.
        key: &'static str,
        /// The key and its location.
        place: String,
        /// What is wrong with its value.
        error: ValueError,
    },
    /// A value that only the server's own configuration may have.
    #[error(
        "`{name}` is `{value}`; a request may name one of {known}, and the server's configuration any other"
    )]
    NotRequestable {
        /// The key.
        name: String,
        /// Its value.
        value: String,
        /// The values that a request may use.
        known: String,
    },
    /// An alias does not take this value.
    #[error("`{alias}` in {place} is `{value}`; it must be one of {expected}")]
    AliasValue {
        /// The alias.
        alias: &'static str,
        /// The location of the alias.
        place: String,
        /// Its value.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// An alias and the key it stands for have different values.
    #[error("`{alias}` in {place} makes `{key}` {value}, but it is {other} there; set only one")]
    Contradiction {
        /// The alias.
        alias: &'static str,
        /// The location of the alias.
        place: String,
        /// The key.
        key: String,
        /// What the alias makes of it.
        value: String,
        /// The value that is set.
        other: String,
    },
    /// A key that must hold tables holds something else.
    #[error("`{name}` in {place} must hold tables, such as `[{name}.mine]`")]
    NotTables {
        /// The key.
        name: String,
        /// Its location.
        place: String,
    },
    /// A key that must be a table is something else.
    #[error("`{name}` in {place} must be a table, such as `[{name}]`")]
    NotTable {
        /// The key.
        name: String,
        /// Its location.
        place: String,
    },
    /// A key of a service in the configuration itself.
    #[error(
        "`{name}` in {place} would be visible to everyone who reads the file; put the key in a file of its own and set `{name}_file`, or in a variable and set `{name}_variable`"
    )]
    KeyInFile {
        /// The key of the configuration.
        name: &'static str,
        /// Its location.
        place: String,
    },
    /// The table of a service has a value of the wrong type.
    #[error("{place} cannot be used: {reason}")]
    Service {
        /// The table.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A preset that does not exist.
    #[error("{error}{}", .own.iter().map(|name| format!(", `{name}`")).collect::<String>())]
    Preset {
        /// What is wrong, with the presets that are built in.
        error: ConfigError,
        /// The user's own presets.
        own: Vec<String>,
    },
    /// A preset that leads back to itself.
    #[error("the preset `{name}` is its own base; `base` must lead to a built-in preset")]
    PresetLoop {
        /// The preset.
        name: String,
    },
    /// A base that is not a name.
    #[error("`base` of the preset `{preset}` is `{base}`; it must be the name of a preset")]
    Base {
        /// The preset.
        preset: String,
        /// Its base.
        base: String,
    },
    /// The values together cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl SettingsError {
    /// An error in values from `place`.
    pub(super) fn at(error: OptionsError, place: &dyn Display) -> Self {
        let place = place.to_string();
        match error {
            OptionsError::UnknownKey { name } => Self::UnknownKey { name, place, known: String::new() },
            OptionsError::Value { name, error } => {
                Self::Value { key: name, place: format!("`{name}` in {place}"), error }
            }
            OptionsError::AliasValue { alias, value, expected } => {
                Self::AliasValue { alias, place, value, expected }
            }
            OptionsError::Contradiction { alias, key, value, other } => {
                Self::Contradiction { alias, place, key, value, other }
            }
            OptionsError::Config(error) => Self::Config(error),
            other => Self::Service { place, reason: other.to_string() },
        }
    }

    /// The key at fault, if it is one of a request.
    pub(crate) fn requested(&self) -> Option<&str> {
        match self {
            Self::Requested { key, .. } => Some(key),
            _ => None,
        }
    }

    /// This error as one of a request with these values, so that it names a key that the request has.
    pub(crate) fn of_request(self, values: &Map<String, Value>) -> Self {
        let aliases = resolve_aliases(&mut values.clone()).map(|aliased| aliased.names).unwrap_or_default();
        let as_set = |key: &str| {
            let alias = || aliases.get(key).copied().filter(|alias| values.contains_key(*alias));
            if values.contains_key(key) { Some(key.to_owned()) } else { alias().map(str::to_owned) }
        };
        let key = self.keys().into_iter().chain([key::PRESET.name]).find_map(as_set);
        match key {
            Some(key) => Self::Requested { key, error: Box::new(self) },
            None => self,
        }
    }

    /// The keys that the error is about, that at fault first.
    fn keys(&self) -> Vec<&str> {
        match self {
            Self::UnknownKey { name, .. } => vec![name],
            Self::Value { key, .. } => vec![key],
            Self::AliasValue { alias, .. } | Self::Contradiction { alias, .. } => vec![alias],
            Self::Config(error) => error.keys(),
            _ => Vec::new(),
        }
    }

    pub(super) fn tables(name: &str, place: &dyn Display) -> Self {
        Self::NotTables { name: name.into(), place: place.to_string() }
    }

    pub(super) fn table(name: &str, place: &dyn Display) -> Self {
        Self::NotTable { name: name.into(), place: place.to_string() }
    }
}
