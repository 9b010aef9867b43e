//! A proxy in front of the server: its base path, and the addresses of clients.

use std::num::NonZeroU32;

use chunkwright_server::{Admission, Authorization, Proxy, ServerOptions};

use crate::client::{Answer, ask, get, search};
use crate::served::{Served, keys};

const VISIT: &str = "Accept: text/html";

/// What a server knows of its proxy.
fn proxy(base: &str, trusted: &[&str]) -> impl FnOnce(&mut ServerOptions) {
    let base_path = base.parse().unwrap();
    let trusted = trusted.iter().map(|address| address.parse().unwrap()).collect();
    move |options| options.proxy = Proxy { base_path, trusted }
}

fn put(served: &Served, path: &str, doc_id: &str, headers: &[&str]) -> Answer {
    let body = format!(r##"{{"documents":[{{"doc_id":"{doc_id}","text":"# Plums"}}]}}"##);
    let path = format!("{path}/api/v1/collections/default/documents");
    ask(served.address, "POST", &path, &[&["Content-Type: application/json"], headers].concat(), &body)
}

/// What an answer says of paths: where something is, where the API is described, where its parts are.
fn named(served: &Served, path: &str, headers: &[&str]) -> [String; 4] {
    let stored = put(served, path, "plums.md", headers);
    let document = get(served.address, &format!("{path}/api/openapi.json"), headers).json();
    let nothing = get(served.address, &format!("{path}/api/nothing"), headers).json();
    let page = get(served.address, &format!("{path}/c/default/d/notes/a.md"), &[headers, &[VISIT]].concat());
    let script = page.text().split('"').find(|part| part.contains("assets/")).unwrap_or_default().to_owned();
    let cut = |text: &str, end: &str| text.split(end).next().unwrap_or_default().to_owned();
    [
        cut(stored.header("location").unwrap(), "/api"),
        document["servers"][0]["url"].as_str().unwrap().to_owned(),
        cut(nothing["detail"].as_str().unwrap().split('`').nth(1).unwrap(), "/api"),
        cut(&script, "assets/"),
    ]
}

fn has_page() -> bool {
    chunkwright_engine::web::app("index.html").is_some()
}

/// The same below a path; the page is left out where it was not built.
fn below(prefix: &str) -> [String; 4] {
    let (servers, page) = match prefix {
        "" => ("/", "../../../../".to_owned()),
        prefix => (prefix, format!("{prefix}/")),
    };
    [prefix.into(), servers.into(), prefix.into(), if has_page() { page } else { String::new() }]
}

#[test]
fn a_server_is_below_its_base_path_whether_a_proxy_takes_that_off_or_not() {
    let served = Served::new(proxy("/lamp/", &[]));
    assert_eq!(named(&served, "/lamp", &[]), below("/lamp"));
    assert_eq!(named(&served, "", &[]), below("/lamp"));
    assert_eq!(named(&Served::new(|_| {}), "", &[]), below(""));
    for path in ["/lamp", "/lamp/", "/lamp/?q=1", "/"] {
        let page = get(served.address, path, &[VISIT]);
        assert_eq!(page.status, if has_page() { 200 } else { 404 }, "{path}");
        assert_eq!(page.text().contains("\"/lamp/assets/"), has_page(), "{path}");
    }
    for path in ["/lampoon/health", "/lamphealth", "/lamp/lamp/health"] {
        assert_eq!(get(served.address, path, &[]).status, 404, "{path}");
    }
    for path in ["/health", "/lamp/health", "/lamp/api/docs", "/lamp/api/docs/page.js", "/lamp/metrics"] {
        assert_eq!(get(served.address, path, &[]).status, 200, "{path}");
    }
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let headers = ["Content-Type: application/json", "Accept: application/json, text/event-stream"];
    let pong = ask(served.address, "POST", "/lamp/mcp", &headers, call);
    assert_eq!((pong.status, &pong.json()["id"]), (200, &1.into()), "{}", pong.text());
}

#[test]
fn a_job_is_where_its_answer_says_below_a_path() {
    let served = Served::new(proxy("/lamp", &[]));
    let headers = ["Content-Type: application/json"];
    let body = r#"{"kind":"reindex","collection":"default"}"#;
    let job = ask(served.address, "POST", "/lamp/api/v1/jobs", &headers, body);
    assert_eq!(job.status, 202, "{}", job.text());
    let location = job.header("location").unwrap();
    assert!(location.starts_with("/lamp/api/v1/jobs/"), "{location}");
    assert_eq!(get(served.address, location, &[]).status, 200);
}

#[test]
fn only_a_trusted_proxy_says_below_which_path_it_has_the_server() {
    let said = "X-Forwarded-Prefix: /lamp/";
    let stranger = Served::new(proxy("/", &["192.0.2.0/24"]));
    assert_eq!(named(&stranger, "", &[said]), below(""));
    let trusted = Served::new(proxy("/", &["192.0.2.0/24", "127.0.0.1"]));
    assert_eq!(named(&trusted, "", &[said]), below("/lamp"));
    assert_eq!(named(&trusted, "", &["X-Forwarded-Prefix: /a, /b"]), below("/a/b"));
    assert_eq!(named(&trusted, "", &[]), below(""));
    for wrong in ["//evil.com", "/a\"><script>", "https://evil.com", "lamp", "/..", "/a/%2e%2e", ""] {
        assert_eq!(named(&trusted, "", &[&format!("X-Forwarded-Prefix: {wrong}")]), below(""), "{wrong}");
    }
}

#[test]
fn behind_a_trusted_proxy_each_client_has_a_limit_of_its_own() {
    let limited = |trusted: &'static [&str]| {
        let served = Served::new(|options| {
            proxy("/", trusted)(options);
            options.limits.rate = NonZeroU32::new(1);
        });
        let first = "X-Forwarded-For: 203.0.113.1, 198.51.100.7";
        assert!((0..1_000).any(|_| search(served.address, "pears", &[first]).status == 429));
        ["X-Forwarded-For: 198.51.100.8", "X-Forwarded-For: 198.51.100.9, 198.51.100.7"]
            .map(|header| search(served.address, "pears", &[header]).status)
    };
    assert_eq!(
        limited(&["127.0.0.0/8"]),
        [200, 429],
        "what a client wrote before its address is not believed"
    );
    assert_eq!(limited(&[])[0], 429);
}

#[test]
fn a_document_is_found_by_an_id_that_a_proxy_decoded() {
    let served = Served::new(|_| {});
    assert_eq!(put(&served, "", "notes/2026/plums.md", &[]).status, 201);
    let at = |path: &str| format!("/api/v1/collections/default/documents/{path}");
    for part in ["", "/source", "/outline", "/related"] {
        let [encoded, decoded] = ["notes%2F2026%2Fplums.md", "notes/2026/plums.md"]
            .map(|doc_id| get(served.address, &at(&format!("{doc_id}{part}")), &[]));
        assert_eq!((encoded.status, decoded.status), (200, 200), "{part}");
        assert_eq!(encoded.body, decoded.body, "{part}");
    }
    assert_eq!(ask(served.address, "DELETE", &at("notes/2026/plums.md"), &[], "").status, 200);
    assert_eq!(get(served.address, &at("notes%2F2026%2Fplums.md"), &[]).status, 404);
}

#[test]
fn metadata_of_mcp_is_found_below_a_path_and_beside_it() {
    const NAME: &str = "/.well-known/oauth-protected-resource";
    let authorization = Authorization {
        public_url: "https://docs.example.com/lamp/".into(),
        servers: vec!["https://login.example.com".into()],
    };
    let served = Served::new(|options| {
        proxy("/lamp", &[])(options);
        options.admission = Admission { authorization: Some(authorization), ..keys().0 };
    });
    for (path, resource) in [
        (format!("/lamp{NAME}/mcp"), "https://docs.example.com/lamp/mcp"),
        (format!("{NAME}/lamp/mcp"), "https://docs.example.com/lamp/mcp"),
        (format!("{NAME}/mcp"), "https://docs.example.com/lamp/mcp"),
        (format!("{NAME}/lamp"), "https://docs.example.com/lamp"),
        (format!("/lamp{NAME}"), "https://docs.example.com/lamp"),
    ] {
        assert_eq!(get(served.address, &path, &[]).json()["resource"], resource, "{path}");
    }
    for (path, part) in [("/lamp/mcp", "/mcp"), ("/lamp/api/v1/collections", "")] {
        let refused = get(served.address, path, &[]);
        let named = format!("resource_metadata=\"https://docs.example.com/lamp{NAME}{part}\"");
        assert!(refused.header("www-authenticate").unwrap().contains(&named), "{path}");
    }
}
