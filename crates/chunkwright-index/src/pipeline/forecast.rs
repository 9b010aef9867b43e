//! Forecasts, in a dry run, how the overlays would stand after the run.

use std::collections::{HashMap, HashSet};

use chunkwright::Record;

use crate::settle::OverlayCounts;
use chunkwright_store::overlay::OverlaySearch;
use chunkwright_store::{Applied, DocumentInfo, Generation, OverlayState, Overlays, Store, StoreError};

/// The state of overlays that a dry run has found so far.
pub(super) struct Forecast<'o> {
    overlays: &'o Overlays,
    states: HashMap<String, OverlayState>,
    /// Documents that were examined.
    seen: HashSet<String>,
    /// The search for overlays of documents that will be gone; `None` if there are none.
    search: Option<OverlaySearch<'o>>,
}

impl<'o> Forecast<'o> {
    /// `is_there` returns whether a document will exist after the run.
    pub(super) fn new(overlays: &'o Overlays, is_there: impl Fn(&str) -> bool) -> Self {
        let gone: Vec<_> = overlays.iter().filter(|overlay| !is_there(&overlay.doc_id)).collect();
        let search = (!gone.is_empty()).then(|| OverlaySearch::new(gone));
        Self { overlays, states: HashMap::new(), seen: HashSet::new(), search }
    }

    /// Adds a document that would be written, with the overlays on its chunks.
    pub(super) fn add<'r>(
        &mut self,
        doc_id: &str,
        records: impl Iterator<Item = &'r Record>,
        applied: &[Applied],
    ) {
        self.seen.insert(doc_id.to_owned());
        let own =
            |on: &&Applied| self.overlays.get(&on.overlay).is_some_and(|overlay| overlay.doc_id == doc_id);
        let own: Vec<&Applied> = applied.iter().filter(own).collect();
        self.states.extend(own.iter().map(|on| (on.overlay.clone(), on.state)));
        let taken: HashSet<&str> = own.iter().map(|on| on.chunk_id.as_str()).collect();
        let free = records.filter(|record| !taken.contains(record.chunk_id.to_string().as_str()));
        if let Some(search) = &mut self.search {
            free.for_each(|record| search.look_at(record));
        }
    }

    /// Adds the manual boundaries that a document is or would be cut by.
    pub(super) fn add_boundaries(&mut self, info: &DocumentInfo) {
        self.states.extend(info.boundaries().into_iter().map(|applied| (applied.id, applied.state)));
    }

    /// The counts, including documents of `target` that would stay unchanged.
    pub(super) fn counts<'d>(
        mut self,
        store: &dyn Store,
        target: Option<&Generation>,
        kept: impl Iterator<Item = &'d DocumentInfo>,
    ) -> Result<OverlayCounts, StoreError> {
        let unseen: Vec<&DocumentInfo> = kept.filter(|info| !self.seen.contains(&info.doc_id)).collect();
        for info in unseen {
            let doc_id = &info.doc_id;
            self.add_boundaries(info);
            let has_any = self.overlays.of_document(doc_id).next().is_some();
            let Some(target) = target.filter(|_| has_any || self.search.is_some()) else { continue };
            let records = store.records(target, doc_id)?;
            let all: Vec<&Record> = records.iter().collect();
            for (record, placed) in records.iter().zip(self.overlays.place(&all)) {
                match (placed, &mut self.search) {
                    (Some((overlay, state)), _) => {
                        self.states.insert(overlay.chunk_id.clone(), state);
                    }
                    (None, Some(search)) => search.look_at(record),
                    (None, None) => {}
                }
            }
        }
        for (overlay, state, _) in self.search.into_iter().flat_map(OverlaySearch::found) {
            self.states.insert(overlay.chunk_id.clone(), state);
        }
        let mut counts = OverlayCounts::default();
        for overlay in self.overlays.all() {
            counts.count(self.states.get(&overlay.chunk_id).copied().unwrap_or(OverlayState::Orphaned));
        }
        Ok(counts)
    }
}
