//! A run under way: what is read, embedded and stored when, and the counts of what became of it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread;

use chunkwright::diff::Diff;
use chunkwright::{Document, Record};
use chunkwright_source::memory::printable;
use chunkwright_source::{Generated, NewSource, NewSourceError, SkipReason, Skipped, SourceFile};
use rayon::prelude::*;

use super::embed::Vectors;
use super::folders::Placed;
use super::forecast::Forecast;
use super::input::{Input, windows};
use super::notes::Notes;
use super::pace::{Meter, Pace, Stage};
use super::prepare::{Context, Prepared};
use super::put::{SourceRefusal, next_sources};
use super::{Generations, IndexError, IndexOptions, Known, Pipeline, Progress, Prune};
use crate::meta::KnownMeta;
use crate::report::{Failure, IndexReport, Nuls, Renamed, TokensByKind};
use crate::settle::{settle, settle_all};
use crate::store::{Change, DocumentInfo, NewDocument, Outcome, Overlays, StoreError};

/// Windows that are cut and wait to be stored, beside the one that is stored and the one that is cut.
const WINDOWS_READY: usize = 1;

/// A run under way.
pub(super) struct Run<'a> {
    pipeline: &'a Pipeline,
    options: &'a IndexOptions,
    on_progress: &'a dyn Fn(Progress<'_>),
    vectors: Vectors<'a>,
    notes: Notes<'a>,
    generations: Arc<Generations>,
    overlays: &'a Overlays,
    /// The overlays as they are now: people change chunks while a run goes on.
    fresh: Option<Overlays>,
    /// How the overlays would stand; in a dry run of a collection that has any.
    forecast: Option<Forecast<'a>>,
    /// What the generation had when the run began.
    stored: Arc<HashMap<String, DocumentInfo>>,
    /// What searches saw when the run began, where that is another generation.
    seen: HashMap<String, DocumentInfo>,
    placed: Placed,
    /// Ids of files that documents of other folders have.
    clashing: HashSet<String>,
    report: IndexReport,
    /// Ids of files that turned out to be no documents when they were read.
    left_out: HashSet<String>,
    tokens: TokensByKind,
    /// Ids of documents of files that were not known before, by the hash of the file.
    new: HashMap<String, String>,
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
        let vectors = Vectors::new(pipeline.embedder.as_deref(), store.cache(), options.dry_run);
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
            left_out,
            tokens: TokensByKind::default(),
            new: HashMap::new(),
            meter: Arc::new(Meter::new(options.clock.clone())),
            meta: Arc::new(meta),
            pace: Pace::default(),
        }
    }

    /// Indexes the files that were found.
    pub(super) fn go(mut self) -> Result<IndexReport, IndexError> {
        let files = std::mem::take(&mut self.placed.files);
        let files = self.without_duplicates(files);
        if self.options.prune == Prune::Remove {
            self.refuse_mass_delete()?;
        }
        if self.options.dry_run && !self.overlays.is_empty() {
            let found = files.iter().map(|file| file.doc_id.as_str()).collect();
            self.forecast = Some(self.forecast(&found));
        }
        let moved = if self.is_building() { Vec::new() } else { self.moved_without(&files) };
        let stored = moved.iter().map(Input::Stored);
        let inputs: Vec<Input<'_>> = files.iter().map(Input::File).chain(stored).collect();
        self.index_all(&inputs, 0)?;
        if !self.report.cancelled {
            self.note_renames();
            self.remove_left_out()?;
        }
        if !self.report.cancelled && self.options.prune != Prune::Keep {
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
            // A dry run has to know all ids first.
            let sources = if self.options.dry_run { documents.collect() } else { next_sources(documents) };
            if sources.is_empty() || self.report.cancelled {
                break;
            }
            let done = self.report.seen;
            self.report.seen += sources.len();
            let bytes = sources.iter().map(|source| source.bytes.len() as u64).sum();
            (self.on_progress)(Progress::Found { files: self.report.seen, bytes });
            let mut accepts = |source: &NewSource| {
                self.accepts(&source.doc_id, source.check(), source.bytes.len(), &mut found)
            };
            let sources: Vec<NewSource> = sources.into_iter().filter(|source| accepts(source)).collect();
            if self.options.dry_run && !self.overlays.is_empty() {
                self.forecast = Some(self.forecast(&found.iter().map(String::as_str).collect()));
            }
            let inputs: Vec<Input<'_>> = sources.iter().map(Input::Memory).collect();
            self.index_all(&inputs, done)?;
        }
        if !self.report.cancelled && self.is_building() {
            self.complete(&found.iter().map(String::as_str).collect())?;
        }
        self.complete_first()?;
        self.settle()?;
        Ok(self.finish()?)
    }

    /// Indexes documents that are parsed already.
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
        self.index_all(&inputs, 0)?;
        if !self.report.cancelled && self.is_building() {
            self.complete(&found.iter().map(String::as_str).collect())?;
        }
        self.complete_first()?;
        self.settle()?;
        Ok(self.finish()?)
    }

    /// Whether a document of so many bytes may be put, unless a check refused it; notes why not, or its id.
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

    /// The documents of folders that were moved that no file was found for, as of where their folder is now.
    fn moved_without(&self, files: &[SourceFile]) -> Vec<DocumentInfo> {
        let found: HashSet<&str> = files.iter().map(|file| file.doc_id.as_str()).collect();
        let others = self.visible().values().filter(|info| !found.contains(info.doc_id.as_str()));
        others.filter_map(|info| self.placed.moved(info)).collect()
    }

    /// Whether the generation is another than the one that searches see.
    fn is_building(&self) -> bool {
        self.generations.current.is_some() && self.generations.target != self.generations.current
    }

    /// Indexes window by window: while one is embedded and stored, the next ones are read and cut. `done` were before.
    fn index_all(&mut self, inputs: &[Input<'_>], mut done: usize) -> Result<(), StoreError> {
        let (pipeline, options) = (self.pipeline, self.options);
        let (stored, generations) = (Arc::clone(&self.stored), Arc::clone(&self.generations));
        let (current, skip_generated) = (generations.current.as_ref(), options.skip_generated);
        let (meter, meta) = (Arc::clone(&self.meter), Arc::clone(&self.meta));
        let context = Context { options, current, skip_generated, meter: &meter, meta: &meta };
        let prepare = |window: &[Input<'_>]| -> Vec<Prepared> {
            let one = |input: &Input<'_>| pipeline.prepare(input, stored.get(input.doc_id()), context);
            options.on_threads(|| window.par_iter().map(one).collect())
        };
        let mut bytes = 0;
        thread::scope(|scope| {
            let (sender, ready) = mpsc::sync_channel(WINDOWS_READY);
            scope.spawn(move || {
                // Whoever stops receiving wants no more.
                windows(inputs).try_for_each(|window| sender.send((window, prepare(window))))
            });
            for (window, prepared) in ready {
                if self.is_cancelled() {
                    return Ok(());
                }
                self.index_window(window, prepared, (done, bytes))?;
                if self.report.cancelled {
                    return Ok(());
                }
                done += window.len();
                bytes += window.iter().map(Input::bytes).sum::<u64>();
                (self.on_progress)(Progress::Read { files: done, bytes });
            }
            Ok(())
        })
    }

    /// Two paths given may have files of one relative name; only the first can be a document.
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

    /// Embeds and stores a window; `before` are the files done before it, and their bytes.
    fn index_window(
        &mut self,
        window: &[Input<'_>],
        prepared: Vec<Prepared>,
        (mut done, mut bytes): (usize, u64),
    ) -> Result<(), StoreError> {
        let mut documents: Vec<(Box<NewDocument>, bool)> = Vec::new();
        let mut changes = Vec::new();
        for (input, prepared) in window.iter().zip(prepared) {
            let is_file = input.is_given();
            let doc_id = input.doc_id().to_owned();
            match prepared {
                Prepared::Unchanged(touched) => {
                    self.report.unchanged += usize::from(is_file);
                    self.report.kept += self.stored.get(&doc_id).map_or(0, |info| info.chunks as usize);
                    changes.extend(touched.map(|modified| Change::Touch { doc_id, modified }));
                }
                Prepared::Ready(document, generated) => {
                    self.report.generated += usize::from(generated == Some(Generated::ByProgram));
                    self.report.minified += usize::from(generated == Some(Generated::Minified));
                    self.report.carried += usize::from(!is_file);
                    let count = document.document.source.bytes().filter(|&byte| byte == 0).count();
                    if count > 0 {
                        self.report.nuls.push(Nuls { doc_id, count });
                    }
                    documents.push((document, is_file));
                }
                Prepared::Failed(message) => self.fail(doc_id, message),
                Prepared::Skipped(reason) => {
                    if !reason.is_temporary() {
                        self.left_out.insert(doc_id.clone());
                    }
                    let is_known = self.visible().contains_key(&doc_id) || self.stored.contains_key(&doc_id);
                    if reason.is_noise() && is_file && is_known {
                        self.report.left_out.push(doc_id.clone());
                    }
                    self.report.skipped.push(Skipped { path: doc_id, reason });
                }
            }
        }
        let missing = self.missing(&documents)?;
        let mut at = 0;
        while !documents.is_empty() {
            if self.is_cancelled() {
                return Ok(());
            }
            let size = self.group(&missing[at..]);
            let group: Vec<_> = documents.drain(..size).collect();
            at += size;
            done += size;
            bytes += group.iter().map(|(document, _)| document.document.info.bytes).sum::<u64>();
            self.index_group(group, std::mem::take(&mut changes))?;
            (self.on_progress)(Progress::Read { files: done, bytes });
        }
        let meter = Arc::clone(&self.meter);
        meter.measure(Stage::Store, || self.store_changes(&changes, &HashMap::new()))
    }

    /// Whether the caller wants the run to stop; the report says so then.
    fn is_cancelled(&mut self) -> bool {
        let is_cancelled = self.options.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        self.report.cancelled |= is_cancelled;
        is_cancelled
    }

    /// How many texts of each document have to be embedded, if that says when documents are stored.
    fn missing(&self, documents: &[(Box<NewDocument>, bool)]) -> Result<Vec<usize>, StoreError> {
        let texts: usize = documents.iter().map(|(document, _)| document.chunks.len()).sum();
        if !self.meter.is_running() || !self.vectors.is_asked() || texts <= self.pace.texts {
            return Ok(vec![0; documents.len()]);
        }
        self.vectors.missing(&documents.iter().map(|(document, _)| &**document).collect::<Vec<_>>())
    }

    /// How many of the next documents, of which each has so many texts to embed, are stored together.
    fn group(&self, missing: &[usize]) -> usize {
        let mut room = self.pace.texts;
        let fits = |texts: &&usize| {
            let fits = **texts <= room;
            room = room.saturating_sub(**texts);
            fits
        };
        missing.iter().take_while(fits).count().max(1)
    }

    /// Embeds and stores documents together.
    fn index_group(
        &mut self,
        mut documents: Vec<(Box<NewDocument>, bool)>,
        mut changes: Vec<Change>,
    ) -> Result<(), StoreError> {
        let mut new: Vec<&mut NewDocument> =
            documents.iter_mut().map(|(document, _)| &mut **document).collect();
        self.notes.add(&mut new, &self.pipeline.chunker)?;
        if let (Some(current), false) = (&self.generations.current, self.options.dry_run) {
            self.fresh = Some(self.pipeline.store.overlays(&current.collection)?);
        }
        for document in new {
            self.put_overlays_on(document);
        }
        let new: Vec<&NewDocument> = documents.iter().map(|(document, _)| &**document).collect();
        for document in &new {
            self.compare(document)?;
        }
        for (document, is_file) in &documents {
            let info = &document.document.info;
            if *is_file && info.bytes > 0 && !self.visible().contains_key(&info.doc_id) {
                self.new.insert(info.file_hash.clone(), info.doc_id.clone());
            }
        }
        let meter = Arc::clone(&self.meter);
        let (embedded, spent) = (self.vectors.embedded, meter.spent(Stage::Embed));
        self.report.pending += meter.measure(Stage::Embed, || self.vectors.add(&new, self.on_progress))?;
        self.pace.learn(self.vectors.embedded - embedded, meter.spent(Stage::Embed) - spent);
        let are_files: HashMap<String, bool> = documents
            .iter()
            .map(|(document, is_file)| (document.document.info.doc_id.clone(), *is_file))
            .collect();
        changes.extend(documents.into_iter().map(|(document, _)| Change::Replace(document)));
        meter.measure(Stage::Store, || self.store_changes(&changes, &are_files))
    }

    /// Puts on the chunks of a new document what was changed of them by hand, so that it is in force as soon as
    /// searches see them.
    fn put_overlays_on(&mut self, document: &mut NewDocument) {
        let overlays = self.fresh.as_ref().unwrap_or(self.overlays);
        if overlays.is_empty() {
            return;
        }
        let doc_id = &document.document.info.doc_id;
        let before = self.stored.get(doc_id).or_else(|| self.seen.get(doc_id));
        let before = before.and_then(DocumentInfo::applied).unwrap_or_default();
        let is_of_another = |id: &&str| overlays.get(id).is_some_and(|overlay| overlay.doc_id != *doc_id);
        let also: Vec<&str> =
            before.iter().map(|applied| applied.overlay.as_str()).filter(is_of_another).collect();
        let applied = overlays.put_on(&mut document.chunks, Some(&self.pipeline.chunker), &also);
        if let Some(forecast) = &mut self.forecast {
            forecast.add(doc_id, document.chunks.iter().map(|chunk| &chunk.record), &applied);
        }
        document.document.info.set_applied(&applied);
    }

    fn forecast(&self, found: &HashSet<&str>) -> Forecast<'a> {
        let vanished = match self.options.prune {
            Prune::Keep => Vec::new(),
            Prune::Remove | Prune::Force => self.vanished().1,
        };
        let vanished: HashSet<String> = vanished.into_iter().collect();
        let known = self.visible();
        let is_there = |id: &str| found.contains(id) || (known.contains_key(id) && !vanished.contains(id));
        Forecast::new(self.overlays, is_there)
    }

    /// Brings what is stored to what overlays say now, and counts how they stand, or would stand after a dry run.
    fn settle(&mut self) -> Result<(), StoreError> {
        let store = &*self.pipeline.store;
        let Some(current) = &self.generations.current else { return Ok(()) };
        if let Some(forecast) = self.forecast.take() {
            let removed = |doc_id: &String| {
                self.report.pruned.contains(doc_id) || self.report.left_out.contains(doc_id)
            };
            let kept = self.stored.keys().filter(|doc_id| !removed(doc_id));
            self.report.overlays = forecast.counts(store, self.generations.target.as_ref(), kept)?;
            return Ok(());
        }
        if self.options.dry_run {
            return Ok(());
        }
        let has_any = |info: &DocumentInfo| !info.overlays.is_empty();
        if self.stored.values().chain(self.seen.values()).any(has_any)
            || !store.overlays(&current.collection)?.is_empty()
        {
            self.report.overlays = settle_all(store, &current.collection, self.pipeline.tools())?;
        }
        Ok(())
    }

    /// Counts what becomes of the chunks that searches see, or saw, of a document.
    fn compare(&mut self, new: &NewDocument) -> Result<(), StoreError> {
        let doc_id = &new.document.info.doc_id;
        let generation = if self.stored.contains_key(doc_id) {
            self.generations.target.as_ref()
        } else {
            self.generations.current.as_ref().filter(|_| self.seen.contains_key(doc_id))
        };
        let old = generation.map(|generation| self.pipeline.store.records(generation, doc_id)).transpose()?;
        let records = new.chunks.iter().map(|chunk| &chunk.record).filter(|record| record.artifact.is_none());
        let Some(old) = old.filter(|old| !old.is_empty()) else {
            self.report.added += records.count();
            return Ok(());
        };
        let new: Vec<Record> = records.cloned().collect();
        let summary = Diff::of(&old, &new).summary;
        self.report.kept += summary.kept;
        self.report.moved += summary.moved;
        self.report.changed += summary.changed;
        self.report.added += summary.added;
        self.report.removed += summary.removed;
        Ok(())
    }

    /// Stores changes together and counts what became of them; a dry run counts them as if they were stored.
    fn store_changes(
        &mut self,
        changes: &[Change],
        are_files: &HashMap<String, bool>,
    ) -> Result<(), StoreError> {
        let count = |run: &mut Self, change: &Change, outcome| {
            let Change::Replace(document) = change else { return };
            let is_file = are_files.get(&document.document.info.doc_id).copied().unwrap_or(true);
            run.count(document, outcome, is_file);
        };
        if self.options.dry_run {
            for change in changes {
                count(self, change, Outcome::Written);
            }
            return Ok(());
        }
        let Some(target) = self.generations.target.clone().filter(|_| !changes.is_empty()) else {
            return Ok(());
        };
        let store = &*self.pipeline.store;
        let mut committed = Vec::new();
        let mut settle = |run: &mut Self, change: &Change, outcome| {
            count(run, change, outcome);
            if let (Change::Replace(document), Outcome::Written) = (change, outcome) {
                committed.push(document.document.info.doc_id.clone());
            }
        };
        match store.write(&target, changes) {
            Ok(outcomes) => {
                for (change, outcome) in changes.iter().zip(outcomes) {
                    settle(self, change, outcome);
                }
            }
            // One document is at fault: the others are stored without it.
            Err(StoreError::IdCollision { .. }) => {
                for change in changes {
                    match store.write(&target, std::slice::from_ref(change)) {
                        Ok(outcomes) => {
                            for outcome in outcomes {
                                settle(self, change, outcome);
                            }
                        }
                        Err(error @ StoreError::IdCollision { .. }) => {
                            if let StoreError::IdCollision { doc_id, .. } = &error {
                                self.fail(doc_id.clone(), error.to_string());
                            }
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

    /// Counts a document. One that was not found as a file is no entry that was seen.
    fn count(&mut self, document: &NewDocument, outcome: Outcome, is_file: bool) {
        match outcome {
            Outcome::Written => {
                if document.chunks.is_empty() {
                    self.report.empty += usize::from(is_file);
                } else {
                    self.report.indexed += usize::from(is_file);
                }
                self.report.chunks += document.chunks.len();
                let tokens = document.chunks.iter().map(|chunk| chunk.record.token_count as usize).sum();
                self.tokens.add(&document.document.info.doc_id, tokens);
            }
            Outcome::Unchanged => self.report.unchanged += usize::from(is_file),
            Outcome::Stale => self.fail(
                document.document.info.doc_id.clone(),
                "it was stored by another run meanwhile; run again if that one read an older file".into(),
            ),
        }
    }

    /// What searches see: documents by id.
    fn visible(&self) -> &HashMap<String, DocumentInfo> {
        if self.is_building() { &self.seen } else { &self.stored }
    }

    /// Documents known of the paths scanned, and those of them whose files are gone.
    fn vanished(&self) -> (usize, Vec<String>) {
        let mut known = 0;
        let mut vanished = Vec::new();
        for info in self.visible().values().filter(|info| self.placed.is_in_scope(info)) {
            known += 1;
            let may_exist = self.placed.may_exist(info) && !self.left_out.contains(&info.doc_id);
            let failed = self.report.failed.iter().any(|failure| failure.doc_id == info.doc_id);
            let is_removed = self.report.left_out.contains(&info.doc_id);
            if !may_exist && !failed && !is_removed {
                vanished.push(info.doc_id.clone());
            }
        }
        vanished.sort_unstable();
        (known, vanished)
    }

    /// Finds out which of the new documents are what files said that are gone.
    fn note_renames(&mut self) {
        let new = std::mem::take(&mut self.new);
        if new.is_empty() {
            return;
        }
        let mut taken = HashSet::new();
        for from in self.vanished().1 {
            let to = self.visible().get(&from).and_then(|info| new.get(&info.file_hash));
            if let Some(to) = to.filter(|to| taken.insert(*to)) {
                self.report.renamed.push(Renamed { from, to: to.clone() });
            }
        }
    }

    fn refuse_mass_delete(&self) -> Result<(), IndexError> {
        let (known, vanished) = self.vanished();
        let vanished = vanished.len();
        if vanished * 2 > known { Err(IndexError::MassDelete { vanished, known }) } else { Ok(()) }
    }

    /// Removes documents whose files are there, and left out now for what they are.
    fn remove_left_out(&mut self) -> Result<(), StoreError> {
        let left_out = std::mem::take(&mut self.report.left_out);
        for doc_id in &left_out {
            self.report.removed += self.visible().get(doc_id).map_or(0, |info| info.chunks as usize);
        }
        self.remove(&left_out)?;
        if !self.options.dry_run && !left_out.is_empty() {
            (self.on_progress)(Progress::Committed { doc_ids: &left_out });
        }
        self.report.left_out = left_out;
        Ok(())
    }

    fn prune(&mut self) -> Result<(), StoreError> {
        let (_, vanished) = self.vanished();
        for doc_id in &vanished {
            self.report.removed += self.visible().get(doc_id).map_or(0, |info| info.chunks as usize);
        }
        self.remove(&vanished)?;
        if !self.options.dry_run && !vanished.is_empty() {
            (self.on_progress)(Progress::Committed { doc_ids: &vanished });
        }
        self.report.pruned = vanished;
        Ok(())
    }

    fn remove(&self, doc_ids: &[String]) -> Result<(), StoreError> {
        let Some(target) = self.generations.target.as_ref().filter(|_| !self.options.dry_run) else {
            return Ok(());
        };
        let remove = |doc_id: &String| Change::Remove { doc_id: doc_id.clone() };
        let changes: Vec<Change> = doc_ids.iter().map(remove).collect();
        if !changes.is_empty() {
            self.pipeline.store.write(target, &changes)?;
        }
        Ok(())
    }

    /// Makes of a generation that is built all that searches see, and then the current one.
    fn complete(&mut self, found: &HashSet<&str>) -> Result<(), StoreError> {
        let removed = self.report.pruned.iter().chain(&self.report.left_out);
        let pruned: HashSet<String> = removed.cloned().collect();
        let seen = std::mem::take(&mut self.seen);
        // Where a file has the id of another folder's document, that document is not what failed.
        let failures = self.report.failed.iter().map(|failure| failure.doc_id.clone());
        let failed: HashSet<String> = failures.filter(|doc_id| !self.clashing.contains(doc_id)).collect();
        let skipped: HashSet<String> =
            self.report.skipped.iter().map(|skipped| skipped.path.clone()).collect();
        // A file that could not be read now counts as what the store has of it.
        let is_carried = |info: &&DocumentInfo| {
            let doc_id = &info.doc_id;
            !pruned.contains(doc_id)
                && !failed.contains(doc_id)
                && (!found.contains(doc_id.as_str()) || skipped.contains(doc_id))
        };
        let carried = seen.values().filter(is_carried);
        let mut carried: Vec<Cow<'_, DocumentInfo>> =
            carried.map(|info| self.placed.moved(info).map_or(Cow::Borrowed(info), Cow::Owned)).collect();
        carried.sort_unstable_by(|a, b| a.doc_id.cmp(&b.doc_id));
        let inputs: Vec<Input<'_>> = carried.iter().map(|info| Input::Stored(info)).collect();
        self.index_all(&inputs, 0)?;
        // What an old generation has and searches do not see any more was removed meanwhile.
        let is_over = |doc_id: &&String| !seen.contains_key(*doc_id) && !found.contains(doc_id.as_str());
        let over: Vec<String> = self.stored.keys().filter(is_over).cloned().collect();
        self.remove(&over)?;
        let is_lost = |failure: &&Failure| {
            seen.contains_key(&failure.doc_id) && !self.clashing.contains(&failure.doc_id)
        };
        self.report.withheld = if self.report.cancelled {
            Some("it was told to stop".into())
        } else if let Some(lost) = self.report.failed.iter().find(is_lost) {
            Some(format!("`{}` could not be indexed: {}", lost.doc_id, lost.message))
        } else if let Some(error) = self.notes.error.as_ref().filter(|_| self.notes.pending > 0) {
            Some(format!("some notes could not be written: {error}"))
        } else if self.vectors.failures > 0 {
            self.vectors.error.as_ref().map(|error| format!("some texts could not be embedded: {error}"))
        } else {
            None
        };
        self.seen = seen;
        if let Some(target) = self.generations.target.as_ref().filter(|_| self.report.withheld.is_none())
            && !self.options.dry_run
        {
            settle(&*self.pipeline.store, target, self.pipeline.tools())?;
            self.pipeline.store.switch(target)?;
            self.report.switched = self.generations.current.as_ref().map(|before| before.number);
        }
        Ok(())
    }

    /// Makes the first generation of a collection, which searches see while it is built, its current one: if it has
    /// documents and nothing stopped the run.
    fn complete_first(&mut self) -> Result<(), StoreError> {
        let report = &self.report;
        let is_empty = report.indexed + report.unchanged + report.empty == 0 && self.stored.is_empty();
        if report.cancelled || self.options.dry_run || is_empty || self.is_building() {
            return Ok(());
        }
        let store = &self.pipeline.store;
        match &self.generations.target {
            Some(target) if !store.is_complete(target)? => store.switch(target),
            _ => Ok(()),
        }
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
