//! Read-only stores: a replica on a read-only file system, or a store of another user.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::cli::Folder;
use crate::serve::Server;

/// How a program runs that may not write to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The folder is mounted read-only.
    Mount,
    /// The folder belongs to another user, and the program is not root.
    User,
}

/// A collection of two documents, in a folder `replica` that others may read.
fn replica() -> Folder {
    let folder =
        Folder::new(&[("docs/a.md", "# A\n\nPears are green.\n"), ("docs/b.md", "# Б\n\nГруши зелёные.\n")]);
    assert_eq!(folder.run(&["index", "docs", "--embedder", "none", "--store", "replica"]).code, 0);
    for path in [folder.path(), folder.home()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    readable(&folder.path().join("replica"));
    folder
}

fn readable(folder: &Path) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let mode = if entry.path().is_dir() { 0o555 } else { 0o444 };
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// The ways that this machine allows: to mount takes root and its rights; to be another user than root, a program that others can run.
fn ways() -> Vec<Way> {
    let works = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    let may_mount = is_root() && works(Command::new("unshare").args(["--mount", "true"]));
    let may_change =
        !is_root() || works(as_nobody(Command::new(env!("CARGO_BIN_EXE_chunkwright")).arg("--version")));
    let ways = [(Way::Mount, may_mount), (Way::User, may_change)];
    let ways: Vec<Way> =
        ways.into_iter().filter_map(|(way, is_possible)| is_possible.then_some(way)).collect();
    if ways.is_empty() {
        println!("not checked: nothing can be mounted here, and the program cannot be run as another user");
    }
    ways
}

fn as_nobody(command: &mut Command) -> &mut Command {
    std::os::unix::process::CommandExt::uid(command, 65_534)
}

/// The program where it may only read the store.
fn command(folder: &Folder, way: Way, line: &[&str]) -> Command {
    let mut command = match way {
        Way::Mount => {
            let script =
                r#"mount --bind replica replica && mount -o remount,bind,ro replica && exec "$0" "$@""#;
            let mut command = folder.command_under(&["unshare", "--mount", "sh", "-c", script], line);
            command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
            command
        }
        Way::User => folder.command(line),
    };
    if way == Way::User && is_root() {
        as_nobody(&mut command);
    }
    command
}

fn serve(folder: &Folder, way: Way) -> Server {
    let line =
        ["serve", "--listen", "127.0.0.1:0", "--embedder", "none", "--store", "replica", "--log-queries"];
    Server::of(command(folder, way, &line))
}

fn found(server: &Server, query: &str) -> Vec<String> {
    let (status, answer) = server.call("POST", "/api/v1/search", &json!({ "query": query })).unwrap();
    assert_eq!(status, 200, "{answer}");
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["doc_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_store_that_cannot_be_written_is_served_and_refuses_every_change() {
    for way in ways() {
        let folder = replica();
        let server = serve(&folder, way);
        let get = |path: &str| server.call("GET", path, &Value::Null).unwrap();
        assert_eq!(get("/ready"), (200, json!({ "status": "ready", "read_only": true })), "{way:?}");
        assert_eq!(
            (found(&server, "pears"), found(&server, "груши")),
            (vec!["a.md".into()], vec!["b.md".into()])
        );
        for path in [
            "",
            "/documents",
            "/documents/a.md",
            "/documents/a.md/outline",
            "/chunks",
            "/versions",
            "/runs",
            "/statistics",
            "/coverage",
            "/configuration",
            "/overlays",
            "/questions",
        ] {
            let (status, answer) = get(&format!("/api/v1/collections/default{path}"));
            assert_eq!(status, 200, "{way:?} {path}: {answer}");
        }
        assert_eq!(get("/api/v1/jobs"), (200, json!({ "jobs": [] })));
        // Every operation that needs more than to read, whatever it is called.
        let (_, document) = get("/api/openapi.json");
        let mut refused = 0;
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                if method == "get" || operation["x-scope"] == "read" {
                    continue;
                }
                let path = path
                    .replace("{collection}", "default")
                    .replace("{doc_id}", "a.md")
                    .replace("{chunk}", "a.md%230");
                let path = path.split('{').next().unwrap_or_default();
                let path = if path.ends_with('/') { format!("{path}1") } else { path.to_owned() };
                let (status, answer) = server.call(&method.to_uppercase(), &path, &json!({})).unwrap();
                assert_eq!(
                    (status, answer["code"].as_str()),
                    (403, Some("forbidden")),
                    "{way:?} {method} {path}: {answer}"
                );
                assert!(answer["detail"].as_str().unwrap().contains("can only be read here"), "{answer}");
                refused += 1;
            }
        }
        assert!(refused > 10, "{refused}");
        let status = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "status", "arguments": { "format": "structured" } } });
        let (_, answer) = server.call("POST", "/mcp", &status).unwrap();
        assert!(answer.to_string().contains("read_only"), "{answer}");
    }
}

#[test]
fn a_replica_that_is_replaced_is_read_again() {
    for way in ways() {
        let folder = replica();
        let server = serve(&folder, way);
        assert_eq!(found(&server, "pears").len(), 1);
        // The next version is made elsewhere and takes the place of the file, as a program that synchronizes does it.
        folder.write("next/c.md", "# C\n\nPlums are blue.\n".as_bytes());
        let next = folder.run(&["index", "next", "--embedder", "none", "--store", "other"]);
        assert_eq!(next.code, 0, "{}", next.stderr);
        let file = folder.path().join("replica/chunkwright.sqlite3");
        fs::set_permissions(file.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        let new = file.with_extension("copy");
        fs::copy(folder.path().join("other/chunkwright.sqlite3"), &new).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o444)).unwrap();
        fs::rename(&new, &file).unwrap();
        assert_eq!(
            (found(&server, "plums"), found(&server, "pears")),
            (vec!["c.md".into()], Vec::new()),
            "{way:?}"
        );
    }
}

#[test]
fn a_replica_follows_a_writer_that_comes_and_goes_beside_it() {
    let folder = replica();
    let folder_of_store = folder.path().join("replica");
    if !ways().contains(&Way::Mount) {
        println!("not checked: nothing can be mounted here");
        return;
    }
    fs::set_permissions(&folder_of_store, fs::Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(&folder_of_store).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let reader = serve(&folder, Way::Mount);
    assert_eq!(found(&reader, "plums").len(), 0);
    for (name, text) in [("docs/c.md", "# C\n\nPlums are blue.\n"), ("docs/d.md", "# D\n\nMore plums.\n")] {
        folder.write(name, text.as_bytes());
        let writer = Server::of(folder.command(&[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--embedder",
            "none",
            "--store",
            "replica",
        ]));
        let before = found(&reader, "plums").len();
        assert_eq!(folder.run(&["index", "docs", "--embedder", "none", "--store", "replica"]).code, 0);
        assert_eq!(found(&reader, "plums").len(), before + 1, "beside a writer");
        drop(writer);
        assert_eq!(folder.run(&["index", "docs", "--embedder", "none", "--store", "replica"]).code, 0);
        assert_eq!(found(&reader, "plums").len(), before + 1, "after it");
    }
}

#[test]
fn what_a_read_only_store_cannot_do_is_said_at_the_start() {
    let Some(way) = ways().pop() else { return };
    let folder = replica();
    let line =
        ["serve", "--listen", "127.0.0.1:0", "--embedder", "none", "--store", "replica", "--watch", "docs"];
    let output = command(&folder, way, &line).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`--watch` changes the store") && said.contains("can only be read here"), "{said}");
    // Where there is no store and none can be made, that is what is said.
    let missing = [&line[..6], &["replica/none"]].concat();
    let output = command(&folder, way, &missing).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("replica/none"), "{output:?}");
}
