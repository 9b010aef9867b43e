//! `chunkwright disable`

use anyhow::Result;
use chunkwright::ChunkId;
use chunkwright_engine::AmendRequest;

use crate::app::{CollectionFlags, Global, Outcome};
use crate::command::amend::amend;

/// Hide chunks from searches
///
/// Hidden chunks stay stored and can be fetched. They stay hidden when documents are indexed again, as long as the
/// document has the chunk or one with the same content.
#[derive(Debug, clap::Args)]
pub(crate) struct Disable {
    /// Ids of the chunks
    #[arg(value_name = "CHUNK_ID", required = true)]
    chunks: Vec<ChunkId>,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Disable {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let chunks = self.chunks.clone();
        let request = AmendRequest { chunks, enabled: Some(false), ..AmendRequest::default() };
        amend(global, &self.collection, &request)
    }
}
