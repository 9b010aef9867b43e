//! Every answer that the program prints matches the schema of the engine.

use boon::{Compiler, Schemas};
use chunkwright_engine::schema::{ANSWERS, REQUESTS, schema};
use serde_json::{Value, json};

use crate::cli::{Folder, guide};

/// Fails unless each of `values` is what the schema of the type `name` says, without a key that it does not know.
#[track_caller]
fn check(name: &str, values: &[Value], what: &str) {
    let mut schema = serde_json::to_value(schema(name).unwrap()).unwrap();
    schema["unevaluatedProperties"] = json!(false);
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("schema.json", schema.clone()).unwrap();
    let index = compiler.compile("schema.json", &mut schemas).unwrap();
    assert!(!values.is_empty(), "{what} printed nothing");
    for value in values {
        assert!(!has_null(value), "{what}: what is absent is left out\n{value:#}");
        if let Err(error) = schemas.validate(value, index) {
            panic!("{what}: {error:#}\n{value:#}\n{schema:#}");
        }
    }
}

#[test]
fn every_answer_is_as_its_schema_says() {
    let code = "\"\"\"Tides.\"\"\"\nimport math\n\n\nclass Tides:\n    def height(self, hour):\n        return math.sin(hour)\n";
    let folder =
        Folder::new(&[("docs/guide.md", &guide(3)), ("docs/tides.py", code), ("new/guide.md", &guide(2))]);
    let run = |arguments: &[&str]| -> Vec<Value> {
        let run = folder.run(&[arguments, &["--format", "jsonl"]].concat());
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let index = ["index", "docs", "--summaries", "--embedder", "none", "--tokenizer", "words"];
    check("IndexAnswer", &run(&index), "index");
    let hits = run(&["search", "word1", "--mode", "lexical"]);
    check("Hit", &hits, "search");
    let id = hits[0]["chunk_id"].as_str().unwrap();
    check("FoundPassage", &run(&["search", "word1", "--expand", "parent"]), "search --expand");
    check("Explained", &run(&["search", "word1", "--explain", id]), "search --explain");
    check("ListedChunk", &run(&["chunks", "--limit", "50"]), "chunks");
    let fetched = folder.run(&["fetch", id, "--format", "json"]).success();
    check("FetchAnswer", &[serde_json::from_str(&fetched).unwrap()], "fetch");
    check("GenerationStatus", &run(&["versions"]), "versions");
    check("ListedCollection", &run(&["collections"]), "collections");
    check("CheckReport", &run(&["check"]), "check");
    check("Statistics", &run(&["stats", "-c", "default"]), "stats");
    check("RelatedAnswer", &run(&["related", "guide.md"]), "related");
    check("Setting", &run(&["config", "show"]), "config show");
    check("Record", &run(&["chunk", "docs", "--preset", "adaptive"]), "chunk");
    check("Record", &run(&["chunk", "docs", "--summaries"]), "chunk --summaries");
    check("ExplainedChunk", &run(&["explain", "docs/guide.md"]), "explain");
    check("OutlineRow", &run(&["outline", "docs"]), "outline");
    check("DocumentStatistics", &run(&["stats", "docs", "--band", "10-200"]), "stats of documents");
    folder.write("q.jsonl", b"{\"question\":\"tides\",\"doc_id\":\"tides.py\",\"lines\":\"L5-L7\"}\n");
    let whole = |arguments: &[&str]| -> Value {
        let run = folder.run(&[arguments, &["--format", "json", "--quiet"]].concat());
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {}", run.stderr))
    };
    check("Diff", &[whole(&["diff", "docs/guide.md", "new/guide.md"])], "diff");
    let eval = [
        "eval",
        "q.jsonl",
        "docs",
        "--embedder",
        "none",
        "--stability",
        "--edit-count",
        "9",
        "--per-question",
    ];
    check("Report", &[whole(&eval)], "eval");
    check("TuneAnswer", &[whole(&["tune", "docs", "--embedder", "none", "--questions", "3"])], "tune");
    assert_eq!(folder.run(&["disable", id]).code, 0);
    check("ListedOverlay", &run(&["overlays"]), "overlays");
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_null),
        Value::Object(values) => values.values().any(has_null),
        _ => false,
    }
}

/// Where a schema allows `null`.
fn nullable(schema: &Value, place: &str, found: &mut Vec<String>) {
    let is_null = |value: &Value| value == "null" || value["type"] == "null";
    match schema {
        Value::Object(keys) => {
            for (key, value) in keys {
                let place = format!("{place}/{key}");
                let forms = value.as_array().map(Vec::as_slice).unwrap_or_default();
                match key.as_str() {
                    "type" | "anyOf" | "oneOf" if is_null(value) || forms.iter().any(is_null) => {
                        found.push(place);
                    }
                    _ => nullable(value, &place, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| nullable(value, place, found)),
        _ => {}
    }
}

#[test]
fn what_is_absent_in_an_answer_is_left_out_and_never_null() {
    let mut found = Vec::new();
    for named in ANSWERS {
        nullable(&serde_json::to_value((named.schema)()).unwrap(), named.name, &mut found);
    }
    assert_eq!(found, Vec::<String>::new(), "give these `skip_serializing_if`");
}

#[test]
fn every_schema_says_what_is_inside() {
    for named in REQUESTS.iter().chain(ANSWERS) {
        let schema = serde_json::to_value((named.schema)()).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("schema.json", schema.clone()).unwrap();
        compiler.compile("schema.json", &mut schemas).unwrap();
        let kinds = ["properties", "items", "oneOf", "anyOf", "$ref", "allOf"];
        assert!(kinds.iter().any(|kind| schema.get(kind).is_some()), "{}: {schema:#}", named.name);
        assert!(schema["description"].is_string(), "{} says nothing of itself", named.name);
    }
}

#[test]
fn what_an_answer_may_not_say_is_found() {
    let valid = |value: &Value| {
        let schema = serde_json::to_value(schema("Setting").unwrap()).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("schema.json", schema).unwrap();
        let index = compiler.compile("schema.json", &mut schemas).unwrap();
        schemas.validate(value, index).is_ok()
    };
    assert!(valid(&json!({"key": "preset", "value": null, "origin": "built in"})));
    assert!(!valid(&json!({"key": 1, "value": null, "origin": "built in"})));
    assert!(!valid(&json!({"key": "preset", "value": null})));
}
