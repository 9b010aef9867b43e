//! The work grows with the size of the document and not faster: counted, not timed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chunkwright::preset::PRESETS;
use chunkwright::{Chunker, Document, PARSERS, Parser, TokenCounter};

use crate::fixtures::SAMPLES;
use crate::invariants::Quads;

/// Counts the bytes that are counted.
#[derive(Debug, Default)]
pub(crate) struct Work(pub(crate) AtomicUsize);

impl TokenCounter for Work {
    fn name(&self) -> &'static str {
        "estimate:work"
    }

    fn count(&self, text: &str) -> usize {
        self.0.fetch_add(text.len(), Ordering::Relaxed);
        Quads.count(text)
    }
}

/// Bytes counted per byte of the document.
fn work(source: &str, parser: &dyn Parser, preset: &str) -> f64 {
    let work = Arc::new(Work::default());
    let config = chunkwright::preset::preset(preset).unwrap();
    let document = Document::parse("a.md", source, parser);
    let keeps = !config.keep_whole.is_empty();
    let chunker = Chunker::new(config, Arc::<Work>::clone(&work)).unwrap();
    let chunks = chunker.chunk(&document);
    assert!(keeps || chunks.iter().all(|chunk| !chunk.oversize));
    work.0.load(Ordering::Relaxed) as f64 / source.len() as f64
}

/// Texts that invite quadratic work, each of about `size` bytes.
fn hostile(size: usize) -> Vec<(&'static str, String)> {
    let fill = |part: &str| part.repeat(size / part.len() + 1);
    vec![
        ("samples", fill(&SAMPLES.iter().map(|(_, text)| *text).collect::<String>())),
        ("one line of words", fill("word and another, ")),
        ("one word", fill("a")),
        ("one chinese sentence", fill("没有标点")),
        ("nested quotes", format!("{}text", "> ".repeat(size / 2))),
        (
            "quotes deeper by the line",
            (0..size / 200).map(|n| format!("{} text\n", ">".repeat(n % 200))).collect(),
        ),
        ("unclosed fence", format!("```\n{}", fill("code line\n"))),
        ("one list", fill("- item\n")),
        ("nested list", (0..size / 100).map(|n| format!("{}- a\n", "  ".repeat(n % 90))).collect()),
        ("one table", format!("| a |\n|---|\n{}", fill("| 1 |\n"))),
        ("one wide table", {
            let row = |cell: &str| format!("|{}\n", cell.repeat(size / 40));
            format!("{}{}{}", row(" h |"), row("---|"), row(" 1 |").repeat(8))
        }),
        ("a line deep in a list", format!("{}- {}", "- ".repeat(size / 4), fill("a "))),
        ("a long title", format!("# {}\n\n{}", "a ".repeat(size / 4), "word and ".repeat(size / 18))),
        ("sections below a long title", {
            format!("# {}\n\n{}", "a ".repeat(size / 4), "## b\n\nc and d\n\n".repeat(size / 34))
        }),
        ("headings alone", fill("# a\n")),
        ("deeper headings", fill("# a\n## b\n### c\n#### d\n##### e\n###### f\n")),
        ("tiny sections", fill("# a\n\nb\n\n")),
        ("thematic breaks in quotes", fill("> ---\n")),
        ("brackets", fill("[")),
        ("emphasis", fill("*a **a ")),
        ("blank lines", fill("a\n\n\n\n\n\n")),
        ("strong in emphasis", format!("{}b{}", "*a **a ".repeat(size / 14), " a** a*".repeat(size / 14))),
        ("emphasis that nothing opens", fill("a_ ")),
        ("links that nothing closes", fill("[a")),
        ("links that nothing opens", fill("a]")),
        ("brackets crossed", fill("[ (](")),
        ("destinations that nothing closes", fill("[a](<b")),
        (
            "backticks, one more each time",
            (1..).take_while(|n| n * n < 2 * size).map(|n| format!("e{}", "`".repeat(n))).collect(),
        ),
        ("tables between carriage returns", fill("aaa\rbbb\n-\u{b}\n")),
        ("definitions", (0..size / 12).map(|n| format!("[{n}]: u\n\n[x]\n\n")).collect()),
        ("combining marks", format!("e{}", fill("\u{301}"))),
        ("flags", fill("🇩🇪")),
        ("families", fill("👩‍👩‍👧‍👦")),
    ]
}

#[test]
fn eight_times_the_text_is_at_most_nine_times_the_work() {
    let sizes = [8_000, 16_000, 64_000];
    for preset in PRESETS {
        let shares: Vec<Vec<f64>> = sizes
            .map(|size| hostile(size).iter().map(|(_, text)| work(text, PARSERS[0], preset.name)).collect())
            .into();
        for (index, (name, _)) in hostile(10).iter().enumerate() {
            let series: Vec<f64> = shares.iter().map(|shares| shares[index]).collect();
            // The smallest may be one chunk, and nothing to divide.
            let base = series[0].max(series[1]);
            assert!(series[2] <= base * 9.0 / 8.0 + 0.5, "{}: {name}: {series:?}", preset.name);
            assert!(series[2] <= 12.0, "{}: {name} counts each byte {series:?} times", preset.name);
        }
    }
}

/// Texts that invite quadratic work of a parser, each of about `size` bytes.
fn hostile_syntax(size: usize) -> Vec<(&'static str, &'static str, String)> {
    let fill = |part: &str| part.repeat(size / part.len() + 1);
    let keys: String = (0..size / 12).map(|n| format!("key{n}: {n}\n")).collect();
    let deep: String = (0..size / 50).map(|n| format!("{}a:\n", " ".repeat(n % 90))).collect();
    vec![
        ("rst", "adornments", fill("=\n")),
        ("rst", "titles", fill("a\n=\n\nb\n-\n\n")),
        ("rst", "labels", fill(".. _a:\n\n")),
        ("rst", "borders", fill("== ==\n")),
        ("rst", "unclosed grid", fill("+--+\n| a\n")),
        ("rst", "literal", fill("a::\n\n b\n\n")),
        ("rst", "roles", format!("{}\n====\n", fill(":`a` "))),
        ("asciidoc", "titles", fill("= a\n")),
        ("asciidoc", "unclosed", fill("----\n=====\n......\n")),
        ("asciidoc", "attributes", fill("[a]\n.b\n")),
        ("asciidoc", "attached", format!("* a\n{}", fill("+\n"))),
        ("asciidoc", "one table", format!("|===\n|a |b\n\n{}", fill("|1 |2\n"))),
        ("asciidoc", "brackets", format!("= {}\n", fill("[["))),
        ("markdown", "front matter", format!("---\n{keys}---\nText.\n")),
        ("markdown", "headings of HTML", fill("<h1>a</h1> <h2>\n")),
        ("markdown", "grids", fill("+--+\n| a\n\n")),
        ("mdx", "statements", fill("export {\n\n")),
        ("html", "tables for layout", fill("<table><tr><td>a<h1>b")),
        ("html", "cells over rows", fill("<table><tr><td rowspan=9 colspan=9>a<tr>")),
        ("text", "encoded lines", fill("iVBORw0KGgoAAAANSUhEUgAAAAE00iVBORw0KGgoAAAANSUhEU\n")),
        ("latex", "sections", fill("\\section{a}\n")),
        ("latex", "unclosed", fill("\\begin{a}\n")),
        ("latex", "on one line", fill("\\begin{a}")),
        ("latex", "nested", fill("\\begin{a}\n\\section{b}\n\\end{a}\n")),
        ("latex", "braces", fill("\\section{a{\n")),
        ("latex", "comments", fill("\\%")),
        ("json", "arrays", fill("[")),
        ("json", "objects", fill("{\"a\":")),
        ("json", "numbers", format!("[{}", fill("1,"))),
        ("json", "closing", fill("]}")),
        ("json", "comments", fill("/*")),
        ("json", "elements", format!("[{}", fill("{\"a\":{\"name\":1}},"))),
        ("jsonl", "records", fill("{\"a\":[{\"b\":1}]}\n")),
        ("yaml", "keys", keys.clone()),
        ("yaml", "deeper keys", deep),
        ("yaml", "dashes", fill("- ")),
        ("yaml", "documents", fill("---\na: 1\n")),
        ("toml", "keys", keys.replace(':', " =")),
        ("toml", "tables", fill("[a.b.c]\nd = 1\n")),
        ("toml", "open brackets", fill("a = [\n")),
        ("toml", "open strings", fill("a = \"\"\"\n\"\"\" '''")),
        ("csv", "unclosed quotes", fill("a,\"\n")),
        ("csv", "one row", fill("a,")),
        ("csv", "one table", format!("a,b\n{}", fill("1,2\n"))),
        ("org", "drawers", fill(":a:\n")),
        ("org", "unclosed blocks", fill("#+begin_src\n* a\n")),
        ("org", "unclosed in a list", format!("- a\n{}", fill("  #+begin_src\n"))),
        ("org", "one table", format!("| a |\n|---|\n{}", fill("| 1 |\n"))),
        ("subtitles", "times", fill("00:00:01,000 --> 00:00:02,000\n")),
        ("log", "entries", fill("2026-01-02 03:04:05 a\n")),
        ("log", "traces", format!("ERROR: a\n{}", fill("    at b\n"))),
    ]
}

#[test]
fn every_format_is_read_and_cut_in_linear_work() {
    let sizes = [4_000, 8_000, 32_000];
    let preset = PRESETS[0].name;
    for (index, (format, name, _)) in hostile_syntax(10).iter().enumerate() {
        let parser = PARSERS.iter().find(|parser| parser.name() == *format).unwrap();
        let series = sizes.map(|size| work(&hostile_syntax(size)[index].2, *parser, preset));
        // Of the smallest, keys that are not nested deep yet are a good part.
        let base = series[0].max(series[1]);
        assert!(series[2] <= base * 9.0 / 8.0 + 0.5, "{format}: {name}: {series:?}");
        // Keys nested deep have long paths, which are measured as well.
        assert!(series[2] <= 40.0, "{format}: {name} counts each byte {series:?} times");
    }
}
