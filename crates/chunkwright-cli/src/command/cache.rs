//! `chunkwright cache`

use anyhow::Result;
use chunkwright_engine::{Access, ClearedCache};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, dim, grouped, plain};

/// Show or clear the cache of vectors and notes
///
/// A text that was embedded once is never embedded again, even if its chunk changes. --clear removes what no chunk
/// needs.
#[derive(Debug, clap::Args)]
pub(crate) struct Cache {
    /// Remove all notes and the vectors of texts that no chunk has
    #[arg(long)]
    clear: bool,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Cache {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let access = if self.clear { Access::Write } else { Access::Read };
        let engine = global.engine(&[&self.collection], access)?;
        if self.clear {
            let forgot = |cleared: &ClearedCache| format!("forgot {} entries\n", grouped(cleared.forgotten));
            results.only(&engine.clear_cache()?, forgot)?;
            return Ok(Outcome::Success);
        }
        results.list(&engine.cache()?, |usages| {
            let mut table = Table::new(["what", "entries", "needed", "bytes"]);
            for usage in usages {
                let model = |model: &String| format!("vectors of {}", bold(&plain(model)));
                let what = usage.model.as_ref().map_or_else(|| dim("notes"), model);
                table.row([what, grouped(usage.entries), grouped(usage.used), grouped(usage.bytes as usize)]);
            }
            table.to_string()
        })?;
        Ok(Outcome::Success)
    }
}
