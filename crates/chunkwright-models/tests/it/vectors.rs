//! The vector cache: each text is embedded once.

use std::path::Path;
use std::sync::{Arc, Mutex};

use chunkwright_models::{
    EmbedError, Embedder, Embedding, MemoryCache, ModelInfo, Role, VectorCache, counter, embed_cached,
    text_hash,
};

/// Embeds a text as its length, and notes what it was given.
struct Lengths {
    info: ModelInfo,
    seen: Mutex<Vec<String>>,
}

impl Lengths {
    fn new(name: &str) -> Self {
        let counter = counter("chars", Path::new("")).unwrap();
        Self { info: ModelInfo::new(name, 1, Some(5), counter), seen: Mutex::default() }
    }
}

impl Embedder for Lengths {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Embedding>, EmbedError> {
        assert_eq!(role, Role::Passage);
        if let Some(index) = texts.iter().position(|text| text.is_empty()) {
            return Err(EmbedError::NoVector { index, model: self.info.name.clone() });
        }
        self.seen.lock().unwrap().extend(texts.iter().map(|&text| text.to_owned()));
        let embedding = |text: &&str| Embedding {
            vector: vec![text.len() as f32],
            unread_tokens: text.len().saturating_sub(5),
        };
        Ok(texts.iter().map(embedding).collect())
    }
}

fn check(cache: &dyn VectorCache, embedder: &Lengths, texts: &[&str], computed: &[&str], truncated: usize) {
    embedder.seen.lock().unwrap().clear();
    let found = embed_cached(embedder, cache, texts).unwrap();
    let expected: Vec<Vec<f32>> = texts.iter().map(|text| vec![text.len() as f32]).collect();
    assert_eq!(found.vectors, expected);
    assert_eq!(*embedder.seen.lock().unwrap(), computed);
    assert_eq!((found.computed, found.truncated), (computed.len(), truncated));
}

#[test]
fn only_unknown_texts_are_embedded_and_each_once() {
    let cache = MemoryCache::default();
    let embedder = Lengths::new("lengths");
    check(&cache, &embedder, &["a", "bb", "a", "ccc"], &["a", "bb", "ccc"], 0);
    check(&cache, &embedder, &["ccc", "a"], &[], 0);
    check(&cache, &embedder, &["ccc", "longer", "a", "longer"], &["longer"], 1);
    check(&cache, &embedder, &[], &[], 0);
}

#[test]
fn models_do_not_share_vectors() {
    let cache = MemoryCache::default();
    check(&cache, &Lengths::new("one"), &["text"], &["text"], 0);
    check(&cache, &Lengths::new("other"), &["text"], &["text"], 0);
}

#[test]
fn an_error_names_the_place_among_all_texts() {
    let cache = MemoryCache::default();
    let embedder = Lengths::new("lengths");
    check(&cache, &embedder, &["a"], &["a"], 0);
    let error = embed_cached(&embedder, &cache, &["a", "b", ""]).unwrap_err();
    assert!(matches!(error, EmbedError::NoVector { index: 2, .. }), "{error}");
}

#[test]
fn a_cache_that_forgets_costs_time_only() {
    struct Forgetful;
    impl VectorCache for Forgetful {
        fn get_many(&self, _: &str, _: &[[u8; 16]]) -> Vec<Option<Vec<f32>>> {
            Vec::new()
        }
        fn put_many(&self, _: &str, _: &[([u8; 16], &[f32])]) {}
    }
    let embedder = Lengths::new("lengths");
    check(&Forgetful, &embedder, &["a", "a", "b"], &["a", "b"], 0);
    check(&Forgetful, &embedder, &["a"], &["a"], 0);
}

#[test]
fn the_hash_of_a_text_is_the_first_half_of_its_blake3() {
    assert_eq!(u128::from_be_bytes(text_hash("")), 0xaf13_49b9_f5f9_a1a6_a040_4dea_36dc_c949);
    assert_ne!(text_hash("a"), text_hash("a "));
    let _: Arc<dyn Embedder> = Arc::new(Lengths::new("an embedder is shared by threads"));
}
