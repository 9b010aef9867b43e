//! Clients that are slow, send too much, or keep connections open.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use chunkwright_server::{Limits, Stopped};
use serde_json::json;

use crate::client::{answer, ask, connect, ends, get, request, search};
use crate::served::{Gate, Served, keys};

/// So short that a test does not take long, and long enough for a busy machine to do in it what it has to.
const SHORT: Duration = Duration::from_millis(300);

/// The head of a search whose body comes later.
fn head(address: SocketAddr, length: usize) -> String {
    format!(
        "POST /api/v1/search HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// Sends a byte now and then, until an answer comes or the connection ends.
fn drip(stream: &mut TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut read = Vec::new();
    let mut buffer = [0; 4_096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return read,
            Ok(length) => read.extend(&buffer[..length]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if stream.write_all(b"x").is_err() {
                    return read;
                }
            }
            Err(_) => return read,
        }
    }
}

#[test]
fn a_head_that_does_not_come_ends_the_connection() {
    let served = Served::limited(|limits| limits.header_timeout = SHORT);
    let mut silent = connect(served.address);
    assert!(ends(&mut silent));
    let mut begun = connect(served.address);
    begun.write_all(b"GET /health HTTP/1.1\r\nHost: ").unwrap();
    assert!(ends(&mut begun));
    let mut dripping = connect(served.address);
    dripping.write_all(b"GET /health HTTP/1.1\r\nX: ").unwrap();
    let said = drip(&mut dripping);
    assert!(!String::from_utf8_lossy(&said).contains("200 OK"));
}

#[test]
fn an_idle_connection_is_closed() {
    let served = Served::limited(|limits| limits.header_timeout = SHORT);
    let mut stream = connect(served.address);
    stream.write_all(request(served.address, "GET", "/health", &[], "").as_bytes()).unwrap();
    assert_eq!(answer(&mut stream).unwrap().status, 200);
    assert!(ends(&mut stream));
}

#[test]
fn a_body_that_does_not_come_is_answered_with_408() {
    let served = Served::limited(|limits| limits.body_timeout = SHORT);
    let mut stream = connect(served.address);
    stream.write_all(head(served.address, 100).as_bytes()).unwrap();
    let refused = answer(&mut stream).unwrap();
    assert_eq!((refused.status, &*refused.code()), (408, "slow_body"));
    assert!(ends(&mut stream));
    let mut dripping = connect(served.address);
    dripping.write_all(head(served.address, 100_000).as_bytes()).unwrap();
    let said = String::from_utf8_lossy(&drip(&mut dripping)).into_owned();
    assert!(said.starts_with("HTTP/1.1 408"), "{said}");
}

#[test]
fn a_body_over_the_limit_is_answered_with_413() {
    let served = Served::limited(|limits| limits.body_bytes = 1_000);
    let mut announced = connect(served.address);
    announced.write_all(head(served.address, 1_001).as_bytes()).unwrap();
    let refused = answer(&mut announced).unwrap();
    assert_eq!((refused.status, &*refused.code()), (413, "body_too_large"));
    let body = format!("400\r\n{}\r\n", " ".repeat(0x400));
    let chunked = ["Content-Type: application/json", "Transfer-Encoding: chunked"];
    let mut unannounced = connect(served.address);
    let sent = request(served.address, "POST", "/api/v1/search", &chunked, "") + &body;
    unannounced.write_all(sent.as_bytes()).unwrap();
    let refused = answer(&mut unannounced).unwrap();
    assert_eq!((refused.status, &*refused.code()), (413, "body_too_large"));
    assert_eq!(search(served.address, "pears", &[]).status, 200);
}

#[test]
fn a_compressed_body_is_not_unpacked() {
    let served = Served::new(|_| {});
    let headers = ["Content-Type: application/json", "Content-Encoding: gzip"];
    for path in ["/api/v1/search", "/api/v1/collections/docs/documents", "/mcp", "/compat/dify/retrieval"] {
        let answer = ask(served.address, "POST", path, &headers, "\x1f\u{8b}\x08");
        assert_eq!(answer.status, 415, "{path}: {}", answer.text());
        assert_eq!(answer.header("accept-encoding"), Some("identity"));
    }
    let plain = ["Content-Type: application/json", "Content-Encoding: identity"];
    let body = r#"{"query":"pears","mode":"lexical"}"#;
    assert_eq!(ask(served.address, "POST", "/api/v1/search", &plain, body).status, 200);
}

/// A search without a key that the server asks for.
fn keyless(address: SocketAddr, length: usize, extra: &str) -> String {
    head(address, length).replace("\r\n\r\n", &format!("\r\n{extra}\r\n"))
}

#[test]
fn a_refusal_that_did_not_wait_for_the_body_leaves_the_connection_to_the_next_request() {
    let served = Served::new(|options| options.admission = keys().0);
    let mut stream = connect(served.address);
    for round in 0..50 {
        stream.write_all(keyless(served.address, 34, "").as_bytes()).unwrap();
        stream.write_all(br#"{"query":"pears","mode":"lexical"}"#).unwrap();
        let refused = answer(&mut stream).unwrap();
        assert_eq!((refused.status, refused.header("connection")), (401, None), "{round}");
        stream.write_all(request(served.address, "GET", "/health", &[], "").as_bytes()).unwrap();
        assert_eq!(answer(&mut stream).unwrap().status, 200, "{round}");
    }
}

#[test]
fn a_refusal_of_a_body_that_does_not_come_says_that_the_connection_ends() {
    let served = Served::new(|options| options.admission = keys().0);
    for (length, extra) in [(34, ""), (10 << 20, ""), (34, "Expect: 100-continue\r\n")] {
        let mut stream = connect(served.address);
        stream.write_all(keyless(served.address, length, extra).as_bytes()).unwrap();
        let refused = answer(&mut stream).unwrap();
        assert_eq!((refused.status, refused.header("connection")), (401, Some("close")), "{length} {extra}");
        assert!(ends(&mut stream));
    }
}

#[test]
fn a_client_that_sends_a_large_body_reads_why_it_is_refused() {
    let served = Served::new(|options| options.admission = keys().0);
    for _ in 0..5 {
        let mut stream = connect(served.address);
        stream.write_all(keyless(served.address, 8 << 20, "").as_bytes()).unwrap();
        stream.write_all(&vec![b' '; 8 << 20]).unwrap();
        let refused = answer(&mut stream).unwrap();
        assert_eq!((refused.status, refused.header("connection")), (401, Some("close")));
    }
}

#[test]
fn a_client_that_reads_nothing_is_let_go() {
    let served = Served::limited(|limits| limits.write_timeout = SHORT);
    let mut stream = connect(served.address);
    let asked = request(served.address, "GET", "/api/openapi.json", &[], "");
    // Answers pile up until the system takes no more of them, and the server no more requests.
    let ended = (0..1_000_000).find_map(|_| stream.write_all(asked.as_bytes()).err()).unwrap();
    assert!(!matches!(ended.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{ended}");
}

#[test]
fn idle_connections_make_room_for_new_ones() {
    let served = Served::limited(|limits| limits.connections = 2);
    let mut idle: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = connect(served.address);
            stream.write_all(request(served.address, "GET", "/health", &[], "").as_bytes()).unwrap();
            assert_eq!(answer(&mut stream).unwrap().status, 200);
            stream
        })
        .collect();
    for _ in 0..5 {
        assert_eq!(get(served.address, "/health", &[]).status, 200);
    }
    assert!(ends(&mut idle[0]) && ends(&mut idle[1]));
}

/// Searches with a reranker that waits, each on a thread; the answers come when it does not.
fn waiting(address: SocketAddr, number: usize) -> Vec<thread::JoinHandle<u16>> {
    (0..number).map(|_| thread::spawn(move || search(address, "pears", &[]).status)).collect()
}

#[test]
fn what_is_too_much_is_refused_at_once() {
    let gate = Gate::closed();
    let served = Served::with_reranker(gate.clone(), |options| options.limits.calls = 1);
    let first = waiting(served.address, 1);
    gate.wait_for(1);
    // One waits behind it. Which of several that is, is not known; the others are answered while nothing else is.
    let mut crowd = waiting(served.address, 8);
    while crowd.iter().filter(|search| search.is_finished()).count() < 7 {
        thread::yield_now();
    }
    let refused = crowd.extract_if(.., |search| search.is_finished()).map(|search| search.join().unwrap());
    assert!(refused.collect::<Vec<_>>().iter().all(|status| *status == 503));
    assert_eq!(get(served.address, "/health", &[]).status, 200);
    gate.release();
    assert!(first.into_iter().chain(crowd).all(|search| search.join().unwrap() == 200));
}

#[test]
fn a_request_that_takes_too_long_is_answered_with_504() {
    let gate = Gate::closed();
    let served = Served::with_reranker(gate.clone(), |options| options.limits.request_timeout = SHORT);
    let answer = search(served.address, "pears", &[]);
    assert_eq!((answer.status, &*answer.code()), (504, "timeout"));
    gate.release();
}

/// A server that works on one call, of one connection, at a time, with three questions that wait at `gate` when they are
/// asked.
fn with_questions(gate: &Arc<Gate>, change: impl FnOnce(&mut Limits)) -> Served {
    let served = Served::with_reranker(Arc::clone(gate), |options| {
        (options.limits.calls, options.limits.connections) = (1, 1);
        change(&mut options.limits);
    });
    for question in ["pears", "fruit", "apples"] {
        let question = json!({ "question": question, "expected": ["guide.md"] }).to_string();
        let kept = ask(served.address, "POST", QUESTIONS, &[JSON, "Connection: close"], &question);
        assert_eq!(kept.status, 201, "{kept:?}");
    }
    served
}

const QUESTIONS: &str = "/api/v1/collections/default/questions";
const JSON: &str = "Content-Type: application/json";
const ASKED: &str = r#"{"modes":["lexical"]}"#;

/// The first question had begun; the place is free for this search, and the other questions were never asked.
fn is_stopped_and_free(served: &Served, gate: &Gate) {
    gate.release();
    assert_eq!(search(served.address, "pears", &[]).status, 200);
    assert_eq!(gate.came(), 2);
}

#[test]
fn work_stops_when_its_client_is_gone() {
    let gate = Gate::closed();
    let served = with_questions(&gate, |_| {});
    let mut stream = connect(served.address);
    let evaluate = format!("{QUESTIONS}/evaluate");
    stream.write_all(request(served.address, "POST", &evaluate, &[JSON], ASKED).as_bytes()).unwrap();
    gate.wait_for(1);
    drop(stream);
    // There is room for another connection once that of the client has ended.
    assert_eq!(get(served.address, "/health", &["Connection: close"]).status, 200);
    is_stopped_and_free(&served, &gate);
}

#[test]
fn work_stops_when_its_time_is_over() {
    let gate = Gate::closed();
    let served = with_questions(&gate, |limits| limits.request_timeout = SHORT);
    let late =
        ask(served.address, "POST", &format!("{QUESTIONS}/evaluate"), &[JSON, "Connection: close"], ASKED);
    assert_eq!((late.status, &*late.code()), (504, "timeout"));
    is_stopped_and_free(&served, &gate);
}

#[test]
fn a_tool_stops_when_its_client_is_gone() {
    let gate = Gate::closed();
    let served = with_questions(&gate, |_| {});
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "search", "arguments": { "query": "pears" } },
    });
    let accept = "Accept: application/json, text/event-stream";
    let mut stream = connect(served.address);
    let call = request(served.address, "POST", "/mcp", &[JSON, accept], &call.to_string());
    stream.write_all(call.as_bytes()).unwrap();
    gate.wait_for(1);
    drop(stream);
    assert_eq!(get(served.address, "/health", &["Connection: close"]).status, 200);
    is_stopped_and_free(&served, &gate);
}

#[test]
fn a_query_is_bounded_at_every_door() {
    let served = Served::new(|_| {});
    let address = served.address;
    let long = format!("{}x", "pears ".repeat(2_000));
    let many: String = (0..4_200).map(|number| char::from_u32(0x4E00 + number).unwrap()).collect();
    for (query, sentence) in [
        (&long, "the query has 12001 characters; the limit is 10000: ask for less at once"),
        (&many, "the query has 4199 different terms; the limit is 4096: ask for less at once"),
    ] {
        let refused = |method: &str, path: &str, body: serde_json::Value| {
            let refused = ask(address, method, path, &[JSON], &body.to_string());
            assert_eq!(
                (refused.status, &*refused.json()["detail"].to_string()),
                (413, &*format!("{sentence:?}")),
                "{path}"
            );
        };
        refused("POST", "/api/v1/search", json!({ "query": query }));
        refused("POST", "/api/v1/search", json!({ "query": query, "mode": "dense" }));
        refused(
            "POST",
            "/api/v1/search/explain",
            json!({ "chunk": "guide.md#0", "search": { "query": query } }),
        );
        refused("POST", QUESTIONS, json!({ "question": query, "expected": ["guide.md"] }));
        refused("PATCH", "/api/v1/collections/default/chunks/guide.md%230", json!({ "pins": [query] }));
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "search", "arguments": { "query": query } },
        });
        let accept = "Accept: application/json, text/event-stream";
        let told = ask(address, "POST", "/mcp", &[JSON, accept], &call.to_string());
        assert!(told.text().contains(sentence), "{}", told.text());
        let dify = json!({ "knowledge_id": "default", "query": query, "retrieval_setting": { "top_k": 3, "score_threshold": 0.0 } });
        let told = ask(
            address,
            "POST",
            "/compat/dify/retrieval",
            &[JSON, "Authorization: Bearer any"],
            &dify.to_string(),
        );
        assert!(told.status >= 400 && told.text().contains(sentence), "{}", told.text());
    }
    assert_eq!(search(address, &"pears ".repeat(1_600), &[]).status, 200);
}

#[test]
fn a_server_that_stops_answers_what_was_begun_and_takes_nothing_new() {
    let gate = Gate::closed();
    let mut served = Served::with_reranker(gate.clone(), |_| {});
    let mut idle = connect(served.address);
    idle.write_all(request(served.address, "GET", "/ready", &[], "").as_bytes()).unwrap();
    assert_eq!(answer(&mut idle).unwrap().status, 200);
    let begun = waiting(served.address, 1);
    gate.wait_for(1);
    served.stop();
    assert!(ends(&mut idle));
    while TcpStream::connect(served.address).is_ok() {
        thread::yield_now();
    }
    gate.release();
    assert!(begun.into_iter().all(|search| search.join().unwrap() == 200));
    assert_eq!(served.stopped(), Stopped::Finished);
}

#[test]
fn a_server_that_stops_waits_no_longer_than_it_may() {
    let mut served = Served::limited(|limits| limits.shutdown_timeout = SHORT);
    let mut endless = connect(served.address);
    endless.write_all(head(served.address, 100).as_bytes()).unwrap();
    while !get(served.address, "/metrics", &[]).text().contains("chunkwright_http_requests_in_flight 2") {
        thread::yield_now();
    }
    served.stop();
    assert_eq!(served.stopped(), Stopped::CutShort);
}
