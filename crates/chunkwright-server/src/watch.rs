//! Keeps collections in step with folders while the server runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use chunkwright_engine::{Engine, Error, IndexAnswer, IndexRequest, Watched};

/// Interval between attempts after a failed first run: a folder may not be mounted yet.
const AGAIN: Duration = Duration::from_secs(5);

/// Follows folders on a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct Watch {
    cancel: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Keeps the collection of the settings in step with the paths of `request`, now and after every change. Logs runs
    /// that changed something, failures and notices.
    ///
    /// # Errors
    ///
    /// A configuration or a model that cannot be used, a thread that cannot be started. A path that is away is no error:
    /// it is looked for again every few seconds.
    pub fn start(engine: &Engine, request: IndexRequest) -> Result<Self, Error> {
        let cancel = Arc::new(AtomicBool::new(false));
        let engine = engine.with(engine.settings().clone(), Arc::clone(&cancel));
        let collection = engine.default_collection();
        // Errors that would fail every run are returned before the first.
        drop(collection.indexer(request.clone())?);
        let stop = Arc::clone(&cancel);
        let follow = move || {
            while !stop.load(Ordering::SeqCst) {
                let followed = collection.watch(&request, |watched| {
                    log(&watched);
                    Ok::<(), Error>(())
                });
                if let Err(error) = followed
                    && !matches!(error, Error::Cancelled)
                {
                    tracing::warn!(%error, "the folders could not be indexed; they are tried again");
                    thread::park_timeout(AGAIN);
                }
            }
        };
        let thread = thread::Builder::new().name("watch".into()).spawn(follow).map_err(Error::Threads)?;
        Ok(Self { cancel, thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic was already reported.
            let _ = thread.join();
        }
    }
}

fn log(watched: &Watched) {
    match watched {
        Watched::Run(answer) if answer.changed_anything() => {
            let IndexAnswer { collection, report, .. } = &**answer;
            let removed = report.pruned.len() + report.left_out.len();
            let (indexed, failed) = (report.indexed, report.failed.len());
            tracing::info!(%collection, indexed, removed, failed, "the folders changed");
        }
        Watched::Failed(error) => {
            tracing::warn!(%error, "the folders could not be indexed; the next change tries again");
        }
        Watched::Notice(notice) => tracing::warn!(message = %notice.message, "notice"),
        _ => {}
    }
}
