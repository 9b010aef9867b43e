//! `chunkwright versions`

use anyhow::Result;
use chunkwright_engine::{Access, GenerationStatus};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::command::status;
use crate::output::OutputFlags;
use crate::text::{Table, bold, dim, grouped, plain};

/// List the generations of a collection
///
/// A generation holds all documents, cut by one strategy version and configuration and embedded by one model.
/// Searches use the current one; the last before it is kept to go back to (`keep_generations` keeps more). `--collection
/// NAME@N` searches one of them.
#[derive(Debug, clap::Args)]
pub(crate) struct Versions {
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Versions {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let engine = global.engine(&[&self.collection], Access::Read)?;
        let answer = engine.default_collection().generations()?;
        let rows = &answer.generations;
        results.answer(&answer, |output| output.objects(rows), |_| describe(rows))?;
        Ok(Outcome::Success)
    }
}

fn describe(generations: &[GenerationStatus]) -> String {
    let mut table = Table::new(["generation", "state", "documents", "chunks", "no vector", "version", "configuration", "model"]);
    for status in generations {
        let spec = &status.generation.spec;
        table.row([
            bold(&plain(&status.generation.to_string())),
            status.state.as_str().to_owned(),
            grouped(status.documents),
            grouped(status.chunks),
            grouped(status.pending),
            plain(&spec.strategy_version),
            dim(&spec.config_hash),
            status::model(spec),
        ]);
    }
    table.to_string()
}
