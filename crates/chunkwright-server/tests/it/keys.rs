//! API keys: expiry, rotation, scopes, and which callers see where files are.

use std::fs;
use std::path::Path;

use chunkwright_engine::IndexRequest;
use chunkwright_server::{Admission, Key, Keys, Scope, append_line};
use serde_json::json;
use tempfile::TempDir;

use crate::client::{Answer, ask, get};
use crate::served::{Served, keys};

const JSON: &str = "Content-Type: application/json";

/// A key that is in force, or over, and the header that its holder sends.
fn key(name: &str, expires: Option<&str>) -> (Key, String) {
    let (mut key, secret) = Key::generate(name, Scope::Read).unwrap();
    key.expires = expires.map(|at| at.parse().unwrap());
    (key, format!("Authorization: Bearer {secret}"))
}

#[test]
fn a_key_is_of_no_use_after_it_expired_and_its_holder_is_told() {
    let [(over, was), (in_force, is)] =
        [key("over", Some("2020-01-31T12:00:00Z")), key("in-force", Some("2199-01-01T00:00:00Z"))];
    let text = format!("{over}\n{in_force}\n");
    assert!(text.contains(" 2020-01-31T12:00:00Z\n"), "{text}");
    let served = Served::new(|options| options.admission.keys = Keys::parse(&text).unwrap());
    assert_eq!(get(served.address, "/api/v1/collections", &[&is]).status, 200);
    let refused = get(served.address, "/api/v1/collections", &[&was]);
    assert_eq!((refused.status, &*refused.code()), (401, "unauthorized"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("expired at 2020-01-31T12:00:00Z"));
    assert!(refused.header("www-authenticate").unwrap().contains("invalid_token"));
}

#[test]
fn keys_are_given_and_taken_back_while_the_server_runs() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("keys");
    let ([first, second], [one, two]) = {
        let [(first, one), (second, two)] = [key("first", None), key("second", None)];
        ([first, second], [one, two])
    };
    append_line(&path, &first.to_string()).unwrap();
    let (keys, warning) = Keys::open(&path).unwrap();
    assert_eq!(warning, None);
    let served = Served::new(|options| options.admission.keys = keys);
    let status = |header: &str| get(served.address, "/api/v1/collections", &[header]).status;
    // The file is looked at now and then.
    let becomes = |header: &str, wanted: u16| while status(header) != wanted {};
    assert_eq!((status(&one), status(&two)), (200, 401));
    append_line(&path, &second.to_string()).unwrap();
    becomes(&two, 200);
    fs::write(&path, format!("# the first is gone\n{second}\n")).unwrap();
    becomes(&one, 401);
    assert_eq!(status(&two), 200);
    // A file that cannot be used leaves everything as it was, and one without keys lets nobody in.
    fs::write(&path, format!("{first}\nnonsense\n")).unwrap();
    fs::write(&path, format!("{first}\n")).unwrap();
    becomes(&one, 200);
    fs::write(&path, "# none\n").unwrap();
    becomes(&one, 401);
    assert_eq!(get(served.address, "/api/v1/collections", &[]).status, 401);
}

#[test]
fn a_file_of_keys_has_to_hold_one() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("keys");
    assert!(Keys::open(&path).unwrap_err().to_string().contains("cannot be read"));
    append_line(&path, "# none").unwrap();
    assert!(Keys::open(&path).unwrap_err().to_string().contains("`chunkwright key NAME --keys"));
    append_line(&path, "ci write").unwrap();
    assert!(Keys::open(&path).unwrap_err().to_string().contains("line 2 has no key"));
}

#[test]
fn to_remove_what_a_pattern_or_no_name_says_takes_admin() {
    let (admission, [_, editor, root]) = keys();
    let served = Served::new(|options| options.admission = admission);
    let documents = "/api/v1/collections/default/documents";
    let send = |method: &str, path: &str, key: &str, body: &str| {
        ask(served.address, method, path, &[JSON, key], body)
    };
    let prune = r#"{"kind":"prune","collection":"default"}"#;
    for (method, path, body) in [
        ("DELETE", &*format!("{documents}?source=**"), ""),
        ("DELETE", &*format!("{documents}?source=guide.md"), ""),
        ("DELETE", "/api/v1/collections/default", ""),
        ("POST", "/api/v1/collections/default/versions/prune", r#"{"source":"**"}"#),
        ("POST", "/api/v1/jobs", prune),
    ] {
        let refused = send(method, path, &editor, body);
        assert_eq!((refused.status, &*refused.code()), (403, "insufficient_scope"), "{method} {path}");
        assert!(refused.json()["detail"].as_str().unwrap().contains("needs `admin`"));
    }
    let put = r##"{"documents":[{"doc_id":"guide.md","text":"# Guide\n\nAnother."}]}"##;
    assert_eq!(send("POST", documents, &editor, put).status, 201);
    assert_eq!(send("DELETE", &format!("{documents}/guide.md"), &editor, "").status, 200);
    assert_eq!(send("DELETE", &format!("{documents}?source=**&dry_run=true"), &root, "").status, 200);
    assert_eq!(send("POST", "/api/v1/jobs", &root, prune).status, 202);
}

/// Serves documents of a folder, which is also a root, with an index job over it.
fn of_folder(folder: &Path, change: impl FnOnce(&mut chunkwright_server::ServerOptions)) -> Served {
    fs::create_dir_all(folder.join("notes")).unwrap();
    fs::write(folder.join("notes/plums.md"), "# Plums\n\nPlums are blue.\n").unwrap();
    let served = Served::new(|options| {
        options.roots = vec![folder.to_owned()];
        change(options);
    });
    let request = IndexRequest { paths: vec![folder.to_owned()], ..IndexRequest::default() };
    served.engine.collection("plums").index(request, &|_| {}).unwrap();
    served
}

/// What a caller is answered wherever a file of the server could be named.
fn answers(served: &Served, headers: &[&str], admin: &str) -> Vec<(String, Answer)> {
    let with = [&[JSON, "Accept: application/json, text/event-stream"], headers].concat();
    let post = |path: &str, body: &str| ask(served.address, "POST", path, &with, body);
    let job = |paths: &str| {
        let body = format!(r#"{{"kind":"index","collection":"plums","request":{{"paths":["{paths}"]}}}}"#);
        let job = ask(served.address, "POST", "/api/v1/jobs", &[JSON, admin], &body);
        (job.header("location").map(str::to_owned), job)
    };
    let at = job("notes").0.unwrap();
    let tool = |name: &str, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        )
    };
    let over = get(served.address, &format!("{at}/events"), headers);
    let mut all: Vec<(String, Answer)> = [
        "/api/v1/jobs",
        &at,
        "/api/v1/collections",
        "/api/v1/collections/plums",
        "/api/v1/collections/plums/documents",
        "/api/v1/collections/plums/documents/notes%2Fplums.md",
        "/api/v1/collections/plums/chunks",
        "/api/v1/collections/plums/chunks/notes%2Fplums.md%230",
        "/api/v1/collections/plums/versions",
        "/api/v1/collections/plums/runs",
        "/api/v1/collections/plums/coverage",
        "/api/v1/collections/plums/configuration",
        "/api/v1/search?q=plums&collection=plums&mode=lexical",
        "/api/v1/registries",
        "/api/admin/kb/chapters/chunks?temp_ref=plums/notes/plums.md",
        "/ready",
        "/metrics",
    ]
    .map(|path| (path.to_owned(), get(served.address, path, headers)))
    .into();
    all.push(("events".into(), over));
    all.push((
        "search".into(),
        post("/api/v1/search", r#"{"query":"plums","mode":"lexical","all_collections":true}"#),
    ));
    for (name, arguments) in [
        ("status", "{}"),
        ("search", r#"{"query":"plums","collection":"plums"}"#),
        ("fetch", r#"{"id":"notes/plums.md","collection":"plums"}"#),
        ("outline", "{}"),
    ] {
        all.push((format!("mcp {name}"), post("/mcp", &tool(name, arguments))));
    }
    all
}

#[test]
fn only_a_key_with_every_scope_is_told_where_files_are() {
    let folder = TempDir::new().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let (admission, [reader, editor, root]) = keys();
    let served = of_folder(&real, |options| options.admission = admission);
    let place = real.to_str().unwrap();
    let store = served.engine.store_name().unwrap();
    for key in [&reader, &editor] {
        for (what, answer) in answers(&served, &[key], &root) {
            assert_eq!(answer.status, 200, "{what}: {}", answer.text());
            let text = answer.text();
            assert!(!text.contains(place) && !text.contains(&store), "{what}: {text}");
        }
    }
    let whole: String = answers(&served, &[&root], &root).iter().map(|(_, answer)| answer.text()).collect();
    assert!(
        whole.contains(&format!("{place}/notes/plums.md"))
            && whole.contains(&format!("\"root\":\"{place}\""))
    );
    // What a job is about is named as a request may name it.
    let jobs = get(served.address, "/api/v1/jobs?limit=1", &[&reader]).json();
    assert_eq!(jobs["jobs"][0]["task"]["request"]["paths"], json!(["notes"]));
    let document =
        get(served.address, "/api/v1/collections/plums/documents/notes%2Fplums.md", &[&reader]).json();
    assert_eq!(document["root"], real.file_name().unwrap().to_str().unwrap());
}

#[test]
fn a_failure_names_a_file_and_not_where_it_is() {
    let folder = TempDir::new().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let (admission, [_, editor, root]) = keys();
    let served = of_folder(&real, |options| options.admission = admission);
    let place = real.to_str().unwrap();
    let body =
        format!(r#"{{"kind":"index","collection":"plums","request":{{"paths":["{place}/none.md"]}}}}"#);
    let detail = |key: &str| {
        let refused = ask(served.address, "POST", "/api/v1/jobs", &[JSON, key], &body);
        assert_eq!(refused.status, 403, "{}", refused.text());
        refused.json()["detail"].as_str().unwrap().to_owned()
    };
    assert!(detail(&root).contains(place), "{}", detail(&root));
    assert!(detail(&editor).contains("`…/none.md`"), "{}", detail(&editor));
    let nothing = get(served.address, "/api/nothing", &[&editor]).json();
    assert!(nothing["detail"].as_str().unwrap().contains("`/api/openapi.json`"), "{nothing}");
}

#[test]
fn without_keys_the_users_of_the_machine_are_told_and_others_are_not() {
    let folder = TempDir::new().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let place = real.to_str().unwrap();
    let is_told = |change: fn(&mut Admission)| {
        let served = of_folder(&real, |options| change(&mut options.admission));
        get(served.address, "/api/v1/collections/plums/documents", &[]).text().contains(place)
    };
    assert!(is_told(|_| {}));
    assert!(!is_told(|admission| admission.anonymous = true));
    assert!(!is_told(|admission| admission.hosts = vec!["docs.example.com".into()]));
}
