//! The stage `standing`: source and documentation rank before tests, examples and change logs, which a query may ask for.

use chunkwright::ChunkId;
use chunkwright_index::{
    DocumentKind, Fusion, Hit, Mode, Models, NameRanking, Role, SearchOptions, Standing, explain,
};

use crate::definitions::{all, ask};
use crate::fixture::{Bag, Fixture, for_each_store, now};

const SOURCE: &str = "def close(path):\n    # the handle of a locked archive\n    if locked(path):\n        raise IOError(f'archive {path} is locked by process {owner(path)}')\n";
const TESTS: &str = "def closed():\n    # locked archive, locked archive handle\n    archive, handle = locked(), locked()\n    assert 'archive a.zip is locked by process 7'\n";
const LOG: &str = "# Changes\n\n## 2.1\n\nThe locked archive is closed by its handle: archive, handle.\n\n## 2.0\n\nOther things were done.\n";
const FILES: [(&str, &str); 6] = [
    ("src/archive.py", SOURCE),
    ("tests/test_archive.py", TESTS),
    (
        "examples/archive.py",
        "locked, archive, handle = open_locked_archive()\nprint(locked, archive, handle)\n",
    ),
    ("vendor/archive.py", "locked = archive = handle = None\nlocked, archive, handle\n"),
    ("CHANGES.md", LOG),
    ("docs/other.md", "# Other\n\nNothing is said about it here.\n"),
];

fn corpus(kind: &str) -> Fixture {
    let fixture = Fixture::with_bag(kind, &FILES, Bag::with_sparse(256));
    fixture.index();
    fixture
}

fn documents(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| &*hit.record.doc_id).collect()
}

#[test]
fn the_project_itself_comes_first_unless_a_query_asks_for_what_stands_aside() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for mode in [Mode::Lexical, Mode::Hybrid] {
            for (query, expected) in [
                ("the handle of a locked archive", "src/archive.py"),
                ("since which version is the locked archive closed by its handle", "CHANGES.md"),
                ("how do the tests lock the archive handle: closed, locked", "tests/test_archive.py"),
                ("path:tests/ handle of the locked archive", "tests/test_archive.py"),
            ] {
                let hits = ask(&fixture, query, &all(mode));
                assert_eq!(documents(&hits).first(), Some(&expected), "{kind} {mode:?}: {query}");
                assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{kind} {mode:?}: {query}");
            }
        }
    });
}

#[test]
fn it_reorders_and_hides_nothing_and_says_what_it_adds() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for mode in [Mode::Lexical, Mode::Hybrid, Mode::Dense, Mode::Sparse] {
            let with = all(mode);
            let without = SearchOptions { names: NameRanking::Off, ..with.clone() };
            let query = "handle of the locked archive";
            let [hits, plain] = [&with, &without].map(|options| ask(&fixture, query, options));
            let sorted = |hits: &[Hit]| {
                let mut ids: Vec<_> = hits.iter().map(|hit| hit.record.chunk_id).collect();
                ids.sort_unstable();
                ids
            };
            assert_eq!(sorted(&hits), sorted(&plain), "{kind} {mode:?}");
            let is_scored = matches!(mode, Mode::Lexical | Mode::Hybrid);
            for hit in &hits {
                let before = plain.iter().find(|it| it.record.chunk_id == hit.record.chunk_id).unwrap();
                let added = hit.standing.map_or(0.0, |stands| stands.contribution)
                    + hit.proximity.map_or(0.0, |proximity| proximity.contribution);
                assert!((before.score + added - hit.score).abs() < 1e-9, "{kind} {mode:?}");
                let standing = match &*hit.record.doc_id {
                    "tests/test_archive.py" => Some(Standing::Test),
                    "examples/archive.py" => Some(Standing::Example),
                    "vendor/archive.py" => Some(Standing::Copy),
                    "CHANGES.md" => Some(Standing::Changes),
                    _ => None,
                };
                let found = hit.standing.map(|stands| stands.standing);
                assert_eq!(found, standing.filter(|_| is_scored), "{kind} {mode:?}");
                let models = Models::embedder(&*fixture.bag);
                let generation = now(&*fixture.store);
                let explained =
                    explain(&*fixture.store, &generation, models, query, &with, hit.record.chunk_id).unwrap();
                assert_eq!(explained.standing, hit.standing, "{kind} {mode:?}");
            }
            assert!(plain.iter().all(|hit| hit.standing.is_none()), "{kind} {mode:?}");
        }
        let ranks = SearchOptions { fusion: Fusion::Rrf { k: 60.0 }, ..all(Mode::Hybrid) };
        let hits = ask(&fixture, "handle of the locked archive", &ranks);
        assert!(hits.iter().all(|hit| hit.standing.is_none()), "{kind}");
    });
}

#[test]
fn a_collection_of_examples_is_what_is_searched() {
    for_each_store(|kind| {
        let examples: Vec<(String, &str)> =
            (0..12).map(|at| (format!("examples/{at}.py"), FILES[2].1)).collect();
        let mut files: Vec<(&str, &str)> = examples.iter().map(|(name, text)| (&**name, *text)).collect();
        files.push(("README.md", "# Examples\n\nThey handle a locked archive.\n"));
        let fixture = Fixture::with_bag(kind, &files, Bag::with_sparse(256));
        fixture.index();
        let hits = ask(&fixture, "handle of the locked archive", &all(Mode::Hybrid));
        assert_eq!(hits.len(), files.len(), "{kind}");
        assert!(hits.iter().all(|hit| hit.standing.is_none()), "{kind}");
    });
}

#[test]
fn a_message_is_found_where_it_is_made() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for query in [
            "IOError: archive b.zip is locked by process 12",
            "OSError: archive a.zip is locked by process 7",
        ] {
            let hits = ask(&fixture, query, &all(Mode::Hybrid));
            let named = hits[0].names.as_ref().unwrap();
            assert_eq!(hits[0].record.doc_id, "src/archive.py", "{kind}: {query}");
            assert_eq!(named.role, Role::Message, "{kind}: {query}");
            assert!(named.contribution.is_some_and(|contribution| contribution > 0.0), "{kind}: {query}");
            assert!(named.name.starts_with("archive {path} is locked"), "{kind}: {}", named.name);
        }
    });
}

#[test]
fn a_document_is_of_one_kind_by_its_format_and_by_each_of_its_chunks() {
    let files = [
        ("a.md", "# A\n\nb\n\n```python\nc = 1\n```\n"),
        ("a.html", "<h1>A</h1><p>b</p>"),
        ("a.csv", "a,b\n1,2\n"),
        ("a.json", r#"{"a": {"b": 1}}"#),
        ("a.jsonl", "{\"a\": 1}\n{\"a\": 2}\n"),
        ("a.toml", "a = 1\n[b]\nc = 2\n"),
        ("a.yaml", "a: 1\nb:\n  c: 2\n"),
        ("a.py", "def a():\n    return 1\n"),
        ("a.vue", "<template><p>a</p></template>\n<script>\nlet a = 1\n</script>\n"),
        ("Makefile", "a: b\n\tc\n"),
        ("a.unknown", "a\n"),
    ];
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &files);
        fixture.index();
        let generation = now(&*fixture.store);
        for info in fixture.store.documents(&generation).unwrap() {
            let records = fixture.store.records(&generation, &info.doc_id).unwrap();
            assert!(!records.is_empty(), "{kind}: {}", info.doc_id);
            assert!(records.iter().all(|record| record.file_hash == info.file_hash), "{kind}");
            let ids: Vec<ChunkId> = records.iter().map(|record| record.chunk_id).collect();
            let origins = fixture.store.origins(&generation, &ids).unwrap();
            for (record, origin) in records.iter().zip(origins) {
                let by_chunk = DocumentKind::of_chunk(record.language.as_deref(), &record.content_type);
                let by_format = DocumentKind::of_format(&info.format);
                assert_eq!(
                    (by_chunk, origin.unwrap().kind),
                    (by_format, by_format),
                    "{kind}: {}",
                    info.doc_id
                );
            }
        }
    });
}
