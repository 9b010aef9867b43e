//! The settings that a request from a network may set.
//!
//! A request may set how documents are cut, which files of folders are taken, and which of the known models embeds. It
//! may never set an address, a path or a key: permission to index must not let a client make the server read a file or
//! call a machine of the client's choice.

use chunkwright_models::{COUNTERS, EMBEDDERS};
use serde_json::{Map, Value};

use crate::settings::error::SettingsError;
use crate::settings::in_force::Settings;
use crate::settings::key;
use crate::settings::layer::{Layer, listed};
use crate::settings::origin::Source;
use crate::settings::services::Kind;

impl Settings {
    /// These settings with `values` as an additional, highest layer.
    ///
    /// # Errors
    ///
    /// As [`Layers::settings`](super::Layers::settings), a key that a request may not set, and a counter or an embedder
    /// that no registry and no table of the configuration has.
    pub fn requested(&self, values: &Map<String, Value>) -> Result<Self, SettingsError> {
        for (name, value) in values {
            self.check_requested(name, value)?;
        }
        let settings = self.over(values).map_err(|error| error.of_request(values))?;
        settings.problems(values).into_iter().next().map_or(Ok(settings), Err)
    }

    /// These settings with `values` as an additional, highest layer. The values together may be unusable:
    /// [`problems`](Self::problems) says why.
    pub(crate) fn over(&self, values: &Map<String, Value>) -> Result<Self, SettingsError> {
        if values.is_empty() {
            return Ok(self.clone());
        }
        let (layers, highest) = &*self.layers;
        let mut below = layers.clone();
        below.stack.push(highest.clone());
        below.combine_unchecked(Layer::checked(Source::Request, values.clone())?)
    }

    /// Why the values together are unusable, with the key of the request `values` that is at fault.
    pub(crate) fn problems(&self, values: &Map<String, Value>) -> Vec<SettingsError> {
        let problems = self.chunk.check_all().into_iter();
        problems.map(|error| SettingsError::from(error).of_request(values)).collect()
    }

    /// Checks that a request may set this key to this value.
    pub(crate) fn check_requested(&self, name: &str, value: &Value) -> Result<(), SettingsError> {
        self.check_key(name, value).map_err(|error| {
            let (key, error) = (name.to_owned(), Box::new(error));
            SettingsError::Requested { key, error }
        })
    }

    fn check_key(&self, name: &str, value: &Value) -> Result<(), SettingsError> {
        let known: Vec<&str> = key::requestable().map(|key| key.name).collect();
        if !known.contains(&name) && !key::is_alias(name) {
            let (name, place, known) = (name.to_owned(), Source::Request.to_string(), listed(&known));
            return Err(SettingsError::UnknownKey { name, place, known });
        }
        // A client must not make the server store secrets of documents that it is configured to redact.
        if name == key::REDACT_SECRETS.name && self.walk.redact_secrets && value != true {
            let (name, value, known) = (name.to_owned(), value.to_string(), "`true`".to_owned());
            return Err(SettingsError::NotRequestable { name, value, known });
        }
        let Some(text) = value.as_str() else { return Ok(()) };
        let (is_known, known) = match name {
            "tokenizer" => {
                let is_known = COUNTERS.iter().any(|info| info.name == text || info.aliases.contains(&text));
                (is_known || text == self.tokenizer, COUNTERS.iter().map(|info| info.name).collect())
            }
            "embedder" => {
                let is_ours = text == "none" || EMBEDDERS.iter().any(|info| info.name == text);
                let is_known = is_ours || self.embedder.as_deref() == Some(text);
                let names: Vec<&str> = EMBEDDERS.iter().map(|info| info.name).chain(["none"]).collect();
                (is_known || self.services.table(Kind::Embedder, text).is_some(), names)
            }
            _ => return Ok(()),
        };
        if is_known {
            return Ok(());
        }
        let (name, value, known) = (name.to_owned(), text.to_owned(), listed(&known));
        Err(SettingsError::NotRequestable { name, value, known })
    }

    /// The names of the presets of the configuration.
    pub fn own_presets(&self) -> Vec<String> {
        self.layers.0.own_presets().map(str::to_owned).collect()
    }

    /// The values of the cutting keys, in the form that [`requested`](Self::requested) takes.
    pub fn cutting(&self) -> Map<String, Value> {
        let keys = key::keys(key::Group::Cutting);
        let is_cutting = |name: &str| keys.iter().any(|key| key.name == name);
        let settings = self.list().into_iter().filter(|setting| is_cutting(&setting.key));
        settings.filter_map(|setting| Some((setting.key, setting.value?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::layers::Layers;

    fn settings(values: &Value) -> Result<Settings, SettingsError> {
        let usual = Layers::default().settings(Source::Request, []).expect("settings");
        usual.requested(values.as_object().expect("an object"))
    }

    #[test]
    fn a_request_says_how_documents_are_cut_and_a_key_of_another_system_selects_its_preset() {
        let course = settings(&json!({"chunk_size": 800, "min_chunk_size": 50})).expect("settings");
        assert_eq!(
            (course.preset.as_str(), course.chunk.max_size, course.chunk.min_size),
            ("course", 800, 50)
        );
        let again = settings(&Value::Object(course.cutting())).expect("settings");
        assert_eq!((again.chunk, again.preset), (course.chunk, course.preset), "they say themselves");
    }

    #[test]
    fn a_request_switches_redaction_on_and_not_off() {
        let on = settings(&json!({"redact_secrets": true})).expect("settings");
        let off = json!({"redact_secrets": false}).as_object().cloned().expect("an object");
        assert!(on.walk.redact_secrets && on.requested(&off).is_err());
        assert!(settings(&json!({"redact_secrets": false})).is_ok());
    }

    #[test]
    fn a_request_sets_no_address_path_or_key() {
        for values in [
            json!({"store": "/etc"}),
            json!({"data": "/srv"}),
            json!({"embedder_url": "http://169.254.169.254/"}),
            json!({"store_key_file": "/etc/passwd"}),
            json!({"tokenizer": "/etc/passwd"}),
            json!({"embedder": "openai:text-embedding-3-small"}),
        ] {
            assert!(settings(&values).is_err(), "{values}");
        }
        assert_eq!(settings(&json!({"tokenizer": "cl100k"})).expect("settings").tokenizer, "cl100k");
    }
}
