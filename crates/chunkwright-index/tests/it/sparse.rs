//! Sparse vectors that a model gives: how searches use them.

use std::sync::atomic::Ordering;

use chunkwright::ChunkId;
use chunkwright_index::transfer::{Row, Vectors, export};
use chunkwright_index::{
    Access, Answer, Cache, Change, Filter, Fusion, Generation, GenerationSpec, GenerationStore, Hit, Kept,
    Mode, Models, Overlay, SearchOptions, SqliteStore, Stage, Store, StoreError, Vector, Verdict, amend,
    explain, search,
};
use chunkwright_models::sparse_dot;
use rusqlite::Connection;

use crate::contract::document;
use crate::fixture::{Bag, Fixture, for_each_store, now, open};
use crate::sparse_vectors::{C, spec, vector};

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
    let other = Vector { dense: vec![0.6, 0.8], sparse: Some(vec![(2, 1.0)]), codes: None };
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
