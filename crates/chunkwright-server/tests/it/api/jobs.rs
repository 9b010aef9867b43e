//! Jobs over the API.

use serde_json::{Value, json};

use super::server::Served;

#[test]
fn files_below_a_root_are_indexed_and_no_others_are_named() {
    let served = Served::new();
    let outside = served.folder().join("outside.md");
    std::fs::write(&outside, "# Secret\n\nNothing for requests.\n").unwrap();
    served.write("docs/a.md", "# A\n\nA text about lighthouses.\n");
    let index = |paths: Value| {
        let request = json!({ "paths": paths });
        served.post("/api/v1/jobs", &json!({ "kind": "index", "collection": "docs", "request": request }))
    };
    let job = index(json!([served.files().join("docs")])).expect(202);
    assert_eq!(job["state"], "queued");
    let ended = served.ended(&job);
    assert_eq!((&ended["state"], &ended["answer"]["indexed"]), (&json!("succeeded"), &json!(1)), "{ended}");
    assert_eq!(served.found("docs", "lighthouse"), ["a.md"]);
    assert_eq!(index(json!(["docs"])).expect(202)["state"], "queued", "relative to a root");
    let there = index(json!([outside]));
    let nowhere = index(json!([served.folder().join("nothing.md")]));
    assert_eq!((there.problem(403), nowhere.problem(403)), ("forbidden".to_owned(), "forbidden".to_owned()));
    let said = |text: String, name: &str| text.replace(name, "");
    assert_eq!(said(there.text(), "outside.md"), said(nowhere.text(), "nothing.md"), "no oracle");
    assert_eq!(index(json!(["../outside.md"])).problem(403), "forbidden");
    assert_eq!(index(json!([])).problem(400), "invalid_request");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(served.folder(), served.files().join("up")).unwrap();
        assert_eq!(index(json!(["up/outside.md"])).problem(403), "forbidden");
        // A link below a folder that is indexed is not followed out of it.
        std::os::unix::fs::symlink(&outside, served.files().join("docs/link.md")).unwrap();
        let ended = served.ended(&index(json!(["docs"])).expect(202));
        assert_eq!(ended["state"], "succeeded", "{ended}");
        assert!(served.found("docs", "secret").is_empty());
    }
}

#[test]
fn jobs_are_listed_newest_first_in_pages_and_one_that_is_over_stays_so() {
    let served = Served::new();
    served.put("docs", &[("a.md", "# A\n\nText.\n")]);
    let reindex = json!({ "kind": "reindex", "collection": "docs" });
    let jobs: Vec<Value> = (0..3).map(|_| served.post("/api/v1/jobs", &reindex).expect(202)).collect();
    for job in &jobs {
        served.ended(job);
    }
    let first = served.get("/api/v1/jobs?limit=2&collection=docs").expect(200);
    let ids = |page: &Value| -> Vec<u64> {
        page["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_u64().unwrap()).collect()
    };
    let next = first["next"].as_str().unwrap();
    let second = served.get(&format!("/api/v1/jobs?limit=2&collection=docs&cursor={next}")).expect(200);
    assert_eq!((ids(&first), ids(&second)), (vec![3, 2], vec![1]));
    assert_eq!(served.get(&format!("/api/v1/jobs?cursor={next}")).problem(400), "invalid_request");
    assert_eq!(served.delete("/api/v1/jobs/1").expect(200)["state"], "succeeded");
    assert_eq!(served.get("/api/v1/jobs/99").problem(404), "not_found");
    assert_eq!(served.get("/api/v1/jobs/99/events").problem(404), "not_found");
    let served = served.restarted();
    let again = served.get("/api/v1/jobs/2").expect(200);
    assert_eq!((&again["state"], &again["task"]["collection"]), (&json!("succeeded"), &json!("docs")));
    assert_eq!(served.found("docs", "text"), ["a.md"], "what was stored is there after a restart");
}

#[test]
fn a_client_that_comes_back_is_not_sent_what_it_saw() {
    let served = Served::new();
    served.put("docs", &[("a.md", "# A\n\nText.\n")]);
    let job = served.post("/api/v1/jobs", &json!({ "kind": "reindex", "collection": "docs" })).expect(202);
    let events = format!("/api/v1/jobs/{}/events", job["id"]);
    let whole = served.get(&events);
    assert_eq!(whole.header("content-type"), "text/event-stream");
    let text = whole.text();
    let last = text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
    let again = served.send("GET", &events, &[("Last-Event-ID", last)], &[]);
    assert_eq!((again.status, again.bytes.len()), (204, 0), "{}", again.text());
    let earlier = served.send("GET", &events, &[("Last-Event-ID", "0")], &[]);
    assert!(earlier.text().contains("event: end"), "{}", earlier.text());
}

#[test]
fn a_job_that_waits_is_cancelled_at_once() {
    let served = Served::new();
    let text: String =
        (0..400).map(|n| format!("# Part {n}\n\n{}\n\n", "Words of a long part. ".repeat(40))).collect();
    served.put("docs", &[("a.md", &text)]);
    let reindex = |preset: &str| {
        let job = json!({ "kind": "reindex", "collection": "docs", "settings": { "preset": preset } });
        served.post("/api/v1/jobs", &job).expect(202)
    };
    let jobs = ["course", "docs", "adaptive", "recursive"].map(reindex);
    let last = served.delete(&format!("/api/v1/jobs/{}", jobs[3]["id"])).expect(200);
    assert_eq!(last["state"], "cancelled", "{last}");
    for job in &jobs[..3] {
        assert_eq!(served.ended(job)["state"], "succeeded");
    }
    assert_eq!(served.ended(&jobs[3])["state"], "cancelled");
    let configuration = served.get("/api/v1/collections/docs/configuration").expect(200);
    assert_eq!(configuration["current"]["preset"], "adaptive", "{configuration}");
}

#[test]
fn presets_are_measured_by_questions_that_come_with_the_request() {
    let served = Served::new();
    served.put(
        "docs",
        &[
            ("tea.md", "# Tea\n\nGreen tea is brewed at eighty degrees.\n"),
            ("bread.md", "# Bread\n\nRye bread needs a day.\n"),
        ],
    );
    let question = json!({ "question": "how hot is green tea brewed?", "doc_id": "tea.md", "excerpt": "brewed at eighty degrees" });
    let request = json!({ "inline": [question], "collection": "docs", "presets": ["auto", "course"], "modes": ["lexical"] });
    let job = served.post("/api/v1/jobs", &json!({ "kind": "evaluate", "request": request })).expect(202);
    let ended = served.ended(&job);
    assert_eq!(ended["state"], "succeeded", "{ended}");
    assert_eq!(ended["answer"]["run"]["questions"], 1, "{ended}");
    let by_path = json!({ "questions": "/etc/passwd", "collection": "docs" });
    let answer = served.post("/api/v1/jobs", &json!({ "kind": "evaluate", "request": by_path }));
    assert_eq!(answer.problem(403), "forbidden");
}

#[test]
fn what_a_collection_is_planned_to_be_cut_by_is_what_the_next_reindex_does() {
    let served = Served::new();
    served.put("docs", &[("a.md", "# A\n\nText.\n")]);
    let path = "/api/v1/collections/docs/configuration";
    let planned = served.json("PUT", path, &json!({ "settings": { "max_size": 100 } })).expect(200);
    assert_eq!(
        (&planned["current"]["max_size"], &planned["planned"]["max_size"]),
        (&json!(256), &json!(100))
    );
    let served = served.restarted();
    let job = served.post("/api/v1/jobs", &json!({ "kind": "reindex", "collection": "docs" })).expect(202);
    assert_eq!(served.ended(&job)["state"], "succeeded");
    assert_eq!(served.get(path).expect(200)["current"]["max_size"], 100);
    let prune = json!({ "kind": "prune", "collection": "docs" });
    assert_eq!(served.ended(&served.post("/api/v1/jobs", &prune).expect(202))["state"], "succeeded");
    let versions = served.get("/api/v1/collections/docs/versions").expect(200);
    assert_eq!(versions["generations"].as_array().unwrap().len(), 1, "{versions}");
    let unknown = served.post("/api/v1/jobs", &json!({ "kind": "reindex", "collection": "nowhere" }));
    assert_eq!(unknown.problem(404), "unknown_collection");
    let migrate = json!({ "kind": "migrate", "collection": "docs", "embedder": "openai:any" });
    assert_eq!(served.post("/api/v1/jobs", &migrate).problem(400), "invalid_settings");
}

#[test]
fn what_is_uploaded_while_a_collection_is_cut_again_is_in_the_new_chunks() {
    let served = Served::new();
    let text: String =
        (0..400).map(|n| format!("# Part {n}\n\n{}\n\n", "Words of a long part. ".repeat(40))).collect();
    served.put("docs", &[("long.md", &text)]);
    let job = json!({ "kind": "reindex", "collection": "docs", "settings": { "preset": "course" } });
    let job = served.post("/api/v1/jobs", &job).expect(202);
    served.put("docs", &[("kettle.md", "# Kettle\n\nThe kettle is blue.\n")]);
    assert_eq!(served.ended(&job)["state"], "succeeded");
    assert_eq!(served.found("docs", "kettle"), ["kettle.md"]);
    let chunk = served.get("/api/v1/collections/docs/chunks/kettle.md%230").expect(200);
    assert_eq!(chunk["preset"], "course");
    let versions = served.get("/api/v1/collections/docs/versions").expect(200)["generations"].clone();
    let states: Vec<&Value> = versions.as_array().unwrap().iter().map(|it| &it["state"]).collect();
    assert_eq!(states, ["old", "current"], "{versions}");
    // A collection that is made anew is cut as if there had been none.
    served.delete("/api/v1/collections/docs").expect(200);
    served.put("docs", &[("kettle.md", "# Kettle\n\nThe kettle is blue.\n")]);
    let configuration = served.get("/api/v1/collections/docs/configuration").expect(200);
    assert_eq!(
        (&configuration["current"]["preset"], &configuration["planned"]["preset"]),
        (&json!("auto"), &json!("auto"))
    );
}
