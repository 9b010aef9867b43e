//! Writes records as lines of JSON, as `serde_json` writes a [`Record`](super::Record), many times as fast.
//!
//! What all records of a document share is written once and copied. Text is looked through eight bytes at once, and the
//! content that a chunk's text repeats is copied too.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;

use super::fields::{Common, Fields};
use super::{Record, RecordContext, Symbols};
use crate::chunk::{ChunkId, ChunkIn, Chunked, Part};
use crate::context::Rendered;
use crate::position::{PageBox, Position};

/// Adds members to an object, each with the comma before it.
macro_rules! add {
    ($json:expr, $($name:literal: $value:expr),+ $(,)?) => {
        $(
            $json.extend_from_slice(concat!(",\"", $name, "\":").as_bytes());
            $value.add($json);
        )+
    };
}

/// As [`add`] with an optional value.
macro_rules! add_some {
    ($json:expr, $($name:literal: $value:expr),+ $(,)?) => {
        $(if let Some(value) = $value {
            add!($json, $name: value);
        })+
    };
}

/// Writes the records of a document's chunks as JSON Lines. Made by [`Chunked::record_lines`].
pub struct RecordLines<'c> {
    common: Common<'c>,
    /// The members that all records share, by where they stand.
    document: Vec<u8>,
    category: Vec<u8>,
    tokenizer: Vec<u8>,
    version: Vec<u8>,
}

impl Chunked<'_> {
    /// A writer of the records of the chunks.
    pub fn record_lines<'c>(&'c self, context: &'c RecordContext) -> RecordLines<'c> {
        let common = Common::of(self, context);
        let document = self.document();
        let mut lines = RecordLines {
            document: Vec::new(),
            category: Vec::new(),
            tokenizer: Vec::new(),
            version: Vec::new(),
            common,
        };
        add!(&mut lines.document, "doc_id": *document.id());
        let category = &mut lines.category;
        add!(category, "category": *lines.common.category);
        add_some!(category, "language": document.language(), "prose_language": context.prose_language.as_deref());
        add!(&mut lines.tokenizer, "tokenizer": *lines.common.tokenizer);
        let version = &mut lines.version;
        add!(
            version,
            "strategy_version": *lines.common.strategy_version,
            "preset": *context.preset,
            "config_hash": *lines.common.config_hash,
            "file_hash": *context.file_hash,
        );
        add_some!(version, "properties": Some(document.properties()).filter(|all| !all.is_empty()));
        lines
    }
}

impl RecordLines<'_> {
    /// The record of a chunk, which must be one of those that this was made of.
    pub fn record(&self, chunk: ChunkIn<'_>) -> Record {
        chunk.record_with(&self.common)
    }

    /// Adds the record of a chunk to `json` as one line, with its line break. Returns the tokens of its text.
    ///
    /// Characters that some readers end lines at (U+0085, U+2028, U+2029) are escaped, so that every reader splits the
    /// lines at the same places.
    pub fn add(&self, chunk: ChunkIn<'_>, json: &mut Vec<u8>) -> usize {
        let fields = Fields::of(chunk, &self.common);
        json.extend_from_slice(b"{\"chunk_id\":");
        chunk.id.add(json);
        json.extend_from_slice(&self.document);
        add!(
            json,
            "chunk_index": chunk.index() as u32,
            "total_chunks": chunk.chunks().len() as u32,
            "parent": *fields.parent,
        );
        add_some!(json, "previous": fields.previous, "next": fields.next);
        add_texts(chunk.content(), &fields.rendered, json);
        add!(
            json,
            "start_line": fields.lines.0,
            "end_line": fields.lines.1,
            "start_byte": chunk.span.start,
            "end_byte": chunk.span.end,
            "start_char": fields.chars.0,
            "end_char": fields.chars.1,
        );
        add_some!(json, "position": fields.position);
        add!(
            json,
            "header_path": *fields.header_path,
            "section_path": *fields.section_path,
            "content_type": *fields.content_type,
            "chunk_type": *fields.chunk_type,
        );
        json.extend_from_slice(&self.category);
        add_some!(json, "symbols": fields.symbols, "imports": fields.imports.as_deref());
        add!(
            json,
            "char_count": fields.char_count,
            "word_count": fields.word_count,
            "token_count": fields.token_count,
        );
        json.extend_from_slice(&self.tokenizer);
        add!(json, "token_level": *fields.token_level.as_str(), "oversize": chunk.oversize);
        add_some!(json, "part": chunk.part);
        add!(json, "cut": *chunk.cut.as_str());
        if let Some(adaptive) = fields.adaptive {
            add!(
                json,
                "adaptive_chunking": adaptive.adaptive_chunking,
                "is_complete_document": adaptive.is_complete_document,
                "section_title": *adaptive.section_title,
                "section_index": adaptive.section_index,
            );
        }
        json.extend_from_slice(&self.version);
        json.extend_from_slice(b"}\n");
        fields.token_count as usize
    }
}

/// Adds content, context and text. Each part of the text was written before, but for what closes it.
fn add_texts(content: &str, rendered: &Rendered, json: &mut Vec<u8>) {
    json.reserve(2 * rendered.text().len() + rendered.text().len() / 8);
    json.extend_from_slice(b",\"content\":\"");
    let owned = add_escaped(content, json);
    json.extend_from_slice(b"\",\"context\":\"");
    let borrowed = add_escaped(rendered.context(), json);
    json.extend_from_slice(b"\",\"text\":\"");
    json.extend_from_within(borrowed);
    if rendered.content() == content {
        json.extend_from_within(owned);
    } else {
        add_escaped(rendered.content(), json);
    }
    add_escaped(&rendered.text()[rendered.context().len() + rendered.content().len()..], json);
    json.push(b'"');
}

/// A value that JSON has a form for.
trait Value {
    /// Adds that form to `json`.
    fn add(&self, json: &mut Vec<u8>);
}

impl Value for str {
    fn add(&self, json: &mut Vec<u8>) {
        json.push(b'"');
        add_escaped(self, json);
        json.push(b'"');
    }
}

impl Value for u32 {
    fn add(&self, json: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = write!(json, "{self}");
    }
}

impl Value for bool {
    fn add(&self, json: &mut Vec<u8>) {
        json.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl Value for ChunkId {
    fn add(&self, json: &mut Vec<u8>) {
        self.with_hex(|digits| digits.add(json));
    }
}

impl Value for [String] {
    fn add(&self, json: &mut Vec<u8>) {
        json.push(b'[');
        for (number, text) in self.iter().enumerate() {
            if number > 0 {
                json.push(b',');
            }
            text.as_str().add(json);
        }
        json.push(b']');
    }
}

impl Value for Part {
    fn add(&self, json: &mut Vec<u8>) {
        add_object(json, |json| {
            add!(json, "index": self.index, "total": self.total);
        });
    }
}

impl Value for Position {
    fn add(&self, json: &mut Vec<u8>) {
        add_object(json, |json| {
            add!(json, "unit": *self.unit.as_str(), "first": self.first, "last": self.last);
            add_some!(json, "boxes": Some(&*self.boxes).filter(|boxes| !boxes.is_empty()));
        });
    }
}

impl Value for [PageBox] {
    fn add(&self, json: &mut Vec<u8>) {
        json.push(b'[');
        for (number, page_box) in self.iter().enumerate() {
            if number > 0 {
                json.push(b',');
            }
            let PageBox { page, left, top, right, bottom, block } = page_box;
            let edge = |edge: &u16| u32::from(*edge);
            add_object(json, |json| {
                add!(json, "page": *page, "left": edge(left), "top": edge(top), "right": edge(right), "bottom": edge(bottom));
                add_some!(json, "block": Some(&**block).filter(|block| !block.is_empty()));
            });
        }
        json.push(b']');
    }
}

impl Value for Symbols {
    fn add(&self, json: &mut Vec<u8>) {
        add_object(json, |json| {
            add_some!(
                json,
                "function_name": self.function_name.as_deref(),
                "class_name": self.class_name.as_deref(),
                "parent_class": self.parent_class.as_deref(),
                "names": Some(&*self.names).filter(|names| !names.is_empty()),
            );
        });
    }
}

impl Value for BTreeMap<String, Vec<String>> {
    fn add(&self, json: &mut Vec<u8>) {
        add_object(json, |json| {
            for (name, values) in self {
                json.push(b',');
                name.as_str().add(json);
                json.push(b':');
                values.as_slice().add(json);
            }
        });
    }
}

/// Adds an object of the members that `add` adds, each with a comma before it.
fn add_object(json: &mut Vec<u8>, add: impl FnOnce(&mut Vec<u8>)) {
    let start = json.len();
    add(json);
    match json.get_mut(start) {
        Some(comma) => *comma = b'{',
        None => json.push(b'{'),
    }
    json.push(b'}');
}

/// Adds a text as it stands in quotes. Returns its place.
fn add_escaped(text: &str, json: &mut Vec<u8>) -> Range<usize> {
    let (start, bytes) = (json.len(), text.as_bytes());
    let (mut done, mut at) = (0, 0);
    while let Some(found) = first_special(&bytes[at..]) {
        at += found;
        let (length, escape) = match bytes[at..] {
            [b'\n', ..] => (1, "\\n"),
            [b'"', ..] => (1, "\\\""),
            [b'\\', ..] => (1, "\\\\"),
            [b'\t', ..] => (1, "\\t"),
            [b'\r', ..] => (1, "\\r"),
            [0x08, ..] => (1, "\\b"),
            [0x0C, ..] => (1, "\\f"),
            [..0x20, ..] => (1, ""),
            [0xC2, 0x85, ..] => (2, "\\u0085"),
            [0xE2, 0x80, 0xA8, ..] => (3, "\\u2028"),
            [0xE2, 0x80, 0xA9, ..] => (3, "\\u2029"),
            // Another character that begins so.
            _ => {
                at += 1;
                continue;
            }
        };
        json.extend_from_slice(&bytes[done..at]);
        json.extend_from_slice(escape.as_bytes());
        if escape.is_empty() {
            let _ = write!(json, "\\u{:04x}", bytes[at]);
        }
        at += length;
        done = at;
    }
    json.extend_from_slice(&bytes[done..]);
    start..json.len()
}

/// The place of the first byte that JSON escapes or that begins a character which some readers end a line at.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks();
    let special = |(number, word): (usize, &[u8; 8])| special_in(*word).map(|at| 8 * number + at);
    if let Some(at) = words.iter().enumerate().find_map(special) {
        return Some(at);
    }
    let at = rest.iter().position(|byte| matches!(byte, ..0x20 | b'"' | b'\\' | 0xC2 | 0xE2))?;
    Some(8 * words.len() + at)
}

/// The first such byte of eight.
fn special_in(bytes: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let word = u64::from_le_bytes(bytes);
    // Sets the highest bit of the first byte below `least`, and of none before it.
    let below = |word: u64, least: u64| word.wrapping_sub(least * ONES) & !word;
    let is = |word: u64, byte: u64| below(word ^ (byte * ONES), 1);
    // 0xC2 and 0xE2 differ in one bit.
    let found =
        below(word, 0x20) | is(word, b'"'.into()) | is(word, b'\\'.into()) | is(word & (0xDF * ONES), 0xC2);
    let found = found & (0x80 * ONES);
    (found != 0).then_some(found.trailing_zeros() as usize / 8)
}
