//! `chunkwright disable`

use anyhow::Result;
use chunkwright::ChunkId;
use chunkwright_engine::AmendRequest;

use crate::app::{CollectionFlags, Global, Outcome};
use crate::command::amend::amend;

/// Hide chunks from searches
///
/// They stay stored and can be fetched. Kept apart from the chunks, it holds over re-indexing for as long
/// as the chunk, or one of its document with the same content, is there.
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
