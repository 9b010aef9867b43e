//! The one door to the clock, used for the wait between two attempts.

use std::time::Duration;

/// Time, as far as waiting for a service goes. Nothing that is computed depends on it.
pub trait Clock: std::fmt::Debug + Send + Sync {
    /// Time since some moment, never less than before.
    fn elapsed(&self) -> Duration;

    /// The time of the day, as seconds since 1970 in UTC, for services that name one.
    fn unix_seconds(&self) -> i64;

    /// Lets `duration` pass.
    fn sleep(&self, duration: Duration);
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[expect(clippy::disallowed_methods, reason = "this is the door: all else is given a `Clock`")]
impl Clock for SystemClock {
    fn elapsed(&self) -> Duration {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
    }

    fn unix_seconds(&self) -> i64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |now| now.as_secs().cast_signed())
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}
