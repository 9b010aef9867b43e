//! How does a handler call the engine, whose calls block?

use std::sync::Arc;

use chunkwright_engine::{Engine, Error};
use tokio::sync::Semaphore;
use tokio::task;
use tracing::Span;

use crate::app::App;
use crate::guard;
use crate::problem::Problem;

/// Bounds the calls that are worked on at once, whichever door they come through. What would wait behind as many again is
/// refused at once, so that an overloaded server says so in milliseconds instead of letting every request wait.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    working: Arc<Semaphore>,
    admitted: Arc<Semaphore>,
}

/// Why a call has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Too many calls are being worked on.
    Overloaded,
    /// It panicked.
    Panicked,
}

impl Work {
    pub(crate) fn new(calls: usize) -> Self {
        let calls = calls.max(1);
        Self { working: Arc::new(Semaphore::new(calls)), admitted: Arc::new(Semaphore::new(2 * calls)) }
    }

    /// Runs `call` on a thread that may block. Dropping the future does not stop it: what it changes is changed whole.
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
}

impl App {
    /// Calls the engine on a thread that may block.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Engine) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let engine = if guard::sees_places() { &self.engine } else { &self.discreet }.clone();
        match self.work.run(move || call(&engine)).await {
            Ok(answer) => Ok(answer?),
            Err(NoAnswer::Overloaded) => {
                self.metrics.refused("overloaded");
                Err(Problem::overloaded())
            }
            Err(NoAnswer::Panicked) => Err(Problem::internal()),
        }
    }
}
