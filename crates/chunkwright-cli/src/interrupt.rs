//! Handles SIGINT and SIGTERM: ends in order, and reports what is kept.
//!
//! The first signal asks the command to end: it notices between two steps ([`check`]), closes the store, and leaves
//! its results unwritten. A command that does not notice in time, because it waits for a server for instance, is
//! ended here; so is one that gets a second signal. Nothing depends on which way it ends, since stores survive a
//! kill at any moment, and files being written are removed.

use parking_lot::Mutex;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anyhow::Result;
use chunkwright_engine::files::discard_all;

use crate::output::note;
use crate::progress;
use crate::text::{plain, yellow};

/// Grace period of a command after a signal, in milliseconds.
static GRACE_MS: AtomicU64 = AtomicU64::new(1_000);

/// Interval at which a second signal is checked during the grace period.
#[cfg(unix)]
const STEP: Duration = Duration::from_millis(10);

/// The number of the received signal; 0 for none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Whether a signal was received, as a flag for the engine.
static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// What is kept, as a clause.
static KEPT: Mutex<Option<String>> = Mutex::new(None);

/// The results that were being written when the signal came.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The error of a command that a signal ended.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Starts to listen, and returns when it does. Signals that the parent ignored, as `nohup` and `&` in scripts do, stay ignored.
#[cfg(unix)]
pub(crate) fn listen() {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Instant;

    use chunkwright_engine::files::unfinished;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::exit;

    let (listens, listening) = channel::<()>();
    let listener = move || {
        let heard = [SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal));
        let Ok(mut signals) = Signals::new(heard) else { return };
        drop(listens);
        let Some(signal) = signals.forever().next() else { return };
        *UNFINISHED.lock() = unfinished();
        SIGNAL.store(signal, Ordering::SeqCst);
        FLAG.store(true, Ordering::SeqCst);
        let start = Instant::now();
        let grace = Duration::from_millis(GRACE_MS.load(Ordering::SeqCst));
        while start.elapsed() < grace && signals.pending().next().is_none() {
            thread::sleep(STEP);
        }
        farewell();
        exit(128 + signal);
    };
    // If the thread cannot be started, signals keep their default action and end the process.
    let _ = thread::Builder::new().name("signals".into()).stack_size(256 << 10).spawn(listener);
    // The other end is dropped, which is an error: nothing is ever sent.
    let _ = listening.recv();
}

/// On other systems, the default handling stays.
#[cfg(not(unix))]
pub(crate) fn listen() {}

/// Returns whether a signal was ignored when the process began, if the system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Fails if a signal was received.
pub(crate) fn check() -> Result<()> {
    if came() { Err(Interrupted.into()) } else { Ok(()) }
}

/// Returns whether a signal was received.
pub(crate) fn came() -> bool {
    FLAG.load(Ordering::SeqCst)
}

/// The flag that becomes true when a signal is received.
pub(crate) fn flag() -> Arc<AtomicBool> {
    Arc::clone(&FLAG)
}

/// Sets the clause that says what would be kept after a signal now, and how to continue.
pub(crate) fn keeps(what: impl Into<String>) {
    *KEPT.lock() = Some(what.into());
}

/// Extends the grace period beyond one second, to `time` plus one second.
pub(crate) fn wait_at_most(time: Duration) {
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    GRACE_MS.store(ms.saturating_add(1_000), Ordering::SeqCst);
}

/// Ends a command that noticed the signal.
pub(crate) fn end() -> u8 {
    farewell();
    u8::try_from(128 + SIGNAL.load(Ordering::SeqCst)).unwrap_or(2)
}

/// Removes half-written files and reports what is kept. Both the command and the listener may call this; only the
/// first call acts.
fn farewell() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if SAID.swap(true, Ordering::SeqCst) {
        return;
    }
    discard_all();
    progress::clear();
    let mut kept: Vec<String> = KEPT.lock().take().into_iter().collect();
    for path in UNFINISHED.lock().iter() {
        let state = if path.exists() { "is as it was" } else { "was not written" };
        kept.push(format!("`{}` {state}", plain(&path.display().to_string())));
    }
    let kept = if kept.is_empty() { "nothing was changed".to_owned() } else { kept.join("; ") };
    note(&format!("{} {kept}", yellow("interrupted:")));
}
