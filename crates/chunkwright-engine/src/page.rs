//! A standalone HTML page that shows how documents are cut: [`head`], a [`document`] each, [`foot`].
//!
//! The page needs nothing but a browser: it contains its style and script, and loads nothing. Both are built from the
//! same components as the page of the server ([`web`](crate::web)). Each document is one element with JSON, so that
//! documents are written as they are cut. That JSON contains no `<`, so that no source can end its element; the script
//! inserts it only as text, never as markup.

use std::fmt::Write as _;

use chunkwright::Record;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::noun::documents::Documents;
use crate::noun::documents::chunk::ChunkedDocument;
use crate::web::Standalone;

/// The beginning of every page, including pages of earlier versions.
const BEGIN: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Chunks</title>
<style>"#;

const BODY: &str = "</style>
</head>
<body>
<noscript>This page shows its data by its own script; allow it to see the chunks.</noscript>
";

const END: &str = "</script>\n</body>\n</html>\n";

/// Data of the page other than its documents.
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
    /// The texts of the source between chunks: before the first, ..., after the last.
    gaps: Vec<&'a str>,
    /// Fields that all chunks have with the same value.
    common: Map<String, Value>,
    /// The records without the common fields. A `text` that consists of context, content and closing lines is left out;
    /// `tail` holds the closing lines, if any.
    chunks: Vec<Map<String, Value>>,
}

/// The page up to its documents.
///
/// # Errors
///
/// A program that was built without the page.
pub fn head(documents: &Documents) -> Result<String, Error> {
    let chunker = documents.chunker();
    let settings = Settings {
        preset: documents.preset(),
        tokenizer: chunker.counter().name(),
        strategy_version: chunker.strategy_version(),
        config: chunker.config(),
    };
    let style = built()?.style;
    Ok([BEGIN, style, BODY, &element("id=\"settings\"", &settings)].concat())
}

/// The beginning of every page.
pub(crate) fn begin() -> &'static [u8] {
    BEGIN.as_bytes()
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
///
/// # Errors
///
/// A program that was built without the page.
pub fn foot() -> Result<String, Error> {
    Ok(["<script>", built()?.script, END].concat())
}

/// The style and script, if they were built.
fn built() -> Result<Standalone, Error> {
    crate::web::standalone().ok_or(Error::NoPage)
}

/// A record as a map, without `text` if it follows from the other fields.
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

/// Removes and returns the fields that all chunks have in common.
fn take_common(chunks: &mut [Map<String, Value>]) -> Map<String, Value> {
    let Some((first, others)) = chunks.split_first() else { return Map::new() };
    let mut common = first.clone();
    common.retain(|key, value| others.iter().all(|other| other.get(key) == Some(value)));
    for chunk in chunks {
        chunk.retain(|key, _| !common.contains_key(key));
    }
    common
}

/// Returns whether a character is invisible but changes what is shown: direction marks and overrides, zero-width space,
/// byte order mark, tags.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Wraps data in an element that is not run and that its data cannot end: markup and invisible characters are escaped.
fn element(attribute: &str, data: &impl Serialize) -> String {
    let json = serde_json::to_string(data).expect("plain values are JSON");
    let mut out = String::with_capacity(json.len() + json.len() / 16 + 64);
    out.push_str("<script type=\"application/json\" ");
    out.push_str(attribute);
    out.push('>');
    // All of these occur only inside strings, where JSON can escape every character.
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
    fn the_page_asks_for_nothing_and_makes_no_markup() {
        let Some(Standalone { style, script }) = crate::web::standalone() else {
            assert!(built().is_err_and(|error| error.to_string().contains("cargo xtask web")));
            return;
        };
        for outside in
            ["src=", "href=", "fetch(", "import(", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon"]
        {
            assert!(!script.contains(outside), "{outside}");
        }
        for outside in ["http:", "https:", "url(", "@import"] {
            assert!(!style.contains(outside), "{outside}");
        }
        // XML namespaces and links to error pages of the framework are plain text; the page's policy blocks loading
        // them.
        for address in
            script.split("http").skip(1).filter(|rest| rest.starts_with("://") || rest.starts_with("s://"))
        {
            let named = ["://www.w3.org/", "s://svelte.dev/e/"];
            assert!(
                named.iter().any(|known| address.starts_with(known)),
                "{}",
                address.get(..60).unwrap_or(address)
            );
        }
        // The page creates its elements one by one. A property with one of these names is only compared.
        for markup in ["innerHTML=", "innerHTML =", "outerHTML", "insertAdjacentHTML", "document.write"] {
            assert!(!script.contains(markup), "{markup}");
        }
        assert!(!script.contains("</") && !script.contains("<!--") && !style.contains("</"));
        assert!(!script.chars().any(is_invisible));
    }
}
