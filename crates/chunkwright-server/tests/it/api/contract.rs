//! The OpenAPI document matches the server's behaviour, and the page to try it loads nothing from other hosts.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::server::Served;

/// The document in the repository.
const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

#[test]
fn the_openapi_document_in_the_repository_is_the_one_that_is_served() {
    let served = Served::new();
    let document = served.get("/api/openapi.json").expect(200);
    let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
    if std::env::var_os("UPDATE_SPEC").is_some() {
        std::fs::write(COMMITTED, &text).unwrap();
    }
    let committed = std::fs::read_to_string(COMMITTED).unwrap_or_default();
    assert!(
        text == committed,
        "`docs/openapi.json` is not what the server serves; UPDATE_SPEC=1 rewrites it"
    );
}

#[test]
fn every_operation_has_a_name_of_its_own_a_summary_its_parameters_and_schemas_that_are_there() {
    let document = Served::new().get("/api/openapi.json").expect(200);
    let mut names = HashSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "`{name}` twice");
            assert!(operation["summary"].as_str().unwrap().ends_with('.'), "{name}");
            assert!(operation["responses"].get("default").is_some(), "{name}");
            assert!(["read", "write", "admin"].contains(&operation["x-scope"].as_str().unwrap()), "{name}");
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let of_path: Vec<&str> = parameters
                .iter()
                .filter(|parameter| parameter["in"] == "path")
                .map(|parameter| parameter["name"].as_str().unwrap())
                .collect();
            let mut segments = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
            assert!(segments.all(|segment| of_path.contains(&segment)), "{method} {path}: {of_path:?}");
            assert!(parameters.iter().all(|it| it["description"].is_string()), "{name}: {parameters:?}");
            if method == "get" {
                assert_ne!(operation["x-scope"], "write", "{name} only reads");
            }
        }
    }
    assert!(names.len() >= 45, "{}", names.len());
    let mut references = Vec::new();
    collect(&document, &mut references);
    for reference in references {
        let pointer = reference.trim_start_matches('#');
        assert!(document.pointer(pointer).is_some(), "`{reference}` leads nowhere");
    }
}

fn collect(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            references.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|value| collect(value, references));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, references)),
        _ => {}
    }
}

#[test]
fn the_page_to_try_the_api_loads_nothing_from_elsewhere_and_runs_no_script_in_its_markup() {
    let served = Served::new();
    let page = served.get("/api/docs");
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
    let mut texts: HashMap<&str, String> = HashMap::from([("/api/docs", page.text())]);
    for path in ["/api/docs/page.css", "/api/docs/page.js", "/api/docs/schema.js"] {
        let part = served.get(path);
        assert_eq!((part.status, part.header("x-content-type-options")), (200, "nosniff"));
        texts.insert(path, part.text());
    }
    for (path, text) in &texts {
        assert!(!text.contains("http://") && !text.contains("https://"), "{path} names another server");
        assert!(!text.contains("innerHTML") && !text.contains("eval("), "{path} makes markup of text");
    }
    let markup = &texts["/api/docs"];
    assert!(
        !markup.contains("<script>") && !markup.contains("onclick") && !markup.contains("style="),
        "{markup}"
    );
}

/// What `schemathesis` finds on a server with a real store.
#[test]
#[expect(clippy::print_stdout, reason = "what was not checked, and what was found, is to be seen")]
fn generated_requests_find_no_server_error_and_no_answer_that_breaks_its_schema() {
    let Some(program) = servers().map(|folder| folder.join("schemathesis")) else {
        println!("not checked: `CHUNKWRIGHT_SERVERS` does not say where `schemathesis` is");
        return;
    };
    let served = Served::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus");
    for (name, collection) in
        [("en/bread.md", "docs"), ("zh/green-tea.md", "docs"), ("code/tides.py", "docs")]
    {
        let text = std::fs::read_to_string(corpus.join(name)).unwrap();
        served.put(collection, &[(name.rsplit('/').next().unwrap(), &text)]);
    }
    served.write("docs/a.md", "# A\n\nText.\n");
    let chunk =
        served.get("/api/v1/collections/docs/chunks?limit=1").expect(200)["chunks"][0]["chunk_id"].clone();
    let job = served.post("/api/v1/jobs", &json!({ "kind": "reindex", "collection": "docs" })).expect(202);
    served.ended(&job);
    // What a schema cannot say is answered by 400, such as settings that contradict each other, by 412 or by 413. What it says
    // is answered by 422, which no request by the schema may get.
    let accepted = "[checks.positive_data_acceptance]\n\
                    expected-statuses = [\"2xx\", \"3xx\", \"400\", \"401\", \"403\", \"404\", \"409\", \"412\", \"413\", \"429\", \"5xx\"]\n\
                    [checks.negative_data_rejection]\n\
                    expected-statuses = [\"400\", \"401\", \"403\", \"404\", \"405\", \"406\", \"409\", \"413\", \"415\", \"422\", \"428\", \"429\", \"5xx\"]\n";
    // One run on what is there, and one on whatever names are drawn.
    let there = format!(
        "{accepted}\n[parameters]\n\"path.collection\" = \"docs\"\n\"path.doc_id\" = \"bread.md\"\n\"path.chunk\" = {chunk}\n\
         \"path.chunk_id\" = {chunk}\n\"path.job\" = {}\n\"query.temp_ref\" = \"docs/bread.md\"\n",
        job["id"]
    );
    let existing = served.folder().join("existing.toml");
    std::fs::write(&existing, there).unwrap();
    let drawn = served.folder().join("drawn.toml");
    std::fs::write(&drawn, accepted).unwrap();
    // More of both where somebody has the time.
    let [examples, seconds] = [("CHUNKWRIGHT_EXAMPLES", "8"), ("CHUNKWRIGHT_SECONDS", "15")]
        .map(|(name, usual)| std::env::var_os(name).unwrap_or_else(|| usual.into()));
    for (config, without) in [(existing, "DELETE"), (drawn, "TRACE")] {
        let mut command = Command::new(&program);
        command.arg("--config-file").arg(&config).arg("run");
        command.arg(format!("http://{}/api/openapi.json", served.address));
        // A job that was told to stop stays in the list, and `DELETE` of documents removes those of one source.
        command.args([
            "--checks",
            "all",
            "--exclude-checks",
            "use_after_free",
            "--exclude-method",
            without,
            "--exclude-operation-id",
            "cancel_job",
        ]);
        command.arg("--max-examples").arg(&examples).arg("--max-time").arg(&seconds);
        command.args(["--seed", "1", "--workers", "1"]);
        command.args(["--suppress-health-check", "all", "--warnings", "off", "--no-color", "--no-shrink"]);
        command
            .env("SCHEMATHESIS_HOOKS", "contract")
            .env("PYTHONPATH", Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/servers"));
        command
            .current_dir(served.folder())
            .env("HYPOTHESIS_STORAGE_DIRECTORY", served.folder().join("hypothesis"));
        let output = command.output().unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        println!("{said}");
        assert!(output.status.success(), "{said}");
    }
}

fn servers() -> Option<PathBuf> {
    std::env::var_os("CHUNKWRIGHT_SERVERS").map(PathBuf::from)
}
