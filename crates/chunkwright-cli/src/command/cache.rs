//! `chunkwright cache`

use anyhow::Result;
use chunkwright_index::Access;
use serde::Serialize;

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, dim, grouped, plain};

/// Show what is remembered of models: vectors and notes
///
/// A text that was embedded once is not embedded again, whatever becomes of its chunk. --clear forgets what
/// no chunk needs.
#[derive(Debug, clap::Args)]
pub(crate) struct Cache {
    /// Forget vectors of texts that no chunk has, and all notes
    #[arg(long)]
    clear: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

#[derive(Serialize)]
struct Cleared {
    forgotten: usize,
}

impl Cache {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        let access = if self.clear { Access::Write } else { Access::Read };
        let store = app::store(&settings, access)?;
        let mut output = self.output.open()?;
        if self.clear {
            let forgotten = store.cache().clear()?;
            if output.is_text() {
                output.text(&format!("forgot {} entries\n", grouped(forgotten)))?;
            } else {
                output.only(&Cleared { forgotten })?;
            }
        } else {
            let mut table = Table::new(["what", "entries", "needed", "bytes"]);
            for usage in store.cache().usage()? {
                if output.is_text() {
                    let what = usage.model.as_ref().map_or_else(
                        || dim("notes"),
                        |model| format!("vectors of {}", bold(&plain(model))),
                    );
                    table.row([what, grouped(usage.entries), grouped(usage.used), grouped(usage.bytes as usize)]);
                } else {
                    output.object(&usage)?;
                }
            }
            if output.is_text() {
                output.text(&table.to_string())?;
            }
        }
        output.end_list()?;
        output.finish()?;
        Ok(Outcome::Success)
    }
}
