//! `chunkwright amend`

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use chunkwright::{ChunkId, Chunker};
use chunkwright_index::{Access, Generation, Overlay, Review, Tools, amend_all};
use chunkwright_models::Embedder;

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::settings::Settings;
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
        let changes_nothing = text.is_none() && self.keywords.is_none() && self.pin.is_none();
        if changes_nothing && !self.accept && !self.reset {
            bail!("nothing to change; give `--text`, `--text-file`, `--keywords`, `--pin`, `--accept` or `--reset`");
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
        let review = if self.accept { Review::Accept } else { Review::Leave };
        amend_chunks(global, &self.collection, &[self.chunk], review, &change)
    }
}

/// Makes one change to chunks of the collection in force.
pub(super) fn amend_chunks(
    global: &Global,
    collection: &CollectionFlags,
    chunks: &[ChunkId],
    review: Review,
    change: &dyn Fn(&mut Overlay),
) -> Result<Outcome> {
    let settings = global.settings(&[collection])?;
    let store = app::store(&settings, Access::Write)?;
    let generation = store.open(&settings.collection)?;
    let embedder = app::query_embedder(&settings, generation.spec.model.as_ref())?;
    let chunker = chunker_of(&settings, &generation, embedder.as_deref())?;
    let now = app::now();
    let change = |overlay: &mut Overlay| {
        change(overlay);
        overlay.changed_at.clone_from(&now);
    };
    let tools = Tools { chunker: Some(&chunker), embedder: embedder.as_deref() };
    for overlay in amend_all(&*store, &generation, tools, chunks, review, &change)? {
        if global.verbose {
            global.say(&format!("changed {} of {}", overlay.chunk_id, plain(&overlay.doc_id)));
        }
    }
    Ok(Outcome::Success)
}

/// The chunker that cut a generation, whose limit a text must keep: that of the settings in force, or of a preset.
/// Where none of them did, that of the settings, which counts.
fn chunker_of(
    settings: &Settings,
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
) -> Result<Chunker> {
    let window = |chunker: Chunker| match embedder.map(Embedder::model) {
        Some(model) => match model.max_tokens {
            Some(limit) => chunker.with_window(model.counter.clone(), limit),
            None => chunker,
        },
        None => chunker,
    };
    let in_force = window(app::chunker(settings)?);
    let is_it = |chunker: &Chunker| {
        Some(chunker.config_hash().as_str()) == generation.spec.config_hash.split('+').next()
    };
    if is_it(&in_force) {
        return Ok(in_force);
    }
    for preset in chunkwright::preset::PRESETS {
        let chunker = window(Chunker::new((preset.config)(), app::counter(settings)?)?);
        if is_it(&chunker) {
            return Ok(chunker);
        }
    }
    Ok(in_force)
}
