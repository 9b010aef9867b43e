//! `chunkwright split`

use anyhow::{Context, Result};
use chunkwright_engine::BoundaryChange;

use super::merge::set_boundary;
use crate::app::{CollectionFlags, Global, Outcome};

/// Split a chunk in two
///
/// The boundary is stored apart from the chunks and found again by the text around it, so it stays when the document
/// is edited or cut by other settings. `chunkwright overlays` lists it; `chunkwright merge` or `chunkwright amend ID
/// --reset` removes it. Only the new chunks are embedded.
#[derive(Debug, clap::Args)]
pub(crate) struct Split {
    /// Id of the chunk, or DOC_ID#INDEX
    #[arg(value_name = "CHUNK_ID")]
    chunk: String,
    /// Line of the document that begins the second chunk
    #[arg(long, value_name = "LINE", required_unless_present = "byte", conflicts_with = "byte")]
    line: Option<u32>,
    /// Byte of the document that begins the second chunk
    #[arg(long, value_name = "BYTE")]
    byte: Option<u32>,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Split {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let line = self.line.map(BoundaryChange::SplitAtLine);
        let change = line.or(self.byte.map(BoundaryChange::SplitAtByte)).context("give `--line` or `--byte`")?;
        set_boundary(global, &self.collection, &self.chunk, change)
    }
}
