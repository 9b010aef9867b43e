//! SIGINT and SIGTERM: end in order, and say what is kept.
//!
//! The first signal asks the command to end: it notices between two steps ([`check`]), closes the store, and leaves
//! its results unwritten. A command that does not notice in time, because it waits for a server for instance, is
//! ended here; so is one that gets a second signal. Nothing depends on which way it ends, since stores survive a
//! kill at any moment, and files being written are removed.

use parking_lot::Mutex;
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anyhow::Result;
use chunkwright_engine::files::{discard_all, unfinished};

use crate::output::note;
use crate::progress;
use crate::text::{plain, yellow};

/// How many milliseconds a command may take to end.
static GRACE_MS: AtomicU64 = AtomicU64::new(1_000);

/// How often a second signal is looked for meanwhile.
#[cfg(unix)]
const STEP: Duration = Duration::from_millis(10);

/// The number of the signal that came; 0 for none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Whether a signal came, as the engine asks for it.
static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// What is kept, as a clause.
static KEPT: Mutex<Option<String>> = Mutex::new(None);

/// The results that were being written when the signal came.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// That the command ended because of a signal.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Begins to listen. Signals that the parent had ignored, as `nohup` and `&` in scripts do, stay ignored.
#[cfg(unix)]
pub(crate) fn listen() {
    use std::thread;
    use std::time::Instant;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::exit;

    let listener = || {
        let heard = [SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal));
        let Ok(mut signals) = Signals::new(heard) else { return };
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
}

/// Elsewhere the system's own handling is left as it is.
#[cfg(not(unix))]
pub(crate) fn listen() {}

/// Whether a signal was ignored when the process began, where the system says so.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Fails if a signal came.
pub(crate) fn check() -> Result<()> {
    if came() { Err(Interrupted.into()) } else { Ok(()) }
}

/// Whether a signal came.
pub(crate) fn came() -> bool {
    FLAG.load(Ordering::SeqCst)
}

/// Becomes true when a signal comes.
pub(crate) fn flag() -> Arc<AtomicBool> {
    Arc::clone(&FLAG)
}

/// Says what would be kept if a signal came now, and how to go on, as a clause.
pub(crate) fn keeps(what: impl Into<String>) {
    *KEPT.lock() = Some(what.into());
}

/// Gives the command more time to end than a second, and one second on top of that.
pub(crate) fn wait_at_most(time: Duration) {
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    GRACE_MS.store(ms.saturating_add(1_000), Ordering::SeqCst);
}

/// Ends a command that noticed the signal.
pub(crate) fn end() -> ExitCode {
    farewell();
    ExitCode::from(u8::try_from(128 + SIGNAL.load(Ordering::SeqCst)).unwrap_or(2))
}

/// Removes half-written files and says what is kept. Both the command and the listener may call this; only the
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
