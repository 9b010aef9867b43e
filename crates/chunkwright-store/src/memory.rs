//! The in-memory store: the simplest implementation of [`Store`], lost when its process ends.
//!
//! The search index is derived from the documents at the first search after a change, so that writes stay simple and
//! repeated searches of one state are fast.

mod cache;
mod collections;
mod generation;

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chunkwright::{ChunkId, Record};

use crate::bm25::TermId;
use crate::cache::Cache;
use crate::cancel;
use crate::check_report::CheckReport;
use crate::collections::{CollectionsBehind, ListedCollections};
use crate::contract::{ChunkStore, CollectionStore, DocumentStore, GenerationStore, OverlayStore, Store};
use crate::document::{
    Change, DocumentInfo, DocumentKind, IndexedChunk, NewChunk, Origin, Outcome, StoredChunk, StoredDocument,
};
use crate::documents::{DocumentsBehind, ListedDocuments, Totals};
use crate::error::{StoreError, unknown_generation};
use crate::filter::Filter;
use crate::generation::{Collection, Generation, GenerationSpec, Model};
use crate::index::disk::NoDisk;
use crate::index::{Located, Records, SearchIndex, Selection};
use crate::list::PageBuilder;
use crate::list::{ChunkPage, ListRequest, ListedChunk};
use crate::name::{checked_name, no_collection, normalized_name, parse_name, unknown_collection};
use crate::overlay::{Overlay, Overlays};
use crate::past_run::PastRun;
use crate::scored::Scored;
use crate::source::{SourcePart, SourceRange};
use crate::statistics::{Statistics, StatisticsRequest};
use crate::vector::{Vector, check_model, check_sparse, check_vector, of_query};
use crate::verify::{self, Counters, Kept};
use chunkwright_models::TextHash;
use generation::MemoryGeneration;

/// A store that is lost when its process ends. See [`Store`].
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: RwLock<State>,
    /// Cached document counts.
    totals: Totals,
    /// Grows with every change of overlays.
    overlays_revision: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    collections: BTreeMap<String, MemoryCollection>,
    /// The models of vectors, by name.
    models: HashMap<String, Model>,
    vectors: HashMap<(String, TextHash), Vector>,
    notes: HashMap<TextHash, String>,
    /// Last number given to a generation or a version of a document.
    last: i64,
}

/// A collection.
#[derive(Debug, Default)]
struct MemoryCollection {
    current: i64,
    generations: BTreeMap<i64, MemoryGeneration>,
    overlays: Overlays,
    /// Oldest first.
    runs: VecDeque<PastRun>,
}

impl MemoryCollection {
    fn find(&self, spec: &GenerationSpec) -> Option<&Generation> {
        self.generations.values().rev().map(|held| &held.generation).find(|found| found.spec == *spec)
    }
}

impl MemoryCollection {
    /// The generation that searches see.
    fn visible(&self) -> Option<&MemoryGeneration> {
        self.generations.get(&self.current)
    }
}

impl MemoryStore {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read()
    }

    fn lock(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write()
    }

    /// Runs `search` over the index of a generation and the rows that pass.
    fn search<T>(
        &self,
        generation: &Generation,
        filter: &Filter,
        search: impl FnOnce(&SearchIndex, &Selection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let state = self.read();
        let held = state.held(generation)?;
        let index = held.index(&state);
        let passing = index.passing(filter, &NoDisk, held)?;
        search(index, &passing)
    }
}

impl Records for MemoryGeneration {
    fn passing(&self, filter: &Filter) -> Result<HashSet<ChunkId>, StoreError> {
        let passes = |(id, chunk): (ChunkId, &NewChunk)| {
            let passes = cancel::check().map(|()| filter.passes_record(&chunk.record));
            passes.map(|passes| passes.then_some(id)).transpose()
        };
        self.chunks().filter_map(passes).collect()
    }

    fn each_text(&self, chunks: &[Located], each: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        for place in chunks {
            cancel::check()?;
            each(self.find(place.id).map_or("", |(_, chunk)| &chunk.record.text));
        }
        Ok(())
    }
}

impl State {
    fn collection(&self, name: &str) -> Option<Collection> {
        let kept = self.collections.get(name)?;
        let generations = kept.generations.values().map(|held| held.status(kept.current)).collect();
        Some(Collection { name: name.to_owned(), generations })
    }

    fn kept(&self, name: &str) -> Result<&MemoryCollection, StoreError> {
        let known = || self.collections.keys().map(String::as_str);
        self.collections.get(name).ok_or_else(|| unknown_collection(name, known()))
    }

    fn held(&self, generation: &Generation) -> Result<&MemoryGeneration, StoreError> {
        let kept = self.collections.get(&generation.collection);
        let held = kept.and_then(|kept| kept.generations.get(&generation.number));
        held.ok_or_else(|| unknown_generation(generation))
    }

    /// Records the kind of a model's vectors; rejects another kind under the same name.
    fn know(&mut self, model: &Model) -> Result<(), StoreError> {
        check_model(self.models.entry(model.name.clone()).or_insert_with(|| model.clone()), model)
    }

    fn vector(&self, generation: &Generation, hash: TextHash) -> Option<&Vector> {
        self.vectors.get(&(generation.model_name().to_owned(), hash))
    }

    /// Converts a chunk to its listed form.
    fn listed(&self, generation: &Generation, chunk: &NewChunk) -> ListedChunk {
        let embedded = self.vector(generation, chunk.text_hash).is_some();
        ListedChunk { record: chunk.record.clone(), enabled: chunk.enabled, embedded }
    }
}

impl CollectionStore for MemoryStore {
    fn list_collections(&self, request: &CollectionsBehind<'_>) -> Result<ListedCollections, StoreError> {
        Ok(self.read().list(request))
    }

    fn collection(&self, name: &str) -> Result<Option<Collection>, StoreError> {
        Ok(self.read().collection(&normalized_name(name)))
    }

    fn visible(&self) -> Result<Vec<Generation>, StoreError> {
        let state = self.read();
        let visible = state.collections.values().filter_map(MemoryCollection::visible);
        Ok(visible.map(|held| held.generation.clone()).collect())
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.lock().rename(&normalized_name(from), &checked_name(to)?)?;
        self.overlays_revision.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl GenerationStore for MemoryStore {
    fn lookup(&self, name: &str) -> Result<Option<Generation>, StoreError> {
        let (collection, number) = parse_name(name);
        let state = self.read();
        let Some(kept) = state.collections.get(&*collection) else { return no_collection(&collection) };
        let held = kept.generations.get(&number.unwrap_or(kept.current));
        held.map(|held| Some(held.generation.clone())).ok_or_else(|| unknown_generation(&name))
    }

    fn find(&self, collection: &str, spec: &GenerationSpec) -> Result<Option<Generation>, StoreError> {
        Ok(self
            .read()
            .collections
            .get(&*normalized_name(collection))
            .and_then(|kept| kept.find(spec))
            .cloned())
    }

    fn begin(&self, collection: &str, spec: &GenerationSpec) -> Result<Generation, StoreError> {
        let collection = &*checked_name(collection)?;
        let mut state = self.lock();
        if let Some(model) = &spec.model {
            state.know(model)?;
        }
        let number = state.last + 1;
        let kept = state.collections.entry(collection.to_owned()).or_default();
        if let Some(found) = kept.find(spec) {
            return Ok(found.clone());
        }
        let is_first = kept.generations.is_empty();
        if is_first {
            kept.current = number;
        }
        let generation =
            Generation { collection: collection.into(), number, spec: spec.clone(), stored: None };
        kept.generations.insert(number, MemoryGeneration::new(generation.clone()));
        state.last = number;
        Ok(generation)
    }

    fn switch(&self, generation: &Generation) -> Result<(), StoreError> {
        let mut state = self.lock();
        state.held(generation)?;
        if let Some(kept) = state.collections.get_mut(&generation.collection) {
            kept.current = generation.number;
            kept.generations.entry(generation.number).and_modify(|held| held.was_current = true);
        }
        Ok(())
    }

    fn is_complete(&self, generation: &Generation) -> Result<bool, StoreError> {
        Ok(self.read().held(generation)?.was_current)
    }

    fn remove(&self, generation: &Generation) -> Result<(), StoreError> {
        let mut state = self.lock();
        let Some(kept) = state.collections.get_mut(&generation.collection) else { return Ok(()) };
        if kept.current == generation.number {
            state.collections.remove(&generation.collection);
        } else {
            kept.generations.remove(&generation.number);
        }
        self.totals.forget(generation.number);
        Ok(())
    }
}

impl DocumentStore for MemoryStore {
    fn write(&self, generation: &Generation, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        let mut state = self.lock();
        // Changes are made to a copy, so that all of them happen or none.
        let mut held = state.held(generation)?.clone();
        let mut version = state.last;
        let mut outcomes = Vec::with_capacity(changes.len());
        let mut is_visible = false;
        for change in changes {
            let outcome = match change {
                Change::Replace(new) => held.replace(&state, new, &mut version)?,
                Change::Remove { doc_id } if held.remove(doc_id) => Outcome::Written,
                Change::Remove { .. } => Outcome::Unchanged,
                Change::Amend { doc_id, chunks, base, overlays } => {
                    held.amend(&state, (doc_id, chunks, *base), overlays, &mut version)
                }
                Change::Touch { doc_id, modified } => held.touch(doc_id, *modified),
            };
            is_visible |= outcome == Outcome::Written && !matches!(change, Change::Touch { .. });
            outcomes.push(outcome);
        }
        if is_visible {
            held.changed();
        }
        state.last = version;
        if let Some(kept) = state.collections.get_mut(&generation.collection) {
            kept.generations.insert(generation.number, held);
        }
        Ok(outcomes)
    }

    fn documents(&self, generation: &Generation) -> Result<Vec<DocumentInfo>, StoreError> {
        let state = self.read();
        let documents = state.held(generation)?.documents.values();
        Ok(documents.map(|document| document.0.info.clone()).collect())
    }

    fn list_documents(
        &self,
        generation: &Generation,
        request: &DocumentsBehind<'_>,
    ) -> Result<ListedDocuments, StoreError> {
        let state = self.read();
        let MemoryGeneration { documents, change, .. } = state.held(generation)?;
        let count = || Ok::<_, Infallible>(request.count(documents));
        let Ok(total) = self.totals.get(generation, *change, request.source, count);
        let found =
            request.range(documents).map(|(doc_id, held)| Ok::<_, Infallible>((doc_id.clone(), held)));
        let Ok((page, is_more)) = request.take(found);
        let documents = page.into_iter().map(|(_, held)| held.0.info.clone()).collect();
        Ok(ListedDocuments { documents, total, is_more })
    }

    fn document_infos(
        &self,
        generation: &Generation,
        doc_ids: &[&str],
    ) -> Result<Vec<Option<DocumentInfo>>, StoreError> {
        let state = self.read();
        let documents = &state.held(generation)?.documents;
        Ok(doc_ids.iter().map(|doc_id| Some(documents.get(*doc_id)?.0.info.clone())).collect())
    }

    fn document(&self, generation: &Generation, doc_id: &str) -> Result<Option<StoredDocument>, StoreError> {
        let state = self.read();
        Ok(state.held(generation)?.documents.get(doc_id).map(|document| document.0.clone()))
    }

    fn source(
        &self,
        generation: &Generation,
        range: SourceRange<'_>,
    ) -> Result<Option<SourcePart>, StoreError> {
        let state = self.read();
        let found = state.held(generation)?.documents.get(&range.document.doc_id);
        let found = found.filter(|document| document.0.info.version == range.document.version);
        Ok(found.map(|document| range.of(&document.0)))
    }

    fn records(&self, generation: &Generation, doc_id: &str) -> Result<Vec<Record>, StoreError> {
        let state = self.read();
        let found = state.held(generation)?.documents.get(doc_id);
        Ok(found
            .map(|document| {
                let records = document.1.iter().map(|chunk| &chunk.record);
                records.filter(|record| record.artifact.is_none()).cloned().collect()
            })
            .unwrap_or_default())
    }
}

impl ChunkStore for MemoryStore {
    fn chunks(
        &self,
        generation: &Generation,
        ids: &[ChunkId],
    ) -> Result<Vec<Option<Arc<StoredChunk>>>, StoreError> {
        let state = self.read();
        let held = state.held(generation)?;
        let chunk = |id: &ChunkId| {
            let (document, chunk) = held.find(*id)?;
            Some(Arc::new(StoredChunk {
                record: chunk.record.clone(),
                doc_toc: document.doc_toc.clone(),
                doc_summary: document.summary.clone(),
                terms: chunk.terms.clone(),
                embedded: state.vector(generation, chunk.text_hash).is_some(),
                enabled: chunk.enabled,
            }))
        };
        Ok(ids.iter().map(chunk).collect())
    }

    fn origins(&self, generation: &Generation, ids: &[ChunkId]) -> Result<Vec<Option<Origin>>, StoreError> {
        let state = self.read();
        let held = state.held(generation)?;
        let origin = |id: &ChunkId| {
            let (document, chunk) = held.find(*id)?;
            let Record { language, content_type, .. } = &chunk.record;
            let kind = DocumentKind::of_chunk(language.as_deref(), content_type);
            Some(Origin { doc_id: document.info.doc_id.clone(), kind })
        };
        Ok(ids.iter().map(origin).collect())
    }

    fn indexed(
        &self,
        generation: &Generation,
        ids: &[ChunkId],
        terms: &[TermId],
        query: Option<&[f32]>,
    ) -> Result<Vec<Option<IndexedChunk>>, StoreError> {
        let query = of_query(generation, query)?;
        let filter = Filter::default();
        self.search(generation, &filter, |index, _| index.indexed(ids, terms, query, &NoDisk))
    }

    fn codes(&self, generation: &Generation, ids: &[ChunkId]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let state = self.read();
        let held = state.held(generation)?;
        let codes = |id: &ChunkId| state.vector(generation, held.find(*id)?.1.text_hash)?.codes.clone();
        Ok(ids.iter().map(codes).collect())
    }

    fn list(&self, generation: &Generation, request: &ListRequest) -> Result<ChunkPage, StoreError> {
        let after = request.position(generation)?;
        let mut page = PageBuilder::new(request, generation)?;
        let state = self.read();
        let held = state.held(generation)?;
        if request.is_in_document_order() {
            held.list(&state, request, after, &mut page);
            return Ok(page.finish());
        }
        held.with_columns(&request.filter, |columns, passing| {
            for listed in columns.page(request, after, passing) {
                let Some((document, chunk)) = held.find(listed.id) else { continue };
                let chunk = state.listed(generation, chunk);
                if page.push(listed.place, document.info.version, chunk).is_break() {
                    break;
                }
            }
        });
        Ok(page.finish())
    }

    fn statistics(
        &self,
        generation: &Generation,
        request: &StatisticsRequest,
    ) -> Result<Statistics, StoreError> {
        let state = self.read();
        let held = state.held(generation)?;
        Ok(held.with_columns(&request.filter, |columns, passing| columns.statistics(request, passing)))
    }

    fn dense(
        &self,
        generation: &Generation,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        let Some(model) = &generation.spec.model else { return Ok(Vec::new()) };
        check_vector(query, model.dimension)?;
        self.search(generation, filter, |index, passing| index.dense(query, passing, limit, &NoDisk))
    }

    fn sparse(
        &self,
        generation: &Generation,
        query: &[(u32, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        check_sparse(query)?;
        self.search(generation, filter, |index, passing| index.sparse(query, passing, limit, &NoDisk))
    }

    fn lexical(
        &self,
        generation: &Generation,
        terms: &[(TermId, f32)],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        self.search(generation, filter, |index, passing| index.lexical(terms, passing, limit, &NoDisk))
    }
}

impl OverlayStore for MemoryStore {
    fn overlays(&self, collection: &str) -> Result<Overlays, StoreError> {
        Ok(self
            .read()
            .collections
            .get(&*normalized_name(collection))
            .map(|kept| kept.overlays.clone())
            .unwrap_or_default())
    }

    fn put_overlays(&self, collection: &str, overlays: &[Overlay]) -> Result<(), StoreError> {
        let mut state = self.lock();
        let collection = normalized_name(collection);
        state.kept(&collection)?;
        if let Some(kept) = state.collections.get_mut(&*collection) {
            overlays.iter().cloned().for_each(|overlay| kept.overlays.put(overlay));
        }
        self.overlays_revision.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn overlays_revision(&self) -> u64 {
        self.overlays_revision.load(Ordering::SeqCst)
    }

    fn runs(&self, collection: &str) -> Result<Vec<PastRun>, StoreError> {
        let state = self.read();
        let kept = state.collections.get(&*normalized_name(collection));
        Ok(kept.into_iter().flat_map(|kept| kept.runs.iter().rev().cloned()).collect())
    }

    fn add_run(&self, collection: &str, run: &PastRun) -> Result<(), StoreError> {
        if let Some(kept) = self.lock().collections.get_mut(&*normalized_name(collection)) {
            let number = kept.runs.back().map_or(1, |last| last.number + 1);
            kept.runs.push_back(PastRun { number, ..run.clone() });
            let over = kept.runs.len().saturating_sub(PastRun::KEPT);
            kept.runs.drain(..over);
        }
        Ok(())
    }
}

impl Store for MemoryStore {
    fn cache(&self) -> &dyn Cache {
        self
    }

    fn check_documents_of(&self, collection: Option<&str>) -> Result<CheckReport, StoreError> {
        let state = self.read();
        let mut report = CheckReport::default();
        let counters = Counters::default();
        let all = state.collections.iter();
        for (_, shelf) in all.filter(|(name, _)| collection.is_none_or(|wanted| wanted == name.as_str())) {
            for held in shelf.generations.values() {
                let mut seen = BTreeSet::new();
                report.documents += held.documents.len();
                for (id, chunk) in held.chunks() {
                    report.chunks += 1;
                    if !seen.insert(id) {
                        report.problems.push(format!("`{}` holds chunk `{id}` twice", held.generation));
                    }
                    let vector = state.vector(&held.generation, chunk.text_hash);
                    if let (Some(vector), Some(model)) = (vector, &held.generation.spec.model)
                        && let Err(problem) = verify::of_vector(vector, model)
                    {
                        report.problems.push(format!("`{}`, chunk `{id}`: {problem}", held.generation));
                    }
                }
                for document in held.documents.values() {
                    let (document, chunks) = (document.0.clone(), document.1.clone());
                    let kept = [Kept { document, chunks }];
                    let unsound = verify::stored(&held.generation.spec, &kept, &shelf.overlays, &counters);
                    report.add(&held.generation, unsound);
                }
            }
        }
        Ok(report)
    }
}
