//! A run in progress: reads, embeds and stores in order, and reports.

mod gone;
mod switch;
mod window;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chunkwright::Document;
use chunkwright_source::memory::printable;
use chunkwright_source::{NewSource, NewSourceError, SkipReason, Skipped, SourceFile};

use super::embed::Vectors;
use super::fill::FillReport;
use super::folders::Placed;
use super::forecast::Forecast;
use super::input::Input;
use super::notes::Notes;
use super::pace::{Meter, Pace, Stage};
use super::put::{SourceRefusal, next_sources};
use super::renames::Renames;
use super::{Generations, IndexError, IndexOptions, Known, Pipeline, Progress};
use crate::report::{Failure, IndexReport, TokensByKind};
use chunkwright_store::meta::KnownMeta;
use chunkwright_store::{DocumentInfo, Overlays, StoreError};

/// A run in progress.
pub(super) struct Run<'a> {
    pipeline: &'a Pipeline,
    options: &'a IndexOptions,
    on_progress: &'a dyn Fn(Progress<'_>),
    vectors: Vectors<'a>,
    notes: Notes<'a>,
    generations: Arc<Generations>,
    overlays: &'a Overlays,
    /// The latest overlays, and their revision: chunks may be changed by hand during a run.
    fresh: Option<(u64, Overlays)>,
    /// Forecast of overlay states, in a dry run of a collection that has overlays.
    forecast: Option<Forecast<'a>>,
    /// The generation's documents when the run began.
    stored: Arc<HashMap<String, DocumentInfo>>,
    /// The documents that searches saw when the run began, if they are of another generation.
    seen: HashMap<String, DocumentInfo>,
    placed: Placed,
    /// Ids of files that belong to documents of other folders.
    clashing: HashSet<String>,
    report: IndexReport,
    /// Documents that are done, and their bytes.
    done: (usize, u64),
    /// Ids of files that turned out not to be documents when they were read.
    left_out: HashSet<String>,
    tokens: TokensByKind,
    renames: Renames,
    meter: Arc<Meter>,
    meta: Arc<KnownMeta>,
    pace: Pace,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        pipeline: &'a Pipeline,
        options: &'a IndexOptions,
        on_progress: &'a dyn Fn(Progress<'_>),
        (generations, known, overlays): (Generations, Known, &'a Overlays),
        placed: Placed,
        report: IndexReport,
    ) -> Self {
        let store = &*pipeline.store;
        let Known { stored, seen, .. } = known;
        let clashing = report.failed.iter().map(|failure| failure.doc_id.clone()).collect();
        let vectors = Vectors::new(pipeline.embedder.as_deref(), store.cache(), options);
        let notes = Notes::new(pipeline.notes.as_ref(), store.cache(), options);
        let left_out = HashSet::new();
        let meta = KnownMeta::new(&options.meta, stored.values().chain(seen.values()));
        Self {
            pipeline,
            options,
            on_progress,
            vectors,
            notes,
            generations: Arc::new(generations),
            overlays,
            fresh: None,
            forecast: None,
            stored: Arc::new(stored),
            seen,
            placed,
            clashing,
            report,
            done: (0, 0),
            left_out,
            tokens: TokensByKind::default(),
            renames: Renames::default(),
            meter: Arc::new(Meter::new(options.clock.clone())),
            meta: Arc::new(meta),
            pace: Pace::default(),
        }
    }

    /// Indexes the files that were found.
    pub(super) fn go(mut self) -> Result<IndexReport, IndexError> {
        let files = std::mem::take(&mut self.placed.files);
        let files = self.without_duplicates(files);
        if self.options.dry_run && !self.overlays.is_empty() {
            let found = files.iter().map(|file| file.doc_id.as_str()).collect();
            self.forecast = Some(self.forecast(&found));
        }
        let moved = if self.is_building() { Vec::new() } else { self.moved_without(&files) };
        let found = files.iter().map(|file| file.doc_id.as_str());
        let found: HashSet<&str> = found.chain(moved.iter().map(|info| info.doc_id.as_str())).collect();
        let divided = self.cut_otherwise(|doc_id| !found.contains(doc_id));
        let stored = moved.iter().chain(&divided).map(Input::Stored);
        let inputs: Vec<Input<'_>> = files.iter().map(Input::File).chain(stored).collect();
        self.index_all(&inputs)?;
        if !self.report.cancelled {
            self.note_renames()?;
            self.remove_left_out()?;
            self.prune()?;
        }
        if !self.report.cancelled && self.is_building() {
            let found: HashSet<&str> = files.iter().map(|file| file.doc_id.as_str()).collect();
            self.complete(&found)?;
        }
        self.complete_first()?;
        self.settle()?;
        Ok(self.finish()?)
    }

    /// Indexes documents from memory, some windows of them at a time.
    pub(super) fn put(
        mut self,
        documents: &mut dyn Iterator<Item = NewSource>,
    ) -> Result<IndexReport, IndexError> {
        let mut found: HashSet<String> = HashSet::new();
        loop {
            // A dry run must know all ids first.
            let sources = if self.options.dry_run { documents.collect() } else { next_sources(documents) };
            if sources.is_empty() || self.report.cancelled {
                break;
            }
            // Rejected documents count as done.
            self.done.0 = self.report.seen;
            self.report.seen += sources.len();
            let bytes: u64 = sources.iter().map(|source| source.bytes.len() as u64).sum();
            (self.on_progress)(Progress::Found { files: self.report.seen, bytes: self.done.1 + bytes });
            let mut accepts = |source: &NewSource| {
                let is_left_out = !self.options.force && source.is_secret();
                if is_left_out {
                    let path = printable(&source.doc_id);
                    self.report.skipped.push(Skipped { path, reason: SkipReason::Secret });
                }
                !is_left_out && self.accepts(&source.doc_id, source.check(), source.bytes.len(), &mut found)
            };
            let sources: Vec<NewSource> = sources.into_iter().filter(|source| accepts(source)).collect();
            if self.options.dry_run && !self.overlays.is_empty() {
                self.forecast = Some(self.forecast(&found.iter().map(String::as_str).collect()));
            }
            let inputs: Vec<Input<'_>> = sources.iter().map(Input::Memory).collect();
            self.index_all(&inputs)?;
        }
        let divided = self.cut_otherwise(|doc_id| !found.contains(doc_id));
        self.index_all(&divided.iter().map(Input::Stored).collect::<Vec<_>>())?;
        if !self.report.cancelled && self.is_building() {
            self.complete(&found.iter().map(String::as_str).collect())?;
        }
        self.complete_first()?;
        self.settle()?;
        Ok(self.finish()?)
    }

    /// Embeds the texts of stored documents, and stores them again.
    pub(super) fn fill(mut self, pending: &[DocumentInfo]) -> Result<FillReport, StoreError> {
        self.vectors.stop = self.options.cancel.as_deref();
        self.index_all(&pending.iter().map(Input::Stored).collect::<Vec<_>>())?;
        Ok(FillReport {
            waiting: 0,
            embedded: self.vectors.embedded,
            nanos: self.meter.spent(Stage::Embed),
            tried: pending.iter().map(|info| info.doc_id.clone()).collect(),
            cancelled: self.is_cancelled(),
            error: self.vectors.error,
        })
    }

    /// Indexes parsed documents.
    pub(super) fn put_parsed(mut self, documents: &[Document]) -> Result<IndexReport, IndexError> {
        let mut found: HashSet<String> = HashSet::new();
        self.report.seen = documents.len();
        let bytes = documents.iter().map(|document| document.source().len() as u64).sum();
        (self.on_progress)(Progress::Found { files: documents.len(), bytes });
        let mut inputs = Vec::with_capacity(documents.len());
        for document in documents {
            if self.accepts(document.id(), Ok(()), document.source().len(), &mut found) {
                inputs.push(Input::Parsed(document));
            }
        }
        self.index_all(&inputs)?;
        if !self.report.cancelled && self.is_building() {
            self.complete(&found.iter().map(String::as_str).collect())?;
        }
        self.complete_first()?;
        self.settle()?;
        Ok(self.finish()?)
    }

    /// Returns whether a document of `bytes` bytes may be put, and records either its id or the reason why not.
    fn accepts(
        &mut self,
        doc_id: &str,
        checked: Result<(), NewSourceError>,
        bytes: usize,
        found: &mut HashSet<String>,
    ) -> bool {
        let most = self.options.walk.limit();
        let known = self.visible().get(doc_id).or_else(|| self.stored.get(doc_id));
        let refused = match checked {
            Err(problem) => Some(problem.into()),
            Ok(()) => match known {
                Some(info) if !info.root.is_empty() => {
                    Some(SourceRefusal::OfFolder { root: info.root.clone() })
                }
                _ if found.contains(doc_id) => Some(SourceRefusal::Twice),
                _ => None,
            },
        };
        if let Some(refusal) = refused {
            let doc_id = printable(doc_id);
            self.clashing.insert(doc_id.clone());
            self.fail(doc_id, refusal.to_string());
            return false;
        }
        found.insert(doc_id.to_owned());
        if bytes as u64 > most {
            self.report.skipped.push(Skipped { path: doc_id.to_owned(), reason: SkipReason::TooLarge });
            return false;
        }
        true
    }

    /// Completes the generation; the documents `written` are up to date already.
    pub(super) fn carry_over(mut self, written: &HashSet<String>) -> Result<IndexReport, StoreError> {
        if self.is_building() {
            let written: HashSet<&str> = written.iter().map(String::as_str).collect();
            self.complete(&written)?;
        }
        self.settle()?;
        self.finish()
    }

    /// The documents of moved folders for which no file was found, with their folder's new location.
    fn moved_without(&self, files: &[SourceFile]) -> Vec<DocumentInfo> {
        let found: HashSet<&str> = files.iter().map(|file| file.doc_id.as_str()).collect();
        let others = self.visible().values().filter(|info| !found.contains(info.doc_id.as_str()));
        others.filter_map(|info| self.placed.moved(info)).collect()
    }

    /// The wanted documents whose manual boundaries have changed since they were cut. Empty while a generation is
    /// built, since all of its documents are cut anyway.
    fn cut_otherwise(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<DocumentInfo> {
        if self.is_building() || self.report.cancelled {
            return Vec::new();
        }
        let is_one = |info: &&DocumentInfo| is_wanted(&info.doc_id) && !self.overlays.is_cut(info);
        let mut divided: Vec<DocumentInfo> = self.stored.values().filter(is_one).cloned().collect();
        divided.sort_unstable_by(|a, b| a.doc_id.cmp(&b.doc_id));
        divided
    }

    /// Returns whether the generation differs from the one that searches see.
    fn is_building(&self) -> bool {
        self.generations.current.is_some() && self.generations.target != self.generations.current
    }

    /// Two given paths may have files with the same relative name; only the first becomes a document.
    fn without_duplicates(&mut self, files: Vec<SourceFile>) -> Vec<SourceFile> {
        let mut kept: Vec<SourceFile> = Vec::with_capacity(files.len());
        for file in files {
            match (kept.last(), file.left_out) {
                (Some(first), Some(reason)) if first.doc_id == file.doc_id => {
                    self.report.skipped.push(Skipped { path: file.doc_id, reason });
                }
                (Some(first), None) if first.doc_id == file.doc_id => self.fail(
                    file.doc_id,
                    format!(
                        "it is in `{}` and in `{}`; index these folders into two collections, or the folder above them, or give ids relative to that with `--root`",
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

    /// Returns whether the caller wants the run to stop, and records that in the report.
    fn is_cancelled(&mut self) -> bool {
        let is_cancelled = self.options.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        self.report.cancelled |= is_cancelled;
        is_cancelled
    }

    /// The documents that searches see, by id.
    fn visible(&self) -> &HashMap<String, DocumentInfo> {
        if self.is_building() { &self.seen } else { &self.stored }
    }

    fn finish(mut self) -> Result<IndexReport, StoreError> {
        self.report.generation = self.generations.target.as_ref().map(|target| target.number);
        self.report.embedded = self.vectors.embedded;
        self.report.tokens_to_embed = self.vectors.tokens;
        self.report.cost = self.options.price.map(|price| price * self.vectors.tokens as f64 / 1e6);
        self.report.notes = self.notes.written;
        self.report.notes_reused = self.notes.reused;
        self.report.notes_pending = self.notes.pending;
        self.report.notes_tokens = self.notes.usage.input_tokens + self.notes.usage.output_tokens;
        self.report.notes_cost = self.notes.usage.cost;
        self.report.notes_error = self.notes.error;
        self.report.reused = self.vectors.reused;
        self.report.truncated = self.vectors.truncated;
        self.report.embed_error = self.vectors.error;
        self.report.timings = self.meter.timings();
        self.report.dominant = self.tokens.dominant();
        self.report.left_out.sort_unstable();
        self.report.skipped.sort();
        self.report.failed.sort_by(|a, b| a.doc_id.cmp(&b.doc_id));
        if !self.options.dry_run && self.report.changed_anything() {
            let run = self.report.past(&self.options.indexed_at);
            self.pipeline.store.add_run(&self.pipeline.collection, &run)?;
        }
        Ok(self.report)
    }
}
