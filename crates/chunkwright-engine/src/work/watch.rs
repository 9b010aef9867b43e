//! Watches files and indexes their changes.
//!
//! Events only report *that* something changed; an ordinary run finds out what. It reads the modification times of all
//! files and the content of those that changed. So a lost event, an event queue that overflows or a killed process
//! costs nothing: the next run sees the current state. Where the system cannot watch, for instance because its limit is
//! reached, runs are made at intervals.
#![expect(
    clippy::disallowed_methods,
    reason = "bursts and intervals are measured, and no result depends on them"
)]

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use chunkwright_index::Progress;
use chunkwright_mirror::MirrorError;
use chunkwright_source::walk::folder_of;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::core::engine::Engine;
use crate::core::watching;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::noun::collection::Collection;
use crate::request::index::{IndexAnswer, IndexRequest};
use crate::work::index::Indexer;
use crate::work::mirror::address_in;

/// A burst of changes ends after this long without an event.
const QUIET: Duration = Duration::from_millis(200);

/// A burst that does not end is cut off after this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// Interval between runs where the system cannot watch.
const INTERVAL: Duration = Duration::from_secs(5);

/// Interval at which the targets of the paths are checked.
const LOOK: Duration = Duration::from_secs(1);

/// Interval at which the cancel flag is checked.
const STEP: Duration = Duration::from_millis(250);

/// Events of a watch.
#[derive(Debug)]
#[non_exhaustive]
pub enum Watched {
    /// A run has ended.
    Run(Box<IndexAnswer>),
    /// A run failed. The watch continues, since a missing folder may come back and a full disk may be freed.
    Failed(Error),
    /// A notice for the caller.
    Notice(Notice),
    /// Everything was indexed; the watch waits for the next change.
    Waiting,
}

impl Indexer {
    /// Indexes now and after every burst of changes, until the caller cancels. An error from `on_event` ends the watch.
    ///
    /// # Errors
    ///
    /// A first run that fails, what `on_event` fails with, and [`Error::Cancelled`] at the end.
    pub fn watch<E: From<Error>>(
        &self,
        on_progress: &dyn Fn(Progress<'_>),
        on_event: impl FnMut(Watched) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(list) = self.request().urls.first() {
            let address = list.display().to_string();
            return Err(Error::from(MirrorError::Watched { address }).into());
        }
        let run = || {
            let now = self.collection().now();
            if now.name() == self.collection().name() {
                return self.run(on_progress);
            }
            now.index(self.request().clone(), on_progress)
        };
        follow(self.collection(), &self.request().paths, run, |_| Ok(None), on_event)
    }
}

impl Collection {
    /// As [`Indexer::watch`], but every run cuts by the settings [planned](Self::plan) for the collection at that time,
    /// or by the settings in force if nothing is planned. So a collection that a job cut in another way stays as it is.
    ///
    /// # Errors
    ///
    /// As [`Indexer::watch`].
    pub fn watch<E: From<Error>>(
        &self,
        request: &IndexRequest,
        on_event: impl FnMut(Watched) -> Result<(), E>,
    ) -> Result<(), E> {
        let run = || {
            let own = self.engine();
            let now = self.now();
            let planned = now.plan_in_force()?;
            let engine = planned.map_or_else(|| own.clone(), |plan| own.with(plan, own.cancel_flag()));
            engine.collection(now.name()).index(request.clone(), &|_| {})
        };
        follow(self, &request.paths, run, |_| Ok(None), on_event)
    }
}

/// Indexes `collection` now and after every burst of changes below `paths`. After each run, and when a wait is over, `idle` does what
/// can be done until a file changes, which the function that it gets says, and returns how long to wait before it is
/// asked again; `None` if there is nothing to do before the next run.
pub(super) fn follow<E: From<Error>>(
    collection: &Collection,
    paths: &[PathBuf],
    run: impl Fn() -> Result<IndexAnswer, Error>,
    idle: impl Fn(&dyn Fn() -> bool) -> Result<Option<Duration>, Error>,
    mut on_event: impl FnMut(Watched) -> Result<(), E>,
) -> Result<(), E> {
    let engine = collection.engine();
    // Runs write to the store, so changes inside it are ignored.
    let ignored = engine.store_dir().ok().map(|store| store.canonicalize().unwrap_or(store));
    if let Some(address) = address_in(paths) {
        return Err(Error::from(MirrorError::Watched { address }).into());
    }
    let paths: Vec<PathBuf> = paths.iter().map(|path| folder_of(path)).collect();
    let _mark = watching::mark(engine, collection.name(), &paths);
    let mut events = Events::of(&paths);
    let mut said = Said::default();
    said.tell_polling(&events, &mut on_event)?;
    // This run sees changes made before the paths were watched.
    said.tell_run(run()?, &mut on_event)?;
    loop {
        loop {
            let most = idle(&|| events.is_any(ignored.as_deref()))?;
            on_event(Watched::Waiting)?;
            // Other processes may write between runs.
            let wait = most.into_iter().chain(said.patience()).min();
            let is_change = engine.pause(|| events.wait(engine, ignored.as_deref(), wait))?;
            if is_change || most.is_none() || said.failed.is_some() {
                break;
            }
        }
        if events.places != places(&paths) {
            events = Events::of(&paths);
            said.tell_polling(&events, &mut on_event)?;
        }
        match run() {
            Ok(answer) => said.tell_run(answer, &mut on_event)?,
            Err(Error::Cancelled) => return Err(Error::Cancelled.into()),
            Err(error) => said.tell_failure(error, &mut on_event)?,
        }
    }
}

/// Reported conditions, so that each is reported once, however many runs it lasts.
#[derive(Default)]
struct Said {
    /// Why there are no events.
    polling: Option<String>,
    /// Notices about documents that are kept although their files were not found.
    away: Vec<Notice>,
    /// The number of consecutive failed runs, and the last error.
    failed: Option<(u32, String)>,
}

impl Said {
    fn tell_polling<E>(
        &mut self,
        events: &Events,
        on_event: &mut impl FnMut(Watched) -> Result<(), E>,
    ) -> Result<(), E> {
        let now = events.watcher.as_ref().err().map(ToString::to_string);
        if let Some(error) = now.as_ref().filter(|_| now != self.polling) {
            let seconds = INTERVAL.as_secs();
            let message =
                format!("these paths cannot be watched ({error}); they are polled every {seconds} seconds");
            on_event(Watched::Notice(Notice::new(NoticeCode::WatchPolls, message)))?;
        }
        self.polling = now;
        Ok(())
    }

    fn tell_run<E>(
        &mut self,
        mut answer: IndexAnswer,
        on_event: &mut impl FnMut(Watched) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_away = |notice: &mut Notice| notice.code == NoticeCode::FolderAway;
        let away: Vec<Notice> = answer.notices.extract_if(.., is_away).collect();
        on_event(Watched::Run(Box::new(answer)))?;
        for notice in away.iter().filter(|notice| !self.away.contains(notice)) {
            on_event(Watched::Notice(notice.clone()))?;
        }
        (self.away, self.failed) = (away, None);
        Ok(())
    }

    fn tell_failure<E>(
        &mut self,
        error: Error,
        on_event: &mut impl FnMut(Watched) -> Result<(), E>,
    ) -> Result<(), E> {
        let message = error.to_string();
        let (runs, before) = self.failed.take().unwrap_or_default();
        let is_known = before == message;
        self.failed = Some((runs + 1, message));
        if is_known { Ok(()) } else { on_event(Watched::Failed(error)) }
    }

    /// The wait before a failed run is retried without a change: the cause may pass on its own, as a full disk does.
    fn patience(&self) -> Option<Duration> {
        self.failed.as_ref().map(|(runs, _)| INTERVAL * 2_u32.pow((runs - 1).min(4)))
    }
}

/// File system events below paths.
struct Events {
    /// The targets of the paths when the watch began.
    places: Vec<Place>,
    /// Kept alive to receive events.
    watcher: notify::Result<RecommendedWatcher>,
    told: Receiver<notify::Result<Event>>,
    /// Whether a change was told that no run has seen.
    changed: Cell<bool>,
    /// When files were looked at last.
    looked: Cell<Instant>,
}

impl Events {
    /// Starts to watch those paths that exist.
    fn of(paths: &[PathBuf]) -> Self {
        let places = places(paths);
        let (sender, told) = channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // The receiver is gone when the caller has stopped.
            let _ = sender.send(event);
        });
        let watcher = watcher.and_then(|mut watcher| {
            for path in paths.iter().filter(|path| path.exists()) {
                watcher.watch(path, RecursiveMode::Recursive)?;
            }
            Ok(watcher)
        });
        Self { places, watcher, told, changed: Cell::new(false), looked: Cell::new(Instant::now()) }
    }

    /// Returns whether a file has changed since the last wait.
    fn is_any(&self, ignored: Option<&Path>) -> bool {
        let most = if self.watcher.is_err() { INTERVAL } else { LOOK };
        let mut is_any = self.told.try_iter().any(|event| is_change(&event, ignored));
        if self.looked.get().elapsed() >= most {
            self.looked.set(Instant::now());
            is_any |= self.watcher.is_err() || places(&self.paths()) != self.places;
        }
        self.changed.set(self.changed.get() || is_any);
        self.changed.get()
    }

    /// Waits until the end of the next burst of changes, until a path leads elsewhere, or for at most `most`; without a
    /// watcher, for the interval between runs. Returns whether there may be a change.
    fn wait(&self, engine: &Engine, ignored: Option<&Path>, most: Option<Duration>) -> Result<bool, Error> {
        self.looked.set(Instant::now());
        if self.changed.take() {
            self.end_of_burst(ignored);
            return Ok(true);
        }
        let start = Instant::now();
        let most = if self.watcher.is_err() { Some(INTERVAL) } else { most };
        let paths = self.paths();
        let mut looked = start;
        while most.is_none_or(|most| start.elapsed() < most) {
            engine.check_cancelled()?;
            match self.told.recv_timeout(STEP) {
                Ok(event) if is_change(&event, ignored) => {
                    self.end_of_burst(ignored);
                    return Ok(true);
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                // There is no watcher.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(STEP),
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                if places(&paths) != self.places {
                    return Ok(true);
                }
            }
        }
        Ok(self.watcher.is_err())
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.places.iter().map(|place| place.path.clone()).collect()
    }

    fn end_of_burst(&self, ignored: Option<&Path>) {
        let start = Instant::now();
        let mut last = start;
        while start.elapsed() < PATIENCE && last.elapsed() < QUIET {
            match self.told.recv_timeout(QUIET) {
                Ok(event) if is_change(&event, ignored) => last = Instant::now(),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
    }
}

/// The target of a path. There are no events when another folder takes its place or a file system is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    /// The identity of the folder, beyond its name; `None` if it does not exist.
    folder: Option<(u64, u64)>,
    /// The mounts at and below the folder.
    mounts: Vec<String>,
}

fn places(paths: &[PathBuf]) -> Vec<Place> {
    // Only Linux lists mounts in a file.
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let place = |path: &PathBuf| {
        let real = path.canonicalize().ok();
        // Spaces are escaped there.
        let within = real.as_ref().map(|real| real.to_string_lossy().replace(' ', r"\040"));
        let is_within = |line: &&str| {
            within
                .as_ref()
                .zip(line.split(' ').nth(4))
                .is_some_and(|(path, at)| Path::new(at).starts_with(path))
        };
        let mounts = mounts.lines().filter(is_within).map(str::to_owned).collect();
        Place {
            path: path.clone(),
            folder: real.and_then(|real| fs::metadata(real).ok()).map(|it| identity(&it)),
            mounts,
        }
    };
    paths.iter().map(place).collect()
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> (u64, u64) {
    (0, 0)
}

/// Returns whether files may have changed. Reads, such as those of runs, do not count; a lost event does.
fn is_change(event: &notify::Result<Event>, ignored: Option<&Path>) -> bool {
    match event {
        Ok(event) if event.need_rescan() => true,
        Ok(event) => {
            let is_ignored = |path: &PathBuf| ignored.is_some_and(|ignored| path.starts_with(ignored));
            !matches!(event.kind, EventKind::Access(_))
                && (event.paths.is_empty() || !event.paths.iter().all(is_ignored))
        }
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, Flag, ModifyKind};

    use super::*;

    #[test]
    fn a_lost_event_is_a_change_and_what_runs_do_themselves_is_not() {
        let at = |kind, path: &str| Ok(Event::new(kind).add_path(path.into()));
        let check =
            |event, expected| assert_eq!(is_change(&event, Some(Path::new("/store"))), expected, "{event:?}");
        let modify = EventKind::Modify(ModifyKind::Any);
        check(at(modify, "/docs/a.md"), true);
        check(at(modify, "/store/lock"), false);
        check(at(EventKind::Access(AccessKind::Any), "/docs/a.md"), false);
        // The event queue overflowed.
        check(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)), true);
        check(Err(notify::Error::generic("the watch is gone")), true);
    }

    #[test]
    fn another_folder_in_the_place_of_one_is_another_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("два слова");
        fs::create_dir(&path).expect("a folder");
        let of = || places(std::slice::from_ref(&path));
        let before = of();
        fs::write(path.join("a.md"), "text").expect("a file");
        assert_eq!(of(), before, "what is in it is told by events");
        fs::rename(&path, folder.path().join("away")).expect("a move");
        assert_ne!(of(), before);
        fs::create_dir(&path).expect("a folder");
        assert_ne!(of(), before);
    }

    #[test]
    fn what_is_true_of_many_runs_is_told_once_and_a_failure_that_lasts_is_tried_less_often() {
        let mut said = Said::default();
        let mut told = 0;
        let mut fail = |said: &mut Said, path: &str| {
            let error = Error::OutsideRoots { path: path.to_owned() };
            let mut tell = |_: Watched| {
                told += 1;
                Ok::<(), Error>(())
            };
            said.tell_failure(error, &mut tell).expect("no failure");
            said.patience()
        };
        assert_eq!(fail(&mut said, "a"), Some(INTERVAL));
        assert_eq!(fail(&mut said, "a"), Some(INTERVAL * 2));
        assert_eq!(fail(&mut said, "b"), Some(INTERVAL * 4));
        let last = (0..9).map(|_| fail(&mut said, "b")).last();
        assert_eq!((last, told), (Some(Some(INTERVAL * 16)), 2));
        assert_eq!(Said::default().patience(), None);
    }
}
