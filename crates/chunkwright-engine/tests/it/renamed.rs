//! Collections that get another name.

use std::fs;
use std::path::Path;

use chunkwright_engine::settings::{Layers, Source};
use chunkwright_engine::{
    Access, Builder, Code, Engine, Error, IndexRequest, NewSource, RenameRequest, SaveQuestionRequest,
    SearchRequest, Watched,
};
use chunkwright_index::{StoreLocation, open_store};
use serde_json::json;

const DOCUMENT: &str = "# Ferry\n\nThe ferry leaves at nine.\n";

fn builder(folder: &Path, collection: &str) -> Builder {
    let values = [
        ("store", json!(folder.join("store"))),
        ("data", json!(folder.join("data"))),
        ("embedder", json!("none")),
        ("collection", json!(collection)),
    ];
    let values = values.map(|(key, value)| (key.to_owned(), value));
    Engine::builder(Layers::default().settings(Source::Request, values).unwrap())
}

/// A collection `notes` with a document, a question and a plan.
fn filled(engine: &Engine) {
    let notes = engine.collection("notes");
    let documents = [NewSource::new("ferry.md", DOCUMENT.as_bytes().to_vec())];
    notes.put(IndexRequest::default(), documents, &|_| {}).unwrap();
    let question = "when does the ferry leave?".into();
    notes.save_question(&SaveQuestionRequest { question, expected: vec!["ferry.md#0".into()] }).unwrap();
    notes.plan(&engine.settings().with([("max_size".to_owned(), json!(128))]).unwrap()).unwrap();
}

/// Asserts that everything is in the collection `name` of `names`, and nothing in the others.
fn has_all(engine: &Engine, name: &str, names: &[&str]) {
    let own = engine.collection(name);
    assert_eq!(own.planned().unwrap().chunk.max_size, 128, "{name}");
    assert_eq!((own.questions().unwrap().len(), own.history().unwrap().len()), (1, 1), "{name}");
    let answer = serde_json::to_value(own.search(&SearchRequest::new("ferry")).unwrap()).unwrap();
    assert_eq!(answer["hits"][0]["doc_id"], "ferry.md", "{answer}");
    for other in names.iter().filter(|other| **other != name) {
        assert!(!engine.has_collection(other).unwrap(), "{other}");
        assert_ne!(engine.collection(other).planned().unwrap().chunk.max_size, 128, "{other}");
    }
}

fn renamed(engine: &Engine, from: &str, to: &str) -> Result<String, Error> {
    Ok(engine.collection(from).rename(&RenameRequest { name: to.into() })?.collection)
}

#[test]
fn everything_of_a_collection_stays_with_it_whichever_process_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let owner = builder(folder.path(), "notes").owner().open(Access::Write).unwrap();
    filled(&owner);
    let names = ["notes", "guide", "й"];
    has_all(&owner, "notes", &names);
    let other = builder(folder.path(), "notes").open(Access::Write).unwrap();
    assert_eq!(renamed(&other, "notes", "guide").unwrap(), "guide");
    has_all(&owner, "guide", &names);
    has_all(&other, "guide", &names);
    assert_eq!(renamed(&owner, "guide", "\u{438}\u{306}").unwrap(), "й");
    has_all(&other, "й", &names);
    // Who named it when it had another name follows; who names it now means what has that name.
    assert_eq!([&owner, &other].map(|engine| engine.default_collection().name().to_owned()), ["й", "й"]);
    let later = builder(folder.path(), "notes").open(Access::Read).unwrap();
    assert_eq!(later.default_collection().name(), "notes");

    // The files are indexed by the new name.
    fs::create_dir(folder.path().join("docs")).unwrap();
    fs::write(folder.path().join("docs/ferry.md"), DOCUMENT).unwrap();
    let request = IndexRequest { paths: vec![folder.path().join("docs")], ..IndexRequest::default() };
    owner.collection("docs").index(request.clone(), &|_| {}).unwrap();
    renamed(&owner, "docs", "pages").unwrap();
    let again = owner.collection("pages").index(request, &|_| {}).unwrap();
    assert_eq!((again.report.indexed, again.report.unchanged), (0, 1));

    for (from, to, expected) in [
        ("й", "pages", Code::CONFLICT),
        ("й", "й", Code::CONFLICT),
        ("й", "a/b", Code::INVALID_REQUEST),
        ("й@1", "b", Code::INVALID_REQUEST),
        ("none", "b", Code::UNKNOWN_COLLECTION),
    ] {
        for engine in [&owner, &other] {
            let error = renamed(engine, from, to).unwrap_err();
            assert_eq!(error.code(), expected, "{from} {to}: {error}");
        }
    }
    has_all(&owner, "й", &names);
}

#[test]
fn a_collection_is_not_renamed_while_a_run_is_over_it() {
    let folder = tempfile::tempdir().unwrap();
    let engine = builder(folder.path(), "notes").open(Access::Write).unwrap();
    filled(&engine);
    fs::write(folder.path().join("a.md"), "# A\n\nText.\n").unwrap();
    let request = IndexRequest { paths: vec![folder.path().join("a.md")], ..IndexRequest::default() };
    let codes = std::sync::Mutex::new(Vec::new());
    let rename = |_: chunkwright_engine::Progress<'_>| {
        for (from, to) in [("notes", "guide"), ("other", "notes")] {
            codes.lock().unwrap().push(renamed(&engine, from, to).unwrap_err().code());
        }
    };
    engine.collection("notes").index(request, &rename).unwrap();
    let codes = codes.into_inner().unwrap();
    assert!(codes.len() > 1 && codes.iter().all(|code| *code == Code::CONFLICT), "{codes:?}");
    assert_eq!(renamed(&engine, "notes", "guide").unwrap(), "guide");
}

#[test]
fn what_a_process_left_that_ended_while_it_renamed_is_completed_or_undone() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["notes", "guide"];
    let began = json!([{ "from": "notes", "to": "guide", "nanos": 1, "at": "2026-01-01T00:00:00Z", "pending": true }]);
    let file = folder.path().join("store/renamed.json");
    filled(&builder(folder.path(), "notes").open(Access::Write).unwrap());
    // It ended before the store renamed.
    fs::write(&file, began.to_string()).unwrap();
    let engine = builder(folder.path(), "notes").open(Access::Write).unwrap();
    has_all(&engine, "notes", &names);
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), "[]");
    drop(engine);
    // It ended just after.
    fs::write(&file, began.to_string()).unwrap();
    let place = StoreLocation::folder(&folder.path().join("store"));
    open_store(&place, chunkwright_index::Access::Write).unwrap().rename("notes", "guide").unwrap();
    let engine = builder(folder.path(), "notes").open(Access::Write).unwrap();
    has_all(&engine, "guide", &names);
    assert!(fs::read_to_string(&file).unwrap().contains("\"pending\": false"));
}

#[test]
fn a_watch_follows_its_collection() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("a.md"), "# A\n\nText.\n").unwrap();
    let engine = builder(folder.path(), "notes").open(Access::Write).unwrap();
    let mut runs = Vec::new();
    let watched = engine.collection("notes").watch(&IndexRequest::following(vec![docs.clone()]), |event| {
        match event {
            Watched::Run(answer) => runs.push((answer.collection, answer.report.indexed)),
            Watched::Waiting if runs.len() == 1 => {
                renamed(&engine, "notes", "guide")?;
                fs::write(docs.join("b.md"), "# B\n\nText.\n").unwrap();
            }
            Watched::Waiting if runs.last().is_some_and(|(_, indexed)| *indexed == 1) && runs.len() > 1 => {
                return Err(Error::Cancelled);
            }
            _ => {}
        }
        Ok(())
    });
    assert!(matches!(watched, Err(Error::Cancelled)));
    assert_eq!(runs[0], ("notes".to_owned(), 1));
    assert!(runs[1..].iter().all(|(collection, _)| collection == "guide"), "{runs:?}");
    assert_eq!(engine.collection_names().unwrap(), ["guide"]);
}
