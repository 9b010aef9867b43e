//! Finds the fewest keys that give settings.

use chunkwright::{ChunkOptions, Key};
use serde_json::{Map, Value};

use crate::settings::in_force::Settings;
use crate::settings::key;

impl Settings {
    /// The fewest keys that a request over `below` has to set for these settings: the preset, and what differs from it
    /// otherwise than by following.
    pub(crate) fn least(&self, below: &Self) -> Map<String, Value> {
        let mut least = Map::from_iter([(key::PRESET.name.to_owned(), Value::from(self.preset.as_str()))]);
        // The preset was found when these settings were combined.
        if let Ok((preset, _)) = self.layers.0.preset(&self.preset, &mut Vec::new())
            && let Ok(Value::Object(options)) =
                serde_json::to_value(ChunkOptions::between(&preset, &self.chunk))
        {
            least.extend(options);
        }
        let before = below.list();
        let is_other = |name: &str| name != key::PRESET.name && Key::find(name).is_none();
        let others = self
            .list()
            .into_iter()
            .filter(|setting| is_other(&setting.key) && key::is_requestable(&setting.key));
        for setting in others {
            let is_known = before.iter().any(|old| old.key == setting.key && old.value == setting.value);
            if let (false, Some(value)) = (is_known, setting.value) {
                least.insert(setting.key, value);
            }
        }
        least
    }
}
