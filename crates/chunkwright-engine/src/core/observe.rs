//! Reports what an engine does to an observer, so that a server can count it.
//!
//! The engine keeps no counters: a program that runs once has no use for them, and a server has a library for them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chunkwright_index::{IndexReport, Mode, StageWatch};
use chunkwright_models::EmbedError;

use crate::core::engine::clock::Clock;
use crate::error::Error;

/// The target of spans that are for traces and not for the log: spans of searches, jobs and runs.
pub const TRACE: &str = "chunkwright::trace";

/// Observes an engine. Methods are called on the thread that does the work.
pub trait Observer: Send + Sync {
    /// A run ended.
    fn indexed(&self, run: &IndexedRun<'_>);

    /// A run failed as a whole.
    fn index_failed(&self, error: &Error);

    /// A search was answered, or failed.
    fn searched(&self, search: SearchCall);

    /// A stage of a search ended: `analyse`, `lexical`, `dense`, `sparse`, `fuse`, `rerank`.
    fn stage(&self, stage: &'static str, took: Duration);

    /// The embedder was called.
    fn embedded(&self, call: EmbedCall<'_>);
}

/// A run that ended.
#[derive(Clone, Copy, Debug)]
pub struct IndexedRun<'a> {
    /// The collection.
    pub collection: &'a str,
    /// The strategy that cut its documents.
    pub strategy: &'a str,
    /// What was done.
    pub report: &'a IndexReport,
}

/// A search that ended.
#[derive(Clone, Copy, Debug)]
pub struct SearchCall {
    /// The stages that were asked for.
    pub mode: Mode,
    /// `found`, `nothing`, or the class of failure: `invalid` or `error`.
    pub outcome: &'static str,
    /// How long it took.
    pub took: Duration,
}

/// A call of an embedder that ended.
#[derive(Clone, Copy, Debug)]
pub struct EmbedCall<'a> {
    /// The model.
    pub model: &'a str,
    /// The purpose: `documents` or `query`.
    pub purpose: &'static str,
    /// Number of texts.
    pub texts: usize,
    /// How long it took.
    pub took: Duration,
    /// `success`, `error`, or `cached` if the vector of a query was cached.
    pub outcome: &'static str,
}

/// Reports to the observer, if there is one, with times by the engine's clock.
#[derive(Clone)]
pub(crate) struct Teller {
    observer: Arc<OnceLock<Arc<dyn Observer>>>,
    clock: Arc<dyn Clock>,
}

impl Teller {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { observer: Arc::default(), clock }
    }

    /// Sets the observer. Only the first is kept.
    pub(crate) fn set(&self, observer: Arc<dyn Observer>) {
        let _ = self.observer.set(observer);
    }

    /// Calls the observer, if there is one.
    pub(crate) fn tell(&self, tell: impl FnOnce(&dyn Observer)) {
        if let Some(observer) = self.observer.get() {
            tell(&**observer);
        }
    }

    /// The reporter of search stages; `None` without an observer.
    pub(crate) fn stages(&self) -> Option<Stages<'_>> {
        Some(Stages { observer: &**self.observer.get()?, clock: &*self.clock })
    }

    /// Calls an embedder, and reports the call.
    pub(crate) fn call<T>(
        &self,
        (model, purpose, texts): (&str, &'static str, usize),
        call: impl FnOnce() -> Result<T, EmbedError>,
    ) -> Result<T, EmbedError> {
        let started = self.clock.now();
        let done = call();
        let outcome = if done.is_ok() { "success" } else { "error" };
        let took = since(&*self.clock, started);
        self.tell(|observer| observer.embedded(EmbedCall { model, purpose, texts, took, outcome }));
        done
    }
}

/// Reports the stages of a search to an observer.
pub(crate) struct Stages<'a> {
    pub(crate) observer: &'a dyn Observer,
    pub(crate) clock: &'a dyn Clock,
}

impl StageWatch for Stages<'_> {
    fn nanos(&self) -> i64 {
        self.clock.now()
    }

    fn took(&self, stage: &'static str, nanos: u64) {
        self.observer.stage(stage, Duration::from_nanos(nanos));
    }
}

/// The time elapsed since `started` by the same clock.
pub(crate) fn since(clock: &dyn Clock, started: i64) -> Duration {
    Duration::from_nanos(u64::try_from(clock.now() - started).unwrap_or(0))
}
