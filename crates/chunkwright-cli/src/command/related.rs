//! `chunkwright related`

use anyhow::Result;
use chunkwright_engine::Access;

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, dim, plain};

/// Find documents in the same folder and documents about the same subject
///
/// Documents about the same subject have a chunk near the mean of its vectors; a collection without vectors has none.
#[derive(Debug, clap::Args)]
pub(crate) struct Related {
    /// Id of the document
    #[arg(value_name = "DOC_ID")]
    document: String,
    /// Number of documents in each list
    #[arg(short = 'k', long, value_name = "N", default_value_t = 5)]
    top_k: usize,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Related {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[])?;
        let engine = global.engine(&[&self.collection], Access::Read)?;
        let collection = engine.default_collection();
        let row = collection.read(|snapshot| snapshot.related(&self.document, self.top_k))?;
        results.only(&row, |row| {
            let mut table = Table::new(["document", "why"]);
            let folder = if row.siblings.folder.is_empty() { "the top folder" } else { &row.siblings.folder };
            for doc_id in &row.siblings.nearest {
                table.row([bold(&plain(doc_id)), dim(&format!("of {} others in {}", row.siblings.count, plain(folder)))]);
            }
            for found in &row.related {
                table.row([bold(&plain(&found.doc_id)), dim(&format!("related, {:.3}", found.score))]);
            }
            table.to_string()
        })?;
        let none = row.siblings.nearest.is_empty() && row.related.is_empty();
        Ok(if none { Outcome::Nothing } else { Outcome::Success })
    }
}
