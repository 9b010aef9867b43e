//! `chunkwright prune`

use anyhow::Result;
use chunkwright_engine::{Access, Glob, PruneRequest};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, grouped, plain};

/// Remove generations that are not in use
///
/// Removes generations that were current before and, with --unfinished, those that were never completed, and lists
/// them. The current generation is never removed.
#[derive(Debug, clap::Args)]
pub(crate) struct Prune {
    /// Also remove generations that were never completed, which the next run would resume
    #[arg(long)]
    unfinished: bool,
    /// Remove only documents whose id matches this glob, such as `docs/**`, from those generations
    #[arg(long, value_name = "PATTERN")]
    source: Option<Glob>,
    /// Show what would be removed and remove nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Prune {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let access = if self.dry_run { Access::Read } else { Access::Write };
        let engine = global.engine(&[&self.collection], access)?;
        let request = PruneRequest {
            unfinished: self.unfinished,
            generation: None,
            source: self.source.clone(),
            dry_run: self.dry_run,
        };
        let pruned = engine.default_collection().prune(&request)?;
        results.list(&pruned, |pruned| {
            let mut table = Table::new(["generation", "state", "documents", "chunks"]);
            for row in pruned {
                let generation = bold(&plain(&row.generation.generation.to_string()));
                let state = row.generation.state.as_str().to_owned();
                table.row([generation, state, grouped(row.documents), grouped(row.chunks)]);
            }
            table.if_any()
        })?;
        Ok(global.found(pruned.len(), "there are no generations besides the current one"))
    }
}
