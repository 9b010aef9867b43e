//! What does a collection have that is not in the paths any more, and what becomes of it?

use super::super::{IndexError, Progress};
use super::Run;
use crate::store::{Change, DocumentInfo, StoreError};

impl Run<'_> {
    /// Documents known of the paths scanned, and those of them whose files are gone.
    pub(super) fn vanished(&self) -> (usize, Vec<String>) {
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

    /// Whether a document that is new may be one whose file is gone.
    pub(super) fn may_rename(&mut self) -> bool {
        if self.renames.are_possible.is_none() {
            self.renames.are_possible = Some(!self.vanished().1.is_empty());
        }
        self.renames.are_possible == Some(true)
    }

    /// Finds out which of the new documents are what files said that are gone.
    pub(super) fn note_renames(&mut self) -> Result<(), StoreError> {
        let renames = std::mem::take(&mut self.renames);
        if renames.is_empty() {
            return Ok(());
        }
        let vanished = self.vanished().1;
        let gone: Vec<&DocumentInfo> = vanished.iter().filter_map(|id| self.visible().get(id)).collect();
        let generations = &self.generations;
        let seen = if self.is_building() { &generations.current } else { &generations.target };
        let records = |doc_id: &str| match seen {
            Some(generation) => self.pipeline.store.records(generation, doc_id),
            None => Ok(Vec::new()),
        };
        self.report.renamed = renames.found(&gone, records)?;
        Ok(())
    }

    pub(super) fn refuse_mass_delete(&self) -> Result<(), IndexError> {
        let (known, vanished) = self.vanished();
        let vanished = vanished.len();
        if vanished * 2 > known { Err(IndexError::MassDelete { vanished, known }) } else { Ok(()) }
    }

    /// Removes documents whose files are there, and left out now for what they are.
    pub(super) fn remove_left_out(&mut self) -> Result<(), StoreError> {
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

    pub(super) fn prune(&mut self) -> Result<(), StoreError> {
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

    pub(super) fn remove(&self, doc_ids: &[String]) -> Result<(), StoreError> {
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
}
