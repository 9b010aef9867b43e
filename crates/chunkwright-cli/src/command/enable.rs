//! `chunkwright enable`

use anyhow::Result;
use chunkwright::ChunkId;

use crate::app::{CollectionFlags, Global, Outcome};
use crate::command::amend::amend_all;

/// Let searches find chunks again
///
/// Takes back what `chunkwright disable` did.
#[derive(Debug, clap::Args)]
pub(crate) struct Enable {
    /// Ids of the chunks
    #[arg(value_name = "CHUNK_ID", required = true)]
    chunks: Vec<ChunkId>,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Enable {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        amend_all(global, &self.collection, &self.chunks, &|overlay| overlay.disabled = false)
    }
}
