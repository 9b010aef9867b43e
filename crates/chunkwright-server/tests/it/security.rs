//! Access rules: hosts, origins, keys, and headers for browsers.

use std::net::{Ipv4Addr, SocketAddr};

use chunkwright_server::{Admission, Authorization, Key, KeyError, Keys, OptionsError, Scope, ServerOptions};

use crate::client::{ask, get, search};
use crate::served::{SCRIPT, Served, keys};

#[test]
fn a_name_that_is_not_the_servers_own_is_refused_everywhere() {
    let served =
        Served::new(|options| options.admission.hosts = vec!["docs.example.com".into(), "tunnel:81".into()]);
    let port = served.address.port();
    for (host, is_known) in [
        (format!("127.0.0.1:{port}"), true),
        (format!("localhost:{port}"), true),
        (format!("LocalHost:{port}"), true),
        (format!("[::1]:{port}"), true),
        ("docs.example.com".into(), true),
        ("docs.example.com:8443".into(), true),
        ("tunnel:81".into(), true),
        ("tunnel:82".into(), false),
        ("localhost".into(), false),
        (format!("localhost:{}", port ^ 1), false),
        (format!("evil.com:{port}"), false),
        (format!("EVIL.COM:{port}"), false),
        (format!("localhost.evil.com:{port}"), false),
        (format!("127.0.0.1.nip.io:{port}"), false),
        (format!("10.0.0.1:{port}"), false),
        (format!("evil@localhost:{port}"), false),
        (String::new(), false),
    ] {
        for path in ["/api/v1/collections", "/health", "/metrics", "/", "/mcp", "/nothing"] {
            let answer = get(served.address, path, &[&format!("Host: {host}")]);
            assert_eq!(answer.status != 403, is_known, "{host} {path}");
            if !is_known {
                assert_eq!(answer.code(), "unknown_host");
            }
        }
    }
    let two = get(served.address, "/health", &[&format!("Host: localhost:{port}"), "Host: evil.com"]);
    assert_ne!(two.status, 200);
    let other = get(served.address, "http://evil.com/health", &[&format!("Host: localhost:{port}")]);
    assert_eq!(other.status, 403);
}

#[test]
fn a_request_without_a_name_is_refused() {
    use std::io::Write as _;
    let served = Served::new(|_| {});
    let mut stream = crate::client::connect(served.address);
    stream.write_all(b"GET /health HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(crate::client::answer(&mut stream).unwrap().status, 403);
}

#[test]
fn a_page_of_another_site_is_refused() {
    let served = Served::new(|_| {});
    let own = format!("Origin: http://{}", served.address);
    assert_eq!(search(served.address, "pears", &[&own]).status, 200);
    for origin in ["https://evil.com", "null", "http://127.0.0.1:1", "http://127.0.0.1", "garbage"] {
        let header = format!("Origin: {origin}");
        for path in ["/api/v1/collections", "/mcp", "/health", "/"] {
            let answer = get(served.address, path, &[&header]);
            assert_eq!((answer.status, &*answer.code()), (403, "foreign_origin"), "{origin} {path}");
        }
        assert_eq!(search(served.address, "pears", &[&header]).status, 403);
    }
    let without_origin = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"];
    assert_eq!(get(served.address, "/api/v1/collections", &without_origin).status, 403);
    let link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"];
    assert_eq!(get(served.address, "/health", &link).status, 200);
}

#[test]
fn browsers_are_told_of_no_other_site_unless_it_is_listed() {
    let preflight = ["Origin: https://app.example.com", "Access-Control-Request-Method: POST"];
    let closed = Served::new(|_| {});
    let answer = ask(closed.address, "OPTIONS", "/api/v1/search", &preflight, "");
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, None));

    let (admission, [reader, ..]) = keys();
    let origins = vec!["https://app.example.com".to_owned()];
    let open = Served::new(|options| options.admission = Admission { origins, ..admission });
    let answer = ask(open.address, "OPTIONS", "/api/v1/search", &preflight, "");
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example.com"));
    assert_eq!(search(open.address, "pears", &[&reader, preflight[0]]).status, 200);
    let other = search(open.address, "pears", &[&reader, "Origin: https://evil.com"]);
    assert_eq!((other.status, other.header("access-control-allow-origin")), (403, None));
}

#[test]
fn a_form_of_another_page_is_not_json() {
    let served = Served::new(|_| {});
    let body = r#"{"query":"pears"}"#;
    assert_eq!(
        ask(served.address, "POST", "/api/v1/search", &["Content-Type: text/plain"], body).status,
        415
    );
}

#[test]
fn dify_is_told_in_its_own_codes_that_its_key_is_refused() {
    let (admission, [reader, ..]) = keys();
    let served = Served::new(|options| options.admission = admission);
    let body = r#"{"knowledge_id":"default","query":"pears","retrieval_setting":{"top_k":1}}"#;
    let asked = |path: &str, headers: &[&str]| {
        ask(served.address, "POST", path, &[&["Content-Type: application/json"], headers].concat(), body)
    };
    let code = |headers: &[&str]| {
        let answer = asked("/compat/dify/retrieval", headers);
        (answer.status, answer.json()["error_code"].clone())
    };
    assert_eq!(code(&[]), (401, 1001.into()));
    assert_eq!(code(&["Authorization: chunkwright_0"]), (401, 1001.into()));
    assert_eq!(code(&["Authorization: Bearer chunkwright_0"]), (401, 1002.into()));
    assert_eq!(code(&[&reader]), (200, serde_json::Value::Null));
    let elsewhere = asked("/api/v1/search", &[]);
    assert_eq!((elsewhere.status, &*elsewhere.code()), (401, "unauthorized"));
}

#[test]
fn a_request_without_a_key_or_with_a_wrong_one_learns_nothing() {
    let (admission, [reader, _, root]) = keys();
    let served = Served::new(|options| options.admission = admission);
    for path in ["/api/v1/collections", "/metrics", "/mcp", "/nothing"] {
        let missing = get(served.address, path, &[]);
        assert_eq!((missing.status, &*missing.code()), (401, "unauthorized"), "{path}");
        assert!(missing.header("www-authenticate").unwrap().starts_with("Bearer realm="));
    }
    for wrong in ["Bearer", "Bearer ", "Bearer chunkwright_0", "Basic cm9vdDpyb290", "bearer\tx"] {
        let answer = search(served.address, "pears", &[&format!("Authorization: {wrong}")]);
        assert_eq!(answer.status, 401, "{wrong}");
    }
    let (right, cut) = (reader.clone(), &reader[..reader.len() - 1]);
    assert_eq!(search(served.address, "pears", &[&right]).status, 200);
    assert_eq!(search(served.address, "pears", &[cut]).status, 401);
    let key = right.rsplit(' ').next().unwrap();
    assert_eq!(get(served.address, &format!("/api/v1/collections?key={key}"), &[]).status, 401);
    // Before anything of the body is read.
    let large = ask(served.address, "POST", "/api/v1/search", &["Content-Type: application/json"], "{");
    assert_eq!(large.status, 401);
    for public in ["/health", "/ready", "/api/openapi.json", "/api/docs"] {
        assert_eq!(get(served.address, public, &[]).status, 200);
    }
    assert_eq!(get(served.address, "/metrics", &[&root]).status, 200);
}

#[test]
fn a_key_does_no_more_than_its_scope() {
    let (admission, [reader, editor, root]) = keys();
    let served = Served::new(|options| options.admission = admission);
    assert_eq!(get(served.address, "/api/v1/collections", &[&reader]).status, 200);
    // What no operation says is for those who may do everything.
    for (key, status) in [(&reader, 403), (&editor, 403), (&root, 405)] {
        let answer = ask(served.address, "PATCH", "/api/v1/collections", &[key], "");
        assert_eq!(answer.status, status, "{}", answer.text());
        if status == 403 {
            assert_eq!(answer.code(), "insufficient_scope");
            let challenge = answer.header("www-authenticate").unwrap();
            assert!(challenge.contains("error=\"insufficient_scope\", scope=\"admin\""), "{challenge}");
        }
    }
}

#[test]
fn another_address_needs_keys_or_consent() {
    let everywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let open = ServerOptions { listen: everywhere, ..ServerOptions::default() };
    assert_eq!(open.check(), Err(OptionsError::Open { listen: everywhere }));
    assert!(open.check().unwrap_err().to_string().contains("`chunkwright key`"));
    let admission = Admission { anonymous: true, ..Admission::default() };
    assert_eq!(ServerOptions { admission, ..open.clone() }.check(), Ok(()));
    assert_eq!(ServerOptions { admission: keys().0, ..open }.check(), Ok(()));
}

#[test]
fn an_address_without_a_name_is_answered_where_every_address_is_listened_on() {
    let served = Served::new(|options| {
        options.listen = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        options.admission.anonymous = true;
    });
    let port = served.address.port();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    for (host, status) in [(format!("10.1.2.3:{port}"), 200), (format!("evil.com:{port}"), 403)] {
        assert_eq!(get(address, "/health", &[&format!("Host: {host}")]).status, status, "{host}");
    }
}

#[test]
fn keys_are_kept_as_hashes() {
    let (key, secret) = Key::generate("ci", Scope::Write).unwrap();
    let line = key.to_string();
    assert!(line.starts_with("ci write ") && !line.contains(&secret), "{line}");
    let keys = Keys::parse(&format!("# keys\n\n{line}\n")).unwrap();
    assert!(!format!("{keys:?}").contains(&secret));
    assert_eq!(Keys::parse(&format!("{line}\n{line}\n")).unwrap_err(), KeyError::Name { name: "ci".into() });
    for wrong in ["ci write", "ci all 00", &format!("{line} more"), "ci read 0123"] {
        assert_eq!(Keys::parse(wrong).unwrap_err(), KeyError::Line { line: 1 }, "{wrong}");
    }
    assert_eq!(Key::new("x", Scope::Read, "hunter2").unwrap_err(), KeyError::Short);
}

#[test]
fn a_client_that_asks_too_often_is_told_to_wait() {
    let (admission, [reader, editor, _]) = keys();
    let served = Served::new(|options| {
        options.admission = admission;
        options.limits.rate = std::num::NonZeroU32::new(1);
    });
    let mut answers = (0..1_000).map(|_| search(served.address, "pears", &[&reader]));
    let refused = answers.find(|answer| answer.status != 200).unwrap();
    assert_eq!((refused.status, &*refused.code()), (429, "too_many_requests"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    // Another client is not held up by it, and health is for everybody.
    assert_eq!(search(served.address, "pears", &[&editor]).status, 200);
    assert!((0..20).all(|_| get(served.address, "/health", &[]).status == 200));
}

#[test]
fn paths_lead_nowhere_but_to_what_is_served() {
    let served = Served::new(|_| {});
    for path in [
        "/../../etc/passwd",
        "/api/v1/../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/api/v1/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "//etc/passwd",
        "/..%5c..%5cetc%5cpasswd",
        "/%00/etc/passwd",
        "/file:///etc/passwd",
    ] {
        let answer = get(served.address, path, &[]);
        assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.status);
        assert!(!answer.text().contains("root:"), "{path}");
    }
}

#[test]
fn text_of_documents_stays_data() {
    let served = Served::new(|_| {});
    let answer = search(served.address, "apples", &[]);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let json = answer.json();
    assert_eq!(json["hits"][0]["doc_id"], format!("{SCRIPT}.md"));
    assert!(json["hits"][0]["content"].as_str().unwrap().contains(SCRIPT));
    for (answer, what) in [
        (answer, "an answer"),
        (get(served.address, "/nothing", &[]), "an error"),
        (get(served.address, "/health", &["Host: evil.com"]), "a refusal"),
        (get(served.address, "/%3Cscript%3Ealert(1)%3C/script%3E", &[]), "a path"),
    ] {
        let policy = answer.header("content-security-policy").unwrap_or_else(|| panic!("{what}"));
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{what}");
        }
        assert!(answer.header("content-type").is_none_or(|kind| kind.contains("json")), "{what}");
    }
}

#[test]
fn clients_of_mcp_are_told_who_issues_tokens() {
    let (admission, _) = keys();
    let authorization = Authorization {
        public_url: "https://docs.example.com/".into(),
        servers: vec!["https://login.example.com".into()],
    };
    let served = Served::new(|options| {
        options.admission = Admission { authorization: Some(authorization), ..admission };
    });
    let metadata = get(served.address, "/.well-known/oauth-protected-resource/mcp", &[]).json();
    assert_eq!(metadata["resource"], "https://docs.example.com/mcp");
    assert_eq!(metadata["authorization_servers"][0], "https://login.example.com");
    let challenge = get(served.address, "/mcp", &[]);
    assert_eq!(challenge.status, 401);
    let named = "resource_metadata=\"https://docs.example.com/.well-known/oauth-protected-resource/mcp\"";
    assert!(challenge.header("www-authenticate").unwrap().contains(named));
    let without = Served::new(|_| {});
    assert_eq!(get(without.address, "/.well-known/oauth-protected-resource", &[]).status, 404);
}
