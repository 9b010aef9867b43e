//! The indexing pipeline, where all stages meet.
//!
//! A run works on the generation that has the pipeline's strategy, configuration and model. If searches see another
//! one, the run builds its own beside it, from the files found and from the stored files of all other documents, and
//! makes it the current one when it is complete.
//!
//! Files go through in windows: a window is read, decoded, cut and analysed on all cores, its unknown texts are
//! embedded, and its documents are stored in one transaction, or in several where the model is slow. Only whole
//! documents are stored, so a run that is stopped at any moment has stored each document completely or not at all.
//!
//! Vectors are stored before the documents that need them, under the hash of their text. So neither resuming a stopped
//! run nor an edit that moves a chunk embeds a text twice.

mod embed;
mod fill;
mod folders;
mod forecast;
mod input;
mod notes;
mod pace;
mod prepare;
mod put;
mod remove;
mod renames;
mod run;
mod target;

use std::collections::HashSet;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chunkwright::{Chunked, Chunker, Document, Record};
use chunkwright_models::Embedder;
use rayon::ThreadPool;
use serde::{Deserialize, Serialize};

use crate::report::IndexReport;
use crate::settle::Tools;
use chunkwright_source::walk::folder_of;
use chunkwright_source::{NewSource, SourceError, SourceFile, WalkOptions, read_file, walk};
use chunkwright_store::meta::Meta;
use chunkwright_store::threads::on_pool;
use chunkwright_store::{DocumentInfo, Overlay, Overlays, Store, StoreError};
pub use fill::{FillReport, Rank};
pub(crate) use folders::is_missing;
pub use folders::{Folder, FolderError, FolderOptions, file_of, folders};
pub use notes::NoteOptions;
pub use pace::Clock;
pub use put::put_cut;
pub use remove::{remove_documents, remove_folder};
use run::Run;
use target::{Generations, Known};

/// Updates a collection to the state of given files or documents.
#[derive(Clone)]
pub struct Pipeline {
    store: Arc<dyn Store>,
    collection: String,
    chunker: Chunker,
    preset: String,
    embedder: Option<Arc<dyn Embedder>>,
    /// Whether summaries of source code are stored.
    summaries: bool,
    /// Whether keys and passwords in documents are replaced before any other processing.
    redacts: bool,
    /// Notes that a chat model writes.
    notes: Option<NoteOptions>,
    revise: Option<Arc<Revise>>,
}

/// Changes the records of a document's chunks before their texts are processed.
pub type Revise = dyn Fn(&Chunked<'_>, &mut [Record]) + Send + Sync;

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
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Clone, Debug, Default)]
pub struct IndexOptions {
    /// The files that are indexed.
    pub walk: WalkOptions,
    /// Time of the run, ISO 8601; stored in records as `indexed_at`.
    pub indexed_at: String,
    /// Time of the run, in nanoseconds since 1970. A file whose length and modification time are unchanged is not read,
    /// unless it had been modified less than two seconds before it was last read: some file systems have no finer
    /// times. 0: every file is read.
    pub started: i64,
    /// Re-read every file, even if its size and modification time are unchanged.
    pub rehash: bool,
    /// Price of embedding a million tokens, in any currency.
    pub price: Option<f64>,
    /// How the paths map to folders of the collection.
    pub folders: FolderOptions,
    /// How documents are handled whose files are gone.
    pub prune: Prune,
    /// When texts without a vector are embedded.
    pub embed: Embed,
    /// Number of generations to keep when the run makes its own the current one, including that one; `None` keeps all.
    /// Generations that were never completed are not counted, and stay.
    pub keep_generations: Option<NonZeroUsize>,
    /// Count what would be done, without writing anything.
    pub dry_run: bool,
    /// Accept documents from memory even if their names or contents suggest credentials.
    pub force: bool,
    /// Metadata of documents.
    pub meta: Meta,
    /// Leave out generated and minified files (see [`chunkwright_source::generated`]).
    pub skip_generated: bool,
    /// Measures the run, and lets documents be stored after some seconds of embedding; without it, a window of
    /// documents is stored at once, however long its texts take.
    pub clock: Option<Clock>,
    /// Set to `true` to stop the run; committed documents stay.
    pub cancel: Option<Arc<AtomicBool>>,
    /// The threads that read, cut and analyse; `None` means rayon's global pool. The caller's thread writes to the
    /// store.
    pub threads: Option<Arc<ThreadPool>>,
}

impl IndexOptions {
    /// Runs `work`, and its parallel parts, on the threads of the run.
    fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.threads {
            Some(threads) => on_pool(threads, work),
            None => work(),
        }
    }
}

/// What happens to documents of the paths that were scanned for which the run finds no file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Prune {
    /// Those whose files no longer exist are removed, but not more than half of the documents of a path: those stay, and
    /// the run goes on. Documents that were renamed do not count. A file that exists and that this run leaves out keeps
    /// its document, so that a run over some kinds of files costs the others nothing.
    #[default]
    Gone,
    /// They stay.
    Keep,
    /// They are removed, also those of files that this run leaves out, but not more than half of the documents of a path.
    Remove,
    /// As `Remove`, and paths that are missing are passed over where others are there. For runs that follow folders.
    Follow,
    /// They are removed however many they are.
    Force,
}

/// When a run embeds the texts that have no vector yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Embed {
    /// Before their documents are stored.
    #[default]
    Now,
    /// Later, by [`Pipeline::fill`]: until then, words alone find their chunks.
    Later,
    /// As `Later`, and searches keep the generation that they see until every chunk of the new one has a vector.
    Behind,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// Pages of an address were fetched: how many so far, and of how many.
    Fetched(usize, usize),
    /// The paths were walked; `files` are to be read.
    Found {
        /// Number of files.
        files: usize,
        /// Their bytes.
        bytes: u64,
    },
    /// Files were read and cut.
    Read {
        /// Number of files done so far in this run: stored, or found unchanged.
        files: usize,
        /// Their bytes.
        bytes: u64,
    },
    /// Texts were embedded.
    Embedded {
        /// Number of texts embedded so far in this run.
        texts: usize,
        /// Number of texts without a vector in the documents cut so far, those embedded among them.
        found: usize,
        /// Tokens of the texts embedded so far.
        tokens: usize,
    },
    /// Documents were stored or removed, durably.
    Committed {
        /// Their ids.
        doc_ids: &'a [String],
    },
}

/// Errors that prevent or end a run. Documents committed earlier stay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// A path that cannot be walked.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Paths that cannot be folders of the collection.
    #[error(transparent)]
    Folders(#[from] FolderError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
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
            redacts: false,
            notes: None,
            revise: None,
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

    /// Replaces keys and passwords in the text of documents before it is hashed, cut and stored.
    pub fn with_redaction(mut self, redacts: bool) -> Self {
        self.redacts = redacts;
        self
    }

    /// Stores summaries of source code beside its chunks.
    pub fn with_summaries(mut self, summaries: bool) -> Self {
        self.summaries = summaries;
        self
    }

    /// Lets `revise` change the records of chunks, for instance to hide what would give answers away in an evaluation.
    /// Ids and boundaries do not depend on it.
    pub fn with_revision(mut self, revise: Arc<Revise>) -> Self {
        self.revise = Some(revise);
        self
    }

    /// Lets a chat model write notes.
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
    /// Paths that cannot be walked, a failing store, a rejected removal. A file that cannot be indexed is not an error:
    /// the report lists it.
    pub fn index(
        &self,
        paths: &[PathBuf],
        options: &IndexOptions,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<IndexReport, IndexError> {
        let is_missing = |path: &&PathBuf| options.prune == Prune::Follow && !folder_of(path).exists();
        let (missing, there): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(is_missing);
        let there: Vec<PathBuf> = there.into_iter().cloned().collect();
        // If all are missing, the walk reports it.
        let paths = if there.is_empty() { paths } else { &there };
        let mut walk = options.on_threads(|| walk(paths, &options.walk))?;
        let mut skipped = std::mem::take(&mut walk.skipped);
        let known = self.known()?;
        let has_text = |info: &DocumentInfo, file: &SourceFile| self.has_text(info, file, &known, options);
        let visible: Vec<&DocumentInfo> = known.visible().values().collect();
        let mut placed = folders::place(walk, &skipped, &visible, &has_text, options)?;
        let clashes = std::mem::take(&mut placed.clashes);
        skipped.append(&mut placed.left_out);
        let missing = missing.into_iter().map(|path| placed.missing(path, &visible));
        let away = missing.chain(placed.empty()).collect();
        let report = IndexReport {
            seen: placed.files.len() + skipped.len() + clashes.len(),
            skipped,
            failed: clashes,
            away,
            moved_folders: placed.moved.clone(),
            ..IndexReport::default()
        };
        let bytes = placed.files.iter().map(|file| file.bytes).sum();
        on_progress(Progress::Found { files: placed.files.len(), bytes });
        drop(visible);
        let generations = self.generations(options)?;
        let overlays = self.overlays(&generations)?;
        let report =
            Run::new(self, options, on_progress, (generations, known, &overlays), placed, report).go()?;
        if !options.dry_run && self.follow(&overlays, &report)? {
            self.put([], options, on_progress)?;
        }
        Ok(report)
    }

    /// Moves the manual boundaries of renamed documents to their new ids; returns whether there were any.
    fn follow(&self, overlays: &Overlays, report: &IndexReport) -> Result<bool, StoreError> {
        let mut is_any = false;
        for renamed in &report.renamed {
            for overlay in overlays.boundaries_of(&renamed.from) {
                let Some(set) = overlay.boundary.clone() else { continue };
                let now = Overlay::of_boundary(&renamed.to, set, &overlay.changed_at);
                self.store.put_overlay(&self.collection, &now)?;
                if report.pruned.contains(&renamed.from) {
                    let taken_back = Overlay { chunk_id: overlay.chunk_id.clone(), ..Overlay::default() };
                    self.store.put_overlay(&self.collection, &taken_back)?;
                }
                is_any = true;
            }
        }
        Ok(is_any)
    }

    /// Indexes documents from memory, as [`index`](Self::index) does files: each is replaced whole, an unchanged one is
    /// neither embedded nor written, and other documents stay as they are.
    ///
    /// They are taken from the iterator some windows at a time, so that there may be more of them than fit in memory.
    /// They belong to no folder: later runs over folders neither replace nor remove them, and a document whose id a
    /// folder's document has is rejected. [`IndexOptions::folders`], [`rehash`](IndexOptions::rehash) and
    /// [`prune`](IndexOptions::prune) have no effect here. `on_progress` is called from this thread.
    ///
    /// # Errors
    ///
    /// A failing store. A document that cannot be indexed is not an error: the report lists it.
    pub fn put(
        &self,
        documents: impl IntoIterator<Item = NewSource>,
        options: &IndexOptions,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<IndexReport, IndexError> {
        let (generations, known, overlays) = self.state(options)?;
        let (placed, report) = (folders::Placed::default(), IndexReport::default());
        Run::new(self, options, on_progress, (generations, known, &overlays), placed, report)
            .put(&mut documents.into_iter())
    }

    /// Indexes parsed documents, as [`put`](Self::put) does documents from memory.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put).
    pub fn put_parsed(
        &self,
        documents: &[Document],
        options: &IndexOptions,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<IndexReport, IndexError> {
        let (generations, known, overlays) = self.state(options)?;
        let (placed, report) = (folders::Placed::default(), IndexReport::default());
        Run::new(self, options, on_progress, (generations, known, &overlays), placed, report)
            .put_parsed(documents)
    }

    /// Returns whether a stored document and a file have the same text, apart from blanks.
    fn has_text(
        &self,
        info: &DocumentInfo,
        file: &SourceFile,
        known: &Known,
        options: &IndexOptions,
    ) -> bool {
        let Some(Ok(Some(stored))) =
            known.current.as_ref().map(|current| self.store.document(current, &info.doc_id))
        else {
            return false;
        };
        read_file(file, &options.walk).is_ok_and(|(bytes, _)| {
            stored.source.split_whitespace().eq(String::from_utf8_lossy(&bytes).split_whitespace())
        })
    }

    /// The initial state of a run over documents outside folders.
    fn state(&self, options: &IndexOptions) -> Result<(Generations, Known, Overlays), StoreError> {
        let (known, generations) = (self.known()?, self.generations(options)?);
        let overlays = self.overlays(&generations)?;
        Ok((generations, known, overlays))
    }

    fn overlays(&self, generations: &Generations) -> Result<Overlays, StoreError> {
        match &generations.current {
            Some(current) => self.store.overlays(&current.collection),
            None => Ok(Overlays::default()),
        }
    }

    /// The tools that count and embed texts given by hand.
    fn tools(&self) -> Tools<'_> {
        Tools { chunker: Some(&self.chunker), embedder: self.embedder.as_deref() }
    }

    /// Completes the generation of this pipeline, in which the documents `written` are up to date: cuts all other
    /// visible documents again, from their stored files, and makes the generation the current one.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn carry_over(
        &self,
        written: &HashSet<String>,
        options: &IndexOptions,
    ) -> Result<IndexReport, IndexError> {
        let (generations, known, overlays) = self.state(options)?;
        let (placed, report) = (folders::Placed::default(), IndexReport::default());
        Ok(Run::new(self, options, &|_| {}, (generations, known, &overlays), placed, report)
            .carry_over(written)?)
    }
}
