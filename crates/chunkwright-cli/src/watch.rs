//! Following the file system: a run after each burst of changes.
//!
//! Events only say *that* something changed; what has to be done is found out by an ordinary run, which
//! reads the times of all files and the content of those that changed. So an event that was lost, a queue that
//! ran over or a process that was killed cost nothing: the next run sees what is there. Where the system cannot
//! watch, because its limit is reached for instance, runs are made at intervals.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::Result;
use notify::{Event, EventKind, RecursiveMode, Watcher};

use crate::app::Global;
use crate::interrupt;

/// A burst has ended when nothing happened for this long.
const QUIET: Duration = Duration::from_millis(200);

/// A burst that does not end is broken off after this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often there is a run where the system cannot watch.
const INTERVAL: Duration = Duration::from_secs(5);

/// How often a signal is looked for.
const STEP: Duration = Duration::from_millis(250);

/// Calls `run` after each burst of changes in `paths`, until a signal comes. What happens in `ignored`, where runs write,
/// is no change.
pub(crate) fn watch(
    global: &Global,
    paths: &[PathBuf],
    ignored: &Path,
    mut run: impl FnMut() -> Result<()>,
) -> Result<()> {
    let (sender, events) = channel();
    let ignored = ignored.canonicalize().unwrap_or_else(|_| ignored.to_path_buf());
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // Nobody listens any more when the process ends.
        let _ = sender.send(event);
    });
    let begun = watcher.and_then(|mut watcher| {
        for path in paths {
            watcher.watch(path, RecursiveMode::Recursive)?;
        }
        Ok(watcher)
    });
    let watcher = match begun {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            global.say(&format!(
                "these paths cannot be watched ({error}); they are looked at every {} seconds",
                INTERVAL.as_secs()
            ));
            None
        }
    };
    // What changed before the paths were watched is seen by this run.
    run()?;
    loop {
        interrupt::keeps("everything that was indexed is kept; run the same command again to watch on");
        if watcher.is_some() {
            wait(&events, &ignored)?;
        } else {
            pause()?;
        }
        if let Err(error) = run() {
            interrupt::check()?;
            // A folder that is away for a moment comes back; so does a disk with room.
            global.say(&format!("error: {error:#}; watching goes on"));
        }
    }
}

/// Waits for the time between two runs.
fn pause() -> Result<()> {
    let start = Instant::now();
    while start.elapsed() < INTERVAL {
        interrupt::check()?;
        std::thread::sleep(STEP);
    }
    Ok(())
}

/// Returns at the end of the next burst of changes.
fn wait(events: &Receiver<notify::Result<Event>>, ignored: &Path) -> Result<()> {
    while !events.recv_timeout(STEP).is_ok_and(|event| is_change(&event, ignored)) {
        interrupt::check()?;
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

/// Whether files may say something else now. Reading, as runs do, is no change; a lost event is one.
fn is_change(event: &notify::Result<Event>, ignored: &Path) -> bool {
    match event {
        Ok(event) if event.need_rescan() => true,
        Ok(event) => {
            let is_ignored = |path: &PathBuf| path.starts_with(ignored);
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
    fn a_lost_event_is_a_change_and_what_runs_do_themselves_is_none() {
        let at = |kind, path: &str| Ok(Event::new(kind).add_path(path.into()));
        let check =
            |event, expected| assert_eq!(is_change(&event, Path::new("/store")), expected, "{event:?}");
        let modify = EventKind::Modify(ModifyKind::Any);
        check(at(modify, "/docs/a.md"), true);
        check(at(modify, "/store/lock"), false);
        check(at(EventKind::Access(AccessKind::Any), "/docs/a.md"), false);
        // The queue ran over.
        check(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)), true);
        check(Err(notify::Error::generic("the watch is gone")), true);
    }
}
