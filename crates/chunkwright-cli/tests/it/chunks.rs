//! `chunkwright chunks` and `chunkwright stats -c`

use serde_json::Value;

use crate::cli::{Folder, guide};

/// Three documents in a store.
fn indexed() -> Folder {
    let folder = Folder::new(&[
        ("a.md", &guide(6)),
        ("b/описание.md", "# Описание\n\nЧто хранится и как это найти.\n"),
        ("b/c.py", "def c():\n    return 1\n"),
    ]);
    folder.run(&["index", ".", "--embedder", "none", "--quiet"]).success();
    folder
}

/// The cursor that standard error names.
fn cursor(said: &str) -> &str {
    said.split("--after ").nth(1).unwrap().split('`').next().unwrap()
}

#[test]
fn pages_hold_what_an_export_does() {
    let folder = indexed();
    let exported: Vec<Value> =
        folder.run(&["export", "--records-only"]).lines().iter().map(|row| row["chunk_id"].clone()).collect();
    assert!(exported.len() > 3);
    let ids = |lines: &[Value]| lines.iter().map(|line| line["chunk_id"].clone()).collect::<Vec<_>>();
    let mut found = Vec::new();
    let mut page = folder.run(&["chunks", "--limit", "2"]);
    loop {
        let lines: Vec<Value> = page.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        found.extend(ids(&lines));
        if page.stderr.is_empty() {
            break;
        }
        page = folder.run(&["chunks", "--limit", "2", "--after", cursor(&page.stderr)]);
    }
    assert_eq!(found, exported);
    let all = folder.run(&["chunks", "--limit", "2", "--all"]);
    assert_eq!(all.stderr, "");
    assert_eq!(ids(&all.lines()), exported);
    let page: Value =
        serde_json::from_str(&folder.run(&["chunks", "--limit", "2", "--format", "json"]).stdout).unwrap();
    let next = page["next"].as_str().unwrap();
    assert_eq!(ids(page["chunks"].as_array().unwrap()), exported[..2]);
    let json = ["chunks", "--after", next, "--format", "json"];
    let rest: Value = serde_json::from_str(&folder.run(&json).success()).unwrap();
    assert_eq!(
        (ids(rest["chunks"].as_array().unwrap()), &rest["next"]),
        (exported[2..].to_vec(), &Value::Null)
    );
    let error = folder.run(&["chunks", "--sort", "token_count", "--after", next]);
    assert_eq!(error.code, 2);
    assert!(error.stderr.contains("the cursor belongs to another list"), "{}", error.stderr);
    assert_eq!(folder.run(&["chunks", "--limit", "0"]).code, 2);
    // A page in the middle, and all from there on.
    let middle = folder.run(&["chunks", "--skip", "1", "--limit", "2"]).stdout;
    let middle: Vec<Value> = middle.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ids(&middle), exported[1..3]);
    assert_eq!(ids(&folder.run(&["chunks", "--skip", "2", "--limit", "1", "--all"]).lines()), exported[2..]);
}

#[test]
fn chunks_are_listed_by_size_and_by_what_was_disabled() {
    let folder = indexed();
    let lines = folder.run(&["chunks", "--sort", "token_count", "--descending"]).lines();
    let tokens: Vec<u64> = lines.iter().map(|line| line["token_count"].as_u64().unwrap()).collect();
    assert!(tokens.is_sorted_by(|a, b| a >= b), "{tokens:?}");
    let id = lines[0]["chunk_id"].as_str().unwrap();
    folder.run(&["disable", id]).success();
    let [disabled] = folder.run(&["chunks", "--only", "disabled"]).lines().try_into().unwrap();
    assert_eq!((disabled["chunk_id"].as_str(), &disabled["enabled"]), (Some(id), &Value::Bool(false)));
    assert_eq!(folder.run(&["chunks", "--only", "enabled"]).lines().len(), lines.len() - 1);
    let nothing = folder.run(&["chunks", "--filter", "category=nothing"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (1, ""));
    let text = folder.run(&["chunks", "--format", "text"]).success();
    assert!(text.contains("b/описание.md") && text.contains("disabled"), "{text}");
}

#[test]
fn the_coverage_of_a_collection_says_what_is_in_chunks_and_what_was_left_out() {
    let folder = indexed();
    let coverage = || {
        let [stats] = folder.run(&["stats", "-c", "default", "--coverage"]).lines().try_into().unwrap();
        stats["coverage"].clone()
    };
    let lines = |of: &str| {
        let [stats] = folder.run(&["stats", of, "--quiet"]).lines().try_into().unwrap();
        stats["coverage"]["lines"].clone()
    };
    let found = coverage();
    assert_eq!((&found["documents"], &found["violations"]), (&3.into(), &Value::Array(Vec::new())));
    assert_eq!((&found["lines"], &found["lines_in_chunks"]), (&lines("."), &lines(".")));
    assert_eq!(found["skipped"], serde_json::json!({}));
    folder.write("logo.svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"><path d=\"M0 0\"/></svg>\n");
    folder.write("new.md", b"# New\r\n\r\nOne line.\r\n");
    folder.run(&["index", ".", "--embedder", "none", "--quiet"]).success();
    let now = coverage();
    assert_eq!((&now["documents"], &now["lines"]), (&4.into(), &lines(".")));
    assert_eq!(now["skipped"]["drawing"], 1, "{now}");
    let text = folder.run(&["stats", "-c", "default", "--coverage", "--format", "text"]).success();
    assert!(
        text.contains("lines in chunks") && text.contains("100.0%") && text.contains("skipped: drawing"),
        "{text}"
    );
    assert_eq!(folder.run(&["stats", ".", "--coverage"]).code, 2, "without a collection");
}

#[test]
fn statistics_of_a_collection_are_those_of_its_records() {
    let folder = indexed();
    let records = folder.run(&["chunks", "--all"]).lines();
    let [stats] = folder.run(&["stats", "-c", "default", "--band", "1-50"]).lines().try_into().unwrap();
    assert_eq!((&stats["documents"], &stats["chunks"]), (&3.into(), &records.len().into()));
    assert_eq!(stats["languages"]["python"], 1);
    let tokens: Vec<u64> = records.iter().map(|record| record["token_count"].as_u64().unwrap()).collect();
    assert_eq!(stats["tokens"]["sum"], tokens.iter().sum::<u64>());
    let inside = tokens.iter().filter(|tokens| (1..=50).contains(*tokens)).count();
    assert_eq!(stats["optimal_ratio"], inside as f64 / tokens.len() as f64);
    let [code] =
        folder.run(&["stats", "-c", "default", "--filter", "category=code"]).lines().try_into().unwrap();
    assert_eq!((&code["chunks"], &code["documents"]), (&1.into(), &1.into()));
    let text = folder.run(&["stats", "-c", "default", "--format", "text"]).success();
    assert!(text.contains("language python") && text.contains("cut heading"), "{text}");
    assert_eq!(folder.run(&["stats", "--filter", "category=code"]).code, 2, "without a collection");
    assert_eq!(folder.run(&["stats", "-c", "nowhere"]).code, 2);
}
