//! What time is it?

use std::time::SystemTime;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Nanoseconds since 1970, in UTC.
    fn now(&self) -> i64;
}

/// The time of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        #[expect(clippy::disallowed_methods, reason = "the engine is where the time comes in")]
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
    }
}
