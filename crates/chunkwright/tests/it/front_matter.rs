//! Front matter: its title is the page's, its fields are properties, and its block is not what is embedded.

use std::fmt::Write as _;
use std::sync::Arc;

use chunkwright::parse::{Html, Markdown};
use chunkwright::{Chars, ChunkConfig, Chunker, Document, Parser, RecordContext, Unit};

use crate::invariants;

fn config(max_size: usize) -> ChunkConfig {
    ChunkConfig { unit: Unit::Chars, max_size, target_size: max_size, ..ChunkConfig::default() }
}

/// The outline, the properties and the texts of a page.
fn outcome(source: &str, parser: &dyn Parser, max_size: usize) -> String {
    let document = Document::parse("a.md", source, parser);
    let chunker = Chunker::new(config(max_size), Arc::new(Chars)).unwrap();
    let mut said = document.outline();
    for (name, values) in document.properties() {
        writeln!(said, "{name}: {}", values.join(" | ")).unwrap();
    }
    for chunk in &invariants::chunk(&chunker, &document) {
        writeln!(said, "[{}]\n{}", document.titles(chunk.section).join(" > "), chunk.render().text())
            .unwrap();
    }
    said
}

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(outcome(source, &Markdown, 400), expected, "{source}");
}

#[test]
fn the_title_is_that_of_a_page_without_a_heading_of_the_first_level() {
    check(
        "---\ntitle: \"Install: on Linux\"\nweight: 3\ndate: 2024-05-01 # first\n---\n\nText.\n\n## Next\n\nMore.\n",
        "Install: on Linux\n  Next\ndate: 2024-05-01\ntitle: Install: on Linux\nweight: 3\n\
         [Install: on Linux]\n# Install: on Linux\n\nText.\n\n## Next\n\nMore.\n",
    );
    // The page has its own title.
    check(
        "---\ntitle: Setup\nlayout: doc\n---\n# Setup!\n\nText.\n",
        "Setup!\nlayout: doc\ntitle: Setup\n[Setup!]\n# Setup!\n\nText.\n",
    );
    // What it says besides is text.
    check(
        "---\nslug: a\ntitle: Install it on Linux\n---\n# Setup\n\nText.\n",
        "Setup\nslug: a\ntitle: Install it on Linux\n[]\ntitle: Install it on Linux\n\n# Setup\n\nText.\n",
    );
    check("---\nlayout: doc\ntitle: \"\"\ntags: []\n---\nText.\n", "layout: doc\n[]\nText.\n");
}

#[test]
fn descriptions_and_tags_are_text() {
    check(
        "---\ntitle: A\nlayout: doc\ndescription: >-\n  Two\n  lines.\nid: 7\ntags:\n  - ops\n  - '#net'\nweight: 1\n---\nText.\n",
        "A\ndescription: Two lines.\nid: 7\nlayout: doc\ntags: ops | net\ntitle: A\nweight: 1\n\
         [A]\n# A\n\ndescription: >-\n  Two\n  lines.\ntags:\n  - ops\n  - '#net'\n\nText.\n",
    );
}

#[test]
fn toml_and_json_are_front_matter_too() {
    check(
        "+++\ntitle = \"A\"\ndate = 2024-05-01\n[taxonomies]\ntags = [\"x, y\", \"z\"]\n[extra]\nimage = \"a.png\"\n+++\n\nText.\n",
        "A\ndate: 2024-05-01\ntags: x | y | z\ntitle: A\n[A]\n# A\n\ntags = [\"x, y\", \"z\"]\n\nText.\n",
    );
    check(
        "{\n  \"title\": \"A \\u0042\",\n  \"tags\": [\"x\", \"y\"],\n  \"id\": 7\n}\n\nText.\n",
        "A B\nid: 7\ntags: x | y\ntitle: A B\n[A B]\n# A B\n\n\"tags\": [\"x\", \"y\"]\n\nText.\n",
    );
    check("---json\n{\"title\": \"A\"}\n---\nText.\n", "A\ntitle: A\n[A]\n# A\n\nText.\n");
}

#[test]
fn a_page_of_front_matter_alone_keeps_it() {
    check(
        "---\ntitle: Home\nhero:\n  text: Fast\n---\n",
        "Home\ntitle: Home\n[Home]\n# Home\ntitle: Home\nhero:\n  text: Fast\n---\n",
    );
}

#[test]
fn what_is_no_mapping_stays_as_it_is() {
    check("---\nSome words.\n---\n\nText.\n", "[]\n---\nSome words.\n---\n\nText.\n");
    check("---\ntitle: A\n\nNever closed.\n", "[]\n---\ntitle: A\n\nNever closed.\n");
    check("---\n\ntitle: A\n---\n", "title: A\n[title: A]\n---\n\ntitle: A\n---\n");
    check("{% include a %}\n\nText.\n", "[]\n{% include a %}\n\nText.\n");
    check("{\n\nText.\n", "[]\n{\n\nText.\n");
}

#[test]
fn names_of_authors_and_of_anything_are_properties() {
    check(
        "---\nauthors:\n  - name: Ann\n    email: a@example.org\n  - Bob\nog:title: X\nDraft: false\nempty:\nnone: ~\n---\nText.\n",
        "authors: Ann | Bob\ndraft: false\nog_title: X\n[]\nText.\n",
    );
}

#[test]
fn a_page_of_html_may_have_some() {
    assert_eq!(
        outcome("---\ntitle: A < B\nlayout: x\n---\n<title>C</title><p>Text.</p><h2>Next</h2>", &Html, 400),
        "A < B\n  Next\nlayout: x\ntitle: A < B\n[A < B]\n# A < B\n\nText.\n\n## Next\n",
    );
}

#[test]
fn hostile_front_matter_is_bounded_and_records_are_too() {
    let deep = "a:\n".chars().cycle().take(3000).collect::<String>();
    let many: String =
        (0..4000).map(|at| format!("key{at}: &a [*a, *a, \"{}\"]\n", "x".repeat(60))).collect();
    let list = format!("tags: [{}]\n", "a, ".repeat(50_000));
    for inner in [deep, many, list, "a: \"\\\n".into(), "- - - -\n".repeat(100), "\u{feff}a: b\n".into()] {
        for source in [
            format!("---\n{inner}---\nText.\n"),
            format!("+++\n{inner}+++\nText.\n"),
            format!("---json\n{inner}---\nText.\n"),
            format!("{{\n{inner}}}\nText.\n"),
        ] {
            let document = Document::parse("a.md", source, &Markdown);
            let chunker = Chunker::new(config(200), Arc::new(Chars)).unwrap();
            let chunks = invariants::chunk(&chunker, &document);
            let record = &chunks.records(&RecordContext::default())[0];
            let size = record.properties.iter().map(|(name, values)| name.len() + values.concat().len());
            assert!(size.sum::<usize>() <= 2048);
        }
    }
}
