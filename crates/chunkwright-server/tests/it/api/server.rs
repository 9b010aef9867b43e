//! A separate server for each test, and a client that reads JSON.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use chunkwright_engine::settings::Source;
use chunkwright_engine::{Access, Engine, Layers};
use chunkwright_server::{Server, ServerOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::Agent;
use ureq::http::{Request, Response};

/// A server and its folder, which is gone with the test.
pub(crate) struct Served {
    folder: Option<TempDir>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    pub(crate) address: SocketAddr,
    agent: Agent,
    log_queries: bool,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) bytes: Vec<u8>,
}

impl Answered {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or_else(|| panic!("no `{name}` in {self:?}"), |(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|_| panic!("no JSON: {} {}", self.status, self.text()))
    }

    /// The JSON of an answer with this status.
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }

    /// The code of a problem with this status.
    pub(crate) fn problem(&self, status: u16) -> String {
        let problem = self.expect(status);
        assert_eq!(self.header("content-type"), "application/problem+json", "{problem}");
        assert_eq!(problem["status"], status, "{problem}");
        problem["code"].as_str().unwrap().to_owned()
    }
}

impl Served {
    /// A server with an empty store. Requests may name paths below its folder `files`.
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("files")).unwrap();
        Self::start(folder, false)
    }

    /// As [`new`](Self::new), and queries are kept.
    pub(crate) fn logging() -> Self {
        let mut served = Self::new();
        served.end();
        Self::start(served.folder.take().unwrap(), true)
    }

    fn start(folder: TempDir, log_queries: bool) -> Self {
        let at = |name: &str| folder.path().join(name);
        let values = [("data", at("data")), ("store", at("store")), ("embedder", PathBuf::from("none"))];
        let values = values.map(|(key, value)| (key.to_owned(), json!(value)));
        let settings = Layers::default().settings(Source::Request, values).unwrap();
        let engine = Engine::open(settings, Access::Write).unwrap();
        let options = ServerOptions {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            roots: vec![at("files")],
            log_queries,
            ..ServerOptions::default()
        };
        let server = Server::new(engine, options).unwrap();
        let stop: Arc<AtomicBool> = Arc::default();
        let (sender, addresses) = mpsc::channel();
        let flag = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            server.run(&flag, |address| sender.send(address).unwrap()).unwrap();
        });
        let address = addresses.recv().unwrap();
        let agent = Agent::config_builder().http_status_as_error(false).build().new_agent();
        Self { folder: Some(folder), stop, thread: Some(thread), address, agent, log_queries }
    }

    /// The same store with a new server.
    pub(crate) fn restarted(mut self) -> Self {
        self.end();
        Self::start(self.folder.take().unwrap(), self.log_queries)
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // Connections that are kept alive would be waited for.
            self.agent = Agent::new_with_defaults();
            thread.join().unwrap();
        }
    }

    /// A folder below which requests may name paths.
    pub(crate) fn files(&self) -> PathBuf {
        self.folder.as_ref().unwrap().path().join("files")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.as_ref().unwrap().path()
    }

    /// Writes a file that requests may name.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.files().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Sends a request; `path` begins with `/`.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answered {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response: Response<ureq::Body> = if body.is_empty() && method != "POST" {
            self.agent.run(request.body(()).unwrap()).unwrap()
        } else {
            self.agent.run(request.body(body).unwrap()).unwrap()
        };
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        Answered {
            status: response.status().as_u16(),
            headers: headers.collect(),
            bytes: response.body_mut().read_to_vec().unwrap(),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answered {
        self.send("GET", path, &[], &[])
    }

    pub(crate) fn delete(&self, path: &str) -> Answered {
        self.send("DELETE", path, &[], &[])
    }

    /// Sends JSON.
    pub(crate) fn json(&self, method: &str, path: &str, body: &Value) -> Answered {
        self.send(method, path, &[("Content-Type", "application/json")], body.to_string().as_bytes())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answered {
        self.json("POST", path, body)
    }

    /// Stores documents, each an id and a text.
    pub(crate) fn put(&self, collection: &str, documents: &[(&str, &str)]) -> Value {
        let documents: Vec<Value> =
            documents.iter().map(|(doc_id, text)| json!({ "doc_id": doc_id, "text": text })).collect();
        let path = format!("/api/v1/collections/{}/documents", encoded(collection));
        self.post(&path, &json!({ "documents": documents })).expect(201)
    }

    /// Ids of the documents that a search finds, best first.
    pub(crate) fn found(&self, collection: &str, query: &str) -> Vec<String> {
        let answer = self.post("/api/v1/search", &json!({ "query": query, "collections": [collection] }));
        let hits = answer.expect(200)["hits"].clone();
        hits.as_array().unwrap().iter().map(|hit| hit["doc_id"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits for the end of a job, by its events.
    pub(crate) fn ended(&self, job: &Value) -> Value {
        let events = self.get(&format!("/api/v1/jobs/{}/events", job["id"]));
        assert_eq!(events.status, 200, "{}", events.text());
        let text = events.text();
        let last = text.split("\n\n").filter(|event| event.contains("event: end")).last();
        let last = last.unwrap_or_else(|| panic!("no end in {text}"));
        let data = last.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        serde_json::from_str(data).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}

/// A text as one segment of a path.
pub(crate) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

/// A form with files and fields, and its content type.
pub(crate) fn form(files: &[(&str, &str, &[u8])], fields: &[(&str, &str)]) -> (String, Vec<u8>) {
    let boundary = "----------------chunkwright";
    let mut body = Vec::new();
    for (name, text) in fields {
        let part =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
        body.extend(part.as_bytes());
    }
    for (name, media_type, bytes) in files {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: {media_type}\r\n\r\n"
        );
        body.extend(head.as_bytes());
        body.extend(*bytes);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}
