//! The state that all handlers share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use chunkwright_engine::{Engine, Error, Jobs, QueryLog, Roots};
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::guard::Guard;
use crate::mcp;
use crate::metrics::{self, Metrics};
use crate::options::ServerOptions;
use crate::proxy::Front;
use crate::room::Room;
use crate::work::Work;
use crate::{api, health, page};

/// What all handlers share.
pub(crate) struct App {
    pub(crate) engine: Engine,
    /// The same for those who are not told where files of this machine are.
    pub(crate) discreet: Engine,
    pub(crate) options: ServerOptions,
    pub(crate) work: Work,
    pub(crate) jobs: Jobs,
    /// The queries that were asked, where they are kept.
    pub(crate) log: Option<Arc<QueryLog>>,
    /// Where paths of requests may lead.
    pub(crate) roots: Roots,
    /// Held by whoever changes chunks by hand, so that nothing is changed that its client did not see.
    pub(crate) changing: tokio::sync::Mutex<()>,
    pub(crate) metrics: Arc<Metrics>,
    /// That for what is stored.
    pub(crate) room: Arc<Room>,
    /// Is cancelled when the server begins to stop: streams end then.
    pub(crate) stopping: CancellationToken,
    listens: AtomicBool,
}

/// The state of the routers.
pub(crate) type Shared = Arc<App>;

/// The index of one engine as a server.
#[derive(Clone)]
pub struct Server {
    app: Shared,
}

impl App {
    /// Says that requests are taken from now on.
    pub(crate) fn ready(&self) {
        self.listens.store(true, Ordering::Relaxed);
        self.metrics.set_ready(true);
    }

    /// Whether requests are taken.
    pub(crate) fn is_ready(&self) -> bool {
        self.listens.load(Ordering::Relaxed) && !self.stopping.is_cancelled()
    }
}

impl Server {
    /// A server that answers by `engine`, counts what it does, and takes up the jobs that the one before left.
    ///
    /// # Errors
    ///
    /// Jobs that cannot be read, or that another process runs.
    pub fn new(engine: Engine, options: ServerOptions) -> Result<Self, Error> {
        let room = Arc::new(Room::of(engine.state_dir()?));
        let metrics = Arc::new(Metrics::new(Arc::clone(&room)));
        engine.observe_by(Arc::clone(&metrics) as _);
        let work = Work::new(options.limits.calls);
        let jobs = Jobs::open(engine.clone(), &engine.state_dir()?.join("jobs"))?;
        let log = options.log_queries && !engine.is_read_only();
        if options.log_queries && !log {
            tracing::warn!("queries are not kept, because the store can only be read here");
        }
        let log = log.then(|| QueryLog::open(&engine).map(Arc::new)).transpose()?;
        let mut options = options;
        options.mcp.log.clone_from(&log);
        let app = App {
            roots: Roots::new(&options.roots),
            changing: tokio::sync::Mutex::default(),
            discreet: engine.without_places(),
            engine,
            options,
            work,
            jobs,
            log,
            metrics,
            room,
            stopping: CancellationToken::new(),
            listens: AtomicBool::new(false),
        };
        Ok(Self { app: Arc::new(app) })
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

    /// What its handlers share.
    pub(crate) fn app(&self) -> &Shared {
        &self.app
    }

    /// Everything that it answers on `address`, behind its guard, and what receives requests before.
    pub(crate) fn router(&self, address: SocketAddr) -> (Front, Router) {
        let app = &self.app;
        let Api { operations, mut scopes, descriptions } = api::router(app);
        let (mcp, scope) = mcp::mounted(app);
        scopes.extend(scope);
        let private = operations.merge(metrics::router(app)).merge(mcp);
        let public = health::router(app).merge(descriptions).merge(page::router());
        let front = Front::new(&app.options.proxy, scopes.keys().map(|(_, path)| &**path));
        (front, Guard::new(app, address, scopes).around(private, public))
    }
}
