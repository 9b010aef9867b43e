//! Sparse vectors that a model gives: what every store promises of them, and what a search makes of them.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use chunkwright::ChunkId;
use chunkwright_index::transfer::{Row, Vectors, export};
use chunkwright_index::{
    Access, Answer, Cache, Change, Filter, Fusion, Generation, GenerationSpec, Hit, Kept, Mode, Model,
    Models, Overlay, Scored, SearchOptions, SqliteStore, Stage, Store, StoreError, Vector, Verdict, amend,
    explain, search,
};
use chunkwright_models::{MAX_WEIGHTS, sparse_dot, text_hash};
use rusqlite::Connection;

use crate::contract::document;
use crate::fixture::{Bag, Fixture, for_each_store, for_each_store_and_server, now, open};

const C: &str = "notes";

fn spec(sparse: bool) -> GenerationSpec {
    let model = Model { name: "m".into(), dimension: 2, sparse };
    GenerationSpec { model: Some(model), ..GenerationSpec::default() }
}

fn vector(weights: &[(u32, f32)]) -> Vector {
    Vector { dense: vec![0.8, 0.6], sparse: Some(weights.to_vec()) }
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
    for_each_store_and_server(|kind| {
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
    for_each_store_and_server(|kind| {
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

#[test]
fn a_generation_without_sparse_vectors_finds_nothing_by_them() {
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, &folder.path().join("store"));
        for spec in [GenerationSpec::default(), spec(false)] {
            let generation = store.begin(C, &spec).unwrap();
            let new = document("a.txt", 0, &["Some text."]);
            store.cache().put_vectors("m", &[(new.chunks[0].text_hash, vec![1.0, 2.0].into())]).unwrap();
            store.write(&generation, &[Change::Replace(Box::new(new))]).unwrap();
            assert_eq!(store.sparse(&generation, &[(1, 1.0)], &Filter::default(), 9).unwrap(), [], "{kind}");
        }
    });
}

#[test]
fn a_sparse_vector_beside_another_texts_dense_one_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path(), Access::Write).unwrap();
    store.begin(C, &spec(true)).unwrap();
    let other = Vector { dense: vec![0.6, 0.8], sparse: Some(vec![(2, 1.0)]) };
    store.put_vectors("m", &[([1; 16], vector(&[(1, 1.0)])), ([2; 16], other)]).unwrap();
    let file = folder.path().join(SqliteStore::FILE);
    let change = |statement: &str| Connection::open(&file).unwrap().execute_batch(statement).unwrap();
    let problems = || store.check().unwrap().problems;
    assert_eq!(problems(), Vec::<String>::new());
    change("CREATE TABLE kept AS SELECT * FROM vectors");
    change("UPDATE vectors SET sparse = (SELECT sparse FROM kept WHERE kept.key <> vectors.key)");
    assert_eq!(problems(), ["2 vectors that are not what was stored"]);
    let error = store.vectors("m", &[[1; 16]]).unwrap_err().to_string();
    assert!(error.contains("a sparse vector is not what was stored with its dense one"), "{error}");
    change("UPDATE vectors SET sparse = NULL WHERE key = 1");
    change("UPDATE vectors SET sparse = (SELECT sparse FROM kept WHERE key = 2) WHERE key = 2");
    assert_eq!(
        problems(),
        ["1 vectors without the sparse one that their model gives, or with one that it does not"]
    );
}

const GUIDE: &str = "# Guide\n\n## Install\n\nDownload the archive and unpack it into a folder of its own.\n\n\
## Configure\n\nSet `maxChunkSize` in the configuration file before the first start.\n";
const CHINESE: &str =
    "# 指南\n\n## 安装\n\n下载压缩包并解压到单独的文件夹。\n\n## 数据库\n\n启动之前必须先配置数据库连接。\n";

fn corpus(kind: &str) -> Fixture {
    let files =
        [("guide.md", GUIDE), ("zh/guide.md", CHINESE), ("more.md", "# More\n\nAn archive of letters.\n")];
    let fixture = Fixture::with_bag(kind, &files, Bag::with_sparse(256));
    fixture.index();
    fixture
}

fn answer(fixture: &Fixture, query: &str, options: &SearchOptions) -> Answer {
    let models = Models::embedder(&*fixture.bag);
    search(&*fixture.store, &now(&*fixture.store), models, query, options).unwrap()
}

#[test]
fn every_hit_accounts_for_the_sparse_stage_too() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let query = "unpack the archive";
        let sparse =
            answer(&fixture, query, &SearchOptions { mode: Mode::Sparse, ..SearchOptions::default() });
        assert_eq!((sparse.mode, &sparse.degraded), (Mode::Sparse, &None), "{kind}");
        assert!(sparse.hits.len() >= 2, "{kind}");
        for (index, hit) in sparse.hits.iter().enumerate() {
            let stage = hit.sparse.unwrap();
            assert_eq!((stage.rank, stage.score, hit.kept), (index + 1, hit.score, Kept::Sparse), "{kind}");
            let weights = |text: &str| crate::fixture::weights(text);
            let product = f64::from(sparse_dot(&weights(query), &weights(&hit.record.text)));
            assert!((stage.score - product).abs() < 1e-4, "{kind} {stage:?} {product}");
            assert_eq!((hit.dense, hit.lexical, stage.contribution), (None, None, None), "{kind}");
        }
        let place = |stage: Option<Stage>| stage.map(|stage| (stage.rank, stage.score));
        for fusion in [Fusion::default(), Fusion::Rrf { k: Fusion::RRF_K }] {
            let all = answer(&fixture, query, &SearchOptions { fusion, ..SearchOptions::default() });
            let first = |hit: &&Hit| hit.record.chunk_id == sparse.hits[0].record.chunk_id;
            let first = all.hits.iter().find(first).unwrap();
            assert_eq!((all.mode, first.kept), (Mode::Hybrid, Kept::Both), "{kind}");
            assert!(first.dense.is_some() && place(first.sparse) == place(sparse.hits[0].sparse), "{kind}");
            for hit in &all.hits {
                let stages = [hit.dense, hit.sparse, hit.lexical].into_iter().flatten();
                let sum: f64 = stages.map(|stage| stage.contribution.unwrap()).sum();
                assert!((sum - hit.score).abs() < 1e-9, "{kind} {fusion:?} {sum} {}", hit.score);
            }
            assert_eq!(serde_json::to_value(first).unwrap()["sparse"]["rank"], 1, "{kind}");
        }
        let all = answer(&fixture, query, &SearchOptions::default());
        let last = all.hits.iter().rfind(|hit| hit.sparse.is_some()).unwrap();
        let id = last.record.chunk_id;
        let options = SearchOptions { top_k: 1, ..SearchOptions::default() };
        let models = Models::embedder(&*fixture.bag);
        let explained = explain(&*fixture.store, &now(&*fixture.store), models, query, &options, id).unwrap();
        assert!(last.rank > 1 && place(explained.sparse) == place(last.sparse), "{kind} {explained:?}");
        assert!(matches!(explained.verdict, Verdict::Outranked { .. }), "{kind} {:?}", explained.verdict);
        let none = SearchOptions { mode: Mode::Sparse, ..options };
        let other = "数据库";
        let explained = explain(&*fixture.store, &now(&*fixture.store), models, other, &none, id).unwrap();
        assert_eq!(explained.verdict, Verdict::NoMatch, "{kind}");
    });
}

#[test]
fn a_search_goes_on_without_sparse_vectors_and_says_so() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        fixture.bag.sparse_down.store(true, Ordering::Relaxed);
        let found = answer(&fixture, "archive", &SearchOptions::default());
        assert_eq!(found.mode, Mode::Hybrid, "{kind}");
        let why = found.degraded.unwrap();
        assert!(why.contains("is to be had"), "{why}");
        assert!(found.hits.iter().all(|hit| hit.sparse.is_none()) && found.hits[0].dense.is_some(), "{kind}");
        let dense = SearchOptions { mode: Mode::Dense, ..SearchOptions::default() };
        assert_eq!(answer(&fixture, "archive", &dense).degraded, None, "{kind}");
        let refused = |fixture: &Fixture, models| {
            let options = SearchOptions { mode: Mode::Sparse, ..SearchOptions::default() };
            let store = &*fixture.store;
            search(store, &now(store), models, "archive", &options).unwrap_err().to_string()
        };
        let error = refused(&fixture, Models::embedder(&*fixture.bag));
        assert!(error.starts_with("sparse search is not possible: "), "{error}");
        let error = refused(&fixture, Models::default());
        assert!(error.starts_with("sparse search is not possible: no embedder was given"), "{error}");
        // The whole embedder down: by words alone, as ever.
        fixture.bag.down.store(true, Ordering::Relaxed);
        let found = answer(&fixture, "archive", &SearchOptions::default());
        assert!(found.mode == Mode::Lexical && !found.hits.is_empty() && found.degraded.is_some(), "{kind}");
        let plain = Fixture::new(kind, &[("a.md", GUIDE)]);
        plain.index();
        let error = refused(&plain, Models::embedder(&*plain.bag));
        assert!(
            error.contains("collection `test` has no sparse vectors, since its model gives none"),
            "{error}"
        );
    });
}

#[test]
fn a_chunk_that_waits_for_its_vectors_is_found_by_words_and_later_by_tokens() {
    for_each_store(|kind| {
        let fixture = Fixture::with_bag(kind, &[("a.md", GUIDE)], Bag::with_sparse(256));
        fixture.bag.down.store(true, Ordering::Relaxed);
        assert!(fixture.index().pending > 0, "{kind}");
        fixture.bag.down.store(false, Ordering::Relaxed);
        let by = |mode| {
            let options = SearchOptions { mode, ..SearchOptions::default() };
            answer(&fixture, "archive", &options).hits.len()
        };
        assert!(by(Mode::Lexical) > 0 && by(Mode::Hybrid) > 0 && by(Mode::Sparse) == 0, "{kind}");
        assert_eq!(fixture.index().pending, 0, "{kind}");
        assert_eq!(by(Mode::Sparse), by(Mode::Lexical), "{kind}");
    });
}

#[test]
fn a_changed_chunk_leaves_the_others_of_its_document_their_sparse_vectors() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let store = &*fixture.store;
        let by_tokens = SearchOptions { mode: Mode::Sparse, ..SearchOptions::default() };
        let records = store.records(&now(store), "guide.md").unwrap();
        let (first, last) = (&records[0], records.last().unwrap());
        assert!(last.content.contains("maxChunkSize"), "{kind}");
        let before = answer(&fixture, "configuration file", &by_tokens).hits;
        let say = |overlay: &mut Overlay| overlay.text = Some("Pelicans are birds.".into());
        let id = first.chunk_id;
        amend(store, &now(store), Some(&*fixture.bag), None, id, &say).unwrap();
        assert_eq!(
            answer(&fixture, "pelicans", &by_tokens).hits[0].record.chunk_id,
            first.chunk_id,
            "{kind}"
        );
        let after = answer(&fixture, "configuration file", &by_tokens).hits;
        assert_eq!(after[0].record.chunk_id, before[0].record.chunk_id, "{kind}");
        assert_eq!(after[0].sparse, before[0].sparse, "{kind}");
    });
}

#[test]
fn sparse_vectors_move_with_a_collection() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let mut rows: Vec<Row> = Vec::new();
        export::<StoreError>(&*fixture.store, &now(&*fixture.store), Vectors::Moved, &mut |row| {
            rows.push(serde_json::from_str(&serde_json::to_string(&row).unwrap()).unwrap());
            Ok(())
        })
        .unwrap();
        assert!(rows.iter().all(|row| row.vector.is_some() && row.sparse.is_some()), "{kind}");
        let folder = tempfile::tempdir().unwrap();
        let other = open("sqlite", &folder.path().join("store"));
        crate::transfer::import(&*other, rows).unwrap();
        assert_eq!(now(&*other).spec, now(&*fixture.store).spec, "{kind}");
        let options = SearchOptions { mode: Mode::Sparse, ..SearchOptions::default() };
        let models = Models::embedder(&*fixture.bag);
        let moved = search(&*other, &now(&*other), models, "the archive", &options).unwrap();
        let ids = |answer: Answer| -> Vec<ChunkId> {
            answer.hits.into_iter().map(|hit| hit.record.chunk_id).collect()
        };
        assert_eq!(ids(moved), ids(answer(&fixture, "the archive", &options)), "{kind}");
    });
}

#[test]
fn another_kind_of_vectors_is_another_generation() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("a.md", GUIDE)]);
        fixture.index();
        let dense = now(&*fixture.store);
        let bag = Bag::with_sparse(256);
        let pipeline = fixture.pipeline.clone().with_embedder(bag.clone());
        pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        let both: Generation = now(&*fixture.store);
        assert!(both.number > dense.number && both.spec.model.as_ref().unwrap().sparse, "{kind}");
        let fixture = Fixture { bag, ..fixture };
        let options = SearchOptions { mode: Mode::Sparse, ..SearchOptions::default() };
        assert!(!answer(&fixture, "archive", &options).hits.is_empty(), "{kind}");
        fixture.store.remove(&dense).unwrap();
        assert!(fixture.store.cache().clear().unwrap() > 0, "{kind}: the dense vectors alone");
        assert_eq!(fixture.store.cache().usage().unwrap().len(), 2, "{kind}");
        assert!(!answer(&fixture, "archive", &options).hits.is_empty(), "{kind}");
    });
}
