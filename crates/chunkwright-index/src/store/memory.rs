//! A store that is gone with its process: the plainest thing that keeps the promises of [`Store`].

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use chunkwright::{ChunkId, Record};

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
    documents: BTreeMap<String, (StoredDocument, Vec<NewChunk>)>,
    disabled: HashSet<ChunkId>,
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
        let chunks = self.documents.values().flat_map(|(_, chunks)| chunks);
        chunks.filter_map(|chunk| Some((chunk.record.chunk_id.parse().ok()?, chunk)))
    }

    fn enabled(&self) -> impl Iterator<Item = (ChunkId, &NewChunk)> {
        self.chunks().filter(|(id, _)| !self.disabled.contains(id))
    }
}

fn passes(filter: &Filter, record: &Record) -> bool {
    filter.passes_doc_id(&record.doc_id)
        && filter.passes_facts(&record.category, record.language.as_deref(), &record.content_type)
}

impl Store for MemoryStore {
    fn collections(&self) -> Result<Vec<Collection>, StoreError> {
        let collection = |(name, held): (&String, &Shelf)| Collection {
            name: name.clone(),
            model: held.model.clone(),
            documents: held.documents.len(),
            chunks: held.documents.values().map(|(_, chunks)| chunks.len()).sum(),
            pending: held.documents.values().map(|(document, _)| document.info.pending as usize).sum(),
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
                Change::Remove { doc_id } => outcome(held.documents.remove(doc_id).is_some()),
                Change::Enable(id) => outcome(held.disabled.remove(id)),
                Change::Disable(id) => {
                    let exists = held.chunks().any(|(chunk, _)| chunk == *id);
                    outcome(exists && held.disabled.insert(*id))
                }
            });
        }
        held.change += u64::from(outcomes.contains(&Outcome::Written));
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
                for (document, chunks) in held.documents.values_mut() {
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
        Ok(documents.map(|(document, _)| document.info.clone()).collect())
    }

    fn document(&self, collection: &str, doc_id: &str) -> Result<Option<StoredDocument>, StoreError> {
        let state = self.read();
        Ok(state.collection(collection)?.documents.get(doc_id).map(|(document, _)| document.clone()))
    }

    fn records(&self, collection: &str, doc_id: &str) -> Result<Vec<Record>, StoreError> {
        let state = self.read();
        let found = state.collection(collection)?.documents.get(doc_id);
        Ok(found
            .map(|(_, chunks)| chunks.iter().map(|chunk| chunk.record.clone()).collect())
            .unwrap_or_default())
    }

    fn chunk(&self, collection: &str, id: ChunkId) -> Result<Option<StoredChunk>, StoreError> {
        let state = self.read();
        let held = state.collection(collection)?;
        let found = held.chunks().find(|(chunk, _)| *chunk == id);
        let outline =
            |doc_id: &String| held.documents.get(doc_id).map(|(document, _)| document.doc_toc.clone());
        Ok(found.map(|(_, chunk)| StoredChunk {
            record: chunk.record.clone(),
            doc_toc: outline(&chunk.record.doc_id).unwrap_or_default(),
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
        let mut index = DenseIndex::new(model.dimension);
        for (id, chunk) in held.enabled() {
            if let Some(vector) = state.vectors.get(&(model.name.clone(), chunk.text_hash)) {
                let record = &chunk.record;
                let row = NewRow {
                    id,
                    doc_id: &record.doc_id,
                    category: &record.category,
                    language: record.language.as_deref(),
                    content_type: &record.content_type,
                };
                index.push(&row, vector.iter().copied());
            }
        }
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
        let chunks: Vec<(ChunkId, &NewChunk)> = held.chunks().collect();
        let scores = bm25(&chunks, terms);
        let hits = chunks.iter().zip(scores).filter(|((id, chunk), score)| {
            score.is_some() && !held.disabled.contains(id) && passes(filter, &chunk.record)
        });
        Ok(top(hits.filter_map(|((id, _), score)| Some(Scored { id: *id, score: score? })).collect(), limit))
    }

    fn check(&self) -> Result<CheckReport, StoreError> {
        let state = self.read();
        let mut report = CheckReport::default();
        let mut seen = BTreeSet::new();
        for (name, held) in &state.collections {
            report.documents += held.documents.len();
            for (document, _) in held.documents.values().filter(|(document, _)| !document.is_intact()) {
                let doc_id = &document.info.doc_id;
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
    let stored = held.documents.get(doc_id).map(|(document, _)| &document.info);
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
    let others = held.documents.iter().filter(|(other, _)| *other != doc_id);
    let mut taken: HashSet<&str> =
        others.flat_map(|(_, (_, chunks))| chunks).map(|chunk| chunk.record.chunk_id.as_str()).collect();
    for chunk in &new.chunks {
        let id = chunk.record.chunk_id.parse().map_err(|error| StoreError::Damaged {
            problem: format!("a new chunk cannot be stored: {error}"),
        })?;
        if !taken.insert(&chunk.record.chunk_id) {
            return Err(StoreError::IdCollision { id, doc_id: doc_id.clone() });
        }
    }
    *version += 1;
    let mut document = new.document.clone();
    document.info.version = *version;
    document.info.chunks = new.chunks.len() as u32;
    document.info.pending = pending;
    held.documents.insert(doc_id.clone(), (document, new.chunks.clone()));
    Ok(Outcome::Written)
}

/// BM25 of every chunk, with the constants and the floor of `SQLite`'s FTS5; `None` where no term is.
fn bm25(chunks: &[(ChunkId, &NewChunk)], terms: &[String]) -> Vec<Option<f64>> {
    const K1: f64 = 1.2;
    const B: f64 = 0.75;
    let words: Vec<Vec<&str>> =
        chunks.iter().map(|(_, chunk)| chunk.terms.split_whitespace().collect()).collect();
    let mean = words.iter().map(Vec::len).sum::<usize>() as f64 / words.len().max(1) as f64;
    let mut scores = vec![None; chunks.len()];
    for term in terms {
        let is_match =
            |word: &&&str| if analysis::is_prefix(term) { word.starts_with(term) } else { **word == term };
        let counts: Vec<usize> = words.iter().map(|words| words.iter().filter(is_match).count()).collect();
        let (all, having) = (counts.len() as f64, counts.iter().filter(|&&count| count > 0).count() as f64);
        let weight = ((all - having + 0.5) / (having + 0.5)).ln().max(1e-6);
        for ((score, words), count) in scores.iter_mut().zip(&words).zip(counts) {
            if count > 0 {
                let count = count as f64;
                let length = words.len() as f64 / mean;
                *score.get_or_insert(0.0) +=
                    weight * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
            }
        }
    }
    scores
}
