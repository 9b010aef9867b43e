//! `chunkwright status`

use anyhow::Result;
use chunkwright_engine::{Access, CollectionStatus, GenerationSpec, PastRun, Snapshot};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, dim, grouped, plain};

/// Show what is stored: collections, documents, chunks
///
/// With --collection that one alone.
///
/// The exit status is 1 if nothing is stored.
#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    /// List the documents of the collection instead
    #[arg(short, long)]
    documents: bool,
    /// List the last runs that changed the collection instead, newest first, and where their time went
    #[arg(long, conflicts_with = "documents")]
    history: bool,
    /// Print the state of every collection and its last run for Prometheus instead
    ///
    /// In the text format of OpenMetrics; with `-o FILE.prom` for the node exporter, which reads files in a folder.
    #[arg(long, conflicts_with_all = ["documents", "history", "format", "fields"])]
    metrics: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Status {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let engine = global.engine(&[&self.collection], Access::Read)?;
        let found = if self.metrics {
            let mut output = results.open()?;
            output.bytes(engine.metrics()?.as_bytes())?;
            output.finish()?;
            return Ok(Outcome::Success);
        } else if self.history {
            let runs = engine.default_collection().history()?;
            results.list(&runs, describe_runs)?;
            let none = "no run is remembered: none changed the collection since its store remembers runs";
            return Ok(global.found(runs.len(), none));
        } else if self.documents {
            let documents = engine.default_collection().read(Snapshot::documents)?;
            results.list(&documents, |documents| {
                let mut table = Table::new(["document", "chunks", "no vector", "bytes", "format", "preset", "indexed"]);
                for document in documents {
                    table.row([
                        bold(&plain(&document.doc_id)),
                        document.chunks.to_string(),
                        document.pending.to_string(),
                        grouped(document.bytes as usize),
                        document.format.clone(),
                        plain(&document.preset),
                        dim(&document.indexed_at),
                    ]);
                }
                table.if_any()
            })?;
            documents.len()
        } else {
            let place = engine.store_name()?;
            let rows = if self.collection.is_named() {
                vec![engine.default_collection().status()?]
            } else {
                engine.collections()?
            };
            let store = dim(&format!("store {}", plain(&place)));
            results.list(&rows, |rows| format!("{store}\n{}", describe(rows)))?;
            rows.len()
        };
        Ok(global.found(found, "nothing is stored; `chunkwright index` stores documents"))
    }
}

fn describe_runs(runs: &[PastRun]) -> String {
    let mut table = Table::new([
        "run", "began", "indexed", "unchanged", "removed", "failed", "chunks", "embedded", "seconds", "read", "cut",
        "embed", "store",
    ]);
    for run in runs {
        let number = if run.cancelled { format!("{} (interrupted)", run.number) } else { run.number.to_string() };
        let timings = run.timings.map(|timings| {
            [timings.total_ms, timings.read_ms, timings.cut_ms, timings.embed_ms, timings.store_ms]
        });
        let seconds = |at: usize| timings.map_or_else(|| dim("-"), |ms| format!("{:.1}", ms[at] as f64 / 1e3));
        let counts =
            [run.indexed, run.unchanged, run.removed, run.failed, run.chunks, run.embedded].map(grouped);
        let began = [bold(&number), dim(&run.at)];
        table.row(began.into_iter().chain(counts).chain((0..5).map(seconds)).collect::<Vec<_>>());
    }
    table.if_any()
}

/// The model of a generation's vectors in words.
pub(super) fn model(spec: &GenerationSpec) -> String {
    spec.model.as_ref().map_or_else(|| dim("none"), |model| format!("{} ({})", plain(&model.name), model.dimension))
}

fn describe(rows: &[CollectionStatus]) -> String {
    let mut table = Table::new(["collection", "documents", "chunks", "no vector", "model", "version"]);
    for CollectionStatus { status, .. } in rows {
        let spec = &status.generation.spec;
        table.row([
            bold(&plain(&status.generation.collection)),
            grouped(status.documents),
            grouped(status.chunks),
            grouped(status.pending),
            model(spec),
            plain(&spec.strategy_version),
        ]);
    }
    let mut places = Table::new(["collection", "folder", "prefix", "documents"]);
    for CollectionStatus { status, folders } in rows {
        for folder in folders {
            let nothing = || dim("-");
            places.row([
                bold(&plain(&status.generation.collection)),
                if folder.root.is_empty() { nothing() } else { plain(&folder.root) },
                if folder.prefix.is_empty() { nothing() } else { plain(&folder.prefix) },
                grouped(folder.documents),
            ]);
        }
    }
    let tables = [table, places].into_iter().filter(|table| !table.is_empty());
    tables.map(|table| table.to_string()).collect::<Vec<_>>().join("\n")
}
