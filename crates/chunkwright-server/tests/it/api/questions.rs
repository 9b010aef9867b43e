//! Saved questions, and the log of queries.

use serde_json::{Value, json};

use super::server::{Served, encoded};

const BEES: &str =
    "# Bees\n\nBees fly out on the first warm day.\n\n# Honey\n\nHoney is ripe when it does not drip.\n";
const FERRY: &str = "# Ferry\n\nThe ferry leaves at noon, except on Sundays.\n";

fn served() -> Served {
    let served = Served::logging();
    served.put("home", &[("bees.md", BEES), ("ferry.md", FERRY)]);
    served
}

#[test]
fn questions_are_asked_of_every_version() {
    let served = served();
    let path = "/api/v1/collections/home/questions";
    assert_eq!(served.get(path).expect(200)["questions"], json!([]));
    let ferry = json!({ "question": "when does the ferry leave?", "expected": ["ferry.md#0"] });
    let saved = served.post(path, &ferry).expect(201);
    assert_eq!(saved["expected"], json!([{ "doc_id": "ferry.md", "start_line": 1, "end_line": 3 }]));
    // Nothing says this, and what is expected is in two places.
    let lost = json!({ "question": "zeppelin", "expected": ["bees.md#L1-L3", "bees.md#L5-L7"] });
    served.post(path, &lost).expect(201);
    let asked = |modes: &Value| {
        served.post(&format!("{path}/evaluate"), &json!({ "modes": modes, "k": 5 })).expect(200)
    };
    let [version] = asked(&json!(["lexical"]))["versions"].as_array().unwrap().clone().try_into().unwrap();
    assert_eq!(version["questions"], json!([{ "id": 1, "rank": 1 }, { "id": 2, "rank": null }]));
    for measure in ["recall", "mrr", "ndcg"] {
        assert_eq!(version[measure], 0.5, "{measure}: {version}");
    }
    // What cannot be compared is left out, not failed.
    let both = asked(&json!(["dense", "lexical"]))["versions"].as_array().unwrap().clone();
    assert_eq!(both.iter().map(|version| version["mode"].clone()).collect::<Vec<_>>(), ["lexical"]);
    // Another version is asked the same, and so is one that searches do not see.
    let job = json!({ "kind": "reindex", "collection": "home", "settings": { "max_size": 64 } });
    let job = served.post("/api/v1/jobs", &job).expect(202);
    assert_eq!(served.ended(&job)["state"], "succeeded");
    let versions = asked(&json!(["lexical"]))["versions"].as_array().unwrap().clone();
    let states: Vec<&str> = versions.iter().map(|version| version["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["old", "current"]);
    assert_eq!(versions[1]["questions"][0]["rank"], 1);

    assert_eq!(served.delete(&format!("{path}/1")).status, 204);
    assert_eq!(served.delete(&format!("{path}/1")).problem(404), "not_found");
    let served = served.restarted();
    let kept = served.get(path).expect(200);
    assert_eq!(kept["questions"].as_array().unwrap().len(), 1, "{kept}");
    for wrong in
        [json!({ "question": " ", "expected": ["ferry.md"] }), json!({ "question": "when?", "expected": [] })]
    {
        assert_eq!(served.post(path, &wrong).problem(400), "invalid_request");
    }
    let nowhere = json!({ "question": "when?", "expected": ["nowhere.md"] });
    assert_eq!(served.post(path, &nowhere).problem(404), "not_found");
    assert_eq!(served.get("/api/v1/collections/nowhere/questions").problem(404), "unknown_collection");
}

#[test]
fn a_renamed_collection_keeps_its_questions_and_its_use() {
    let served = served();
    let question = json!({ "question": "when does the ferry leave?", "expected": ["ferry.md#0"] });
    served.post("/api/v1/collections/home/questions", &question).expect(201);
    served.get("/api/v1/search?q=ferry&collection=home").expect(200);
    let rename = |served: &Served, from: &str, name: &str| {
        let path = format!("/api/v1/collections/{}", encoded(from));
        served.json("PATCH", &path, &json!({ "name": name }))
    };
    let answer = rename(&served, "home", "дом").expect(200);
    assert_eq!(answer, json!({ "collection": "дом", "before": "home" }));
    assert_eq!(served.get("/api/v1/collections/home").problem(404), "unknown_collection");
    let path = format!("/api/v1/collections/{}", encoded("дом"));
    let check = |served: &Served, found: u64| {
        assert_eq!(served.get(&path).expect(200)["documents"], 2);
        let questions = served.get(&format!("{path}/questions")).expect(200);
        assert_eq!(questions["questions"].as_array().unwrap().len(), 1);
        let used = served.get(&format!("{path}/use")).expect(200)["use"].clone();
        assert_eq!((&used["queries"], &used["rows"][0]["found"]), (&json!(found), &json!(found)), "{used}");
    };
    check(&served, 1);
    served.get(&format!("/api/v1/search?q=ferry&collection={}", encoded("дом"))).expect(200);
    let served = served.restarted();
    check(&served, 2);
    served.put("other", &[("ferry.md", FERRY)]);
    assert_eq!(rename(&served, "other", "дом").problem(409), "conflict");
    assert_eq!(rename(&served, "other", "a b").problem(400), "invalid_request");
    assert_eq!(rename(&served, "none", "b").problem(404), "unknown_collection");
    rename(&served, "дом", "home").expect(200);
    assert_eq!(served.found("home", "ferry"), ["ferry.md"]);
}

#[test]
fn queries_of_people_and_agents_are_kept_where_that_is_asked_for() {
    let quiet = Served::new();
    quiet.put("home", &[("ferry.md", FERRY)]);
    quiet.get("/api/v1/search?q=ferry&collection=home").expect(200);
    assert_eq!(quiet.get("/api/v1/log").expect(200), json!({ "enabled": false, "entries": [] }));

    let served = served();
    served.get("/api/v1/search?q=ferry&collection=home").expect(200);
    served.get("/api/v1/search?q=zeppelin&collection=home").expect(200);
    for (tool, arguments) in [
        ("search", json!({ "query": "honey", "collection": "home" })),
        ("fetch", json!({ "id": "ferry.md", "collection": "home" })),
    ] {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
        let headers =
            [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        assert_eq!(served.send("POST", "/mcp", &headers, call.to_string().as_bytes()).status, 200);
    }
    let served = served.restarted();
    let log = |query: &str| served.get(&format!("/api/v1/log{query}")).expect(200);
    let shown = |log: &Value| -> Vec<String> {
        let entries = log["entries"].as_array().unwrap().iter();
        entries
            .map(|entry| format!("{} {} {}", entry["door"], entry["kind"], entry["query"]).replace('"', ""))
            .collect()
    };
    let all = log("");
    assert_eq!(
        shown(&all),
        ["mcp fetch ferry.md", "mcp search honey", "http search zeppelin", "http search ferry"]
    );
    assert_eq!(all["entries"][3]["hits"], 1);
    assert!(all["entries"][3]["relevance"].as_f64().unwrap() > 0.5, "{all}");
    assert_eq!(shown(&log("?zero_hits=true")), ["http search zeppelin"]);
    assert_eq!(shown(&log("?kind=fetch")), ["mcp fetch ferry.md"]);
    let first = log("?limit=3");
    let next = first["next"].as_str().unwrap();
    assert_eq!(shown(&log(&format!("?limit=3&cursor={next}"))), ["http search ferry"]);
    assert_eq!(served.delete("/api/v1/log").status, 204);
    assert_eq!(log("")["entries"], json!([]));
}

#[test]
fn the_log_tells_which_chunks_were_found_fetched_and_never_met() {
    let quiet = Served::new();
    quiet.put("home", &[("ferry.md", FERRY)]);
    assert_eq!(quiet.get("/api/v1/collections/home/use").expect(200), json!({ "enabled": false }));

    let served = served();
    served.put("home", &[("unmet.md", "# Zeppelins\n\nAirships rise.\n")]);
    let found = served.get("/api/v1/search?q=ferry&collection=home").expect(200);
    served.get("/api/v1/search?q=ferry&collection=home").expect(200);
    let id = found["hits"][0]["chunk_id"].as_str().unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "fetch", "arguments": { "id": id, "collection": "home" } } });
    let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    assert_eq!(served.send("POST", "/mcp", &headers, call.to_string().as_bytes()).status, 200);

    let of =
        |query: &str| served.get(&format!("/api/v1/collections/home/use{query}")).expect(200)["use"].clone();
    let (all, fetched, never) = (of(""), of("?state=fetched"), of("?state=never"));
    assert_eq!((&all["queries"], &all["fetched"]), (&json!(3), &json!(1)), "{all}");
    let chunks = all["chunks"].as_u64().unwrap();
    assert_eq!(all["found"].as_u64().unwrap() + all["never"].as_u64().unwrap(), chunks, "{all}");
    for rows in [&all["rows"], &fetched["rows"]] {
        let first = &rows[0];
        assert_eq!(
            (&first["chunk_id"], &first["found"], &first["fetched"]),
            (&json!(id), &json!(2), &json!(1))
        );
    }
    let unmet: Vec<&str> =
        never["rows"].as_array().unwrap().iter().map(|row| row["doc_id"].as_str().unwrap()).collect();
    assert!(unmet.contains(&"unmet.md") && !unmet.contains(&"ferry.md"), "{never}");
    assert_eq!(served.get("/api/v1/collections/home/use?limit=0").problem(400), "invalid_request");
    assert_eq!(served.get("/api/v1/collections/nowhere/use").problem(404), "unknown_collection");
}

#[test]
fn a_collection_is_exported_as_import_takes_it() {
    let served = Served::new();
    served.put("home", &[("ferry.md", FERRY), ("зима.md", "# Зима\n\nПечь топят.\n")]);
    let answer = served.get("/api/v1/collections/home/export");
    let text = answer.text();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let documents: Vec<&Value> = rows.iter().filter(|row| row.get("document").is_some()).collect();
    assert_eq!(documents.len(), 2, "{text}");
    assert!(rows.iter().any(|row| row["content"].as_str().unwrap().contains("Печь топят")));
    assert_eq!(served.get("/api/v1/collections/nowhere/export").problem(404), "unknown_collection");
}
