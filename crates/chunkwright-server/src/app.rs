//! What do all handlers share?

use std::sync::Arc;

use axum::Router;
use chunkwright_engine::{Engine, Error, Jobs, Roots};

use crate::options::ServerOptions;
use crate::work::Work;
use crate::{api, health};

/// What all handlers share.
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) options: ServerOptions,
    pub(crate) work: Work,
    pub(crate) jobs: Jobs,
    /// Where paths of requests may lead.
    pub(crate) roots: Roots,
    /// Held by whoever changes chunks by hand, so that nothing is changed that its client did not see.
    pub(crate) changing: tokio::sync::Mutex<()>,
}

/// The state of the routers.
pub(crate) type Shared = Arc<App>;

/// The index of one engine as a server.
#[derive(Clone)]
pub struct Server {
    app: Shared,
}

impl Server {
    /// A server that answers by `engine`, and takes up the jobs that the one before left.
    ///
    /// # Errors
    ///
    /// Jobs that cannot be read, or that another process runs.
    pub fn new(engine: Engine, options: ServerOptions) -> Result<Self, Error> {
        let work = Work::new(options.limits.calls);
        let jobs = Jobs::open(engine.clone(), &engine.state_dir()?.join("jobs"))?;
        let roots = Roots::new(&options.roots);
        let changing = tokio::sync::Mutex::default();
        Ok(Self { app: Arc::new(App { engine, options, work, jobs, roots, changing }) })
    }

    /// Lets jobs stop at their next step; they are taken up by the next server.
    pub(crate) fn stop_jobs(&self) {
        if !self.app.jobs.stop(self.options().limits.shutdown_timeout) {
            tracing::warn!("a job did not stop in time; the next server takes it up");
        }
    }

    /// How it runs.
    pub(crate) fn options(&self) -> &ServerOptions {
        &self.app.options
    }

    /// Everything that it answers.
    pub(crate) fn router(&self) -> Router {
        let app = &self.app;
        Router::new().merge(api::router(app)).merge(health::router(app))
    }
}
