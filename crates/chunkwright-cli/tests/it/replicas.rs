//! Several servers that read one store, or copies of it, while another process changes how it is cut and embedded.

use std::fs;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::{Folder, guide};
use crate::docs::{installed_models, link_models};
use crate::serve::{Server, stores_on_servers};

/// The same words in every section, so that each way of cutting gives hits of its own.
fn folder() -> Folder {
    let folder = Folder::new(&[
        ("docs/guide.md", &guide(30)),
        ("docs/паром.md", "# Паром\n\nПаром отходит в девять. The ferry of section nine.\n"),
        ("docs/渡轮.md", "# 渡轮\n\n渡轮九点出发。 The ferry of section nine.\n"),
    ]);
    if let Some(models) = installed_models(&["static"]) {
        link_models(&folder, &models);
    }
    folder
}

/// A server that embeds queries by the model of the collection.
fn serve(folder: &Folder, more: &[&str]) -> Server {
    Server::of(folder.command(&[&["serve", "--listen", "127.0.0.1:0"], more].concat()))
}

/// How the collection is cut and embedded, one after another.
const ROLLING: &[&[&str]] = &[
    &["--preset", "docs", "--embedder", "none"],
    &["--preset", "recursive", "--embedder", "none", "--max-size", "60"],
    &["--preset", "recursive", "--embedder", "static", "--max-size", "60"],
    &["--preset", "docs", "--embedder", "none", "--max-size", "90"],
];

/// What a server finds; a failure if it cannot say.
#[track_caller]
fn answer(server: &Server) -> Value {
    let search = json!({ "query": "the ferry of section nine", "top_k": 20 });
    let (status, answer) = server.call("POST", "/api/v1/search", &search).unwrap();
    assert_eq!(status, 200, "{answer}");
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| json!([hit["chunk_id"], hit["score"]])).collect()
}

/// What a server finds, one after another, until it finds what `last` names, or nobody can name it any more.
fn answers(server: &Server, last: &Receiver<Value>) -> Vec<Value> {
    let (mut seen, mut expected) = (Vec::new(), None);
    loop {
        let found = answer(server);
        let is_last = expected.as_ref() == Some(&found);
        if seen.last() != Some(&found) {
            seen.push(found);
        }
        if is_last {
            return seen;
        }
        // The writer is what takes time: asked without a pause, readers would only slow it.
        match last.recv_timeout(Duration::from_millis(20)) {
            Ok(named) => expected = Some(named),
            Err(RecvTimeoutError::Disconnected) if expected.is_none() => return seen,
            Err(_) => {}
        }
    }
}

#[test]
fn readers_answer_by_one_generation_while_a_writer_changes_preset_and_model() {
    for url in [stores_on_servers("replicas"), vec!["store".into()]].concat() {
        let folder = folder();
        let store = ["--store", &*url];
        let index = |way: &[&str]| {
            let run = folder.run(&[&["index", "docs"], way, &store].concat());
            assert_eq!(run.code, 0, "{url} {way:?}: {}", run.stderr);
        };
        index(ROLLING[0]);
        let writer = serve(&folder, &store);
        let readers = [(); 2].map(|()| serve(&folder, &[&store[..], &["--read-only"]].concat()));
        let mut expected = vec![answer(&writer)];
        let seen = thread::scope(|scope| {
            let reading = readers.each_ref().map(|reader| {
                let (last, named) = mpsc::channel();
                (last, scope.spawn(move || answers(reader, &named)))
            });
            for way in &ROLLING[1..] {
                index(way);
                expected.push(answer(&writer));
            }
            reading.map(|(last, reading)| {
                last.send(expected[ROLLING.len() - 1].clone()).unwrap();
                reading.join().unwrap()
            })
        });
        for seen in seen {
            let mut rest = expected.iter();
            for found in &seen {
                assert!(
                    rest.any(|it| it == found),
                    "{url}: {found} is not of one generation, or of one before"
                );
            }
            assert!(seen.len() > 1, "{url}: nothing was read meanwhile");
        }
        for reader in &readers {
            let (status, refused) =
                reader.call("DELETE", "/api/v1/collections/default", &Value::Null).unwrap();
            assert_eq!(
                (status, answer(reader)),
                (403, expected[ROLLING.len() - 1].clone()),
                "{url}: {refused}"
            );
            let (_, ready) = reader.call("GET", "/ready", &Value::Null).unwrap();
            assert_eq!(ready["read_only"], true, "{url}");
        }
    }
}

#[test]
fn copies_that_backup_makes_are_served_one_after_another() {
    let folder = folder();
    let copies = ["copy-1", "copy-2"];
    let step = |way: &[&str]| {
        assert_eq!(folder.run(&[&["index", "docs"], way].concat()).code, 0);
        let expected = folder.run(&["search", "the ferry of section nine", "-q", "-k", "20"]).lines();
        let expected: Value = expected.iter().map(|hit| json!([hit["chunk_id"], hit["score"]])).collect();
        for copy in copies {
            assert_eq!(folder.run(&["backup", "shipped"]).code, 0);
            fs::create_dir_all(folder.path().join(copy)).unwrap();
            fs::rename(folder.path().join("shipped"), folder.path().join(copy).join("chunkwright.sqlite3"))
                .unwrap();
        }
        expected
    };
    let first = step(ROLLING[0]);
    let readers = copies.map(|copy| serve(&folder, &["--store", copy, "--read-only"]));
    for reader in &readers {
        assert_eq!(answer(reader), first);
    }
    for way in &ROLLING[1..] {
        let expected = step(way);
        assert_ne!(expected, first);
        for reader in &readers {
            assert_eq!(answer(reader), expected);
        }
    }
}
