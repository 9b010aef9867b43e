//! `chunkwright amend`

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use chunkwright::ChunkId;
use chunkwright_engine::{Access, AmendRequest};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::text::plain;

/// Change by hand how a chunk is found
///
/// What is embedded and searched instead of its text, words it is also found by, queries it is the first
/// answer to. The source stays what it is. A change is kept apart from the chunks and is put on again after
/// every indexing: on the chunk with the same id, else on the one with the same content, else on the only one
/// that is like it. `chunkwright overlays` lists all changes, and with --review those to look at.
#[derive(Debug, clap::Args)]
pub(crate) struct Amend {
    /// Id of the chunk, or of the chunk that the change was made for
    #[arg(value_name = "CHUNK_ID")]
    chunk: ChunkId,
    /// What is embedded and searched instead of its text, within the limit; empty takes it back
    #[arg(long, value_name = "TEXT", conflicts_with = "text_file")]
    text: Option<String>,
    /// As --text, from a file
    #[arg(long, value_name = "FILE")]
    text_file: Option<PathBuf>,
    /// Words, names and aliases that it is also found by, separated by commas; empty takes them back
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    keywords: Option<Vec<String>>,
    /// Queries that it is the first answer to, each a flag; an empty one takes them back
    #[arg(long, value_name = "QUERY")]
    pin: Option<Vec<String>>,
    /// Accept a change that was carried to this chunk, or put its text over the text in conflict with it
    ///
    /// With `--text ""` the chunk keeps its own text, and all else of the change is accepted.
    #[arg(long)]
    accept: bool,
    /// Take back the text, the keywords and the queries
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
            chunks: vec![self.chunk],
            enabled: None,
            text,
            keywords: self.keywords.clone(),
            pins: self.pin.clone(),
            reset: self.reset,
            accept: self.accept,
        };
        amend(global, &self.collection, &request)
    }
}

/// Changes chunks of the collection in force.
pub(super) fn amend(
    global: &Global,
    collection: &CollectionFlags,
    request: &AmendRequest,
) -> Result<Outcome> {
    let engine = global.engine(&[collection], Access::Write)?;
    for overlay in engine.default_collection().amend(request)? {
        if global.verbose {
            global.say(&format!("changed {} of {}", overlay.chunk_id, plain(&overlay.doc_id)));
        }
    }
    Ok(Outcome::Success)
}
