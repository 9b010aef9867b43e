//! `chunkwright related`

use anyhow::{Result, bail};
use chunkwright_index::{Access, Siblings, related, siblings};
use serde::Serialize;

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, dim, plain};

/// Find the documents beside one, and those about the same
///
/// Beside it are those of its folder. About the same are those with a chunk near the mean of its vectors; a
/// collection without vectors has none.
#[derive(Debug, clap::Args)]
pub(crate) struct Related {
    /// Id of the document
    #[arg(value_name = "DOC_ID")]
    document: String,
    /// Number of documents of each kind
    #[arg(short = 'k', long, value_name = "N", default_value_t = 5)]
    top_k: usize,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

#[derive(Serialize)]
struct Row {
    siblings: Siblings,
    related: Vec<chunkwright_index::Related>,
}

impl Related {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        let store = app::store(&settings, Access::Read)?;
        let generation = store.open(&settings.collection)?;
        if store.document(&generation, &self.document)?.is_none() {
            bail!("`{}` is not in collection `{}`; `chunkwright status --documents` lists them", self.document, generation.collection);
        }
        let row = Row {
            siblings: siblings(&*store, &generation, &self.document, self.top_k)?,
            related: related(&*store, &generation, &self.document, self.top_k)?,
        };
        let mut output = self.output.open()?;
        if output.is_text() {
            let mut table = Table::new(["document", "why"]);
            let folder = if row.siblings.folder.is_empty() { "the top folder" } else { &row.siblings.folder };
            for doc_id in &row.siblings.nearest {
                table.row([bold(&plain(doc_id)), dim(&format!("of {} others in {}", row.siblings.count, plain(folder)))]);
            }
            for found in &row.related {
                table.row([bold(&plain(&found.doc_id)), dim(&format!("about the same, {:.3}", found.score))]);
            }
            output.text(&table.to_string())?;
        } else {
            output.only(&row)?;
        }
        output.finish()?;
        let none = row.siblings.nearest.is_empty() && row.related.is_empty();
        Ok(if none { Outcome::Nothing } else { Outcome::Success })
    }
}
