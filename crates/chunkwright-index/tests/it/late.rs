//! Late interaction: codes of tokens in stores, and the second look at the best.

use std::sync::atomic::Ordering;

use chunkwright::ChunkId;
use chunkwright_index::transfer::{Row, Vectors, export};
use chunkwright_index::{
    Answer, Fusion, Hit, Mode, Models, SearchOptions, SqliteStore, Stage, StoreError, explain, search,
};
use chunkwright_models::text_hash;
use rusqlite::Connection;

use crate::fixture::{Bag, Fixture, for_each_store, now};

const FERRY: &str = "# Ferry\n\nThe ferry leaves the harbour at noon and returns in the evening.\n";
const STOVE: &str = "# Stove\n\nSweep the chimney before the winter, and again when the stove smokes.\n";
const HARBOUR: &str =
    "# Harbour\n\nNobody mentions boats. Fish, nets, ropes and salt are sold here; the ferry leaves.\n";

fn corpus(kind: &str) -> Fixture {
    let files = [("ferry.md", FERRY), ("stove.md", STOVE), ("harbour.md", HARBOUR)];
    let bag = Bag::new(256);
    bag.late.store(true, Ordering::Relaxed);
    let fixture = Fixture::with_bag(kind, &files, bag);
    fixture.index();
    fixture
}

fn answer(fixture: &Fixture, query: &str, options: &SearchOptions) -> Answer {
    let models = Models::embedder(&*fixture.bag);
    search(&*fixture.store, &now(&*fixture.store), models, query, options).unwrap()
}

fn weighing(late_weight: f64) -> SearchOptions {
    let fusion = Fusion::WeightedSum { dense_weight: Some(0.4), sparse_weight: 0.0, late_weight };
    SearchOptions { fusion, ..SearchOptions::default() }
}

#[test]
fn codes_are_kept_with_vectors_and_move_with_them() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let generation = now(&*fixture.store);
        let mut rows = Vec::new();
        export::<StoreError>(&*fixture.store, &generation, Vectors::Moved, &mut |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
        let ids: Vec<ChunkId> = rows.iter().map(|row| row.record.chunk_id).collect();
        let unknown = ChunkId([7; 16]);
        let kept = fixture.store.codes(&generation, &[&ids[..], &[unknown]].concat()).unwrap();
        assert_eq!(kept.last(), Some(&None), "{kind}");
        let model = &generation.spec.model.as_ref().unwrap().name;
        for (row, kept) in rows.iter().zip(kept) {
            assert!(kept.as_ref().is_some_and(|codes| !codes.is_empty()), "{kind}");
            assert_eq!(row.codes, kept, "{kind}");
            let json = serde_json::to_string(row).unwrap();
            assert_eq!(serde_json::from_str::<Row>(&json).unwrap(), *row, "{kind}");
            let cached = fixture.store.cache().vectors(model, &[text_hash(&row.record.text)]).unwrap();
            assert_eq!(cached[0].as_ref().unwrap().codes, kept, "{kind}");
        }
        // They go with the vectors that no chunk needs.
        fixture.remove("stove.md");
        fixture.index();
        fixture.store.cache().clear().unwrap();
        assert_eq!(fixture.store.check().unwrap().problems, [""; 0], "{kind}");
        let left = fixture.store.codes(&now(&*fixture.store), &ids).unwrap();
        assert_eq!(left.iter().flatten().count(), 2, "{kind}");
    });
}

#[test]
fn what_is_looked_at_is_ordered_by_both_looks_and_every_hit_accounts_for_it() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let query = "ferry leaves";
        let by_late = answer(&fixture, query, &weighing(1.0));
        let ranks: Vec<Option<usize>> = by_late.hits.iter().map(|hit| Some(hit.late?.rank)).collect();
        assert_eq!(ranks, (1..=by_late.hits.len()).map(Some).collect::<Vec<_>>(), "{kind}");
        let first = &by_late.hits[0];
        // Both words are among the first ten of this text alone.
        assert_eq!((first.record.doc_id.as_str(), first.late.unwrap().score), ("ferry.md", 384.0), "{kind}");
        let at_first = answer(&fixture, query, &weighing(0.0));
        assert!(at_first.hits.iter().all(|hit| hit.late.is_none()), "{kind}");
        for weight in [0.1, 0.3, 0.9] {
            for hit in answer(&fixture, query, &weighing(weight)).hits {
                let parts = [hit.lexical, hit.dense, hit.late].into_iter().flatten();
                let stages: f64 = parts.filter_map(|stage: Stage| stage.contribution).sum();
                let sum = stages + hit.proximity.map_or(0.0, |proximity| proximity.contribution);
                assert!((sum - hit.score).abs() < 1e-9, "{kind}: {sum} {}", hit.score);
                let explained = explain(
                    &*fixture.store,
                    &now(&*fixture.store),
                    Models::embedder(&*fixture.bag),
                    query,
                    &weighing(weight),
                    hit.record.chunk_id,
                );
                assert_eq!(explained.unwrap().late.map(|stage| stage.rank), hit.late.map(|stage| stage.rank));
            }
        }
        let ranks = SearchOptions { fusion: Fusion::Rrf { k: 60.0 }, ..SearchOptions::default() };
        let dense = SearchOptions { mode: Mode::Dense, ..weighing(0.5) };
        for options in [ranks, dense] {
            assert!(
                answer(&fixture, query, &options).hits.iter().all(|hit: &Hit| hit.late.is_none()),
                "{kind}"
            );
        }
    });
}

#[test]
fn damaged_codes_are_told_of() {
    let fixture = corpus("sqlite");
    let generation = now(&*fixture.store);
    let file = fixture.store_path().join(SqliteStore::FILE);
    let change = |statement: &str| Connection::open(&file).unwrap().execute_batch(statement).unwrap();
    change("UPDATE token_codes SET codes = zeroblob(length(codes)) WHERE vector = 1");
    change("UPDATE token_codes SET codes = substr(codes, 2) WHERE vector = 2");
    assert_eq!(fixture.store.check().unwrap().problems, ["2 codes of tokens that are not what was stored"]);
    let models = Models::embedder(&*fixture.bag);
    let error = search(&*fixture.store, &generation, models, "ferry leaves", &weighing(0.5)).unwrap_err();
    assert!(error.to_string().contains("codes of tokens are not what was stored"), "{error}");
}

#[test]
fn source_code_is_looked_at_again_too() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        fixture.write("boat.py", b"def leaves(ferry):\n    return ferry.harbour\n");
        fixture.index();
        let hits = answer(&fixture, "ferry leaves", &weighing(0.5)).hits;
        let code = hits.iter().find(|hit| hit.record.doc_id == "boat.py").unwrap();
        assert!(code.late.is_some(), "{kind}");
    });
}

#[test]
fn a_chunk_without_codes_keeps_its_score() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        // Embedded by a program that gave no codes.
        fixture.bag.late.store(false, Ordering::Relaxed);
        fixture.write("old.md", b"# Old\n\nThe old ferry leaves no more.\n");
        fixture.index();
        fixture.bag.late.store(true, Ordering::Relaxed);
        let score = |weight| {
            let hits = answer(&fixture, "ferry leaves", &weighing(weight)).hits;
            let hit = hits.into_iter().find(|hit| hit.record.doc_id == "old.md").unwrap();
            (hit.score, hit.late)
        };
        assert_eq!(score(0.5), score(0.0), "{kind}");
        assert_eq!(score(0.5).1, None, "{kind}");
    });
}
