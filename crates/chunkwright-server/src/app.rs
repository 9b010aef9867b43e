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

/// The state that all handlers share.
pub(crate) struct App {
    pub(crate) engine: Engine,
    /// The same engine for callers who may not know where files are on this machine.
    pub(crate) discreet: Engine,
    pub(crate) options: ServerOptions,
    pub(crate) work: Work,
    pub(crate) jobs: Jobs,
    /// The log of queries, if it is kept.
    pub(crate) log: Option<Arc<QueryLog>>,
    /// The folders below which requests may name paths.
    pub(crate) roots: Roots,
    /// Locked while jobs are submitted that may not run beside others.
    pub(crate) submitting: tokio::sync::Mutex<()>,
    pub(crate) metrics: Arc<Metrics>,
    /// The free space on the disk of the store.
    pub(crate) room: Arc<Room>,
    /// Cancelled when the server begins to stop: streams end then.
    pub(crate) stopping: CancellationToken,
    listens: AtomicBool,
}

/// The state of the routers.
pub(crate) type Shared = Arc<App>;

/// An engine as a server.
#[derive(Clone)]
pub struct Server {
    app: Shared,
}

impl App {
    /// Marks the server as ready for requests.
    pub(crate) fn ready(&self) {
        self.listens.store(true, Ordering::Relaxed);
        self.metrics.set_ready(true);
    }

    /// Returns whether the server is ready for requests.
    pub(crate) fn is_ready(&self) -> bool {
        self.listens.load(Ordering::Relaxed) && !self.stopping.is_cancelled()
    }
}

impl Server {
    /// Creates a server that answers from `engine`, counts what the engine does, and resumes the jobs of its
    /// predecessor.
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
            submitting: tokio::sync::Mutex::default(),
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

    /// Stops jobs at their next step; the next server resumes them.
    pub(crate) fn stop_jobs(&self) {
        if !self.app.jobs.stop(self.options().limits.shutdown_timeout) {
            tracing::warn!("a job did not stop in time; the next server takes it up");
        }
    }

    /// The options of the server.
    pub(crate) fn options(&self) -> &ServerOptions {
        &self.app.options
    }

    /// The state that its handlers share.
    pub(crate) fn app(&self) -> &Shared {
        &self.app
    }

    /// The routes of the server at `address`, behind its guard, and the front that receives requests first.
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
