//! `chunkwright disable`

use anyhow::Result;
use chunkwright_engine::{AmendRequest, Filter};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::command::amend::amend;

/// Hide chunks from searches
///
/// Hidden chunks stay stored and can be fetched. They stay hidden when documents are indexed again, as long as the
/// document has the chunk or one with the same content.
#[derive(Debug, clap::Args)]
pub(crate) struct Disable {
    /// Ids of the chunks, or DOC_ID#INDEX
    #[arg(value_name = "CHUNK_ID", required_unless_present = "filter")]
    chunks: Vec<String>,
    /// All chunks that match, as in `search`; if given twice, both must hold
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::parse)]
    filter: Vec<Filter>,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Disable {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let chunks = self.chunks.clone();
        let filter = self.filter.iter().cloned().fold(Filter::default(), Filter::and);
        let request = AmendRequest { chunks, filter, enabled: Some(false), ..AmendRequest::default() };
        amend(global, &self.collection, &request)
    }
}
