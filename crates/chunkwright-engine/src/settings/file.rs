//! Settings from a configuration file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chunkwright::options::resolve_aliases;
use serde_json::{Map, Value};

use crate::settings::error::SettingsError;
use crate::settings::layer::{FolderMeta, Layer, check_keys};
use crate::settings::origin::Source;
use crate::settings::services::{KINDS, Kind, Services};
use crate::settings::{key, meta};

/// The name of the configuration file.
pub const FILE_NAME: &str = "chunkwright.toml";

/// A configuration file: its layer, and what it defines.
pub(super) struct File {
    pub(super) layer: Layer,
    pub(super) presets: BTreeMap<String, Layer>,
    pub(super) services: Services,
    pub(super) meta: FolderMeta,
}

/// The nearest `chunkwright.toml` in `folder` or above it.
pub(super) fn nearest(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file())
}

/// Reads the file at `path` and checks its keys.
pub(super) fn read(path: &Path, is_named: bool) -> Result<File, SettingsError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| SettingsError::Unreadable { path: path.to_owned(), error })?;
    let source = Source::File(path.to_owned());
    let mut values = parse(path, &text)?;
    let tables = match values.remove("presets") {
        None => Map::new(),
        Some(Value::Object(presets)) => presets,
        Some(_) => return Err(SettingsError::tables("presets", &source)),
    };
    let meta = meta::take(&mut values, path)?;
    let services = Services::take(&mut values, path, is_named)?;
    let mut known = key::names();
    known.extend(["presets", meta::TABLE]);
    known.extend(KINDS.map(Kind::tables));
    check_keys(&values, &known, &source)?;
    let aliased = resolve_aliases(&mut values).map_err(|error| SettingsError::at(error, &source))?;
    let mut known = key::cutting_names();
    known.push("base");
    let mut presets = BTreeMap::new();
    for (name, table) in tables {
        let Value::Object(mut values) = table else {
            return Err(SettingsError::table(&format!("presets.{name}"), &source));
        };
        let place = format!("the preset `{name}` of {source}");
        check_keys(&values, &known, &place)?;
        let aliased = resolve_aliases(&mut values).map_err(|error| SettingsError::at(error, &place))?;
        presets.insert(name.clone(), Layer { source: Source::Preset(name), values, aliased });
    }
    anchor(&mut values, path);
    Ok(File { layer: Layer { source, values, aliased }, presets, services, meta })
}

fn parse(path: &Path, text: &str) -> Result<Map<String, Value>, SettingsError> {
    let wrong = |at: usize, message: &str| {
        let line = text.as_bytes()[..at.min(text.len())].split(|&byte| byte == b'\n').count();
        SettingsError::Syntax { path: path.to_owned(), line, message: message.replace('\n', ", ") }
    };
    toml::from_str(text)
        .map_err(|error: toml::de::Error| wrong(error.span().map_or(0, |span| span.start), error.message()))
}

/// Resolves relative paths against the folder of the file.
fn anchor(values: &mut Map<String, Value>, path: &Path) {
    for key in ["store", "store_key_file", "data"] {
        if let Some(Value::String(folder)) = values.get_mut(key)
            && !folder.contains("://")
            && let Some(base) = path.parent()
        {
            *folder = base.join(&*folder).to_string_lossy().into_owned();
        }
    }
}
