//! Who is told what an engine does, so that a server can count it?
//!
//! The engine keeps no counters: a program that runs once has no use for them, and a server has a library for them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chunkwright_index::{IndexReport, Mode, StageWatch};
use chunkwright_models::EmbedError;

use crate::engine::Clock;
use crate::error::Error;

/// The target of the spans that are for traces and not for a log: of a search, a job and a run.
pub const TRACE: &str = "chunkwright::trace";

/// Is told what an engine does, as it does it, on the thread that does it.
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
    /// `found`, `nothing`, or the class of what went wrong: `invalid` or `error`.
    pub outcome: &'static str,
    /// How long it took.
    pub took: Duration,
}

/// A call of an embedder that ended.
#[derive(Clone, Copy, Debug)]
pub struct EmbedCall<'a> {
    /// The model.
    pub model: &'a str,
    /// What for: `documents` or `query`.
    pub purpose: &'static str,
    /// Number of texts.
    pub texts: usize,
    /// How long it took.
    pub took: Duration,
    /// `success`, `error`, or `cached` where the vector of a query was known.
    pub outcome: &'static str,
}

/// Tells the observer that there may be, with times by the clock of the engine.
#[derive(Clone)]
pub(crate) struct Teller {
    observer: Arc<OnceLock<Arc<dyn Observer>>>,
    clock: Arc<dyn Clock>,
}

impl Teller {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { observer: Arc::default(), clock }
    }

    /// Sets the observer. The first one stays.
    pub(crate) fn set(&self, observer: Arc<dyn Observer>) {
        let _ = self.observer.set(observer);
    }

    /// Tells the observer, if there is one.
    pub(crate) fn tell(&self, tell: impl FnOnce(&dyn Observer)) {
        if let Some(observer) = self.observer.get() {
            tell(&**observer);
        }
    }

    /// What an observer is told of the stages of a search; `None` without one.
    pub(crate) fn stages(&self) -> Option<Stages<'_>> {
        Some(Stages { observer: &**self.observer.get()?, clock: &*self.clock })
    }

    /// Calls an embedder, and tells of it.
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

/// Tells an observer of the stages of a search.
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

/// How long ago `started` was, by the clock that said it.
pub(crate) fn since(clock: &dyn Clock, started: i64) -> Duration {
    Duration::from_nanos(u64::try_from(clock.now() - started).unwrap_or(0))
}
