//! Serializes settings for another process.

use chunkwright::{ChunkConfig, Key};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::settings::error::SettingsError;
use crate::settings::in_force::Settings;
use crate::settings::key;
use crate::settings::layer::FolderMeta;
use crate::settings::layers::Layers;
use crate::settings::origin::Source;
use crate::settings::services::Services;
use crate::settings::walk;

/// What a process keeps of its own: the places of the store and the models, and its memory.
const OWN: &[Key] = &[key::STORE, key::STORE_KEY_FILE, key::DATA, key::SEARCH_MEMORY];

/// Settings as values that mean the same in every process of this machine. They exclude what is the
/// receiving process's [`OWN`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PortableSettings {
    preset: String,
    chunk: ChunkConfig,
    values: Map<String, Value>,
    services: Services,
    meta: FolderMeta,
}

impl Settings {
    /// Exports these settings for another process.
    pub(crate) fn portable(&self) -> PortableSettings {
        let others = self.others().filter(|(key, _)| OWN.iter().all(|own| own.name != *key));
        let values = walk::values(&self.walk).into_iter().chain(others);
        let values = values.filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        PortableSettings {
            preset: self.preset.clone(),
            chunk: self.chunk.clone(),
            values,
            services: self.services.clone(),
            meta: self.meta.clone(),
        }
    }
}

impl PortableSettings {
    /// Restores the settings of another process.
    pub(crate) fn settings(self) -> Result<Settings, SettingsError> {
        let Self { preset, chunk, values, services, meta } = self;
        let layers = Layers { services, meta, ..Layers::default() };
        let settings = layers.settings(Source::Request, values)?;
        chunk.check()?;
        Ok(Settings { chunk, preset, ..settings })
    }
}

#[cfg(test)]
mod tests {
    use chunkwright::options::KEYS;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_key_has_a_value_to_send_or_is_a_process_s_own() {
        let settings = Layers::default().settings(Source::Flags, []).unwrap();
        let known: Vec<&str> =
            settings.others().chain(walk::values(&settings.walk)).map(|(name, _)| name).collect();
        for key in key::all() {
            let is_cutting = key.name == key::PRESET.name || KEYS.iter().any(|cut| cut.name == key.name);
            assert!(is_cutting || known.contains(&key.name), "`{}` has no value in `others`", key.name);
        }
        for own in OWN {
            assert!(known.contains(&own.name), "`{}` is not a key of `others`", own.name);
        }
    }

    #[test]
    fn settings_of_another_process_cut_alike() {
        let layers = Layers::default();
        for values in [
            json!({ "max_size": 300, "include": ["*.md"], "hidden": true }),
            json!({ "preset": "adaptive", "embedder": "none", "max_filesize": "1M" }),
            json!({ "preset": "course", "chunk_size": 700, "type": ["md"] }),
        ] {
            let Value::Object(values) = values else { unreachable!() };
            let before = layers.settings(
                Source::Flags,
                values.into_iter().map(|(key, value)| match value {
                    Value::Number(number) => (key, json!(number.to_string())),
                    value => (key, value),
                }),
            );
            let before = before.unwrap();
            let sent = serde_json::to_string(&before.portable()).unwrap();
            let after = serde_json::from_str::<PortableSettings>(&sent).unwrap().settings().unwrap();
            assert_eq!((&before.chunk, &before.preset), (&after.chunk, &after.preset));
            assert_eq!((&before.walk, &before.tokenizer), (&after.walk, &after.tokenizer));
            assert_eq!((&before.embedder, &before.collection), (&after.embedder, &after.collection));
        }
    }
}
