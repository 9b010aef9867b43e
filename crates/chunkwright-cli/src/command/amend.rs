//! `chunkwright amend`

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use chunkwright::ChunkId;
use chunkwright_index::{Access, Limit, Overlay, amend};

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::text::plain;

/// Change by hand how a chunk is found
///
/// What is embedded and searched instead of its text, words it is found by too, queries it is the first
/// answer to. The source stays what it is. Kept apart from the chunks, a change holds over re-indexing for as
/// long as the chunk, or one of its document with the same content, is there; `chunkwright overlays` lists
/// all, and those that are on no chunk.
#[derive(Debug, clap::Args)]
pub(crate) struct Amend {
    /// Id of the chunk
    #[arg(value_name = "CHUNK_ID")]
    chunk: ChunkId,
    /// What is embedded and searched instead of its text, within the limit; empty takes it back
    #[arg(long, value_name = "TEXT", conflicts_with = "text_file")]
    text: Option<String>,
    /// As --text, from a file
    #[arg(long, value_name = "FILE")]
    text_file: Option<PathBuf>,
    /// Words, names and aliases that it is found by too, separated by commas; empty takes them back
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    keywords: Option<Vec<String>>,
    /// Queries that it is the first answer to, each a flag; an empty one takes them back
    #[arg(long, value_name = "QUERY")]
    pin: Option<Vec<String>>,
    /// When this chunk was changed last by hand, all of it is taken back
    #[arg(long, conflicts_with_all = ["text", "text_file", "keywords", "pin"])]
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
        if text.is_none() && self.keywords.is_none() && self.pin.is_none() && !self.reset {
            bail!("nothing to change; give `--text`, `--text-file`, `--keywords`, `--pin` or `--reset`");
        }
        let given = |words: &Vec<String>| {
            let words = words.iter().map(|word| word.trim().to_owned());
            words.filter(|word| !word.is_empty()).collect::<Vec<_>>()
        };
        let change = |overlay: &mut Overlay| {
            if self.reset {
                (overlay.text, overlay.keywords, overlay.pins) = (None, Vec::new(), Vec::new());
            }
            if let Some(text) = &text {
                overlay.text = Some(text.clone()).filter(|text| !text.is_empty());
            }
            if let Some(keywords) = &self.keywords {
                overlay.keywords = given(keywords);
            }
            if let Some(pins) = &self.pin {
                overlay.pins = given(pins);
            }
        };
        amend_all(global, &self.collection, &[self.chunk], &change)
    }
}

/// Makes one change to chunks of the collection in force.
pub(super) fn amend_all(
    global: &Global,
    collection: &CollectionFlags,
    chunks: &[ChunkId],
    change: &dyn Fn(&mut Overlay),
) -> Result<Outcome> {
    let settings = global.settings(&[collection])?;
    let store = app::store(&settings, Access::Write)?;
    let generation = store.open(&settings.collection)?;
    let embedder = app::query_embedder(&settings, generation.spec.model.as_ref())?;
    let window = embedder.as_ref().and_then(|embedder| {
        let model = embedder.model();
        Some(Limit { counter: &*model.counter, max_tokens: model.max_tokens? })
    });
    let now = app::now();
    for id in chunks {
        let change = |overlay: &mut Overlay| {
            change(overlay);
            overlay.changed_at.clone_from(&now);
        };
        let overlay = amend(&*store, &generation, embedder.as_deref(), window, *id, &change)?;
        if global.verbose {
            global.say(&format!("changed {id} of {}", plain(&overlay.doc_id)));
        }
    }
    Ok(Outcome::Success)
}
