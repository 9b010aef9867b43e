//! Runs the specification: `tests/spec/*.md`.
//!
//! A case is a heading, prose, an `input` fence (the name of a parser may follow: `input rst`), an
//! optional `config` fence (TOML-like `key = value` lines over the preset `auto`), and a `chunks` fence
//! with what must come out. Set `UPDATE_SPEC=1` to rewrite the `chunks` fences, then read the difference.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use chunkwright::{Chars, ChunkConfig, Chunker, Document, Unit};

use crate::invariants;

#[test]
fn the_specification_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spec");
    let mut cases = 0;
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let said = check(&text, &mut cases);
        if std::env::var_os("UPDATE_SPEC").is_some() {
            std::fs::write(&path, said).unwrap();
        } else {
            assert!(said == text, "{}:\n{}", path.display(), first_difference(&text, &said));
        }
    }
    assert!(cases > 0, "no case was found");
}

/// The text of a specification file with its `chunks` fences as they come out.
fn check(text: &str, cases: &mut usize) -> String {
    let mut said = String::new();
    let (mut input, mut config) = (None, String::new());
    let mut rest = text;
    // Fences of the specification have four backticks or more, so that inputs may hold fences.
    while let Some(at) = rest.find("````") {
        let (before, from) = rest.split_at(at);
        let head = from.split_inclusive('\n').next().unwrap();
        let width = head.len() - head.trim_start_matches('`').len();
        let fence = "`".repeat(width);
        let (body, after) =
            from[head.len()..].split_once(&format!("{fence}\n")).expect("a fence is not closed");
        said.push_str(before);
        said.push_str(head);
        let info = head.trim().trim_start_matches('`').to_owned();
        match info.split(' ').next().unwrap() {
            "config" => body.clone_into(&mut config),
            "input" => input = Some((info.clone(), body.to_owned())),
            _ => {}
        }
        if info == "chunks" {
            let (info, input) = input.take().expect("`chunks` without `input`");
            said.push_str(&outcome(&info, &unescape(&input), &config));
            config.clear();
            *cases += 1;
        } else {
            said.push_str(body);
        }
        let _ = writeln!(said, "{fence}");
        rest = after;
    }
    said.push_str(rest);
    said
}

/// Line breaks and marks that an editor would not keep are written `\r` and `\u{feff}`.
fn unescape(input: &str) -> String {
    input.replace("\\r", "\r").replace("\\u{feff}", "\u{feff}")
}

/// The result: one entry per chunk.
fn outcome(info: &str, input: &str, config: &str) -> String {
    let mut words = info.split(' ').skip(1);
    let name = words.next().unwrap_or("markdown");
    let parser = crate::parsers().find(|parser| parser.name() == name).expect("no parser has this name");
    let document = crate::with_languages(Document::parse(words.next().unwrap_or("input"), input, parser));
    let chunker = Chunker::new(read(config), Arc::new(Chars)).unwrap();
    let chunks = invariants::chunk(&chunker, &document);
    let mut out = String::new();
    for record in chunks.records(&chunkwright::RecordContext::default()) {
        let path = record.section_path.join(" > ");
        let part =
            record.part.map_or(String::new(), |part| format!(", part {}/{}", part.index + 1, part.total));
        let _ = writeln!(
            out,
            "[{}-{}] {} {}{} ({} chars{part}{}){}{path}",
            record.start_line,
            record.end_line,
            record.cut,
            record.content_type,
            if record.chunk_type == "doc" { String::new() } else { format!(" as {}", record.chunk_type) },
            record.char_count,
            if record.oversize { ", oversize" } else { "" },
            if path.is_empty() { "" } else { " " },
        );
        for line in record.text.lines() {
            let _ = writeln!(out, "{}", format!("  | {line}").trim_end());
        }
    }
    out
}

fn read(config: &str) -> ChunkConfig {
    let mut values = serde_json::Map::new();
    for line in config.lines().filter(|line| !line.trim().is_empty()) {
        let (key, value) = line.split_once('=').expect("a configuration line is `key = value`");
        values.insert(key.trim().to_owned(), serde_json::from_str(value.trim()).unwrap());
    }
    let Some(preset) = values.remove("preset") else {
        values.entry("unit").or_insert_with(|| serde_json::to_value(Unit::Chars).unwrap());
        return serde_json::from_value(values.into()).unwrap();
    };
    let base = chunkwright::preset::preset(preset.as_str().unwrap()).unwrap();
    let mut config = serde_json::to_value(base).unwrap();
    config.as_object_mut().unwrap().extend(values);
    serde_json::from_value(config).unwrap()
}

fn first_difference(expected: &str, said: &str) -> String {
    let at = expected.lines().zip(said.lines()).position(|(a, b)| a != b).unwrap_or(0);
    let around = |text: &str| text.lines().skip(at.saturating_sub(6)).take(14).collect::<Vec<_>>().join("\n");
    format!("line {}: expected\n{}\n\nbut it is\n{}", at + 1, around(expected), around(said))
}
