//! Work without the interpreter's lock, which Ctrl-C stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use chunkwright_engine::{Code, Error};
use pyo3::prelude::*;

use crate::errors;

/// Interval between looks whether a signal came.
const INTERVAL: Duration = Duration::from_millis(50);

/// A flag that stops the work of a call.
pub(crate) type Cancel = Arc<AtomicBool>;

/// Runs `work` on a thread of its own, without the interpreter's lock. If a handler of a signal raises meanwhile, as that
/// of Ctrl-C does, `cancel` is set, and the exception is raised when the work has ended.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let (ended, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (alive, waiting) = mpsc::channel::<()>();
            let worker = scope.spawn(move || {
                let _alive = alive;
                work()
            });
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(INTERVAL) {
                if raised.is_none()
                    && let Err(error) = Python::attach(raised_by_a_signal)
                {
                    cancel.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            (worker.join(), raised)
        })
    });
    match (ended, raised) {
        (_, Some(raised)) => Err(raised),
        (Ok(Ok(answer)), None) => Ok(answer),
        (Ok(Err(failure)), None) => Err(failure.raise(py)),
        (Err(panic), None) => Err(errors::of_panic(py, &*panic)),
    }
}

/// Runs the handlers of signals that came. A function, as a lifetime is to be any.
fn raised_by_a_signal(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// Why work failed: by an error of the engine, or by an exception of the caller's own code.
#[derive(Debug)]
pub(crate) enum Failure {
    Engine(Error),
    Raised(PyErr),
    /// A request that this package refuses, in one sentence.
    Refused(&'static str),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl Failure {
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Engine(error) => errors::of(py, error),
            Self::Raised(error) => error,
            Self::Refused(sentence) => errors::refused(py, Code::INVALID_REQUEST, sentence),
        }
    }
}
