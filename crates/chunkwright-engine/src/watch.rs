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

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use chunkwright_index::Progress;
use chunkwright_source::walk::folder_of;
use notify::{Event, EventKind, RecursiveMode, Watcher};

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
    let (sender, events) = channel();
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // There is no receiver any more when the caller has stopped.
        let _ = sender.send(event);
    });
    let started = watcher.and_then(|mut watcher| {
        for path in paths {
            watcher.watch(&folder_of(path), RecursiveMode::Recursive)?;
        }
        Ok(watcher)
    });
    if let Err(error) = &started {
        let seconds = INTERVAL.as_secs();
        let message =
            format!("these paths cannot be watched ({error}); they are polled every {seconds} seconds");
        on_event(Watched::Notice(Notice::new(NoticeCode::WatchPolls, message)))?;
    }
    // What changed before the paths were watched is seen by this run.
    on_event(Watched::Run(Box::new(run()?)))?;
    loop {
        on_event(Watched::Waiting)?;
        // Between runs other processes may write.
        engine.pause(|| {
            if started.is_ok() { wait(engine, &events, ignored.as_deref()) } else { pause(engine) }
        })?;
        match run() {
            Ok(answer) => on_event(Watched::Run(Box::new(answer)))?,
            Err(Error::Cancelled) => return Err(Error::Cancelled.into()),
            Err(error) => on_event(Watched::Failed(error))?,
        }
    }
}

/// Waits for the time between two runs.
fn pause(engine: &Engine) -> Result<(), Error> {
    let start = Instant::now();
    while start.elapsed() < INTERVAL {
        engine.check_cancelled()?;
        std::thread::sleep(STEP);
    }
    Ok(())
}

/// Returns at the end of the next burst of changes.
fn wait(
    engine: &Engine,
    events: &Receiver<notify::Result<Event>>,
    ignored: Option<&Path>,
) -> Result<(), Error> {
    while !events.recv_timeout(STEP).is_ok_and(|event| is_change(&event, ignored)) {
        engine.check_cancelled()?;
    }
    let start = Instant::now();
    let mut last = start;
    while start.elapsed() < PATIENCE && last.elapsed() < QUIET {
        match events.recv_timeout(QUIET) {
            Ok(event) if is_change(&event, ignored) => last = Instant::now(),
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(())
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
}
