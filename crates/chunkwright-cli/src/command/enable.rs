//! `chunkwright enable`

use anyhow::Result;
use chunkwright_engine::AmendRequest;

use crate::app::{Global, Outcome};
use crate::command::amend::ChunkFlags;

/// Show hidden chunks in searches again
///
/// Reverts `chunkwright disable`.
#[derive(Debug, clap::Args)]
pub(crate) struct Enable {
    #[command(flatten)]
    chunks: ChunkFlags,
}

impl Enable {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        self.chunks.amend(global, AmendRequest { enabled: Some(true), ..AmendRequest::default() })
    }
}
