//! Folders that `chunkwright mcp` serves from the first second: words first, vectors behind them, and several at once.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{Folder, guide};
use crate::docs::{installed_models, link_models};
use crate::mcp::Agent;

/// A folder of English documents, and the models that are installed here.
fn with_models(wanted: &[&str]) -> Option<Folder> {
    let models = installed_models(wanted)?;
    let folder = Folder::new(&[]);
    link_models(&folder, &models);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus/en");
    for name in ["ferry-harbour.md", "bread.md"] {
        folder.write(&format!("docs/{name}"), &fs::read(corpus.join(name)).unwrap());
    }
    Some(folder)
}

/// The only collection of a status.
#[track_caller]
fn collection(agent: &mut Agent) -> (u64, u64, String) {
    let status = agent.call("status", json!({}));
    assert_eq!(status["total"], 1, "{status}");
    let row = &status["collections"][0];
    let number = |name: &str| row[name].as_u64().unwrap();
    (number("chunks"), number("pending"), row["model"].as_str().unwrap_or_default().to_owned())
}

/// The ids of what is found.
fn found(agent: &mut Agent, query: &str) -> Vec<String> {
    let found = agent.call("search", json!({ "query": query, "limit": 10 }));
    let results = found["results"].as_array().unwrap();
    results.iter().map(|result| result["id"].as_str().unwrap().to_owned()).collect()
}

/// A question that shares no word with the documents.
const RUSSIAN: &str = "Когда отходит паром?";

#[test]
fn a_fast_model_answers_at_once_and_the_best_one_when_it_has_read_everything() {
    let Some(folder) = with_models(&["static", "e5"]) else { return };
    let mut agent = Agent::start(&folder, &["docs", "-q"]);
    let said = agent.wait();
    let behind = said.iter().filter_map(|said| said.strip_prefix("words and vectors of `static` so far; "));
    let behind: Vec<&str> = behind.collect();
    assert!(
        !behind.is_empty() && behind.iter().all(|said| said.starts_with("vectors of `e5`: ")),
        "{said:?}"
    );
    let (chunks, pending, model) = collection(&mut agent);
    assert!(chunks > 10 && pending == 0 && model.contains("e5"), "{chunks} {pending} {model}");
    let first = agent.call("search", json!({ "query": RUSSIAN, "limit": 1 }));
    assert_eq!(first["results"][0]["doc_id"], "ferry-harbour.md", "{first}");
    // An edit is searched by the best model alone from now on, and nothing is there twice.
    let before = found(&mut agent, "ferry harbour bread");
    folder.write("docs/new.md", b"# Lighthouse\n\nThe lighthouse keeper counts gulls.\n");
    while collection(&mut agent).0 == chunks {
        std::thread::yield_now();
    }
    agent.wait();
    assert_eq!(collection(&mut agent), (chunks + 1, 0, model));
    assert_eq!(found(&mut agent, "ferry harbour bread"), before);
    assert_eq!(agent.leave().0, 0);
}

#[test]
fn a_killed_server_goes_on_where_it_was_and_a_limit_is_told_with_what_lifts_it() {
    let Some(folder) = with_models(&["e5"]) else { return };
    let without_static = folder.home().join(".local/share/chunkwright/models");
    let models = fs::read_link(&without_static).unwrap();
    fs::remove_file(&without_static).unwrap();
    fs::create_dir(&without_static).unwrap();
    std::os::unix::fs::symlink(models.join("e5"), without_static.join("e5")).unwrap();

    let mut agent = Agent::start(&folder, &["docs", "-q", "--embed-minutes", "0"]);
    let said = loop {
        let said = agent.call("status", json!({}))["indexing"].as_str().unwrap().to_owned();
        if said.contains("paused") {
            break said;
        }
    };
    assert_eq!(
        said,
        "words only so far; vectors of `e5`: 0 %; paused, since `embed_minutes` is 0: to go on, start again with `embed_minutes` 1"
    );
    let (chunks, pending, _) = collection(&mut agent);
    assert_eq!(chunks, pending);
    assert!(!found(&mut agent, "ferry").is_empty());
    let across = agent.call("search", json!({ "query": RUSSIAN }));
    let notices = across["notices"].to_string();
    assert!(notices.contains("another language than the documents"), "{across}");
    assert_eq!(agent.leave().0, 0);

    let mut agent = Agent::start(&folder, &["docs", "-q"]);
    let mut left = pending;
    while left == pending {
        left = collection(&mut agent).1;
    }
    agent.child.kill().unwrap();
    agent.child.wait().unwrap();
    // Two servers go on from there together; what was embedded before stays.
    let mut agents = [(); 2].map(|()| Agent::start(&folder, &["docs", "-q"]));
    for agent in &mut agents {
        assert!(collection(agent).1 <= left);
        agent.wait();
    }
    let [mut agent, other] = agents;
    assert_eq!(other.leave().0, 0);
    assert_eq!((collection(&mut agent).0, collection(&mut agent).1), (chunks, 0));
    let first = agent.call("search", json!({ "query": RUSSIAN, "limit": 1 }));
    assert_eq!(first["results"][0]["doc_id"], "ferry-harbour.md", "{first}");
    assert_eq!(agent.leave().0, 0);
}

#[test]
fn several_folders_are_a_collection_each_and_searched_together() {
    let folder = Folder::new(&[
        ("one/docs/a.md", "# Heron\n\nThe heron waits in the reeds.\n"),
        ("two/docs/b.md", "# Otter\n\nThe otter swims at night.\n"),
    ]);
    let mut agent = Agent::start(&folder, &["one/docs", "two/docs", "one/docs", "-q"]);
    agent.wait();
    let status = agent.call("status", json!({}));
    let names: Vec<&Value> =
        status["collections"].as_array().unwrap().iter().map(|row| &row["collection"]).collect();
    assert_eq!(names, ["one-docs", "two-docs"]);
    for (query, doc_id) in [("heron", "a.md"), ("otter", "b.md")] {
        let found = agent.call("search", json!({ "query": query }));
        assert_eq!(found["results"][0]["doc_id"], doc_id, "{found}");
    }
    folder.write("two/docs/new.md", b"# Stork\n\nThe stork stands on a chimney.\n");
    while agent.call("search", json!({ "query": "stork chimney" }))["results"][0]["doc_id"] != "new.md" {
        std::thread::yield_now();
    }
    assert_eq!(agent.leave().0, 0);
}

#[test]
fn models_that_come_and_go_are_followed_at_the_next_start() {
    let Some(models) = installed_models(&["static"]) else { return };
    let folder = Folder::new(&[("docs/guide.md", &guide(2))]);
    let own = folder.home().join(".local/share/chunkwright/models");
    fs::create_dir_all(&own).unwrap();
    for expected in ["", "wordllama", ""] {
        if expected.is_empty() {
            // There is none at first.
            let _ = fs::remove_file(own.join("static"));
        } else {
            std::os::unix::fs::symlink(models.join("static"), own.join("static")).unwrap();
        }
        let mut agent = Agent::start(&folder, &["docs", "-q"]);
        agent.wait();
        let (chunks, pending, model) = collection(&mut agent);
        assert!(chunks > 0 && pending == 0, "{chunks} {pending}");
        assert_eq!(model.split('-').next(), Some(expected));
        assert!(!found(&mut agent, "guide").is_empty());
        assert_eq!(agent.leave().0, 0);
    }
}
