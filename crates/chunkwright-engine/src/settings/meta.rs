//! Metadata of documents in a configuration file.
//!
//! The table `meta` holds texts by name, which apply to all documents below the file, and tables by folder, which apply
//! to the documents below that folder:
//!
//! ```toml
//! [meta]
//! team = "courses"
//!
//! [meta."courses/13"]
//! course_id = "13"
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use chunkwright_index::meta;
use serde_json::{Map, Value};

use crate::settings::error::SettingsError;
use crate::settings::layer::FolderMeta;
use crate::settings::origin::Source;

/// The name of the table.
pub(super) const TABLE: &str = "meta";

/// Removes the table from the values of the file at `path`, and returns its metadata.
pub(super) fn take(values: &mut Map<String, Value>, path: &Path) -> Result<FolderMeta, SettingsError> {
    let source = Source::File(path.to_owned());
    let table = match values.remove(TABLE) {
        None => return Ok(Vec::new()),
        Some(Value::Object(table)) => table,
        Some(_) => return Err(SettingsError::tables(TABLE, &source)),
    };
    let base = path.parent().filter(|base| !base.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (folders, texts): (Map<_, _>, Map<_, _>) =
        table.into_iter().partition(|(_, value)| value.is_object());
    let mut all = vec![(base.to_owned(), texts)];
    for (folder, value) in folders {
        let Value::Object(texts) = value else { continue };
        all.push((base.join(folder), texts));
    }
    let mut found = Vec::new();
    for (folder, texts) in all.into_iter().filter(|(_, texts)| !texts.is_empty()) {
        let texts: Result<BTreeMap<String, String>, SettingsError> =
            texts.into_iter().map(|(name, value)| text(name, value, &source)).collect();
        // A folder that does not exist has no documents.
        found.push((folder.canonicalize().unwrap_or(folder), texts?));
    }
    Ok(found)
}

/// All texts, each keyed by folder and name.
pub(super) fn values(meta: &FolderMeta) -> impl Iterator<Item = (String, Value)> {
    meta.iter().flat_map(|(folder, texts)| {
        let name = move |name: &str| format!("{TABLE}.\"{}\".{name}", folder.display());
        texts.iter().map(move |(key, text)| (name(key), Value::from(text.as_str())))
    })
}

/// A text by its name, both checked.
fn text(name: String, value: Value, source: &Source) -> Result<(String, String), SettingsError> {
    let text = match value {
        Value::String(text) => text,
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => {
            return Err(SettingsError::Meta {
                place: source.name(TABLE),
                message: format!("`{name}` is a list; give a text"),
            });
        }
    };
    meta::check(&name, &text)
        .map_err(|error| SettingsError::Meta { place: source.name(TABLE), message: error.to_string() })?;
    Ok((name, text))
}
