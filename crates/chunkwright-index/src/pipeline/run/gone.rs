//! What does a collection have that is not in the paths any more, and what becomes of it?

use std::collections::HashSet;

use super::super::{IndexError, Progress};
use super::Run;
use crate::report::Renamed;
use crate::store::{Change, StoreError};

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

    /// Finds out which of the new documents are what files said that are gone.
    pub(super) fn note_renames(&mut self) {
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
