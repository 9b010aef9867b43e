//! Plain text.

use std::ops::Range;

use super::Parser;
use super::lines::Lines;
use super::turns::{Turn, turns};
use crate::document::{BlockKind, DocumentBuilder, Enclosure, EnclosureKind};
use crate::span::Span;
use crate::words::is_terminator;

/// Plain text: paragraphs between blank lines, or the turns of a conversation. Where a line says something by itself, as
/// in lists and poems, it is a place to cut; lines that were wrapped are not. The fallback for formats that no other
/// parser knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text;

impl Parser for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt", "text"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        out.set_text();
        let source = out.source();
        let lines = Lines::new(&source, out.lines());
        let turns = turns(&lines);
        let first = turns.first().map_or(lines.len(), |turn| turn.line);
        let mut wraps = Wraps::default();
        let all = paragraphs(&lines, 0..lines.len());
        all.clone().for_each(|paragraph| wraps.count(&lines, paragraph));
        for paragraph in paragraphs(&lines, 0..first) {
            lines.block(out, BlockKind::Paragraph, paragraph.start, paragraph.end);
            if !wraps.has(&lines, paragraph.clone()) {
                records(&lines, paragraph, 0, out);
            }
        }
        let ends = turns.iter().skip(1).map(|turn| turn.line).chain([lines.len()]);
        for (turn, end) in turns.iter().zip(ends) {
            let to = lines.trim_end(turn.line, end);
            lines.block(out, BlockKind::Paragraph, turn.line, to);
            said(&lines, turn, to, out);
            for paragraph in paragraphs(&lines, turn.line..to) {
                if paragraph.start > turn.line {
                    out.seam(lines.start(paragraph.start), 0);
                }
                if !wraps.has(&lines, paragraph.clone()) {
                    records(&lines, paragraph, 1, out);
                }
            }
        }
    }
}

/// The lines between blank lines in `range`.
fn paragraphs<'a>(
    lines: &'a Lines<'_>,
    range: Range<usize>,
) -> impl Iterator<Item = Range<usize>> + Clone + 'a {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let start = lines.skip_blank(at);
        at = (start..range.end).find(|&line| lines.is_blank(line)).unwrap_or(range.end);
        (start < at).then_some(start..at)
    })
}

/// Lets the parts of a turn that ends before line `to` begin with its label.
fn said(lines: &Lines<'_>, turn: &Turn, to: usize, out: &mut DocumentBuilder) {
    let (start, end) = (lines.start(turn.line), lines.end(to - 1));
    let open = Span::new(start + turn.label.start, start + turn.label.end);
    if (open.end as usize) < end {
        let kind = EnclosureKind::Quote;
        out.enclosure(Enclosure { kind, span: Span::new(start, end), open, close: "".into() });
    }
}

/// Marks the lines of a paragraph as places to cut, those indented under others as worse ones.
fn records(lines: &Lines<'_>, paragraph: Range<usize>, depth: usize, out: &mut DocumentBuilder) {
    let margin = lines.indent(paragraph.start);
    for line in paragraph.skip(1) {
        out.seam(lines.start(line), depth + usize::from(lines.indent(line) > margin));
    }
}

/// How the lines of a text end, by which one tells wrapped prose from lines that say something by themselves.
#[derive(Clone, Copy, Default)]
struct Wraps {
    /// Line breaks within paragraphs.
    joints: usize,
    /// Those at which a sentence goes on.
    torn: usize,
    /// Those at which the next word would not have fitted on the line.
    forced: usize,
    /// Those whose lines are of a script without upper and lower case.
    caseless: usize,
    /// Ends of sentences inside lines.
    inner: usize,
    /// Columns of the longest lines.
    width: usize,
}

/// Line breaks from which on a paragraph tells by itself whether it was wrapped.
const ENOUGH_JOINTS: usize = 4;
/// Widest lines that prose is wrapped at, in columns.
const MAX_WRAP: usize = 160;
/// Columns from which on lines that tear sentences are wrapped, even if ragged.
const WIDE: usize = 60;

impl Wraps {
    /// Whether the lines of a paragraph were wrapped; a short one is as the others of the text are.
    fn has(self, lines: &Lines<'_>, paragraph: Range<usize>) -> bool {
        let mut own = Self::default();
        own.count(lines, paragraph);
        if own.joints >= ENOUGH_JOINTS { own.is_prose() } else { self.is_prose() }
    }

    /// Adds a paragraph.
    fn count(&mut self, lines: &Lines<'_>, paragraph: Range<usize>) {
        let widths: Vec<usize> = paragraph.clone().map(|line| columns(lines.text(line))).collect();
        let mut sorted = widths.clone();
        sorted.sort_unstable();
        let width = sorted[(sorted.len() - 1) * 9 / 10];
        self.width = self.width.max(width);
        for (index, line) in paragraph.enumerate().skip(1) {
            let (before, after) = (lines.trimmed(line - 1), lines.trimmed(line));
            let word = after.split_whitespace().next().unwrap_or_default();
            let first = after.chars().find(|c| c.is_alphanumeric()).unwrap_or(' ');
            let is_caseless = first.is_alphabetic() && !first.is_lowercase() && !first.is_uppercase();
            // Between letters without spaces a line can be broken anywhere.
            let next = if is_caseless { columns(word).min(4) } else { 1 + columns(word) };
            self.joints += 1;
            self.forced += usize::from(widths[index - 1] + next > width);
            self.caseless += usize::from(is_caseless);
            let is_open = !before.ends_with(is_end) && (first.is_lowercase() || is_caseless);
            self.torn += usize::from(is_open && !(is_caseless && before.ends_with(['，', '、', '：'])));
            self.inner += usize::from(before.trim_end_matches(is_end).contains(is_end));
        }
    }

    fn is_prose(self) -> bool {
        let Self { joints, torn, forced, caseless, inner, width } = self;
        if width > MAX_WRAP || torn * 3 < joints {
            return false;
        }
        if caseless * 2 > joints {
            forced * 10 >= joints * 7 && inner > 0
        } else {
            forced * 2 >= joints || width >= WIDE
        }
    }
}

/// Whether a sentence or clause ends with `c`.
fn is_end(c: char) -> bool {
    is_terminator(c) || matches!(c, '.' | ':' | ';')
}

/// Columns that a line takes: two for a character of Chinese, Japanese or Korean.
fn columns(text: &str) -> usize {
    text.chars().map(|c| 1 + usize::from(matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}'))).sum()
}
