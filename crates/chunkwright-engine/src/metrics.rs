//! What does a monitoring system read of the store?
//!
//! The text format of `OpenMetrics`, which Prometheus and its node exporter read.

use std::sync::atomic::AtomicU64;

use chunkwright_index::{GenerationState, PastRun, StatisticsRequest};
use jiff::Timestamp;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use crate::engine::Engine;
use crate::error::Error;

/// Seconds and parts of them.
type Seconds = Gauge<f64, AtomicU64>;

/// The band where the settings have none: what is best for BGE-M3, as its makers say.
const BAND: [usize; 2] = [410, 614];

type Labels = Vec<(&'static str, String)>;

/// The collection that a metric is of.
struct Of<'a>(&'a str);

impl Of<'_> {
    fn all(&self) -> Labels {
        vec![("collection", self.0.to_owned())]
    }

    /// One kind of what is counted.
    fn each(&self, name: &'static str, kind: &str) -> Labels {
        vec![("collection", self.0.to_owned()), (name, kind.to_owned())]
    }
}

/// The families of metrics. Each is of one collection, by its label `collection`.
#[derive(Default)]
struct Metrics {
    documents: Family<Labels, Gauge>,
    chunks: Family<Labels, Gauge>,
    disabled: Family<Labels, Gauge>,
    pending: Family<Labels, Gauge>,
    levels: Family<Labels, Gauge>,
    generations: Family<Labels, Gauge>,
    complete: Family<Labels, Gauge>,
    runs: Family<Labels, Counter>,
    run_time: Family<Labels, Gauge>,
    run_documents: Family<Labels, Gauge>,
    run_texts: Family<Labels, Gauge>,
    run_tokens: Family<Labels, Gauge>,
    run_duration: Family<Labels, Seconds>,
    run_stages: Family<Labels, Seconds>,
    run_success: Family<Labels, Gauge>,
    optimal_ratio: Family<Labels, Seconds>,
}

impl Metrics {
    fn register(&self, registry: &mut Registry) {
        registry.register("documents", "Documents that searches see", self.documents.clone());
        registry.register("chunks", "Chunks that searches see", self.chunks.clone());
        registry.register("disabled_chunks", "Chunks that were disabled by hand", self.disabled.clone());
        let help = "Chunks without a vector although the collection has a model";
        registry.register("pending_chunks", help, self.pending.clone());
        registry.register(
            "token_level_chunks",
            "Chunks by the level of their size in tokens",
            self.levels.clone(),
        );
        registry.register(
            "generations",
            "Generations, old ones and those being built included",
            self.generations.clone(),
        );
        let help = "Whether a run over the collection ever ended: 1, or 0 while its first is unfinished";
        registry.register("complete", help, self.complete.clone());
        registry.register("index_runs", "Runs that changed the collection", self.runs.clone());
        let help = "When the last run that changed the collection began";
        registry.register_with_unit("last_run_timestamp", help, Unit::Seconds, self.run_time.clone());
        registry.register(
            "last_run_documents",
            "Documents of the last run by what became of them",
            self.run_documents.clone(),
        );
        registry.register(
            "last_run_texts",
            "Texts of the last run by where their vectors came from",
            self.run_texts.clone(),
        );
        registry.register(
            "last_run_embedded_tokens",
            "Tokens that the last run had to embed",
            self.run_tokens.clone(),
        );
        let help = "Time that the last run took";
        registry.register_with_unit("last_run_duration", help, Unit::Seconds, self.run_duration.clone());
        let help = "Whether the last run ended without a failure: 1, or 0";
        registry.register("last_run_success", help, self.run_success.clone());
        let help = "Share of the chunks whose tokens are in the band of the settings, or else from 410 to 614; from 0 to 1";
        registry.register("optimal_ratio", help, self.optimal_ratio.clone());
        let help = "Time that the last run spent on each stage, reading and cutting on all threads";
        registry.register_with_unit("last_run_stage", help, Unit::Seconds, self.run_stages.clone());
    }

    fn add_run(&self, of: &Of<'_>, run: &PastRun) {
        self.runs.get_or_create(&of.all()).inc_by(run.number);
        if let Ok(began) = run.at.parse::<Timestamp>() {
            self.run_time.get_or_create(&of.all()).set(began.as_second());
        }
        let outcomes = [
            ("indexed", run.indexed),
            ("unchanged", run.unchanged),
            ("removed", run.removed),
            ("failed", run.failed),
        ];
        for (outcome, documents) in outcomes {
            self.run_documents.get_or_create(&of.each("outcome", outcome)).set(integer(documents));
        }
        for (source, texts) in [("embedded", run.embedded), ("reused", run.reused)] {
            self.run_texts.get_or_create(&of.each("source", source)).set(integer(texts));
        }
        let is_success = run.failed == 0 && !run.cancelled;
        self.run_success.get_or_create(&of.all()).set(is_success.into());
        self.run_tokens.get_or_create(&of.all()).set(integer(run.tokens));
        let Some(timings) = run.timings else { return };
        self.run_duration.get_or_create(&of.all()).set(timings.total_ms as f64 / 1e3);
        let stages = [
            ("read", timings.read_ms),
            ("cut", timings.cut_ms),
            ("embed", timings.embed_ms),
            ("store", timings.store_ms),
        ];
        for (stage, ms) in stages {
            self.run_stages.get_or_create(&of.each("stage", stage)).set(ms as f64 / 1e3);
        }
    }
}

fn integer(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Engine {
    /// The state of every collection and its last run, for a monitoring system, in the text format of `OpenMetrics`.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn metrics(&self) -> Result<String, Error> {
        let store = self.store()?;
        let mut registry = Registry::with_prefix("chunkwright");
        let metrics = Metrics::default();
        metrics.register(&mut registry);
        for collection in store.collections()? {
            let Some(status) = collection.visible() else { continue };
            let of = Of(&collection.name);
            let band = self.settings().chunk.band_wanted().unwrap_or(BAND);
            let request = StatisticsRequest { band: Some(band), ..StatisticsRequest::default() };
            let statistics = store.statistics(&status.generation, &request)?;
            if let Some(ratio) = statistics.optimal_ratio {
                metrics.optimal_ratio.get_or_create(&of.all()).set(ratio);
            }
            metrics.documents.get_or_create(&of.all()).set(integer(status.documents));
            metrics.chunks.get_or_create(&of.all()).set(integer(status.chunks));
            metrics.disabled.get_or_create(&of.all()).set(integer(statistics.disabled));
            metrics.pending.get_or_create(&of.all()).set(integer(status.pending));
            for (level, chunks) in &statistics.levels {
                let labels = of.each("level", level.as_str());
                metrics.levels.get_or_create(&labels).set(integer(*chunks));
            }
            metrics.generations.get_or_create(&of.all()).set(integer(collection.generations.len()));
            let is_complete = status.state == GenerationState::Current;
            metrics.complete.get_or_create(&of.all()).set(is_complete.into());
            if let Some(run) = store.runs(&collection.name)?.first() {
                metrics.add_run(&of, run);
            }
        }
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &registry);
        Ok(text)
    }
}
