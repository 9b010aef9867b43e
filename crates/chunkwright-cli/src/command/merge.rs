//! `chunkwright merge`

use anyhow::Result;
use chunkwright_engine::{Access, BoundaryChange, BoundaryRequest};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::text::plain;

/// Merge a chunk with the next one
///
/// The merged chunk must keep the limit. The merge is stored apart from the chunks and found again by the text around
/// it, so it stays when the document is edited or cut by other settings. `chunkwright overlays` lists it; `chunkwright
/// split` or `chunkwright amend ID --reset` removes it. Only the new chunk is embedded.
#[derive(Debug, clap::Args)]
pub(crate) struct Merge {
    /// Id of the chunk, or DOC_ID#INDEX
    #[arg(value_name = "CHUNK_ID")]
    chunk: String,
    /// Merge with the chunk before it
    #[arg(long)]
    previous: bool,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Merge {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let change =
            if self.previous { BoundaryChange::MergeWithPrevious } else { BoundaryChange::MergeWithNext };
        set_boundary(global, &self.collection, &self.chunk, change)
    }
}

/// Sets a boundary in the collection in force and names the chunks beside it.
pub(super) fn set_boundary(
    global: &Global,
    collection: &CollectionFlags,
    chunk: &str,
    change: BoundaryChange,
) -> Result<Outcome> {
    let engine = global.engine(&[collection], Access::Write)?;
    let request = BoundaryRequest { chunk: chunk.to_owned(), change };
    let answer = engine.default_collection().set_boundary(&request)?;
    let chunks = answer.chunks.join(" and ");
    global.say(&format!("{} now has {}", plain(&answer.doc_id), plain(&chunks)));
    Ok(Outcome::Success)
}
