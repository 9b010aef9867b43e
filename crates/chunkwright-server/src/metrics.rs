//! Metrics of this process for a monitoring system.
//!
//! The engine provides the state of the store on request; this module counts what happens while the server runs:
//! requests by matched route (never by the path that a client sent, which is unbounded), searches by stage, runs,
//! embedder calls.

mod format;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chunkwright_engine::{EmbedCall, Engine, Error, IndexedRun, Observer, SearchCall, Timings};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::app::Shared;
use crate::extract::no_parameters;
use crate::room::Room;
use crate::traces;
use format::Format;

/// The end marker of `OpenMetrics`.
const END: &str = "# EOF\n";

/// Bucket bounds of durations, in seconds: from a search in memory to a run over a large folder.
const SECONDS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0];

/// Bucket bounds of chunk sizes, in tokens: they include the band recommended for BGE-M3 and the levels of
/// `token_level`.
const TOKENS: [f64; 11] = [16.0, 32.0, 64.0, 128.0, 256.0, 410.0, 512.0, 614.0, 1_024.0, 2_048.0, 4_096.0];

macro_rules! labels {
    ($name:ident { $($label:ident: $kind:ty),* }) => {
        #[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
        struct $name { $($label: $kind),* }
    };
}

labels!(Request { route: String, method: &'static str, status: u16 });
labels!(Route { route: String, method: &'static str });
labels!(Reason { reason: &'static str });
labels!(Search { mode: &'static str, outcome: &'static str });
labels!(Stage { stage: &'static str });
labels!(Created { strategy: String, chunk_type: String });
labels!(Strategy { strategy: String });
labels!(Outcome { outcome: &'static str });
labels!(Embed { model: String, purpose: &'static str, outcome: &'static str });
labels!(Model { model: String });
labels!(Cache { result: &'static str });

type Times<L> = Family<L, Histogram, fn() -> Histogram>;

/// The metrics of a running server.
pub(crate) struct Metrics {
    registry: Registry,
    room: Arc<Room>,
    requests: Family<Request, Counter>,
    request_times: Times<Route>,
    in_flight: Gauge,
    connections: Gauge,
    refused: Family<Reason, Counter>,
    searches: Family<Search, Counter>,
    search_times: Times<Search>,
    stage_times: Times<Stage>,
    created: Family<Created, Counter>,
    sizes: Times<Strategy>,
    runs: Family<Outcome, Counter>,
    run_times: Histogram,
    embedder_calls: Family<Embed, Counter>,
    embedder_texts: Family<Model, Counter>,
    embedder_times: Times<Model>,
    vectors: Family<Cache, Counter>,
    ready: Gauge<i64>,
    _started: Gauge<f64, AtomicU64>,
}

/// Something in progress, counted until it is dropped.
pub(crate) struct GoingOn(Gauge);

impl GoingOn {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for GoingOn {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn times() -> Histogram {
    Histogram::new(SECONDS)
}

fn tokens() -> Histogram {
    Histogram::new(TOKENS)
}

impl Metrics {
    pub(crate) fn new(room: Arc<Room>) -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("chunkwright"),
            room,
            requests: Family::default(),
            request_times: Family::new_with_constructor(times),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            refused: Family::default(),
            searches: Family::default(),
            search_times: Family::new_with_constructor(times),
            stage_times: Family::new_with_constructor(times),
            created: Family::default(),
            sizes: Family::new_with_constructor(tokens),
            runs: Family::default(),
            run_times: times(),
            embedder_calls: Family::default(),
            embedder_texts: Family::default(),
            embedder_times: Family::new_with_constructor(times),
            vectors: Family::default(),
            ready: Gauge::default(),
            _started: Gauge::default(),
        };
        let registry = &mut metrics.registry;
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The version of the server", version);
        registry.register(
            "ready",
            "Whether the server takes requests: 1, or 0 while it starts or stops",
            metrics.ready.clone(),
        );
        registry.register("http_requests", "Requests by route, method and status", metrics.requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time until the answer began",
            Unit::Seconds,
            metrics.request_times.clone(),
        );
        registry.register(
            "http_requests_in_flight",
            "Requests that are being answered",
            metrics.in_flight.clone(),
        );
        registry.register("http_connections", "Open connections", metrics.connections.clone());
        registry.register(
            "http_refused",
            "Requests that were not let in, by the reason",
            metrics.refused.clone(),
        );
        registry.register("searches", "Searches by mode and outcome", metrics.searches.clone());
        registry.register_with_unit(
            "search_duration",
            "Time that searches took",
            Unit::Seconds,
            metrics.search_times.clone(),
        );
        registry.register_with_unit(
            "search_stage_duration",
            "Time that each stage of a search took",
            Unit::Seconds,
            metrics.stage_times.clone(),
        );
        registry.register("chunks_created", "Chunks written, by strategy and type", metrics.created.clone());
        registry.register("chunk_size_tokens", "Sizes of the chunks written", metrics.sizes.clone());
        registry.register("indexing", "Runs of this process by how they ended", metrics.runs.clone());
        registry.register_with_unit(
            "indexing_duration",
            "Time that runs of this process took",
            Unit::Seconds,
            metrics.run_times.clone(),
        );
        registry.register(
            "embedder_calls",
            "Calls of the embedder, for documents and for queries, by outcome",
            metrics.embedder_calls.clone(),
        );
        registry.register(
            "embedder_texts",
            "Texts that the embedder was given",
            metrics.embedder_texts.clone(),
        );
        registry.register_with_unit(
            "embedder_call_duration",
            "Time that calls of the embedder took",
            Unit::Seconds,
            metrics.embedder_times.clone(),
        );
        registry.register(
            "vector_cache_texts",
            "Texts of runs by whether their vectors were known",
            metrics.vectors.clone(),
        );
        metrics
    }

    /// Counts a request that began.
    pub(crate) fn begin(&self) -> GoingOn {
        GoingOn::new(&self.in_flight)
    }

    /// Counts a connection that was opened.
    pub(crate) fn connection(&self) -> GoingOn {
        GoingOn::new(&self.connections)
    }

    /// Counts an answered request.
    pub(crate) fn answered(&self, route: &str, method: &'static str, status: u16, took: Duration) {
        let route = route.to_owned();
        self.request_times.get_or_create(&Route { route: route.clone(), method }).observe(took.as_secs_f64());
        self.requests.get_or_create(&Request { route, method, status }).inc();
    }

    /// Counts a refused request.
    pub(crate) fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&Reason { reason }).inc();
    }

    /// Sets whether the server is ready for requests.
    pub(crate) fn set_ready(&self, is_ready: bool) {
        self.ready.set(is_ready.into());
    }

    fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

impl Observer for Metrics {
    fn indexed(&self, run: &IndexedRun<'_>) {
        let report = run.report;
        let outcome = match (report.cancelled, report.failed.is_empty()) {
            (true, _) => "cancelled",
            (false, true) => "success",
            (false, false) => "partial",
        };
        self.runs.get_or_create(&Outcome { outcome }).inc();
        if let Some(timings) = report.timings {
            // The stages alternate; each becomes one span with the total of its time.
            let Timings { read_ms, cut_ms, embed_ms, store_ms, .. } = timings;
            for (stage, took) in
                [("read", read_ms), ("cut", cut_ms), ("embed", embed_ms), ("store", store_ms)]
            {
                traces::ended(stage, Duration::from_millis(took), []);
            }
            self.run_times.observe(timings.total_ms as f64 / 1e3);
        }
        let strategy = run.strategy;
        let sizes = self.sizes.get_or_create_owned(&Strategy { strategy: strategy.to_owned() });
        for (chunk_type, tokens) in &report.written {
            let labels = Created { strategy: strategy.to_owned(), chunk_type: chunk_type.clone() };
            self.created.get_or_create(&labels).inc_by(tokens.len() as u64);
            for tokens in tokens {
                sizes.observe(f64::from(*tokens));
            }
        }
        for (result, texts) in [("hit", report.reused), ("miss", report.embedded)] {
            self.vectors.get_or_create(&Cache { result }).inc_by(texts as u64);
        }
    }

    fn index_failed(&self, error: &Error) {
        if error.is_disk_full() {
            self.room.note_missed();
        }
        self.runs.get_or_create(&Outcome { outcome: "error" }).inc();
    }

    fn searched(&self, search: SearchCall) {
        let labels = Search { mode: search.mode.as_str(), outcome: search.outcome };
        self.searches.get_or_create(&labels).inc();
        self.search_times.get_or_create(&labels).observe(search.took.as_secs_f64());
    }

    fn stage(&self, stage: &'static str, took: Duration) {
        traces::ended(stage, took, []);
        self.stage_times.get_or_create(&Stage { stage }).observe(took.as_secs_f64());
    }

    fn embedded(&self, call: EmbedCall<'_>) {
        traces::ended(
            "embedder",
            call.took,
            [
                ("embedder.model", call.model.to_owned()),
                ("embedder.purpose", call.purpose.to_owned()),
                ("embedder.texts", call.texts.to_string()),
                ("embedder.outcome", call.outcome.to_owned()),
            ],
        );
        let model = call.model.to_owned();
        let labels = Embed { model: model.clone(), purpose: call.purpose, outcome: call.outcome };
        self.embedder_calls.get_or_create(&labels).inc();
        if call.outcome == "cached" {
            return;
        }
        let labels = Model { model };
        self.embedder_texts.get_or_create(&labels).inc_by(call.texts as u64);
        self.embedder_times.get_or_create(&labels).observe(call.took.as_secs_f64());
    }
}

/// The route `/metrics`.
pub(crate) fn router(app: &Shared) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route_layer(from_fn(no_parameters))
        .with_state(Arc::clone(app))
}

/// The metrics of this process, and of the store if it answers, in the format that the client asks for.
async fn metrics(State(app): State<Shared>, headers: HeaderMap) -> Response {
    let own = app.metrics.text();
    let stored = match app.call(Engine::metrics_at_hand).await {
        Ok(stored) => stored,
        Err(_) => END.to_owned(),
    };
    let own = own.strip_suffix(END).unwrap_or(&own);
    let format = Format::asked(&headers);
    ([(CONTENT_TYPE, format.content_type())], format.text(format!("{own}{stored}"))).into_response()
}
