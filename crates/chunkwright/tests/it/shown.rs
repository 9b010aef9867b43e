//! What a reader is shown of a record.

use std::sync::Arc;

use chunkwright::{ChunkConfig, Chunker, Document, PARSERS, Record, RecordContext, Words};

fn records(id: &str, source: &str, max_size: usize) -> Vec<Record> {
    let extension = id.rsplit('.').next().unwrap();
    let parser = PARSERS.iter().find(|parser| parser.extensions().contains(&extension)).unwrap();
    let config = ChunkConfig { max_size, min_size: 1, target_size: max_size, ..ChunkConfig::default() };
    let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
    chunker.chunk(&Document::parse(id, source, *parser)).records(&RecordContext::default())
}

#[test]
fn of_a_format_without_markup_the_content_is_shown_whatever_ends_its_lines() {
    let source =
        "# Guide\n\nThe ferry leaves.\n\n```text\none two three\nfour five six\nseven eight nine\n```\n";
    for source in [source.to_owned(), source.replace('\n', "\r\n")] {
        for record in records("guide.md", &source, 8) {
            assert_eq!(record.shown(), record.content, "{record:?}");
        }
    }
}

#[test]
fn of_markup_it_is_what_renders() {
    let html = "<h1>Guide</h1><p>The <b>ferry</b> leaves &amp; returns.</p>";
    let shown: String =
        records("guide.html", html, 50).iter().map(|record| record.shown().to_owned()).collect();
    assert_eq!(shown.trim(), "# Guide\n\nThe ferry leaves & returns.");
    let notebook = r##"{"cells": [{"cell_type": "markdown", "source": ["# Guide\n", "\n", "The ferry leaves."]}], "nbformat": 4}"##;
    let shown: String =
        records("a.ipynb", notebook, 50).iter().map(|record| record.shown().to_owned()).collect();
    assert_eq!(shown.trim(), "# Guide\n\nThe ferry leaves.");
}

#[test]
fn a_parser_says_whether_its_documents_render() {
    for parser in PARSERS {
        for source in [
            "# A\n\n<p>a &amp; b</p>\n",
            "{\"cells\": [{\"cell_type\": \"raw\", \"source\": \"a\"}], \"nbformat\": 4}",
        ] {
            let document = Document::parse("a", source, *parser);
            let whole = chunkwright::Span::new(0, source.len());
            let reads = document.read(whole) != source;
            assert!(parser.renders() || !reads, "{} renders {source}", parser.name());
        }
    }
    let renders: Vec<&str> =
        PARSERS.iter().filter(|parser| parser.renders()).map(|parser| parser.name()).collect();
    assert_eq!(renders, ["html", "notebook"]);
}

#[test]
fn what_path_and_headings_say_is_not_borrowed_again() {
    let table =
        "# Prices\n\n| Fruit | Price |\n|---|---|\n| apple | 1 |\n| pear | 2 |\n| plum | 3 |\n| fig | 4 |\n";
    let records = records("prices.md", table, 9);
    let last = records.last().unwrap();
    assert!(last.context.starts_with("Prices\n"), "{last:?}");
    assert_eq!(last.borrowed(), "| Fruit | Price |\n|---|---|\n");
    assert_eq!(records[0].borrowed(), "");
}
