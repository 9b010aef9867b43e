//! Collections that are moved between stores, and what is related to what.

use chunkwright::ChunkId;
use chunkwright_index::transfer::{
    self, ImportError, ImportFailure, ImportOptions, Imported, Row, RowFile, Vectors, export,
};
use chunkwright_index::verify::Counters;
use chunkwright_index::{
    GenerationSpec, Mode, Models, Overlay, Pipeline, SearchOptions, Store, StoreError, amend, related,
    search, siblings,
};
use serde_json::{Value, json};

use crate::fixture::{COLLECTION, Fixture, Lines, for_each_store, now, open};

const FILES: [(&str, &str); 5] = [
    ("docs/apples.md", "# Apples\n\nApples are red and grow on trees in the garden behind the house.\n"),
    ("docs/pears.md", "# Pears\r\n\r\nPears are green and grow on trees in the garden too.\r\n"),
    ("docs/цены.md", "# Цены\n\nЯблоки и груши продаются на рынке по утрам.\n"),
    ("docs/锅.md", "# 锅\n\n冷水上锅，中火烧开。\n"),
    ("src/code.py", "def pick(tree):\n    return tree.apples.pop()\n"),
];

pub(crate) fn rows(store: &dyn Store, vectors: Vectors) -> Vec<Row> {
    let mut rows = Vec::new();
    export::<StoreError>(store, &now(store), vectors, &mut |row| {
        rows.push(row);
        Ok(())
    })
    .unwrap();
    rows
}

/// Rows as they are whenever their documents were written.
fn without_versions(mut rows: Vec<Row>) -> Vec<Row> {
    for document in rows.iter_mut().filter_map(|row| row.document.as_mut()) {
        document.info.version = 0;
    }
    rows
}

pub(crate) fn import(store: &dyn Store, rows: Vec<Row>) -> Result<Imported, ImportError> {
    import_by(store, rows, &|_| None)
}

fn import_by(
    store: &dyn Store,
    rows: Vec<Row>,
    pipeline: &dyn Fn(&GenerationSpec) -> Option<Pipeline>,
) -> Result<Imported, ImportError> {
    import_files(store, &[Lines(rows)], pipeline).map_err(|failure| failure.error)
}

pub(crate) fn import_files(
    store: &dyn Store,
    files: &[Lines],
    pipeline: &dyn Fn(&GenerationSpec) -> Option<Pipeline>,
) -> Result<Imported, ImportFailure> {
    let options = ImportOptions {
        counters: &Counters::default(),
        pipeline,
        now: "2026-02-02T00:00:00Z",
        threads: None,
    };
    let files: Vec<&dyn RowFile> = files.iter().map(|file| -> &dyn RowFile { file }).collect();
    transfer::import(store, COLLECTION, &options, &files)
}

#[test]
fn what_is_exported_is_the_same_collection_where_it_is_imported() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &FILES);
        let latin =
            encoding_rs::WINDOWS_1251.encode("Старый текст в старой кодировке, довольно длинный.\n").0;
        fixture.write("old.txt", &latin);
        fixture.index();
        let before = rows(&*fixture.store, Vectors::Moved);
        assert!(before.iter().all(|row| row.vector.is_some()));
        for other in ["sqlite", "memory"] {
            let folder = tempfile::tempdir().unwrap();
            let store = open(other, &folder.path().join("store"));
            let json: Vec<String> = before.iter().map(|row| serde_json::to_string(row).unwrap()).collect();
            let read = || json.iter().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Row>>();
            let imported = import(&*store, read()).unwrap();
            assert_eq!((imported.documents, imported.rebuilt), (6, 0));
            assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
            assert_eq!(
                without_versions(rows(&*store, Vectors::Moved)),
                without_versions(before.clone()),
                "{kind} to {other}"
            );
            let options = SearchOptions { mode: Mode::Dense, ..SearchOptions::default() };
            let found =
                search(&*store, &now(&*store), Models::embedder(&*fixture.bag), "apples", &options).unwrap();
            assert!(found.hits[0].record.doc_id.ends_with("apples.md"));
            assert_eq!(import(&*store, read()).unwrap().unchanged, 6);
        }
    });
}

#[test]
fn records_without_their_documents_are_read_and_say_so() {
    let fixture = Fixture::new("sqlite", &FILES);
    fixture.index();
    let mut bare = rows(&*fixture.store, Vectors::Left);
    for row in &mut bare {
        row.document = None;
    }
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, &folder.path().join("store"));
        let imported = import(&*store, bare.clone()).unwrap();
        assert_eq!((imported.documents, imported.rebuilt), (5, 5));
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
        for row in &bare {
            let records = store.records(&now(&*store), &row.record.doc_id).unwrap();
            assert_eq!(records[row.record.chunk_index as usize], row.record);
        }
    });
}

/// A row as JSON, changed, and a row again.
fn edited(row: &Row, edit: &dyn Fn(&mut Value)) -> Row {
    let mut value = serde_json::to_value(row).unwrap();
    edit(&mut value);
    serde_json::from_value(value).unwrap()
}

#[test]
fn records_that_contradict_themselves_are_refused_with_their_line_and_nothing_is_written() {
    let long: String = (0..40).map(|n| format!("Sentence {n} tells of apples.\n\n")).collect();
    let fixture = Fixture::new("memory", &FILES);
    fixture.write("docs/long.md", format!("# Long\n\n{long}").as_bytes());
    fixture.index();
    let good = rows(&*fixture.store, Vectors::Moved);
    let at = good.iter().position(|row| row.record.doc_id == "docs/long.md").unwrap() + 1;
    let refused = |what: &str, change: &dyn Fn(&mut Vec<Row>)| {
        let store = open("memory", std::path::Path::new(""));
        let mut rows = good.clone();
        change(&mut rows);
        let Err(error) = import(&*store, rows) else { panic!("{what} was imported") };
        assert_eq!(store.collections().unwrap(), [], "{what}");
        let error = error.to_string();
        assert!(!error.contains("the store is damaged") && !error.contains('\n'), "{what}: {error}");
        error
    };
    let set = |field: &'static str, value: Value| {
        refused(&format!("{field} {value}"), &|rows| {
            rows[at] = edited(&rows[at], &|row| row[field] = value.clone());
        })
    };
    let line = format!("line {}", at + 1);
    for (field, value) in [
        ("start_line", json!(0)),
        ("end_line", json!(99_999)),
        ("total_chunks", json!(1_000_000)),
        ("start_char", json!(3)),
        ("end_char", json!(0)),
        ("char_count", json!(1)),
        ("word_count", json!(7_000)),
        ("token_count", json!(0)),
        ("token_level", json!("oversized")),
        ("text", json!("a text of another document")),
        ("context", json!("Borrowed of nobody\n\n")),
        ("content", json!("foreign")),
        ("parent", json!("docs/long.md#L2-L3")),
        ("parent", json!("docs/other.md")),
        ("previous", json!(null)),
        ("next", json!("0".repeat(32))),
        ("header_path", json!("H1 Short")),
        ("section_path", json!(["Long", "Short"])),
        ("vector", json!([0.5, 0.5])),
    ] {
        let error = set(field, value);
        assert!(error.starts_with(&line) && error.contains(&format!("`{field}`")), "{field}: {error}");
    }
    set("chunk_id", json!("0".repeat(32)));
    assert!(set("file_hash", json!("0".repeat(64))).contains("`file_hash`"));
    let dimension = good[at].vector.as_ref().unwrap().len();
    for number in [0.0, 1e30, f32::NAN, f32::INFINITY, 0.5] {
        let error = refused(&format!("a vector of {number}"), &|rows| {
            rows[at].vector = Some(vec![number; dimension]);
        });
        assert!(error.starts_with(&line), "{error}");
    }
    for doc_id in ["", "a\u{0}b", "a\nb", "\u{202e}gpj.md", ".", "..", "a/../b.md", "./a.md"] {
        let error = refused(doc_id, &|rows| {
            for row in rows.iter_mut().filter(|row| row.record.doc_id == "docs/long.md") {
                row.record.doc_id = doc_id.into();
                row.document.iter_mut().for_each(|document| document.info.doc_id = doc_id.into());
            }
        });
        assert!(error.contains("`doc_id`"), "{error}");
    }
    let names = ["start_byte", "chunk_index", "config_hash"];
    let says = [
        refused(names[0], &|rows| rows[at].record.start_byte += 1),
        refused(names[1], &|rows| rows[at].record.chunk_index = 7),
        refused(names[2], &|rows| {
            rows.iter_mut().skip(at + 5).for_each(|row| row.record.config_hash = "x".into());
        }),
    ];
    assert!(says[1].contains("not together and in order"), "{says:?}");
    assert!(says[2].contains("was cut by") || says[2].contains("`config_hash`"), "{says:?}");
    assert!(refused("twice", &|rows| rows.push(rows[0].clone())).contains("not together and in order"));
    assert!(refused("a gap", &|rows| drop(rows.remove(at))).contains("not together and in order"));
    assert!(refused("cut short", &|rows| rows.truncate(at + 1)).contains("`end_byte`"));
    let broken = |rows: &mut Vec<Row>| rows[0].document.as_mut().unwrap().raw_base64 = Some("?".into());
    assert!(refused("base64", &broken).contains("is not base64"));
    let source = |rows: &mut Vec<Row>| rows[at - 1].document.as_mut().unwrap().source.push('x');
    assert!(refused("a longer source", &source).contains("file_hash"));
    assert!(import(&*open("memory", std::path::Path::new("")), good.clone()).is_ok());
}

#[test]
fn an_import_hides_no_document_of_its_collection() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &FILES);
        fixture.index();
        // One document, cut otherwise.
        let other = Fixture::new("memory", &[("new.md", "# New\n\nPlums are blue.\n")]);
        let config = chunkwright::ChunkConfig { max_size: 200, ..crate::fixture::chunker().config().clone() };
        let chunker = chunkwright::Chunker::new(config, std::sync::Arc::new(chunkwright::Words)).unwrap();
        let pipeline = |store: &std::sync::Arc<dyn Store>| {
            let pipeline = Pipeline::new(std::sync::Arc::clone(store), COLLECTION, chunker.clone(), "test");
            pipeline.with_embedder(fixture.bag.clone())
        };
        pipeline(&other.store).index(&[other.root()], &other.options, &|_| {}).unwrap();
        let new = rows(&*other.store, Vectors::Moved);
        let before = now(&*fixture.store);
        let error = import(&*fixture.store, new.clone()).unwrap_err().to_string();
        assert!(error.contains("hide 5 of its documents (`docs/apples.md`, "), "{kind}: {error}");
        assert_eq!(now(&*fixture.store), before, "{kind}");
        let imported = import_by(&*fixture.store, new, &|_| Some(pipeline(&fixture.store))).unwrap();
        assert_eq!((imported.documents, imported.carried), (1, 5), "{kind}");
        assert_ne!(now(&*fixture.store), before, "{kind}");
        assert_eq!(fixture.store.documents(&now(&*fixture.store)).unwrap().len(), 6, "{kind}");
        assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new(), "{kind}");
    });
}

#[test]
fn shards_come_in_side_by_side_as_one_file_would() {
    let fixture = Fixture::new("memory", &FILES);
    fixture.index();
    let all = rows(&*fixture.store, Vectors::Moved);
    let part = |number: usize| {
        let documents: Vec<&str> = FILES.iter().map(|(doc_id, _)| *doc_id).skip(number).step_by(3).collect();
        let rows = all.iter().filter(|row| documents.contains(&row.record.doc_id.as_str()));
        Lines(rows.cloned().collect())
    };
    let shards = || [part(0), part(1), part(2)];
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let [whole, store] = ["whole", "parts"].map(|name| open(kind, &folder.path().join(name)));
        import(&*whole, all.clone()).unwrap();
        let imported = import_files(&*store, &shards(), &|_| None).unwrap();
        assert_eq!((imported.documents, imported.chunks), (5, all.len()), "{kind}");
        let [one, many] = [&whole, &store].map(|store| without_versions(rows(&**store, Vectors::Moved)));
        assert!(one == many, "{kind}");
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new(), "{kind}");
        assert_eq!(import_files(&*store, &shards(), &|_| None).unwrap().unchanged, 5, "{kind}");
    });
    let refused = |files: &[Lines]| {
        let store = open("memory", std::path::Path::new(""));
        let failure = import_files(&*store, files, &|_| None).unwrap_err();
        assert_eq!(store.collections().unwrap(), []);
        (failure.file, failure.error.to_string())
    };
    let (file, error) = refused(&[part(0), part(1), part(0)]);
    assert!(file == Some(2) && error.contains("is in another of the files too"), "{error}");
    let mut otherwise = part(1);
    otherwise.0.iter_mut().for_each(|row| row.record.config_hash = "0".repeat(16));
    let (file, error) = refused(&[part(0), otherwise]);
    assert!(file == Some(1) && error.contains("was cut by"), "{error}");
    let mut broken = part(2);
    broken.0[0].record.char_count += 1;
    let (file, error) = refused(&[part(0), part(1), broken]);
    assert!(file == Some(2) && error.starts_with("line 1"), "{error}");
}

#[test]
fn records_without_vectors_join_a_collection_that_has_some() {
    let fixture = Fixture::new("sqlite", &FILES);
    fixture.index();
    let other = Fixture::new("memory", &[("new.md", "# New\n\nPlums are blue.\n")]);
    other.index();
    let before = now(&*fixture.store);
    assert_eq!(import(&*fixture.store, rows(&*other.store, Vectors::Left)).unwrap().documents, 1);
    assert_eq!(now(&*fixture.store), before);
    assert_eq!(fixture.store.documents(&before).unwrap().len(), 6);
}

#[test]
fn changes_by_hand_travel_with_their_texts() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &FILES);
        fixture.index();
        let store = &*fixture.store;
        let id = |doc_id: &str| -> ChunkId { store.records(&now(store), doc_id).unwrap()[0].chunk_id };
        let change = |store: &dyn Store, id: ChunkId, change: &dyn Fn(&mut Overlay)| {
            amend(store, &now(store), Some(&*fixture.bag), None, id, change).unwrap()
        };
        change(store, id("docs/apples.md"), &|overlay| overlay.disabled = true);
        change(store, id("docs/pears.md"), &|overlay| overlay.text = Some("A wizard wrote this.".into()));
        change(store, id("docs/цены.md"), &|overlay| {
            overlay.keywords = vec!["bazaar".into()];
            overlay.pins = vec!["where".into()];
        });
        let orphan = Overlay {
            chunk_id: "1".repeat(32),
            doc_id: "gone.md".into(),
            disabled: true,
            ..Overlay::default()
        };
        store.put_overlay(COLLECTION, &orphan).unwrap();
        let original = fixture.store.overlays(COLLECTION).unwrap();
        let json: Vec<String> =
            rows(store, Vectors::Moved).iter().map(|row| serde_json::to_string(row).unwrap()).collect();
        let read = || json.iter().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Row>>();
        for other in ["sqlite", "memory"] {
            let folder = tempfile::tempdir().unwrap();
            let moved = open(other, &folder.path().join("store"));
            assert_eq!(import(&*moved, read()).unwrap().overlays, 4, "{kind} to {other}");
            assert_eq!(moved.check().unwrap().problems, Vec::<String>::new(), "{kind} to {other}");
            assert_eq!(moved.overlays(COLLECTION).unwrap(), original, "{kind} to {other}");
            for query in ["apples", "wizard", "pears", "bazaar", "where"] {
                let options = SearchOptions::default();
                let found = |store: &dyn Store| -> Vec<(ChunkId, String)> {
                    let models = Models::embedder(&*fixture.bag);
                    let answer = search(store, &now(store), models, query, &options).unwrap();
                    answer.hits.into_iter().map(|hit| (hit.record.chunk_id, hit.record.text)).collect()
                };
                assert_eq!(found(&*moved), found(store), "{kind} to {other}: {query}");
            }
            let back = change(&*moved, id("docs/pears.md"), &|overlay| overlay.text = None);
            assert!(back.is_empty());
            let text = moved.records(&now(&*moved), "docs/pears.md").unwrap()[0].text.clone();
            assert!(text.contains("Pears are green"), "{text}");
            change(&*moved, id("docs/apples.md"), &|overlay| overlay.disabled = false);
            assert!(!fixture.search("apples red garden", &SearchOptions::default()).is_empty());
            // What was changed here stays, and is told of.
            change(&*moved, id("docs/pears.md"), &|overlay| overlay.text = Some("Written here.".into()));
            let again = import(&*moved, read()).unwrap();
            assert_eq!(again.kept_overlays, [id("docs/pears.md").to_string()], "{kind} to {other}");
            assert_eq!(moved.records(&now(&*moved), "docs/pears.md").unwrap()[0].text, "Written here.");
            assert_eq!(moved.check().unwrap().problems, Vec::<String>::new(), "{kind} to {other}");
        }
    });
}

#[test]
fn siblings_are_of_one_folder_and_related_documents_are_about_the_same() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &FILES);
        fixture.write("docs/inner/deep.md", b"Apples again, and trees.\n");
        fixture.index();
        let store = &*fixture.store;
        let beside = siblings(store, &now(store), "docs/pears.md", 2).unwrap();
        assert_eq!((beside.folder.as_str(), beside.count), ("docs", 3));
        assert_eq!(beside.nearest, ["docs/apples.md", "docs/цены.md"]);
        assert_eq!(siblings(store, &now(store), "src/code.py", 2).unwrap().count, 0);
        assert_eq!(
            siblings(store, &now(store), "docs/锅.md", 2).unwrap().nearest,
            ["docs/pears.md", "docs/цены.md"]
        );
        let about = related(store, &now(store), "docs/apples.md", 2).unwrap();
        assert_eq!(about[0].doc_id, "docs/pears.md");
        assert_eq!(about.len(), 2);
        assert!(about.iter().all(|found| found.doc_id != "docs/apples.md"));
    });
}
