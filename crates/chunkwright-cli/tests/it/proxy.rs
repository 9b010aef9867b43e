//! A server behind a real nginx, below a path.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::Folder;
use crate::serve::{Server, ask};

/// An nginx, which ends with the test.
struct Nginx {
    child: Child,
    address: String,
    _folder: TempDir,
}

impl Nginx {
    /// Starts one that has what `location` says; `None` where nginx is not installed.
    fn with(location: &str) -> Option<Self> {
        Command::new("nginx").arg("-v").output().ok()?;
        loop {
            let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
            let folder = TempDir::new().unwrap();
            let parts = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
            let temporary: String = parts.iter().map(|part| format!("{part}_temp_path {part};")).collect();
            let configuration = format!(
                "daemon off; master_process off; pid nginx.pid; error_log stderr; events {{}}\n\
                 http {{ access_log off; {temporary} server {{ listen {address}; {location} }} }}\n"
            );
            std::fs::write(folder.path().join("nginx.conf"), configuration).unwrap();
            let mut command = Command::new("nginx");
            command
                .arg("-p")
                .arg(folder.path())
                .args(["-c", "nginx.conf", "-e", "stderr"])
                .stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            // Where another process was given the port meanwhile, nginx ends, and another port is tried.
            while child.try_wait().unwrap().is_none() {
                if TcpStream::connect(&address).is_ok() {
                    return Some(Self { child, address, _folder: folder });
                }
            }
        }
    }

    fn get(&self, path: &str, accept: &str) -> (u16, String, String) {
        ask(&self.address, "GET", path, &format!("Accept: {accept}\r\n"), "")
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> (u16, String, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
        let (status, head, body) = ask(&self.address, method, path, headers, &body);
        (status, head, serde_json::from_str(&body).unwrap_or(Value::Null))
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// Where a reference of a page at `path` leads.
fn resolved(path: &str, reference: &str) -> String {
    if reference.starts_with('/') {
        return reference.to_owned();
    }
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.pop();
    for part in reference.split('/') {
        match part {
            ".." if folders.len() > 1 => drop(folders.pop()),
            "." | ".." => {}
            part => folders.push(part),
        }
    }
    folders.join("/")
}

/// How nginx may have the server below `/lamp/`: the server's flags, and what stands in its location.
const WAYS: [(&[&str], &str); 4] = [
    (&[], "proxy_pass http://SERVER/;"),
    (&["--base-path", "/lamp"], "proxy_pass http://SERVER;"),
    (&["--base-path", "/lamp"], "proxy_pass http://SERVER/;"),
    (
        &["--trusted-proxy", "127.0.0.1"],
        "proxy_pass http://SERVER/; proxy_set_header X-Forwarded-Prefix /lamp;",
    ),
];

#[test]
fn a_server_works_below_a_path_of_nginx() {
    for (flags, pass) in WAYS {
        let folder = Folder::new(&[("docs/notes/a.md", "# A\n\nPears are green.\n")]);
        assert_eq!(folder.run(&["index", "docs", "--embedder", "none"]).code, 0);
        let server = Server::start(&folder, flags);
        let address = server.address.trim_end_matches("/lamp");
        let location = format!("location /lamp/ {{ {} }}", pass.replace("SERVER", address));
        let Some(nginx) = Nginx::with(&location) else {
            println!("not checked: there is no nginx");
            return;
        };
        // The page and its parts, from places at every depth.
        for path in ["/lamp/", "/lamp/search?q=x", "/lamp/c/default", "/lamp/c/default/d/notes/a.md"] {
            let (status, head, page) = nginx.get(path, "text/html");
            let parts: Vec<&str> = page.split('"').filter(|part| part.contains("assets/")).collect();
            if parts.is_empty() {
                assert_eq!(status, 404, "{path}: {page}");
                continue;
            }
            assert_eq!((status, header(&head, "cache-control")), (200, Some("no-cache")), "{path}");
            for part in parts {
                let at = resolved(path.split('?').next().unwrap_or_default(), part);
                assert!(at.starts_with("/lamp/assets/"), "{path} names {part}");
                assert_eq!(nginx.get(&at, "*/*").0, 200, "{path} names {part}");
            }
        }
        // The page to try the API.
        let (status, _, page) = nginx.get("/lamp/api/docs", "text/html");
        assert_eq!(status, 200);
        for part in page.split('"').filter(|part| part.starts_with("docs/") || *part == "openapi.json") {
            assert_eq!(nginx.get(&resolved("/lamp/api/docs", part), "*/*").0, 200, "{part}");
        }
        // Documents whose ids have a `/`, which nginx decodes where it takes the path off.
        let documents = "/lamp/api/v1/collections/default/documents";
        let put = json!({ "documents": [{ "doc_id": "notes/b c.md", "text": "# B\n\nСливы синие.\n" }] });
        let (status, head, answer) = nginx.send("POST", documents, &put);
        assert_eq!(status, 201, "{answer}");
        let at = header(&head, "location").unwrap();
        if flags.is_empty() {
            assert!(at.starts_with("/api/"), "nobody says where the server is: {at}");
        } else {
            assert_eq!(at, format!("{documents}/notes%2Fb%20c.md"));
            assert_eq!(nginx.send("GET", at, &Value::Null).2["doc_id"], "notes/b c.md");
        }
        for part in ["", "/source", "/outline"] {
            assert_eq!(nginx.get(&format!("{documents}/notes%2Fa.md{part}"), "*/*").0, 200, "{part}");
        }
        let (status, _, found) = nginx.send("POST", "/lamp/api/v1/search", &json!({ "query": "сливы" }));
        assert_eq!((status, &found["hits"][0]["doc_id"]), (200, &json!("notes/b c.md")));
        assert_eq!(nginx.send("DELETE", &format!("{documents}/notes%2Fb%20c.md"), &Value::Null).0, 200);
        // What is said of paths, and agents.
        let prefix = if flags.is_empty() { "" } else { "/lamp" };
        let (_, _, document) = nginx.send("GET", "/lamp/api/openapi.json", &Value::Null);
        assert_eq!(document["servers"][0]["url"], if flags.is_empty() { "/" } else { "/lamp" });
        let (status, _, problem) = nginx.send("GET", "/lamp/api/none", &Value::Null);
        assert_eq!(status, 404);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(&format!("`{prefix}/api/openapi.json`")), "{detail}");
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "search", "arguments": { "query": "pears" } } });
        let (status, _, answer) = nginx.send("POST", "/lamp/mcp", &call);
        assert_eq!((status, &answer["id"]), (200, &json!(7)), "{answer}");
        assert!(answer["result"].to_string().contains("notes/a.md"), "{answer}");
    }
}
