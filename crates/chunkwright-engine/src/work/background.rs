//! Indexes a folder in the background while it is searched.
//!
//! So that users do not wait for an index, [`Background`] indexes on its own thread, keeps the collection in step with
//! the files and reports progress. Meanwhile the engine answers from what is stored so far.

use std::cell::Cell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fmt, iter};

use chunkwright_index::{Progress, Prune, StoreError};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

use crate::core::engine::{Access, Engine};
use crate::core::models;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::noun::collection::Collection;
use crate::noun::vectors::{Coverage, VectorState};
use crate::request::index::IndexRequest;
use crate::request::index::progress::RunProgress;
use crate::settings::Settings;
use crate::work::fill::Filled;
use crate::work::served::{Models, Served};
use crate::work::watch::{self, Watched};

/// Interval between attempts to open a store that another process writes to.
const RETRY: Duration = Duration::from_millis(500);

/// Wait before vectors are added again, after another run took the turn.
const AGAIN: Duration = Duration::from_secs(2);

/// The same after a failure, such as a service that did not answer.
const LATER: Duration = Duration::from_mins(1);

/// Indexing on a thread of its own, until the engine is cancelled. Clones share the thread.
#[derive(Clone, Debug)]
pub struct Background {
    shared: Arc<Shared>,
    /// Those of other collections.
    others: Arc<[Self]>,
}

#[derive(Debug)]
struct Shared {
    collection: Collection,
    state: Mutex<IndexState>,
    filling: Mutex<Filling>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// How the adding of vectors stands in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Filling {
    /// They are added, here or by another process.
    Adding {
        /// Why they were not, the last time.
        error: Option<String>,
    },
    /// It has taken as long as the settings allow.
    Paused,
    /// No chunk waits for a vector that it could get.
    Done,
}

impl Default for Filling {
    fn default() -> Self {
        Self::Adding { error: None }
    }
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
    /// Everything is found by its words, or by the vectors of a fast model; vectors are added behind.
    Embedding(VectorState),
    /// Another process writes to the store; its end is waited for.
    Waiting,
    /// The last run failed. What was stored before is searched.
    Failed {
        /// Why, in one sentence.
        message: String,
    },
}

impl IndexState {
    /// Which of several states is told.
    fn urgency(&self) -> u8 {
        match self {
            Self::Ready => 0,
            Self::Embedding(_) => 1,
            Self::Waiting => 2,
            Self::Indexing { percent } => 200 - percent,
            Self::Failed { .. } => u8::MAX,
        }
    }
}

impl fmt::Display for IndexState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Indexing { percent } => write!(f, "indexing {percent} %"),
            Self::Ready => f.write_str("indexed"),
            Self::Embedding(vectors) => vectors.fmt(f),
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
        let shared = Shared { collection, state, filling: Mutex::default(), thread: Mutex::default() };
        let shared = Arc::new(shared);
        let work = {
            let shared = Arc::clone(&shared);
            move || shared.work(&request, then, &on_event)
        };
        let thread = thread::Builder::new().name("index".into()).spawn(work).map_err(Error::Threads)?;
        *shared.thread.lock() = Some(thread);
        Ok(Self { shared, others: Arc::default() })
    }

    /// Those of several collections as one.
    fn of_all(mut several: Vec<Self>) -> Option<Self> {
        let mut first = several.pop()?;
        first.others = several.into();
        Some(first)
    }

    /// The progress of the index: of several collections, that of the one that is furthest behind.
    pub fn state(&self) -> IndexState {
        let states = iter::once(self).chain(&*self.others).map(Self::own_state);
        states.max_by_key(IndexState::urgency).unwrap_or(IndexState::Ready)
    }

    fn own_state(&self) -> IndexState {
        let state = self.shared.state.lock().clone();
        let filling = self.shared.filling.lock().clone();
        if state != IndexState::Ready || filling == Filling::Done {
            return state;
        }
        // The process that embeds may be another one, so the store says how far it is.
        let coverage = Coverage::of(self.shared.collection.engine(), self.shared.collection.now().name());
        let Some(coverage) = coverage.ok().flatten() else { return state };
        let error = match &filling {
            Filling::Adding { error } => error.clone(),
            Filling::Paused | Filling::Done => None,
        };
        let limit = self.shared.collection.engine().settings().embed_minutes;
        IndexState::Embedding(VectorState::new(&coverage, limit, filling == Filling::Paused, error))
    }

    /// Waits for the thread, which ends when its run does, or soon after the engine is cancelled.
    pub fn join(&self) {
        self.others.iter().for_each(Self::join);
        let thread = self.shared.thread.lock().take();
        // A thread that panicked has already reported it, and there is nothing to wait for.
        let _ = thread.map(JoinHandle::join);
    }
}

/// Folders that are served while they are indexed.
#[derive(Debug)]
pub struct ServedFolders {
    /// The engine on the store of the folders.
    pub engine: Engine,
    /// Keeps the store in step with the folders; `None` if that is not possible.
    pub background: Option<Background>,
    /// What the caller should know.
    pub notice: Option<Notice>,
}

impl ServedFolders {
    /// Opens the store of `folders` and starts to follow their files, until `cancel` becomes true. One folder is the
    /// collection of the settings; each of several is a collection with its name. Several processes may serve the same
    /// folders: the first owns their store, the others write through it. If a process that is not an owner writes to the
    /// store, the folders are served read-only and not followed.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read, a store that cannot be opened.
    pub fn open(
        settings: &Settings,
        folders: &[PathBuf],
        cancel: &Arc<AtomicBool>,
        on_event: impl Fn(&Watched) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        if let Some(file) = folders.iter().find(|folder| folder.is_file()) {
            return Err(Error::IsFile { path: file.display().to_string() });
        }
        let folders = real_paths(folders)?;
        let models = if settings.store.is_some() { Models::OfSettings } else { Models::Best };
        let settings = settings.with_store_of(&folders)?;
        let builder = Engine::builder(settings).cancel(Arc::clone(cancel));
        match builder.clone().owner().open(Access::Write) {
            Ok(engine) => {
                let names = match &folders[..] {
                    [_] => vec![engine.settings().collection.clone()],
                    several => collection_names(several),
                };
                let on_event: Arc<OnEvent> = Arc::new(on_event);
                let start = |(name, folder): (String, &PathBuf)| {
                    let (collection, request) = (engine.collection(name), IndexRequest::of_folder(folder));
                    let on_event = Arc::clone(&on_event);
                    Background::start(collection, request, Then::Watch(models), move |event| on_event(event))
                };
                let started =
                    names.into_iter().zip(&folders).map(start).collect::<Result<Vec<_>, Error>>()?;
                Ok(Self { engine, background: Background::of_all(started), notice: None })
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

/// What is told of the folders.
type OnEvent = dyn Fn(&Watched) + Send + Sync;

/// The names of the collections of several folders: those of the folders, with as many of the folders above them as tell
/// them apart.
fn collection_names(folders: &[PathBuf]) -> Vec<String> {
    let parts = |path: &PathBuf| -> Vec<String> {
        let names = path.iter().map(|part| part.to_string_lossy().replace('@', "-"));
        names.filter(|name| name.chars().any(char::is_alphanumeric)).collect()
    };
    let paths: Vec<Vec<String>> = folders.iter().map(parts).collect();
    let name = |path: &Vec<String>, most: usize| path[path.len().saturating_sub(most)..].join("-");
    let longest = paths.iter().map(Vec::len).max().unwrap_or_default();
    let is_enough = |most: &usize| {
        let names: HashSet<String> = paths.iter().map(|path| name(path, *most)).collect();
        names.len() == paths.len()
    };
    let most = (1..=longest).find(is_enough).unwrap_or(longest);
    paths.iter().map(|path| name(path, most)).collect()
}

/// The folders, each once.
fn real_paths(folders: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let path = real_path(folder)?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn real_path(folder: &Path) -> Result<PathBuf, Error> {
    folder.canonicalize().map_err(|error| Error::Unreadable { path: folder.display().to_string(), error })
}

/// What follows the first run of [`Background`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Nothing.
    Stop,
    /// Another run after every burst of changes, and vectors meanwhile.
    Watch(Models),
}

impl Shared {
    fn work(&self, request: &IndexRequest, then: Then, on_event: &dyn Fn(&Watched)) {
        loop {
            match self.run(request, then, on_event) {
                Ok(()) | Err(Error::Cancelled) => return,
                Err(Error::Store(StoreError::Locked { .. })) if then != Then::Stop => {
                    self.set(IndexState::Waiting);
                    thread::sleep(RETRY);
                }
                Err(error) => {
                    self.set(IndexState::Failed { message: error.to_string() });
                    on_event(&Watched::Failed(error));
                    return;
                }
            }
            if self.collection.engine().check_cancelled().is_err() {
                return;
            }
        }
    }

    fn run(&self, request: &IndexRequest, then: Then, on_event: &dyn Fn(&Watched)) -> Result<(), Error> {
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
        let Then::Watch(models) = then else {
            let answer = self.collection.now().index(request.clone(), &on_progress)?;
            self.set(IndexState::Ready);
            on_event(&Watched::Run(Box::new(answer)));
            return Ok(());
        };
        let served = || Served { collection: self.collection.now(), request: request.clone(), models };
        let run = || {
            let answer = served().run(&on_progress)?;
            *self.filling.lock() = Filling::Adding { error: None };
            Ok(answer)
        };
        let idle = |is_changed: &dyn Fn() -> bool| self.fill(&served(), is_changed);
        watch::follow(&self.collection, &request.paths, run, idle, |event| {
            match &event {
                Watched::Run(_) => self.set(IndexState::Ready),
                Watched::Failed(error) => self.set(IndexState::Failed { message: error.to_string() }),
                _ => {}
            }
            on_event(&event);
            Ok(())
        })
    }

    /// Adds vectors until a file changes.
    fn fill(&self, served: &Served, is_changed: &dyn Fn() -> bool) -> Result<Option<Duration>, Error> {
        if *self.filling.lock() == Filling::Done || matches!(*self.state.lock(), IndexState::Failed { .. }) {
            return Ok(None);
        }
        let engine = self.collection.engine();
        let is_stopped = || is_changed() || engine.check_cancelled().is_err();
        let filled = served.fill(&is_stopped);
        engine.check_cancelled()?;
        let (filling, most) = match filled {
            Ok(Filled::Done) => (Filling::Done, None),
            // This process takes the place of one that has ended.
            Ok(Filled::GaveWay) | Err(Error::OwnerGone) => (Filling::Adding { error: None }, Some(AGAIN)),
            Ok(Filled::Limit) => (Filling::Paused, None),
            Ok(Filled::Failed { message }) => (Filling::Adding { error: Some(message) }, Some(LATER)),
            Err(error) => (Filling::Adding { error: Some(error.to_string()) }, Some(LATER)),
        };
        *self.filling.lock() = filling;
        Ok(most)
    }

    fn set(&self, state: IndexState) {
        *self.state.lock() = state;
    }
}

impl Settings {
    /// Returns these settings with a store for `folders` alone, unless they name a store. The store lies in the data
    /// folder, named by their paths, so that folders served without any set-up are not written to.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read, a user without a home folder.
    pub fn with_store_of(&self, folders: &[PathBuf]) -> Result<Self, Error> {
        if self.store.is_some() {
            return Ok(self.clone());
        }
        let mut paths = real_paths(folders)?;
        paths.sort_unstable();
        let paths: Vec<&[u8]> = paths.iter().map(|path| path.as_os_str().as_encoded_bytes()).collect();
        let name = blake3::hash(&paths.join(&0)).to_hex();
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
