//! Settings from environment variables.

use chunkwright::ALIASES;
use chunkwright::options::resolve_aliases;
use serde_json::{Map, Value};

use crate::settings::error::SettingsError;
use crate::settings::key;
use crate::settings::layer::Layer;
use crate::settings::origin::Source;

/// The variable that holds the key of a store on a server. It is not a key of the settings, which are printed.
pub const STORE_KEY: &str = "CHUNKWRIGHT_STORE_KEY";

/// The variable that holds an API key for clients of a server, with all scopes.
pub const API_KEY: &str = "CHUNKWRIGHT_API_KEY";

/// The variable that holds the level of a server's log.
pub const LOG_LEVEL: &str = "CHUNKWRIGHT_LOG_LEVEL";

/// The prefix of all our variables.
const PREFIX: &str = "CHUNKWRIGHT_";

/// Maximum number of edits between a misspelt name and the suggested one.
const MAX_EDITS: usize = 3;

/// The variable of a key.
pub(super) fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.to_ascii_uppercase())
}

/// The layer of every `CHUNKWRIGHT_<KEY>` that is a known key.
pub(super) fn layer(variables: impl IntoIterator<Item = (String, String)>) -> Result<Layer, SettingsError> {
    let known = key::names();
    let mut values = Map::new();
    for (name, value) in variables {
        let Some(key) = name.strip_prefix(PREFIX).map(str::to_ascii_lowercase) else { continue };
        if !value.is_empty() && (known.contains(&key.as_str()) || key::is_alias(&key)) {
            values.insert(key, Value::String(value));
        }
    }
    let source = Source::Environment;
    let aliased = resolve_aliases(&mut values).map_err(|error| SettingsError::at(error, &source))?;
    Ok(Layer { source, values, aliased })
}

/// Warnings about unknown variables with our prefix: a misspelt limit must not go unnoticed, and a variable of a newer
/// version must not stop an older one. `named` are the variables that the configuration refers to.
pub(super) fn unknown(given: impl IntoIterator<Item = String>, named: &[&str]) -> Vec<String> {
    let known = key::names().into_iter().chain(ALIASES.iter().map(|alias| alias.name)).map(variable);
    let known: Vec<String> = known.chain([STORE_KEY, API_KEY, LOG_LEVEL].map(str::to_owned)).collect();
    let is_known =
        |name: &String| known.contains(&name.to_ascii_uppercase()) || named.contains(&name.as_str());
    let mut unknown: Vec<String> =
        given.into_iter().filter(|name| name.starts_with(PREFIX) && !is_known(name)).collect();
    unknown.sort_unstable();
    let warning = |name: &String| {
        let edits = |key: &String| strsim::osa_distance(&name[PREFIX.len()..], &key[PREFIX.len()..]);
        // A few edits turn a short name into any other.
        let most = MAX_EDITS.min((name.len() - PREFIX.len()) / 3);
        let close = known.iter().filter(|key| edits(key) <= most).min_by_key(|key| edits(key));
        let right = match close {
            Some(close) => format!("did you mean `{close}`?"),
            None => "`chunkwright config show` lists every key".to_owned(),
        };
        format!("unknown environment variable `{name}` is ignored; {right}")
    };
    unknown.iter().map(warning).collect()
}
