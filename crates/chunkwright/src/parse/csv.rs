//! Tables as text: comma-separated values and their like.
//!
//! The separator is detected from the text. The first row is a header unless one of its cells is a number; every part
//! repeats it. Lines of a title above it, which spreadsheets write, are a paragraph. A row ends where no quoted field is open; unclosed quotes are read as text.

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

/// Most rows above the header.
const MOST_PREAMBLE: usize = 8;

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
        let preamble = preamble(&source, separator, table);
        out.block(BlockKind::Paragraph, start, preamble);
        let start = if preamble > table { preamble } else { start };
        let mut rows = Rows { text: &source, separator, quotes: true, at: preamble };
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

/// A row of the sample.
struct Row {
    span: Span,
    cells: usize,
    /// Number of cells up to the last one that has text.
    filled: usize,
}

/// The first rows from byte `at` on.
fn sample(text: &str, separator: u8, at: usize) -> Vec<Row> {
    let most = text.floor_char_boundary(at.saturating_add(SAMPLE_BYTES));
    let mut rows = Rows { text: &text[..most], separator, quotes: true, at };
    let mut sample = Vec::with_capacity(SAMPLE_ROWS);
    while sample.len() < SAMPLE_ROWS {
        let mut cells = 1_usize;
        let Some(span) = rows.next_row(|_| cells += 1) else { break };
        let text = span.of(text);
        let visible = text.trim_end_matches([separator as char, ' ']);
        let empty = text[visible.len()..].bytes().filter(|byte| *byte == separator).count();
        sample.push(Row { span, cells, filled: cells.saturating_sub(empty) });
    }
    sample
}

/// The number of cells that most rows have, more than one, and how many have it.
fn width(rows: &[Row]) -> Option<(usize, usize)> {
    let same = |cells: usize| rows.iter().filter(|row| row.cells == cells).count();
    let first = rows.first()?.cells;
    let widths = rows.iter().map(|row| row.cells).filter(|cells| *cells > 1);
    // Of equal numbers that of the first row counts.
    widths.max_by_key(|&cells| (same(cells), cells == first, cells)).map(|cells| (same(cells), cells))
}

/// The separator that gives most rows the same number of cells, of those the one with most cells.
fn separator(text: &str) -> u8 {
    let score = |separator: u8| width(&sample(text, separator, 0)).unwrap_or((0, 0));
    // Of equal scores the likeliest separator wins.
    SEPARATORS.iter().copied().rev().max_by_key(|&separator| score(separator)).unwrap_or(b',')
}

/// Where the header row begins below lines of a title with fewer cells; `at` if the table has none of these.
fn preamble(text: &str, separator: u8, at: usize) -> usize {
    let rows = sample(text, separator, at);
    let header = |width: usize| {
        let header =
            rows.iter().take(MOST_PREAMBLE + 1).position(|row| row.filled == width).filter(|at| *at > 0)?;
        let (row, below) = (&rows[header], rows.get(header + 1)?);
        // A header directly above may lack the name of one column.
        let gap = &text[rows[0].span.end as usize..row.span.start as usize];
        let lacks_one =
            header == 1 && width > 2 && rows[0].filled + 1 == width && gap.matches('\n').count() < 2;
        let is_one = below.cells == width && is_header(row.span.of(text), separator) && !lacks_one;
        is_one.then_some(row.span.start as usize)
    };
    width(&rows).and_then(|(_, width)| header(width)).unwrap_or(at)
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
