//! Paces a run: how much is embedded before documents are stored, and what the run's time is spent on.
//!
//! A window of documents is cut together, but with a slow model its texts may take minutes. Documents are stored as soon
//! as some seconds of embedding have passed, by the rate measured so far; with a fast model that is the whole window.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chunkwright_store::Timings;

/// Nanoseconds of embedding after which documents are stored.
const MOST_NANOS: u64 = 2_000_000_000;

/// Fewest texts that are embedded before documents are stored; also the initial number.
const LEAST_TEXTS: usize = 8;

/// Measures the time since a fixed moment, in nanoseconds.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// A clock read by `nanos`.
    pub fn new(nanos: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(nanos))
    }

    fn nanos(&self) -> u64 {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// A stage of a run that time is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Read,
    Cut,
    Embed,
    Store,
}

/// Measures the stages of a run, on all of its threads.
#[derive(Debug, Default)]
pub(super) struct Meter {
    clock: Option<Clock>,
    started: u64,
    nanos: [AtomicU64; 4],
}

impl Meter {
    pub(super) fn new(clock: Option<Clock>) -> Self {
        let started = clock.as_ref().map_or(0, Clock::nanos);
        Self { clock, started, nanos: Default::default() }
    }

    /// Runs `work` as part of `stage`, and measures it.
    pub(super) fn measure<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = self.now();
        let done = work();
        self.nanos[stage as usize].fetch_add(self.now().saturating_sub(start), Ordering::Relaxed);
        done
    }

    /// Returns whether time is measured.
    pub(super) fn is_running(&self) -> bool {
        self.clock.is_some()
    }

    /// Nanoseconds spent on a stage so far.
    pub(super) fn spent(&self, stage: Stage) -> u64 {
        self.nanos[stage as usize].load(Ordering::Relaxed)
    }

    /// The times so far.
    pub(super) fn timings(&self) -> Option<Timings> {
        let ms = |stage| self.spent(stage) / 1_000_000;
        self.is_running().then(|| Timings {
            read_ms: ms(Stage::Read),
            cut_ms: ms(Stage::Cut),
            embed_ms: ms(Stage::Embed),
            store_ms: ms(Stage::Store),
            total_ms: self.now().saturating_sub(self.started) / 1_000_000,
        })
    }

    fn now(&self) -> u64 {
        self.clock.as_ref().map_or(0, Clock::nanos)
    }
}

/// The number of texts that are embedded before documents are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) texts: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { texts: LEAST_TEXTS }
    }
}

impl Pace {
    /// Records that `texts` texts took `nanos` nanoseconds.
    pub(super) fn learn(&mut self, texts: usize, nanos: u64) {
        if texts > 0 {
            let fit = u128::from(MOST_NANOS) * texts as u128 / u128::from(nanos.max(1));
            self.texts = usize::try_from(fit).unwrap_or(usize::MAX).max(LEAST_TEXTS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_model_stores_after_few_texts_and_a_fast_one_after_many() {
        let mut pace = Pace::default();
        pace.learn(8, 4_000_000_000);
        assert_eq!(pace.texts, LEAST_TEXTS);
        pace.learn(8, 100_000_000);
        assert_eq!(pace.texts, 160);
        pace.learn(160, 1_000_000);
        assert_eq!(pace.texts, 320_000);
        pace.learn(0, 1);
        assert_eq!(pace.texts, 320_000);
    }
}
