//! What does every request need: settings, store, models, threads and a clock?

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, SystemTime};

use chunkwright::{Chunker, Strategy, TokenCounter};
use chunkwright_index::{Access as StoreAccess, Model, Store, StoreError, open_store};
use chunkwright_models::{Embedder, Reranker, Writer};
use rayon::ThreadPool;

use crate::collection::Collection;
use crate::embedding::EngineEmbedder;
use crate::error::Error;
use crate::models;
use crate::notice::{Notice, NoticeCode};
use crate::observe::{self, Observer, Stages, Teller};
use crate::owner::{Listener, Owner};
use crate::settings::Settings;
use crate::turns::{Turn, Turns};

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

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Nanoseconds since 1970, in UTC.
    fn now(&self) -> i64;
}

/// The time of this machine.
#[derive(Clone, Copy, Debug, Default)]
struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        #[expect(clippy::disallowed_methods, reason = "the engine is where the time comes in")]
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
    }
}

/// Everything that requests share. Clones share it too.
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
}

/// What engines of one store share, whatever their settings.
pub(crate) struct Shared {
    access: Access,
    held: RwLock<Held>,
    given: Given,
    pool: Arc<ThreadPool>,
    queue: Option<Arc<OnWait>>,
    loaded: Loaded,
    turns: Turns,
    owns: Owns,
    /// Listens while this process owns the store.
    listener: Mutex<Option<Listener>>,
    /// Is told what engines do.
    teller: Teller,
}

/// The store as it is held now.
#[derive(Clone)]
enum Held {
    /// There is none.
    Nothing,
    /// By this process, to read or to write as [`Access`] says.
    Here(Arc<dyn Store>),
    /// To read; what is written goes through its owner.
    Through(Arc<dyn Store>, Owner),
}

/// Whether a process that writes to its store lets others write through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Owns {
    /// They wait until it ends.
    #[default]
    No,
    /// It is their owner.
    Yes,
}

/// Loads an embedder, if there is one.
type Load<'a> = dyn FnOnce() -> Result<Option<Arc<dyn Embedder>>, Error> + 'a;

/// Models that were loaded before, by what the settings say of them: a model takes longer to load than to answer.
#[derive(Default)]
struct Loaded {
    embedders: Slots<dyn Embedder>,
    rerankers: Slots<dyn Reranker>,
}

/// A place for each key, which is locked while what belongs there is loaded.
type Slots<T> = Mutex<HashMap<String, Arc<Mutex<Option<Arc<T>>>>>>;

impl Loaded {
    fn embedder(
        &self,
        key: String,
        load: impl FnOnce() -> Result<Option<Arc<dyn Embedder>>, Error>,
    ) -> Result<Option<Arc<dyn Embedder>>, Error> {
        once(&self.embedders, key, load)
    }

    fn reranker(
        &self,
        key: String,
        load: impl FnOnce() -> Result<Option<Arc<dyn Reranker>>, Error>,
    ) -> Result<Option<Arc<dyn Reranker>>, Error> {
        once(&self.rerankers, key, load)
    }
}

/// The value of `key`: loaded before, or loaded now. Other threads that need the same key wait for it, so that nothing is
/// loaded twice; other keys are not held up. A value that is missing is looked for again by the next call.
fn once<T: ?Sized>(
    slots: &Slots<T>,
    key: String,
    load: impl FnOnce() -> Result<Option<Arc<T>>, Error>,
) -> Result<Option<Arc<T>>, Error> {
    let slot = Arc::clone(slots.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
    let mut loaded = slot.lock().unwrap_or_else(PoisonError::into_inner);
    if loaded.is_none() {
        *loaded = load()?;
    }
    Ok(loaded.clone())
}

/// Is told that another process writes to the store, and that its end is waited for.
type OnWait = dyn Fn(Notice) + Send + Sync;

/// How often a store that another process writes to is tried again.
const RETRY: Duration = Duration::from_millis(100);

/// What a program hands in instead of what the settings name.
#[derive(Clone)]
struct Given {
    store: Option<Arc<dyn Store>>,
    strategy: Option<Arc<dyn Strategy>>,
    embedder: Option<Arc<dyn Embedder>>,
    reranker: Option<Arc<dyn Reranker>>,
    clock: Arc<dyn Clock>,
}

/// How an engine is opened.
#[derive(Clone)]
pub struct Builder {
    settings: Settings,
    threads: Option<NonZeroUsize>,
    cancel: Arc<AtomicBool>,
    queue: Option<Arc<OnWait>>,
    owns: Owns,
    given: Given,
}

impl Builder {
    /// The number of threads that work; without it one for each processor. Answers are the same with any number.
    pub fn threads(mut self, threads: Option<NonZeroUsize>) -> Self {
        self.threads = threads;
        self
    }

    /// What becomes true when the caller wants work to stop. What is stored by then stays.
    pub fn cancel(mut self, cancel: Arc<AtomicBool>) -> Self {
        self.cancel = cancel;
        self
    }

    /// Waits while another process writes to the store, until the caller wants work to stop, instead of failing.
    /// `on_wait` is told so.
    pub fn queue(mut self, on_wait: impl Fn(Notice) + Send + Sync + 'static) -> Self {
        self.queue = Some(Arc::new(on_wait));
        self
    }

    /// Lets other processes of the user write through this one while it is open. For those that are open for long; without
    /// it they wait, or fail. Where another process owns the store already, this one writes through it, and takes its
    /// place when it ends.
    pub fn owner(mut self) -> Self {
        self.owns = Owns::Yes;
        self
    }

    /// A store of the caller's own.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.given.store = Some(store);
        self
    }

    /// A strategy of the caller's own, in place of the one that the settings name.
    pub fn strategy(mut self, strategy: Arc<dyn Strategy>) -> Self {
        self.given.strategy = Some(strategy);
        self
    }

    /// An embedder of the caller's own.
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.given.embedder = Some(embedder);
        self
    }

    /// A reranker of the caller's own.
    pub fn reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.given.reranker = Some(reranker);
        self
    }

    /// Another clock than that of this machine.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.given.clock = clock;
        self
    }

    /// Opens the store and starts the threads. Models are loaded when they are needed.
    ///
    /// # Errors
    ///
    /// A store that cannot be opened.
    pub fn open(self, access: Access) -> Result<Engine, Error> {
        let Self { settings, threads, cancel, queue, owns, given } = self;
        let held = match (access, &given.store) {
            (Access::NoStore, _) => Held::Nothing,
            (_, Some(store)) => Held::Here(Arc::clone(store)),
            (Access::Read, None) => Held::Here(open_store(&models::place(&settings)?, StoreAccess::Read)?),
            (Access::Write, None) => hold(&settings, queue.as_deref(), &cancel)?,
        };
        let threads = threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Error::Threads(std::io::Error::other(error)))?;
        let teller = Teller::new(Arc::clone(&given.clock));
        let shared = Arc::new(Shared {
            access,
            held: RwLock::new(held),
            given,
            pool: Arc::new(pool),
            queue,
            loaded: Loaded::default(),
            turns: Turns::default(),
            owns,
            listener: Mutex::default(),
            teller,
        });
        let engine = Engine::on(shared, settings, cancel);
        engine.listen()?;
        Ok(engine)
    }
}

/// Opens the store to write: holds its lock, or finds the owner who does.
fn hold(settings: &Settings, on_wait: Option<&OnWait>, cancel: &AtomicBool) -> Result<Held, Error> {
    let place = models::place(settings)?;
    let folder = models::owner_dir(settings).ok();
    in_turn(on_wait, cancel, || match open_store(&place, StoreAccess::Write) {
        Ok(store) => Ok(Held::Here(store)),
        Err(error @ StoreError::Locked { .. }) => match folder.as_deref().and_then(Owner::of) {
            Some(owner) => Ok(Held::Through(open_store(&place, StoreAccess::Read)?, owner)),
            None => Err(error),
        },
        Err(error) => Err(error),
    })
}

/// Does what only one process may do at a time, as soon as no other does it.
fn in_turn<T>(
    on_wait: Option<&OnWait>,
    cancel: &AtomicBool,
    attempt: impl Fn() -> Result<T, StoreError>,
) -> Result<T, Error> {
    let mut attempts = 0;
    loop {
        match (attempt(), on_wait) {
            (Err(StoreError::Locked { path, holder }), Some(on_wait)) => {
                if cancel.load(Ordering::Relaxed) {
                    return Err(Error::Cancelled);
                }
                attempts += 1;
                // Who has just begun has not said yet who it is, and may be done before anybody reads this.
                if attempts == 2 {
                    let message = format!("waiting for {holder}, which is writing to the store at `{path}`");
                    on_wait(Notice::new(NoticeCode::Queued, message));
                }
                thread::sleep(RETRY);
            }
            (result, _) => return Ok(result?),
        }
    }
}

impl Engine {
    /// An engine with these settings, as [`builder`](Self::builder) opens it.
    ///
    /// # Errors
    ///
    /// A store that cannot be opened.
    pub fn open(settings: Settings, access: Access) -> Result<Self, Error> {
        Self::builder(settings).open(access)
    }

    /// How to open an engine in another way.
    pub fn builder(settings: Settings) -> Builder {
        let given = Given {
            store: None,
            strategy: None,
            embedder: None,
            reranker: None,
            clock: Arc::new(SystemClock),
        };
        Builder { settings, threads: None, cancel: Arc::default(), queue: None, owns: Owns::No, given }
    }

    /// An engine on what others share.
    pub(crate) fn on(shared: Arc<Shared>, settings: Settings, cancel: Arc<AtomicBool>) -> Self {
        Self { inner: Arc::new(Inner { settings, counter: OnceLock::new(), cancel, shared }) }
    }

    /// An engine with other settings on the same store, loaded models and threads, whose work `cancel` alone stops: what
    /// a server answers one request with. Where the store is, and where models are, stays as it was.
    pub fn with(&self, settings: Settings, cancel: Arc<AtomicBool>) -> Self {
        let shared = Arc::clone(&self.inner.shared);
        let is_same = settings.tokenizer == self.inner.settings.tokenizer;
        let counter = if is_same { self.inner.counter.clone() } else { OnceLock::new() };
        let own = &self.inner.settings;
        let mut settings = settings;
        (settings.store, settings.store_key_file, settings.data) =
            (own.store.clone(), own.store_key_file.clone(), own.data.clone());
        Self { inner: Arc::new(Inner { settings, counter, cancel, shared }) }
    }

    /// Tells `observer` what this engine does from now on, and whatever else works on its store in this process. The first
    /// observer stays.
    pub fn observe_by(&self, observer: Arc<dyn Observer>) {
        self.inner.shared.teller.set(observer);
    }

    /// Tells the observer, if there is one.
    pub(crate) fn observe(&self, tell: impl FnOnce(&dyn Observer)) {
        self.inner.shared.teller.tell(tell);
    }

    /// What an observer is told of the stages of a search; `None` without one.
    pub(crate) fn stages(&self) -> Option<Stages<'_>> {
        self.inner.shared.teller.stages()
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// The collection called `name`, which need not exist yet. `NAME@N` is one generation of it.
    pub fn collection(&self, name: impl AsRef<str>) -> Collection {
        Collection::new(self.clone(), name.as_ref())
    }

    /// The collection that the settings name.
    pub fn default_collection(&self) -> Collection {
        self.collection(&self.inner.settings.collection)
    }

    /// The folder of models and of the default store.
    ///
    /// # Errors
    ///
    /// A user without a home folder.
    pub fn data_dir(&self) -> Result<PathBuf, Error> {
        models::data_dir(&self.inner.settings)
    }

    /// Where the store is, for messages: without what is secret in its address.
    ///
    /// # Errors
    ///
    /// A key of the store that cannot be read.
    pub fn store_name(&self) -> Result<String, Error> {
        Ok(models::place(&self.inner.settings)?.address().to_owned())
    }

    /// The folder of a store that is not on a server.
    ///
    /// # Errors
    ///
    /// A store on a server.
    pub fn store_dir(&self) -> Result<PathBuf, Error> {
        models::store_dir(&self.inner.settings)
    }

    /// The folder where what belongs to the store, and is not in it, is kept: jobs, for instance.
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

    /// Whether the store was handed in, so that nothing of it is on this machine.
    pub(crate) fn has_given_store(&self) -> bool {
        self.inner.shared.given.store.is_some()
    }

    /// What counts tokens.
    ///
    /// # Errors
    ///
    /// A counter that does not exist, or whose model is not installed.
    pub fn counter(&self) -> Result<Arc<dyn TokenCounter>, Error> {
        if let Some(counter) = self.inner.counter.get() {
            return Ok(Arc::clone(counter));
        }
        let counter = models::counter(&self.inner.settings)?;
        Ok(Arc::clone(self.inner.counter.get_or_init(|| counter)))
    }

    /// What cuts documents.
    ///
    /// # Errors
    ///
    /// As [`counter`](Self::counter), and a configuration that cannot be used.
    pub fn chunker(&self) -> Result<Chunker, Error> {
        self.chunker_with(&self.inner.settings)
    }

    /// What cuts documents by other settings than those in force.
    pub(crate) fn chunker_with(&self, settings: &Settings) -> Result<Chunker, Error> {
        let is_same = settings.tokenizer == self.inner.settings.tokenizer;
        let counter = if is_same { self.counter()? } else { models::counter(settings)? };
        let config = settings.chunk.clone();
        Ok(match &self.inner.shared.given.strategy {
            Some(strategy) => Chunker::with_strategy(config, counter, Arc::clone(strategy))?,
            None => Chunker::new(config, counter)?,
        })
    }

    /// The store, to read.
    pub(crate) fn store(&self) -> Result<Arc<dyn Store>, Error> {
        match &*self.inner.shared.held.read().unwrap_or_else(PoisonError::into_inner) {
            Held::Nothing => Err(Error::NoAccess { access: "read" }),
            Held::Here(store) | Held::Through(store, _) => Ok(Arc::clone(store)),
        }
    }

    /// The process that what is written goes through; `None` where this one writes itself. Where the owner has ended, this
    /// process takes its place.
    pub(crate) fn owner(&self) -> Result<Option<Owner>, Error> {
        let shared = &self.inner.shared;
        let held = shared.held.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Held::Through(_, owner) = held else { return Ok(None) };
        if owner.is_there() {
            return Ok(Some(owner));
        }
        let mut held = shared.held.write().unwrap_or_else(PoisonError::into_inner);
        *held = hold(&self.inner.settings, shared.queue.as_deref(), &self.inner.cancel)?;
        let owner = match &*held {
            Held::Through(_, owner) => Some(owner.clone()),
            Held::Nothing | Held::Here(_) => None,
        };
        drop(held);
        self.listen()?;
        Ok(owner)
    }

    /// Lets other processes write through this one, if it is to and holds the store.
    fn listen(&self) -> Result<(), Error> {
        let shared = &self.inner.shared;
        let is_here = matches!(&*shared.held.read().unwrap_or_else(PoisonError::into_inner), Held::Here(_));
        // A store of the caller's own has no lock that could be held.
        if shared.owns == Owns::No || !is_here || shared.given.store.is_some() {
            return Ok(());
        }
        let folder = models::owner_dir(&self.inner.settings)?;
        let started = Listener::start(&folder, shared).map_err(Error::Owner)?;
        *shared.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
        Ok(())
    }

    /// Waits until no other run of this process is over the collection.
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

    /// Whether this process runs over a collection now, so that another run would wait.
    pub fn is_running_over(&self, collection: &str) -> bool {
        self.inner.shared.turns.is_taken(collection.split('@').next().unwrap_or_default())
    }

    /// Lets other processes write to the store, and takes it back after `wait`, in turn with them. An owner keeps it: they
    /// write through it.
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

    /// The store, to write. What is written through an owner never asks for it.
    pub(crate) fn writable_store(&self) -> Result<Arc<dyn Store>, Error> {
        if self.inner.shared.access != Access::Write {
            return Err(Error::NoAccess { access: "write" });
        }
        self.store()
    }

    /// Whether an embedder was handed in or configured, even if that is none.
    pub(crate) fn chooses_embedder(&self) -> bool {
        self.inner.shared.given.embedder.is_some() || self.inner.settings.embedder.is_some()
    }

    /// The embedder that was handed in or configured, or the best that is installed; `None` for none.
    pub(crate) fn embedder(&self) -> Result<Option<Arc<dyn Embedder>>, Error> {
        self.loaded_embedder(&self.inner.settings, "index", || models::embedder(&self.inner.settings))
    }

    /// The embedder that was handed in, that was loaded before with these settings for this `purpose`, or that is loaded now.
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

    /// As [`embedder`](Self::embedder), but where the settings name none the one called `name`.
    pub(crate) fn embedder_or(&self, name: Option<&str>) -> Result<Option<Arc<dyn Embedder>>, Error> {
        let settings = &self.inner.settings;
        if self.inner.shared.given.embedder.is_some() || settings.embedder.is_some() || name.is_none() {
            return self.embedder();
        }
        let mut settings = settings.clone();
        settings.embedder = name.map(str::to_owned);
        self.loaded_embedder(&settings, "index", || models::embedder(&settings))
    }

    /// Whether a model is installed.
    pub(crate) fn is_installed(&self, name: &str) -> bool {
        let model = chunkwright_models::MODELS.iter().find(|model| model.name == name);
        model.is_some_and(|model| self.data_dir().is_ok_and(|data| model.is_installed(&data)))
    }

    /// The embedder for queries on vectors of `model`; `None` if there are no vectors or their model is not installed.
    pub(crate) fn embedder_of(&self, model: Option<&Model>) -> Result<Option<Arc<dyn Embedder>>, Error> {
        let settings = &self.inner.settings;
        let purpose = model.map_or(String::new(), |model| format!("queries on {model:?}"));
        self.loaded_embedder(settings, &purpose, || models::query_embedder(settings, model))
    }

    /// The reranker that was handed in or configured; `None` for none.
    pub(crate) fn reranker(&self) -> Result<Option<Arc<dyn Reranker>>, Error> {
        if let Some(reranker) = &self.inner.shared.given.reranker {
            return Ok(Some(Arc::clone(reranker)));
        }
        let settings = &self.inner.settings;
        self.inner.shared.loaded.reranker(models::reranker_key(settings), || models::reranker(settings))
    }

    /// The writer of notes that is configured; `None` for none.
    pub(crate) fn writer(&self) -> Result<Option<Writer>, Error> {
        models::writer(&self.inner.settings)
    }

    /// The time, in nanoseconds since 1970.
    pub(crate) fn now_nanos(&self) -> i64 {
        self.inner.shared.given.clock.now()
    }

    /// How long ago `started` was.
    pub(crate) fn since(&self, started: i64) -> Duration {
        observe::since(&*self.inner.shared.given.clock, started)
    }

    /// The time, ISO 8601, in whole seconds.
    pub(crate) fn now(&self) -> String {
        let seconds = self.now_nanos().div_euclid(1_000_000_000);
        jiff::Timestamp::from_second(seconds).map_or_else(|_| String::new(), |now| now.to_string())
    }

    /// Fails if the caller asked to stop.
    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        if self.inner.cancel.load(Ordering::SeqCst) { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// What becomes true when the caller wants work to stop.
    pub(crate) fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.inner.cancel)
    }

    /// Runs `work` on the engine's own threads.
    pub(crate) fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let span = tracing::Span::current();
        self.inner.shared.pool.install(|| span.in_scope(work))
    }

    /// Number of threads that work.
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
