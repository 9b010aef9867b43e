//! Opens an engine.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use chunkwright::{Strategy, TokenCounter};
use chunkwright_index::{Access as StoreAccess, Store, StoreError, open_store};
use chunkwright_models::{Embedder, Reranker};
use parking_lot::{Mutex, RwLock};

use crate::core::asked::Asked;
use crate::core::engine::clock::{Clock, SystemClock};
use crate::core::engine::loaded::Loaded;
use crate::core::engine::{Access, Engine, Held, Owns, Perform, Places, Shared};
use crate::core::figures::KnownFigures;
use crate::core::models;
use crate::core::observe::Teller;
use crate::core::owner::Owner;
use crate::core::scripts::KnownScripts;
use crate::core::turns::Turns;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::settings::Settings;

/// Called when another process writes to the store and this one waits for it.
pub(super) type OnWait = dyn Fn(Notice) + Send + Sync;

/// Interval between attempts to open a store that another process writes to.
const RETRY: Duration = Duration::from_millis(100);

/// Implementations that a program passes in, in place of those named in the settings.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) store: Option<Arc<dyn Store>>,
    pub(super) counter: Option<Arc<dyn TokenCounter>>,
    pub(super) strategy: Option<Arc<dyn Strategy>>,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
    pub(super) reranker: Option<Arc<dyn Reranker>>,
    pub(super) clock: Arc<dyn Clock>,
}

/// Builds an engine.
#[derive(Clone)]
pub struct Builder {
    settings: Settings,
    threads: Option<NonZeroUsize>,
    cancel: Arc<AtomicBool>,
    queue: Option<Arc<OnWait>>,
    owns: Owns,
    or_read: bool,
    given: Given,
    perform: Perform,
    settle: Settle,
}

/// Completes what a process that ended left half done.
type Settle = fn(&Engine) -> Result<(), Error>;

impl Builder {
    pub(crate) fn new(settings: Settings, perform: Perform, settle: Settle) -> Self {
        let given = Given {
            store: None,
            counter: None,
            strategy: None,
            embedder: None,
            reranker: None,
            clock: Arc::new(SystemClock),
        };
        Self {
            settings,
            threads: None,
            cancel: Arc::default(),
            queue: None,
            owns: Owns::No,
            or_read: false,
            given,
            perform,
            settle,
        }
    }

    /// Sets the number of threads; by default one per processor. Answers do not depend on it.
    pub fn threads(mut self, threads: Option<NonZeroUsize>) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the flag that becomes true when the caller wants work to stop. What is stored by then stays.
    pub fn cancel(mut self, cancel: Arc<AtomicBool>) -> Self {
        self.cancel = cancel;
        self
    }

    /// Waits, instead of failing, while another process writes to the store, until the caller cancels. Calls `on_wait`
    /// when it starts to wait.
    pub fn queue(mut self, on_wait: impl Fn(Notice) + Send + Sync + 'static) -> Self {
        self.queue = Some(Arc::new(on_wait));
        self
    }

    /// Lets other processes of the user write through this one while it is open. Meant for processes that stay open for
    /// long; without it, others wait or fail. If another process already owns the store, this one writes through it,
    /// and takes its place when it ends.
    pub fn owner(mut self) -> Self {
        self.owns = Owns::Yes;
        self
    }

    /// Opens the store for reading if it cannot be written, because its folder or file system is read-only.
    pub fn or_read(mut self) -> Self {
        self.or_read = true;
        self
    }

    /// Uses the caller's own store.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.given.store = Some(store);
        self
    }

    /// Uses the caller's own token counter instead of the one named in the settings.
    pub fn counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.given.counter = Some(counter);
        self
    }

    /// Uses the caller's own strategy instead of the one named in the settings.
    pub fn strategy(mut self, strategy: Arc<dyn Strategy>) -> Self {
        self.given.strategy = Some(strategy);
        self
    }

    /// Uses the caller's own embedder.
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.given.embedder = Some(embedder);
        self
    }

    /// Uses the caller's own reranker.
    pub fn reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.given.reranker = Some(reranker);
        self
    }

    /// Uses another clock than the system clock.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.given.clock = clock;
        self
    }

    /// Opens the store and starts the threads. Models are loaded when they are first needed.
    ///
    /// # Errors
    ///
    /// A store that cannot be opened.
    pub fn open(self, access: Access) -> Result<Engine, Error> {
        let Self { settings, threads, cancel, queue, owns, or_read, given, perform, settle } = self;
        let mut access = access;
        let held = match (access, &given.store) {
            (Access::NoStore, _) => Held::Nothing,
            (_, Some(store)) => Held::Here(Arc::clone(store)),
            (Access::Read, None) => Held::Here(open_store(&models::place(&settings)?, StoreAccess::Read)?),
            (Access::Write, None) => match hold(&settings, queue.as_deref(), &cancel) {
                Err(Error::Store(error)) if or_read && error.is_unwritable() => {
                    access = Access::Read;
                    match open_store(&models::place(&settings)?, StoreAccess::Read) {
                        // The store could not be created.
                        Err(StoreError::Missing { .. }) => return Err(error.into()),
                        opened => Held::Here(opened?),
                    }
                }
                held => held?,
            },
        };
        let threads = threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Error::Threads(std::io::Error::other(error)))?;
        let teller = Teller::new(Arc::clone(&given.clock));
        let opened_at = given.clock.now();
        let shared = Arc::new(Shared {
            access,
            places: Places::of(&settings),
            held: RwLock::new(held),
            given,
            perform,
            pool: Arc::new(pool),
            queue,
            loaded: Loaded::default(),
            turns: Turns::default(),
            opened_at,
            changes: Turns::default(),
            owns,
            listener: Mutex::default(),
            teller,
            figures: KnownFigures::default(),
            scripts: KnownScripts::default(),
            asked: Asked::default(),
        });
        let engine = Engine::on(shared, settings, cancel);
        engine.listen()?;
        // What cannot be completed now is completed by the next process.
        let _ = settle(&engine);
        Ok(engine)
    }
}

/// Opens the store for writing: takes its lock, or finds the owner who has it.
pub(super) fn hold(
    settings: &Settings,
    on_wait: Option<&OnWait>,
    cancel: &AtomicBool,
) -> Result<Held, Error> {
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

/// Runs what only one process may do at a time, as soon as no other process does it.
pub(super) fn in_turn<T>(
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
                // A process that has just taken the lock has not announced itself yet, and may be done before this is
                // read.
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
