//! `chunkwright prune`

use anyhow::Result;
use chunkwright_engine::{Access, Glob, PruneRequest};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, grouped, plain};

/// Remove generations that searches do not see
///
/// Those that were current once, and with --unfinished also those that were never completed. What is
/// removed is said. The current generation is never removed.
#[derive(Debug, clap::Args)]
pub(crate) struct Prune {
    /// Remove generations that were never completed too, on which the next run would go on
    #[arg(long)]
    unfinished: bool,
    /// Remove only documents whose id matches from those generations (a glob such as `docs/**`)
    #[arg(long, value_name = "PATTERN")]
    source: Option<Glob>,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Prune {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let access = if self.dry_run { Access::Read } else { Access::Write };
        let engine = global.engine(&[&self.collection], access)?;
        let request = PruneRequest {
            unfinished: self.unfinished,
            source: self.source.clone(),
            dry_run: self.dry_run,
        };
        let pruned = engine.default_collection().prune(&request)?;
        self.output.list(&pruned, |pruned| {
            let mut table = Table::new(["generation", "state", "documents", "chunks"]);
            for row in pruned {
                let generation = bold(&plain(&row.generation.generation.to_string()));
                let state = row.generation.state.as_str().to_owned();
                table.row([generation, state, grouped(row.documents), grouped(row.chunks)]);
            }
            table.if_any()
        })?;
        if pruned.is_empty() {
            global.say("there is no generation but the current one");
            return Ok(Outcome::Nothing);
        }
        Ok(Outcome::Success)
    }
}
