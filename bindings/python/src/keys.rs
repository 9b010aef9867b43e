//! Keywords of calls: keys of the settings, and what a caller passes in their place.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use chunkwright_engine::settings::Source;
use chunkwright_engine::{Access, Engine, Error, Layers, SEARCH_OPTIONS, Settings, schema};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};

use crate::json;
use crate::own::{Calls, Own};
use crate::work::Failure;

/// Number of settings whose engines are kept: each has the counter that it has made.
const KEPT: usize = 16;

/// What keywords say.
pub(crate) struct Keys {
    values: Map<String, Value>,
    config: Option<PathBuf>,
    threads: Option<NonZeroUsize>,
    own: Own,
    pub(crate) calls: Calls,
}

impl Keys {
    /// Reads keywords. One that is `None` is as if it were not given.
    pub(crate) fn read(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut keys = Self {
            values: Map::new(),
            config: None,
            threads: None,
            own: Own::default(),
            calls: Calls::default(),
        };
        for (name, value) in keywords.into_iter().flatten() {
            let name: String = name.extract()?;
            let is_code = || !value.is_instance_of::<pyo3::types::PyString>() && json::path(&value).is_err();
            match name.as_str() {
                _ if value.is_none() => {}
                "config" => keys.config = Some(json::path(&value)?),
                "threads" => keys.threads = NonZeroUsize::new(value.extract()?),
                name if is_code() && keys.own.take(name, &value, &keys.calls)? => {}
                _ => {
                    keys.values.insert(name, json::from_python(&value)?);
                }
            }
        }
        Ok(keys)
    }

    /// Takes out the options of searches, and `k` as a short name of `top_k`.
    pub(crate) fn take_options(&mut self) -> Map<String, Value> {
        if let Some(number) = self.values.remove("k") {
            self.values.insert("top_k".to_owned(), number);
        }
        let given = SEARCH_OPTIONS.iter().filter_map(|option| self.values.remove_entry(option.name));
        given.collect()
    }

    /// Whether code of the caller is part of the work.
    pub(crate) fn has_code(&self) -> bool {
        !self.own.is_empty()
    }

    /// The keys that are left.
    pub(crate) fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// The settings: defaults, the file `config`, variables `CHUNKWRIGHT_*`, keywords.
    fn settings(&self) -> Result<Settings, Failure> {
        let mut layers = Layers::default();
        if let Some(path) = &self.config {
            layers = layers.with_file(path, true).map_err(Error::from)?;
        }
        let layers = layers.with_environment(variables()).map_err(Error::from)?;
        let settings = layers.settings(Source::Request, self.values.clone());
        Ok(settings.map_err(Error::from)?)
    }

    /// An engine without a store.
    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        if !self.own.is_empty() || self.threads.is_some() || self.config.is_some() {
            return self.open(Access::NoStore);
        }
        let given = format!("{} {}", json!(self.values), json!(variables()));
        let process = std::process::id();
        if let Some(known) =
            ENGINES.lock().iter().find(|known| known.process == process && known.given == given)
        {
            return Ok(known.engine.stopped_by(Arc::clone(&self.calls.cancel)));
        }
        let settings = self.settings()?;
        let mut engines = ENGINES.lock();
        // The threads of another process are not there after a fork, and waiting for them would never end.
        let left = engines.extract_if(.., |known| known.process != process).collect::<Vec<_>>();
        std::mem::forget(left);
        let base = engines.iter().find(|known| known.data == settings.data).map(|known| known.engine.clone());
        let data = settings.data.clone();
        let engine = match base {
            Some(base) => base.with(settings, Arc::clone(&self.calls.cancel)),
            None => Engine::builder(settings).cancel(Arc::clone(&self.calls.cancel)).open(Access::NoStore)?,
        };
        // It is loaded now, so that the engine that is kept has it.
        engine.counter()?;
        if engines.len() == KEPT {
            engines.remove(0);
        }
        engines.push(Known { process, given, data, engine: engine.clone() });
        Ok(engine)
    }

    /// An engine of its own.
    pub(crate) fn open(&self, access: Access) -> Result<Engine, Failure> {
        let mut builder =
            Engine::builder(self.settings()?).threads(self.threads).cancel(Arc::clone(&self.calls.cancel));
        if let Some(counter) = &self.own.counter {
            builder = builder.counter(Arc::clone(counter));
        }
        if let Some(embedder) = &self.own.embedder {
            builder = builder.embedder(Arc::clone(embedder));
        }
        if let Some(reranker) = &self.own.reranker {
            builder = builder.reranker(Arc::clone(reranker));
        }
        if let Some(strategy) = &self.own.strategy {
            builder = builder.strategy(Arc::clone(strategy));
        }
        if access == Access::Write {
            // It may stay open for long: other processes write through it.
            builder = builder.owner().or_read();
        }
        Ok(builder.open(access)?)
    }
}

/// An engine that is kept for further calls with the same keywords.
struct Known {
    process: u32,
    given: String,
    data: Option<String>,
    engine: Engine,
}

static ENGINES: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// The variables that may be settings.
fn variables() -> Vec<(String, String)> {
    let named = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let ours = named.filter(|(name, _)| name.starts_with("CHUNKWRIGHT_"));
    ours.map(|(name, value)| (name, value.to_string_lossy().into_owned())).collect()
}

/// The keys of the settings, which are the keywords of calls, as a JSON Schema: each with its type, default and help.
#[pyfunction]
pub(crate) fn keys(py: Python<'_>) -> PyResult<Py<PyAny>> {
    json::answer(py, &schema::of_every_setting())
}

/// The options of searches, as [`keys`].
#[pyfunction]
pub(crate) fn options(py: Python<'_>) -> PyResult<Py<PyAny>> {
    json::answer(py, &schema::of_search())
}

/// The JSON Schema of a request or answer of the engine, such as `Record` or `EvaluateRequest`.
#[pyfunction(name = "schema")]
pub(crate) fn schema_of(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    json::answer(py, &schema::schema(name))
}
