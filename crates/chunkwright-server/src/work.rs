//! How does a handler call the engine, whose calls block?

use std::sync::Arc;

use chunkwright_engine::{Engine, Error};
use tokio::sync::Semaphore;
use tokio::task;
use tracing::Span;

use crate::app::App;
use crate::problem::Problem;

/// Bounds the calls that are worked on at once. What would wait behind as many again is refused at once, so that an
/// overloaded server says so in milliseconds instead of answering nobody.
pub(crate) struct Work {
    working: Arc<Semaphore>,
    admitted: Arc<Semaphore>,
}

impl Work {
    pub(crate) fn new(calls: usize) -> Self {
        let calls = calls.max(1);
        Self { working: Arc::new(Semaphore::new(calls)), admitted: Arc::new(Semaphore::new(2 * calls)) }
    }
}

impl App {
    /// Calls the engine on a thread that may block.
    ///
    /// A client that goes away does not stop the call: what it changes is changed whole.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Engine) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let Ok(admitted) = Arc::clone(&self.work.admitted).try_acquire_owned() else {
            self.metrics.refused("overloaded");
            return Err(Problem::overloaded());
        };
        let working =
            Arc::clone(&self.work.working).acquire_owned().await.map_err(|_| Problem::overloaded())?;
        let engine = self.engine.clone();
        let span = Span::current();
        let called = task::spawn_blocking(move || {
            let _permits = (admitted, working);
            span.in_scope(|| call(&engine))
        });
        match called.await {
            Ok(answer) => Ok(answer?),
            Err(panic) => {
                tracing::error!(%panic, "a call of the engine did not end");
                Err(Problem::internal())
            }
        }
    }
}
