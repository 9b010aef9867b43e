//! A collection of a store, as an object of Python: a table of verbs, each of which takes a request and gives an answer as
//! JSON.

use std::sync::Arc;

use chunkwright_engine::{
    Access, Code, Collection, Error, IndexRequest, Progress, RunProgress, SearchRequest, Watched,
};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::keys::Keys;
use crate::work::{self, Failure};
use crate::{errors, json, own};

/// Tells the caller how far a run is.
type Tell<'a> = dyn Fn(Progress<'_>) + Sync + 'a;

/// What one can do with a collection.
struct Verb {
    name: &'static str,
    run: fn(&Collection, Value, &Tell<'_>) -> Result<Value, Error>,
}

fn read<T: DeserializeOwned>(request: Value) -> Result<T, Error> {
    Ok(serde_json::from_value(request)?)
}

fn told(answer: impl Serialize) -> Result<Value, Error> {
    Ok(serde_json::to_value(answer)?)
}

static VERBS: &[Verb] = &[
    Verb {
        name: "index",
        run: |it, request, tell| told(it.index(read(request)?, &|progress| tell(progress))?),
    },
    Verb { name: "put", run: |it, request, _| told(it.put_documents(read(request)?)?) },
    Verb { name: "delete", run: |it, request, _| told(it.delete(&read(request)?)?) },
    Verb { name: "rename", run: |it, request, _| told(it.rename(&read(request)?)?) },
    Verb { name: "amend", run: |it, request, _| told(it.amend(&read(request)?)?) },
    Verb { name: "boundary", run: |it, request, _| told(it.set_boundary(&read(request)?)?) },
    Verb { name: "overlays", run: |it, request, _| told(it.snapshot()?.overlays(read(request)?)?) },
    Verb { name: "fetch", run: |it, request, _| told(it.snapshot()?.fetch(&read(request)?)?) },
    Verb { name: "chunks", run: |it, request, _| told(it.snapshot()?.chunks(&read(request)?)?) },
    Verb { name: "documents", run: |it, _, _| told(it.snapshot()?.documents()?) },
    Verb { name: "statistics", run: |it, request, _| told(it.snapshot()?.statistics(&read(request)?)?) },
    Verb { name: "outline", run: |it, request, _| told(it.snapshot()?.outline(&read::<String>(request)?)?) },
    Verb { name: "versions", run: |it, _, _| told(it.generations()?) },
    Verb { name: "prune", run: |it, request, _| told(it.prune(&read(request)?)?) },
    Verb { name: "status", run: |it, _, _| told(it.status()?) },
    Verb { name: "check", run: |it, _, _| told(it.engine().check(Some(it.name()))?) },
];

/// A collection of a store.
#[pyclass(frozen, subclass, module = "chunkwright._chunkwright")]
pub(crate) struct Index {
    collection: Collection,
    keys: Keys,
    process: u32,
}

#[pymethods]
impl Index {
    /// Opens the store that `store` names, and its collection `collection`. With `read_only` nothing is written.
    #[new]
    #[pyo3(signature = (*, read_only=false, **keys))]
    fn new(py: Python<'_>, read_only: bool, keys: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let keys = Keys::read(keys)?;
        let access = if read_only { Access::Read } else { Access::Write };
        let collection = work::run(py, &keys.calls.cancel, || Ok(keys.open(access)?.default_collection()))?;
        Ok(Self { collection, keys, process: std::process::id() })
    }

    /// The name of the collection.
    #[getter]
    fn collection(&self) -> String {
        self.collection.now().name().to_owned()
    }

    /// The address of the store.
    #[getter]
    fn store(&self, py: Python<'_>) -> PyResult<String> {
        self.collection.engine().store_name().map_err(|error| errors::of(py, error))
    }

    /// Does what a verb names.
    #[pyo3(signature = (verb, request, on_progress=None))]
    fn ask(
        &self,
        py: Python<'_>,
        verb: &str,
        request: &Bound<'_, PyAny>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let known = VERBS.iter().find(|known| known.name == verb);
        let verb = known.ok_or_else(|| errors::refused(py, Code::INVALID_REQUEST, "unknown verb"))?;
        let request = json::from_python(request)?;
        let done = Mutex::new(RunProgress::default());
        let tell = |progress: Progress<'_>| {
            let Some(on_progress) = &on_progress else { return };
            let now = {
                let mut done = done.lock();
                done.note(progress);
                *done
            };
            // What a function that shows progress raises is not the result of the run.
            Python::attach(|py| {
                let _ = json::answer(py, &now).and_then(|now| on_progress.call1(py, (now,)));
            });
        };
        let answer = self.work(py, |collection| (verb.run)(collection, request, &tell))?;
        json::to_python(py, &answer)
    }

    /// Searches; keywords are options of searches.
    #[pyo3(signature = (query, **options))]
    fn find(
        &self,
        py: Python<'_>,
        query: String,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let mut given = Keys::read(options)?;
        let mut options: Map<String, Value> = given.take_options();
        // What is left is unknown, which the table says.
        options.extend(given.values().clone());
        let answer =
            self.work(py, |collection| told(collection.search(&SearchRequest::read(query, options)?)?))?;
        json::to_python(py, &answer)
    }

    /// Indexes now and after every change below `paths`, until Ctrl-C. `on_event` gets what happened.
    fn follow(&self, py: Python<'_>, request: &Bound<'_, PyAny>, on_event: Py<PyAny>) -> PyResult<()> {
        let request: IndexRequest = json::from_python(request)?;
        let cancel = own::cancel();
        let followed = work::run(py, &cancel, || {
            let engine = self.of_this_process()?.engine().stopped_by(Arc::clone(&cancel));
            let collection = engine.collection(self.collection.now().name());
            collection.watch::<Failure>(&request, |event| {
                let told = match event {
                    Watched::Run(answer) => json!({ "event": "run", "answer": answer }),
                    Watched::Failed(error) => json!({ "event": "failed", "message": error.to_string() }),
                    Watched::Notice(notice) => json!({ "event": "notice", "message": notice.message }),
                    Watched::Waiting => json!({ "event": "waiting" }),
                    _ => return Ok(()),
                };
                Python::attach(|py| on_event.call1(py, (json::to_python(py, &told)?,)).map(drop))?;
                Ok(())
            })
        });
        match followed {
            // The way in which watching ends.
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyStopIteration>(py) => Ok(()),
            followed => followed,
        }
    }
}

impl Index {
    /// The collection, unless this is a fork of the process that opened it: its threads are not here.
    fn of_this_process(&self) -> Result<&Collection, Failure> {
        if self.process == std::process::id() {
            return Ok(&self.collection);
        }
        Err(Failure::Refused("this index was opened before the process forked; open it again in this one"))
    }

    /// Does work that Ctrl-C stops.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Collection) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let calls = &self.keys.calls;
        let cancel = if self.keys.has_code() { Arc::clone(&calls.cancel) } else { own::cancel() };
        let done = work::run(py, &cancel, || {
            let engine = self.of_this_process()?.engine().stopped_by(Arc::clone(&cancel));
            calls.checked(work(&engine.collection(self.collection.now().name())))
        });
        cancel.store(false, std::sync::atomic::Ordering::Relaxed);
        done
    }
}
