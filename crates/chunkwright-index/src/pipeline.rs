//! The one place where all stages meet.
//!
//! A run works on one generation: the one whose strategy, configuration and model are those of the
//! pipeline. If that is not the one that searches see, it is built beside it, of the files found and of
//! all other documents, whose files the store has; once it is whole, it is made the current one.
//!
//! Files go through in windows: a window is read, decoded, cut and analysed on all cores, its unknown
//! texts are embedded, and its documents are stored in one transaction. What is stored is whole
//! documents, so a run that is stopped at any moment has done each document or has not.
//!
//! Vectors are stored before the documents that need them, under the hash of their text. A run that
//! was stopped therefore embeds nothing twice, and neither does an edit that moves a chunk.

mod embed;
mod input;
mod notes;
mod prepare;
mod run;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chunkwright::Chunker;
use chunkwright_models::Embedder;

use crate::report::IndexReport;
use crate::source::{self, SourceError, WalkOptions};
use crate::store::filter::matches_pattern;
use crate::store::{Change, DocumentInfo, Generation, GenerationSpec, Model, Store, StoreError};
pub use notes::NoteOptions;
use run::Run;

/// Brings a collection to the state of the files it is given.
#[derive(Clone)]
pub struct Pipeline {
    store: Arc<dyn Store>,
    collection: String,
    chunker: Chunker,
    preset: String,
    embedder: Option<Arc<dyn Embedder>>,
    /// Whether summaries of source code are stored.
    summaries: bool,
    /// What a chat model writes.
    notes: Option<NoteOptions>,
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.embedder.as_ref().map(|embedder| embedder.model());
        f.debug_struct("Pipeline")
            .field("collection", &self.collection)
            .field("chunker", &self.chunker)
            .field("preset", &self.preset)
            .field("model", &model)
            .finish_non_exhaustive()
    }
}

/// How to index.
#[derive(Clone, Debug, Default)]
pub struct IndexOptions {
    /// What files are taken.
    pub walk: WalkOptions,
    /// When, ISO 8601: what records say as `indexed_at`.
    pub indexed_at: String,
    /// When, in nanoseconds since 1970. A file that is as long and was modified when it was before is taken
    /// as unchanged unread, unless it had been modified less than two seconds before it was read: some
    /// file systems tell times no better. 0: every file is read.
    pub started: i64,
    /// Read every file, whatever its time says.
    pub rehash: bool,
    /// What a million tokens cost to embed, in the money of the user's choice.
    pub price: Option<f64>,
    /// What happens to documents whose files are gone.
    pub prune: Prune,
    /// Count what would be done, and write nothing.
    pub dry_run: bool,
    /// Leave out generated and minified files (see [`nature`](crate::nature())).
    pub skip_generated: bool,
    /// Set to true by whoever wants the run to stop; what is committed stays.
    pub cancel: Option<Arc<AtomicBool>>,
}

/// What happens to documents whose files are gone from the paths that were scanned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    /// They stay.
    #[default]
    Keep,
    /// They are removed, unless that is more than half of the documents of the paths scanned: then
    /// the run is refused, because a folder that was not mounted looks just like that.
    Remove,
    /// They are removed however many they are.
    Force,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// The paths were walked; `files` are to be read.
    Found {
        /// Number of files.
        files: usize,
    },
    /// Files were read and cut.
    Read {
        /// Number of files done so far in this run.
        files: usize,
    },
    /// Texts were embedded.
    Embedded {
        /// Number of texts embedded so far in this run.
        texts: usize,
    },
    /// Documents were stored or removed, durably.
    Committed {
        /// Their ids.
        doc_ids: &'a [String],
    },
}

/// Why a run could not start or go on. What was committed before stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// A path that cannot be walked.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Too many documents would be removed.
    #[error(
        "{vanished} of {known} documents are gone from the paths scanned; if that is right, force their removal"
    )]
    MassDelete {
        /// Documents whose files are gone.
        vanished: usize,
        /// Documents known of the paths scanned.
        known: usize,
    },
}

impl Pipeline {
    /// A pipeline without vectors: `chunker` cuts, `preset` is the name of its configuration.
    pub fn new(
        store: Arc<dyn Store>,
        collection: impl Into<String>,
        chunker: Chunker,
        preset: impl Into<String>,
    ) -> Self {
        Self {
            store,
            collection: collection.into(),
            chunker,
            preset: preset.into(),
            embedder: None,
            summaries: false,
            notes: None,
        }
    }

    /// Adds vectors by `embedder`; its window becomes a second limit of every chunk.
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        let model = embedder.model();
        if let Some(limit) = model.max_tokens {
            self.chunker = self.chunker.with_window(Arc::clone(&model.counter), limit);
        }
        self.embedder = Some(embedder);
        self
    }

    /// Stores summaries of source code beside its chunks.
    pub fn with_summaries(mut self, summaries: bool) -> Self {
        self.summaries = summaries;
        self
    }

    /// Has a chat model write notes.
    pub fn with_notes(mut self, notes: NoteOptions) -> Self {
        self.notes = Some(notes);
        self
    }

    /// Indexes `paths`, files or folders.
    ///
    /// `on_progress` is called from this thread.
    ///
    /// # Errors
    ///
    /// Paths that cannot be walked, a store that fails, a removal that was refused. A file that
    /// cannot be indexed is no error: the report lists it.
    pub fn index(
        &self,
        paths: &[PathBuf],
        options: &IndexOptions,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<IndexReport, IndexError> {
        let walk = source::walk(paths, &options.walk)?;
        let seen = walk.files.len() + walk.skipped.len();
        let report = IndexReport { seen, skipped: walk.skipped, ..IndexReport::default() };
        on_progress(Progress::Found { files: walk.files.len() });
        let generations = self.generations(options)?;
        Run::new(self, options, on_progress, generations, report)?.go(walk.files, &walk.roots)
    }

    /// What all chunks that this pipeline makes have in common.
    pub fn spec(&self) -> GenerationSpec {
        let model = self.embedder.as_ref().map(|embedder| embedder.model());
        let chunks = self.chunker.config_hash();
        let summaries = if self.summaries { "+summaries" } else { "" };
        // Other notes are other texts.
        let notes = self.notes.as_ref().map_or(String::new(), |notes| {
            let kinds = [("contexts", notes.contexts), ("summary", notes.summaries)];
            let kinds = kinds.into_iter().filter(|(_, is_on)| *is_on);
            kinds.map(|(kind, _)| format!("+{kind}:{}", notes.writer.name())).collect()
        });
        GenerationSpec {
            strategy_version: self.chunker.strategy_version(),
            config_hash: [chunks, summaries.into(), notes].concat(),
            model: model.map(Model::from),
        }
    }

    /// The generation to bring up to date and the one that searches see. A dry run makes none.
    fn generations(&self, options: &IndexOptions) -> Result<Generations, StoreError> {
        let spec = self.spec();
        let target = if options.dry_run {
            self.store.find(&self.collection, &spec)?
        } else {
            Some(self.store.begin(&self.collection, &spec)?)
        };
        match self.store.open(&self.collection) {
            Ok(current) => Ok(Generations { target, current: Some(current) }),
            Err(StoreError::UnknownCollection { .. }) => Ok(Generations { target, current: None }),
            Err(error) => Err(error),
        }
    }
}

/// The generations of a run.
struct Generations {
    /// The one to bring up to date; none in a dry run that would begin it.
    target: Option<Generation>,
    /// The one that searches see; none before the first.
    current: Option<Generation>,
}

/// Removes the documents of a generation whose id matches `pattern`, in which `*` stands for any text;
/// answers which. A dry run removes none.
///
/// # Errors
///
/// A generation that is gone, a store that fails.
pub fn remove_documents(
    store: &dyn Store,
    generation: &Generation,
    pattern: &str,
    dry_run: bool,
) -> Result<Vec<DocumentInfo>, StoreError> {
    let mut documents = store.documents(generation)?;
    documents.retain(|info| matches_pattern(pattern, &info.doc_id));
    if !dry_run && !documents.is_empty() {
        let remove = |info: &DocumentInfo| Change::Remove { doc_id: info.doc_id.clone() };
        store.write(generation, &documents.iter().map(remove).collect::<Vec<_>>())?;
    }
    Ok(documents)
}
