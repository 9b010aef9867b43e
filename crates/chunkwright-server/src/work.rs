//! Runs blocking calls of the engine for async handlers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright_engine::{Engine, Error};
use tokio::sync::Semaphore;
use tokio::task;
use tracing::Span;

use crate::app::App;
use crate::guard;
use crate::problem::Problem;

/// Limits the concurrent calls across all interfaces. Calls beyond those in progress and as many waiting are refused at
/// once, so that an overloaded server answers in milliseconds instead of letting every request wait.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    working: Arc<Semaphore>,
    admitted: Arc<Semaphore>,
}

/// Why a call has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Too many calls are in progress.
    Overloaded,
    /// It panicked.
    Panicked,
}

impl Work {
    pub(crate) fn new(calls: usize) -> Self {
        let calls = calls.max(1);
        Self { working: Arc::new(Semaphore::new(calls)), admitted: Arc::new(Semaphore::new(2 * calls)) }
    }

    /// Runs `call` on a thread that may block. Dropping the future does not stop it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let admitted = Arc::clone(&self.admitted).try_acquire_owned().map_err(|_| NoAnswer::Overloaded)?;
        let working = Arc::clone(&self.working).acquire_owned().await.map_err(|_| NoAnswer::Overloaded)?;
        let span = Span::current();
        let called = task::spawn_blocking(move || {
            let _permits = (admitted, working);
            span.in_scope(call)
        });
        called.await.map_err(|panic| {
            tracing::error!(%panic, "a call of the engine did not end");
            NoAnswer::Panicked
        })
    }

    /// Runs `ask` on a thread that may block. If the future is dropped, the flag that `ask` gets becomes true, so that
    /// it ends early and frees its place.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(Arc<AtomicBool>) -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let stop = Stop::default();
        let flag = Arc::clone(&stop.0);
        self.run(move || ask(flag)).await
    }
}

/// Becomes true when the future that holds it ends or is dropped.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl App {
    /// Calls the engine on a thread that may block. Dropping the future does not stop the call, so its changes are
    /// never partial.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Engine) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let engine = self.told();
        self.answer(self.work.run(move || call(&engine)).await)
    }

    /// Runs a read-only engine call on a thread that may block. Dropping the future stops it.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Engine) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let engine = self.told();
        self.answer(self.work.ask(move |stop| ask(&engine.stopped_by(stop))).await)
    }

    /// The engine for the current caller, which names files of this machine only if the caller may know them.
    fn told(&self) -> Engine {
        if guard::sees_places() { &self.engine } else { &self.discreet }.clone()
    }

    fn answer<T>(&self, answer: Result<Result<T, Error>, NoAnswer>) -> Result<T, Problem> {
        match answer {
            Ok(answer) => Ok(answer.inspect_err(|error| {
                if error.is_disk_full() {
                    self.room.note_missed();
                }
            })?),
            Err(NoAnswer::Overloaded) => {
                self.metrics.refused("overloaded");
                Err(Problem::overloaded())
            }
            Err(NoAnswer::Panicked) => Err(Problem::internal()),
        }
    }
}
