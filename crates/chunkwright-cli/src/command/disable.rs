//! `chunkwright disable`

use anyhow::Result;
use chunkwright_engine::AmendRequest;

use crate::app::{Global, Outcome};
use crate::command::amend::ChunkFlags;

/// Hide chunks from searches
///
/// Hidden chunks stay stored and can be fetched. They stay hidden when documents are indexed again, as long as the
/// document has the chunk or one with the same content.
#[derive(Debug, clap::Args)]
pub(crate) struct Disable {
    #[command(flatten)]
    chunks: ChunkFlags,
}

impl Disable {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        self.chunks.amend(global, AmendRequest { enabled: Some(false), ..AmendRequest::default() })
    }
}
