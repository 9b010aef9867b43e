//! The `parent` of chunks. That it always contains its chunk is an invariant of every test.

use std::sync::Arc;

use chunkwright::{Chars, ChunkConfig, Chunker, Document, Parent, RecordContext, Unit, parse::Markdown};

use crate::invariants::chunk;

/// Asserts the lines of the chunks of `source`, and the lines of the parent of each.
#[track_caller]
fn check(source: &str, max_size: usize, expected: &[(&str, &str)]) {
    let (unit, target_size) = (Unit::Chars, max_size * 3 / 4);
    let config =
        ChunkConfig { unit, max_size, target_size, min_size: max_size / 4, ..ChunkConfig::default() };
    let chunker = Chunker::new(config, Arc::new(Chars)).unwrap();
    let document = Document::parse("a.md", source, &Markdown);
    let records = chunk(&chunker, &document).records(&RecordContext::default());
    let actual: Vec<(String, &str)> = records
        .iter()
        .map(|record| (format!("{}-{}", record.start_line, record.end_line), record.parent.as_str()))
        .collect();
    let actual: Vec<(&str, &str)> = actual.iter().map(|(lines, parent)| (lines.as_str(), *parent)).collect();
    assert_eq!(actual, expected, "{source}");
}

#[test]
fn a_chunk_that_begins_with_headings_above_its_section_has_a_parent_that_holds_it() {
    for (line, title) in
        [("A line of text", "One"), ("一行足够长的文字在这里", "一"), ("Строка текста", "Раз")]
    {
        let lines: String = (0..40).map(|n| format!("{line} {n}.\n\n")).collect();
        let source = format!("# {title}\n\n## B\n\n{line}.\n\n### C\n\n{lines}");
        let config =
            ChunkConfig { unit: Unit::Chars, max_size: 200, target_size: 150, ..ChunkConfig::default() };
        let chunker = Chunker::new(ChunkConfig { min_size: 60, ..config }, Arc::new(Chars)).unwrap();
        let document = Document::parse("a.md", source.as_str(), &Markdown);
        let records = chunk(&chunker, &document).records(&RecordContext::default());
        assert!(records[0].content.starts_with(&format!("# {title}\n\n## B")), "{:?}", records[0].content);
        assert_eq!(records[0].parent, "a.md#L1-L87");
        assert!(records[1..].iter().all(|record| record.parent == "a.md#L7-L87"), "{records:?}");
    }
}

#[test]
fn a_parent_is_the_smallest_section_with_text_beside_the_chunk_or_the_document() {
    let text = "Ten words of text that is long enough to stand.";
    check(&format!("# A\n\n{text}\n"), 200, &[("1-3", "a.md")]);
    check(
        &format!("# A\n\n{text}\n\n## B\n\n{text}\n\n{text}\n\n## C\n\n{text}\n\n\n"),
        70,
        &[("1-3", "a.md#L1-L13"), ("5-7", "a.md#L5-L9"), ("9-9", "a.md#L5-L9"), ("11-13", "a.md#L1-L13")],
    );
    check(
        &format!("{text}\n\n# A\n\n{text}\n\n# B\n\n{text}\n"),
        70,
        &[("1-1", "a.md"), ("3-5", "a.md"), ("7-9", "a.md")],
    );
}

#[test]
fn a_parent_that_does_not_hold_its_record_is_told_from_one_that_does() {
    let document = Document::parse("a.md#L1-L2", "# A\n\nText.\n", &Markdown);
    let chunker = Chunker::new(ChunkConfig::default(), Arc::new(Chars)).unwrap();
    let chunks = chunk(&chunker, &document);
    let mut record = chunks.records(&RecordContext::default()).remove(0);
    for (parent, expected) in [
        ("a.md#L1-L2", Some(Parent::Document)),
        ("a.md#L1-L2#L1-L3", Some(Parent::Lines(1, 3))),
        ("a.md#L1-L2#L1-L4", Some(Parent::Lines(1, 4))),
        ("a.md#L1-L2#L2-L3", None),
        ("a.md#L1-L2#L1-L2", None),
        ("a.md#L1-L2#L0-L3", None),
        ("a.md#L1-L2#L1-L5", None),
        ("a.md#L1-L2#L+1-L3", None),
        ("a.md#L1-L2#L1-3", None),
        ("a.md#L1-L2#L1-L99999999999", None),
        ("a.md#L1-L2#0", None),
        ("a.md", None),
        ("b.md", None),
        ("", None),
    ] {
        record.parent = parent.into();
        assert_eq!(record.holding_parent(4), expected, "{parent}");
    }
}
