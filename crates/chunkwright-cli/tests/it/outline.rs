//! `chunkwright outline` and the summaries of `chunkwright chunk`

use serde_json::Value;

use crate::cli::{Folder, guide};

const SOURCE: &str = "#!/usr/bin/env python3\n\"\"\"Pages.\"\"\"\nimport sys\n\n\nclass Report:\n    def render(self):\n        \
\"\"\"Puts rows together.\n\n        At length.\n        \"\"\"\n        def inner():\n            pass\n        return 1\n";

#[test]
fn symbols_are_listed_with_their_lines_and_tokens() {
    let folder = Folder::new(&[("report", SOURCE)]);
    let rows = folder.run(&["outline", "report", "--tokenizer", "words"]).lines();
    let brief = |row: &Value| {
        format!(
            "{} {} {}-{} {}",
            row["kind"], row["title"], row["start_line"], row["end_line"], row["tokens"]
        )
    };
    let brief: Vec<String> = rows.iter().map(brief).collect();
    assert_eq!(brief[0].split(' ').next(), Some("\"document\""));
    assert_eq!((&rows[0]["language"], &rows[0]["told_by"]), (&"python".into(), &"#! line".into()));
    let titles: Vec<&str> = rows[1..].iter().map(|row| row["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Report", "render", "inner"]);
    assert_eq!(rows[2]["section_path"], serde_json::json!(["Report", "render"]));
    assert_eq!((&rows[2]["start_line"], &rows[2]["end_line"]), (&7.into(), &14.into()));
    let text = folder.run(&["outline", "report", "--format", "text"]).success();
    assert!(text.contains("python by its #! line") && text.contains("    method render"), "{text}");
}

#[test]
fn headings_are_listed_too() {
    let folder = Folder::new(&[("guide.md", &guide(3))]);
    let rows = folder.run(&["outline", "guide.md"]).lines();
    assert_eq!((&rows[0]["kind"], &rows[1]["kind"]), (&"document".into(), &"heading".into()));
}

#[test]
fn summaries_follow_the_chunks() {
    let folder = Folder::new(&[("report.py", SOURCE)]);
    let records = folder.run(&["chunk", "report.py", "--summaries"]).lines();
    let chunks = folder.run(&["chunk", "report.py"]).lines();
    assert_eq!(records[..chunks.len()], chunks[..]);
    let summaries: Vec<(&str, &str)> = records[chunks.len()..]
        .iter()
        .map(|record| (record["artifact"].as_str().unwrap(), record["text"].as_str().unwrap()))
        .collect();
    assert_eq!(
        summaries,
        [
            (
                "file_summary",
                "file report.py (python)\nPages.\nsymbols:\n- class Report\nimports:\nimport sys"
            ),
            ("class_summary", "class Report in report.py\nclass Report:\nmembers:\n- def render(self)"),
            ("function_summary", "method Report.render in report.py\ndef render(self):\nPuts rows together."),
        ]
    );
    for record in &records[chunks.len()..] {
        let (start, end) = (record["start_byte"].as_u64().unwrap(), record["end_byte"].as_u64().unwrap());
        assert_eq!(record["content"], SOURCE[start as usize..end as usize]);
    }
}

#[test]
fn documents_of_a_collection_have_the_outline_of_their_files() {
    let port = "cfg_unix! {\n    pub fn open() {}\n}\n";
    let folder = Folder::new(&[("src/report.py", SOURCE), ("src/port.rs", port)]);
    folder.run(&["index", "src", "-c", "code", "--embedder", "none"]).success();
    let of_files = folder.run(&["outline", "src"]).lines();
    assert!(of_files.iter().any(|row| row["title"] == "open" && row["kind"] == "function"));
    assert_eq!(folder.run(&["outline", "-c", "code"]).lines(), of_files);
    let one = folder.run(&["outline", "-c", "code", "port.rs"]).lines();
    assert!(one.iter().all(|row| row["doc_id"] == "port.rs") && one.len() == 2);
    folder.run(&["outline", "-c", "code", "gone.rs"]).fails(
        "error: `gone.rs` is not in collection `code`; `chunkwright status --documents` lists its documents",
    );
}
