//! Indexes a folder in the background while it is searched.
//!
//! So that users do not wait for an index, [`Background`] indexes on its own thread, keeps the collection in step with
//! the files and reports progress. Meanwhile the engine answers from what is stored so far.

use std::cell::Cell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use chunkwright_index::{Progress, Prune, StoreError};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

use crate::core::engine::{Access, Engine};
use crate::core::models;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::noun::collection::Collection;
use crate::request::index::IndexRequest;
use crate::request::index::progress::RunProgress;
use crate::settings::Settings;
use crate::work::watch::Watched;

/// Interval between attempts to open a store that another process writes to.
const RETRY: Duration = Duration::from_millis(500);

/// Indexing on a thread of its own, until the engine is cancelled. Clones share the thread.
#[derive(Clone, Debug)]
pub struct Background {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<IndexState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// How far an index is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
#[non_exhaustive]
pub enum IndexState {
    /// Files are being indexed.
    Indexing {
        /// Share of their bytes that is done, from 0 to 99.
        percent: u8,
    },
    /// Everything is indexed.
    Ready,
    /// Another process writes to the store; its end is waited for.
    Waiting,
    /// The last run failed. What was stored before is searched.
    Failed {
        /// Why, in one sentence.
        message: String,
    },
}

impl fmt::Display for IndexState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Indexing { percent } => write!(f, "indexing {percent} %"),
            Self::Ready => f.write_str("indexed"),
            Self::Waiting => f.write_str("waiting for another process that writes to the store"),
            Self::Failed { message } => write!(f, "indexing failed: {message}"),
        }
    }
}

impl Background {
    /// Starts to index. `then` says what follows the first run. `on_event` is called with each event, on the indexing
    /// thread.
    ///
    /// # Errors
    ///
    /// A thread that cannot be started.
    pub fn start(
        collection: Collection,
        request: IndexRequest,
        then: Then,
        on_event: impl Fn(&Watched) + Send + 'static,
    ) -> Result<Self, Error> {
        let state = Mutex::new(IndexState::Indexing { percent: 0 });
        let shared = Arc::new(Shared { state, thread: Mutex::default() });
        let work = {
            let shared = Arc::clone(&shared);
            move || shared.work(&collection, &request, then, &on_event)
        };
        let thread = thread::Builder::new().name("index".into()).spawn(work).map_err(Error::Threads)?;
        *shared.thread.lock() = Some(thread);
        Ok(Self { shared })
    }

    /// The progress of the index.
    pub fn state(&self) -> IndexState {
        self.shared.state.lock().clone()
    }

    /// Waits for the thread, which ends when its run does, or soon after the engine is cancelled.
    pub fn join(&self) {
        let thread = self.shared.thread.lock().take();
        // A thread that panicked has already reported it, and there is nothing to wait for.
        let _ = thread.map(JoinHandle::join);
    }
}

/// A folder that is served while it is indexed.
#[derive(Debug)]
pub struct ServedFolder {
    /// The engine on the store of the folder.
    pub engine: Engine,
    /// Keeps the store in step with the folder; `None` if that is not possible.
    pub background: Option<Background>,
    /// What the caller should know.
    pub notice: Option<Notice>,
}

impl ServedFolder {
    /// Opens the store of `folder` and starts to follow its files, until `cancel` becomes true. Several processes may
    /// serve one folder: the first owns its store, the others write through it. If a process that is not an owner
    /// writes to the store, the folder is served read-only and not followed.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read, a store that cannot be opened.
    pub fn open(
        settings: &Settings,
        folder: &Path,
        cancel: &Arc<AtomicBool>,
        on_event: impl Fn(&Watched) + Send + 'static,
    ) -> Result<Self, Error> {
        if folder.is_file() {
            return Err(Error::IsFile { path: folder.display().to_string() });
        }
        let settings = settings.with_store_of(folder)?;
        let builder = Engine::builder(settings).cancel(Arc::clone(cancel));
        match builder.clone().owner().open(Access::Write) {
            Ok(engine) => {
                let collection = engine.default_collection();
                let request = IndexRequest::of_folder(folder);
                let background = Some(Background::start(collection, request, Then::Watch, on_event)?);
                Ok(Self { engine, background, notice: None })
            }
            Err(error @ Error::Store(StoreError::Locked { .. })) => {
                let message = format!("{error}; serving what it stores");
                let notice = Some(Notice::new(NoticeCode::Queued, message));
                Ok(Self { engine: builder.open(Access::Read)?, background: None, notice })
            }
            Err(error) => Err(error),
        }
    }
}

/// What follows the first run of [`Background`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Nothing.
    Stop,
    /// Another run after every burst of changes.
    Watch,
}

impl Shared {
    fn work(&self, collection: &Collection, request: &IndexRequest, then: Then, on_event: &dyn Fn(&Watched)) {
        loop {
            match self.run(collection, request, then, on_event) {
                Ok(()) | Err(Error::Cancelled) => return,
                Err(Error::Store(StoreError::Locked { .. })) if then == Then::Watch => {
                    self.set(IndexState::Waiting);
                    thread::sleep(RETRY);
                }
                Err(error) => {
                    self.set(IndexState::Failed { message: error.to_string() });
                    on_event(&Watched::Failed(error));
                    return;
                }
            }
            if collection.engine().check_cancelled().is_err() {
                return;
            }
        }
    }

    fn run(
        &self,
        collection: &Collection,
        request: &IndexRequest,
        then: Then,
        on_event: &dyn Fn(&Watched),
    ) -> Result<(), Error> {
        let indexer = collection.indexer(request.clone())?;
        let progress = Cell::new(RunProgress::default());
        let on_progress = |step: Progress<'_>| {
            let mut now = progress.get();
            now.note_of_watch(step);
            progress.set(now);
            // A file that grows while it is read has more bytes than were counted when it was found.
            if let Some(percent) = now.percent() {
                self.set(IndexState::Indexing { percent: percent.min(99) });
            }
        };
        if then == Then::Stop {
            let answer = indexer.run(&on_progress)?;
            self.set(IndexState::Ready);
            on_event(&Watched::Run(Box::new(answer)));
            return Ok(());
        }
        indexer.watch(&on_progress, |event| {
            match &event {
                Watched::Run(_) => self.set(IndexState::Ready),
                Watched::Failed(error) => self.set(IndexState::Failed { message: error.to_string() }),
                _ => {}
            }
            on_event(&event);
            Ok(())
        })
    }

    fn set(&self, state: IndexState) {
        *self.state.lock() = state;
    }
}

impl Settings {
    /// Returns these settings with a store for `folder` alone, unless they name a store. The store lies in the data
    /// folder, named by the folder's path, so that a folder served without any set-up is not written to.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read, a user without a home folder.
    pub fn with_store_of(&self, folder: &Path) -> Result<Self, Error> {
        if self.store.is_some() {
            return Ok(self.clone());
        }
        let path = folder
            .canonicalize()
            .map_err(|error| Error::Unreadable { path: folder.display().to_string(), error })?;
        let name = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
        let store = models::data_dir(self)?.join("folders").join(&name[..32]);
        Ok(self.with([("store".to_owned(), Value::String(store.to_string_lossy().into_owned()))])?)
    }
}

impl IndexRequest {
    /// A request that brings the store of one folder into step with it. Documents whose files are gone are removed,
    /// however many: if they come back, their vectors come from the cache.
    pub fn of_folder(folder: &Path) -> Self {
        Self { prune: Prune::Force, ..Self::following(vec![folder.to_owned()]) }
    }

    /// A request that keeps a collection in step with `paths`. Documents whose files are gone are removed, as far as
    /// that is safe.
    pub fn following(paths: Vec<PathBuf>) -> Self {
        Self { paths, prune: Prune::Follow, ..Self::default() }
    }
}
