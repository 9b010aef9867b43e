//! Previews, comparisons and configuration, none of which store anything.

use serde_json::{Value, json};

use super::server::{Served, form};

const TEXT: &str = "# Guide\n\nA first paragraph about ferries.\n\n## Fares\n\nA second one about fares.\n\n```rust\nfn fare() -> u32 { 3 }\n```\n";

#[test]
fn a_preview_says_why_every_chunk_is_cut_there_and_stores_nothing() {
    let served = Served::new();
    let request = json!({ "text": TEXT, "explain": true, "settings": { "preset": "course", "max_chunk_size": 60, "min_chunk_size": 10 } });
    let answer = served.post("/api/v1/preview", &request).expect(200);
    let chunks = answer["chunks"].as_array().unwrap();
    assert!(chunks.len() > 1, "{answer}");
    assert_eq!(chunks.len(), answer["explanations"].as_array().unwrap().len());
    assert_eq!(answer["statistics"]["chunks"], chunks.len());
    assert!(answer["statistics"]["violations"].as_array().unwrap().is_empty(), "{answer}");
    assert!(chunks.iter().all(|chunk| chunk["preset"] == "course"), "{answer}");
    assert_eq!(answer["explanations"][0]["begin"]["cut"], "heading");
    assert!(served.get("/api/v1/collections").expect(200)["collections"].as_array().unwrap().is_empty());
    let (content_type, body) = form(
        &[("guide.md", "text/markdown", TEXT.as_bytes())],
        &[
            ("settings", r#"{"preset":"course","max_chunk_size":60,"min_chunk_size":10}"#),
            ("explain", "true"),
        ],
    );
    let of_file =
        served.send("POST", "/api/v1/preview", &[("Content-Type", &content_type)], &body).expect(200);
    let contents = |answer: &Value| -> Vec<String> {
        answer["chunks"].as_array().unwrap().iter().map(|chunk| chunk["content"].to_string()).collect()
    };
    assert_eq!(contents(&of_file), contents(&answer));
}

#[test]
fn settings_that_would_let_a_request_read_files_or_call_services_are_refused() {
    let served = Served::new();
    for settings in [
        json!({ "store": "/srv" }),
        json!({ "data": "/srv" }),
        json!({ "embedder_url": "http://127.0.0.1:1/" }),
        json!({ "embedder": "openai:text-embedding-3-small" }),
        json!({ "tokenizer": "/etc/passwd" }),
        json!({ "max_size": "many" }),
        json!({ "colour": "red" }),
    ] {
        let answer = served.post("/api/v1/preview", &json!({ "text": TEXT, "settings": settings }));
        assert_eq!(answer.problem(400), "invalid_settings", "{settings}");
        assert!(!answer.text().contains("--"), "no flags of a command line: {}", answer.text());
    }
}

#[test]
fn a_diff_says_what_other_settings_would_keep_and_embed_again() {
    let served = Served::new();
    served.put("docs", &[("guide.md", TEXT), ("other.md", "# Other\n\nAnother text.\n")]);
    let path = "/api/v1/collections/docs/diff";
    let same = served.post(path, &json!({})).expect(200);
    assert_eq!(
        (&same["summary"]["kept"], &same["summary"]["texts_to_embed"]),
        (&same["summary"]["old_chunks"], &json!(0)),
        "{same}"
    );
    let other = served
        .post(path, &json!({ "doc_id": "guide.md", "settings": { "chunk_size": 60, "min_chunk_size": 10 } }))
        .expect(200);
    assert!(other["summary"]["tokens_to_embed"].as_u64().unwrap() > 0, "{other}");
    assert!(
        other["changes"].as_array().unwrap().iter().all(|change| change["doc_id"] == "guide.md"),
        "{other}"
    );
    let counts = served.post(path, &json!({ "source": "other*", "summary_only": true })).expect(200);
    assert!(counts["changes"].as_array().unwrap().is_empty(), "{counts}");
    assert_eq!(counts["summary"]["old_chunks"], 1, "{counts}");
    assert_eq!(served.post(path, &json!({ "doc_id": "nowhere.md" })).problem(404), "not_found");
}

#[test]
fn configuration_presets_and_registries_are_answered_without_secrets() {
    let served = Served::new();
    let settings = served.get("/api/v1/configuration").expect(200);
    let of = |key: &str| {
        settings["settings"].as_array().unwrap().iter().find(|it| it["key"] == key).unwrap().clone()
    };
    assert_eq!(of("preset")["value"], "auto");
    assert!(of("max_size")["origin"].is_string());
    let schema = served.get("/api/v1/configuration/schema").expect(200);
    assert_eq!(schema["properties"]["max_size"]["type"], "integer");
    assert!(
        schema["properties"].get("store").is_none() && schema["properties"].get("embedder_url").is_none(),
        "{schema}"
    );
    let presets = served.get("/api/v1/presets").expect(200);
    let course = presets["presets"].as_array().unwrap().iter().find(|it| it["name"] == "course").unwrap();
    assert_eq!(
        (&course["settings"]["max_size"], &course["settings"]["overlap_size"]),
        (&json!(1000), &json!(200))
    );
    let registries = served.get("/api/v1/registries").expect(200);
    for (registry, member) in [
        ("strategies", "tree"),
        ("languages", "rust"),
        ("formats", "markdown"),
        ("tokenizers", "o200k"),
        ("models", "e5"),
    ] {
        let members = registries[registry].as_array().unwrap();
        assert!(members.iter().any(|it| it["name"] == member), "{registry}: {members:?}");
    }
}

/// A text that becomes very many chunks by the least size.
fn crumbs(paragraphs: usize) -> String {
    (0..paragraphs).fold(String::new(), |text, at| text + &format!("Satz {at} の文。\n\n"))
}

#[test]
fn a_preview_of_too_many_chunks_is_refused_and_comes_in_pages() {
    let served = Served::new();
    let least = json!({ "max_size": 8 });
    let text = crumbs(21_000);
    let request = |more: Value| {
        let mut request = json!({ "doc_id": "a.md", "text": text, "settings": least });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        served.post("/api/v1/preview", &request)
    };
    let refused = request(json!({}));
    assert_eq!(refused.problem(413), "too_large");
    assert!(refused.text().contains("`offset` and `limit`"), "{}", refused.text());
    let page = request(json!({ "offset": 5, "limit": 3, "explain": true })).expect(200);
    let total = page["statistics"]["chunks"].as_u64().unwrap();
    assert!(total > 20_000, "{total}");
    let indexes: Vec<&Value> =
        page["chunks"].as_array().unwrap().iter().map(|it| &it["chunk_index"]).collect();
    assert_eq!(
        (indexes, page["explanations"].as_array().unwrap().len()),
        (vec![&json!(5), &json!(6), &json!(7)], 3)
    );
    assert_eq!(page["chunks"][0]["total_chunks"], total);
    let end = request(json!({ "offset": total - 1, "limit": 10 })).expect(200);
    assert_eq!(end["chunks"].as_array().unwrap().len(), 1);
    assert_eq!(request(json!({ "offset": total, "limit": 10 })).expect(200)["chunks"], json!([]));
    assert_eq!(request(json!({ "limit": 0 })).problem(400), "invalid_request");
    assert_eq!(request(json!({ "limit": 20_001 })).problem(400), "invalid_request");
}

#[test]
fn a_comparison_of_too_many_chunks_is_a_job_whose_result_is_fetched() {
    let served = Served::new();
    served.put("docs", &[("a.md", &crumbs(21_000)), ("b.md", "# B\n\nText.\n")]);
    let (path, settings) = ("/api/v1/collections/docs/diff", json!({ "max_size": 8 }));
    let refused = served.post(path, &json!({ "settings": settings, "summary_only": true }));
    assert_eq!(refused.problem(413), "too_large");
    assert!(refused.text().contains("job of the kind `diff`"), "{}", refused.text());
    let small = served.post(path, &json!({ "settings": settings, "doc_id": "b.md" })).expect(200);
    let job = |request: Value| {
        served.post("/api/v1/jobs", &json!({ "kind": "diff", "collection": "docs", "request": request }))
    };
    let ended = served.ended(&job(json!({ "settings": settings })).expect(202));
    assert_eq!((&ended["state"], &ended["progress"]["files"]), (&json!("succeeded"), &json!(2)), "{ended}");
    assert!(
        ended["answer"]["changes"].is_null()
            && ended["answer"]["summary"]["new_chunks"].as_u64() > Some(20_000)
    );
    let result = format!("/api/v1/jobs/{}/result", ended["id"]);
    let answer = served.get(&result);
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/x-ndjson"));
    let lines: Vec<Value> = answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, changes) = lines.split_last().unwrap();
    assert_eq!(
        (&last["kind"], &last["new_chunks"]),
        (&json!("summary"), &ended["answer"]["summary"]["new_chunks"])
    );
    let of_small: Vec<&Value> = changes.iter().filter(|change| change["doc_id"] == "b.md").collect();
    assert_eq!(of_small, small["changes"].as_array().unwrap().iter().collect::<Vec<_>>());
    // What was wrong with it is said at once, and a job of another kind has no such result.
    assert_eq!(job(json!({ "settings": { "max_sise": 8 } })).problem(400), "invalid_settings");
    let reindex =
        served.post("/api/v1/jobs", &json!({ "kind": "reindex", "collection": "docs" })).expect(202);
    served.ended(&reindex);
    assert_eq!(served.get(&format!("/api/v1/jobs/{}/result", reindex["id"])).problem(409), "conflict");
    // It can be cancelled, and then has none either.
    let begun = job(json!({ "settings": settings })).expect(202);
    served.delete(&format!("/api/v1/jobs/{}", begun["id"])).expect(200);
    let ended = served.ended(&begun);
    if ended["state"] == "cancelled" {
        assert_eq!(served.get(&format!("/api/v1/jobs/{}/result", begun["id"])).problem(409), "conflict");
    }
    // Results outlive the server.
    let served = served.restarted();
    assert_eq!(served.get(&result).text(), answer.text());
}
