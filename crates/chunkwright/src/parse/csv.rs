//! Tables as text: comma-separated values and their like.
//!
//! The separator is detected from the text. The first row is a header unless one of its cells is a number; every part
//! repeats it. A row ends where no quoted field is open; unclosed quotes are read as text.

use super::Parser;
use crate::document::{BlockKind, DocumentBuilder, Enclosure, EnclosureKind};
use crate::span::Span;

/// Comma-separated values; other separators are recognized.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv;

/// Possible separators of cells, the likeliest first.
const SEPARATORS: &[u8] = b",;\t|";

/// Rows and bytes that are examined to find the separator.
const SAMPLE_ROWS: usize = 24;
const SAMPLE_BYTES: usize = 1 << 16;

impl Parser for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv", "tsv"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        let text = source.trim_start_matches('\u{feff}');
        let start = source.len() - text.len();
        // Spreadsheets write what separates into a line of its own.
        let line = text.lines().next().unwrap_or_default();
        let (separator, table) = match line.strip_prefix("sep=").map(str::as_bytes) {
            Some(&[separator]) => (separator, start + line.len()),
            _ => (separator(text), start),
        };
        let mut rows = Rows { text: &source, separator, quotes: true, at: table };
        let header = rows.next_row(|cell| out.seam(cell, 1));
        let is_header = header.is_some_and(|row| is_header(row.of(&source), separator));
        while let Some(row) = rows.next_row(|cell| out.seam(cell, 1)) {
            out.seam(row.start as usize, 0);
        }
        out.block(BlockKind::Table, start, source.len());
        if let Some(row) = header.filter(|_| is_header) {
            let open = Span::new(start, row.end as usize);
            let span = Span::new(start, source.len());
            out.enclosure(Enclosure { kind: EnclosureKind::Table, span, open, close: "".into() });
        }
    }
}

/// Rows of a table, from byte `at` on.
struct Rows<'a> {
    text: &'a str,
    separator: u8,
    /// Whether quotes are read as such: until an unclosed one.
    quotes: bool,
    at: usize,
}

impl Rows<'_> {
    /// The next row that is not blank, without its line break; reports where each cell after the first begins.
    fn next_row(&mut self, mut cell: impl FnMut(usize)) -> Option<Span> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() && matches!(bytes[self.at], b'\n' | b'\r') {
            self.at += 1;
        }
        let start = self.at;
        let mut begins = true;
        while self.at < bytes.len() && !matches!(bytes[self.at], b'\n' | b'\r') {
            let byte = bytes[self.at];
            if begins && byte == b'"' && self.quotes {
                match quoted_end(bytes, self.at) {
                    Some(end) => self.at = end,
                    None => self.quotes = false,
                }
                begins = false;
                continue;
            }
            self.at += 1;
            begins = byte == self.separator || begins && byte == b' ';
            if byte == self.separator {
                cell(self.at);
            }
        }
        (self.at > start).then(|| Span::new(start, self.at))
    }
}

/// The byte after the quoted field at `at`; a doubled quote is one of its characters.
fn quoted_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut next = at + 1;
    loop {
        next += memchr::memchr(b'"', &bytes[next..])? + 1;
        if bytes.get(next) != Some(&b'"') {
            return Some(next);
        }
        next += 1;
    }
}

/// The separator that gives most rows the same number of cells, of those the one with most cells.
fn separator(text: &str) -> u8 {
    let sample = (0..=SAMPLE_BYTES.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let score = |separator: u8| {
        let mut rows = Rows { text: &text[..sample], separator, quotes: true, at: 0 };
        let mut counts = Vec::with_capacity(SAMPLE_ROWS);
        while counts.len() < SAMPLE_ROWS {
            let mut cells = 1_usize;
            if rows.next_row(|_| cells += 1).is_none() {
                break;
            }
            counts.push(cells);
        }
        let first = counts.first().copied().unwrap_or(1);
        let same = counts.iter().filter(|&&count| count == first).count();
        if first > 1 { (same, first) } else { (0, 0) }
    };
    // Of equal scores the likeliest separator wins.
    SEPARATORS.iter().copied().rev().max_by_key(|&separator| score(separator)).unwrap_or(b',')
}

/// Whether a first row is a header: it has words and no number.
fn is_header(row: &str, separator: u8) -> bool {
    let mut cells = row.split(separator as char).map(|cell| cell.trim().trim_matches('"'));
    let is_number = |cell: &str| {
        cell.contains(|c: char| c.is_ascii_digit())
            && cell.chars().all(|c| c.is_ascii_digit() || "+-.,:/eE%$€ TZ".contains(c))
    };
    row.contains(char::is_alphabetic) && !cells.any(is_number)
}
