//! How does an engine ask an embedder? On its own threads, and about the same query once.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chunkwright_models::{EmbedError, Embedder, Embedding, ModelInfo, Role};
use rayon::ThreadPool;

use crate::observe::{EmbedCall, Teller};

/// Most queries of each of two halves whose vectors are remembered: 13 MB with vectors of 384 numbers.
const HALF: usize = 4_096;

/// Longest query that is remembered, in bytes.
const MAX_QUERY: usize = 1_024;

/// An embedder that computes on the engine's threads, whichever thread asks it, and remembers the vectors of queries.
pub(crate) struct EngineEmbedder {
    inner: Arc<dyn Embedder>,
    pool: Arc<ThreadPool>,
    queries: Mutex<Queries>,
    teller: Teller,
}

/// Queries asked lately. When the newer half is full, it becomes the older, and what only the older had is forgotten.
#[derive(Default)]
struct Queries {
    newer: HashMap<String, Embedding>,
    older: HashMap<String, Embedding>,
}

impl EngineEmbedder {
    pub(crate) fn new(inner: Arc<dyn Embedder>, pool: Arc<ThreadPool>, teller: Teller) -> Self {
        Self { inner, pool, queries: Mutex::default(), teller }
    }
}

impl Queries {
    fn get(&mut self, query: &str) -> Option<Embedding> {
        if let Some(known) = self.newer.get(query) {
            return Some(known.clone());
        }
        let (query, known) = self.older.remove_entry(query)?;
        self.put(query, known.clone());
        Some(known)
    }

    fn put(&mut self, query: String, embedding: Embedding) {
        if self.newer.len() >= HALF {
            self.older = mem::take(&mut self.newer);
        }
        self.newer.insert(query, embedding);
    }
}

impl Embedder for EngineEmbedder {
    fn model(&self) -> &ModelInfo {
        self.inner.model()
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Embedding>, EmbedError> {
        let purpose = match role {
            Role::Query => "query",
            Role::Passage => "documents",
        };
        let call = (&*self.inner.model().name, purpose, texts.len());
        self.teller.call(call, || self.pool.install(|| self.inner.embed(texts, role)))
    }

    fn embed_query(&self, query: &str) -> Result<(Embedding, Option<EmbedError>), EmbedError> {
        let known = || self.queries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedding) = known().get(query) {
            let call = EmbedCall {
                model: &self.inner.model().name,
                purpose: "query",
                texts: 1,
                took: Duration::ZERO,
                outcome: "cached",
            };
            self.teller.tell(|observer| observer.embedded(call));
            return Ok((embedding, None));
        }
        let call = (&*self.inner.model().name, "query", 1);
        let asked = || self.pool.install(|| self.inner.embed_query(query));
        let (embedding, error) = self.teller.call(call, asked)?;
        // A part that is missing today may be there tomorrow.
        if error.is_none() && query.len() <= MAX_QUERY {
            known().put(query.to_owned(), embedding.clone());
        }
        Ok((embedding, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_asked_lately_are_remembered_and_memory_is_bounded() {
        let embedding =
            |number: usize| Embedding { vector: vec![number as f32], unread_tokens: 0, sparse: None };
        let mut queries = Queries::default();
        for number in 0..3 * HALF {
            queries.put(number.to_string(), embedding(number));
            // One that is asked again and again stays.
            assert_eq!(queries.get("0"), Some(embedding(0)));
            assert!(queries.newer.len() + queries.older.len() <= 2 * HALF);
        }
        assert_eq!(queries.get("1"), None);
        assert_eq!(queries.get(&(3 * HALF - 1).to_string()), Some(embedding(3 * HALF - 1)));
    }
}
