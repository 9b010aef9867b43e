//! The one place where all stages meet.
//!
//! Files go through in windows: a window is read, decoded, cut and analysed on all cores, its unknown
//! texts are embedded, and its documents are stored in one transaction. What is stored is whole
//! documents, so a run that is stopped at any moment has done each document or has not.
//!
//! Vectors are stored before the documents that need them, under the hash of their text. A run that
//! was stopped therefore embeds nothing twice, and neither does an edit that moves a chunk.

mod embed;
mod prepare;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright::Chunker;
use chunkwright_models::Embedder;
use rayon::prelude::*;

use crate::report::{Failure, IndexReport, Skipped};
use crate::source::{self, Root, SourceError, SourceFile, WalkOptions};
use crate::store::{Change, DocumentInfo, Model, NewDocument, Outcome, Store, StoreError};
use embed::Vectors;
use prepare::Prepared;

/// Most files of a window.
const WINDOW_FILES: usize = 128;

/// Most bytes of a window, unless one file alone has more.
const WINDOW_BYTES: u64 = 16 << 20;

/// Brings a collection to the state of the files it is given.
#[derive(Clone)]
pub struct Pipeline {
    store: Arc<dyn Store>,
    collection: String,
    chunker: Chunker,
    preset: String,
    embedder: Option<Arc<dyn Embedder>>,
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
    /// What happens to documents whose files are gone.
    pub prune: Prune,
    /// Count what would be done, and write nothing.
    pub dry_run: bool,
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
        Self { store, collection: collection.into(), chunker, preset: preset.into(), embedder: None }
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
        let stored = self.prepare_collection(options)?;
        let mut run = Run {
            pipeline: self,
            options,
            on_progress,
            vectors: Vectors::new(self.embedder.as_deref(), &*self.store, options.dry_run),
            stored: stored.into_iter().map(|info| (info.doc_id.clone(), info)).collect(),
            report,
            left_out: HashSet::new(),
        };
        let files = run.without_duplicates(walk.files);
        if options.prune == Prune::Remove {
            run.refuse_mass_delete(&walk.roots, &files)?;
        }
        let mut done = 0;
        for window in windows(&files) {
            if run.is_cancelled() {
                run.report.cancelled = true;
                return Ok(run.finish());
            }
            run.index_window(window)?;
            done += window.len();
            on_progress(Progress::Read { files: done });
        }
        if options.prune != Prune::Keep {
            run.prune(&walk.roots, &files)?;
        }
        Ok(run.finish())
    }

    /// Makes sure that the collection exists and takes this model's vectors; lists what it has.
    fn prepare_collection(&self, options: &IndexOptions) -> Result<Vec<DocumentInfo>, StoreError> {
        if !options.dry_run {
            self.store.write(&self.collection, &[])?;
            if let Some(embedder) = &self.embedder {
                let model = embedder.model();
                let model = Model { name: model.name.clone(), dimension: model.dimension };
                self.store.set_model(&self.collection, &model)?;
            }
        }
        match self.store.documents(&self.collection) {
            Err(StoreError::UnknownCollection { .. }) if options.dry_run => Ok(Vec::new()),
            listed => listed,
        }
    }
}

/// Consecutive files that are worked on together.
fn windows(files: &[SourceFile]) -> impl Iterator<Item = &[SourceFile]> {
    let mut rest = files;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |file: &&SourceFile| {
            bytes += file.bytes;
            bytes <= WINDOW_BYTES
        };
        let count = rest.iter().take(WINDOW_FILES).take_while(fits).count().max(1).min(rest.len());
        let (window, after) = rest.split_at(count);
        rest = after;
        (!window.is_empty()).then_some(window)
    })
}

/// A run under way.
struct Run<'a> {
    pipeline: &'a Pipeline,
    options: &'a IndexOptions,
    on_progress: &'a dyn Fn(Progress<'_>),
    vectors: Vectors<'a>,
    /// What the collection had when the run began.
    stored: HashMap<String, DocumentInfo>,
    report: IndexReport,
    /// Ids of files that turned out to be no documents when they were read.
    left_out: HashSet<String>,
}

impl Run<'_> {
    fn is_cancelled(&self) -> bool {
        self.options.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// Two paths given may have files of one relative name; only the first can be a document.
    fn without_duplicates(&mut self, files: Vec<SourceFile>) -> Vec<SourceFile> {
        let mut kept: Vec<SourceFile> = Vec::with_capacity(files.len());
        for file in files {
            match kept.last() {
                Some(first) if first.doc_id == file.doc_id => self.fail(
                    file.doc_id,
                    format!(
                        "it is in `{}` and in `{}`; index these folders into two collections, or the folder above them",
                        first.root, file.root
                    ),
                ),
                _ => kept.push(file),
            }
        }
        kept
    }

    fn fail(&mut self, doc_id: String, message: String) {
        self.report.failed.push(Failure { doc_id, message });
    }

    fn index_window(&mut self, window: &[SourceFile]) -> Result<(), StoreError> {
        let prepared: Vec<Prepared> = window
            .par_iter()
            .map(|file| self.pipeline.prepare(file, self.stored.get(&file.doc_id), self.options))
            .collect();
        let mut documents = Vec::new();
        for (file, prepared) in window.iter().zip(prepared) {
            match prepared {
                Prepared::Unchanged => self.report.unchanged += 1,
                Prepared::Ready(document) => documents.push(document),
                Prepared::Failed(message) => self.fail(file.doc_id.clone(), message),
                Prepared::Skipped(reason) => {
                    if !reason.is_temporary() {
                        self.left_out.insert(file.doc_id.clone());
                    }
                    self.report.skipped.push(Skipped { path: file.doc_id.clone(), reason });
                }
            }
        }
        if documents.is_empty() {
            return Ok(());
        }
        let pending = self.vectors.add(&documents, self.on_progress)?;
        self.report.pending += pending;
        if self.options.dry_run {
            for document in &documents {
                self.count(document, Outcome::Written);
            }
            return Ok(());
        }
        let changes: Vec<Change> = documents.into_iter().map(Change::Replace).collect();
        self.store_changes(&changes)
    }

    fn store_changes(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        let store = &*self.pipeline.store;
        let mut committed = Vec::new();
        match store.write(&self.pipeline.collection, changes) {
            Ok(outcomes) => {
                for (change, outcome) in changes.iter().zip(outcomes) {
                    self.settle(change, outcome, &mut committed);
                }
            }
            // One document is at fault: the others are stored without it.
            Err(StoreError::IdCollision { .. }) => {
                for change in changes {
                    match store.write(&self.pipeline.collection, std::slice::from_ref(change)) {
                        Ok(outcomes) => {
                            for outcome in outcomes {
                                self.settle(change, outcome, &mut committed);
                            }
                        }
                        Err(StoreError::IdCollision { id, doc_id }) => {
                            let error = StoreError::IdCollision { id, doc_id: doc_id.clone() };
                            self.fail(doc_id, error.to_string());
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        if !committed.is_empty() {
            (self.on_progress)(Progress::Committed { doc_ids: &committed });
        }
        Ok(())
    }

    fn settle(&mut self, change: &Change, outcome: Outcome, committed: &mut Vec<String>) {
        let Change::Replace(document) = change else { return };
        self.count(document, outcome);
        if outcome == Outcome::Written {
            committed.push(document.document.info.doc_id.clone());
        }
    }

    fn count(&mut self, document: &NewDocument, outcome: Outcome) {
        match outcome {
            Outcome::Written if document.chunks.is_empty() => self.report.empty += 1,
            Outcome::Written => {
                self.report.indexed += 1;
                self.report.chunks += document.chunks.len();
            }
            Outcome::Unchanged => self.report.unchanged += 1,
            Outcome::Stale => self.fail(
                document.document.info.doc_id.clone(),
                "it was stored by another run meanwhile; run again if that one read an older file".into(),
            ),
        }
    }

    /// Documents known of the paths scanned, and those of them whose files are gone.
    fn vanished(&self, roots: &[Root], files: &[SourceFile]) -> (usize, Vec<String>) {
        let found: HashSet<&str> = files.iter().map(|file| file.doc_id.as_str()).collect();
        let temporary: Vec<&str> = self
            .report
            .skipped
            .iter()
            .filter(|skipped| skipped.reason.is_temporary())
            .map(|skipped| &*skipped.path)
            .collect();
        let in_scope = |info: &&DocumentInfo| {
            roots.iter().filter(|root| root.only.is_none()).any(|root| is_inside(&info.root, &root.folder))
        };
        let mut known = 0;
        let mut vanished = Vec::new();
        for info in self.stored.values().filter(in_scope) {
            known += 1;
            let is_found = found.contains(&*info.doc_id) && !self.left_out.contains(&info.doc_id);
            let unreadable = temporary.iter().any(|path| is_inside(&info.doc_id, path));
            let failed = self.report.failed.iter().any(|failure| failure.doc_id == info.doc_id);
            if !is_found && !unreadable && !failed {
                vanished.push(info.doc_id.clone());
            }
        }
        vanished.sort_unstable();
        (known, vanished)
    }

    fn refuse_mass_delete(&self, roots: &[Root], files: &[SourceFile]) -> Result<(), IndexError> {
        let (known, vanished) = self.vanished(roots, files);
        let vanished = vanished.len();
        if vanished * 2 > known { Err(IndexError::MassDelete { vanished, known }) } else { Ok(()) }
    }

    fn prune(&mut self, roots: &[Root], files: &[SourceFile]) -> Result<(), StoreError> {
        let (_, vanished) = self.vanished(roots, files);
        if !self.options.dry_run && !vanished.is_empty() {
            let remove = |doc_id: &String| Change::Remove { doc_id: doc_id.clone() };
            let changes: Vec<Change> = vanished.iter().map(remove).collect();
            self.pipeline.store.write(&self.pipeline.collection, &changes)?;
            (self.on_progress)(Progress::Committed { doc_ids: &vanished });
        }
        self.report.pruned = vanished;
        Ok(())
    }

    fn finish(mut self) -> IndexReport {
        self.report.embedded = self.vectors.embedded;
        self.report.reused = self.vectors.reused;
        self.report.truncated = self.vectors.truncated;
        self.report.embed_error = self.vectors.error;
        self.report.skipped.sort();
        self.report.failed.sort_by(|a, b| a.doc_id.cmp(&b.doc_id));
        self.report
    }
}

/// Whether a path is another one or lies inside it. The empty path holds everything.
fn is_inside(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder)
        .is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest.starts_with('/'))
}
