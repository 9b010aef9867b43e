//! Vectors already computed: a text that was embedded once is not embedded again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::embedders::{EmbedError, Embedder, Role};

/// The key of a text's vector: the first 128 bits of its BLAKE3 hash.
pub type TextHash = [u8; 16];

/// The hash of exactly these bytes.
pub fn text_hash(text: &str) -> TextHash {
    let mut hash = [0; 16];
    hash.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    hash
}

/// Keeps vectors of passages by model and text.
///
/// A cache that cannot answer has no vectors, and one that cannot keep them forgets: neither is an
/// error, since every vector can be computed again.
pub trait VectorCache {
    /// For each hash, its vector by the model of that name, if there is one.
    fn get_many(&self, model: &str, hashes: &[TextHash]) -> Vec<Option<Vec<f32>>>;

    /// Keeps vectors of the model of that name.
    fn put_many(&self, model: &str, vectors: &[(TextHash, &[f32])]);
}

/// A cache that lasts as long as its owner.
#[derive(Debug, Default)]
pub struct MemoryCache {
    models: Mutex<HashMap<String, HashMap<TextHash, Vec<f32>>>>,
}

impl VectorCache for MemoryCache {
    fn get_many(&self, model: &str, hashes: &[TextHash]) -> Vec<Option<Vec<f32>>> {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(vectors) = models.get(model) else { return vec![None; hashes.len()] };
        hashes.iter().map(|hash| vectors.get(hash).cloned()).collect()
    }

    fn put_many(&self, model: &str, vectors: &[(TextHash, &[f32])]) {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let known = models.entry(model.to_owned()).or_default();
        known.extend(vectors.iter().map(|&(hash, vector)| (hash, vector.to_vec())));
    }
}

/// Vectors of passages, and what it took to get them.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// One vector for each text, in their order.
    pub vectors: Vec<Vec<f32>>,
    /// Number of texts that were embedded: each once, and only those that the cache did not know.
    pub computed: usize,
    /// Number of those that are longer than the model reads.
    pub truncated: usize,
}

/// The vectors of `texts` as passages, from `cache` where it knows them, which then knows them all.
///
/// # Errors
///
/// If a text that the cache does not know cannot be embedded.
pub fn embed_cached(
    embedder: &dyn Embedder,
    cache: &dyn VectorCache,
    texts: &[&str],
) -> Result<Embedded, EmbedError> {
    let model = &embedder.model().name;
    let hashes: Vec<TextHash> = texts.iter().map(|text| text_hash(text)).collect();
    let mut vectors = cache.get_many(model, &hashes);
    vectors.resize(texts.len(), None);
    // Equal texts wait for one vector; `first` is where it will be.
    let mut first: HashMap<TextHash, usize> = HashMap::new();
    let mut unknown = Vec::new();
    for (index, (vector, hash)) in vectors.iter().zip(&hashes).enumerate() {
        if vector.is_none() && !first.contains_key(hash) {
            first.insert(*hash, unknown.len());
            unknown.push(index);
        }
    }
    let unknown_texts: Vec<&str> = unknown.iter().map(|&index| texts[index]).collect();
    let computed = embedder.embed(&unknown_texts, Role::Passage).map_err(|error| error.moved(&unknown))?;
    let kept: Vec<(TextHash, &[f32])> = unknown
        .iter()
        .zip(&computed)
        .map(|(&index, embedding)| (hashes[index], &*embedding.vector))
        .collect();
    cache.put_many(model, &kept);
    let vectors = vectors
        .into_iter()
        .zip(&hashes)
        .map(|(vector, hash)| vector.or_else(|| Some(computed.get(*first.get(hash)?)?.vector.clone())))
        .map(Option::unwrap_or_default)
        .collect();
    let truncated = computed.iter().filter(|embedding| embedding.unread_tokens > 0).count();
    Ok(Embedded { vectors, computed: computed.len(), truncated })
}
