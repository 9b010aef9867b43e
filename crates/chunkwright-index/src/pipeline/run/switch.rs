//! Completes a run: settles manual changes and makes the run's generation the current one.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::num::NonZeroUsize;

use super::super::forecast::Forecast;
use super::super::input::Input;
use super::super::{Embed, Progress};
use super::Run;
use crate::report::Failure;
use crate::settle::{settle, settle_all};
use chunkwright_store::{DocumentInfo, Generation, GenerationState, GenerationStatus, StoreError};

impl<'a> Run<'a> {
    pub(super) fn forecast(&self, found: &HashSet<&str>) -> Forecast<'a> {
        let vanished: HashSet<String> = self.removable().0.into_iter().collect();
        let known = self.visible();
        let is_there = |id: &str| found.contains(id) || (known.contains_key(id) && !vanished.contains(id));
        Forecast::new(self.overlays, is_there)
    }

    /// Settles the overlays and counts their states; a dry run counts the states that they would have.
    pub(super) fn settle(&mut self) -> Result<(), StoreError> {
        let store = &*self.pipeline.store;
        let Some(current) = &self.generations.current else { return Ok(()) };
        if let Some(forecast) = self.forecast.take() {
            let removed = |info: &&DocumentInfo| {
                self.report.pruned.contains(&info.doc_id) || self.report.left_out.contains(&info.doc_id)
            };
            let kept = self.stored.values().filter(|info| !removed(info));
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

    /// Completes a generation that is being built with all documents that searches see, and makes it the current one.
    pub(super) fn complete(&mut self, found: &HashSet<&str>) -> Result<(), StoreError> {
        let removed = self.report.pruned.iter().chain(&self.report.left_out);
        let pruned: HashSet<String> = removed.cloned().collect();
        let seen = std::mem::take(&mut self.seen);
        // If a file has the id of another folder's document, it is not that document that failed.
        let failures = self.report.failed.iter().map(|failure| failure.doc_id.clone());
        let failed: HashSet<String> = failures.filter(|doc_id| !self.clashing.contains(doc_id)).collect();
        let skipped: HashSet<String> =
            self.report.skipped.iter().map(|skipped| skipped.path.clone()).collect();
        // A file that could not be read is carried over from the store.
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
        if !inputs.is_empty() {
            let (files, bytes) = self.done;
            let (files, bytes) = (files + inputs.len(), bytes + inputs.iter().map(Input::bytes).sum::<u64>());
            (self.on_progress)(Progress::Found { files, bytes });
        }
        self.index_all(&inputs)?;
        // Documents that an old generation has but searches no longer see were removed meanwhile.
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
            self.behind()?
        };
        self.seen = seen;
        if let Some(target) = self.generations.target.as_ref().filter(|_| self.report.withheld.is_none())
            && !self.options.dry_run
        {
            settle(&*self.pipeline.store, target, self.pipeline.tools())?;
            self.pipeline.store.switch(target)?;
            self.report.switched = self.generations.current.as_ref().map(|before| before.number);
            self.report.dropped = self.drop_old(target)?;
        }
        Ok(())
    }

    /// Why a generation whose texts are embedded [behind](Embed::Behind) the one that searches see is not complete.
    fn behind(&self) -> Result<Option<String>, StoreError> {
        let Some(target) = self.generations.target.as_ref().filter(|_| self.options.embed == Embed::Behind)
        else {
            return Ok(None);
        };
        let documents = self.pipeline.store.documents(target)?;
        let pending: u64 = documents.iter().map(|info| u64::from(info.pending)).sum();
        Ok((pending > 0).then(|| format!("{pending} chunks have no vector yet")))
    }

    /// Removes old generations beyond the number to keep, and returns their numbers. The one that searches saw until
    /// now is removed last, since it is what users return to.
    fn drop_old(&self, current: &Generation) -> Result<Vec<i64>, StoreError> {
        let store = &*self.pipeline.store;
        let Some(kept) = self.options.keep_generations.map(NonZeroUsize::get) else { return Ok(Vec::new()) };
        let all = store.collection(&current.collection)?;
        let is_old = |status: &GenerationStatus| status.state == GenerationState::Old;
        let old = all.into_iter().flat_map(|known| known.generations).filter(is_old);
        let mut old: Vec<Generation> = old.map(|status| status.generation).collect();
        old.sort_by_key(|it| Reverse((Some(it.number) == self.report.switched, it.number)));
        let mut dropped = Vec::new();
        for generation in old.into_iter().skip(kept - 1) {
            store.remove(&generation)?;
            dropped.push(generation.number);
        }
        dropped.sort_unstable();
        Ok(dropped)
    }

    /// Makes the first generation of a collection, which searches see while it is built, the current one, if it has
    /// documents and the run was not stopped.
    pub(super) fn complete_first(&mut self) -> Result<(), StoreError> {
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
}
