//! A run under way: windows of files, and the counts of what became of them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::embed::Vectors;
use super::prepare::Prepared;
use super::{IndexError, IndexOptions, Pipeline, Progress, Prune};
use crate::nature::Nature;
use crate::report::{Failure, IndexReport, Skipped};
use crate::source::{Root, SourceFile};
use crate::store::{Change, DocumentInfo, NewDocument, Outcome, StoreError};

/// Most files of a window.
const WINDOW_FILES: usize = 128;

/// Most bytes of a window, unless one file alone has more.
const WINDOW_BYTES: u64 = 16 << 20;

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
pub(super) struct Run<'a> {
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

impl<'a> Run<'a> {
    pub(super) fn new(
        pipeline: &'a Pipeline,
        options: &'a IndexOptions,
        on_progress: &'a dyn Fn(Progress<'_>),
        stored: HashMap<String, DocumentInfo>,
        report: IndexReport,
    ) -> Self {
        let vectors = Vectors::new(pipeline.embedder.as_deref(), &*pipeline.store, options.dry_run);
        Self { pipeline, options, on_progress, vectors, stored, report, left_out: HashSet::new() }
    }

    /// Indexes `files`, which are all that was found in `roots`.
    pub(super) fn go(mut self, files: Vec<SourceFile>, roots: &[Root]) -> Result<IndexReport, IndexError> {
        let files = self.without_duplicates(files);
        if self.options.prune == Prune::Remove {
            self.refuse_mass_delete(roots, &files)?;
        }
        let mut done = 0;
        for window in windows(&files) {
            if self.is_cancelled() {
                self.report.cancelled = true;
                return Ok(self.finish());
            }
            self.index_window(window)?;
            done += window.len();
            (self.on_progress)(Progress::Read { files: done });
        }
        if self.options.prune != Prune::Keep {
            self.prune(roots, &files)?;
        }
        Ok(self.finish())
    }

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
                Prepared::Ready(document, nature) => {
                    self.report.generated += usize::from(nature == Some(Nature::Generated));
                    self.report.minified += usize::from(nature == Some(Nature::Minified));
                    documents.push(document);
                }
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
