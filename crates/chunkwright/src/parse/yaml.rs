//! YAML, by indentation.
//!
//! Indentation alone determines the keys and items of a valid file, so nothing else is read: a value that continues
//! over lines is indented deeper than its key, whether plain, quoted, literal or in brackets. Unlike a parser of the
//! whole language, this also reads templates.

use super::Parser;
use super::data::Members;
use super::lines::Lines;
use crate::document::DocumentBuilder;
use crate::span::{LineIndex, Span};

/// YAML.
#[derive(Clone, Copy, Debug, Default)]
pub struct Yaml;

impl Parser for Yaml {
    fn name(&self) -> &'static str {
        "yaml"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["yaml", "yml"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        members(&source, out.lines()).report(&source, out);
    }
}

/// The members of `source`.
pub(super) fn members(source: &str, index: &LineIndex) -> Members {
    let lines = Lines::new(source, index);
    let is_content =
        |line: &usize| !matches!(lines.text(*line), "" | "---") && !lines.trimmed(*line).starts_with('#');
    let first = (0..lines.len()).find(is_content).unwrap_or(lines.len());
    let many = (first..lines.len()).any(|line| is_separator(lines.text(line)));
    let mut reader = Reader { lines, members: Members::default(), lead: None, end: 0 };
    if many {
        reader.members.open(reader.lines.start(0), Span::default(), 0);
    }
    let mut at = 0;
    while at < reader.lines.len() {
        at = reader.line(at, many && at > first);
    }
    reader.close(0);
    reader.members
}

/// The line between two documents.
fn is_separator(text: &str) -> bool {
    text == "---" || text.starts_with("--- ")
}

struct Reader<'a> {
    lines: Lines<'a>,
    members: Members,
    /// Start of the comments directly above.
    lead: Option<usize>,
    /// End of the last line that is part of a member.
    end: usize,
}

/// The order of members by depth: an item is deeper than a key in its column. 0 is a document.
fn key_mark(column: usize) -> usize {
    2 * column + 2
}

fn item_mark(column: usize) -> usize {
    2 * column + 3
}

impl Reader<'_> {
    /// Closes the members whose mark is at least `mark`.
    fn close(&mut self, mark: usize) {
        while self.members.mark().is_some_and(|open| open >= mark) {
            self.members.close(self.end);
        }
    }

    /// Reads the member at line `at`; gives the line after it.
    fn line(&mut self, at: usize, separates: bool) -> usize {
        let text = self.lines.text(at);
        let bare = self.lines.trimmed(at);
        if bare.is_empty() {
            return at + 1;
        }
        let begin = self.lines.end(at) - bare.len();
        // Template directives on lines of their own are not part of the structure.
        if bare.starts_with('#') || bare.starts_with("{{") && bare.ends_with("}}") || bare.starts_with("{%") {
            self.lead.get_or_insert(begin);
            return at + 1;
        }
        if is_separator(text) || text == "..." {
            if separates && text != "..." {
                self.close(0);
                let start = self.lead.take().unwrap_or(begin);
                self.members.open(start, Span::default(), 0);
            } else {
                self.close(1);
            }
            self.lead = None;
            self.end = self.lines.end(at);
            return at + 1;
        }
        let mut column = self.lines.indent(at);
        let mut rest = bare;
        let mut start = begin;
        // `- - key: value` begins two items and a key.
        while let Some(after) = item(rest) {
            self.close(item_mark(column));
            self.members.open(self.lead.take().unwrap_or(start), Span::default(), item_mark(column));
            let skipped = rest.len() - after.len();
            column += skipped;
            start += skipped;
            rest = after;
        }
        let Some(key) = key(rest) else {
            if rest.is_empty() || is_open(rest) && start > begin {
                self.end = self.lines.end(at);
                return at + 1;
            }
            if start == begin {
                self.close(key_mark(column));
                self.members.open(self.lead.take().unwrap_or(start), Span::default(), key_mark(column));
            }
            self.scalar(at, rest);
            return self.value(at, self.lines.indent(at), rest);
        };
        self.close(key_mark(column));
        let span = Span::new(start, start + key);
        self.members.open(self.lead.take().unwrap_or(start), span, key_mark(column));
        let value = rest[key + 1..].trim_start();
        if is_open(value) {
            self.end = self.lines.end(at);
            return at + 1;
        }
        self.scalar(at, value);
        self.value(at, column, value)
    }

    /// Says what the member opened last has as its value: the rest of line `at`, without a comment.
    fn scalar(&mut self, at: usize, value: &str) {
        let from = self.lines.end(at) - value.len();
        let comment = value.find(" #").filter(|_| !value.starts_with(['"', '\'']));
        self.members.value(Span::new(from, from + comment.unwrap_or(value.len())));
    }

    /// The line after the value `text` that begins at line `at` and continues while lines are indented deeper than
    /// `column`; a bracket that closes it may stand at that column, and quoted text anywhere.
    fn value(&mut self, at: usize, column: usize, text: &str) -> usize {
        let mut end = self.lines.indented(at + 1, column + 1).max(at + 1).max(self.quoted(at, text));
        let closing = self.lines.trimmed(end);
        if end > at + 1 && closing.starts_with([']', '}']) && self.lines.indent(end) == column {
            end += 1;
        }
        self.end = self.lines.end(end - 1);
        end
    }
}

impl Reader<'_> {
    /// The line after the quoted value `text` of line `at`, if it is closed before the next key or item.
    fn quoted(&self, at: usize, text: &str) -> usize {
        let Some(quote) = text.chars().next().filter(|&c| c == '"' || c == '\'') else { return at };
        let closes = |text: &str| {
            let mut before = ' ';
            text.chars().any(|c| std::mem::replace(&mut before, c) != '\\' && c == quote)
        };
        if closes(&text[1..]) {
            return at;
        }
        let inside = |line: &usize| {
            let bare = self.lines.trimmed(*line);
            closes(bare) || item(bare).is_none() && key(bare).is_none()
        };
        let mut lines = (at + 1..self.lines.len()).take_while(inside);
        lines.find(|&line| closes(self.lines.text(line))).map_or(at, |line| line + 1)
    }
}

/// The text after the mark of an item.
fn item(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('-')?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

/// Whether a value says nothing yet: it is empty, a comment, an anchor or a tag.
fn is_open(value: &str) -> bool {
    let bare = value.split(" #").next().unwrap_or_default().trim();
    bare.is_empty() || bare.starts_with('#') || bare.starts_with(['&', '!']) && !bare.contains(' ')
}

/// Length of the key that `text` begins with, its colon left out.
fn key(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    // YAML allows at most 1,024 characters for a key without a mark.
    let near = text.char_indices().nth(1024).map_or(text, |(at, _)| &text[..at]);
    let from = match first {
        '"' | '\'' => 1 + near[1..].find(first)? + 1,
        '[' | '{' if !near.starts_with("{{") => return None,
        '#' | '|' | '>' | '@' | '`' => return None,
        _ => 0,
    };
    let rest = &near[from..];
    let at = match rest.find(": ").or_else(|| rest.find(":\t")) {
        Some(at) => at,
        None => rest.len().checked_sub(1).filter(|_| rest.ends_with(':') && near.len() == text.len())?,
    };
    let is_comment = rest[..at].contains(" #");
    (from + at > 0 && !is_comment && (from == 0 || rest[..at].trim().is_empty())).then_some(from + at)
}
