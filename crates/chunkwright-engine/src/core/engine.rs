//! The engine: settings, store, models, threads and a clock, which all requests share.

pub(crate) mod builder;
pub(crate) mod clock;
pub(crate) mod loaded;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use chunkwright::{Chunker, TokenCounter};
use chunkwright_index::{
    Access as StoreAccess, Model, Progress, Store, StoreError, on_pool, open_store, stoppable, store_kind,
};
use chunkwright_models::{Embedder, Reranker, Writer};
use parking_lot::{Mutex, RwLock};
use rayon::ThreadPool;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::core::asked::Asked;
use crate::core::embedding::EngineEmbedder;
use crate::core::engine::builder::{Given, OnWait, hold, in_turn};
use crate::core::engine::loaded::{Load, Loaded};
use crate::core::figures::KnownFigures;
use crate::core::models;
use crate::core::observe::{self, Observer, Stages, Teller};
use crate::core::owner::{Listener, Owner};
use crate::core::scripts::KnownScripts;
use crate::core::turns::{Turn, Turns};
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::request::task::{Call, Task};
use crate::settings::Settings;

/// What an engine may do with its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// There is no store: documents are cut, explained and compared.
    NoStore,
    /// Any number of processes may read at once, beside one that writes.
    Read,
    /// One process at a time may write.
    Write,
}

/// An engine: everything that requests share. Clones share it too.
///
/// ```no_run
/// use chunkwright_engine::{Access, Engine, SearchRequest, settings::{Layers, Source}};
///
/// let settings = Layers::default().settings(Source::Request, [])?;
/// let engine = Engine::open(settings, Access::Read)?;
/// let answer = engine.collection("default").search(&SearchRequest::new("how is a lifetime elided?"))?;
/// println!("{}", serde_json::to_string_pretty(&answer)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Settings,
    counter: OnceLock<Arc<dyn TokenCounter>>,
    cancel: Arc<AtomicBool>,
    shared: Arc<Shared>,
    /// Whether answers reveal as little as possible about where files are on this machine.
    hides_places: bool,
}

/// State shared by all engines of one store, whatever their settings.
struct Shared {
    access: Access,
    /// Settings that locate the store and the models; other settings do not change them.
    places: Places,
    held: RwLock<Held>,
    given: Given,
    /// Performs the tasks of other processes that write through this one.
    perform: Perform,
    pool: Arc<ThreadPool>,
    queue: Option<Arc<OnWait>>,
    loaded: Loaded,
    turns: Turns,
    opened_at: i64,
    /// The collections with a change by hand in progress.
    changes: Turns,
    owns: Owns,
    /// The listener for other processes, while this process owns the store.
    listener: Mutex<Option<Listener>>,
    /// Reports to the observer.
    teller: Teller,
    /// Cached metrics of chunks.
    figures: KnownFigures,
    /// Cached scripts of documents.
    scripts: KnownScripts,
    /// The documents that searches found.
    asked: Asked,
}

/// A reference to an engine that does not keep its store open.
pub(crate) struct WeakEngine(Weak<Inner>);

impl WeakEngine {
    /// Returns the engine, if it still exists.
    pub(crate) fn upgrade(&self) -> Option<Engine> {
        self.0.upgrade().map(|inner| Engine { inner })
    }
}

/// Performs a task on an engine. Handed in, so that the engine need not know what tasks do.
pub(crate) type Perform = fn(&Engine, Task, &dyn Fn(Progress<'_>)) -> Result<Value, Error>;

/// The locations of the store and the models.
#[derive(Clone)]
struct Places {
    store: Option<String>,
    store_key_file: Option<String>,
    data: Option<String>,
}

impl Places {
    fn of(settings: &Settings) -> Self {
        let Settings { store, store_key_file, data, .. } = settings;
        Self { store: store.clone(), store_key_file: store_key_file.clone(), data: data.clone() }
    }

    fn put_into(&self, mut settings: Settings) -> Settings {
        let Self { store, store_key_file, data } = self.clone();
        (settings.store, settings.store_key_file, settings.data) = (store, store_key_file, data);
        settings
    }
}

/// How the store is held now.
#[derive(Clone)]
enum Held {
    /// No store.
    Nothing,
    /// Held by this process, to read or to write as [`Access`] says.
    Here(Arc<dyn Store>),
    /// Held to read; writes go through its owner.
    Through(Arc<dyn Store>, Owner),
}

impl Held {
    fn store(&self) -> Result<Arc<dyn Store>, Error> {
        match self {
            Self::Nothing => Err(Error::NoAccess { access: "read" }),
            Self::Here(store) | Self::Through(store, _) => Ok(Arc::clone(store)),
        }
    }
}

/// Whether a process that writes to its store lets other processes write through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Owns {
    /// Other processes wait until it ends.
    #[default]
    No,
    /// It is the owner, and other processes write through it.
    Yes,
}

impl Engine {
    /// Creates an engine on shared state.
    fn on(shared: Arc<Shared>, settings: Settings, cancel: Arc<AtomicBool>) -> Self {
        let settings = shared.places.put_into(settings);
        Self {
            inner: Arc::new(Inner {
                settings,
                counter: OnceLock::new(),
                cancel,
                shared,
                hides_places: false,
            }),
        }
    }

    /// An engine with other settings on the same store, loaded models and threads, which only `cancel` stops. Servers
    /// use it to answer one request. The locations of the store and the models stay as they were.
    pub fn with(&self, settings: Settings, cancel: Arc<AtomicBool>) -> Self {
        let shared = Arc::clone(&self.inner.shared);
        let is_same = settings.tokenizer == self.inner.settings.tokenizer;
        let counter = if is_same { self.inner.counter.clone() } else { OnceLock::new() };
        let settings = shared.places.put_into(settings);
        let hides_places = self.inner.hides_places;
        Self { inner: Arc::new(Inner { settings, counter, cancel, shared, hides_places }) }
    }

    /// The same engine, stopped only by `cancel`. Servers use it to answer one request.
    pub fn stopped_by(&self, cancel: Arc<AtomicBool>) -> Self {
        let Inner { settings, counter, shared, hides_places, .. } = &*self.inner;
        let (settings, counter, shared) = (settings.clone(), counter.clone(), Arc::clone(shared));
        Self { inner: Arc::new(Inner { settings, counter, cancel, shared, hides_places: *hides_places }) }
    }

    /// Reports to `observer` from now on what this engine does, and what any other engine on its store in this process
    /// does. Only the first observer is kept.
    pub fn observe_by(&self, observer: Arc<dyn Observer>) {
        self.inner.shared.teller.set(observer);
    }

    /// Cached metrics of chunks.
    pub(crate) fn scripts(&self) -> &KnownScripts {
        &self.inner.shared.scripts
    }

    pub(crate) fn figures(&self) -> &KnownFigures {
        &self.inner.shared.figures
    }

    /// A weak reference to this engine, which does not keep its store open.
    pub(crate) fn weak(&self) -> WeakEngine {
        WeakEngine(Arc::downgrade(&self.inner))
    }

    /// Calls the observer, if there is one.
    pub(crate) fn observe(&self, tell: impl FnOnce(&dyn Observer)) {
        self.inner.shared.teller.tell(tell);
    }

    /// The reporter of search stages; `None` without an observer.
    pub(crate) fn stages(&self) -> Option<Stages<'_>> {
        self.inner.shared.teller.stages()
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// The folder of models and of the default store.
    ///
    /// # Errors
    ///
    /// A user without a home folder.
    pub fn data_dir(&self) -> Result<PathBuf, Error> {
        models::data_dir(&self.inner.settings)
    }

    /// The location of the store, for messages, without secrets in its address.
    ///
    /// # Errors
    ///
    /// A key of the store that cannot be read.
    pub fn store_name(&self) -> Result<String, Error> {
        Ok(models::place(&self.inner.settings)?.address())
    }

    /// The folder of a store that is not on a server.
    ///
    /// # Errors
    ///
    /// A store on a server.
    pub fn store_dir(&self) -> Result<PathBuf, Error> {
        models::store_dir(&self.inner.settings)
    }

    /// The folder for data that belongs to the store but is kept outside of it, such as jobs.
    ///
    /// # Errors
    ///
    /// A user without a home folder.
    pub fn state_dir(&self) -> Result<PathBuf, Error> {
        if let Ok(folder) = self.store_dir() {
            return Ok(folder);
        }
        // One folder for each store on a server.
        let name = blake3::hash(self.store_name()?.as_bytes()).to_hex();
        Ok(self.data_dir()?.join("servers").join(&name.as_str()[..16]))
    }

    /// Returns whether the caller passed in the store, so that no data of it is on this machine.
    pub(crate) fn has_given_store(&self) -> bool {
        self.inner.shared.given.store.is_some()
    }

    /// The token counter in force.
    ///
    /// # Errors
    ///
    /// A counter that does not exist, or whose model is not installed.
    pub fn counter(&self) -> Result<Arc<dyn TokenCounter>, Error> {
        if let Some(counter) = self.inner.counter.get() {
            return Ok(Arc::clone(counter));
        }
        let counter = self.counter_of(&self.inner.settings)?;
        Ok(Arc::clone(self.inner.counter.get_or_init(|| counter)))
    }

    /// The token counter of settings, unless the caller passed in one.
    fn counter_of(&self, settings: &Settings) -> Result<Arc<dyn TokenCounter>, Error> {
        let given = self.inner.shared.given.counter.clone();
        given.map_or_else(|| models::counter(settings), Ok)
    }

    /// The chunker of the settings in force.
    ///
    /// # Errors
    ///
    /// As [`counter`](Self::counter), and a configuration that cannot be used.
    pub fn chunker(&self) -> Result<Chunker, Error> {
        self.chunker_with(&self.inner.settings)
    }

    /// The chunker of other settings.
    pub(crate) fn chunker_with(&self, settings: &Settings) -> Result<Chunker, Error> {
        let is_same = settings.tokenizer == self.inner.settings.tokenizer;
        let counter = if is_same { self.counter()? } else { self.counter_of(settings)? };
        let config = settings.chunk.clone();
        Ok(match &self.inner.shared.given.strategy {
            Some(strategy) => Chunker::with_strategy(config, counter, Arc::clone(strategy))?,
            None => Chunker::new(config, counter)?,
        })
    }

    /// The store, for reading.
    pub(crate) fn store(&self) -> Result<Arc<dyn Store>, Error> {
        let held = &self.inner.shared.held;
        let store = held.read().store()?;
        if !store.is_outdated() {
            return Ok(store);
        }
        let mut held = held.write();
        // Another call may have opened it meanwhile.
        if let Held::Here(store) | Held::Through(store, _) = &mut *held
            && store.is_outdated()
        {
            *store = open_store(&models::place(&self.inner.settings)?, StoreAccess::Read)?;
        }
        held.store()
    }

    /// The process through which to write; `None` if this process writes itself. If the owner has ended, this process
    /// takes its place.
    pub(crate) fn owner(&self) -> Result<Option<Owner>, Error> {
        let shared = &self.inner.shared;
        let held = shared.held.read().clone();
        let Held::Through(_, owner) = held else { return Ok(None) };
        if owner.is_there() {
            return Ok(Some(owner));
        }
        let mut held = shared.held.write();
        *held = hold(&self.inner.settings, shared.queue.as_deref(), &self.inner.cancel)?;
        let owner = match &*held {
            Held::Through(_, owner) => Some(owner.clone()),
            Held::Nothing | Held::Here(_) => None,
        };
        drop(held);
        self.listen()?;
        Ok(owner)
    }

    /// Has the owner perform `task`, with the settings of this engine.
    pub(crate) fn through<T: DeserializeOwned>(
        &self,
        owner: &Owner,
        task: Task,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<T, Error> {
        let call = Call { settings: self.settings().portable(), task: task.with_absolute_paths() };
        let answer = owner.perform(&call, &self.inner.cancel, on_progress);
        self.check_cancelled()?;
        Ok(serde_json::from_value(answer?)?)
    }

    /// Starts to listen for other processes, if this process is configured as an owner and holds the store.
    fn listen(&self) -> Result<(), Error> {
        let shared = &self.inner.shared;
        let is_here = matches!(&*shared.held.read(), Held::Here(_));
        // A store that the caller passed in has no lock to hold, and a read-only store needs none.
        if shared.owns == Owns::No || !is_here || shared.given.store.is_some() || self.is_read_only() {
            return Ok(());
        }
        if store_kind(&models::place(&self.inner.settings)?).is_some_and(|kind| kind.has_many_writers) {
            return Ok(());
        }
        let folder = models::owner_dir(&self.inner.settings)?;
        let (perform, own) = (shared.perform, Arc::downgrade(shared));
        let started = Listener::start(&folder, move |Call { settings, task }, cancel, on_progress| {
            let shared = own.upgrade().ok_or(Error::OwnerGone)?;
            perform(&Self::on(shared, settings.settings()?, cancel), task, on_progress)
        });
        let started = started.map_err(Error::Owner)?;
        *shared.listener.lock() = Some(started);
        Ok(())
    }

    /// Waits until no other run of this process works on the collection.
    pub(crate) fn turn(&self, collection: &str) -> Result<Turn<'_>, Error> {
        let shared = &self.inner.shared;
        let name = collection.split('@').next().unwrap_or_default();
        shared.turns.take(name, &self.inner.cancel, || {
            if let Some(on_wait) = &shared.queue {
                let message = format!("waiting for another run over the collection `{name}`");
                on_wait(Notice::new(NoticeCode::Queued, message));
            }
        })
    }

    /// The turn of a collection, if no other run of this process works on it or waits for it.
    pub(crate) fn free_turn(&self, collection: &str) -> Option<Turn<'_>> {
        self.inner.shared.turns.take_free(collection.split('@').next().unwrap_or_default())
    }

    /// Returns whether a run of this process waits for the turn of a collection.
    pub(crate) fn is_turn_wanted(&self, collection: &str) -> bool {
        self.inner.shared.turns.is_wanted(collection.split('@').next().unwrap_or_default())
    }

    /// The documents that searches found.
    pub(crate) fn asked(&self) -> &Asked {
        &self.inner.shared.asked
    }

    /// Waits until no other change by hand of the collection is in progress. Runs go on meanwhile.
    pub(crate) fn change(&self, collection: &str) -> Result<Turn<'_>, Error> {
        let name = collection.split('@').next().unwrap_or_default();
        self.inner.shared.changes.take(name, &self.inner.cancel, || {})
    }

    /// Returns whether this process runs over a collection now, so that another run would wait.
    pub fn is_running_over(&self, collection: &str) -> bool {
        self.inner.shared.turns.is_taken(collection.split('@').next().unwrap_or_default())
    }

    /// Releases the store to other processes during `wait`, and takes it back in turn with them. An owner keeps it:
    /// they write through it.
    pub(crate) fn pause<T>(&self, wait: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        if self.inner.shared.owns == Owns::Yes || self.owner()?.is_some() {
            return wait();
        }
        let store = self.store()?;
        store.release();
        let waited = wait()?;
        in_turn(self.inner.shared.queue.as_deref(), &self.inner.cancel, || store.claim())?;
        Ok(waited)
    }

    /// The store, for writing. Writes that go through an owner never call this.
    pub(crate) fn writable_store(&self) -> Result<Arc<dyn Store>, Error> {
        self.check_writable()?;
        self.store()
    }

    /// Returns whether the store is read-only, because that was requested or because it cannot be written.
    pub fn is_read_only(&self) -> bool {
        self.inner.shared.access == Access::Read
    }

    /// Fails unless the store may be written.
    ///
    /// # Errors
    ///
    /// A store that can only be read, an engine without a store.
    pub fn check_writable(&self) -> Result<(), Error> {
        match self.inner.shared.access {
            Access::Write => Ok(()),
            Access::Read => Err(StoreError::ReadOnly.into()),
            Access::NoStore => Err(Error::NoAccess { access: "write" }),
        }
    }

    /// The same engine for callers who may not know where files are on this machine.
    pub fn without_places(&self) -> Self {
        let Inner { settings, counter, cancel, shared, .. } = &*self.inner;
        let (settings, counter, cancel) = (settings.clone(), counter.clone(), Arc::clone(cancel));
        Self {
            inner: Arc::new(Inner {
                settings,
                counter,
                cancel,
                shared: Arc::clone(shared),
                hides_places: true,
            }),
        }
    }

    /// Returns whether callers may not know where files are on this machine.
    pub fn hides_places(&self) -> bool {
        self.inner.hides_places
    }

    /// Returns whether an embedder was passed in or configured, even if it is `none`.
    pub(crate) fn chooses_embedder(&self) -> bool {
        self.inner.shared.given.embedder.is_some() || self.inner.settings.embedder.is_some()
    }

    /// The embedder that was passed in or configured, or the best one installed; `None` for no embedder.
    pub(crate) fn embedder(&self) -> Result<Option<Arc<dyn Embedder>>, Error> {
        self.loaded_embedder(&self.inner.settings, "index", || models::embedder(&self.inner.settings))
    }

    /// The embedder that was passed in, or the one of these settings for this `purpose`, loaded now unless it was
    /// before.
    fn loaded_embedder(
        &self,
        settings: &Settings,
        purpose: &str,
        load: impl FnOnce() -> Result<Option<Arc<dyn Embedder>>, Error>,
    ) -> Result<Option<Arc<dyn Embedder>>, Error> {
        let shared = &self.inner.shared;
        let (key, load): (String, Box<Load<'_>>) = match &shared.given.embedder {
            Some(given) => ("given".to_owned(), Box::new(|| Ok(Some(Arc::clone(given))))),
            None => (models::embedder_key(settings, purpose), Box::new(load)),
        };
        shared.loaded.embedder(key, || {
            let (pool, teller) = (Arc::clone(&shared.pool), shared.teller.clone());
            let own = |inner| Arc::new(EngineEmbedder::new(inner, pool, teller)) as Arc<dyn Embedder>;
            Ok(load()?.map(own))
        })
    }

    /// As [`embedder`](Self::embedder), but if the settings name none, the one called `name`.
    pub(crate) fn embedder_or(&self, name: Option<&str>) -> Result<Option<Arc<dyn Embedder>>, Error> {
        let settings = &self.inner.settings;
        if self.inner.shared.given.embedder.is_some() || settings.embedder.is_some() || name.is_none() {
            return self.embedder();
        }
        let mut settings = settings.clone();
        settings.embedder = name.map(str::to_owned);
        self.loaded_embedder(&settings, "index", || models::embedder(&settings))
    }

    /// Returns whether a model is installed.
    pub(crate) fn is_installed(&self, name: &str) -> bool {
        let model = chunkwright_models::MODELS.iter().find(|model| model.name == name);
        model.is_some_and(|model| self.data_dir().is_ok_and(|data| model.is_installed(&data)))
    }

    /// The embedder for queries against vectors of `model`; `None` if there are no vectors or the model is not
    /// installed.
    pub(crate) fn embedder_of(&self, model: Option<&Model>) -> Result<Option<Arc<dyn Embedder>>, Error> {
        let settings = &self.inner.settings;
        let purpose = model.map_or(String::new(), |model| format!("queries on {model:?}"));
        self.loaded_embedder(settings, &purpose, || models::query_embedder(settings, model))
    }

    /// The reranker that was passed in or configured; `None` for no reranker.
    pub(crate) fn reranker(&self) -> Result<Option<Arc<dyn Reranker>>, Error> {
        if let Some(reranker) = &self.inner.shared.given.reranker {
            return Ok(Some(Arc::clone(reranker)));
        }
        let settings = &self.inner.settings;
        self.inner.shared.loaded.reranker(models::reranker_key(settings), || models::reranker(settings))
    }

    /// The configured writer of notes; `None` for no writer.
    pub(crate) fn writer(&self) -> Result<Option<Writer>, Error> {
        models::writer(&self.inner.settings)
    }

    /// The time, in nanoseconds since 1970.
    pub(crate) fn now_nanos(&self) -> i64 {
        self.inner.shared.given.clock.now()
    }

    /// The time elapsed since `started`.
    pub(crate) fn since(&self, started: i64) -> Duration {
        observe::since(&*self.inner.shared.given.clock, started)
    }

    /// The time in ISO 8601, in whole seconds.
    pub(crate) fn now(&self) -> String {
        let seconds = self.now_nanos().div_euclid(1_000_000_000);
        jiff::Timestamp::from_second(seconds).map_or_else(|_| String::new(), |now| now.to_string())
    }

    /// Fails if the caller cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        if self.inner.cancel.load(Ordering::SeqCst) { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Runs work that ends early, with [`Error::Cancelled`], when the caller cancels.
    pub(crate) fn stoppable<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.check_cancelled()?;
        let done = stoppable(&self.inner.cancel, work);
        done.map_err(|error| self.check_cancelled().err().unwrap_or(error))
    }

    /// The flag that becomes true when the caller cancels.
    pub(crate) fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.inner.cancel)
    }

    /// Runs `work` on the engine's own threads.
    pub(crate) fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let span = tracing::Span::current();
        on_pool(&self.inner.shared.pool, || span.in_scope(work))
    }

    /// When this engine was opened, in nanoseconds since 1970.
    pub(crate) fn opened_at(&self) -> i64 {
        self.inner.shared.opened_at
    }

    /// Number of worker threads.
    pub(crate) fn thread_count(&self) -> usize {
        self.inner.shared.pool.current_num_threads()
    }

    /// The engine's own threads.
    pub(crate) fn threads(&self) -> Arc<ThreadPool> {
        Arc::clone(&self.inner.shared.pool)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("access", &self.inner.shared.access).finish_non_exhaustive()
    }
}
