//! The official client of the protocol, over HTTP.

use std::path::Path;
use std::process::Command;

use axum::Router;
use chunkwright_engine::IndexRequest;
use chunkwright_server::mcp::{HttpOptions, McpOptions, McpServer, http_service};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::Index;

#[expect(clippy::print_stdout, reason = "what was not checked is said")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_client_reads_the_index_over_http() {
    let Some(programs) = std::env::var_os("CHUNKWRIGHT_SERVERS") else {
        println!("not checked: `CHUNKWRIGHT_SERVERS` does not say where the official client is");
        return;
    };
    let python = Path::new(&programs).join("python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/servers/mcp_client.py");
    let index = Index::new(&[]);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus");
    let request = IndexRequest { paths: vec![corpus], ..IndexRequest::default() };
    index.engine.default_collection().index(request, &|_| ()).unwrap();
    let service =
        http_service(&McpServer::new(index.engine.clone(), McpOptions::default()), &HttpOptions::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await });
    for (mode, query, version) in
        [("legacy", "", "2025-11-25"), ("auto", "", "2026-07-28"), ("auto", "?tools=chatgpt", "2026-07-28")]
    {
        let mut command = Command::new(&python);
        command.arg(&script).args([mode, "http", &format!("http://{address}/mcp{query}")]);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{mode}: {}", String::from_utf8_lossy(&output.stderr));
        let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(seen["version"], version);
        assert_eq!((&seen["failed"][0], &seen["wrong"][0]), (&json!(true), &json!(true)));
        assert!(seen["wrong"][1].as_str().unwrap().contains("did you mean `query`?"), "{seen}");
        let text = seen["fetch"]["text"].as_str().unwrap();
        assert!(text.contains("ferry"), "{text}");
        if query.is_empty() {
            assert_eq!(seen["tools"], json!(["search", "fetch", "outline", "references", "status"]));
            // What is shown leaves the front matter out.
            assert!(text.ends_with(seen["search"]["results"][0]["content"].as_str().unwrap()));
            assert!(seen["text"].as_str().unwrap().contains("\n```\n"), "{seen}");
            assert_eq!(seen["resources"][0], "chunk://default/README.md");
            assert_eq!(seen["prompts"], json!(["answer", "summarize", "locate"]));
        } else {
            assert_eq!(seen["tools"], json!(["search", "fetch"]));
        }
    }
}
