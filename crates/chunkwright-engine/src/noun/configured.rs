//! The settings that a collection was cut by, and those planned for its next cut.
//!
//! A generation stores the hash of its configuration, not the configuration. To cut like it, settings with that hash
//! are looked up among those in force, the presets, and those of earlier requests, which are kept in a file beside the
//! store. So an uploaded document is cut like the rest of its collection, whatever the server's own settings are.

use std::collections::BTreeMap;

use chunkwright::Chunker;
use chunkwright::preset::PRESETS;
use chunkwright_index::Generation;
use chunkwright_models::Embedder;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::core::engine::Engine;
use crate::core::state_file;
use crate::error::Error;
use crate::noun::collection::Collection;
use crate::settings::Settings;

/// File name of the stored settings.
const FILE: &str = "configurations.json";

/// The one key of a plan that is not a cutting key.
const EMBEDDER: &str = "embedder";

/// Number of requested settings that are kept; the least recently requested are dropped.
const KEPT: usize = 64;

/// The contents of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Configurations {
    /// Requested settings, latest first: cutting keys and their values.
    asked: Vec<Map<String, Value>>,
    /// Planned settings by collection.
    collections: BTreeMap<String, Map<String, Value>>,
}

impl Configurations {
    fn read(engine: &Engine) -> Self {
        state_file::read(engine, FILE)
    }

    fn change(engine: &Engine, change: impl FnOnce(&mut Self)) -> Result<(), Error> {
        state_file::change(engine, FILE, |all: &mut Self| {
            change(all);
            all.asked.truncate(KEPT);
            Ok(())
        })
    }
}

impl Collection {
    /// The settings that cut the current generation of the collection, or the settings in force if it does not exist.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownConfiguration`] where none of the known settings cut it, a store that fails.
    pub fn configuration(&self) -> Result<Settings, Error> {
        let engine = self.engine();
        let Some(generation) = engine.store()?.lookup(self.name())? else {
            return Ok(engine.settings().clone());
        };
        let embedder = engine.embedder_of(generation.spec.model.as_ref())?;
        match cut_by(engine, &generation, embedder.as_deref())? {
            Some((settings, _)) => Ok(settings),
            None => Err(Error::UnknownConfiguration { collection: self.name().to_owned() }),
        }
    }

    /// The settings for the next cut of the collection: the [planned](Self::plan) ones, or else those that cut it.
    ///
    /// # Errors
    ///
    /// As [`configuration`](Self::configuration).
    pub fn planned(&self) -> Result<Settings, Error> {
        self.plan_in_force()?.map_or_else(|| self.configuration(), Ok)
    }

    /// The [planned](Self::plan) settings of the collection, if any.
    pub(crate) fn plan_in_force(&self) -> Result<Option<Settings>, Error> {
        let plan = Configurations::read(self.engine()).collections.remove(self.name());
        Ok(plan.map(|values| self.engine().settings().requested(&values)).transpose()?)
    }

    /// Stores the settings for the next cut of the collection.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn plan(&self, settings: &Settings) -> Result<(), Error> {
        self.plan_values(settings.cutting(), None)
    }

    /// As [`plan`](Self::plan), with an embedder; if none is given, the plan keeps its embedder.
    pub(crate) fn plan_values(
        &self,
        cutting: Map<String, Value>,
        embedder: Option<String>,
    ) -> Result<(), Error> {
        Configurations::change(self.engine(), |all| {
            let before = all.collections.get(self.name()).and_then(|plan| plan.get(EMBEDDER));
            let embedder = embedder.map(Value::from).or_else(|| before.cloned());
            let mut plan = cutting.clone();
            plan.extend(embedder.map(|embedder| (EMBEDDER.to_owned(), embedder)));
            all.collections.insert(self.name().to_owned(), plan);
            all.asked.retain(|known| *known != cutting);
            all.asked.insert(0, cutting);
        })
    }
}

impl Collection {
    /// Gives the plan to the collection `to`, which is this one by its new name.
    pub(crate) fn move_plan(&self, to: &str) -> Result<(), Error> {
        if !Configurations::read(self.engine()).collections.contains_key(self.name()) {
            return Ok(());
        }
        Configurations::change(self.engine(), |all| {
            let plan = all.collections.remove(self.name());
            all.collections.extend(plan.map(|plan| (to.to_owned(), plan)));
        })
    }

    /// Removes the plan of a collection that is gone.
    pub(crate) fn forget_plan(&self) -> Result<(), Error> {
        if !Configurations::read(self.engine()).collections.contains_key(self.name()) {
            return Ok(());
        }
        Configurations::change(self.engine(), |all| drop(all.collections.remove(self.name())))
    }
}

impl Engine {
    /// Stores settings that documents are about to be cut by, so that later documents can be cut alike.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn remember(&self, settings: &Settings) -> Result<(), Error> {
        let values = settings.cutting();
        if Configurations::read(self).asked.contains(&values) {
            return Ok(());
        }
        Configurations::change(self, |all| {
            all.asked.retain(|known| *known != values);
            all.asked.insert(0, values);
        })
    }
}

/// The settings that cut a generation, and their chunker; `None` if no known settings did.
pub(crate) fn cut_by(
    engine: &Engine,
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
) -> Result<Option<(Settings, Chunker)>, Error> {
    let hash = generation.spec.config_hash.split('+').next().unwrap_or_default();
    let in_force = engine.settings();
    let presets = PRESETS.iter().map(|preset| {
        let mut values = Map::new();
        values.insert("preset".into(), json!(preset.name));
        values
    });
    let others = presets.chain(Configurations::read(engine).asked);
    let chunker = windowed(engine.chunker()?, embedder);
    if chunker.config_hash() == hash {
        return Ok(Some((in_force.clone(), chunker)));
    }
    for values in others {
        // Settings that were valid once may be invalid now: a preset of the user may be gone.
        let Ok(settings) = in_force.requested(&values) else { continue };
        let Ok(chunker) = engine.chunker_with(&settings) else { continue };
        let chunker = windowed(chunker, embedder);
        if chunker.config_hash() == hash {
            return Ok(Some((settings, chunker)));
        }
    }
    Ok(None)
}

/// Adds the window of the embedder as a second limit.
pub(crate) fn windowed(chunker: Chunker, embedder: Option<&dyn Embedder>) -> Chunker {
    match embedder.map(Embedder::model) {
        Some(model) => match model.max_tokens {
            Some(limit) => chunker.with_window(model.counter.clone(), limit),
            None => chunker,
        },
        None => chunker,
    }
}
