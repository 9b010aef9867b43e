//! The cache of the in-memory store: vectors and notes.

use std::collections::{BTreeMap, HashSet};

use super::{MemoryStore, State};
use crate::cache::{Cache, CacheUsage};
use crate::error::StoreError;
use crate::vector::Vector;
use chunkwright_models::TextHash;

impl Cache for MemoryStore {
    fn vectors(&self, model: &str, hashes: &[TextHash]) -> Result<Vec<Option<Vector>>, StoreError> {
        let state = self.read();
        Ok(hashes.iter().map(|&hash| state.vectors.get(&(model.to_owned(), hash)).cloned()).collect())
    }

    fn put_vectors(&self, model: &str, vectors: &[(TextHash, Vector)]) -> Result<(), StoreError> {
        let Some((_, first)) = vectors.first() else { return Ok(()) };
        let mut state = self.lock();
        let known = state.models.get(model).cloned().unwrap_or_else(|| first.model(model));
        vectors.iter().try_for_each(|(_, vector)| vector.check(&known))?;
        state.know(&known)?;
        for (hash, vector) in vectors {
            state.vectors.entry((model.to_owned(), *hash)).or_insert_with(|| vector.clone());
        }
        Ok(())
    }

    fn notes(&self, keys: &[TextHash]) -> Result<Vec<Option<String>>, StoreError> {
        let state = self.read();
        Ok(keys.iter().map(|key| state.notes.get(key).cloned()).collect())
    }

    fn put_notes(&self, notes: &[(TextHash, String)]) -> Result<(), StoreError> {
        self.lock().notes.extend(notes.iter().cloned());
        Ok(())
    }

    fn usage(&self) -> Result<Vec<CacheUsage>, StoreError> {
        let state = self.read();
        let used = state.used();
        let mut usage: BTreeMap<&str, CacheUsage> = BTreeMap::new();
        for (key, vector) in &state.vectors {
            let entry = usage.entry(&key.0).or_insert_with(|| CacheUsage {
                model: Some(key.0.clone()),
                entries: 0,
                bytes: 0,
                used: 0,
            });
            entry.entries += 1;
            entry.bytes += vector.bytes();
            entry.used += usize::from(used.contains(key));
        }
        let (entries, bytes) = (state.notes.len(), state.notes.values().map(|note| note.len() as u64).sum());
        let notes = CacheUsage { model: None, entries, bytes, used: entries };
        Ok(usage.into_values().chain([notes]).collect())
    }

    fn clear(&self) -> Result<usize, StoreError> {
        let mut state = self.lock();
        let used = state.used();
        let before = state.vectors.len() + state.notes.len();
        state.vectors.retain(|key, _| used.contains(key));
        state.notes.clear();
        Ok(before - state.vectors.len())
    }
}

impl State {
    /// Keys of the vectors that some chunk needs.
    fn used(&self) -> HashSet<(String, TextHash)> {
        let held = self.collections.values().flat_map(|kept| kept.generations.values());
        held.flat_map(|held| {
            held.chunks().map(|(_, chunk)| (held.generation.model_name().to_owned(), chunk.text_hash))
        })
        .collect()
    }
}
