//! Serializes settings for another process.

use chunkwright::ChunkConfig;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::settings::error::SettingsError;
use crate::settings::in_force::Settings;
use crate::settings::layer::FolderMeta;
use crate::settings::layers::Layers;
use crate::settings::origin::Source;
use crate::settings::services::Services;
use crate::settings::walk;

/// Settings as values that mean the same in every process of this machine. They exclude the locations of the store and
/// the models: the receiving process keeps its own.
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
        let texts = [
            ("tokenizer", Some(&self.tokenizer)),
            ("collection", Some(&self.collection)),
            ("embedder", self.embedder.as_ref()),
            ("embedder_url", self.embedder_url.as_ref()),
            ("reranker", self.reranker.as_ref()),
            ("reranker_url", self.reranker_url.as_ref()),
            ("writer", self.writer.as_ref()),
            ("writer_url", self.writer_url.as_ref()),
        ];
        let texts = texts.into_iter().map(|(key, value)| (key, value.map(|value| json!(value))));
        let keep = ("keep_generations", Some(json!(self.keep_generations)));
        let embed = ("embed_minutes", Some(json!(self.embed_minutes)));
        let values = texts.chain(walk::values(&self.walk)).chain([keep, embed]);
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
    use serde_json::json;

    use super::*;

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
