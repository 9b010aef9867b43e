//! A problem names the part of the request that it is about.

use serde_json::{Value, json};

use super::server::{Served, encoded};

/// The pointer of the only error of a problem, without `#`.
fn pointer(problem: &Value) -> String {
    let errors = problem["errors"].as_array().unwrap_or_else(|| panic!("no errors in {problem}"));
    assert_eq!(errors.len(), 1, "{problem}");
    assert!(!errors[0]["detail"].as_str().unwrap().is_empty(), "{problem}");
    errors[0]["pointer"].as_str().unwrap().strip_prefix('#').unwrap().to_owned()
}

#[test]
fn settings_are_named_wherever_a_request_has_them() {
    let served = Served::new();
    served.put("docs", &[("a.md", "# A\n\nText.\n")]);
    let wrong = json!({ "preset": "auto", "overlap_size": 200 });
    let documents = json!([{ "doc_id": "b.md", "text": "# B\n" }]);
    for (method, path, body, expected) in [
        ("POST", "/api/v1/preview", json!({ "text": "# A", "settings": wrong }), "/settings/overlap_size"),
        ("POST", "/api/v1/collections/docs/diff", json!({ "settings": wrong }), "/settings/overlap_size"),
        (
            "PUT",
            "/api/v1/collections/docs/configuration",
            json!({ "settings": wrong }),
            "/settings/overlap_size",
        ),
        (
            "POST",
            "/api/v1/collections/new/documents",
            json!({ "documents": documents, "settings": wrong }),
            "/settings/overlap_size",
        ),
        (
            "POST",
            "/api/v1/jobs",
            json!({ "kind": "reindex", "collection": "docs", "settings": wrong }),
            "/settings/overlap_size",
        ),
        (
            "POST",
            "/api/v1/jobs",
            json!({ "kind": "diff", "collection": "docs", "request": { "settings": wrong } }),
            "/request/settings/overlap_size",
        ),
        (
            "POST",
            "/api/v1/jobs",
            json!({ "kind": "migrate", "collection": "docs", "embedder": "nope" }),
            "/embedder",
        ),
        ("POST", "/api/v1/preview", json!({ "text": "# A", "settings": { "a/b": 1 } }), "/settings/a~1b"),
        ("POST", "/api/v1/preview", json!({ "text": "# A", "settings": [] }), "/settings"),
        ("POST", "/api/v1/preview", json!({ "text": "# A", "limit": 0 }), "/limit"),
        ("POST", "/api/v1/preview", json!({ "text": "# A", "setings": {} }), "/setings"),
    ] {
        let answer = served.json(method, path, &body);
        assert!((400..500).contains(&answer.status), "{path} {body}: {}", answer.text());
        let found = pointer(&answer.json());
        assert_eq!(found, expected, "{path} {body}: {}", answer.text());
        assert!(body.pointer(&found).is_some(), "{found} is not in {body}");
    }
}

#[test]
fn options_of_a_search_are_named_in_bodies_and_addresses() {
    let served = Served::new();
    served.put("docs", &[("a.md", "# A\n\nText.\n")]);
    for (options, expected) in [
        (json!({ "top_k": 0 }), "/top_k"),
        (json!({ "top_k": "many" }), "/top_k"),
        (json!({ "offset": 5000 }), "/offset"),
        (json!({ "mode": "best" }), "/mode"),
        (json!({ "mode": "dense" }), "/mode"),
        (json!({ "filter": "languag=en" }), "/filter"),
        (json!({ "per_document": 0 }), "/per_document"),
        (json!({ "min_relevance": 2 }), "/min_relevance"),
        (json!({ "max_tokens": 0 }), "/max_tokens"),
        (json!({ "fusion": { "method": "rrf", "k": -1 } }), "/fusion/k"),
        (json!({ "fusion": { "method": "weighted_sum", "dense_weight": 7 } }), "/fusion/dense_weight"),
        (json!({ "expand": { "with": "everything" } }), "/expand/with"),
        (json!({ "expand": { "with": "parent", "max_tokens": 0 } }), "/expand/max_tokens"),
        (json!({ "collections": ["docs", "nope"] }), "/collections/1"),
        (json!({ "all_collections": true }), "/collections"),
        (json!({ "query": " " }), "/query"),
        (json!({ "query": "x language:klingon" }), "/query"),
    ] {
        let mut body = json!({ "query": "text", "collections": ["docs"] });
        body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let answer = served.post("/api/v1/search", &body);
        assert!(answer.status >= 400, "{body}: {}", answer.text());
        let found = pointer(&answer.json());
        assert_eq!(found, expected, "{body}: {}", answer.text());
        assert!(body.pointer(&found).is_some(), "{found} is not in {body}");
        // A request inside of another.
        let answer = served.post("/api/v1/search/explain", &json!({ "chunk": "a.md#0", "search": body }));
        if answer.status >= 400 && !expected.starts_with("/collections") {
            assert_eq!(pointer(&answer.json()), format!("/search{expected}"), "{body}: {}", answer.text());
        }
    }
    for (query, parameter) in [
        ("q=x&collection=docs&top_k=0", "top_k"),
        ("q=x&collection=docs&topk=1", "topk"),
        ("q=x&collection=docs&per_document=", "per_document"),
        ("q=x&collection=docs&min_relevance=7", "min_relevance"),
    ] {
        let problem = served.get(&format!("/api/v1/search?{query}")).json();
        let error = &problem["errors"][0];
        assert_eq!(
            (&error["parameter"], error.get("pointer")),
            (&json!(parameter), None),
            "{query}: {problem}"
        );
    }
    let nothing = served.get(&format!("/api/v1/search?q=x&collection={}", encoded("nope"))).json();
    assert!(nothing.get("errors").is_none(), "no parameter is called `collections`: {nothing}");
}

#[test]
fn a_configuration_is_resolved_with_everything_that_is_wrong() {
    let served = Served::new();
    let body =
        json!({ "settings": { "preset": "course", "max_size": 2000, "min_size": 9000, "unit": "bytes" } });
    let answer = served.post("/api/v1/configuration/resolve", &body).expect(200);
    let value = |key: &str| {
        let settings = answer["settings"].as_array().unwrap();
        settings.iter().find(|setting| setting["key"] == key).unwrap().clone()
    };
    assert_eq!(
        (&value("overlap_size")["value"], &value("overlap_size")["follows"]),
        (&json!(400), &json!("max_size"))
    );
    assert_eq!(
        (&value("unit")["value"], &value("unit")["origin"]),
        (&json!("chars"), &json!("preset `course`"))
    );
    assert_eq!(answer["least"], json!({ "preset": "course", "max_size": 2000, "min_size": 9000 }));
    let pointers: Vec<&str> = answer["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(pointers, ["#/settings/unit", "#/settings/min_size"]);
    let in_force = served.post("/api/v1/configuration/resolve", &json!({})).expect(200);
    assert_eq!((&in_force["least"], &in_force["problems"]), (&json!({ "preset": "auto" }), &json!([])));
    assert!(
        in_force["settings"].as_array().unwrap().iter().all(|setting| setting["key"] != "store"),
        "{in_force}"
    );
}
