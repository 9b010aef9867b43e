//! Words first, vectors behind them.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright_index::{
    DocumentInfo, Embed, FillReport, IndexOptions, IndexReport, Mode, Models, Pipeline, Progress, Prune,
    SearchOptions, search,
};

use crate::fixture::{Bag, COLLECTION, Fixture, POISON, chunker, for_each_store, now};

fn options(fixture: &Fixture, embed: Embed) -> IndexOptions {
    IndexOptions { embed, ..fixture.options.clone() }
}

#[track_caller]
fn index(fixture: &Fixture, pipeline: &Pipeline, embed: Embed) -> IndexReport {
    let report = pipeline.index(&[fixture.root()], &options(fixture, embed), &|_| {}).unwrap();
    assert!(report.adds_up(), "{report:?}");
    assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
    report
}

#[track_caller]
fn fill(fixture: &Fixture, most: usize, tried: &HashSet<String>) -> FillReport {
    let rank = |info: &DocumentInfo| u64::from(info.doc_id == "asked.md");
    let options = options(fixture, Embed::Later);
    let report = fixture.pipeline.fill((&rank, most), tried, &options, &|_| {}).unwrap();
    assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
    report
}

fn pending(fixture: &Fixture) -> Vec<(String, u32)> {
    let documents = fixture.store.documents(&now(&*fixture.store)).unwrap();
    documents.into_iter().map(|info| (info.doc_id, info.pending)).collect()
}

fn texts(pending: &[(&str, u32)]) -> Vec<(String, u32)> {
    pending.iter().map(|(doc_id, pending)| ((*doc_id).to_owned(), *pending)).collect()
}

const FILES: &[(&str, &str)] = &[
    ("asked.md", "The heron waits in the reeds.\n"),
    ("later.md", "The otter swims at night.\n"),
    ("other.md", "The beaver builds a dam.\n"),
];

#[test]
fn words_are_found_at_once_and_vectors_come_in_the_order_of_rank() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, FILES);
        let report = index(&fixture, &fixture.pipeline, Embed::Later);
        assert_eq!((report.pending, report.embedded, report.embed_error), (3, 0, None));
        let hybrid = SearchOptions::default();
        assert_eq!(fixture.search("heron", &hybrid), ["asked.md:1"]);
        let report = fill(&fixture, 1, &HashSet::new());
        assert_eq!((report.waiting, report.embedded), (3, 1));
        assert_eq!(pending(&fixture), texts(&[("asked.md", 0), ("later.md", 1), ("other.md", 1)]));
        // A chunk without a vector is found beside those with one, once.
        assert_eq!(fixture.search("otter", &hybrid)[0], "later.md:1");
        let all =
            fixture.search("the heron otter beaver", &SearchOptions { top_k: 9, ..SearchOptions::default() });
        assert_eq!(all.len(), 3, "{all:?}");
        assert_eq!(fill(&fixture, 9, &HashSet::new()).embedded, 2);
        assert_eq!(fill(&fixture, 9, &HashSet::new()), FillReport::default());
        assert_eq!(fixture.bag.take_texts().len(), 3, "no text is embedded twice");
        let dense = SearchOptions { mode: Mode::Dense, ..SearchOptions::default() };
        assert_eq!(fixture.search("beaver", &dense)[0], "other.md:1");
    });
}

#[test]
fn an_edit_meanwhile_is_found_and_what_was_there_before_is_not() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, FILES);
        index(&fixture, &fixture.pipeline, Embed::Later);
        fill(&fixture, 1, &HashSet::new());
        fixture.write("asked.md", b"The stork stands on a chimney.\n");
        fixture.write("other.md", b"The beaver gnaws a birch.\n");
        let report = index(&fixture, &fixture.pipeline, Embed::Later);
        // Documents that wait for vectors are not read again.
        assert_eq!((report.indexed, report.unchanged, report.pending), (2, 1, 2));
        let lexical = SearchOptions { mode: Mode::Lexical, ..SearchOptions::default() };
        assert_eq!(fixture.search("heron", &lexical), [""; 0]);
        assert_eq!(fixture.search("birch", &lexical), ["other.md:1"]);
        fill(&fixture, 9, &HashSet::new());
        assert_eq!(pending(&fixture), texts(&[("asked.md", 0), ("later.md", 0), ("other.md", 0)]));
        let dense = SearchOptions { mode: Mode::Dense, top_k: 9, ..SearchOptions::default() };
        assert_eq!(fixture.search("stork", &dense).len(), 3);
    });
}

#[test]
fn a_stop_within_a_document_keeps_what_was_embedded() {
    for_each_store(|kind| {
        let text: String =
            (0..40).map(|n| format!("# Section {n}\n\nThe number{n} is written here.\n\n")).collect();
        let fixture = Fixture::new(kind, &[("long.md", &text)]);
        let chunks = index(&fixture, &fixture.pipeline, Embed::Later).pending;
        let stop = Arc::new(AtomicBool::new(false));
        let options = IndexOptions { cancel: Some(Arc::clone(&stop)), ..options(&fixture, Embed::Later) };
        let told = |progress: Progress<'_>| {
            stop.fetch_or(matches!(progress, Progress::Embedded { .. }), Ordering::Relaxed);
        };
        let report = fixture.pipeline.fill((&|_| 0, 1), &HashSet::new(), &options, &told).unwrap();
        assert!(
            report.cancelled && report.embedded > 0 && report.embedded < chunks,
            "{report:?} of {chunks}"
        );
        let left = pending(&fixture)[0].1 as usize;
        assert_eq!(left, chunks - report.embedded);
        assert_eq!(fill(&fixture, 1, &HashSet::new()).embedded, left);
        assert_eq!(fixture.bag.take_texts().len(), chunks);
    });
}

#[test]
fn a_text_that_has_no_vector_is_passed_over_and_an_outage_is_told() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, FILES);
        fixture.write("asked.md", format!("A {POISON} mushroom.\n").as_bytes());
        index(&fixture, &fixture.pipeline, Embed::Later);
        let report = fill(&fixture, 9, &HashSet::new());
        assert_eq!((report.embedded, report.error.is_some()), (2, true));
        let tried = report.tried.into_iter().collect();
        assert_eq!(fill(&fixture, 9, &tried).waiting, 0);
        fixture.write("new.md", b"The crane dances.\n");
        index(&fixture, &fixture.pipeline, Embed::Later);
        fixture.bag.down.store(true, Ordering::Relaxed);
        let report = fill(&fixture, 9, &tried);
        assert!(report.embedded == 0 && report.error.unwrap().contains("the bag is torn"));
        let lexical = SearchOptions { mode: Mode::Lexical, ..SearchOptions::default() };
        assert_eq!(fixture.search("crane", &lexical), ["new.md:1"]);
    });
}

#[test]
fn a_generation_behind_is_switched_to_when_every_chunk_has_a_vector() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(kind, FILES);
        fixture.options.prune = Prune::Force;
        let fast = Bag::new(8);
        let helper = Pipeline::new(Arc::clone(&fixture.store), COLLECTION, chunker(), "test")
            .with_embedder(fast.clone());
        index(&fixture, &helper, Embed::Now);
        let report = index(&fixture, &fixture.pipeline, Embed::Behind);
        assert_eq!(report.withheld.as_deref(), Some("3 chunks have no vector yet"));
        let find = |query: &str| {
            let dense = SearchOptions { mode: Mode::Dense, top_k: 1, ..SearchOptions::default() };
            let found =
                search(&*fixture.store, &now(&*fixture.store), Models::embedder(&*fast), query, &dense);
            found.unwrap().hits.iter().map(|hit| hit.record.doc_id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(find("otter"), ["later.md"]);
        fill(&fixture, 1, &HashSet::new());
        fixture.remove("other.md");
        fixture.write("later.md", b"The otter sleeps by day.\n");
        index(&fixture, &helper, Embed::Now);
        assert!(index(&fixture, &fixture.pipeline, Embed::Behind).withheld.is_some());
        assert_eq!(find("sleeps"), ["later.md"]);
        fill(&fixture, 9, &HashSet::new());
        let report = index(&fixture, &fixture.pipeline, Embed::Behind);
        assert!(report.withheld.is_none() && report.switched.is_some(), "{report:?}");
        assert_eq!(pending(&fixture), texts(&[("asked.md", 0), ("later.md", 0)]));
        let dense = SearchOptions { mode: Mode::Dense, ..SearchOptions::default() };
        assert_eq!(fixture.search("sleeps", &dense)[0], "later.md:1");
    });
}
