//! The client of services, against a server of our own with scripted faults.

use std::sync::Arc;
use std::time::Duration;

use chunkwright_http::{Client, HttpError, HttpOptions, Method, Secret, SecretError};
use serde_json::{Value, json};

use crate::server::{Answer, FakeClock, Server, json as reply, text};

const KEY: &str = "sk-secret-1234";

fn options() -> HttpOptions {
    HttpOptions { timeout_ms: 5_000, deadline_ms: 60_000, max_body_bytes: 10_000, ..HttpOptions::default() }
}

/// The client's result for `script`, the number of requests, and the waits between them.
fn call(script: Vec<Answer>, options: HttpOptions) -> (Result<Value, HttpError>, usize, Vec<Duration>) {
    let server = Server::script(script);
    let clock = Arc::new(FakeClock::default());
    let client = Client::new(&server.url(), options).unwrap().with_clock(Arc::clone(&clock) as _);
    let client = client.with_bearer(&Secret::new(KEY)).unwrap();
    let result = client.post("/v1/things", &json!({"a": 1}));
    (result, server.requests().len(), clock.sleeps())
}

fn with_header(status: u16, header: &str) -> Answer {
    Answer::Reply(status, vec![header.into()], b"busy".to_vec())
}

fn ok() -> Answer {
    reply(200, &json!({"ok": true}))
}

#[test]
fn a_request_is_json_with_its_key_in_a_header() {
    let server = Server::script(vec![ok()]);
    let client = Client::new(&format!("{}/v1/", server.url()), options()).unwrap();
    let client = client.with_bearer(&Secret::new(format!("{KEY}\n"))).unwrap();
    assert_eq!(client.post("/v1/things", &json!({"a": [1, "ü"]})).unwrap(), json!({"ok": true}));
    assert_eq!(client.get("/v1/things?x=1").unwrap(), json!({"ok": true}));
    client.send(Method::Delete, "/v1/things", None).unwrap();
    client.send(Method::Put, "/v1/things", Some(&json!([]))).unwrap();
    let requests = server.requests();
    let seen: Vec<(&str, &str)> = requests.iter().map(|r| (r.method.as_str(), r.path.as_str())).collect();
    let expected =
        [("POST", "/v1/things"), ("GET", "/v1/things?x=1"), ("DELETE", "/v1/things"), ("PUT", "/v1/things")];
    assert_eq!(seen, expected);
    assert_eq!(requests[0].body, json!({"a": [1, "ü"]}));
    assert_eq!(requests[0].header("content-type"), Some("application/json"));
    assert!(requests.iter().all(|request| request.header("authorization") == Some("Bearer sk-secret-1234")));
    assert!(!format!("{client:?}").contains(KEY));
}

#[test]
fn what_may_pass_is_tried_again_with_growing_waits() {
    for status in [408, 429, 500, 502, 503, 504] {
        let (result, asked, waits) = call(vec![text(status, "busy"), text(status, "busy"), ok()], options());
        assert_eq!(result.unwrap(), json!({"ok": true}), "{status}");
        assert_eq!(asked, 3, "{status}");
        assert!(waits[0] <= Duration::from_millis(500) && waits[1] <= Duration::from_secs(1), "{waits:?}");
    }
    for fault in [Answer::Drop, Answer::Cut] {
        let (result, asked, _) = call(vec![fault.clone(), ok()], options());
        assert_eq!((result.is_ok(), asked), (true, 2), "{fault:?}");
    }
    let quick = HttpOptions { timeout_ms: 1_000, ..options() };
    let (result, asked, _) = call(vec![Answer::Silence, ok()], quick);
    assert_eq!((result.is_ok(), asked), (true, 2));
}

#[test]
fn what_is_down_for_good_is_given_up_after_a_bounded_number_of_attempts() {
    let (result, asked, waits) = call(vec![text(503, "down")], options());
    assert!(result.unwrap_err().to_string().ends_with("/v1/things` answered 503: down"));
    assert_eq!((asked, waits.len()), (5, 4));
    let (result, ..) = call(vec![text(502, &"<p>".repeat(9_000))], options());
    assert!(result.unwrap_err().to_string().ends_with("answered 502: a page of HTML"));
    let (result, asked, _) = call(vec![Answer::Drop], HttpOptions { retries: 2, ..options() });
    assert!(matches!(result, Err(HttpError::Connection { .. })), "{result:?}");
    assert_eq!(asked, 3);
    let (result, asked, _) =
        call(vec![Answer::Silence], HttpOptions { retries: 1, timeout_ms: 1_000, ..options() });
    assert!(matches!(result, Err(HttpError::Timeout { .. })), "{result:?}");
    assert_eq!(asked, 2);
}

#[test]
fn a_silent_read_and_a_tls_error_are_failures_of_the_connection() {
    let (result, ..) = call(vec![Answer::Silence], HttpOptions { retries: 0, read_ms: 100, ..options() });
    assert!(matches!(result, Err(HttpError::Timeout { .. })), "{result:?}");
    let server = Server::script(vec![ok()]);
    let url = server.url().replace("http://", "https://");
    let clock = Arc::new(FakeClock::default());
    let client = Client::new(&url, options()).unwrap().with_clock(Arc::clone(&clock) as _);
    let error = client.get("/").unwrap_err();
    assert!(matches!(error, HttpError::Connection { .. }), "{error}");
    assert_eq!(clock.sleeps().len(), 4);
}

#[test]
fn the_wait_that_a_service_asks_for_is_kept_to() {
    for header in ["retry-after: 7", "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"] {
        let (result, asked, waits) = call(vec![with_header(429, header), ok()], options());
        assert!(result.is_ok());
        assert_eq!((asked, waits), (2, vec![Duration::from_secs(7)]), "{header}");
    }
    let (result, asked, waits) = call(vec![with_header(503, "retry-after: soon"), ok()], options());
    assert!(result.is_ok());
    assert_eq!((asked, waits.len()), (2, 1));
}

#[test]
fn a_wait_beyond_the_deadline_is_not_begun() {
    for seconds in [60, 3_600, u64::MAX] {
        let answer = with_header(429, &format!("retry-after: {seconds}"));
        let (result, asked, waits) = call(vec![answer, ok()], options());
        assert_eq!(result.unwrap_err().status(), Some(429));
        assert_eq!((asked, waits.len()), (1, 0));
    }
    let patient = HttpOptions { retries: 1_000, ..options() };
    let (result, asked, waits) = call(vec![with_header(503, "retry-after: 7")], patient);
    assert_eq!(result.unwrap_err().status(), Some(503));
    assert_eq!((asked, waits.len()), (9, 8), "eight waits of 7 s are within 60 s");
}

#[test]
fn what_will_not_pass_is_not_tried_again() {
    for status in [400, 401, 403, 404, 409, 422, 501] {
        let (result, asked, _) =
            call(vec![reply(status, &json!({"error": {"message": "not so"}}))], options());
        let error = result.unwrap_err();
        assert_eq!((error.status(), error.is_size(), asked), (Some(status), false, 1));
        assert!(error.to_string().ends_with(": not so"), "{error}");
    }
    // Chroma sends the error's name, then its message.
    let named = json!({"error": "InvalidArgumentError", "message": "not so"});
    let (result, ..) = call(vec![reply(400, &named)], options());
    assert!(result.unwrap_err().to_string().ends_with("400: not so"));
    let (result, ..) = call(vec![text(401, "no")], options());
    let hint = "answered 401, the key is missing, wrong, or not allowed to do this: no";
    assert!(result.unwrap_err().to_string().ends_with(hint));
}

#[test]
fn a_request_that_is_too_large_is_told_apart() {
    let too_large = [
        (413, "no"),
        (413, ""),
        (400, "This model's maximum context length is 8192 tokens, however you requested 9000"),
        (422, "batch size 64 > maximum allowed batch size 32"),
        (400, "the input length exceeds the context length"),
        (500, "input is too large to process. increase the physical batch size"),
        (400, "too many texts, at most 96"),
    ];
    for (status, message) in too_large {
        let (result, asked, _) = call(vec![reply(status, &json!({"error": message}))], options());
        assert!(result.unwrap_err().is_size(), "{message}");
        assert_eq!(asked, 1);
    }
    for (status, message) in
        [(429, "too many requests, batch size"), (401, "batch size"), (400, "unknown model")]
    {
        let (result, ..) = call(vec![reply(status, &json!({"error": message}))], options());
        assert!(!result.unwrap_err().is_size(), "{message}");
    }
}

#[test]
fn a_body_that_is_too_large_or_endless_is_not_read() {
    for answer in [text(200, &"[0],".repeat(10_000)), Answer::Endless] {
        let (result, asked, _) = call(vec![answer], options());
        assert!(matches!(result, Err(HttpError::BodyTooLarge { limit: 10_000, .. })), "{result:?}");
        assert_eq!(asked, 1);
    }
}

#[test]
fn a_body_that_is_no_json_is_refused() {
    let check = |answer: Answer, expected: &str| {
        let error = call(vec![answer], options()).0.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(
        text(200, " <!doctype html><h1>Login</h1>"),
        "it is a page of HTML; is the address that of the service?",
    );
    check(text(200, "{\"half\": "), "EOF while parsing");
    check(text(200, "[NaN]"), "expected");
    check(text(200, "[1e999]"), "number out of range");
    check(text(400, "<html>nothing to read</html>"), "answered 400: a page of HTML");
    assert_eq!(call(vec![text(200, "")], options()).0.unwrap(), Value::Null);
}

#[test]
fn redirects_are_not_followed() {
    let elsewhere = Server::script(vec![ok()]);
    let location = format!("location: {}/there?token=t", elsewhere.url());
    for status in [301, 302, 307, 308] {
        let (result, asked, _) = call(vec![with_header(status, &location)], options());
        let error = result.unwrap_err();
        assert!(matches!(error, HttpError::Redirect { .. }), "{error}");
        assert!(error.to_string().contains("/there`") && !error.to_string().contains("token"), "{error}");
        assert_eq!(asked, 1);
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn a_key_that_a_server_echoes_is_not_shown() {
    let echo = format!("bad header `authorization: Bearer {KEY}`");
    let answers = [
        text(400, &echo),
        reply(401, &json!({"error": {"message": echo}})),
        reply(413, &json!({"detail": [echo]})),
        text(503, &echo),
        with_header(302, &format!("location: http://h/{KEY}")),
        text(400, &format!("{} {KEY}", "x".repeat(294))),
    ];
    for answer in answers {
        let error = call(vec![answer], HttpOptions { retries: 0, ..options() }).0.unwrap_err();
        for shown in [error.to_string(), format!("{error:?}")] {
            assert!(!shown.contains("sk-sec"), "{shown}");
        }
    }
}

#[test]
fn a_servers_words_are_shown_in_one_short_line() {
    let error = call(vec![text(400, &format!("a\r\n\u{1b}[31mb\0 {}", "ж".repeat(5_000)))], options()).0;
    let error = error.unwrap_err().to_string();
    assert!(error.contains(": a [31mb жж") && error.ends_with("..."), "{error}");
    assert!(error.chars().count() < 400 && !error.chars().any(char::is_control), "{error}");
}

#[test]
fn link_local_addresses_are_refused_unless_allowed() {
    for host in ["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "2852039166"]
    {
        let client = Client::new(&format!("http://{host}:80"), options()).unwrap();
        let error = client.get("/latest/meta-data").unwrap_err();
        assert!(matches!(error, HttpError::LinkLocal { .. }), "{host}: {error}");
    }
    let error = Client::new("http://169.254.169.254", options()).unwrap().get("/").unwrap_err().to_string();
    let expected = "`http://169.254.169.254/` is not called: its address 169.254.169.254 is link-local; \
                    `allow_link_local` allows it";
    assert_eq!(error, expected);
}

#[test]
fn an_address_that_is_none_of_a_service_is_refused() {
    let check = |url: &str, expected: &str| {
        assert_eq!(Client::new(url, options()).unwrap_err().to_string(), expected);
    };
    check(
        "file:///etc/passwd",
        "`file:///etc/passwd` cannot be called: it must begin with `http://` or `https://` and a host",
    );
    check(
        "localhost:8080",
        "`localhost:8080` cannot be called: it must begin with `http://` or `https://` and a host",
    );
    check(
        "http://me:word@h/v1",
        "`http://h/v1` cannot be called: it must hold no user, password, query or fragment; a key is configured apart",
    );
    let client = Client::new("http://h", options()).unwrap();
    let error = client.with_bearer(&Secret::new("a\nb")).unwrap_err().to_string();
    assert!(error.contains("must be one line"), "{error}");
}

#[test]
fn a_secret_is_read_from_a_file_or_a_variable_and_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, format!("{KEY}\r\n")).unwrap();
    let secret = Secret::from_file(&path).unwrap();
    assert_eq!(secret.expose(), KEY);
    assert_eq!((format!("{secret}"), format!("{secret:?}")), ("***".into(), "***".into()));
    std::fs::write(&path, " \n").unwrap();
    assert!(matches!(Secret::from_file(&path), Err(SecretError::Empty { .. })));
    assert!(matches!(Secret::from_file(folder.path()), Err(SecretError::Unreadable { .. })));
    assert!(Secret::from_variable("PATH").is_some());
    assert_eq!(Secret::from_variable("CHUNKWRIGHT_NO_SUCH_VARIABLE"), None);
}

#[test]
fn a_page_is_its_status_headers_and_bytes_and_redirects_are_the_callers() {
    let moved = Answer::Reply(301, vec!["Location: /b".into()], b"moved".to_vec());
    let page = Answer::Reply(200, vec!["Content-Type: text/html".into()], b"<p>\xff".to_vec());
    let server = Server::script(vec![moved, text(404, "no"), text(503, "busy"), page, text(501, "no")]);
    let options = HttpOptions { max_body_bytes: 10, ..options() };
    let client =
        Client::new(&server.url(), options.clone()).unwrap().with_clock(Arc::new(FakeClock::default()));
    let headers = [("if-none-match", "\"x\"")];
    let first = client.page("/a?b=c", &headers).unwrap();
    assert_eq!((first.status, first.header("location"), &*first.body), (301, Some("/b"), &b""[..]));
    assert_eq!(client.page("/a", &[]).unwrap().status, 404);
    let third = client.page("/a", &[]).unwrap();
    assert_eq!(
        (third.status, third.header("content-type"), &*third.body),
        (200, Some("text/html"), &b"<p>\xff"[..])
    );
    assert_eq!(client.page("/a", &[]).unwrap_err().status(), Some(501));
    let requests = server.requests();
    assert_eq!((&*requests[0].path, requests[0].header("if-none-match")), ("/a?b=c", Some("\"x\"")));

    let server = Server::script(vec![text(200, "more than ten bytes")]);
    let client = Client::new(&server.url(), options.clone()).unwrap();
    assert!(matches!(client.page("/", &[]), Err(HttpError::BodyTooLarge { limit: 10, .. })));
    let public = Client::new(&server.url(), HttpOptions { allow_private: false, ..options }).unwrap();
    assert!(matches!(public.page("/", &[]), Err(HttpError::Private { .. })));
    assert_eq!(server.requests().len(), 1);
}
