//! `chunkwright amend`

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use chunkwright_engine::{Access, AmendRequest, Filter};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::text::{count, plain};

/// Change the text, keywords or pinned queries of a chunk
///
/// Sets the text that is embedded and searched instead of its own, keywords that also find it, and queries that it
/// answers first. The source is not changed. Changes are stored apart from chunks and re-applied after every
/// indexing: to the chunk with the same id, else to the one with the same content, else to the only similar one.
/// `chunkwright overlays` lists all changes, and with --review those that need attention.
#[derive(Debug, clap::Args)]
pub(crate) struct Amend {
    /// Id of the chunk, or of the chunk for which the change was made, or DOC_ID#INDEX
    #[arg(value_name = "CHUNK_ID", required_unless_present = "filter")]
    chunk: Option<String>,
    /// All chunks that match, as in `search`; if given twice, both must hold. Not with a text, which belongs to one chunk
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::parse)]
    filter: Vec<Filter>,
    /// Text that is embedded and searched instead of its own, within the limit; empty removes it
    #[arg(long, value_name = "TEXT", conflicts_with = "text_file")]
    text: Option<String>,
    /// Like --text, from a file
    #[arg(long, value_name = "FILE")]
    text_file: Option<PathBuf>,
    /// Words, names and aliases that also find it, separated by commas; empty removes them
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    keywords: Option<Vec<String>>,
    /// Query that it answers first; may be repeated; an empty one removes all
    #[arg(long, value_name = "QUERY")]
    pin: Option<Vec<String>>,
    /// Accept a change that was carried to this chunk, or replace the conflicting text
    ///
    /// With `--text ""` the chunk keeps its own text, and the rest of the change is accepted.
    #[arg(long)]
    accept: bool,
    /// Remove the text, the keywords and the queries
    #[arg(long, conflicts_with_all = ["text", "text_file", "keywords", "pin", "accept"])]
    reset: bool,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Amend {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let text = match &self.text_file {
            Some(path) => Some(
                fs::read_to_string(path).with_context(|| format!("`{}` cannot be read", path.display()))?,
            ),
            None => self.text.clone(),
        };
        let request = AmendRequest {
            chunks: self.chunk.iter().cloned().collect(),
            filter: self.filter.iter().cloned().fold(Filter::default(), Filter::and),
            text,
            keywords: self.keywords.clone(),
            pins: self.pin.clone(),
            reset: self.reset,
            accept: self.accept,
            ..AmendRequest::default()
        };
        amend(global, &self.collection, &request)
    }
}

/// Flags that say which chunks are changed.
#[derive(Debug, clap::Args)]
pub(super) struct ChunkFlags {
    /// Ids of the chunks, or DOC_ID#INDEX
    #[arg(value_name = "CHUNK_ID", required_unless_present = "filter")]
    chunks: Vec<String>,
    /// All chunks that match, as in `search`; if given twice, both must hold
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::parse)]
    filter: Vec<Filter>,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl ChunkFlags {
    /// Changes the selected chunks.
    pub(super) fn amend(&self, global: &Global, change: AmendRequest) -> Result<Outcome> {
        let filter = self.filter.iter().cloned().fold(Filter::default(), Filter::and);
        amend(global, &self.collection, &AmendRequest { chunks: self.chunks.clone(), filter, ..change })
    }
}

/// Changes chunks of the collection in force.
fn amend(global: &Global, collection: &CollectionFlags, request: &AmendRequest) -> Result<Outcome> {
    let engine = global.engine(&[collection], Access::Write)?;
    let changed = engine.default_collection().amend(request)?;
    if !request.filter.is_empty() {
        global.say(&format!("changed {}", count(changed.len(), "chunk")));
    }
    for overlay in changed {
        if global.verbose {
            global.say(&format!("changed {} of {}", overlay.chunk_id, plain(&overlay.doc_id)));
        }
    }
    Ok(Outcome::Success)
}
