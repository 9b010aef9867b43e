//! `chunkwright diff`

use serde_json::{Value, json};

use crate::cli::{Folder, guide};

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
