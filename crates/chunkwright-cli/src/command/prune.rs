//! `chunkwright prune`

use anyhow::Result;
use chunkwright_index::{Access, GenerationState, GenerationStatus, remove_documents};
use serde::Serialize;

use crate::app::{self, CollectionFlags, Global, Outcome};
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
    /// Remove only documents whose id matches from those generations (`*` stands for any text)
    #[arg(long, value_name = "PATTERN")]
    source: Option<String>,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// What was removed of a generation.
#[derive(Serialize)]
struct Row<'a> {
    generation: &'a GenerationStatus,
    documents: usize,
    chunks: usize,
    dry_run: bool,
}

impl Prune {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        let access = if self.dry_run { Access::Read } else { Access::Write };
        let store = app::store(&settings, access)?;
        let name = store.open(&settings.collection)?.collection;
        let found = store.collections()?.into_iter().filter(|known| known.name == name);
        let generations: Vec<GenerationStatus> = found.flat_map(|collection| collection.generations).collect();
        let is_over = |status: &&GenerationStatus| match status.state {
            GenerationState::Old => true,
            GenerationState::Building => self.unfinished,
            GenerationState::Current => false,
        };
        let mut output = self.output.open()?;
        let mut table = Table::new(["generation", "state", "documents", "chunks"]);
        for status in generations.iter().filter(is_over) {
            let generation = &status.generation;
            let (documents, chunks) = if let Some(pattern) = &self.source {
                let removed = remove_documents(&*store, generation, pattern, self.dry_run)?;
                (removed.len(), removed.iter().map(|info| info.chunks as usize).sum())
            } else {
                if !self.dry_run {
                    store.remove(generation)?;
                }
                (status.documents, status.chunks)
            };
            if output.is_text() {
                let state = status.state.as_str().to_owned();
                table.row([bold(&plain(&generation.to_string())), state, grouped(documents), grouped(chunks)]);
            } else {
                output.object(&Row { generation: status, documents, chunks, dry_run: self.dry_run })?;
            }
        }
        if output.is_text() && !table.is_empty() {
            output.text(&table.to_string())?;
        }
        output.end_list()?;
        output.finish()?;
        let any = generations.iter().any(|status| is_over(&status));
        if !any {
            global.say("there is no generation but the current one");
        }
        Ok(if any { Outcome::Success } else { Outcome::Nothing })
    }
}
