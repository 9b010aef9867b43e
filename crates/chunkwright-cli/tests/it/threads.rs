//! Every command that computes ends, over more chunks with vectors than one thread sketches, on one thread and on two.

use std::fmt::Write as _;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::cli::Folder;
use crate::services;
use crate::stride::one_in;

/// Chunks of the manual.
const PARTS: usize = 8_600;

/// Ends a command that does not.
const WATCHDOG: Duration = Duration::from_mins(5);

/// A manual whose every part is a chunk, questions about it, and an embedder.
fn manual() -> Folder {
    let mut text = String::from("# Manual\n");
    let mut questions = String::new();
    for part in 0..PARTS {
        let sentence = format!("The lever {part} of the apple press lifts pear number {}.", part * 7 % 1000);
        let _ = write!(text, "\n## Part {part}\n\n{sentence}\n");
        if part % 500 == 0 {
            let _ = writeln!(
                questions,
                r#"{{"question":"what lifts lever {part}","doc_id":"m.md","excerpt":"{sentence}"}}"#
            );
        }
    }
    let table = format!(
        "embedder = \"ours\"\nmax_size = 32\n[embedders.ours]\nspec = \"openai:letters\"\nurl = \"{}\"\nkey_file = \"ours.key\"\nretries = 0\n",
        services::serve()
    );
    let changed = text.replacen("lifts", "moves", 1);
    Folder::new(&[
        ("c.toml", &table),
        ("ours.key", "sk-right\n"),
        ("q.jsonl", &questions),
        ("docs/m.md", &text),
        ("docs/n.md", "# Notes\n\nThe press has a lever.\n"),
        ("new/m.md", &changed),
    ])
}

/// The results of a command; a failure if it does not end.
fn ends(folder: &Folder, args: &[&str]) -> String {
    let mut command = folder.command(&[args, &["--config", "c.toml", "-q"]].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (id, (sender, ended)) = (child.id(), mpsc::channel());
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(WATCHDOG) else {
        let _ = std::process::Command::new("kill").arg(id.to_string()).status();
        panic!("`{}` does not end", args.join(" "));
    };
    let output = output.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_store_is_filled_and_read_on_any_number_of_threads() {
    let folder = manual();
    for threads in ["1", "2"] {
        let store = format!("store-{threads}");
        let run = |args: &[&str]| ends(&folder, &[args, &["--store", &store]].concat());
        let index = ["index", "docs", "-j", threads];
        let report: Value = serde_json::from_str(run(&index).lines().next().unwrap()).unwrap();
        assert!(report["embedded"].as_u64().unwrap() >= PARTS as u64, "{report}");
        let hits = run(&["search", "lever 77"]);
        let hit: Value = serde_json::from_str(hits.lines().next().unwrap()).unwrap();
        let (id, copy) = (hit["chunk_id"].as_str().unwrap(), format!("copy-{threads}"));
        for args in [
            &["search", "lever 77", "--explain", id][..],
            &["search", "lever", "--filter", "token_count>3"],
            &["chunks", "--filter", "token_count>3"],
            &["stats", "-c", "default"],
            &["status", "--documents"],
            &["related", "m.md"],
            &["check"],
            &["export", "-o", "out.jsonl", "--force"],
            &["backup", &copy],
        ] {
            run(args);
        }
        folder.write("docs/n.md", format!("# Notes {threads}\n\nThe press has a lever.\n").as_bytes());
        run(&index);
        run(&["search", "notes on the press"]);
    }
}

#[test]
fn documents_are_cut_and_compared_on_any_number_of_threads() {
    let folder = manual();
    for threads in ["1", "2"] {
        for args in
            [&["chunk", "docs"][..], &["outline", "docs"], &["stats", "docs"], &["diff", "docs", "new"]]
        {
            ends(&folder, &[args, &["-j", threads]].concat());
        }
    }
}

#[test]
fn questions_are_asked_on_any_number_of_threads() {
    let folder = manual();
    for threads in ["1", "2"] {
        ends(&folder, &["eval", "q.jsonl", "docs", "--mode", "dense,lexical,hybrid", "-j", threads]);
    }
}

#[test]
fn ways_of_cutting_are_tried_on_any_number_of_threads() {
    let folder = manual();
    // One thread is where a command would wait for itself.
    for threads in ["1", "2"].into_iter().step_by(one_in(2)) {
        let tune = ["tune", "q.jsonl", "docs", "--preset", "auto", "--mode", "hybrid", "--sizes", "32"];
        ends(&folder, &[&tune[..], &["-j", threads]].concat());
    }
}
