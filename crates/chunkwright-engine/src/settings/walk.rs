//! The settings that select files of folders.

use chunkwright::{Key, options::ValueError};
use chunkwright_source::{FileTypes, Glob, WalkOptions};
use serde_json::{Value, json};

use crate::settings::error::SettingsError;
use crate::settings::key::{EXCLUDE, HIDDEN, INCLUDE, MAX_FILESIZE, NO_IGNORE, REDACT_SECRETS, TYPE};
use crate::settings::layer::Layer;

/// The file options of the layers; the highest layer that sets an option wins.
pub(super) fn options(layers: &[Layer]) -> Result<WalkOptions, SettingsError> {
    let value = |key: &Key| {
        let layer = layers.iter().rev().find(|layer| layer.values.contains_key(key.name));
        layer.map_or(Ok(None), |layer| layer.value(key))
    };
    let wrong = |key: &Key, value: &str, expected: String| {
        let layer = layers.iter().rev().find(|layer| layer.values.contains_key(key.name));
        let place = layer.map_or_else(|| format!("`{}`", key.name), |layer| layer.source.name(key.name));
        let error = ValueError { value: json!(value).to_string(), expected };
        SettingsError::Value { key: key.name, place, error }
    };
    let texts = |key: &Key| -> Result<Vec<String>, SettingsError> {
        let list = value(key)?.unwrap_or_default();
        Ok(list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect())
    };
    let globs = |key: &Key| -> Result<Vec<Glob>, SettingsError> {
        let glob = |text: String| {
            Glob::new(&*text).map_err(|error| wrong(key, &text, format!("a glob, such as `*.md`: {error}")))
        };
        texts(key)?.into_iter().map(glob).collect()
    };
    let flag = |key: &Key| Ok::<_, SettingsError>(value(key)?.is_some_and(|value| value == true));
    let types = texts(&TYPE)?;
    let expected =
        || "a type of ripgrep, such as `md`, `py` or `rust` (`rg --type-list` lists them)".to_owned();
    let types = match types.as_slice() {
        [] => None,
        names => Some(FileTypes::new(names).map_err(|name| wrong(&TYPE, &name, expected()))?),
    };
    let default = WalkOptions::default();
    let most = value(&MAX_FILESIZE)?.and_then(|value| value.as_u64());
    Ok(WalkOptions {
        max_file_size: most.unwrap_or(default.max_file_size),
        include: globs(&INCLUDE)?,
        exclude: globs(&EXCLUDE)?,
        types,
        hidden: flag(&HIDDEN)?,
        no_ignore: flag(&NO_IGNORE)?,
        redact_secrets: flag(&REDACT_SECRETS)?,
        output: None,
    })
}

/// The values of the keys, in their order.
pub(super) fn values(options: &WalkOptions) -> [(&'static str, Option<Value>); 7] {
    let globs = |globs: &[Glob]| Some(json!(globs)).filter(|_| !globs.is_empty());
    [
        (INCLUDE.name, globs(&options.include)),
        (EXCLUDE.name, globs(&options.exclude)),
        (TYPE.name, options.types.as_ref().map(|types| json!(types.names()))),
        (HIDDEN.name, Some(json!(options.hidden))),
        (NO_IGNORE.name, Some(json!(options.no_ignore))),
        (MAX_FILESIZE.name, Some(json!(options.max_file_size))),
        (REDACT_SECRETS.name, Some(json!(options.redact_secrets))),
    ]
}
