//! Metrics of the store for a monitoring system, in the text format of `OpenMetrics`, which Prometheus and its node
//! exporter read.
//!
//! The number of series is bounded: at most [`LABELLED`] collections have their own. No answer waits until a store that
//! was just opened has read its chunks: [`KnownFigures`](crate::core::figures::KnownFigures) caches what is computed from them.

use std::sync::atomic::AtomicU64;
use std::thread;

use chunkwright_index::{
    CollectionSort, CollectionsBehind, Direction, GenerationState, GenerationStatus, PastRun,
    StatisticsRequest, StoreError,
};
use jiff::Timestamp;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use crate::core::engine::Engine;
use crate::core::figures::Figures;
use crate::error::Error;

/// A gauge of fractional seconds.
type Seconds = Gauge<f64, AtomicU64>;

/// The size band if the settings have none: the one recommended for BGE-M3 by its authors.
const BAND: [usize; 2] = [410, 614];

/// Maximum number of collections with series of their own.
const LABELLED: usize = 100;

/// Label of all other collections together; collection names cannot begin with `_`.
const OTHERS: &str = "_other";

type Labels = Vec<(&'static str, String)>;

/// The collection label of a metric.
struct Of<'a>(&'a str);

impl Of<'_> {
    fn all(&self) -> Labels {
        vec![("collection", self.0.to_owned())]
    }

    /// The labels of one kind of counted things.
    fn each(&self, name: &'static str, kind: &str) -> Labels {
        vec![("collection", self.0.to_owned()), (name, kind.to_owned())]
    }
}

/// The families of metrics. All but the first have the label `collection`.
#[derive(Default)]
struct Metrics {
    collections: Gauge,
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
    /// Adds the counts of several collections together.
    fn add_counts(&self, of: &Of<'_>, collections: &[chunkwright_index::Collection]) {
        let visible = || collections.iter().filter_map(chunkwright_index::Collection::visible);
        let sum = |count: fn(&GenerationStatus) -> usize| integer(visible().map(count).sum());
        self.documents.get_or_create(&of.all()).set(sum(|status| status.documents));
        self.chunks.get_or_create(&of.all()).set(sum(|status| status.chunks));
        self.pending.get_or_create(&of.all()).set(sum(|status| status.pending));
        let generations = collections.iter().map(|collection| collection.generations.len()).sum();
        self.generations.get_or_create(&of.all()).set(integer(generations));
    }

    fn add_figures(&self, of: &Of<'_>, figures: &Figures) {
        if let Some(ratio) = figures.optimal_ratio {
            self.optimal_ratio.get_or_create(&of.all()).set(ratio);
        }
        self.disabled.get_or_create(&of.all()).set(integer(figures.disabled));
        for (level, chunks) in &figures.levels {
            self.levels.get_or_create(&of.each("level", level)).set(integer(*chunks));
        }
    }

    fn register(&self, registry: &mut Registry) {
        registry.register("collections", "Collections of the store", self.collections.clone());
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
    /// The state of the collections and their last runs, for a monitoring system, in the text format of `OpenMetrics`. The
    /// 100 collections with the most chunks have series of their own; counts of the others are summed as `_other`.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn metrics(&self) -> Result<String, Error> {
        self.metrics_by(|engine, stale| stale.iter().try_for_each(|status| engine.measure(status)))
    }

    /// As [`metrics`](Self::metrics), without waiting for anything that is read chunk by chunk: chunk sizes and
    /// disabled chunks are the last known values, and are left out until known. A background thread updates them.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn metrics_at_hand(&self) -> Result<String, Error> {
        self.metrics_by(|engine, stale| {
            engine.refresh(stale);
            Ok(())
        })
    }

    /// Updates figures on a background thread, one generation after another, unless an update is running. Generations
    /// that cannot be read are tried again next time.
    fn refresh(&self, stale: &[GenerationStatus]) {
        if stale.is_empty() || !self.figures().refresh() {
            return;
        }
        let (own, stale) = (self.weak(), stale.to_vec());
        let refresh = move || {
            for status in &stale {
                let Some(engine) = own.upgrade() else { return };
                if engine.check_cancelled().is_err() {
                    break;
                }
                if let Err(error) = engine.measure(status) {
                    tracing::debug!(%error, generation = %status.generation, "its metrics could not be read");
                }
            }
            if let Some(engine) = own.upgrade() {
                engine.figures().refreshed();
            }
        };
        if let Err(error) = thread::Builder::new().name("metrics".into()).spawn(refresh) {
            tracing::warn!(%error, "no thread could be started for metrics");
            self.figures().refreshed();
        }
    }

    fn metrics_by(
        &self,
        measure: impl FnOnce(&Self, &[GenerationStatus]) -> Result<(), Error>,
    ) -> Result<String, Error> {
        let store = self.store()?;
        let mut registry = Registry::with_prefix("chunkwright");
        let metrics = Metrics::default();
        metrics.register(&mut registry);
        let request = CollectionsBehind {
            sort: CollectionSort::Chunks,
            direction: Direction::Descending,
            ..CollectionsBehind::default()
        };
        let all = store.list_collections(&request)?.collections;
        metrics.collections.set(integer(all.len()));
        let (own, others) = all.split_at(all.len().min(LABELLED));
        let visible: Vec<&GenerationStatus> =
            own.iter().filter_map(chunkwright_index::Collection::visible).collect();
        let is_stale = |status: &&&GenerationStatus| !self.figures().is_current(status);
        let stale: Vec<GenerationStatus> = visible.iter().filter(is_stale).copied().cloned().collect();
        measure(self, &stale)?;
        for collection in own {
            let Some(status) = collection.visible() else { continue };
            let of = Of(&collection.name);
            metrics.add_counts(&of, std::slice::from_ref(collection));
            let is_complete = status.state == GenerationState::Current;
            metrics.complete.get_or_create(&of.all()).set(is_complete.into());
            if let Some(figures) = self.figures().get(&status.generation) {
                metrics.add_figures(&of, &figures);
            }
            if let Some(run) = store.runs(&collection.name)?.first() {
                metrics.add_run(&of, run);
            }
        }
        if !others.is_empty() {
            metrics.add_counts(&Of(OTHERS), others);
        }
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &registry);
        Ok(text)
    }

    /// Computes and caches the figures that need all chunks of a generation.
    fn measure(&self, status: &GenerationStatus) -> Result<(), Error> {
        let band = self.settings().chunk.band_wanted().unwrap_or(BAND);
        let request = StatisticsRequest { band: Some(band), ..StatisticsRequest::default() };
        match self.store()?.statistics(&status.generation, &request) {
            Ok(statistics) => self.figures().put(status, Figures::of(&statistics)),
            // The generation was removed meanwhile.
            Err(StoreError::UnknownGeneration { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
