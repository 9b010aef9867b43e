//! A generation in memory: its documents, and how they are read and changed.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::ops::{Bound, ControlFlow};
use std::sync::{Arc, OnceLock};

use chunkwright::ChunkId;

use super::State;
use crate::columns::{self, Columns};
use crate::document::{NewChunk, NewDocument, Outcome, StoredDocument};
use crate::error::StoreError;
use crate::filter::Filter;
use crate::filter::{facts, record_symbols};
use crate::generation::{Generation, GenerationState, GenerationStatus};
use crate::index::{NewRow, SearchIndex};
use crate::list::{Direction, ListRequest};
use crate::list::{OrderKey, PageBuilder, Position};

/// A generation.
#[derive(Clone, Debug)]
pub(super) struct MemoryGeneration {
    pub(super) generation: Generation,
    pub(super) was_current: bool,
    pub(super) change: u64,
    pub(super) documents: BTreeMap<String, Arc<(StoredDocument, Vec<NewChunk>)>>,
    /// Where each chunk is: its document and its position there.
    ids: HashMap<ChunkId, (String, usize)>,
    index: OnceLock<Arc<SearchIndex>>,
    columns: OnceLock<Arc<Columns>>,
}

impl MemoryGeneration {
    pub(super) fn new(generation: Generation) -> Self {
        Self {
            generation,
            was_current: false,
            change: 0,
            documents: BTreeMap::new(),
            ids: HashMap::new(),
            index: OnceLock::new(),
            columns: OnceLock::new(),
        }
    }

    /// Its status, in a collection whose current generation has the number `current`.
    pub(super) fn status(&self, current: i64) -> GenerationStatus {
        GenerationStatus {
            generation: self.generation.clone(),
            state: match (self.generation.number == current, self.was_current) {
                (true, true) => GenerationState::Current,
                (false, true) => GenerationState::Old,
                (_, false) => GenerationState::Building,
            },
            documents: self.documents.len(),
            chunks: self.chunk_count(),
            pending: self.documents.values().map(|document| document.0.info.pending as usize).sum(),
            change: self.change,
        }
    }

    /// Number of its chunks.
    pub(super) fn chunk_count(&self) -> usize {
        self.documents.values().map(|document| document.1.len()).sum()
    }

    /// Drops what searches, lists and statistics derived from the documents: the next one derives it again.
    pub(super) fn changed(&mut self) {
        self.change += 1;
        self.index = OnceLock::new();
        self.columns = OnceLock::new();
    }

    /// The search index, built if missing.
    pub(super) fn index(&self, state: &State) -> &SearchIndex {
        self.index.get_or_init(|| Arc::new(self.make_index(state)))
    }

    fn make_index(&self, state: &State) -> SearchIndex {
        let dimension = self.generation.spec.model.as_ref().map_or(0, |model| model.dimension);
        let mut index = SearchIndex::new(dimension);
        for document in self.documents.values() {
            let info = &document.0.info;
            index.begin(info.version, &info.doc_id);
            for chunk in &document.1 {
                let id = chunk.id();
                let symbols = record_symbols(&chunk.record);
                let facts = facts(&chunk.record, &symbols);
                let vector = state.vector(&self.generation, chunk.text_hash);
                let sparse = vector.and_then(|vector| vector.sparse.as_deref()).unwrap_or_default();
                let (terms, enabled) = (&chunk.terms, chunk.enabled);
                let row = NewRow { id, facts, terms, sparse, enabled, vector: None };
                index.push(&row, vector.map(|vector| vector.dense.iter().copied()));
            }
        }
        index.finish();
        index
    }

    /// Adds the chunks of a page in the order of documents.
    pub(super) fn list(
        &self,
        state: &State,
        request: &ListRequest,
        after: Option<Position>,
        page: &mut PageBuilder<'_>,
    ) {
        let after = after.map(|after| match self.documents.get(&after.doc_id) {
            Some(document) => {
                let Ok(after) = after.at(request, document.0.info.version, |id| {
                    let place = self.ids.get(&id).filter(|(doc_id, _)| *doc_id == document.0.info.doc_id);
                    Ok::<_, Infallible>(place.map(|(_, place)| *place as u32))
                });
                after
            }
            None => after,
        });
        let edge = after.as_ref().map_or(Bound::Unbounded, |after| Bound::Included(after.doc_id.as_str()));
        let mut each = |(doc_id, document): (&String, &Arc<(StoredDocument, Vec<NewChunk>)>)| {
            let (info, chunks) = (&document.0.info, &document.1);
            let mut chunk = |place: usize| {
                let (chunk, place) = (&chunks[place], place as u32);
                let order_key = OrderKey { key: 0, doc_id, place: i64::from(place) };
                let is_behind = |after: &Position| request.compare(order_key, after.order_key()).is_gt();
                if after.as_ref().is_none_or(is_behind)
                    && request.visibility.shows(chunk.enabled)
                    && request.filter.passes_record(&chunk.record)
                {
                    return page.push(place, info.version, state.listed(&self.generation, chunk));
                }
                ControlFlow::Continue(())
            };
            match request.direction {
                Direction::Ascending => (0..chunks.len()).try_for_each(&mut chunk),
                Direction::Descending => (0..chunks.len()).rev().try_for_each(&mut chunk),
            }
        };
        // The page itself knows whether it is full.
        let _ = match request.direction {
            Direction::Ascending => {
                self.documents.range::<str, _>((edge, Bound::Unbounded)).try_for_each(&mut each)
            }
            Direction::Descending => {
                self.documents.range::<str, _>((Bound::Unbounded, edge)).rev().try_for_each(&mut each)
            }
        };
    }

    /// Runs `read` over the columns and the selection of their passing rows.
    pub(super) fn with_columns<T>(
        &self,
        filter: &Filter,
        read: impl FnOnce(&Columns, columns::Selection<'_>) -> T,
    ) -> T {
        let columns = self.columns.get_or_init(|| Arc::new(self.columns()));
        if Columns::decide(filter) {
            return read(columns, columns::Selection::Filter(filter));
        }
        let passing = self.chunks().filter(|(_, chunk)| filter.passes_record(&chunk.record));
        read(columns, columns::Selection::Chunks(&passing.map(|(id, _)| id).collect()))
    }

    fn columns(&self) -> Columns {
        let mut columns = Columns::default();
        for document in self.documents.values() {
            let info = &document.0.info;
            for chunk in &document.1 {
                let id = chunk.id();
                columns.push(
                    info.version,
                    &info.doc_id,
                    &columns::NewRow::of(
                        id,
                        &chunk.record,
                        &record_symbols(&chunk.record),
                        chunk.text_hash,
                        chunk.enabled,
                    ),
                );
            }
        }
        columns
    }

    /// All chunks, with their ids.
    pub(super) fn chunks(&self) -> impl Iterator<Item = (ChunkId, &NewChunk)> {
        let chunks = self.documents.values().flat_map(|document| &document.1);
        chunks.map(|chunk| (chunk.id(), chunk))
    }

    /// The chunk and its document.
    pub(super) fn find(&self, id: ChunkId) -> Option<(&StoredDocument, &NewChunk)> {
        let (doc_id, index) = self.ids.get(&id)?;
        let document = self.documents.get(doc_id)?;
        Some((&document.0, document.1.get(*index)?))
    }

    pub(super) fn remove(&mut self, doc_id: &str) -> bool {
        let removed = self.documents.remove(doc_id);
        if removed.is_some() {
            self.ids.retain(|_, (document, _)| document != doc_id);
        }
        removed.is_some()
    }

    pub(super) fn touch(&mut self, doc_id: &str, modified: i64) -> Outcome {
        match self.documents.get_mut(doc_id) {
            Some(document) if document.0.info.modified != modified => {
                Arc::make_mut(document).0.info.modified = modified;
                Outcome::Written
            }
            _ => Outcome::Unchanged,
        }
    }

    pub(super) fn amend(
        &mut self,
        state: &State,
        (doc_id, new, base): (&str, &[NewChunk], i64),
        overlays: &str,
        version: &mut i64,
    ) -> Outcome {
        let document = self.documents.get_mut(doc_id).filter(|document| document.0.info.version == base);
        let Some(document) = document else { return Outcome::Stale };
        let mut places = Vec::with_capacity(new.len());
        for chunk in new {
            let place = self.ids.get(&chunk.id()).filter(|(known, _)| known == doc_id);
            let Some((_, index)) = place else { return Outcome::Stale };
            places.push(*index);
        }
        let (stored, chunks) = Arc::make_mut(document);
        for (chunk, index) in new.iter().zip(places) {
            chunks[index] = chunk.clone();
        }
        *version += 1;
        stored.info.version = *version;
        overlays.clone_into(&mut stored.info.overlays);
        stored.info.pending = pending(state, &self.generation, chunks);
        Outcome::Written
    }

    pub(super) fn replace(
        &mut self,
        state: &State,
        new: &NewDocument,
        version: &mut i64,
    ) -> Result<Outcome, StoreError> {
        let doc_id = &new.document.info.doc_id;
        let stored = self.documents.get(doc_id).map(|document| &document.0.info);
        if stored.map_or(0, |stored| stored.version) != new.base {
            return Ok(Outcome::Stale);
        }
        let pending = pending(state, &self.generation, &new.chunks);
        if stored.is_some_and(|stored| stored.is_same_input(&new.document.info) && stored.pending <= pending)
        {
            return Ok(Outcome::Unchanged);
        }
        let mut ids = HashMap::with_capacity(new.chunks.len());
        for (index, chunk) in new.chunks.iter().enumerate() {
            let id = chunk.id();
            let is_taken = self.ids.get(&id).is_some_and(|(other, _)| other != doc_id);
            if is_taken || ids.insert(id, (doc_id.clone(), index)).is_some() {
                return Err(StoreError::IdCollision { id, doc_id: doc_id.clone() });
            }
        }
        self.remove(doc_id);
        self.ids.extend(ids);
        *version += 1;
        let mut document = new.document.clone();
        document.info.version = *version;
        document.info.chunks = new.chunks.len() as u32;
        document.info.pending = pending;
        self.documents.insert(doc_id.clone(), Arc::new((document, new.chunks.clone())));
        Ok(Outcome::Written)
    }
}

/// The number of chunks whose vector is missing.
fn pending(state: &State, generation: &Generation, chunks: &[NewChunk]) -> u32 {
    let lacks = |chunk: &&NewChunk| state.vector(generation, chunk.text_hash).is_none();
    if generation.spec.model.is_some() { chunks.iter().filter(lacks).count() as u32 } else { 0 }
}
