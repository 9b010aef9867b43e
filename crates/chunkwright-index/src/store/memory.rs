//! A store that is gone with its process: the plainest thing that keeps the promises of [`Store`].
//!
//! What a search reads (words by chunk, vectors in one piece) is derived from the documents at the first
//! search after a change, so that writing stays plain and many searches of one state are quick.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use chunkwright::{ChunkId, Record};

use super::filter::{Facts, symbol_lines};
use super::rank::{DenseIndex, NewRow, top};
use super::{
    Change, CheckReport, Collection, DocumentInfo, Filter, Model, NewChunk, NewDocument, Outcome, Scored,
    Store, StoreError, StoredChunk, StoredDocument, TextHash, check_name, check_vector, unknown_collection,
};
use crate::analysis;

/// A store that is gone with its process. See [`Store`].
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: RwLock<State>,
}

#[derive(Clone, Debug, Default)]
struct State {
    collections: BTreeMap<String, Shelf>,
    vectors: HashMap<(String, TextHash), Vec<f32>>,
    /// Last version given to a document.
    version: i64,
}

/// A collection.
#[derive(Clone, Debug, Default)]
struct Shelf {
    model: Option<Model>,
    change: u64,
    documents: BTreeMap<String, Arc<(StoredDocument, Vec<NewChunk>)>>,
    /// Where each chunk is: its document and its position there.
    ids: HashMap<ChunkId, (String, usize)>,
    disabled: HashSet<ChunkId>,
    words: OnceLock<Arc<Words>>,
    dense: OnceLock<Arc<DenseIndex>>,
}

impl MemoryStore {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn collection(&self, name: &str) -> Result<&Shelf, StoreError> {
        let known = || self.collections.keys().map(String::as_str);
        self.collections.get(name).ok_or_else(|| unknown_collection(name, known()))
    }

    fn has_vector(&self, held: &Shelf, hash: TextHash) -> bool {
        held.model.as_ref().is_some_and(|model| self.vectors.contains_key(&(model.name.clone(), hash)))
    }
}

impl Shelf {
    /// All chunks that searches may find, with their ids.
    fn chunks(&self) -> impl Iterator<Item = (ChunkId, &NewChunk)> {
        let chunks = self.documents.values().flat_map(|document| &document.1);
        chunks.filter_map(|chunk| Some((chunk.record.chunk_id.parse().ok()?, chunk)))
    }

    fn enabled(&self) -> impl Iterator<Item = (ChunkId, &NewChunk)> {
        self.chunks().filter(|(id, _)| !self.disabled.contains(id))
    }

    /// The chunk and its document.
    fn find(&self, id: ChunkId) -> Option<(&StoredDocument, &NewChunk)> {
        let (doc_id, index) = self.ids.get(&id)?;
        let document = self.documents.get(doc_id)?;
        Some((&document.0, document.1.get(*index)?))
    }

    /// Forgets what was derived from a state before.
    fn changed(&mut self) {
        (self.words, self.dense) = (OnceLock::new(), OnceLock::new());
    }

    fn remove(&mut self, doc_id: &str) -> bool {
        let removed = self.documents.remove(doc_id);
        if removed.is_some() {
            self.ids.retain(|_, (document, _)| document != doc_id);
        }
        removed.is_some()
    }
}

fn facts<'a>(record: &'a Record, symbols: &'a str) -> Facts<'a> {
    Facts {
        category: &record.category,
        language: record.language.as_deref(),
        content_type: &record.content_type,
        artifact: record.artifact.as_deref(),
        symbols,
    }
}

fn passes(filter: &Filter, record: &Record) -> bool {
    filter.passes_doc_id(&record.doc_id) && filter.passes(facts(record, &symbol_lines(record)))
}

impl Store for MemoryStore {
    fn collections(&self) -> Result<Vec<Collection>, StoreError> {
        let collection = |(name, held): (&String, &Shelf)| Collection {
            name: name.clone(),
            model: held.model.clone(),
            documents: held.documents.len(),
            chunks: held.documents.values().map(|document| document.1.len()).sum(),
            pending: held.documents.values().map(|document| document.0.info.pending as usize).sum(),
            change: held.change,
        };
        Ok(self.read().collections.iter().map(collection).collect())
    }

    fn write(&self, collection: &str, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        check_name(collection)?;
        let mut state = self.lock();
        // Changes are made to a copy, so that all of them happen or none.
        let mut held = state.collections.get(collection).cloned().unwrap_or_default();
        let mut version = state.version;
        let mut outcomes = Vec::with_capacity(changes.len());
        for change in changes {
            outcomes.push(match change {
                Change::Replace(new) => replace(&state, &mut held, new, &mut version)?,
                Change::Remove { doc_id } => outcome(held.remove(doc_id)),
                Change::Enable(id) => outcome(held.disabled.remove(id)),
                Change::Disable(id) => outcome(held.ids.contains_key(id) && held.disabled.insert(*id)),
            });
        }
        if outcomes.contains(&Outcome::Written) {
            held.change += 1;
            held.changed();
        }
        state.version = version;
        state.collections.insert(collection.to_owned(), held);
        Ok(outcomes)
    }

    fn model(&self, collection: &str) -> Result<Option<Model>, StoreError> {
        Ok(self.read().collection(collection)?.model.clone())
    }

    fn set_model(&self, collection: &str, model: &Model) -> Result<(), StoreError> {
        check_name(collection)?;
        let mut state = self.lock();
        let held = state.collections.entry(collection.to_owned()).or_default();
        match &held.model {
            Some(stored) if stored == model => {}
            Some(stored) => {
                return Err(StoreError::OtherModel {
                    collection: collection.into(),
                    stored: stored.name.clone(),
                    stored_dimension: stored.dimension,
                    given: model.name.clone(),
                    given_dimension: model.dimension,
                });
            }
            None => {
                held.model = Some(model.clone());
                held.change += 1;
                held.changed();
                for document in held.documents.values_mut() {
                    let (document, chunks) = Arc::make_mut(document);
                    document.info.pending = chunks.len() as u32;
                }
            }
        }
        Ok(())
    }

    fn drop_collection(&self, collection: &str) -> Result<(), StoreError> {
        self.lock().collections.remove(collection);
        Ok(())
    }

    fn documents(&self, collection: &str) -> Result<Vec<DocumentInfo>, StoreError> {
        let state = self.read();
        let documents = state.collection(collection)?.documents.values();
        Ok(documents.map(|document| document.0.info.clone()).collect())
    }

    fn document(&self, collection: &str, doc_id: &str) -> Result<Option<StoredDocument>, StoreError> {
        let state = self.read();
        Ok(state.collection(collection)?.documents.get(doc_id).map(|document| document.0.clone()))
    }

    fn records(&self, collection: &str, doc_id: &str) -> Result<Vec<Record>, StoreError> {
        let state = self.read();
        let found = state.collection(collection)?.documents.get(doc_id);
        Ok(found
            .map(|document| {
                let records = document.1.iter().map(|chunk| &chunk.record);
                records.filter(|record| record.artifact.is_none()).cloned().collect()
            })
            .unwrap_or_default())
    }

    fn chunk(&self, collection: &str, id: ChunkId) -> Result<Option<StoredChunk>, StoreError> {
        let state = self.read();
        let held = state.collection(collection)?;
        Ok(held.find(id).map(|(document, chunk)| StoredChunk {
            record: chunk.record.clone(),
            doc_toc: document.doc_toc.clone(),
            embedded: state.has_vector(held, chunk.text_hash),
            enabled: !held.disabled.contains(&id),
        }))
    }

    fn vectors(&self, model: &str, hashes: &[TextHash]) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        let state = self.read();
        Ok(hashes.iter().map(|&hash| state.vectors.get(&(model.to_owned(), hash)).cloned()).collect())
    }

    fn put_vectors(&self, model: &str, vectors: &[(TextHash, Vec<f32>)]) -> Result<(), StoreError> {
        for (_, vector) in vectors {
            check_vector(vector, vector.len())?;
        }
        let mut state = self.lock();
        for (hash, vector) in vectors {
            state.vectors.insert((model.to_owned(), *hash), vector.clone());
        }
        // A chunk that had no vector may have one now.
        state.collections.values_mut().for_each(|held| held.dense = OnceLock::new());
        Ok(())
    }

    fn dense(
        &self,
        collection: &str,
        query: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        let state = self.read();
        let held = state.collection(collection)?;
        let Some(model) = &held.model else { return Ok(Vec::new()) };
        check_vector(query, model.dimension)?;
        let index = held.dense.get_or_init(|| Arc::new(state.dense(held, model)));
        Ok(index.search(query, filter, limit))
    }

    fn lexical(
        &self,
        collection: &str,
        terms: &[String],
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, StoreError> {
        let state = self.read();
        let held = state.collection(collection)?;
        let words = held.words.get_or_init(|| Arc::new(Words::of(held)));
        let is_hit = |scored: &Scored| {
            !held.disabled.contains(&scored.id)
                && held.find(scored.id).is_some_and(|(_, chunk)| passes(filter, &chunk.record))
        };
        Ok(top(words.bm25(terms).filter(is_hit).collect(), limit))
    }

    fn check(&self) -> Result<CheckReport, StoreError> {
        let state = self.read();
        let mut report = CheckReport::default();
        let mut seen = BTreeSet::new();
        for (name, held) in &state.collections {
            report.documents += held.documents.len();
            for document in held.documents.values().filter(|document| !document.0.is_intact()) {
                let doc_id = &document.0.info.doc_id;
                report
                    .problems
                    .push(format!("the stored text of `{doc_id}` is not that of the file it was made of"));
            }
            for (id, _) in held.chunks() {
                report.chunks += 1;
                if !seen.insert((name, id)) {
                    report.problems.push(format!("`{name}` holds chunk `{id}` twice"));
                }
            }
        }
        Ok(report)
    }

    fn collect_garbage(&self) -> Result<usize, StoreError> {
        let mut state = self.lock();
        let mut used = HashSet::new();
        for held in state.collections.values() {
            if let Some(model) = &held.model {
                used.extend(held.chunks().map(|(_, chunk)| (model.name.clone(), chunk.text_hash)));
            }
        }
        let before = state.vectors.len();
        state.vectors.retain(|key, _| used.contains(key));
        Ok(before - state.vectors.len())
    }
}

fn outcome(changed: bool) -> Outcome {
    if changed { Outcome::Written } else { Outcome::Unchanged }
}

fn replace(
    state: &State,
    held: &mut Shelf,
    new: &NewDocument,
    version: &mut i64,
) -> Result<Outcome, StoreError> {
    let doc_id = &new.document.info.doc_id;
    let stored = held.documents.get(doc_id).map(|document| &document.0.info);
    if stored.map_or(0, |stored| stored.version) != new.base {
        return Ok(Outcome::Stale);
    }
    let pending = match held.model {
        Some(_) => new.chunks.iter().filter(|chunk| !state.has_vector(held, chunk.text_hash)).count() as u32,
        None => 0,
    };
    if stored.is_some_and(|stored| stored.is_same_input(&new.document.info) && stored.pending <= pending) {
        return Ok(Outcome::Unchanged);
    }
    let mut ids = HashMap::with_capacity(new.chunks.len());
    for (index, chunk) in new.chunks.iter().enumerate() {
        let id = chunk.record.chunk_id.parse().map_err(|error| StoreError::Damaged {
            problem: format!("a new chunk cannot be stored: {error}"),
        })?;
        let is_taken = held.ids.get(&id).is_some_and(|(other, _)| other != doc_id);
        if is_taken || ids.insert(id, (doc_id.clone(), index)).is_some() {
            return Err(StoreError::IdCollision { id, doc_id: doc_id.clone() });
        }
    }
    held.remove(doc_id);
    held.ids.extend(ids);
    *version += 1;
    let mut document = new.document.clone();
    document.info.version = *version;
    document.info.chunks = new.chunks.len() as u32;
    document.info.pending = pending;
    held.documents.insert(doc_id.clone(), Arc::new((document, new.chunks.clone())));
    Ok(Outcome::Written)
}

impl State {
    /// The vectors of what searches may find in `held`.
    fn dense(&self, held: &Shelf, model: &Model) -> DenseIndex {
        let mut index = DenseIndex::new(model.dimension);
        for (id, chunk) in held.enabled() {
            if let Some(vector) = self.vectors.get(&(model.name.clone(), chunk.text_hash)) {
                let record = &chunk.record;
                let symbols = symbol_lines(record);
                let row = NewRow { id, doc_id: &record.doc_id, facts: facts(record, &symbols) };
                index.push(&row, vector.iter().copied());
            }
        }
        index
    }
}

/// Which chunks have a term, and how often: what BM25 reads.
#[derive(Debug, Default)]
struct Words {
    /// Every chunk and the number of its terms.
    chunks: Vec<(ChunkId, u32)>,
    /// By term: positions in `chunks` and how often the term is there.
    by_term: BTreeMap<String, Vec<(u32, u32)>>,
}

impl Words {
    fn of(held: &Shelf) -> Self {
        let mut words = Self::default();
        for (id, chunk) in held.chunks() {
            let at = words.chunks.len() as u32;
            let mut length = 0;
            for term in chunk.terms.split_whitespace() {
                length += 1;
                let places = match words.by_term.get_mut(term) {
                    Some(places) => places,
                    None => words.by_term.entry(term.to_owned()).or_default(),
                };
                match places.last_mut() {
                    Some((chunk, count)) if *chunk == at => *count += 1,
                    _ => places.push((at, 1)),
                }
            }
            words.chunks.push((id, length));
        }
        words
    }

    /// Where `term` is, in order, and how often; a term that is a prefix is everything that it begins.
    fn places(&self, term: &str) -> Cow<'_, [(u32, u32)]> {
        if !analysis::is_prefix(term) {
            return Cow::Borrowed(self.by_term.get(term).map_or(&[], Vec::as_slice));
        }
        let mut places: BTreeMap<u32, u32> = BTreeMap::new();
        let begun = self.by_term.range(term.to_owned()..).take_while(|(word, _)| word.starts_with(term));
        for (chunk, count) in begun.flat_map(|(_, places)| places) {
            *places.entry(*chunk).or_default() += count;
        }
        places.into_iter().collect()
    }

    /// The chunks with any of the terms, by BM25 with the constants and the floor of `SQLite`'s FTS5.
    fn bm25(&self, terms: &[String]) -> impl Iterator<Item = Scored> {
        const K1: f64 = 1.2;
        const B: f64 = 0.75;
        let all = self.chunks.len() as f64;
        let mean = self.chunks.iter().map(|(_, length)| f64::from(*length)).sum::<f64>() / all.max(1.0);
        let mut scores = vec![None; self.chunks.len()];
        for term in terms {
            let places = self.places(term);
            let having = places.len() as f64;
            let weight = ((all - having + 0.5) / (having + 0.5)).ln().max(1e-6);
            for &(chunk, count) in &*places {
                let (count, length) = (f64::from(count), f64::from(self.chunks[chunk as usize].1) / mean);
                *scores[chunk as usize].get_or_insert(0.0) +=
                    weight * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
            }
        }
        let hit = |((id, _), score): (&(ChunkId, u32), Option<f64>)| Some(Scored { id: *id, score: score? });
        self.chunks.iter().zip(scores).filter_map(hit)
    }
}
