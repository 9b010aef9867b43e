//! Logs: an entry begins at a line with a time or a level and extends to the next one, including lines such as a stack
//! trace.

use super::Parser;
use super::lines::Lines;
use crate::document::{BlockKind, DocumentBuilder};

/// Logs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Log;

impl Parser for Log {
    fn name(&self) -> &'static str {
        "log"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["log"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        let lines = Lines::new(&source, out.lines());
        // If no line is stamped, an entry is a line with the lines indented under it.
        let is_stamped = (0..lines.len()).any(|line| is_stamp(lines.text(line)));
        let begins = |line: &usize| {
            let text = lines.text(*line);
            if is_stamped { is_stamp(text) } else { !text.is_empty() && lines.indent(*line) == 0 }
        };
        let mut from = lines.skip_blank(0);
        for line in (from + 1..lines.len()).filter(begins) {
            lines.block(out, BlockKind::Paragraph, from, lines.trim_end(from, line));
            from = line;
        }
        lines.block(out, BlockKind::Paragraph, from, lines.trim_end(from, lines.len()));
    }
}

/// Levels that entries begin with.
const LEVELS: &[&str] = &[
    "TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "ERR", "FATAL", "CRITICAL", "SEVERE",
    "PANIC",
];

/// Months that a time begins with in the style of syslog.
const MONTHS: &[&str] = &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Whether a line begins an entry: near its start stands a time or a level.
fn is_stamp(text: &str) -> bool {
    if text.starts_with([' ', '\t']) || text.is_empty() {
        return false;
    }
    let near = text.char_indices().nth(80).map_or(text, |(at, _)| &text[..at]);
    // A JSON object a line.
    if near.starts_with("{\"") {
        return true;
    }
    let is_mark = |c: char| c.is_whitespace() || "[]()<>|\"".contains(c);
    let mut words = near.split(is_mark).filter(|word| !word.is_empty()).take(6);
    let Some(first) = words.next() else { return false };
    let is_level =
        |word: &str| LEVELS.contains(&word.trim_end_matches([':', ',']).to_ascii_uppercase().as_str());
    // Prose may begin with `error` but not with `ERROR` or `error:`.
    let begins_with_level = is_level(first)
        && (first.ends_with(':') || near.starts_with(['[', '<']) || first.chars().all(char::is_uppercase));
    // In access logs an address stands before the time.
    begins_with_level || is_time(first) || MONTHS.contains(&first) || words.any(is_time)
}

/// Whether a word is a date or time: digits in groups of two or more with `-`, `/`, `:` between them.
fn is_time(word: &str) -> bool {
    let groups: Vec<&str> = word.split(['-', '/', ':', 'T']).take(4).collect();
    let digits = |group: &&str| group.len() >= 2 && group.starts_with(|c: char| c.is_ascii_digit());
    word.starts_with(|c: char| c.is_ascii_digit())
        && groups.len() >= 3
        && groups.iter().filter(|group| digits(group)).count() >= 2
}
