//! The MCP server over HTTP, as clients of the protocol use it.

mod answers;
mod lean;
mod official;
mod protocol;
mod registry;
mod texts;

use std::fs;
use std::path::Path;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use chunkwright_engine::settings::{Layers, Source};
use chunkwright_engine::{Access, Engine, IndexRequest};
use chunkwright_server::mcp::{HttpOptions, HttpService, McpOptions, McpServer, http_service};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;

/// The newest version of the protocol, whose requests are complete in themselves.
const NEWEST: &str = "2026-07-28";

/// An engine of some documents in a store of its own.
struct Index {
    folder: TempDir,
    engine: Engine,
}

/// A client of one server.
struct Client {
    service: HttpService,
    path: &'static str,
    version: &'static str,
}

impl Index {
    fn new(documents: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = |path: &Path| Value::from(path.to_str().unwrap());
        let values = [
            ("store".to_owned(), text(&folder.path().join("store"))),
            ("data".to_owned(), text(&folder.path().join("data"))),
            ("embedder".to_owned(), json!("none")),
        ];
        let settings = Layers::default().settings(Source::Request, values).unwrap();
        let engine = Engine::open(settings, Access::Write).unwrap();
        let index = Self { folder, engine };
        fs::create_dir_all(index.folder.path().join("docs")).unwrap();
        index.write(documents);
        index.index("default");
        index
    }

    fn write(&self, documents: &[(&str, &str)]) {
        for (name, text) in documents {
            let path = self.folder.path().join("docs").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn index(&self, collection: &str) {
        let request =
            IndexRequest { paths: vec![self.folder.path().join("docs")], ..IndexRequest::default() };
        self.engine.collection(collection).index(request, &|_| ()).unwrap();
    }

    fn client(&self) -> Client {
        self.client_of(McpOptions::default())
    }

    fn client_of(&self, options: McpOptions) -> Client {
        let server = McpServer::new(self.engine.clone(), options);
        let service = http_service(&server, &HttpOptions::default());
        Client { service, path: "/mcp", version: NEWEST }
    }

    /// Tokens of a result as it is sent.
    fn tokens(&self, result: &Value) -> usize {
        self.engine.counter().unwrap().count(&result.to_string())
    }
}

impl Client {
    /// Sends a body with these headers beside those that every request has.
    async fn post(&self, body: impl Into<Body>, headers: &[(&str, &str)]) -> (StatusCode, String) {
        let mut request = Request::post(self.path);
        let usual = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("host", "localhost:7878"),
        ];
        for (name, value) in usual {
            if headers.iter().all(|(given, _)| *given != name) {
                request = request.header(name, value);
            }
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).unwrap();
        let response = self.service.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// The result of a request, or its error.
    async fn ask(&self, method: &str, params: Value) -> Result<Value, Value> {
        let mut params = params;
        let name = params.get("name").or(params.get("uri")).and_then(Value::as_str).map(str::to_owned);
        let mut headers = vec![("mcp-protocol-version", self.version)];
        let header_name;
        if self.version == NEWEST {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            headers.push(("mcp-method", method));
            if let Some(name) = name {
                header_name = name;
                headers.push(("mcp-name", &header_name));
            }
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let (status, body) = self.post(body.to_string(), &headers).await;
        let answer: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{status}: {body}"));
        assert_eq!(answer["id"], 1, "{answer}");
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(answer["error"].clone()),
        }
    }

    /// The result of a tool.
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await.unwrap()
    }

    /// The structured answer of a tool.
    async fn answer(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, structured(arguments)).await;
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// What a model reads of the answer of a tool, in Markdown.
    async fn read(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!((&result["isError"], result.get("structuredContent")), (&json!(false), None), "{result}");
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// What a tool says went wrong.
    async fn failure(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

/// Arguments that ask for a structured answer.
fn structured(arguments: Value) -> Value {
    match arguments {
        Value::Null => json!({ "format": "structured" }),
        Value::Object(mut arguments) => {
            arguments.insert("format".to_owned(), json!("structured"));
            Value::Object(arguments)
        }
        Value::String(text) => {
            let arguments = serde_json::from_str(&text).unwrap();
            Value::String(structured(arguments).to_string())
        }
        other => other,
    }
}

/// A document of many sections, each with a word that no other has.
fn long_document(sections: usize) -> String {
    let section = |number: usize| {
        let words = format!("The ferry number{number} leaves the harbour when the tide turns. ").repeat(12);
        format!("## Section {number}\n\n{words}\n\n")
    };
    (0..sections).map(section).collect()
}
