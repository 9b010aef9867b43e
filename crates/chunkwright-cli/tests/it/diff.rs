//! `chunkwright diff`

use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::{Folder, Run, guide};

/// The summary of a comparison of two files or folders.
fn summary(folder: &Folder, old: &str, new: &str) -> Value {
    let mut lines = folder.run(&["diff", old, new]).lines();
    let summary = lines.pop().unwrap();
    assert_eq!(summary["kind"], "summary");
    assert!(lines.iter().all(|change| change["kind"] != "summary"));
    summary
}

fn counts(summary: &Value) -> [u64; 6] {
    ["kept", "moved", "renamed", "changed", "added", "removed"].map(|kind| summary[kind].as_u64().unwrap())
}

#[test]
fn a_line_inserted_at_the_top_keeps_every_id() {
    let source = guide(8);
    let folder = Folder::new(&[("old.md", &source), ("new.md", &format!("\n{source}"))]);
    let summary = summary(&folder, "old.md", "new.md");
    let chunks = summary["old_chunks"].as_u64().unwrap();
    assert!(chunks > 8);
    assert_eq!(counts(&summary), [0, chunks, 0, 0, 0, 0]);
    assert_eq!(summary["tokens_to_embed"], 0);
}

#[test]
fn an_edit_of_one_paragraph_changes_one_chunk() {
    let source = guide(8);
    let folder = Folder::new(&[("old.md", &source), ("new.md", &source.replace("word3210 ", "edited "))]);
    let summary = summary(&folder, "old.md", "new.md");
    let chunks = summary["old_chunks"].as_u64().unwrap();
    assert_eq!(counts(&summary), [chunks - 1, 0, 0, 1, 0, 0]);
    assert_eq!(summary["texts_to_embed"], 1);
}

#[test]
fn equal_files_of_different_names_are_kept_whole() {
    let folder = Folder::new(&[("a.md", &guide(2)), ("b.md", &guide(2))]);
    let summary = summary(&folder, "a.md", "b.md");
    assert_eq!(summary["kept"], summary["new_chunks"]);
}

#[test]
fn folders_are_compared_by_paths_in_them() {
    let folder = Folder::new(&[
        ("old/same.md", "# Same\n\nText.\n"),
        ("old/gone.md", "# Gone\n\nText of it.\n"),
        ("new/same.md", "# Same\n\nText.\n"),
        ("new/sub/moved.md", "# Gone\n\nText of it.\n"),
    ]);
    let summary = summary(&folder, "old", "new");
    assert_eq!(counts(&summary), [1, 0, 1, 0, 0, 0]);
    assert_eq!(summary["tokens_to_embed"], 0, "the text is known under another name");
    let run = folder.run(&["diff", "old", "new/same.md"]);
    run.fails("error: one of `old` and `new/same.md` is a folder; give two files or two folders");
    let run = folder.run(&["diff", "nowhere", "new"]);
    run.fails("error: `nowhere` does not exist; give a file, a folder, or `-` for standard input");
}

#[test]
fn json_is_one_document_and_text_is_for_people() {
    let folder = Folder::new(&[("old.md", "# A\n\nOne.\n"), ("new.md", "# A\n\nTwo.\n")]);
    let json: Value =
        serde_json::from_str(&folder.run(&["diff", "old.md", "new.md", "-f", "json"]).success()).unwrap();
    assert_eq!((&json["changes"][0]["kind"], &json["summary"]["changed"]), (&json!("changed"), &json!(1)));
    let text = folder.run(&["diff", "old.md", "new.md", "-f", "text", "--tokenizer", "words"]).success();
    let expected = "\
change   lines before  lines now  tokens  document  path
changed           1-3        1-3       2  new.md    H1 A

1 chunk before, 1 now: 0 kept, 0 moved, 1 changed, 0 added, 0 removed
2 tokens in 1 text have to be embedded again, of 2
";
    assert_eq!(text, expected);
}

#[test]
fn yesterdays_chunks_are_brought_up_to_date_by_operations() {
    let folder = Folder::new(&[("docs/a.md", &guide(3)), ("docs/b.md", "# B\n\nOne.\n")]);
    folder.run(&["chunk", "docs", "-o", "yesterday.jsonl"]).success();
    folder.write("docs/a.md", guide(3).replace("word1 ", "edited ").as_bytes());
    std::fs::rename(folder.path().join("docs/b.md"), folder.path().join("docs/c.md")).unwrap();
    let operations = folder.run(&["diff", "yesterday.jsonl", "docs", "--operations"]).lines();
    let kinds: Vec<&str> = operations.iter().map(|operation| operation["op"].as_str().unwrap()).collect();
    let upserts = kinds.iter().filter(|&&kind| kind == "upsert").count();
    assert!(upserts > 0 && kinds.iter().filter(|&&kind| kind == "delete").count() == upserts, "{kinds:?}");
    let renamed = operations.iter().find(|operation| operation["op"] == "rename").unwrap();
    assert_eq!(renamed["record"]["doc_id"], "c.md");
    assert_eq!(folder.run(&["diff", "docs", "docs", "--operations"]).success(), "");
    // One file of those that were cut yesterday.
    let of_one = folder.run(&["diff", "yesterday.jsonl", "docs/a.md"]).lines();
    assert!(of_one[..of_one.len() - 1].iter().all(|change| change["doc_id"] == "a.md"));
}

/// The kinds of operations of a run that succeeded.
fn operations(run: Run) -> Vec<String> {
    run.lines().iter().map(|operation| operation["op"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_empty_side_has_no_chunk_so_that_every_chunk_of_the_other_is_an_operation() {
    let folder = Folder::new(&[("docs/a.md", &guide(2)), ("docs/зима.md", "# Зима\n\nСнег.\n")]);
    let chunks = folder.run(&["chunk", "docs", "-o", "base.jsonl"]).success();
    folder.run(&["chunk", "docs", "-o", "base.parquet"]).success();
    assert_eq!(chunks, "");
    let number = folder.read("base.jsonl").lines().count();
    for name in ["empty.jsonl", "empty.ndjson", "empty.parquet", "EMPTY.CSV", "blank.jsonl"] {
        folder.write(name, if name.starts_with("blank") { b"\n" } else { b"" });
    }
    for empty in ["empty.jsonl", "empty.ndjson", "empty.parquet", "EMPTY.CSV", "blank.jsonl", "/dev/null"] {
        for base in ["base.jsonl", "base.parquet", "docs"] {
            let there = operations(folder.run(&["diff", empty, base, "--operations"]));
            assert_eq!(there, vec!["upsert"; number], "{empty} {base}");
            let back = operations(folder.run(&["diff", base, empty, "--operations"]));
            assert_eq!(back, vec!["delete"; number], "{base} {empty}");
        }
        let one = summary(&folder, empty, "docs/зима.md");
        assert_eq!(counts(&one), [0, 0, 0, 0, 1, 0], "{empty}");
        assert_eq!(folder.run(&["diff", empty, "/dev/null", "--operations"]).success(), "", "{empty}");
    }
    // A document without text is no state.
    folder.write("empty.md", b"");
    assert_eq!(counts(&summary(&folder, "empty.md", "docs/зима.md")), [0, 0, 0, 0, 1, 0]);
}

#[test]
fn a_state_is_brought_up_to_date_and_never_before_its_operations_are_written_whole() {
    let folder =
        Folder::new(&[("docs/a.md", &guide(3)), ("docs/b.md", "# B\n\nOne\u{2028}two\u{85}three.\n")]);
    for state in ["state.jsonl", "state.parquet", "docs/state.jsonl"] {
        let sync = |path: &str| folder.run(&["diff", "--state", state, path]);
        let first = operations(sync("docs"));
        assert!(first.len() > 3 && first.iter().all(|kind| kind == "upsert"), "{state} {first:?}");
        assert_eq!(sync("docs").success(), "", "{state}");
        folder.write("docs/b.md", b"# B\n\nEdited.\n");
        let before = std::fs::read(folder.path().join(state)).unwrap();
        let line = ["diff", "--state", state, "docs"];
        // A full disk, a reader that is gone, a standard output that is closed, a file that cannot be written.
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert_eq!(folder.command(&line).stdout(full).status().unwrap().code(), Some(2));
        let mut child = folder.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        child.wait().unwrap();
        let closed = ["sh", "-c", "exec \"$0\" \"$@\" >&-"];
        let closed = folder.command_under(&closed, &line).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(closed.status.code(), Some(2));
        let said = String::from_utf8_lossy(&closed.stderr).into_owned();
        assert!(said.contains("standard output is closed"), "{said}");
        assert_eq!(folder.run(&["diff", "--state", state, "docs", "-o", "/dev/full"]).code, 2);
        assert_eq!(std::fs::read(folder.path().join(state)).unwrap(), before, "{state}");
        assert_eq!(operations(sync("docs")), ["upsert", "delete"], "{state}");
        // One document of the state, and the others stay in it.
        folder.write("docs/b.md", b"# B\n\nOnce more.\n");
        assert_eq!(operations(sync("docs/b.md")), ["upsert", "delete"], "{state}");
        assert_eq!(sync("docs").success(), "", "{state}");
        // Who wants no operations says so.
        std::fs::remove_file(folder.path().join("docs/a.md")).unwrap();
        assert!(folder.command(&line).stdout(Stdio::null()).status().unwrap().success());
        assert_eq!(sync("docs").success(), "", "{state}");
        std::fs::remove_file(folder.path().join(state)).unwrap();
        folder.write("docs/a.md", guide(3).as_bytes());
        folder.write("docs/b.md", b"# B\n\nOne.\n");
    }
}

#[test]
fn a_state_that_is_something_else_is_refused_and_stays() {
    let folder = Folder::new(&[("docs/a.md", "# A\n\nOne.\n"), ("notes.md", "# Notes\n")]);
    let refused = |line: &[&str], sentence: &str| {
        let run = folder.run(line);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{line:?} {}", run.stderr);
        assert!(run.stderr.contains(sentence), "{line:?} {}", run.stderr);
    };
    refused(&["diff", "--state", "notes.md", "docs"], "it holds no chunks");
    refused(&["diff", "--state", "/dev/null", "docs"], "name a regular file");
    refused(&["diff", "--state", "-", "docs"], "name a regular file");
    refused(&["diff", "--state", "s.jsonl", "docs", "docs"], "leave out `docs` or `--state`");
    refused(&["diff", "docs"], "give the new one too");
    refused(&["diff", "--state", "s.jsonl", "nowhere"], "`nowhere` does not exist");
    assert_eq!(folder.read("notes.md"), "# Notes\n");
    assert!(!folder.path().join("s.jsonl").exists());
}
