//! Writes to a store that several engines have open. Two engines stand for two processes: the lock treats both alike.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use chunkwright_engine::settings::{Layers, Source};
use chunkwright_engine::{
    Access, AmendRequest, BoundaryChange, BoundaryRequest, Builder, Code, DeleteRequest, Deleted, Engine,
    Glob, IndexRequest, NewSource, PruneRequest, SearchRequest,
};
use serde_json::{Value, json};

fn builder(folder: &Path, values: Value) -> Builder {
    let Value::Object(mut values) = values else { panic!("an object is expected") };
    values.insert("store".into(), json!(folder.join("store")));
    values.insert("data".into(), json!(folder.join("data")));
    values.insert("embedder".into(), json!("none"));
    Engine::builder(Layers::default().settings(Source::Request, values).unwrap())
}

fn put(engine: &Engine, doc_id: &str, text: &str) {
    let documents = [NewSource::new(doc_id, text.as_bytes().to_vec())];
    let answer = engine.collection("notes").put(IndexRequest::default(), documents, &|_| {}).unwrap();
    assert_eq!((answer.report.indexed, answer.report.failed.len()), (1, 0));
}

fn found(engine: &Engine, query: &str) -> Vec<String> {
    let answer = engine.collection("notes").search(&SearchRequest::new(query)).unwrap();
    let answer = serde_json::to_value(answer).unwrap();
    let hits = answer["hits"].as_array().cloned().unwrap_or_default();
    hits.iter().filter_map(|hit| hit["doc_id"].as_str().map(str::to_owned)).collect()
}

#[test]
fn what_others_write_goes_through_the_owner_and_both_see_it() {
    let folder = tempfile::tempdir().unwrap();
    let owner = builder(folder.path(), json!({})).owner().open(Access::Write).unwrap();
    put(&owner, "ferry.md", "# Ferry\n\nThe ferry leaves at nine.\n");
    // Its own settings count: a preset that the owner does not have.
    let other = builder(folder.path(), json!({ "max_size": 64 })).open(Access::Write).unwrap();
    fs::write(folder.path().join("bread.md"), "# Bread\n\nDough rises in a warm kitchen.\n").unwrap();
    let steps = Mutex::new(0);
    let request = IndexRequest { paths: vec![folder.path().join("bread.md")], ..IndexRequest::default() };
    let answer = other.collection("notes").index(request, &|_| *steps.lock().unwrap() += 1).unwrap();
    // Other settings are another generation, which holds what the owner had put.
    assert_eq!((answer.report.indexed, answer.report.carried), (1, 1));
    assert!(*steps.lock().unwrap() > 0, "progress reaches the caller");
    for engine in [&owner, &other] {
        assert_eq!(
            (found(engine, "dough"), found(engine, "ferry")),
            (vec!["bread.md".to_owned()], vec!["ferry.md".to_owned()])
        );
    }
    let disable =
        AmendRequest { chunks: vec!["bread.md#0".into()], enabled: Some(false), ..AmendRequest::default() };
    assert!(other.collection("notes").amend(&disable).unwrap()[0].disabled);
    assert!(found(&owner, "dough").is_empty());
    let split = BoundaryRequest { chunk: "ferry.md#0".into(), change: BoundaryChange::SplitAtLine(3) };
    let answer = other.collection("notes").set_boundary(&split).unwrap();
    assert_eq!((answer.doc_id.as_str(), answer.chunks.len()), ("ferry.md", 2));
    let reset =
        AmendRequest { chunks: vec![answer.boundary.unwrap()], reset: true, ..AmendRequest::default() };
    assert_eq!(other.collection("notes").amend(&reset).unwrap().len(), 1);
    assert_eq!(other.collection("notes").prune(&PruneRequest::default()).unwrap().len(), 1);
    let delete = DeleteRequest { what: Deleted::Source(Glob::new("ferry.md").unwrap()), dry_run: false };
    assert_eq!(other.collection("notes").delete(&delete).unwrap().len(), 1);
    assert!(found(&owner, "ferry").is_empty());
    // What is wrong is said with the code that it has here.
    let nothing =
        AmendRequest { chunks: vec!["none.md#0".into()], enabled: Some(true), ..AmendRequest::default() };
    let here = owner.collection("notes").amend(&nothing).unwrap_err();
    let there = other.collection("notes").amend(&nothing).unwrap_err();
    assert_eq!((here.code(), here.to_string()), (there.code(), there.to_string()));
}

#[test]
fn a_change_of_what_the_caller_did_not_see_changes_nothing_whichever_door_it_comes_through() {
    let folder = tempfile::tempdir().unwrap();
    let owner = builder(folder.path(), json!({})).owner().open(Access::Write).unwrap();
    put(&owner, "ferry.md", "# Ferry\n\nThe ferry leaves at nine.\n");
    let other = builder(folder.path(), json!({})).open(Access::Write).unwrap();
    let seen = |engine: &Engine| {
        let snapshot = engine.collection("notes").snapshot().unwrap();
        snapshot.chunk("ferry.md#0").unwrap().version().unwrap()
    };
    let keywords = |word: &str, expected: &[&str]| AmendRequest {
        chunks: vec!["ferry.md#0".into()],
        keywords: Some(vec![word.into()]),
        expected: expected.iter().map(|version| (*version).to_owned()).collect(),
        ..AmendRequest::default()
    };
    let first = seen(&other);
    for (number, (here, there)) in [(&owner, &other), (&other, &owner)].into_iter().enumerate() {
        let before = seen(there);
        let word = format!("boat{number}");
        here.collection("notes").amend(&keywords(&word, &[&before])).unwrap();
        for stale in [&before, &first] {
            let error = there.collection("notes").amend(&keywords("lost", &[stale])).unwrap_err();
            assert_eq!(error.code(), Code::CHANGED, "{error}");
        }
        assert_eq!((found(&owner, &word).len(), found(&owner, "lost").len()), (1, 0));
        // One of several versions is enough, and a star is any.
        there.collection("notes").amend(&keywords(&word, &[&first, &seen(here)])).unwrap();
        there.collection("notes").amend(&keywords(&word, &["*"])).unwrap();
    }
}

#[test]
fn of_two_changes_at_once_of_what_both_saw_one_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let owner = builder(folder.path(), json!({})).owner().open(Access::Write).unwrap();
    let other = builder(folder.path(), json!({})).open(Access::Write).unwrap();
    put(&owner, "ferry.md", "# Ferry\n\nThe ferry leaves at nine.\n");
    for round in 0..20 {
        let snapshot = owner.collection("notes").snapshot().unwrap();
        let version = snapshot.chunk("ferry.md#0").unwrap().version().unwrap();
        let change = |engine: &Engine, by: &str| {
            let request = AmendRequest {
                chunks: vec!["ferry.md#0".into()],
                keywords: Some(vec![format!("{by}{round}")]),
                expected: vec![version.clone()],
                ..AmendRequest::default()
            };
            engine.collection("notes").amend(&request).map(drop)
        };
        let [a, b] = std::thread::scope(|scope| {
            [scope.spawn(|| change(&owner, "owner")), scope.spawn(|| change(&other, "other"))]
                .map(|thread| thread.join().unwrap())
        });
        assert!(a.is_ok() != b.is_ok(), "{a:?} {b:?}");
        assert_eq!(a.err().or(b.err()).unwrap().code(), Code::CHANGED);
    }
}

#[test]
fn an_owner_that_has_ended_is_followed_by_the_next_that_writes() {
    let folder = tempfile::tempdir().unwrap();
    let first = builder(folder.path(), json!({})).owner().open(Access::Write).unwrap();
    put(&first, "a.md", "alpha");
    let second = builder(folder.path(), json!({})).owner().open(Access::Write).unwrap();
    let third = builder(folder.path(), json!({})).open(Access::Write).unwrap();
    drop(first);
    put(&second, "b.md", "beta");
    // It goes through the second now.
    put(&third, "c.md", "gamma");
    for (word, doc_id) in [("alpha", "a.md"), ("beta", "b.md"), ("gamma", "c.md")] {
        for engine in [&second, &third] {
            assert_eq!(found(engine, word), [doc_id]);
        }
    }
    // A socket that was left is no owner.
    drop(second);
    fs::create_dir_all(folder.path().join("store/owner")).unwrap();
    fs::write(folder.path().join("store/owner/socket"), "").unwrap();
    put(&third, "d.md", "delta");
    assert_eq!(found(&third, "delta"), ["d.md"]);
}

#[test]
fn a_long_path_of_the_store_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("long name of a folder ".repeat(8)).join("课程".repeat(20));
    let owner = builder(&deep, json!({})).owner().open(Access::Write).unwrap();
    let other = builder(&deep, json!({})).open(Access::Write).unwrap();
    put(&other, "a.md", "alpha");
    assert_eq!(found(&owner, "alpha"), ["a.md"]);
}

#[test]
fn a_caller_that_gives_up_stops_what_the_owner_does_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let documents = folder.path().join("documents");
    fs::create_dir(&documents).unwrap();
    for number in 0..1_000 {
        fs::write(
            documents.join(format!("{number}.md")),
            format!("# Note {number}\n\nWords of note {number}.\n"),
        )
        .unwrap();
    }
    let owner = builder(folder.path(), json!({})).owner().open(Access::Write).unwrap();
    let cancel = Arc::new(AtomicBool::new(false));
    let other = builder(folder.path(), json!({})).cancel(Arc::clone(&cancel)).open(Access::Write).unwrap();
    let request = IndexRequest { paths: vec![documents], ..IndexRequest::default() };
    let result = other.collection("notes").index(request.clone(), &|_| cancel.store(true, Ordering::SeqCst));
    assert_eq!(result.unwrap_err().code().name, "cancelled");
    // The next run waits for the end of that one, and does the rest.
    let answer = owner.collection("notes").index(request, &|_| {}).unwrap();
    assert_eq!(answer.report.indexed + answer.report.unchanged, 1_000);
}

#[cfg(unix)]
#[test]
fn nobody_else_can_reach_the_socket() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let _owner = builder(folder.path(), json!({})).owner().open(Access::Write).unwrap();
    let mode = fs::metadata(folder.path().join("store/owner")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
