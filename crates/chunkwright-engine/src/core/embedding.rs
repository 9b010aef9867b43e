//! Calls an embedder on the engine's own threads, and caches the vectors of queries.

use std::sync::Arc;
use std::time::Duration;

use chunkwright_index::on_pool;
use chunkwright_models::{EmbedError, Embedder, Embedding, ModelInfo, Role};
use quick_cache::sync::Cache;
use rayon::ThreadPool;

use crate::core::observe::{EmbedCall, Teller};

/// Maximum number of cached query vectors: 13 MB with vectors of 384 numbers.
const QUERIES: usize = 8_192;

/// Length of the longest cached query, in bytes.
const MAX_QUERY: usize = 1_024;

/// An embedder that computes on the engine's threads, from any calling thread, and caches the vectors of queries.
pub(crate) struct EngineEmbedder {
    inner: Arc<dyn Embedder>,
    pool: Arc<ThreadPool>,
    queries: Cache<String, Embedding>,
    teller: Teller,
}

impl EngineEmbedder {
    pub(crate) fn new(inner: Arc<dyn Embedder>, pool: Arc<ThreadPool>, teller: Teller) -> Self {
        Self { inner, pool, queries: Cache::new(QUERIES), teller }
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
        self.teller.call(call, || on_pool(&self.pool, || self.inner.embed(texts, role)))
    }

    fn embed_query(&self, query: &str) -> Result<(Embedding, Option<EmbedError>), EmbedError> {
        if let Some(embedding) = self.queries.get(query) {
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
        let asked = || on_pool(&self.pool, || self.inner.embed_query(query));
        let (embedding, error) = self.teller.call(call, asked)?;
        // A part that is missing now may be available later, so the result is not cached.
        if error.is_none() && query.len() <= MAX_QUERY {
            self.queries.insert(query.to_owned(), embedding.clone());
        }
        Ok((embedding, error))
    }
}
