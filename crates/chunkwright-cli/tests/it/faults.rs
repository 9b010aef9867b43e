//! Signals, too little memory, a system that cannot watch.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::cli::{Folder, guide};
use crate::services;
use crate::strace;

const INDEX: &[&str] = &["index", "docs", "--embedder", "ours", "--config", "services.toml"];

fn configure(folder: &Folder, url: &str) {
    let table = format!(
        "[embedders.ours]\nspec = \"openai:letters\"\nurl = \"{url}\"\nkey_file = \"ours.key\"\nretries = 0\ndimension = 26\n"
    );
    folder.write("services.toml", table.as_bytes());
    folder.write("ours.key", b"sk-right\n");
}

/// A service that answers as ours does, but for a text with `unanswered` in it, of which it tells and then
/// keeps silent.
fn silent() -> (String, Receiver<()>) {
    let right = services::serve();
    let right = right.strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut request = Vec::new();
            let mut part = [0; 4096];
            loop {
                let length = client.read(&mut part).unwrap_or(0);
                request.extend(&part[..length]);
                let text = String::from_utf8_lossy(&request);
                let head = text.find("\r\n\r\n").map(|end| end + 4);
                let wanted = text
                    .to_lowercase()
                    .split_once("content-length: ")
                    .and_then(|(_, rest)| rest.split("\r\n").next()?.parse::<usize>().ok());
                let is_whole = head.zip(wanted).is_some_and(|(head, wanted)| request.len() >= head + wanted);
                if length == 0 || is_whole {
                    break;
                }
            }
            if String::from_utf8_lossy(&request).contains("unanswered") {
                let _ = sender.send(());
                std::mem::forget(client);
                continue;
            }
            let mut server = std::net::TcpStream::connect(&right).unwrap();
            server.write_all(&request).unwrap();
            let mut answer = Vec::new();
            server.read_to_end(&mut answer).unwrap();
            let _ = client.write_all(&answer);
        }
    });
    (url, receiver)
}

fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), process.to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_run_that_is_told_to_stop_stops_and_the_next_does_not_redo_what_is_done() {
    for name in ["TERM", "INT"] {
        let folder = Folder::new(&[]);
        // More than go through at a time, the last of which is never embedded.
        for n in 0..130 {
            folder.write(
                &format!("docs/{n:03}.md"),
                format!("# Title {n}\n\nWords of document {n}.\n").as_bytes(),
            );
        }
        folder.write("docs/999.md", b"# Last\n\nThis one stays unanswered.\n");
        let (url, asked) = silent();
        configure(&folder, &url);
        let mut child = folder.command(INDEX).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        asked.recv().unwrap();
        signal(child.id(), name);
        assert_eq!(child.wait().unwrap().code(), None, "{name}");
        configure(&folder, &services::serve());
        let report: Value = folder.run(INDEX).lines().remove(0);
        assert_eq!((&report["unchanged"], &report["indexed"]), (&128.into(), &3.into()), "{name}");
        assert_eq!(folder.run(&["check"]).code, 0);
    }
}

#[test]
fn too_little_memory_ends_a_run_and_harms_no_store() {
    let folder = Folder::new(&[("docs/a.md", "# A\n\nWords that stay.\n")]);
    configure(&folder, &services::serve());
    folder.run(INDEX).lines();
    for n in 0..40 {
        folder.write(&format!("docs/{n}.md"), guide(20).as_bytes());
    }
    let mut failed = 0;
    // KiB of address space; the program alone needs some 100 MiB.
    for limit in (40_000..400_000).step_by(70_000) {
        let program = folder.command(INDEX);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {limit} && exec \"$@\""), "sh"]).arg(program.get_program());
        shell.args(program.get_args()).current_dir(folder.path()).env_clear();
        shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ended = shell.output().unwrap();
        failed += usize::from(!ended.status.success());
        assert_eq!(folder.run(&["check"]).code, 0, "{limit}");
        assert_eq!(
            folder.run(&["search", "stay", "--mode", "lexical"]).lines()[0]["doc_id"],
            "a.md",
            "{limit}"
        );
    }
    assert!(failed > 0);
    let report: Value = folder.run(INDEX).lines().remove(0);
    assert_eq!(report["indexed"].as_u64().unwrap() + report["unchanged"].as_u64().unwrap(), 41);
}

/// Lines of a watcher that is not let watch.
fn watch(folder: &Folder, fault: &str) -> Child {
    let program = folder.command(&["index", "docs", "--embedder", "none", "--watch", "--store", "store"]);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e"]).arg(format!("inject={fault}"));
    traced.arg(program.get_program()).args(program.get_args()).current_dir(folder.path());
    traced.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    traced.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    traced.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn where_the_limit_of_watches_is_reached_files_are_looked_at_all_the_same() {
    if !strace::is_there() {
        return;
    }
    for fault in ["inotify_add_watch:error=ENOSPC", "inotify_init1:error=EMFILE"] {
        let folder = Folder::new(&[("docs/a.md", "# A\n\nThe first words.\n")]);
        let mut child = watch(&folder, fault);
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = said.next().unwrap().unwrap();
        assert!(first.starts_with("these paths cannot be watched ("), "{fault}: {first}");
        let mut runs = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut indexed =
            || serde_json::from_str::<Value>(&runs.next().unwrap().unwrap()).unwrap()["indexed"].clone();
        assert_eq!(indexed(), 1);
        folder.write("docs/b.md", b"# B\n\nThe second words.\n");
        assert_eq!(indexed(), 1);
        // What traces ends with what it traces, and not the other way round.
        signal(folder.read("store/lock").trim().parse().unwrap(), "TERM");
        child.wait().unwrap();
    }
}
