//! When do files change?
//!
//! Events only say *that* something changed; what has to be done is found out by an ordinary run, which reads the times
//! of all files and the content of those that changed. So a lost event, an event queue that overflows or a process
//! that is killed costs nothing: the next run sees what is there. Where the system cannot watch, because its limit is
//! reached for instance, runs are made at intervals.

#![expect(
    clippy::disallowed_methods,
    reason = "bursts and intervals are measured, and no result depends on them"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use chunkwright_index::Progress;
use chunkwright_source::walk::folder_of;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::collection::Collection;
use crate::engine::Engine;
use crate::error::Error;
use crate::index::{IndexAnswer, IndexRequest, Indexer};
use crate::notice::{Notice, NoticeCode};

/// A burst has ended when nothing happened for this long.
const QUIET: Duration = Duration::from_millis(200);

/// A burst that does not end is broken off after this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often there is a run where the system cannot watch.
const INTERVAL: Duration = Duration::from_secs(5);

/// How often is looked where the paths lead.
const LOOK: Duration = Duration::from_secs(1);

/// How often the caller's wish to stop is looked for.
const STEP: Duration = Duration::from_millis(250);

/// What following files tells its caller.
#[derive(Debug)]
#[non_exhaustive]
pub enum Watched {
    /// A run has ended.
    Run(Box<IndexAnswer>),
    /// A run failed; following goes on, since a folder that is away for a moment comes back, and so does a disk with
    /// room.
    Failed(Error),
    /// Something that the caller should know.
    Notice(Notice),
    /// Everything was indexed; the next change is waited for.
    Waiting,
}

impl Indexer {
    /// Indexes now and after every burst of changes, until the caller asks to stop. `on_event` may fail to end it.
    ///
    /// # Errors
    ///
    /// A first run that fails, what `on_event` fails with, and [`Error::Cancelled`] at the end.
    pub fn watch<E: From<Error>>(
        &self,
        on_progress: &dyn Fn(Progress<'_>),
        on_event: impl FnMut(Watched) -> Result<(), E>,
    ) -> Result<(), E> {
        follow(self.collection().engine(), &self.request().paths, || self.run(on_progress), on_event)
    }
}

impl Collection {
    /// As [`Indexer::watch`], but every run cuts as the collection is [planned](Self::plan) to be cut at that time, and by
    /// the settings in force where nothing is planned. So a collection that a job cut in another way stays as it is.
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
            let planned = self.plan_in_force()?;
            let engine = planned.map_or_else(|| own.clone(), |plan| own.with(plan, own.cancel_flag()));
            engine.collection(self.name()).index(request.clone(), &|_| {})
        };
        follow(self.engine(), &request.paths, run, on_event)
    }
}

/// Runs now and after every burst of changes below `paths`.
fn follow<E: From<Error>>(
    engine: &Engine,
    paths: &[PathBuf],
    run: impl Fn() -> Result<IndexAnswer, Error>,
    mut on_event: impl FnMut(Watched) -> Result<(), E>,
) -> Result<(), E> {
    // Runs write to the store, so changes inside it are ignored.
    let ignored = engine.store_dir().ok().map(|store| store.canonicalize().unwrap_or(store));
    let paths: Vec<PathBuf> = paths.iter().map(|path| folder_of(path)).collect();
    let mut events = Events::of(&paths);
    let mut said = Said::default();
    said.tell_polling(&events, &mut on_event)?;
    // What changed before the paths were watched is seen by this run.
    said.tell_run(run()?, &mut on_event)?;
    loop {
        on_event(Watched::Waiting)?;
        // Between runs other processes may write.
        engine.pause(|| events.wait(engine, ignored.as_deref(), said.patience()))?;
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

/// What was told, so that it is told once however many runs it is true of.
#[derive(Default)]
struct Said {
    /// That there are no events.
    polling: Option<String>,
    /// Which documents stay although their files were not found.
    away: Vec<Notice>,
    /// How many runs have failed, and why the last did.
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

    /// How long the next run waits for a change. What a run failed by may pass without one, as a full disk does.
    fn patience(&self) -> Option<Duration> {
        self.failed.as_ref().map(|(runs, _)| INTERVAL * 2_u32.pow((runs - 1).min(4)))
    }
}

/// Changes below paths.
struct Events {
    /// Where the paths led when they began to be watched.
    places: Vec<Place>,
    /// What is held to be told.
    watcher: notify::Result<RecommendedWatcher>,
    told: Receiver<notify::Result<Event>>,
}

impl Events {
    /// Begins to watch those of the paths that are there.
    fn of(paths: &[PathBuf]) -> Self {
        let places = places(paths);
        let (sender, told) = channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // There is no receiver any more when the caller has stopped.
            let _ = sender.send(event);
        });
        let watcher = watcher.and_then(|mut watcher| {
            for path in paths.iter().filter(|path| path.exists()) {
                watcher.watch(path, RecursiveMode::Recursive)?;
            }
            Ok(watcher)
        });
        Self { places, watcher, told }
    }

    /// Returns at the end of the next burst of changes, when a path leads elsewhere, or at the latest after a while; where
    /// there are no events, after the time between two runs.
    fn wait(&self, engine: &Engine, ignored: Option<&Path>, most: Option<Duration>) -> Result<(), Error> {
        let start = Instant::now();
        let most = if self.watcher.is_err() { Some(INTERVAL) } else { most };
        let paths: Vec<PathBuf> = self.places.iter().map(|place| place.path.clone()).collect();
        let mut looked = start;
        while most.is_none_or(|most| start.elapsed() < most) {
            engine.check_cancelled()?;
            match self.told.recv_timeout(STEP) {
                Ok(event) if is_change(&event, ignored) => {
                    self.end_of_burst(ignored);
                    return Ok(());
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                // Where there is no watcher.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(STEP),
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                if places(&paths) != self.places {
                    return Ok(());
                }
            }
        }
        Ok(())
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

/// Where a path leads. That another folder is in its place, or that a file system is mounted, makes no event.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    /// What tells a folder from another of its name; none where there is none.
    folder: Option<(u64, u64)>,
    /// What is mounted in it, and where it is mounted itself.
    mounts: Vec<String>,
}

fn places(paths: &[PathBuf]) -> Vec<Place> {
    // Only Linux tells it by a file.
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let place = |path: &PathBuf| {
        let real = path.canonicalize().ok();
        // Blanks are escaped there.
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

/// Whether files may be different now. Reading, as runs do, is no change; a lost event is one.
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
        // The queue ran over.
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
