//! Code in fences of documents, in cases that `tests/spec/embedded.md` does not show.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chunkwright::parse::Markdown;
use chunkwright::{Chars, ChunkConfig, Chunker, Document, PARSERS, Parser, STRATEGIES, Unit};
use chunkwright_code::language_named;

use crate::{invariants, samples};

fn chunker(strategy: &str, max_size: usize) -> Chunker {
    let config = ChunkConfig {
        strategy: strategy.into(),
        unit: Unit::Chars,
        max_size,
        target_size: max_size * 3 / 4,
        min_size: max_size / 8,
        overlap_size: 0,
        ..ChunkConfig::default()
    };
    Chunker::new(config, Arc::new(Chars)).unwrap()
}

#[test]
fn every_sample_in_a_fence_keeps_what_holds_for_every_chunking() {
    let notebook = PARSERS.iter().find(|parser| parser.name() == "notebook").unwrap();
    for (name, source) in samples() {
        let extension = name.rsplit('.').next().unwrap();
        let lines = source.replace('\n', "\r\n  ");
        let json = serde_json::json!({
            "cells": [{"cell_type": "code", "source": source}],
            "metadata": {"language_info": {"name": extension}},
        });
        let documents: [(&dyn Parser, String); 4] = [
            (&Markdown, format!("# A\n\nWords.\n\n````{extension}\n{source}````\n")),
            (&Markdown, format!("- item\r\n\r\n  ````{extension}\r\n  {lines}````")),
            (&Markdown, format!("~~~~{extension}\n{source}")),
            (*notebook, json.to_string()),
        ];
        for (parser, text) in documents {
            let document = Document::parse("a", text, parser).with_languages(language_named);
            for strategy in STRATEGIES {
                for max_size in [200, 700] {
                    invariants::chunk(&chunker(strategy.name(), max_size), &document);
                }
            }
        }
    }
}

/// Number of times that a language was requested.
static ASKED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn a_fence_is_read_once_and_only_if_it_is_divided() {
    let asking = |name: &str| {
        ASKED.fetch_add(1, Ordering::Relaxed);
        language_named(name)
    };
    let mut source = String::from("```python\nshort = 1\n```\n\n```python\n");
    for line in 0..200 {
        let _ = writeln!(source, "variable_{line} = {line}");
    }
    source.push_str("```\n");
    let document = Document::parse("a.md", source, &Markdown).with_languages(asking);
    let chunker = chunker("tree", 300);
    invariants::well_formed(&invariants::chunk(&chunker, &document));
    assert_eq!(ASKED.load(Ordering::Relaxed), 1);
}

#[test]
fn a_fence_that_its_grammar_does_not_understand_is_cut_as_if_it_named_none() {
    let body = "a ((( b [[\n{{ c\n\n(( d [[ e\n[[[ f\n".repeat(20);
    let cuts = |language: &str| {
        let source = format!("```{language}\n{body}```\n");
        let document = Document::parse("a.md", source, &Markdown).with_languages(language_named);
        let chunker = chunker("tree", 200);
        let chunks = invariants::chunk(&chunker, &document);
        chunks.iter().map(|chunk| chunk.span).collect::<Vec<_>>()
    };
    assert_eq!(cuts("python"), cuts("foobar"));
}
