//! `chunkwright enable`

use anyhow::Result;
use chunkwright::ChunkId;
use chunkwright_index::{Overlay, Review};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::command::amend::amend_chunks;

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
        let change = |overlay: &mut Overlay| overlay.disabled = false;
        amend_chunks(global, &self.collection, &self.chunks, Review::Leave, &change)
    }
}
