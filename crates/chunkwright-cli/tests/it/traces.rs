//! Traces: what a collector is sent of requests, tools, searches and jobs, and what becomes of a server whose collector is
//! down.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use prost::Message as _;
use serde_json::{Value, json};

use crate::cli::Folder;
use crate::serve::Server;

const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN_ID: &str = "00f067aa0ba902b7";

/// What a server could let out by mistake.
const SECRETS: [&str; 4] =
    ["tangerine", concat!("sk-proj-", "q8Zr2VnWmK7yLxJd4HsGT3BlbkFJ_a9"), "harbourmaster", "opensesame"];

/// A path and a body.
type Request = (String, Vec<u8>);

/// A collector, which keeps what it is sent: the head of each request and its body.
struct Collector {
    url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

/// A span, in words.
#[derive(Debug)]
struct Span {
    trace: String,
    id: String,
    parent: String,
    kind: i32,
    /// 2 is an error.
    status: i32,
    attributes: HashMap<String, String>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<_>>>::default();
        let kept = Arc::clone(&requests);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || serve(client, &kept));
            }
        });
        Self { url, requests }
    }

    /// The spans by name, once the server has ended.
    fn spans(&self) -> HashMap<String, Vec<Span>> {
        let mut spans: HashMap<String, Vec<Span>> = HashMap::new();
        for (_, body) in self.requests.lock().unwrap().iter() {
            let sent = ExportTraceServiceRequest::decode(&**body).unwrap();
            let scopes = sent.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
            for span in scopes.flat_map(|scope| scope.spans) {
                let attributes = span.attributes.into_iter().map(|attribute| {
                    let value = match attribute.value.and_then(|value| value.value).unwrap() {
                        Attribute::StringValue(text) => text,
                        Attribute::IntValue(number) => number.to_string(),
                        other => format!("{other:?}"),
                    };
                    (attribute.key, value)
                });
                spans.entry(span.name).or_default().push(Span {
                    trace: hex(&span.trace_id),
                    id: hex(&span.span_id),
                    parent: hex(&span.parent_span_id),
                    kind: span.kind,
                    status: span.status.map_or(0, |status| status.code),
                    attributes: attributes.collect(),
                });
            }
        }
        spans
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn serve(client: TcpStream, kept: &Mutex<Vec<(String, Vec<u8>)>>) -> Option<()> {
    let (mut from, mut to) = (BufReader::new(client.try_clone().ok()?), client);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let start = head.len();
            from.read_line(&mut head).ok().filter(|read| *read > 0)?;
            let line = head[start..].to_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).ok()?;
        kept.lock().unwrap().push((head, body));
        to.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n")
            .ok()?;
    }
}

/// Calls a server with these header lines; answers the status and the body.
fn call(server: &Server, request: &str, headers: &[&str], body: &Value) -> (u16, Value) {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let (address, body) = (&server.address, body.to_string());
    let headers: String = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    // Whether it comes in one piece or in chunks, it is one object.
    let body = body.find('{').zip(body.rfind('}')).map_or("", |(from, to)| &body[from..=to]);
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
}

/// Tells a server to stop, and waits until it has.
fn stop(mut server: Server) {
    let told = Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status().unwrap();
    assert!(told.success());
    server.child.wait().unwrap();
}

/// Uses a server in every way that leaves a trace.
fn use_all(server: &Server, key: &str) {
    let put = json!({ "documents": [{ "doc_id": "ferry.md", "text": "# Ferry\n\nThe harbourmaster rings at nine.\n" }] });
    let task = json!({ "kind": "reindex", "collection": "default", "settings": { "preset": "code" } });
    let authorization = format!("Authorization: Bearer {key}");
    let authorized: &[&str] = if key.is_empty() { &[] } else { &[&authorization] };
    assert_eq!(call(server, "POST /api/v1/collections/default/documents", authorized, &put).0, 201);
    let (status, job) = call(server, "POST /api/v1/jobs", authorized, &task);
    assert_eq!(status, 202, "{job}");
    let job = format!("GET /api/v1/jobs/{}", job["id"]);
    while call(server, &job, authorized, &Value::Null).1["state"] != "succeeded" {}
    let query = format!("tangerine harbourmaster {}", SECRETS[1]);
    let parent = format!("traceparent: 00-{TRACE_ID}-{SPAN_ID}-01");
    let headers = [authorized, &[&*parent, "X-Request-Id: request-1"]].concat();
    let search = json!({ "query": query, "top_k": 3 });
    assert_eq!(call(server, "POST /api/v1/search", &headers, &search).0, 200);
    assert_eq!(
        call(server, "GET /api/v1/collections/tangerine/documents/a", authorized, &Value::Null).0,
        404
    );
    let version = "2025-06-18";
    let mcp = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "search", "arguments": { "query": query } } });
    let version = format!("MCP-Protocol-Version: {version}");
    let headers = [authorized, &["Accept: application/json, text/event-stream", &version]].concat();
    let (status, answer) = call(server, "POST /mcp", &headers, &mcp);
    assert_eq!((status, answer["result"]["isError"].as_bool()), (200, Some(false)), "{answer}");
}

fn only<'a>(spans: &'a HashMap<String, Vec<Span>>, name: &str) -> &'a Span {
    let found = spans.get(name).map_or(&[][..], Vec::as_slice);
    assert_eq!(found.len(), 1, "{name}: {found:?} of {:?}", spans.keys());
    &found[0]
}

#[test]
fn a_collector_is_sent_spans_of_requests_tools_searches_and_jobs_and_nothing_that_is_secret() {
    let folder = Folder::new(&[]);
    let collector = Collector::start();
    let mut command = folder.command(&["key", "agent", "--scope", "admin", "--keys", "keys"]);
    let key = String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned();
    assert!(!key.is_empty());
    let server = Server::start(&folder, &["--otlp", &collector.url, "--keys", "keys"]);
    use_all(&server, &key);
    stop(server);
    let spans = collector.spans();

    let request = only(&spans, "POST /api/v1/search");
    assert_eq!((&*request.trace, &*request.parent), (TRACE_ID, SPAN_ID));
    let attribute = |span: &Span, name: &str| span.attributes.get(name).cloned().unwrap_or_default();
    assert_eq!(attribute(request, "http.request.method"), "POST");
    assert_eq!(attribute(request, "http.route"), "/api/v1/search");
    assert_eq!(attribute(request, "http.response.status_code"), "200");
    assert_eq!(attribute(request, "request_id"), "request-1");
    let server_kind = 2;
    assert_eq!((request.kind, request.status), (server_kind, 0));

    let searches = &spans["search"];
    let below = |parent: &Span| searches.iter().find(|search| search.parent == parent.id);
    let search = below(request).expect("a search below the request");
    assert_eq!((&*search.trace, &*attribute(search, "search.top_k")), (TRACE_ID, "3"));
    for stage in ["analyse", "lexical", "fuse"] {
        let stages = &spans[stage];
        assert!(stages.iter().any(|stage| stage.parent == search.id && stage.trace == TRACE_ID), "{stage}");
    }

    let mcp = only(&spans, "POST /mcp");
    let tool = only(&spans, "tools/call search");
    assert_eq!((&tool.parent, &tool.trace), (&mcp.id, &mcp.trace));
    assert_eq!(attribute(tool, "gen_ai.tool.name"), "search");
    assert!(below(tool).is_some(), "a search below the tool");

    let job = only(&spans, "job index");
    assert_eq!(
        (&*job.parent, &*attribute(job, "job.id"), &*attribute(job, "job.outcome")),
        ("", "1", "Succeeded")
    );
    let run = spans["index"].iter().find(|run| run.parent == job.id).expect("a run below the job");
    assert_eq!(attribute(run, "index.documents"), "1");
    for stage in ["cut", "store"] {
        assert!(spans[stage].iter().any(|stage| stage.parent == run.id), "{stage}");
    }

    let missing = only(&spans, "GET /api/v1/collections/{collection}/documents/{doc_id}");
    assert_eq!(attribute(missing, "http.response.status_code"), "404");

    // Nothing of queries, texts, keys and paths is in what was sent.
    for (head, body) in collector.requests.lock().unwrap().iter() {
        assert!(head.starts_with("POST /v1/traces "), "{head}");
        let sent = format!("{head}{}", String::from_utf8_lossy(body));
        for secret in [&SECRETS[..], &[&key]].concat() {
            assert!(!sent.contains(secret), "{secret}");
        }
    }
}

#[test]
fn queries_are_in_traces_where_they_are_kept_and_their_secrets_are_not() {
    let folder = Folder::new(&[]);
    let collector = Collector::start();
    let server = Server::start(&folder, &["--otlp", &collector.url, "--log-queries"]);
    use_all(&server, "");
    stop(server);
    let spans = collector.spans();
    for name in ["POST /api/v1/search", "tools/call search"] {
        let query = &only(&spans, name).attributes["query"];
        assert!(
            query.starts_with("tangerine harbourmaster ") && !query.contains(SECRETS[1]),
            "{name} {query}"
        );
    }
}

#[test]
fn a_server_whose_collector_is_down_or_silent_answers_and_stops() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_url = format!("http://{}", silent.local_addr().unwrap());
    // Nothing listens on a port that was just given back.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for url in [silent_url, format!("http://{gone}")] {
        let folder = Folder::new(&[]);
        let server = Server::start(&folder, &["--otlp", &url]);
        use_all(&server, "");
        stop(server);
    }
}

#[test]
fn a_collector_is_named_by_the_variables_of_opentelemetry_too_and_a_wrong_address_is_refused() {
    let folder = Folder::new(&[]);
    let collector = Collector::start();
    let line = ["serve", "--listen", "127.0.0.1:0", "--embedder", "none"];
    let mut command = folder.command(&line);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=opensesame");
    let server = Server::of(command);
    assert_eq!(server.call("GET", "/health", &Value::Null).unwrap().0, 200);
    stop(server);
    assert!(collector.spans().contains_key("GET /health"), "{:?}", collector.spans().keys());
    let requests = collector.requests.lock().unwrap();
    assert!(requests.iter().all(|(head, _)| head.to_lowercase().contains("x-key: opensesame")));
    let run = folder.run(&[&line[..], &["--otlp", "localhost:4318"]].concat());
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("`localhost:4318` is not the address of a collector"), "{}", run.stderr);
}
