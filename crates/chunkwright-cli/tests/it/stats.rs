//! `chunkwright stats`

use crate::cli::{Folder, guide};

#[test]
fn figures_are_those_of_the_chunks() {
    let folder =
        Folder::new(&[("a.md", &guide(6)), ("b/c.md", &guide(1)), ("empty.md", "\n"), ("x.bin", "\0\0\0")]);
    let records = folder.run(&["chunk", "--quiet"]).lines();
    let run = folder.run(&["stats", "--quiet", "--band", "100-256"]);
    let [stats] = run.lines().try_into().unwrap();
    let tokens: Vec<u64> = records.iter().map(|record| record["token_count"].as_u64().unwrap()).collect();
    assert_eq!(
        (&stats["documents"], &stats["empty"], &stats["chunks"]),
        (&3.into(), &1.into(), &records.len().into())
    );
    assert_eq!(stats["tokens"]["sum"], tokens.iter().sum::<u64>());
    assert_eq!(stats["tokens"]["max"], *tokens.iter().max().unwrap());
    assert_eq!(stats["levels"]["normal"], records.len());
    let inside = tokens.iter().filter(|tokens| (100..=256).contains(*tokens)).count();
    assert_eq!(stats["optimal_ratio"], inside as f64 / tokens.len() as f64);
    let lines = |name: &str| folder.read(name).lines().filter(|line| !line.trim().is_empty()).count();
    let lines = lines("a.md") + lines("b/c.md");
    assert_eq!(
        (&stats["coverage"]["lines"], &stats["coverage"]["lines_in_chunks"]),
        (&lines.into(), &lines.into())
    );
    assert_eq!(stats["coverage"]["skipped"]["binary"], 1);
    assert_eq!(stats["violations"].as_array().unwrap().len(), 0);
}

#[test]
fn no_document_is_found_nothing() {
    let folder = Folder::new(&[]);
    assert_eq!(folder.run(&["stats"]).code, 1);
    let run = folder.run(&["stats", "--band", "9-3"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("`band` is `9-3`; it must be a least and a greatest size, such as `410-614`"),
        "{}",
        run.stderr
    );
}

#[test]
fn promises_hold_for_people_too() {
    let folder = Folder::new(&[("a.md", &guide(2))]);
    let text = folder.run(&["stats", "-f", "text", "--unit", "chars"]).success();
    assert!(text.ends_with("verified: every promise holds\n"), "{text}");
    assert!(text.contains("characters (size)") && text.contains("tokens (o200k)"), "{text}");
}
