//! Resolves a configuration: its values, what each follows, and the fewest keys that give them.

use crate::core::engine::Engine;
use crate::error::Error;
use crate::request::resolve::{ResolveAnswer, ResolveRequest};
use crate::settings::{Setting, SettingsError, key};

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
