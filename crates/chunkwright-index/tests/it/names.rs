//! Collection names: in any script, in every store, one name however it is typed.

use std::sync::Arc;

use chunkwright::{ChunkConfig, Chunker, Unit, Words};
use chunkwright_index::transfer::{self, ImportOptions, Vectors, export};
use chunkwright_index::verify::Counters;
use chunkwright_index::{
    Change, Generation, GenerationSpec, IndexOptions, Mode, Models, Overlay, Pipeline, SearchOptions, Store,
    StoreError, amend, search,
};

use crate::fixture::{Bag, Fixture, Lines, chunker, for_each_store, open};

/// Names in many scripts, among them such as Chroma maps; no two to one.
const NAMES: [&str; 7] =
    ["13.向量工程和RAG系统", "课程", "документация", "หลักสูตร-1", "हिन्दी_2", "العربية.v3", "plain-ascii.v1_2"];

const FILES: [(&str, &str); 2] = [
    ("a.md", "# 课程\n\nApples are red. Яблоки красные. 苹果是红色的。\n"),
    ("b.md", "# Pears\n\nPears are green and grow on trees in the garden.\n"),
];

fn wide() -> Chunker {
    let config = ChunkConfig { unit: Unit::Chars, max_size: 400, target_size: 300, ..ChunkConfig::default() };
    Chunker::new(config, Arc::new(Words)).unwrap()
}

fn found(store: &dyn Store, generation: &Generation, bag: &Bag) -> Vec<String> {
    let mut found = Vec::new();
    for mode in [Mode::Lexical, Mode::Dense, Mode::Hybrid] {
        let options = SearchOptions { mode, ..SearchOptions::default() };
        let answer = search(store, generation, Models::embedder(bag), "apples", &options).unwrap();
        found.push(answer.hits[0].record.doc_id.clone());
    }
    found
}

#[test]
fn a_collection_of_any_script_lives_as_every_other() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &FILES);
        let (store, bag) = (&fixture.store, &fixture.bag);
        let options = IndexOptions { indexed_at: "2026-01-01T00:00:00Z".into(), ..IndexOptions::default() };
        for name in NAMES {
            let index = |chunker: Chunker| {
                let pipeline =
                    Pipeline::new(Arc::clone(store), name, chunker, "test").with_embedder(bag.clone());
                pipeline.index(&[fixture.root()], &options, &|_| {}).unwrap()
            };
            index(chunker());
            let first = store.open(name).unwrap();
            assert_eq!(first.collection, name, "{kind}");
            assert_eq!(found(&**store, &first, bag), ["a.md"; 3], "{kind} {name}");
            assert_eq!(index(chunker()).unchanged, 2, "{kind} {name}");
            // Another generation, and each by its number.
            index(wide());
            let second = store.open(name).unwrap();
            assert!(second.number > first.number, "{kind} {name}");
            assert_eq!(store.open(&format!("{name}@{}", first.number)).unwrap(), first);
            assert_eq!(found(&**store, &first, bag), ["a.md"; 3], "{kind} {name}");
            store.remove(&first).unwrap();
            let error = store.open(&first.to_string()).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
            // Changed by hand, deleted from, exported and imported.
            let record = store.records(&second, "a.md").unwrap().remove(0);
            let hide = |overlay: &mut Overlay| overlay.disabled = true;
            amend(&**store, &second, None, None, record.chunk_id, &hide).unwrap();
            assert_eq!(store.overlays(name).unwrap().iter().count(), 1, "{kind} {name}");
            store.write(&second, &[Change::Remove { doc_id: "b.md".into() }]).unwrap();
            let mut rows = Vec::new();
            export::<StoreError>(&**store, &second, Vectors::Moved, &mut |row| {
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
            transfer::import(&*other, name, &import, &[&Lines(rows)]).unwrap();
            assert_eq!(other.collections().unwrap()[0].name, name, "{kind}");
            assert_eq!(other.overlays(name).unwrap().iter().count(), 1, "{kind} {name}");
        }
        let mut names: Vec<String> =
            store.collections().unwrap().into_iter().map(|known| known.name).collect();
        let mut expected = NAMES.map(str::to_owned);
        expected.sort();
        assert_eq!(names, expected, "{kind}");
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new(), "{kind}");
        for name in NAMES {
            store.remove(&store.open(name).unwrap()).unwrap();
            names.retain(|known| known != name);
            let error = store.open(name).unwrap_err().to_string();
            let known = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "none".into() } else { known };
            assert_eq!(error, format!("unknown collection `{name}`; known are {known}"), "{kind}");
        }
    });
}

#[test]
fn two_ways_of_typing_a_name_are_one_collection() {
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, &folder.path().join("store"));
        for (composed, decomposed) in [
            ("й", "и\u{306}"),
            ("Été", "E\u{301}te\u{301}"),
            ("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"),
        ] {
            let spec = GenerationSpec::default();
            let begun = store.begin(decomposed, &spec).unwrap();
            assert_eq!(begun.collection, composed, "{kind}");
            assert_eq!(store.begin(composed, &spec).unwrap(), begun);
            assert_eq!(store.find(decomposed, &spec).unwrap(), Some(begun.clone()));
            assert_eq!(store.open(decomposed).unwrap(), begun);
            assert_eq!(store.open(&format!("{decomposed}@{}", begun.number)).unwrap(), begun);
            let new = crate::contract::document("a.txt", 0, &["Some words."]);
            let overlay = Overlay { disabled: true, ..Overlay::of(&new.chunks[0].record) };
            store.put_overlay(decomposed, &overlay).unwrap();
            assert_eq!(store.overlays(composed).unwrap().iter().count(), 1, "{kind}");
            assert_eq!(store.overlays(decomposed).unwrap().iter().count(), 1, "{kind}");
            store.remove(&begun).unwrap();
        }
        assert_eq!(store.collections().unwrap(), []);
    });
}

#[test]
fn what_is_no_name_is_refused_by_every_store_and_leaves_nothing() {
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, &folder.path().join("store"));
        for name in [
            "",
            "..",
            "../up",
            "a/b",
            "a\\b",
            ".a",
            "a\nb",
            "a\u{1b}[2Jb",
            "a\u{202e}b",
            "a\u{200b}b",
            "a b",
            "a@b",
            "chunkwright-catalog",
        ] {
            for error in
                [store.begin(name, &GenerationSpec::default()).unwrap_err(), store.open(name).unwrap_err()]
            {
                assert!(matches!(error, StoreError::CollectionName { .. }), "{kind} {name:?} {error}");
                let sentence = error.to_string();
                assert!(sentence.contains("expected letters and digits of any script"), "{sentence}");
                assert!(!sentence.chars().any(char::is_control), "{sentence:?}");
            }
        }
        assert_eq!(store.collections().unwrap(), []);
    });
}
