//! Sparse vectors that a model gives: the contract of every store.

use std::collections::BTreeMap;

use chunkwright::ChunkId;
use chunkwright_index::{Change, Filter, GenerationSpec, Model, Scored, StoreError, Vector};
use chunkwright_models::{MAX_WEIGHTS, sparse_dot, text_hash};

use crate::contract::document;
use crate::fixture::{for_each_store, open};

pub(crate) const C: &str = "notes";

pub(crate) fn spec(sparse: bool) -> GenerationSpec {
    let model = Model { name: "m".into(), dimension: 2, sparse };
    GenerationSpec { model: Some(model), ..GenerationSpec::default() }
}

pub(crate) fn vector(weights: &[(u32, f32)]) -> Vector {
    Vector { dense: vec![0.8, 0.6], sparse: Some(weights.to_vec()), codes: None }
}

type Weights = Vec<(u32, f32)>;

/// Numbers by chance, the same at every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Some of 60 tokens, those of small numbers more often.
    fn weights(&mut self) -> Weights {
        let count = self.below(12);
        let mut weights = BTreeMap::new();
        for _ in 0..count {
            let token = self.below(60).min(self.below(60)) as u32 * 4001;
            weights.insert(token, (1 + self.below(64)) as f32 / 16.0);
        }
        weights.into_iter().collect()
    }
}

/// What a search by `query` must find of `chunks`.
fn brute_force<'a>(
    chunks: impl Iterator<Item = (ChunkId, &'a Weights)>,
    query: &[(u32, f32)],
) -> Vec<Scored> {
    let mut found: Vec<Scored> = chunks
        .map(|(id, weights)| Scored { id, score: f64::from(sparse_dot(query, weights)) })
        .filter(|scored| scored.score > 0.0)
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    found
}

#[test]
fn sparse_search_is_the_dot_product_of_what_is_stored_now() {
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, &folder.path().join("store"));
        let generation = store.begin(C, &spec(true)).unwrap();
        let mut dice = Dice(7);
        // By document, what each of its chunks weighs.
        let mut stored: BTreeMap<String, Vec<(ChunkId, Weights)>> = BTreeMap::new();
        for round in 0..40 {
            let doc_id = format!("{}/{}.txt", ["a", "b"][dice.below(2) as usize], dice.below(9));
            let listed = store.documents(&generation).unwrap();
            let base = listed.iter().find(|info| info.doc_id == doc_id).map_or(0, |info| info.version);
            let filling = "Words that fill a line, as many as it takes to be a chunk alone. ".repeat(3);
            let texts: Vec<String> =
                (0..=dice.below(3)).map(|n| format!("Text {n} of round {round}. {filling}")).collect();
            let new = document(&doc_id, base, &texts.iter().map(String::as_str).collect::<Vec<_>>());
            let weights: Vec<Weights> = new.chunks.iter().map(|_| dice.weights()).collect();
            let known = new.chunks.iter().zip(&weights);
            // Now and then a chunk waits for its vectors.
            let known: Vec<_> = known.filter(|_| round % 5 > 0).collect();
            let vectors: Vec<_> =
                known.iter().map(|(chunk, weights)| (chunk.text_hash, vector(weights))).collect();
            store.cache().put_vectors("m", &vectors).unwrap();
            let of_chunks =
                known.iter().map(|(chunk, weights)| (chunk.record.chunk_id, (*weights).clone())).collect();
            let change = if round % 7 == 6 && base > 0 {
                stored.remove(&doc_id);
                Change::Remove { doc_id }
            } else {
                stored.insert(doc_id, of_chunks);
                Change::Replace(Box::new(new))
            };
            store.write(&generation, &[change]).unwrap();
            let query = dice.weights();
            let all = || stored.iter().flat_map(|(doc_id, chunks)| chunks.iter().map(move |c| (doc_id, c)));
            let expected = brute_force(all().map(|(_, (id, weights))| (*id, weights)), &query);
            let find = |filter: &Filter, limit| store.sparse(&generation, &query, filter, limit).unwrap();
            assert_eq!(find(&Filter::default(), 99), expected, "{kind} round {round} {query:?}");
            let some = 1 + dice.below(4) as usize;
            assert_eq!(find(&Filter::default(), some), expected[..some.min(expected.len())], "{kind}");
            let of_a = all().filter(|(doc_id, _)| doc_id.starts_with("a/"));
            let expected = brute_force(of_a.map(|(_, (id, weights))| (*id, weights)), &query);
            assert_eq!(find(&Filter::parse("doc_id~a/**").unwrap(), 99), expected, "{kind} round {round}");
        }
        assert_eq!(store.sparse(&generation, &[], &Filter::default(), 9).unwrap(), [], "{kind}");
        assert_eq!(store.sparse(&generation, &[(0, 1.0)], &Filter::default(), 0).unwrap(), [], "{kind}");
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new(), "{kind}");
    });
}

#[test]
fn a_dense_and_a_sparse_vector_are_kept_as_one_and_no_model_mixes_kinds() {
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, &folder.path().join("store"));
        let generation = store.begin(C, &spec(true)).unwrap();
        assert_eq!(store.open(C).unwrap().spec, spec(true), "{kind}");
        let (hash, cache) = (text_hash("Some text."), store.cache());
        cache.put_vectors("m", &[(hash, vector(&[(3, 0.5), (70_000, 2.0)]))]).unwrap();
        // What is known stays as it is, both of it.
        cache.put_vectors("m", &[(hash, vector(&[(4, 1.0)])), ([9; 16], vector(&[]))]).unwrap();
        let expected = [Some(vector(&[(3, 0.5), (70_000, 2.0)])), Some(vector(&[])), None];
        assert_eq!(cache.vectors("m", &[hash, [9; 16], [8; 16]]).unwrap(), expected, "{kind}");
        // A dense vector of two numbers, and two weights of 1 and 3 bytes of distance and 4 of weight.
        assert_eq!(cache.usage().unwrap()[0].bytes, 8 + 5 + 7 + 8, "{kind}");
        let error = cache.put_vectors("m", &[([7; 16], vec![1.0, 2.0].into())]).unwrap_err();
        assert!(matches!(error, StoreError::OtherVectors { .. }), "{kind} {error}");
        for wrong in [
            vec![(1, f32::NAN)],
            vec![(1, -1.0)],
            vec![(1, 0.0)],
            vec![(2, 1.0), (1, 1.0)],
            vec![(1, 1.0), (1, 1.0)],
            (0..=MAX_WEIGHTS as u32).map(|token| (token, 1.0)).collect(),
        ] {
            let error = cache.put_vectors("m", &[([7; 16], vector(&wrong))]).unwrap_err().to_string();
            assert!(error.starts_with("invalid sparse vector"), "{kind} {error}");
            assert!(store.sparse(&generation, &wrong, &Filter::default(), 9).is_err(), "{kind}");
        }
        assert_eq!(cache.vectors("m", &[[7; 16]]).unwrap(), [None], "{kind}");
        let error = store.begin("other", &spec(false)).unwrap_err().to_string();
        let expected = "`m` returns dense vectors only, but dense and sparse vectors are stored for it; a different model needs a different name";
        assert_eq!(error, expected, "{kind}");
    });
}
