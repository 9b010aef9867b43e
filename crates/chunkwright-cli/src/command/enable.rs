//! `chunkwright enable`

use anyhow::Result;
use chunkwright::ChunkId;
use chunkwright_engine::AmendRequest;

use crate::app::{CollectionFlags, Global, Outcome};
use crate::command::amend::amend;

/// Show hidden chunks in searches again
///
/// Reverts `chunkwright disable`.
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
        let chunks = self.chunks.clone();
        let request = AmendRequest { chunks, enabled: Some(true), ..AmendRequest::default() };
        amend(global, &self.collection, &request)
    }
}
