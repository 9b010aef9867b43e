//! One page for a browser that shows how documents are cut: [`head`], a [`document`] each, [`foot`].
//!
//! The page is a file that needs nothing but a browser: its style and script are in it, and it asks for
//! nothing from anywhere. Documents stand in it as JSON, one element each, so that they are written as
//! they are cut. In that JSON no `<` is left, so a source cannot end its element whatever it says; the
//! script makes only text of it, never markup.

use std::fmt::Write;

use chunkwright::Record;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::documents::{ChunkedDocument, Documents};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Where the data stands in the page.
const DATA: &str = "{{data}}";

/// What the page knows beside its documents.
#[derive(Serialize)]
struct Settings<'a> {
    preset: &'a str,
    tokenizer: &'a str,
    strategy_version: String,
    config: &'a chunkwright::ChunkConfig,
}

/// A document and its chunks.
#[derive(Serialize)]
struct Data<'a> {
    doc_id: &'a str,
    /// What the source has between the chunks: before the first, ..., after the last.
    gaps: Vec<&'a str>,
    /// Fields that all chunks have, with the same value.
    common: Map<String, Value>,
    /// The records without those fields. A `text` that is context, content and what closes them is left
    /// out; `tail` is what closes them, where there is anything.
    chunks: Vec<Map<String, Value>>,
}

/// The page up to its documents.
pub fn head(documents: &Documents) -> String {
    let chunker = documents.chunker();
    let settings = Settings {
        preset: documents.preset(),
        tokenizer: chunker.counter().name(),
        strategy_version: chunker.strategy_version(),
        config: chunker.config(),
    };
    let (head, _) = parts();
    format!("{}{}", head.replace("{{css}}", STYLE), element("id=\"settings\"", &settings))
}

/// How every page begins.
pub(crate) fn begin() -> &'static [u8] {
    PAGE.split_once("{{").map_or(PAGE, |(begin, _)| begin).as_bytes()
}

/// A document in the page.
pub fn document(cut: &ChunkedDocument) -> String {
    let (source, records) = (cut.document.source(), &cut.chunks);
    let mut gaps = Vec::with_capacity(records.len() + 1);
    let mut at = 0;
    for record in records {
        gaps.push(&source[at..record.start_byte as usize]);
        at = record.end_byte as usize;
    }
    gaps.push(&source[at..]);
    let mut chunks: Vec<Map<String, Value>> = records.iter().map(slim).collect();
    let common = take_common(&mut chunks);
    element("class=\"document\"", &Data { doc_id: &cut.doc_id, gaps, common, chunks })
}

/// The page after its documents.
pub fn foot() -> String {
    parts().1.replace("{{js}}", SCRIPT)
}

/// The page before and after its data.
fn parts() -> (&'static str, &'static str) {
    PAGE.split_once(DATA).expect("the page has a place for its data")
}

/// A record as a map, without a text that is made of its other fields.
fn slim(record: &Record) -> Map<String, Value> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(record) else { return Map::new() };
    let tail =
        record.text.strip_prefix(&*record.context).and_then(|text| text.strip_prefix(&*record.content));
    if let Some(tail) = tail {
        fields.shift_remove("text");
        if !tail.is_empty() {
            fields.insert("tail".into(), tail.into());
        }
    }
    fields
}

/// Takes out what all have in common.
fn take_common(chunks: &mut [Map<String, Value>]) -> Map<String, Value> {
    let Some((first, others)) = chunks.split_first() else { return Map::new() };
    let mut common = first.clone();
    common.retain(|key, value| others.iter().all(|other| other.get(key) == Some(value)));
    for chunk in chunks {
        chunk.retain(|key, _| !common.contains_key(key));
    }
    common
}

/// Characters that change what is seen without being seen: direction marks and overrides, zero-width space, byte
/// order mark, tags.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Data as an element that is not run and cannot be left: markup and what cannot be seen is escaped.
fn element(attribute: &str, data: &impl Serialize) -> String {
    let json = serde_json::to_string(data).expect("plain values are JSON");
    let mut out = String::with_capacity(json.len() + json.len() / 16 + 64);
    out.push_str("<script type=\"application/json\" ");
    out.push_str(attribute);
    out.push('>');
    // All of these stand inside strings, where JSON has an escape for every character.
    for c in json.chars() {
        if matches!(c, '<' | '>' | '&') || c.is_control() || is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out.push_str("</script>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole_and_asks_for_nothing() {
        assert_eq!(PAGE.matches("{{").count(), 3, "the places for style, data and script");
        let page = [PAGE, STYLE, SCRIPT].concat();
        for outside in
            ["http:", "https:", "url(", "@import", "src=", "href=", "fetch(", "import(", "innerHTML"]
        {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--") && !STYLE.contains("</"));
    }
}
