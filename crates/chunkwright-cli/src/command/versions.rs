//! `chunkwright versions`

use std::collections::BTreeMap;

use anyhow::Result;
use chunkwright_index::{Access, GenerationStatus};
use serde::Serialize;

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::command::status;
use crate::output::{Format, OutputFlags};
use crate::text::{Table, bold, dim, grouped, plain};

/// List the generations of a collection
///
/// A generation is all documents, cut by one strategy version and configuration and embedded by one model.
/// Searches see the current one; the others are kept until `chunkwright prune`. `--collection NAME@N`
/// searches one of them.
#[derive(Debug, clap::Args)]
pub(crate) struct Versions {
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// All of it as one document.
#[derive(Serialize)]
struct Row<'a> {
    collection: &'a str,
    generations: &'a [GenerationStatus],
    /// Chunks by strategy version.
    stats: BTreeMap<String, usize>,
}

impl Versions {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        let store = app::store(&settings, Access::Read)?;
        let name = store.open(&settings.collection)?.collection;
        let mut output = self.output.open()?;
        for collection in store.collections()?.into_iter().filter(|known| known.name == name) {
            match output.format() {
                Format::Json => output.only(&Row {
                    collection: &collection.name,
                    generations: &collection.generations,
                    stats: collection.version_stats(),
                })?,
                Format::Jsonl => collection.generations.iter().try_for_each(|status| output.object(status))?,
                Format::Text => output.text(&describe(&collection.generations))?,
            }
        }
        output.finish()?;
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
