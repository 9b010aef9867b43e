//! Operations: metrics, health, compression, redaction of secrets.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use chunkwright_engine::{FetchRequest, IndexRequest, ListCollectionsRequest, NewSource};
use serde_json::Value;

use crate::client::{ask, get, search};
use crate::served::{Served, keys};

/// Searches by every stage, so that everything that is counted has a value.
fn use_it(served: &Served) {
    for query in ["pears", "pears", "apples"] {
        let body = serde_json::json!({ "query": query }).to_string();
        let answer =
            ask(served.address, "POST", "/api/v1/search", &["Content-Type: application/json"], &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    assert_eq!(get(served.address, "/api/v1/collections", &["Host: evil.com"]).status, 403);
}

/// The names of samples, without their labels.
fn names(text: &str) -> HashSet<String> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples.map(|line| line.split(['{', ' ']).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_metric_of_the_dashboard_is_served() {
    let served = Served::new(|_| {});
    use_it(&served);
    // What has to be read of chunks is not waited for.
    let served = loop {
        let served = names(&get(served.address, "/metrics", &[]).text());
        if served.contains("chunkwright_optimal_ratio") {
            break served;
        }
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/grafana/chunkwright.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.filter_map(|panel| panel["targets"].as_array()).flatten();
    let mut asked = HashSet::new();
    for target in targets {
        let expression = target["expr"].as_str().unwrap();
        let words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        asked.extend(words.filter(|word| word.starts_with("chunkwright_")).map(str::to_owned));
    }
    assert!(asked.len() > 20, "{asked:?}");
    let missing: Vec<_> = asked.difference(&served).collect();
    assert!(missing.is_empty(), "{missing:?} are in no answer of /metrics: {served:?}");
}

#[test]
fn metrics_are_one_text_of_open_metrics_without_what_clients_sent() {
    let served = Served::new(|_| {});
    use_it(&served);
    get(served.address, "/secret-path-of-a-client?query=words", &[]);
    let answer =
        get(served.address, "/metrics", &["Accept: application/openmetrics-text;q=0.6,text/plain;q=0.3"]);
    assert!(answer.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    let text = answer.text();
    assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);
    assert!(!text.contains("secret-path") && !text.contains("words"), "{text}");
    for line in [
        "chunkwright_http_requests_total{route=\"/api/v1/search\",method=\"POST\",status=\"200\"} 3",
        "chunkwright_searches_total{mode=\"hybrid\",outcome=\"found\"} 3",
        "chunkwright_http_refused_total{reason=\"host\"} 1",
        "chunkwright_embedder_calls_total{model=\"letters\",purpose=\"query\",outcome=\"cached\"} 1",
        "chunkwright_embedder_calls_total{model=\"letters\",purpose=\"documents\",outcome=\"success\"} 1",
        "chunkwright_indexing_total{outcome=\"success\"} 1",
        "chunkwright_last_run_success{collection=\"default\"} 1",
        "chunkwright_documents{collection=\"default\"} 2",
        "chunkwright_ready 1",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
    for stage in ["lexical", "dense", "rerank"] {
        assert!(
            text.contains(&format!("chunkwright_search_stage_duration_seconds_count{{stage=\"{stage}\"}} 3"))
        );
    }
    assert!(text.contains("chunkwright_chunks_created_total{strategy=\"tree\",chunk_type="));
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let families: Vec<_> = families.collect();
    let different: HashSet<_> = families.iter().collect();
    assert_eq!(different.len(), families.len(), "a family is there twice");
}

#[test]
fn metrics_are_in_the_format_of_prometheus_for_whoever_asks_for_no_other() {
    let served = Served::new(|_| {});
    use_it(&served);
    // What has to be read of chunks follows in a later answer.
    let text = loop {
        let answer = get(served.address, "/metrics", &["Accept: */*"]);
        assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        if answer.text().contains("chunkwright_token_level_chunks{") {
            break answer.text();
        }
    };
    for line in [
        "# TYPE chunkwright_build_info gauge",
        "# TYPE chunkwright_http_requests_total counter",
        "# TYPE chunkwright_search_duration_seconds histogram",
        "# TYPE chunkwright_index_runs_total counter",
        "chunkwright_searches_total{mode=\"hybrid\",outcome=\"found\"} 3",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
    let open = get(served.address, "/metrics", &["Accept: application/openmetrics-text"]).text();
    assert_eq!(names(&text), names(&open));
    assert!(!text.contains("# UNIT") && !text.contains("# EOF"));
}

#[test]
fn a_request_keeps_its_id() {
    let served = Served::new(|_| {});
    let given = get(served.address, "/health", &["X-Request-Id: from-a-proxy.7"]);
    assert_eq!(given.header("x-request-id"), Some("from-a-proxy.7"));
    let first = get(served.address, "/health", &[]);
    let second = get(served.address, "/nothing", &["X-Request-Id: <script>"]);
    let [first, second] = [&first, &second].map(|answer| answer.header("x-request-id").unwrap());
    assert!(first.len() > 16 && first != second && !second.contains('<'), "{first} {second}");
}

#[test]
fn health_and_readiness_are_told_without_a_key() {
    let (admission, _) = keys();
    let served = Served::new(|options| options.admission = admission);
    assert_eq!(get(served.address, "/health", &[]).json()["status"], "ok");
    let ready = get(served.address, "/ready", &[]).json();
    assert_eq!(ready.to_string(), r#"{"status":"ready"}"#, "it tells nothing of what is indexed");
}

#[test]
fn answers_are_compressed_for_clients_that_ask() {
    let served = Served::new(|_| {});
    let packed = get(served.address, "/api/openapi.json", &["Accept-Encoding: gzip"]);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.body.starts_with(b"\x1f\x8b"));
    let plain = get(served.address, "/api/openapi.json", &[]);
    assert_eq!(plain.header("content-encoding"), None);
    for encodings in ["br", "br, identity;q=0", "gzip;q=0, *;q=0", "identity"] {
        let answer = get(served.address, "/api/openapi.json", &[&format!("Accept-Encoding: {encodings}")]);
        assert_eq!((answer.status, answer.header("content-encoding")), (200, None), "{encodings}");
    }
    assert!(plain.body.len() > 2 * packed.body.len());
}

#[test]
fn a_compressed_answer_has_a_tag_of_its_own_by_which_it_is_known_again() {
    let served = Served::new(|_| {});
    let path = "/api/v1/collections/default/chunks";
    let packed = get(served.address, path, &["Accept-Encoding: gzip"]);
    let plain = get(served.address, path, &[]);
    assert_eq!((packed.header("content-encoding"), plain.header("content-encoding")), (Some("gzip"), None));
    let [packed, plain] = [&packed, &plain].map(|answer| answer.header("etag").unwrap().to_owned());
    assert!(packed != plain && packed.starts_with('"'), "{packed} {plain}");
    for tag in [&packed, &plain] {
        let known = format!("If-None-Match: \"other\", {tag}");
        for headers in [vec![known.as_str()], vec![known.as_str(), "Accept-Encoding: gzip"]] {
            let again = get(served.address, path, &headers);
            assert_eq!((again.status, again.header("etag")), (304, Some(tag.as_str())));
            assert_eq!(again.header("vary"), Some("accept-encoding"));
        }
    }
    let chunk = get(served.address, path, &[]).json()["chunks"][0]["chunk_id"].as_str().unwrap().to_owned();
    let chunk = format!("{path}/{chunk}");
    let tag = get(served.address, &chunk, &["Accept-Encoding: gzip"]).header("etag").unwrap().to_owned();
    let headers = ["Content-Type: application/json".to_owned(), format!("If-Match: {tag}")];
    let headers = headers.each_ref().map(String::as_str);
    assert_eq!(ask(served.address, "PATCH", &chunk, &headers, r#"{"enabled":false}"#).status, 200);
    assert_eq!(ask(served.address, "PATCH", &chunk, &headers, r#"{"enabled":true}"#).status, 412);
}

#[test]
fn an_unknown_path_and_a_wrong_method_are_problems() {
    let served = Served::new(|_| {});
    assert_eq!(get(served.address, "/nothing", &[]).code(), "no_such_path");
    let wrong = ask(served.address, "DELETE", "/api/v1/search", &[], "");
    assert_eq!((wrong.status, &*wrong.code()), (405, "method_not_allowed"));
    assert_eq!(search(served.address, "", &[]).status, 400);
}

#[test]
fn secrets_are_replaced_before_anything_is_stored() {
    let served = Served::new(|_| {});
    let settings = served.engine.settings().with([("redact_secrets".to_owned(), true.into())]).unwrap();
    let engine = served.engine.with(settings, Arc::default());
    let secret = ["hunter", "2-Sesame"].concat();
    let text = format!("# Access\n\nThe password of the kiosk:\n\n    password = \"{secret}\"\n\nKeep it.\n");
    let document = NewSource::new("access.md", text.clone());
    let collection = engine.collection("kiosk");
    assert_eq!(collection.put(IndexRequest::default(), [document], &|_| {}).unwrap().report.indexed, 1);
    let body = r#"{"query":"kiosk password","collections":["kiosk"],"mode":"lexical"}"#;
    let found = ask(served.address, "POST", "/api/v1/search", &["Content-Type: application/json"], body);
    let hit = &found.json()["hits"][0];
    assert!(hit["content"].as_str().unwrap().contains("password = \"[REDACTED:password]\""), "{hit}");
    assert_eq!(hit["end_line"], text.lines().count(), "{hit}");
    let source = collection.snapshot().unwrap().fetch(&FetchRequest::new("access.md")).unwrap();
    assert!(!format!("{source:?}").contains(&secret) && !found.text().contains(&secret));
    // It is another configuration, and that of everybody else is what it was.
    let hashes: Vec<_> = engine
        .list_collections(&ListCollectionsRequest::default())
        .unwrap()
        .collections
        .into_iter()
        .map(|listed| listed.status.generation.spec.config_hash)
        .collect();
    assert_eq!(hashes.len(), 2);
    assert_eq!(hashes.iter().filter(|hash| hash.ends_with("+redacted")).count(), 1, "{hashes:?}");
    assert!(hashes.iter().any(|hash| !hash.contains('+')), "{hashes:?}");
}
