//! Caller metadata of documents: it appears in records and filters, and stays until it is removed.

use std::collections::BTreeMap;
use std::sync::Arc;

use chunkwright::{ChunkConfig, Chunker, Words};
use chunkwright_index::transfer::{self, ImportOptions, Vectors, export};
use chunkwright_index::verify::Counters;
use chunkwright_index::{
    Filter, IndexReport, Meta, Mode, Models, Pipeline, SearchOptions, Store, StoreError, amend, search,
};

use crate::fixture::{COLLECTION, Fixture, Lines, chunker, for_each_store, now, open};

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

/// Indexes with metadata of all documents, and of those of folders below the files.
fn index(fixture: &mut Fixture, all: &[(&str, &str)], folders: &[(&str, &[(&str, &str)])]) -> IndexReport {
    let path = |folder: &str| fixture.root().join(folder).canonicalize().unwrap();
    let folders = folders.iter().map(|(folder, said)| (path(folder), texts(said))).collect();
    fixture.options.meta = Meta { all: texts(all), folders };
    fixture.try_index().unwrap()
}

/// The ids of documents in which a search with a filter finds chunks.
fn found(store: &dyn Store, fixture: &Fixture, filter: &str) -> Vec<String> {
    let mut all: Option<Vec<String>> = None;
    for mode in [Mode::Lexical, Mode::Dense, Mode::Hybrid] {
        let options =
            SearchOptions { mode, filter: Filter::parse(filter).unwrap(), ..SearchOptions::default() };
        let answer = search(store, &now(store), Models::embedder(&*fixture.bag), "apples", &options).unwrap();
        let mut ids: Vec<String> = answer.hits.into_iter().map(|hit| hit.record.doc_id).collect();
        ids.sort_unstable();
        assert!(all.replace(ids.clone()).is_none_or(|before| before == ids), "{filter}");
    }
    all.unwrap()
}

const FILES: [(&str, &str); 3] = [
    ("13/a.md", "# 向量\n\nApples are red. 苹果是红色的。\n"),
    ("13/b.md", "# Тест\n\nApples are green. Яблоки зелёные.\n"),
    ("14/c.md", "# Plain\n\nApples are sweet.\n"),
];

#[test]
fn metadata_is_in_records_and_filters_of_every_store_and_moves_no_id() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(kind, &FILES);
        index(&mut fixture, &[], &[]);
        let ids = |store: &dyn Store, doc_id: &str| {
            store.records(&now(store), doc_id).unwrap().iter().map(|it| it.chunk_id).collect::<Vec<_>>()
        };
        let before = ids(&*fixture.store, "13/a.md");
        let folders: &[(&str, &[(&str, &str)])] =
            &[(".", &[("team", "courses")]), ("13", &[("course_id", "13"), ("课程", "向量")])];
        let report = index(&mut fixture, &[("term", "2026-1")], folders);
        assert_eq!((report.indexed, report.unchanged, report.embedded), (3, 0, 0), "{kind}");
        let store = Arc::clone(&fixture.store);
        assert_eq!(ids(&*store, "13/a.md"), before);
        let said = |store: &dyn Store, doc_id: &str| {
            let info = store.document_info(&now(store), doc_id).unwrap().unwrap();
            for record in store.records(&now(store), doc_id).unwrap() {
                assert_eq!(record.meta, info.meta, "{kind}");
            }
            info.meta
        };
        let of_13 = [("course_id", "13"), ("team", "courses"), ("term", "2026-1"), ("课程", "向量")];
        assert_eq!(said(&*store, "13/a.md"), texts(&of_13), "{kind}");
        assert_eq!(said(&*store, "14/c.md"), texts(&[("team", "courses"), ("term", "2026-1")]), "{kind}");
        for (filter, expected) in [
            ("meta.course_id=13", vec!["13/a.md", "13/b.md"]),
            ("meta.course_id!=13", vec!["14/c.md"]),
            ("meta.课程=向量 and doc_id~13/b*", vec!["13/b.md"]),
            ("meta.term>=2026 and not meta.course_id=13", vec!["14/c.md"]),
            ("meta.course_id=14", vec![]),
        ] {
            assert_eq!(found(&*store, &fixture, filter), expected, "{kind} {filter}");
        }
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new(), "{kind}");
        // Changed by hand, it is still said.
        amend(&*store, &now(&*store), None, None, before[0], &|overlay| overlay.keywords = vec!["x".into()])
            .unwrap();
        assert_eq!(said(&*store, "13/a.md"), texts(&of_13), "{kind}");
        // In an export and out of it.
        let mut rows = Vec::new();
        export::<StoreError>(&*store, &now(&*store), Vectors::Left, &mut |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let other = open(kind, &folder.path().join("other"));
        let import = ImportOptions {
            counters: &Counters::default(),
            pipeline: &|_| None,
            now: "2026-02-02T00:00:00Z",
            threads: None,
        };
        transfer::import(&*other, COLLECTION, &import, &[&Lines(rows)]).unwrap();
        assert_eq!(said(&*other, "13/a.md"), texts(&of_13), "{kind}");
    });
}

#[test]
fn front_matter_is_filtered_by_in_every_store_and_goes_with_the_page() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(
            kind,
            &[
                ("a.md", "---\ntitle: A\ntags: [ops, net]\ndate: 2024-05-01\n---\nApples are red.\n"),
                ("b.md", "+++\ntitle = \"B\"\ntags = [\"ops\"]\n+++\nApples are green.\n"),
                ("c.md", "Apples are sweet.\n"),
            ],
        );
        index(&mut fixture, &[("team", "x")], &[]);
        for (filter, expected) in [
            ("meta.tags=ops", vec!["a.md", "b.md"]),
            ("meta.tags=net and meta.team=x", vec!["a.md"]),
            ("meta.Tags=net", vec!["a.md"]),
            ("meta.tags!=ops", vec!["c.md"]),
            ("meta.date>=2024", vec!["a.md"]),
            ("meta.tags=x", vec![]),
        ] {
            assert_eq!(found(&*fixture.store, &fixture, filter), expected, "{kind} {filter}");
        }
        assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new(), "{kind}");
        fixture.write("a.md", b"---\ntitle: A\n---\nApples are red.\n");
        index(&mut fixture, &[], &[]);
        assert_eq!(found(&*fixture.store, &fixture, "meta.tags=ops"), ["b.md"], "{kind}");
    });
}

#[test]
fn metadata_stays_until_it_is_taken_back_and_new_files_get_what_their_folder_shares() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(kind, &FILES);
        index(&mut fixture, &[("course_id", "13")], &[]);
        let said = |fixture: &Fixture, doc_id: &str| {
            let store = &*fixture.store;
            store.document_info(&now(store), doc_id).unwrap().unwrap().meta
        };
        // A run that says nothing of it changes nothing.
        let report = index(&mut fixture, &[], &[]);
        assert_eq!((report.indexed, report.unchanged), (0, 3), "{kind}");
        fixture.write("14/d.md", b"# New\n\nApples are new.\n");
        fixture.write("14/c.md", b"# Plain\n\nApples are sour.\n");
        let report = index(&mut fixture, &[], &[]);
        assert_eq!((report.indexed, report.unchanged), (2, 2), "{kind}");
        for doc_id in ["13/a.md", "14/c.md", "14/d.md"] {
            assert_eq!(said(&fixture, doc_id), texts(&[("course_id", "13")]), "{kind} {doc_id}");
        }
        // Another configuration keeps it.
        let config = ChunkConfig { max_size: 120, target_size: 100, ..chunker().config().clone() };
        let smaller = Chunker::new(config, Arc::new(Words)).unwrap();
        let pipeline = Pipeline::new(Arc::clone(&fixture.store), COLLECTION, smaller, "test");
        let pipeline = pipeline.with_embedder(fixture.bag.clone());
        pipeline.index(&[fixture.root().join("13")], &fixture.options, &|_| {}).unwrap();
        for doc_id in ["13/a.md", "14/d.md"] {
            assert_eq!(said(&fixture, doc_id), texts(&[("course_id", "13")]), "{kind} {doc_id}");
        }
        index(&mut fixture, &[("course_id", ""), ("term", "2")], &[]);
        assert_eq!(said(&fixture, "13/a.md"), texts(&[("term", "2")]), "{kind}");
    });
}
