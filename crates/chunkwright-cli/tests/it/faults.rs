//! Signals, too little memory, a system that cannot watch.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
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

pub(crate) fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), process.to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Names in the folder of files that were being written.
fn half_written(folder: &Folder) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path());
    entries
        .filter(|path| path.file_name().unwrap().as_encoded_bytes().starts_with(b".chunkwright-"))
        .collect()
}

/// Waits until a process reads its input, which it does once the file of its results is begun: a pipe holds less than this.
fn wait_for_results(child: &mut Child) -> ChildStdin {
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all("\n".repeat(1 << 17).as_bytes()).unwrap();
    stdin
}

/// The exit status and what was said at the end.
fn ended(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said.lines().last().unwrap_or_default().to_owned())
}

const SIGNALS: [(&str, i32); 2] = [("TERM", 143), ("INT", 130)];

#[test]
fn a_run_that_is_told_to_stop_says_what_is_kept_and_the_next_does_the_rest() {
    for (name, status) in SIGNALS {
        let folder = Folder::new(&[]);
        // More than go through at a time, the last of which is never embedded.
        for n in 0..130 {
            folder.write(
                &format!("docs/{n:03}.md"),
                format!("# Title {n}\n\nWords of document {n}.\n").as_bytes(),
            );
        }
        folder.write("docs/999.md", b"# Last\n\nThis one stays unanswered.\n");
        folder.write("report.json", b"of before");
        let (url, asked) = silent();
        configure(&folder, &url);
        let mut command = folder.command(&[INDEX, &["-o", "report.json", "--force"]].concat());
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        asked.recv().unwrap();
        signal(child.id(), name);
        let said = "interrupted: 128 of 131 files were indexed and are kept, with 128 vectors; run the same command again to index the rest";
        assert_eq!(ended(child), (Some(status), said.to_owned()), "{name}");
        assert_eq!(folder.read("report.json"), "of before");
        configure(&folder, &services::serve());
        let report: Value = folder.run(INDEX).lines().remove(0);
        assert_eq!((&report["unchanged"], &report["indexed"]), (&128.into(), &3.into()), "{name}");
        assert_eq!(folder.run(&["check"]).code, 0);
    }
}

#[test]
fn results_are_as_they_were_when_a_signal_comes() {
    for (name, status) in SIGNALS {
        for times in [1, 2] {
            let folder = Folder::new(&[("old.jsonl", "old\n")]);
            for (output, state) in [("old.jsonl", "is as it was"), ("new.jsonl", "was not written")] {
                let mut command = folder.command(&["chunk", "-", "-o", output, "--force"]);
                let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
                let mut child = command.spawn().unwrap();
                // It waits for an end that never comes.
                let stdin = wait_for_results(&mut child);
                for _ in 0..times {
                    signal(child.id(), name);
                }
                let said = format!("interrupted: `{output}` {state}");
                assert_eq!(ended(child), (Some(status), said), "{name}");
                drop(stdin);
                assert_eq!(half_written(&folder), Vec::<PathBuf>::new());
            }
            assert_eq!(folder.read("old.jsonl"), "old\n");
            assert!(!folder.path().join("new.jsonl").exists());
        }
    }
}

#[test]
fn a_watcher_and_a_search_that_are_told_to_stop_leave_a_store_without_a_log() {
    for (name, status) in SIGNALS {
        let folder = Folder::new(&[("docs/a.md", "# A\n\nThe first words.\n")]);
        configure(&folder, &services::serve());
        let mut watcher = folder.command(&[INDEX, &["--watch", "--store", "store"]].concat());
        let mut child = watcher.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut runs = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(runs.next().unwrap().unwrap().contains("\"indexed\":1"));
        signal(child.id(), name);
        let said = "interrupted: what was indexed is kept; run the same command again to keep watching";
        let (code, last) = ended(child);
        assert!(last == said || last.starts_with("interrupted: 1 of 1 file"), "{last}");
        assert_eq!(code, Some(status));
        let log = folder.path().join("store/chunkwright.sqlite3-wal");
        assert!(
            !log.exists(),
            "{:?}",
            fs::read_dir(folder.path().join("store")).unwrap().collect::<Vec<_>>()
        );
        let (url, asked) = silent();
        configure(&folder, &url);
        let query =
            ["search", "unanswered", "--store", "store", "--embedder", "ours", "--config", "services.toml"];
        let child = folder.command(&query).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        asked.recv().unwrap();
        signal(child.id(), name);
        assert_eq!(ended(child), (Some(status), "interrupted: nothing was changed".to_owned()));
    }
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let folder = Folder::new(&[]);
    let ignoring = ["/bin/sh", "-c", "trap '' INT; exec \"$@\"", "sh"];
    let mut program = folder.command_under(&ignoring, &["chunk", "-", "-o", "new.jsonl"]);
    program.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut stdin = wait_for_results(&mut child);
    signal(child.id(), "INT");
    stdin.write_all(b"Words.\n").unwrap();
    drop(stdin);
    assert_eq!(ended(child), (Some(0), String::new()));
    assert!(folder.read("new.jsonl").contains("Words."));
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
        let limited = ["/bin/sh", "-c", &format!("ulimit -v {limit} && exec \"$@\""), "sh"];
        let ended = folder.command_under(&limited, INDEX).output().unwrap();
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
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &format!("inject={fault}")];
    let index = ["index", "docs", "--embedder", "none", "--watch", "--store", "store"];
    let mut traced = folder.command_under(&strace, &index);
    traced.env("PATH", std::env::var_os("PATH").unwrap_or_default());
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

#[test]
fn a_second_writer_says_whom_it_waits_for_and_goes_on_or_gives_up() {
    let folder = Folder::new(&[("docs/a.md", "# A\n\nThe first words.\n")]);
    folder.run(INDEX_ONE).lines();
    // It holds the store and waits for the end of its input.
    let mut first = folder.command(&["index", "-", "--stdin-filename", "b.md", "--embedder", "none"]);
    let mut first = first.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let second = || {
        let mut child =
            folder.command(INDEX_ONE).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let said = lines.next().transpose().unwrap().unwrap_or_default();
        (said, lines, child)
    };
    // Until the first has the lock, others need not wait.
    let (waiting, lines, mut child) = loop {
        let (said, lines, mut child) = second();
        if said.starts_with("waiting for ") {
            break (said, lines, child);
        }
        child.wait().unwrap();
    };
    let expected = format!("waiting for process {}, which is writing to the store at", first.id());
    assert!(waiting.starts_with(&expected), "{waiting}");
    let (_, mut given_up, mut other) = second();
    signal(other.id(), "INT");
    assert_eq!(other.wait().unwrap().code(), Some(130));
    assert!(given_up.next().unwrap().unwrap().starts_with("interrupted: "));
    first.stdin.take().unwrap().write_all(b"# B\n\nOther words.\n").unwrap();
    assert_eq!(ended(first).0, Some(0));
    assert_eq!(child.wait().unwrap().code(), Some(0), "{:?}", lines.collect::<Vec<_>>());
    assert_eq!(folder.run(&["search", "words", "--mode", "lexical"]).lines().len(), 2);
}

/// Indexes a folder without a model.
const INDEX_ONE: &[&str] = &["index", "docs", "--embedder", "none", "--rehash"];
