//! Detects and removes documents whose files are gone from the scanned paths.

use std::collections::HashSet;

use super::super::{Progress, Prune};
use super::Run;
use crate::report::{Away, WhyAway};
use chunkwright_store::{Change, DocumentInfo, StoreError};

/// The documents of a scanned path, as far as their files are concerned.
#[derive(Clone, Default)]
struct Scope {
    /// Number of its documents.
    known: usize,
    /// Those whose files are gone, or left out by a run that removes such documents.
    gone: Vec<String>,
    /// Number of documents that stay although this run leaves their files out.
    left_out: usize,
}

impl Run<'_> {
    /// The documents of each scanned path.
    fn scopes(&self) -> Vec<Scope> {
        let mut scopes = vec![Scope::default(); self.placed.roots.len()];
        let failed: HashSet<&str> =
            self.report.failed.iter().map(|failure| failure.doc_id.as_str()).collect();
        let removed: HashSet<&String> = self.report.left_out.iter().collect();
        let keeps_files = matches!(self.options.prune, Prune::Gone | Prune::Keep);
        for info in self.visible().values() {
            let Some(scope) = self.placed.scope(info).and_then(|at| scopes.get_mut(at)) else { continue };
            scope.known += 1;
            let may_exist = self.placed.may_exist(info) && !self.left_out.contains(&info.doc_id);
            if may_exist || failed.contains(&*info.doc_id) || removed.contains(&info.doc_id) {
                continue;
            }
            if keeps_files && self.placed.exists(info) {
                scope.left_out += 1;
            } else {
                scope.gone.push(info.doc_id.clone());
            }
        }
        scopes
    }

    /// The documents of the scanned paths whose files are gone, in order.
    pub(super) fn vanished(&self) -> Vec<String> {
        let mut vanished: Vec<String> = self.scopes().into_iter().flat_map(|scope| scope.gone).collect();
        vanished.sort_unstable();
        vanished
    }

    /// The documents to remove because their files are gone, and the folders whose documents stay.
    pub(super) fn removable(&self) -> (Vec<String>, Vec<Away>) {
        let (mut removable, mut away) = (Vec::new(), Vec::new());
        let renamed: HashSet<&String> = self.report.renamed.iter().map(|renamed| &renamed.from).collect();
        for (root, scope) in self.placed.roots.iter().zip(self.scopes()) {
            let mut stay = |documents, why| {
                if documents > 0 {
                    away.push(Away { folder: root.folder.clone(), documents, why });
                }
            };
            stay(scope.left_out, WhyAway::LeftOut);
            if self.options.prune == Prune::Keep {
                stay(scope.gone.len(), WhyAway::Kept);
                continue;
            }
            let (moved, lost): (Vec<_>, Vec<_>) =
                scope.gone.into_iter().partition(|doc_id| renamed.contains(doc_id));
            removable.extend(moved);
            if self.options.prune != Prune::Force && lost.len() * 2 > scope.known {
                stay(lost.len(), WhyAway::Most);
            } else {
                removable.extend(lost);
            }
        }
        removable.sort_unstable();
        (removable, away)
    }

    /// Returns whether a new document may be a renamed one.
    pub(super) fn may_rename(&mut self) -> bool {
        if self.renames.are_possible.is_none() {
            self.renames.are_possible = Some(!self.vanished().is_empty());
        }
        self.renames.are_possible == Some(true)
    }

    /// Finds the new documents whose content is that of files that are gone.
    pub(super) fn note_renames(&mut self) -> Result<(), StoreError> {
        let renames = std::mem::take(&mut self.renames);
        if renames.is_empty() {
            return Ok(());
        }
        let vanished = self.vanished();
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

    /// Removes documents whose files exist but are now left out because of their kind.
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
        let (vanished, away) = self.removable();
        self.report.away.extend(away);
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
