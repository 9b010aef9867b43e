//! A server and other commands on one store: commands write through the server, and acknowledged writes survive kills.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

use crate::cli::Folder;
use crate::docs::{installed_models, link_models};

/// A server, which ends with the test.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(folder: &Folder, more: &[&str]) -> Self {
        Self::embedding(folder, "none", more)
    }

    fn embedding(folder: &Folder, embedder: &str, more: &[&str]) -> Self {
        let line = [&["serve", "--listen", "127.0.0.1:0", "--embedder", embedder], more].concat();
        Self::of(folder.command(&line))
    }

    /// The server that a command starts.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.split_once("http://")?.1.trim().to_owned()));
        // What it says later is read, so that it never waits for a reader.
        thread::spawn(move || lines.for_each(drop));
        Self { child, address: address.expect("it says where it listens") }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn call(&self, method: &str, path: &str, body: &Value) -> io::Result<(u16, Value)> {
        call(&self.address, method, path, body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Calls a server once; an answer that ends early is an error.
fn call(address: &str, method: &str, path: &str, body: &Value) -> io::Result<(u16, Value)> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let headers = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    let (status, _, body) = exchange(address, method, path, headers, &body)?;
    Ok((status, serde_json::from_str(&body).map_err(|_| early())?))
}

/// Sends a request with these lines of headers; the status, the head and the body of its answer.
pub(crate) fn ask(
    address: &str,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> (u16, String, String) {
    exchange(address, method, path, headers, body).unwrap()
}

fn exchange(
    address: &str,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> io::Result<(u16, String, String)> {
    let mut stream = TcpStream::connect(address)?;
    // By 1.0 no proxy divides an answer.
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(early)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(early)?;
    Ok((status, head.to_owned(), body.to_owned()))
}

fn early() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the answer ends early")
}

#[test]
fn commands_work_on_a_store_while_a_server_has_it() {
    let folder = Folder::new(&[("docs/ferry.md", "# Ferry\n\nThe ferry leaves at nine.\n")]);
    let server = Server::start(&folder, &[]);
    let run = folder.run(&["index", "docs", "--embedder", "none"]);
    assert_eq!(run.lines()[0]["indexed"], 1);
    // However each names the store, the one that is written to is named as its user named it.
    let store = folder.home().join(".local/share/chunkwright/store");
    let run = folder.run(&["index", "docs", "--embedder", "none", "--store", store.to_str().unwrap()]);
    assert_eq!(run.lines()[0]["store"], store.to_str().unwrap());
    let other = Folder::new(&[("docs/a.md", "# A\n\nText.\n")]);
    let _beside = Server::start(&other, &["--store", "kept"]);
    for line in [&["index", "docs"][..], &["index", "-", "--stdin-filename", "b.md"]] {
        let line = [line, &["--embedder", "none", "--store", "kept"]].concat();
        assert_eq!(other.run_with_input(&line, b"# B\n").lines()[0]["store"], "kept", "{line:?}");
    }
    assert!(other.path().join("kept").is_dir());
    let search = json!({ "query": "ferry" });
    let hits = |answer: &Value| answer["hits"].as_array().map_or(0, Vec::len);
    let found = |server: &Server| hits(&server.call("POST", "/api/v1/search", &search).unwrap().1);
    assert_eq!(found(&server), 1);
    assert_eq!(folder.run(&["disable", "ferry.md#0"]).code, 0);
    assert_eq!((found(&server), folder.run(&["search", "ferry"]).code), (0, 1));
    assert_eq!(folder.run(&["enable", "ferry.md#0"]).code, 0);
    assert_eq!((found(&server), folder.run(&["search", "ferry"]).code), (1, 0));
    let run = folder.run(&["disable", "none.md#0"]);
    assert_eq!((run.code, run.stderr.contains("none.md")), (2, true), "{}", run.stderr);
    // A second server would run the jobs of the first.
    let second = folder.run(&["serve", "--listen", "127.0.0.1:0", "--embedder", "none"]);
    assert_eq!((second.code, second.stderr.contains("another server")), (2, true), "{}", second.stderr);
    drop(server);
    // The next writer takes over from an owner that died.
    assert_eq!(folder.run(&["disable", "ferry.md#0"]).code, 0);
    assert_eq!(folder.run(&["check"]).code, 0);
}

/// Empty stores on the servers that `cargo xtask test` has started, for one test; none where it has not.
pub(crate) fn stores_on_servers(test: &str) -> Vec<String> {
    let url = |server| std::env::var_os(format!("CHUNKWRIGHT_{server}_URL"))?.into_string().ok();
    let urls = ["QDRANT", "POSTGRES", "CHROMA"].into_iter().filter_map(url);
    let stores: Vec<String> = urls
        .map(|url| {
            let (mark, option) = (
                if url.contains('?') { '&' } else { '?' },
                if url.starts_with("postgres") { "schema" } else { "prefix" },
            );
            format!("{url}{mark}{option}={test}-{}-", std::process::id())
        })
        .collect();
    if stores.is_empty() {
        println!("not checked on servers: `cargo xtask test` starts them");
    }
    stores
}

#[test]
fn commands_work_on_a_store_on_a_server_through_the_process_of_this_machine_that_has_it() {
    for url in stores_on_servers("through") {
        let folder = Folder::new(&[("docs/ferry.md", "# Ferry\n\nThe ferry leaves at nine.\n")]);
        let store = ["--store", &*url];
        let server = Server::start(&folder, &store);
        let run = |line: &[&str]| folder.run(&[line, &store].concat());
        assert_eq!(run(&["index", "docs", "--embedder", "none"]).lines()[0]["indexed"], 1, "{url}");
        let search = json!({ "query": "ferry" });
        let hits = |answer: &Value| answer["hits"].as_array().map_or(0, Vec::len);
        let found = || hits(&server.call("POST", "/api/v1/search", &search).unwrap().1);
        assert_eq!(found(), 1, "{url}");
        assert_eq!((run(&["disable", "ferry.md#0"]).code, found()), (0, 0), "{url}");
        let second = run(&["serve", "--listen", "127.0.0.1:0", "--embedder", "none"]);
        assert_eq!((second.code, second.stderr.contains("another server")), (2, true), "{}", second.stderr);
        drop(server);
        // The next writer takes over from an owner that died.
        assert_eq!(run(&["enable", "ferry.md#0"]).code, 0, "{url}");
        assert_eq!(run(&["search", "ferry"]).code, 0, "{url}");
    }
}

#[test]
fn a_server_keeps_a_collection_in_step_with_a_folder() {
    let folder = Folder::new(&[("docs/a.md", "# A\n\nThe first words.\n")]);
    let server = Server::start(&folder, &["--watch", "docs"]);
    let search = |query: &str| json!({ "query": query });
    let wait_for = |query: &str| loop {
        // Before the first run there is no collection.
        let (_, answer) = server.call("POST", "/api/v1/search", &search(query)).unwrap();
        if answer["hits"].as_array().is_some_and(|hits| !hits.is_empty()) {
            break;
        }
    };
    wait_for("first");
    folder.write("docs/b.md", "# Б\n\nВторые слова.\n".as_bytes());
    wait_for("вторые");
    // Other commands write meanwhile.
    assert_eq!(folder.run(&["disable", "a.md#0"]).code, 0);
    // Every process says that the folder is watched, until the one that watches has ended, however that was.
    let docs = json!([folder.path().join("docs").canonicalize().unwrap()]);
    let (_, listed) = server.call("GET", "/api/v1/collections", &Value::Null).unwrap();
    assert_eq!(listed["collections"][0]["watched"], docs, "{listed}");
    let (_, one) = server.call("GET", "/api/v1/collections/default", &Value::Null).unwrap();
    assert_eq!(one["watched"], docs, "{one}");
    assert_eq!(folder.run(&["collections"]).lines()[0]["watched"], docs);
    assert!(folder.run(&["collections", "--watched", "--format", "text"]).success().contains("docs"));
    let mut server = server;
    server.kill();
    assert_eq!(folder.run(&["collections"]).lines()[0]["watched"], Value::Null);
    assert_eq!(folder.run(&["collections", "--watched"]).code, 1);
}

/// The ids of the documents that a server has, once they are these.
#[track_caller]
fn wait_for_documents(server: &Server, expected: &[&str]) {
    let path = "/api/v1/collections/default/documents";
    let expected: BTreeSet<&str> = expected.iter().copied().collect();
    loop {
        let (_, answer) = server.call("GET", path, &Value::Null).unwrap();
        let ids = answer["documents"].as_array().map(|all| all.iter().filter_map(|it| it["doc_id"].as_str()));
        if ids.is_some_and(|ids| ids.eq(expected.iter().copied())) {
            break;
        }
    }
}

#[test]
fn what_vanishes_from_a_watched_folder_leaves_also_while_the_server_is_down() {
    let files = ["a.md", "b.md", "c.md", "глава/d.md", "глава/e.md", "mnt/f.md"];
    let texts: Vec<String> = files.iter().map(|name| format!("# {name}\n\nWords of {name}.\n")).collect();
    let named: Vec<String> = files.iter().map(|name| format!("docs/{name}")).collect();
    let folder =
        Folder::new(&named.iter().zip(&texts).map(|(name, text)| (&**name, &**text)).collect::<Vec<_>>());
    let at = |name: &str| folder.path().join("docs").join(name);
    let mut server = Server::start(&folder, &["--watch", "docs"]);
    wait_for_documents(&server, &files);
    std::fs::remove_file(at("a.md")).unwrap();
    wait_for_documents(&server, &files[1..]);
    std::fs::rename(at("глава"), at("章")).unwrap();
    wait_for_documents(&server, &["b.md", "c.md", "mnt/f.md", "章/d.md", "章/e.md"]);
    // An upload belongs to no folder.
    let upload = json!({ "documents": [{ "doc_id": "given.md", "text": "# Given\n" }] });
    assert_eq!(server.call("POST", "/api/v1/collections/default/documents", &upload).unwrap().0, 201);
    server.kill();
    // While it is down a file goes, another comes, and a file system is not mounted again.
    std::fs::remove_file(at("b.md")).unwrap();
    folder.write("docs/new.md", b"# New\n\nWritten meanwhile.\n");
    std::fs::rename(at("mnt"), folder.path().join("disk")).unwrap();
    std::fs::create_dir(at("mnt")).unwrap();
    let mut server = Server::start(&folder, &["--watch", "docs"]);
    let known = ["c.md", "given.md", "mnt/f.md", "new.md", "章/d.md", "章/e.md"];
    wait_for_documents(&server, &known);
    // The folder goes as a whole, and another comes in its place: that is seen without an event.
    std::fs::rename(at(""), folder.path().join("away")).unwrap();
    std::fs::rename(folder.path().join("disk"), folder.path().join("away/mnt/disk")).unwrap();
    std::fs::create_dir(at("")).unwrap();
    folder.write("docs/other.md", b"# Other\n");
    let all = ["c.md", "given.md", "mnt/f.md", "new.md", "other.md", "章/d.md", "章/e.md"];
    wait_for_documents(&server, &all);
    folder.write("docs/last.md", b"# Last\n");
    let all = [&all[..2], &["last.md"], &all[2..]].concat();
    wait_for_documents(&server, &all);
    server.kill();
    // That so many go has to be said.
    let server = Server::start(&folder, &["--watch", "docs", "--prune", "force"]);
    wait_for_documents(&server, &["given.md", "last.md", "other.md"]);
    drop(server);
    assert_eq!(folder.run(&["check"]).code, 0);
}

#[test]
fn a_chapter_of_a_course_that_the_command_indexed_is_reindexed() {
    let folder = Folder::new(&[("courses/basics/ch 1.md", "# One\n\nBefore.\n")]);
    let server = Server::start(&folder, &["--root", "courses"]);
    let index = ["index", "courses/basics", "-c", "course_basics", "--embedder", "none"];
    assert_eq!(folder.run(&index).lines()[0]["indexed"], 1);
    folder.write("courses/basics/ch 1.md", b"# One\n\nAfter.\n");
    let body = json!({ "temp_ref": "basics/ch 1.md" });
    let (status, begun) = server.call("POST", "/api/admin/kb/chapters/reindex", &body).unwrap();
    assert_eq!(status, 202, "{begun}");
    let job = format!("/api/v1/jobs/{}", begun["task_id"].as_str().unwrap());
    let ended = loop {
        let (_, job) = server.call("GET", &job, &Value::Null).unwrap();
        if !matches!(job["state"].as_str(), Some("queued" | "running")) {
            break job;
        }
    };
    assert_eq!((&ended["state"], &ended["answer"]["indexed"]), (&json!("succeeded"), &json!(1)), "{ended}");
    assert_eq!(folder.run(&["search", "after", "-c", "course_basics"]).lines()[0]["doc_id"], "ch 1.md");
}

#[test]
fn a_collection_stays_as_a_job_made_it_whatever_the_server_is_started_with() {
    let Some(models) = installed_models(&["static"]) else { return };
    let folder = Folder::new(&[("docs/a.md", "# A\n\nThe ferry leaves at nine.\n")]);
    link_models(&folder, &models);
    let server = Server::embedding(&folder, "static", &["--watch", "docs"]);
    let get = |path: &str| server.call("GET", path, &Value::Null).unwrap();
    let current = || {
        let (_, versions) = get("/api/v1/collections/default/versions");
        let all = versions["generations"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|version| version["state"] == "current")
    };
    let wait_for = |documents: u64| loop {
        if current().is_some_and(|version| version["documents"] == documents) {
            break;
        }
    };
    let finish = |job: Value| {
        let (_, job) = server.call("POST", "/api/v1/jobs", &job).unwrap();
        loop {
            let (_, now) = get(&format!("/api/v1/jobs/{}", job["id"]));
            match now["state"].as_str() {
                Some("queued" | "running") => {}
                state => break assert_eq!(state, Some("succeeded"), "{now}"),
            }
        }
    };
    let cut_by = || get("/api/v1/collections/default/configuration").1["current"]["max_size"].clone();
    wait_for(1);
    assert!(current().unwrap()["model"].is_object(), "{:?}", current());
    finish(json!({ "kind": "reindex", "collection": "default", "settings": { "max_size": 64 } }));
    finish(json!({ "kind": "migrate", "collection": "default", "embedder": "none" }));
    assert_eq!((current().unwrap()["model"].clone(), cut_by()), (Value::Null, json!(64)));
    // An upload, a change of the folder, and another job leave it so.
    let upload = json!({ "documents": [{ "doc_id": "given.md", "text": "# Given\n" }] });
    assert_eq!(server.call("POST", "/api/v1/collections/default/documents", &upload).unwrap().0, 201);
    assert_eq!(current().unwrap()["model"], Value::Null);
    wait_for(2);
    folder.write("docs/b.md", "# B\n\nThe second.\n".as_bytes());
    wait_for(3);
    assert_eq!((current().unwrap()["model"].clone(), cut_by()), (Value::Null, json!(64)));
    finish(json!({ "kind": "reindex", "collection": "default", "settings": { "max_size": 80 } }));
    assert_eq!((current().unwrap()["model"].clone(), cut_by()), (Value::Null, json!(80)));
}

#[test]
fn a_key_that_was_made_opens_a_server_whose_log_has_neither_it_nor_a_secret_of_a_client() {
    let folder = Folder::new(&[("a.md", "# A\n")]);
    let made = folder.run(&["key", "reader", "--keys", "keys.txt"]);
    let secret = made.stdout.trim().to_owned();
    assert!(made.code == 0 && secret.len() > 32, "{made:?}");
    let keys = folder.read("keys.txt");
    assert!(keys.contains("reader") && !keys.contains(&secret), "{keys}");
    let again = folder.run(&["key", "reader", "--keys", "keys.txt"]);
    assert_eq!((again.code, folder.read("keys.txt")), (2, keys), "a name is given once: {}", again.stderr);
    let line =
        ["serve", "--listen", "127.0.0.1:0", "--embedder", "none", "--keys", "keys.txt", "--log", "json"];
    let mut child = folder.command(&line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    while !first.contains("http://") {
        first.clear();
        assert!(errors.read_line(&mut first).unwrap() > 0, "it says where it listens");
    }
    let address = first.split_once("http://").unwrap().1.trim().to_owned();
    let token = concat!("ghp_", "9f3KqLz71mXcVb2NtRy8WsPd4HjGk6QaEu0T");
    let status = |key: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let head = format!("GET /api/v1/collections HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        write!(stream, "{head}Authorization: Bearer {key}\r\nX-Request-Id: {token}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse::<u16>().unwrap()
    };
    assert_eq!((status(&secret), status("chunkwright_0")), (200, 401));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut log = String::new();
    errors.read_to_string(&mut log).unwrap();
    assert!(log.contains("\"status\":200") && log.contains("\"status\":401"), "{log}");
    assert!(log.contains("reader") && !log.contains(&secret) && !log.contains(token), "{log}");
}

/// Kills a server in the middle of uploads, of runs that other processes write through it, of jobs that build and switch to
/// another generation, and of following a folder. So often by default; more by `CHUNKWRIGHT_KILLS`.
const KILLS: usize = 6;

#[test]
fn a_server_that_is_killed_loses_nothing_that_it_acknowledged() {
    #[expect(clippy::disallowed_methods, reason = "how long a test takes is chosen from outside")]
    let kills = std::env::var("CHUNKWRIGHT_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let folder = Folder::new(&[]);
    let path = "/api/v1/collections/default/documents";
    let acknowledged: Mutex<BTreeMap<String, String>> = Mutex::default();
    let keep = |doc_id: &str, text: &str| {
        acknowledged.lock().unwrap_or_else(PoisonError::into_inner).insert(doc_id.into(), text.into());
    };
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let watched = |round: usize| format!("docs/watched {round}.md");
    // So many that no run finds most of them gone, however many runs were killed before it.
    let files = 3 * kills;
    for round in 0..files {
        folder.write(&watched(round), format!("# Watched {round}\n").as_bytes());
    }
    for round in 0..kills {
        // What goes and comes while the server is down is seen by the next.
        std::fs::remove_file(folder.path().join(watched(round))).unwrap();
        folder.write(&watched(round + files), format!("# Watched {}\n", round + files).as_bytes());
        let mut server = Server::start(&folder, &["--watch", "docs"]);
        let address = server.address.clone();
        let done = AtomicUsize::new(0);
        // How much is acknowledged before the kill differs from round to round.
        let enough = 1 + round * 7 % 12;
        thread::scope(|scope| {
            for uploader in 0..2 {
                let (counted, address, keep) = (&done, &address, &keep);
                scope.spawn(move || {
                    for number in 0.. {
                        let doc_id = format!("{round}/{uploader}/{number}.md");
                        let text = format!(
                            "# Note {doc_id}\n\n{}",
                            "Words of a note. ".repeat(40 * (1 + number % 3))
                        );
                        let body = json!({ "documents": [{ "doc_id": doc_id, "text": text }] });
                        match call(address, "POST", path, &body) {
                            Ok((201, _)) => keep(&doc_id, &text),
                            Ok((status, answer)) => panic!("{status} {answer}"),
                            Err(_) => break,
                        }
                        counted.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            scope.spawn(|| {
                // Every job builds a generation of other chunks and switches to it.
                for number in 0.. {
                    let max_size = [64, 96, 128][(round + number) % 3];
                    let job = json!({ "kind": "reindex", "collection": "default", "settings": { "max_size": max_size } });
                    if call(&address, "POST", "/api/v1/jobs", &job).is_err() {
                        break;
                    }
                    done.fetch_add(1, Ordering::SeqCst);
                    if number == 3 {
                        break;
                    }
                }
            });
            scope.spawn(|| {
                let doc_id = format!("{round}/piped.md");
                let text = format!("# Piped {round}\n\nWritten through the owner.\n");
                let line = ["index", "-", "--stdin-filename", &doc_id, "--embedder", "none", "-q"];
                if folder.run_with_input(&line, text.as_bytes()).code == 0 {
                    keep(&doc_id, &text);
                }
            });
            while done.load(Ordering::SeqCst) < enough {
                thread::yield_now();
            }
            server.kill();
        });
    }
    let server = Server::start(&folder, &["--watch", "docs"]);
    // Jobs that the dead servers left are taken up, and end.
    loop {
        let (_, answer) = server.call("GET", "/api/v1/jobs?limit=1000", &Value::Null).unwrap();
        let jobs = answer["jobs"].as_array().cloned().unwrap_or_default();
        let is_open = |job: &Value| matches!(job["state"].as_str(), Some("queued" | "running"));
        if !jobs.iter().any(is_open) {
            for job in jobs {
                *ends.entry(job["state"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
                assert_ne!(job["state"], "failed", "{job}");
            }
            break;
        }
        thread::yield_now();
    }
    let last: BTreeSet<String> =
        (kills..kills + files).map(|round| watched(round).replace("docs/", "")).collect();
    loop {
        let path = "/api/v1/collections/default/documents?source=watched*&limit=1000";
        let (_, answer) = server.call("GET", path, &Value::Null).unwrap();
        let ids = answer["documents"].as_array().into_iter().flatten();
        if ids.filter_map(|info| info["doc_id"].as_str().map(str::to_owned)).collect::<BTreeSet<_>>() == last
        {
            break;
        }
    }
    drop(server);
    let acknowledged = acknowledged.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{} kills, {} documents acknowledged, jobs {ends:?}", kills, acknowledged.len());
    assert!(acknowledged.len() >= kills);
    assert_eq!(folder.run(&["check"]).code, 0);
    for (doc_id, text) in &acknowledged {
        let fetched = folder.run(&["fetch", doc_id, "-f", "raw"]);
        assert_eq!((fetched.code, &fetched.stdout), (0, text), "{doc_id}");
    }
    // A kill between a switch and what it makes room for leaves a generation more; the next switch removes it.
    assert_eq!(folder.run(&["index", "docs", "--embedder", "none", "--max-size", "200"]).code, 0);
    let versions = folder.run(&["versions"]).lines();
    let old = versions.iter().filter(|version| version["state"] == "old").count();
    assert_eq!(old, 1, "{versions:?}");
    // Nothing is doubled: chunks of a document are numbered once, and ids are unique.
    let chunks = folder.run(&["export", "--records-only"]).lines();
    let mut seen = BTreeSet::new();
    for chunk in &chunks {
        let key = (chunk["doc_id"].to_string(), chunk["chunk_index"].as_u64());
        assert!(seen.insert((key, String::new())), "{chunk}");
        assert!(seen.insert(((chunk["chunk_id"].to_string(), None), "id".into())), "{chunk}");
    }
}
