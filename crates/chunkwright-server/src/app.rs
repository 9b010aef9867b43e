//! What do all handlers share?

use std::sync::Arc;

use axum::Router;
use chunkwright_engine::Engine;

use crate::options::ServerOptions;
use crate::work::Work;
use crate::{api, health};

/// What all handlers share.
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) options: ServerOptions,
    pub(crate) work: Work,
}

/// The state of the routers.
pub(crate) type Shared = Arc<App>;

/// The index of one engine as a server.
#[derive(Clone)]
pub struct Server {
    app: Shared,
}

impl Server {
    /// A server that answers by `engine`.
    pub fn new(engine: Engine, options: ServerOptions) -> Self {
        let work = Work::new(options.limits.calls);
        Self { app: Arc::new(App { engine, options, work }) }
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
