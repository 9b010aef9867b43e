//! Names from clients: of documents, parameters and fields.

use serde_json::{Value, json};

use super::server::{Served, encoded, form};

const ALL: &str = "/api/v1/collections/docs/documents";

/// Every operation of the API: its method, and its address with something for each parameter that it needs.
fn operations(served: &Served) -> Vec<(String, String, Value)> {
    let document = served.get("/api/openapi.json").expect(200);
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let filled: Vec<&str> =
                path.split('/').map(|it| if it.starts_with('{') { "1" } else { it }).collect();
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let needed = parameters.iter().filter(|it| it["in"] == "query" && it["required"] == true);
            let query: String = needed.map(|it| format!("{}=1/1&", it["name"].as_str().unwrap())).collect();
            let address = format!("{}?{query}", filled.join("/"));
            operations.push((method.to_uppercase(), address, operation.clone()));
        }
    }
    assert!(operations.len() >= 45, "{}", operations.len());
    operations
}

#[test]
fn every_operation_refuses_a_parameter_that_it_does_not_know() {
    let served = Served::new();
    let mut operations: Vec<(String, String)> =
        operations(&served).into_iter().map(|(method, path, _)| (method, path)).collect();
    let others = ["/health", "/ready", "/metrics", "/mcp", "/api/openapi.json", "/api/docs"];
    operations.extend(others.map(|path| ("GET".to_owned(), format!("{path}?"))));
    for (method, path) in operations {
        let answer =
            served.send(&method, &format!("{path}no-such=1"), &[("Content-Type", "application/json")], b"{}");
        assert_eq!(answer.status, 400, "{method} {path}: {}", answer.text());
        assert!(
            answer.text().contains("unknown parameter `no-such` of the query"),
            "{path}: {}",
            answer.text()
        );
    }
}

#[test]
fn a_parameter_that_is_misspelt_or_given_twice_removes_nothing() {
    let served = Served::new();
    served.put("docs", &[("a.md", "The first text."), ("b.md", "The second text.")]);
    for (query, right) in [
        ("source=**&dry-run=true", "did you mean `dry_run`?"),
        ("source=**&dryrun=true", "did you mean `dry_run`?"),
        ("source=**&DRY_RUN=true", "did you mean `dry_run`?"),
        ("source=**&dry%2Drun=true", "did you mean `dry_run`?"),
        ("source=**&preview", "known are `source`, `dry_run`"),
        ("source=a.md&source=**", "parameter `source` twice"),
        ("source=**&dry_run=true&dry_run=false", "parameter `dry_run` twice"),
    ] {
        let answer = served.delete(&format!("{ALL}?{query}"));
        assert_eq!(answer.problem(400), "invalid_request");
        assert!(answer.text().contains(right), "{query}: {}", answer.text());
    }
    let answer = served.delete("/api/v1/collections/docs?dry_rum=true");
    assert!(answer.text().contains("did you mean `dry_run`?"), "{}", answer.text());
    assert_eq!(served.get(ALL).expect(200)["total"], 2);
    // A list repeats its name.
    served.put("more", &[("c.md", "The third text.")]);
    let both = served.get("/api/v1/search?q=text&mode=lexical&collection=docs&collection=more").expect(200);
    assert_eq!(both["hits"].as_array().unwrap().len(), 3);
}

#[test]
fn no_operation_reads_an_object_from_a_list() {
    let served = Served::new();
    let mut asked = 0;
    for (method, path, operation) in operations(&served) {
        if operation["requestBody"].is_null() {
            continue;
        }
        asked += 1;
        for body in [json!([]), json!([false]), json!([null, null, null]), json!(["a", "b", {}])] {
            let answer = served.json(&method, &path, &body);
            assert_eq!(answer.status, 422, "{method} {path} {body}: {}", answer.text());
            assert!(answer.text().contains("the value is a list; expected an object"), "{}", answer.text());
        }
    }
    assert!(asked >= 14, "{asked}");
    served.put("docs", &[("a.md", "# A\n\nText.\n")]);
    let chunk = format!("/api/v1/collections/docs/chunks/{}", encoded("a.md#0"));
    assert_eq!(served.json("PATCH", &chunk, &json!([false])).status, 422);
    assert_eq!(served.get(&chunk).expect(200)["enabled"], true);
    for (path, body, place) in [
        (ALL, json!({ "documents": [["b.md", "Text."]] }), "`documents[0]`"),
        ("/api/v1/jobs", json!({ "kind": "prune", "collection": "docs", "request": [1] }), "`request`"),
        ("/api/v1/search", json!({ "query": "text", "expand": ["parent"] }), "`expand`"),
        ("/api/v1/search/explain", json!({ "chunk": "a.md#0", "search": ["text"] }), "`search`"),
        (
            "/compat/dify/retrieval",
            json!({ "knowledge_id": "docs", "query": "text", "retrieval_setting": [3] }),
            "`retrieval_setting`",
        ),
    ] {
        let answer = served.post(path, &body);
        let sentence = format!("{place} is a list; expected an object");
        assert!(answer.status == 422 && answer.text().contains(&sentence), "{path}: {}", answer.text());
    }
}

#[test]
fn an_unknown_field_of_a_body_is_answered_by_the_one_that_is_like_it() {
    let served = Served::new();
    served.put("docs", &[("a.md", "# A\n\nText.\n")]);
    for (path, body, right) in [
        (
            "/api/v1/search",
            json!({ "query": "text", "top-k": 1 }),
            "unknown field `top-k`; did you mean `top_k`?",
        ),
        (
            "/api/v1/collections/docs/versions/prune",
            json!({ "dry-run": true }),
            "unknown field `dry-run`; did you mean `dry_run`?",
        ),
        (
            "/api/v1/jobs",
            json!({ "kind": "prune", "collection": "docs", "request": { "dry-run": true } }),
            "unknown field `dry-run` in `request`; did you mean `dry_run`?",
        ),
    ] {
        let answer = served.post(path, &body);
        assert!(answer.status == 422 && answer.text().contains(right), "{path}: {}", answer.text());
    }
    let (content_type, body) = form(&[("a.md", "text/markdown", b"# A")], &[("perfix", "x/")]);
    let answer = served.send("POST", ALL, &[("Content-Type", &content_type)], &body);
    assert!(
        answer.text().contains("unknown field `perfix` of the form; did you mean `prefix`?"),
        "{}",
        answer.text()
    );
}

#[test]
fn a_document_whose_id_leads_elsewhere_as_a_path_is_refused_at_every_door() {
    let served = Served::new();
    served.write("docs/a.md", "# A\n\nText.\n");
    for doc_id in [".", "..", "./a.md", "../a.md", "a/../b.md", "a/./b.md", "a/.", "a/..", "/.."] {
        let json = served.post(ALL, &json!({ "documents": [{ "doc_id": doc_id, "text": "Text." }] }));
        let (content_type, body) = form(&[("a.md", "text/markdown", b"# A")], &[("doc_id", doc_id)]);
        let renamed = served.send("POST", ALL, &[("Content-Type", &content_type)], &body);
        let (content_type, body) = form(&[(doc_id, "text/markdown", b"# A")], &[]);
        let named = served.send("POST", ALL, &[("Content-Type", &content_type)], &body);
        let preview = served.post("/api/v1/preview", &json!({ "doc_id": doc_id, "text": "Text." }));
        for answer in [json, renamed, named, preview] {
            assert_eq!(answer.problem(400), "invalid_request", "{doc_id}");
            assert!(answer.text().contains("has a part `.` or `..`"), "{doc_id}: {}", answer.text());
        }
    }
    let (content_type, body) = form(&[("a.md", "text/markdown", b"# A")], &[("prefix", "../")]);
    assert_eq!(served.send("POST", ALL, &[("Content-Type", &content_type)], &body).status, 400);
    for prefix in ["..", "a/../b"] {
        let request = json!({ "paths": ["docs"], "prefix": prefix });
        let job = served
            .post("/api/v1/jobs", &json!({ "kind": "index", "collection": "docs", "request": request }));
        assert_eq!(job.problem(400), "invalid_request", "{}", job.text());
    }
    assert_eq!(served.get(ALL).problem(404), "unknown_collection", "nothing is stored");
    // What only looks like it is a name.
    let names = ["...", "..a", "a..", ".gitignore", "a/.../b.md"];
    served.put("docs", &names.map(|name| (name, "Text.")));
    for name in names {
        assert_eq!(served.get(&format!("{ALL}/{}", encoded(name))).expect(200)["doc_id"], name);
    }
}

#[test]
fn a_document_opens_whatever_its_name_is() {
    let served = Served::new();
    let names = [
        "a\"b.md",
        "a*b.md",
        "a{b.md",
        "a}b.md",
        "a\\b.md",
        "a'b.md",
        "[a]b.md",
        "a?b.md",
        "a b.md",
        "a#L1.md",
        "a%2Fb.md",
        "a\\\"b.md",
        "\"",
        "\\",
        "{x,y}.md",
        "!a.md",
        "=a.md",
        "a)b.md",
        "&a=b.md",
        "茶\"*.md",
    ];
    // What the names mean as patterns.
    let decoys = ["axb.md", "aab.md", "ab.md", "x.md", "茶x.md", "a/b.md"];
    let text = |name: &str| format!("# One\n\nText of {}.\n", name.len());
    let documents: Vec<(&str, String)> =
        names.iter().chain(&decoys).map(|name| (*name, text(name))).collect();
    let documents: Vec<(&str, &str)> = documents.iter().map(|(name, text)| (*name, text.as_str())).collect();
    served.put("docs", &documents);
    let only = |answer: &Value, key: &str, name: &str| {
        let found: Vec<&Value> = answer[key].as_array().unwrap().iter().map(|it| &it["doc_id"]).collect();
        assert_eq!(found, [name], "{answer}");
    };
    let chunks = "/api/v1/collections/docs/chunks";
    for name in names {
        let path = format!("{ALL}/{}", encoded(name));
        assert_eq!(served.get(&path).expect(200)["doc_id"], name);
        assert_eq!(served.get(&format!("{path}/source?form=text")).text(), text(name));
        served.get(&format!("{path}/outline")).expect(200);
        only(&served.get(&format!("{chunks}?doc_id={}", encoded(name))).expect(200), "chunks", name);
        let quoted = format!("doc_id=\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
        only(&served.get(&format!("{chunks}?filter={}", encoded(&quoted))).expect(200), "chunks", name);
        let search = |filter: &Value| {
            served
                .post(
                    "/api/v1/search",
                    &json!({ "query": "text", "collections": ["docs"], "filter": filter }),
                )
                .expect(200)
        };
        only(&search(&json!(quoted)), "hits", name);
        only(&search(&json!({ "field": "doc_id", "is": name })), "hits", name);
        let one = served.get(&format!("{chunks}/{}", encoded(&format!("{name}#0")))).expect(200);
        assert_eq!(one["doc_id"], name);
        let listed = served.get(&format!("{ALL}?source={}", encoded(&literal(name)))).expect(200);
        only(&listed, "documents", name);
        let removed = served.delete(&path).expect(200);
        only(&removed, "documents", name);
    }
    assert_eq!(served.get(ALL).expect(200)["total"], decoys.len());
}

/// The pattern of one name.
fn literal(name: &str) -> String {
    name.chars().flat_map(|c| "*?[]{}!\\".contains(c).then_some('\\').into_iter().chain([c])).collect()
}

#[test]
fn a_search_that_names_no_collection_searches_the_only_one() {
    let served = Served::new();
    let by_query = "/api/v1/search?q=text&mode=lexical";
    assert_eq!(served.get(by_query).problem(404), "unknown_collection");
    served.put("handbook", &[("a.md", "Text.")]);
    let body = json!({ "query": "text" });
    for answer in [served.get(by_query), served.post("/api/v1/search", &body)] {
        let answer = answer.expect(200);
        assert_eq!(
            (answer["hits"][0]["doc_id"].as_str(), answer["collections"][0]["collection"].as_str()),
            (Some("a.md"), Some("handbook"))
        );
    }
    let why = json!({ "chunk": "a.md#0", "search": body });
    served.post("/api/v1/search/explain", &why).expect(200);
    // Of several none is meant, unless one has the usual name.
    served.put("notes", &[("b.md", "Text.")]);
    let problem = served.get(by_query);
    assert_eq!(problem.problem(404), "unknown_collection");
    assert!(problem.text().contains("`handbook`, `notes`"), "{}", problem.text());
    served.put("default", &[("c.md", "Text.")]);
    assert_eq!(served.get(by_query).expect(200)["hits"][0]["doc_id"], "c.md");
}
