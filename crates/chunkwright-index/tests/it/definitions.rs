//! The stage of names: the definition of an identifier comes first, a section or file that is called so likewise.

use chunkwright_index::{
    Duplicates, Fusion, Hit, Kept, Mode, Models, NameRanking, Role, SearchOptions, Verdict, amend, explain,
    parse_query, search,
};

use crate::fixture::{Bag, Fixture, for_each_store, now};

const APP: &str = "\
import os\n\n\nclass Router:\n    \"\"\"Sends requests to handlers.\"\"\"\n\n    def route(self, path):\n        return self.table[path]\n\n
    def merge(self, other):\n        return Router.merge_all(self, other)\n\n\ndef url_for(endpoint):\n    \"\"\"The address of an endpoint.\"\"\"\n    return endpoint\n\n
request = make_request()\n";
const USES: &str = "\
from app import Router, url_for\n\n\ndef index():\n    url_for('a')\n    url_for('b')\n    return url_for('url_for')\n\n\ndef get(name):\n    url_for(name)\n    url_for(url_for)\n    return Router().route(name)\n";
const TESTS: &str = "from app import url_for\n\n\ndef test_url_for():\n    url_for()\n    assert url_for('url_for') == url_for('url_for')\n\n\ndef url_for_twice():\n    return url_for, url_for\n";
const STUB: &str =
    "class Router:\n    def route(self, path: str) -> str: ...\n\n\ndef url_for(endpoint: str) -> str: ...\n";
const GUIDE: &str = "\
# Guide\n\nCall `url_for` to get an address; url_for knows endpoints, url_for is what `url_for` is.\n\n## Error handling\n\nA handler may fail.\n\n## Names\n\nHow to get the name of an index: the name is what you get.\n";
const CHANGES: &str = "\
# Changes\n\n## 2.0\n\nError handling: error handling of error handling is better.\n\n## 1.9\n\nError handling, error handling.\n\n## 1.8\n\nNo error handling without error handling.\n";
const CHINESE: &str = "class 数据库:\n    def 连接(self):\n        return 数据库\n\n\ndef 使用():\n    数据库, 数据库, 数据库\n    return 数据库().连接()\n";
const FILES: [(&str, &str); 8] = [
    ("src/app.py", APP),
    ("src/views.py", USES),
    ("src/app.pyi", STUB),
    ("tests/test_app.py", TESTS),
    ("examples/demo.py", "from app import url_for\n\nprint(url_for('url_for'), url_for, url_for)\n"),
    ("docs/guide.md", GUIDE),
    ("CHANGES.md", CHANGES),
    ("src/库.py", CHINESE),
];

fn corpus(kind: &str) -> Fixture {
    let fixture = Fixture::with_bag(kind, &FILES, Bag::with_sparse(256));
    fixture.index();
    fixture
}

/// Every hit of a mode, copies too.
pub(crate) fn all(mode: Mode) -> SearchOptions {
    SearchOptions { mode, top_k: 50, duplicates: Duplicates::Keep, ..SearchOptions::default() }
}

/// The hits of a query as it is typed, with its filters.
pub(crate) fn ask(fixture: &Fixture, query: &str, options: &SearchOptions) -> Vec<Hit> {
    let parsed = parse_query(query, options.filter.clone()).unwrap();
    let (query, filter) = (parsed.words.clone(), parsed.strict());
    let options = SearchOptions { filter, ..options.clone() };
    let models = Models::embedder(&*fixture.bag);
    search(&*fixture.store, &now(&*fixture.store), models, &query, &options).unwrap().hits
}

/// The first hit: its document, its role and the first line that declares something.
fn first(hits: &[Hit]) -> String {
    let Some(hit) = hits.first() else { return "nothing".into() };
    let role = hit.names.as_ref().map_or("-", |named| named.role.as_str());
    format!("{} {role}", hit.record.doc_id)
}

#[test]
fn a_definition_comes_first_in_every_store_and_mode() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for mode in [Mode::Lexical, Mode::Hybrid, Mode::Dense, Mode::Sparse] {
            for (query, expected, text) in [
                ("url_for", "src/app.py definition", "def url_for(endpoint):"),
                ("`url_for`", "src/app.py definition", "def url_for(endpoint):"),
                ("url_for(endpoint)", "src/app.py definition", "def url_for(endpoint):"),
                ("def url_for", "src/app.py definition", "def url_for(endpoint):"),
                ("class Router", "src/app.py definition", "class Router:"),
                ("Router", "src/app.py definition", "class Router:"),
                ("Router.route", "src/app.py definition", "def route(self, path):"),
                ("Router::merge", "src/app.py definition", "def merge"),
                ("app.Router", "src/app.py definition", "class Router:"),
                ("index", "src/views.py definition", "def index():"),
                ("get", "src/views.py definition", "def get(name):"),
                ("request", "src/app.py definition", "request = make_request()"),
                ("test_url_for", "tests/test_app.py definition", "def test_url_for"),
                ("数据库", "src/库.py definition", "class 数据库"),
                ("数据库.连接", "src/库.py definition", "def 连接"),
                ("Error handling", "docs/guide.md title", "## Error handling"),
                ("error  handling?", "docs/guide.md title", "## Error handling"),
                ("views.py", "src/views.py file", "from app import"),
                ("src/app.py", "src/app.py file", "import os"),
                ("path:tests/ url_for", "tests/test_app.py test", "url_for"),
            ] {
                let hits = ask(&fixture, query, &all(mode));
                assert_eq!(first(&hits), expected, "{kind} {mode:?}: {query}");
                assert!(
                    hits[0].record.content.contains(text),
                    "{kind} {mode:?}: {query}: {}",
                    hits[0].record.content
                );
                let ordered = hits.windows(2).all(|pair| pair[0].score >= pair[1].score);
                assert!(ordered, "{kind} {mode:?}: {query}");
            }
        }
    });
}

#[test]
fn roles_are_told_apart_and_rank_in_their_order() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let hits = ask(&fixture, "url_for", &all(Mode::Lexical));
        let roles: Vec<Role> =
            hits.iter().filter_map(|hit| hit.names.as_ref()).map(|named| named.role).collect();
        let mut sorted = roles.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let expected =
            [Role::Definition, Role::Declaration, Role::Documentation, Role::Use, Role::Test, Role::Example];
        assert_eq!(sorted, expected, "{kind}: {roles:?}");
        assert!(roles.is_sorted(), "{kind}: {roles:?}");
        let named = hits[0].names.as_ref().unwrap();
        assert_eq!((named.rank, &*named.name, named.contribution), (1, "url_for", None), "{kind}");
        assert!((0.9..1.0).contains(&named.score), "{kind}: {named:?}");
        // Without the stage, chunks that repeat the word come first.
        let off = SearchOptions { names: NameRanking::Off, ..all(Mode::Lexical) };
        let hits = ask(&fixture, "url_for", &off);
        assert_ne!(first(&hits), "src/app.py -", "{kind}");
        assert!(hits.iter().all(|hit| hit.names.is_none()), "{kind}");
    });
}

#[test]
fn a_question_in_prose_is_not_about_symbols() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for query in ["how do I get the name", "what is the index of a name?", "an error handling question"] {
            let hits = ask(&fixture, query, &all(Mode::Hybrid));
            assert!(hits.iter().all(|hit| hit.names.is_none()), "{kind}: {query}");
        }
        // A name within a question adds to the score, and says how much.
        let hits = ask(&fixture, "how does url_for find an endpoint", &all(Mode::Hybrid));
        assert_eq!(first(&hits), "src/app.py definition", "{kind}");
        let contribution = hits[0].names.as_ref().unwrap().contribution.unwrap();
        let stages = [hits[0].lexical, hits[0].dense, hits[0].sparse];
        let sum: f64 = stages.iter().flatten().filter_map(|stage| stage.contribution).sum();
        assert!((hits[0].score - sum - contribution).abs() < 1e-9, "{kind}: {:?}", hits[0].names);
    });
}

#[test]
fn filters_pages_fusions_and_limits_hold_for_names_too() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for fusion in [Fusion::default(), Fusion::Rrf { k: 60.0 }] {
            let options = SearchOptions { fusion, ..all(Mode::Hybrid) };
            let whole = ask(&fixture, "url_for", &options);
            for top_k in 1..whole.len() {
                let page = ask(&fixture, "url_for", &SearchOptions { top_k, ..options.clone() });
                let ids = |hits: &[Hit]| hits.iter().map(|hit| hit.record.chunk_id).collect::<Vec<_>>();
                assert_eq!(ids(&page), ids(&whole[..top_k]), "{kind}");
            }
            let docs = ask(&fixture, "path:docs/ url_for", &options);
            assert!(docs.iter().all(|hit| hit.record.doc_id.starts_with("docs/")), "{kind}");
            assert_eq!(first(&docs), "docs/guide.md documentation", "{kind}");
            let few = ask(&fixture, "url_for", &SearchOptions { candidates: 1, top_k: 1, ..options.clone() });
            assert_eq!(first(&few), "src/app.py definition", "{kind}");
            let one = ask(&fixture, "url_for", &SearchOptions { per_document: Some(1), ..options.clone() });
            assert_eq!(one.iter().filter(|hit| hit.record.doc_id == "src/app.py").count(), 1, "{kind}");
            let high = ask(
                &fixture,
                "views.py",
                &SearchOptions { min_relevance: Some(0.99), mode: Mode::Lexical, ..options },
            );
            assert_eq!(first(&high), "src/views.py file", "what is named needs no other relevance: {kind}");
        }
    });
}

#[test]
fn a_disabled_definition_is_not_found_and_a_pinned_chunk_comes_before_one() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let definition = ask(&fixture, "url_for", &all(Mode::Hybrid))[0].record.clone();
        let models = Models::embedder(&*fixture.bag);
        let generation = now(&*fixture.store);
        let options = SearchOptions { top_k: 1, ..SearchOptions::default() };
        let example = ask(&fixture, "path:examples/ url_for", &options)[0].record.chunk_id;
        let pin = |overlay: &mut chunkwright_index::Overlay| overlay.pins = vec!["url_for".into()];
        let store = &*fixture.store;
        amend(store, &generation, Some(&*fixture.bag), None, example, &pin).unwrap();
        let hits = ask(&fixture, "url_for", &options);
        assert_eq!((hits[0].record.chunk_id, hits[0].kept), (example, Kept::Pinned), "{kind}");
        let out = explain(store, &now(store), models, "url_for", &options, definition.chunk_id).unwrap();
        assert_eq!(out.verdict, Verdict::Outranked { top_k: 1 }, "{kind}");
        assert_eq!(out.names.map(|named| named.role), Some(Role::Definition), "{kind}");
        let disable = |overlay: &mut chunkwright_index::Overlay| overlay.disabled = true;
        amend(store, &now(store), Some(&*fixture.bag), None, definition.chunk_id, &disable).unwrap();
        let hits = ask(&fixture, "url_for", &all(Mode::Hybrid));
        assert!(hits.iter().all(|hit| hit.record.chunk_id != definition.chunk_id), "{kind}");
        assert_eq!(hits[1].names.as_ref().map(|named| named.role), Some(Role::Declaration), "{kind}");
    });
}

#[test]
fn a_definition_is_found_by_as_many_reads_however_many_chunks_have_the_name() {
    let mut most = Vec::new();
    for n in [1, 2, 4, 8] {
        let methods: String = (0..60 * n)
            .map(|at| {
                format!("    def act_{at}(self):\n        return Engine, Engine, Engine.act_{at}(Engine)\n\n")
            })
            .collect();
        let class = format!(
            "class Engine:\n    \"\"\"Drives what is put into it, by its own clock.\"\"\"\n\n{methods}"
        );
        let uses: String = (0..60 * n)
            .map(|at| format!("def use_{at}():\n    return Engine(), Engine, Engine\n\n"))
            .collect();
        let fixture =
            Fixture::with_bag("memory", &[("a/engine.py", &class), ("b/uses.py", &uses)], Bag::new(64));
        fixture.index();
        let options = SearchOptions { top_k: 1000, candidates: 1000, ..all(Mode::Hybrid) };
        let hits = ask(&fixture, "Engine", &options);
        assert!(hits.len() >= 100 * n, "{} at {n}", hits.len());
        assert_eq!(first(&hits), "a/engine.py definition", "{n}");
        assert!(hits[0].record.content.starts_with("class Engine:"), "{n}: {}", hits[0].record.content);
        most.push(hits.iter().filter(|hit| hit.names.is_some()).count());
    }
    assert!(most[0] > 50 && most[3] <= 260, "{most:?}");
}
