//! Resolves a configuration: its values, what each follows, and the fewest keys that give them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::error::{Error, FieldError};
use crate::settings::{Setting, SettingsError, key};

/// A configuration to resolve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ResolveRequest {
    /// A preset and the keys set over it, or keys over those in force.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::RequestedSettings"))]
    pub settings: Map<String, Value>,
}

/// What a configuration comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResolveAnswer {
    /// Every key that a request may set, with its value and where that came from, in the order of documentation.
    pub settings: Vec<Setting>,
    /// The fewest keys that give these values: the preset, and what differs from it otherwise than by following.
    pub least: Map<String, Value>,
    /// What is wrong, each with its place in the request. A value that its key does not take is left out above.
    pub problems: Vec<FieldError>,
}

impl Engine {
    /// Resolves a configuration over the settings in force, also one that cannot be used.
    pub fn resolve(&self, request: ResolveRequest) -> ResolveAnswer {
        let (below, mut values) = (self.settings(), request.settings);
        let mut problems: Vec<SettingsError> = Vec::new();
        values.retain(|name, value| {
            below.check_requested(name, value).map_err(|error| problems.push(error)).is_ok()
        });
        let settings = loop {
            match below.over(&values) {
                Ok(settings) => break settings,
                Err(error) => {
                    let error = error.of_request(&values);
                    let key = error.requested().map(str::to_owned);
                    problems.push(error);
                    // Every turn removes a key.
                    if key.and_then(|key| values.remove(&key)).is_none() {
                        break below.clone();
                    }
                }
            }
        };
        problems.extend(settings.problems(&values));
        let listed = settings.list().into_iter().filter(|setting| key::is_requestable(&setting.key));
        let listed = listed.map(|it| Setting { origin: settings.origin_without_places(&it.key), ..it });
        ResolveAnswer {
            settings: listed.collect(),
            least: settings.least(below),
            problems: problems
                .into_iter()
                .filter_map(|error| Error::from(error).within("settings").field())
                .collect(),
        }
    }
}
