//! Clients that take their time, take too much, or keep what they took.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use chunkwright_server::Stopped;

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
