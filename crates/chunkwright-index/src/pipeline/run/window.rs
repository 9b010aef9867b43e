//! Embeds, stores and counts the documents of a window.

use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::thread;

use chunkwright::Record;
use chunkwright::diff::Diff;
use chunkwright_source::convert::Omission;
use chunkwright_source::{Generated, Skipped};
use rayon::prelude::*;

use super::super::Progress;
use super::super::input::{Input, windows};
use super::super::pace::Stage;
use super::super::prepare::{Context, Prepared};
use super::Run;
use crate::report::{Nuls, Omitted};
use chunkwright_store::{Change, DocumentInfo, NewChunk, NewDocument, Outcome, StoreError};

/// Cut windows that wait to be stored, beside the one being stored and the one being cut.
const WINDOWS_READY: usize = 1;

impl Run<'_> {
    /// Indexes window by window: while one is embedded and stored, the next ones are read and cut.
    pub(super) fn index_all(&mut self, inputs: &[Input<'_>]) -> Result<(), StoreError> {
        let (pipeline, options) = (self.pipeline, self.options);
        let (stored, generations) = (Arc::clone(&self.stored), Arc::clone(&self.generations));
        let (current, skip_generated) = (generations.current.as_ref(), options.skip_generated);
        let (meter, meta) = (Arc::clone(&self.meter), Arc::clone(&self.meta));
        let overlays = self.overlays;
        let context = Context { options, current, skip_generated, meter: &meter, meta: &meta, overlays };
        let prepare = |window: &[Input<'_>]| -> Vec<Prepared> {
            let one = |input: &Input<'_>| pipeline.prepare(input, stored.get(input.doc_id()), context);
            options.on_threads(|| window.par_iter().map(one).collect())
        };
        thread::scope(|scope| {
            let (sender, ready) = mpsc::sync_channel(WINDOWS_READY);
            scope.spawn(move || {
                // A closed channel means that no more windows are wanted.
                windows(inputs).try_for_each(|window| sender.send((window, prepare(window))))
            });
            for (window, prepared) in ready {
                if self.is_cancelled() {
                    return Ok(());
                }
                self.index_window(window, prepared, self.done)?;
                if self.report.cancelled {
                    return Ok(());
                }
                let (files, bytes) = &mut self.done;
                *files += window.len();
                *bytes += window.iter().map(Input::bytes).sum::<u64>();
                (self.on_progress)(Progress::Read { files: *files, bytes: *bytes });
            }
            Ok(())
        })
    }

    /// Embeds and stores a window; `before` is the number of files done earlier, and their bytes.
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
                Prepared::Ready(document, generated, omissions) => {
                    let omitted = |it: Omission| Omitted { doc_id: doc_id.clone(), what: it.to_string() };
                    self.report.omitted.extend(omissions.into_iter().map(omitted));
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

    /// The number of texts to embed for each document, if it decides when documents are stored.
    fn missing(&self, documents: &[(Box<NewDocument>, bool)]) -> Result<Vec<usize>, StoreError> {
        let texts: usize = documents.iter().map(|(document, _)| document.chunks.len()).sum();
        if !self.meter.is_running() || !self.vectors.is_asked() || texts <= self.pace.texts {
            return Ok(vec![0; documents.len()]);
        }
        self.vectors.missing(&documents.iter().map(|(document, _)| &**document).collect::<Vec<_>>())
    }

    /// The number of next documents to store together; `missing` has the number of texts to embed for each.
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
            let store = &self.pipeline.store;
            let revision = store.overlays_revision();
            if self.fresh.as_ref().is_none_or(|(known, _)| *known != revision) {
                self.fresh = Some((revision, store.overlays(&current.collection)?));
            }
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
            if *is_file && info.bytes > 0 && !self.visible().contains_key(&info.doc_id) && self.may_rename() {
                self.renames.add(document);
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

    /// Applies manual changes to the chunks of a new document, so that they are in force as soon as searches see the
    /// chunks.
    fn put_overlays_on(&mut self, document: &mut NewDocument) {
        let overlays = self.fresh.as_ref().map_or(self.overlays, |(_, fresh)| fresh);
        if overlays.is_empty() {
            return;
        }
        if let Some(forecast) = &mut self.forecast {
            forecast.add_boundaries(&document.document.info);
        }
        let doc_id = &document.document.info.doc_id;
        let before = self.stored.get(doc_id).or_else(|| self.seen.get(doc_id));
        let before = before.map(DocumentInfo::applied).unwrap_or_default();
        let is_of_another = |id: &&str| overlays.get(id).is_some_and(|overlay| overlay.doc_id != *doc_id);
        let also: Vec<&str> =
            before.iter().map(|applied| applied.overlay.as_str()).filter(is_of_another).collect();
        let applied = overlays.put_on(&mut document.chunks, Some(&self.pipeline.chunker), &also);
        if let Some(forecast) = &mut self.forecast {
            forecast.add(doc_id, document.chunks.iter().map(|chunk| &chunk.record), &applied);
        }
        document.document.info.set_applied(&applied);
    }

    /// Counts how a document's chunks change against those that searches see or saw.
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

    /// Stores changes together and counts their outcomes; a dry run counts them as if they were stored.
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
            // A single document is at fault: the others are stored without it.
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

    /// Counts a document. One that was not found as a file does not count as a seen entry.
    fn count(&mut self, document: &NewDocument, outcome: Outcome, is_file: bool) {
        match outcome {
            Outcome::Written => {
                if document.chunks.is_empty() {
                    self.report.empty += usize::from(is_file);
                } else {
                    self.report.indexed += usize::from(is_file);
                }
                self.report.chunks += document.chunks.len();
                for NewChunk { record, .. } in &document.chunks {
                    if let Some(tokens) = self.report.written.get_mut(&record.chunk_type) {
                        tokens.push(record.token_count);
                    } else {
                        let tokens = vec![record.token_count];
                        self.report.written.insert(record.chunk_type.clone(), tokens);
                    }
                }
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
}
