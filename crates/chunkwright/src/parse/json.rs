//! JSON, with what its dialects add: comments, single quotes, bare keys, trailing commas, and JSON Lines.
//!
//! One pass over the bytes with a stack of its own: any depth of nesting works. What is not JSON is read as values
//! between the marks that are, so that a broken file is cut as well as a valid one.

use super::Parser;
use super::data::Members;
use crate::document::DocumentBuilder;
use crate::span::Span;

/// JSON, JSON5, JSON with comments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

/// JSON Lines: each line is a record.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonLines;

impl Parser for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json", "jsonc", "json5", "geojson", "webmanifest"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        members(&source).report(&source, out);
    }
}

/// The members of `source`, an object or array.
pub(super) fn members(source: &str) -> Members {
    let mut scanner = Scanner::new(source);
    scanner.scan(0, source.len(), 1);
    scanner.members
}

impl Parser for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        let mut scanner = Scanner::new(&source);
        for line in out.lines().spans(source.len()) {
            let end = line.start as usize + line.of(&source).trim_end().len();
            scanner.scan(line.start as usize, end, 0);
        }
        scanner.members.report(&source, out);
    }
}

struct Scanner<'a> {
    source: &'a str,
    members: Members,
    /// The key whose value has not come yet.
    key: Span,
    /// Start of the comments directly above.
    lead: Option<usize>,
    /// Whether the line of the last member has not ended yet.
    on_line: bool,
}

impl<'a> Scanner<'a> {
    fn new(source: &'a str) -> Self {
        Self { source, members: Members::default(), key: Span::default(), lead: None, on_line: false }
    }

    /// Reads `start..end`. The outermost `roots` levels of brackets are not members.
    fn scan(&mut self, start: usize, end: usize, roots: usize) {
        let bytes = self.source.as_bytes();
        let mut at = start;
        // Brackets that are open and no members.
        let mut bare = 0;
        while at < end {
            match bytes[at] {
                b'\n' | b'\r' => {
                    self.on_line = false;
                    at += 1;
                }
                b' ' | b'\t' | b':' => at += 1,
                b',' => {
                    self.key = Span::default();
                    at += 1;
                }
                b'{' | b'[' => {
                    if self.members.depth() == 0 && bare < roots {
                        bare += 1;
                        // Comments above the whole value are about all of it.
                        self.lead = None;
                    } else {
                        let (from, key) = self.begin(at);
                        self.members.open(from, key, 0);
                    }
                    self.on_line = false;
                    at += 1;
                }
                b'}' | b']' => {
                    at += 1;
                    (self.key, self.lead) = (Span::default(), None);
                    if self.members.depth() > 0 {
                        self.members.close(at);
                        self.on_line = true;
                    } else {
                        bare = bare.saturating_sub(1);
                    }
                }
                b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => at = self.comment(at, end),
                _ => at = self.scalar(at, end),
            }
        }
        while roots == 0 && self.members.depth() > 0 {
            self.members.close(end);
        }
        (self.key, self.lead, self.on_line) = (Span::default(), None, false);
    }

    /// The start and the key of the member whose value is at `at`.
    fn begin(&mut self, at: usize) -> (usize, Span) {
        let key = std::mem::take(&mut self.key);
        let start = if key.is_empty() { at } else { key.start as usize };
        (self.lead.take().unwrap_or(start), key)
    }

    /// The byte after the comment at `at`.
    fn comment(&mut self, at: usize, end: usize) -> usize {
        let text = &self.source[at..end];
        let len = if text.starts_with("//") {
            text.find(['\n', '\r']).unwrap_or(text.len())
        } else {
            text[2..].find("*/").map_or(text.len(), |close| close + 4)
        };
        if self.on_line {
            self.members.extend(at + text[..len].trim_end().len());
        } else if self.key.is_empty() {
            self.lead.get_or_insert(at);
        }
        at + len
    }

    /// Reads the key or scalar at `at`; gives the byte after it.
    fn scalar(&mut self, at: usize, end: usize) -> usize {
        let bytes = self.source.as_bytes();
        let quote = bytes[at];
        let stop = if matches!(quote, b'"' | b'\'') {
            string_end(bytes, at, end, quote)
        } else {
            let is_mark = |at: &usize| {
                b",:{}[]\"\n\r".contains(&bytes[*at])
                    || bytes[*at] == b'/' && bytes.get(at + 1) == Some(&b'/')
            };
            (at + 1..end).find(is_mark).unwrap_or(end)
        };
        let blanks = bytes[stop..end].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let token = Span::new(at, at + self.source[at..stop].trim_end().len());
        if token.is_empty() {
            return stop;
        }
        if bytes[..end].get(stop + blanks) == Some(&b':') {
            self.key = token;
            return stop + blanks + 1;
        }
        let (from, key) = self.begin(at);
        self.members.leaf(from, key, token);
        self.on_line = true;
        stop
    }
}

/// The byte after the string that begins at `at`. One that nothing closes ends with its line.
fn string_end(bytes: &[u8], at: usize, end: usize, quote: u8) -> usize {
    let mut next = at + 1;
    while next < end {
        match bytes[next] {
            b'\\' => next += 1,
            b'\n' | b'\r' => return next,
            byte if byte == quote => return next + 1,
            _ => {}
        }
        next += 1;
    }
    end
}
