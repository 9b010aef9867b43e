//! TOML.
//!
//! One pass: a line begins a table or a key, and a value ends with its line unless a bracket or a string
//! of several lines is open. Tables with dotted names nest as their names do.

use super::Parser;
use super::data::Members;
use super::lines::Lines;
use crate::document::DocumentBuilder;
use crate::span::{LineIndex, Span};

/// TOML.
#[derive(Clone, Copy, Debug, Default)]
pub struct Toml;

impl Parser for Toml {
    fn name(&self) -> &'static str {
        "toml"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["toml"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        members(&source, out.lines()).report(&source, out);
    }
}

/// The members of `source`.
pub(super) fn members(source: &str, index: &LineIndex) -> Members {
    let lines = Lines::new(source, index);
    let members = Members::default();
    let mut reader = Reader { source, lines, members, tables: Vec::new(), lead: None, end: 0 };
    let mut at = 0;
    while at < reader.lines.len() {
        at = reader.line(at);
    }
    reader.close(0);
    reader.members
}

struct Reader<'a> {
    source: &'a str,
    lines: Lines<'a>,
    members: Members,
    /// Names of the tables that are open, as written; an element of an array of tables is empty.
    tables: Vec<&'a str>,
    /// Start of the comments directly above.
    lead: Option<usize>,
    /// End of the last line that is part of a member.
    end: usize,
}

impl<'a> Reader<'a> {
    /// Closes tables until `count` are open.
    fn close(&mut self, count: usize) {
        while self.tables.len() > count {
            self.tables.pop();
            self.members.close(self.end);
        }
    }

    /// Reads what begins at line `at`; gives the line after it.
    fn line(&mut self, at: usize) -> usize {
        let text = self.lines.trimmed(at);
        let start = self.lines.end(at) - text.len();
        if text.is_empty() {
            return at + 1;
        }
        if text.starts_with('#') {
            self.lead.get_or_insert(start);
            return at + 1;
        }
        if let Some((name, is_array)) = table_name(text) {
            self.table(name, is_array, start);
            self.end = self.lines.end(at);
            return at + 1;
        }
        let from = self.lead.take().unwrap_or(start);
        let length = key(text);
        let key = Span::new(start, start + length);
        self.members.open(from, key, 0);
        if let Some(value) = text.get(length + 1..) {
            self.members.value(Span::new(self.lines.end(at) - value.trim_start().len(), self.lines.end(at)));
        }
        let end = self.value(at, start + length);
        self.end = self.lines.end(end - 1);
        self.members.close(self.end);
        end
    }

    /// Opens the table `name` whose line begins at `start`.
    fn table(&mut self, name: &'a str, is_array: bool, start: usize) {
        let parts: Vec<&str> = dotted(name);
        let from = self.lead.take().unwrap_or(start);
        let mut open = 0;
        let mut known = 0;
        for (index, part) in parts.iter().enumerate() {
            let is_last = index + 1 == parts.len();
            let is_item = self.tables.get(open + 1) == Some(&"");
            if self.tables.get(open) != Some(part) || (is_last && !(is_array && is_item)) {
                break;
            }
            open += 1 + usize::from(is_item && !is_last);
            known = index + 1;
        }
        self.close(open);
        for part in &parts[known..] {
            let at = part.as_ptr() as usize - self.source.as_ptr() as usize;
            self.members.open(from, Span::new(at, at + part.len()), 0);
            self.tables.push(part);
        }
        if is_array {
            self.members.open(from, Span::default(), 0);
            self.tables.push("");
        }
    }

    /// The line after the value that begins at line `at`, byte `from`; reports the elements of an array.
    fn value(&mut self, at: usize, from: usize) -> usize {
        let (mut depth, mut string) = (0, None);
        let mut line = at;
        loop {
            let text = self.lines.text(line);
            let start = self.lines.start(line);
            let skip = from.saturating_sub(start).min(text.len());
            let bare = text.trim_start();
            let is_key = || key(bare) < bare.len() && !bare.starts_with(['"', '\'', '{', '[', '#']);
            // Nothing closed a bracket: a key in the first column begins anew.
            if line > at
                && string.is_none()
                && bare.len() == text.len()
                && (is_key() || table_name(text).is_some())
            {
                return line;
            }
            if line > at
                && depth == 1
                && string.is_none()
                && !bare.is_empty()
                && !bare.starts_with([']', '}', ','])
            {
                let begin = start + text.len() - bare.len();
                self.members.leaf(begin, Span::default(), Span::new(begin, self.lines.end(line)));
            }
            depth = scan(&text[skip..], depth, &mut string);
            line += 1;
            if depth == 0 && string.is_none() || line >= self.lines.len() {
                return line;
            }
        }
    }
}

/// The name in the line of a table, and whether it is an element of an array.
fn table_name(text: &str) -> Option<(&str, bool)> {
    let inner = text.strip_prefix('[')?;
    let is_array = inner.starts_with('[');
    let inner = inner.trim_start_matches('[');
    let mut quote = None;
    let end = inner.char_indices().find(|&(_, c)| {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
        quote.is_none() && c == ']'
    });
    let (end, _) = end?;
    let after = inner[end..].trim_start_matches(']').trim_start();
    let name = inner[..end].trim();
    let is_name = !name.is_empty() && !name.contains([',', '=', '{']);
    (is_name && (after.is_empty() || after.starts_with('#'))).then_some((name, is_array))
}

/// The parts of a dotted name, quotes kept.
fn dotted(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quote) = (0, None);
    for (at, c) in name.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '.' => {
                parts.push(name[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(name[start..].trim());
    // An empty name would look like an element of an array.
    parts.retain(|part| !part.is_empty());
    parts
}

/// Length of the key before `=`; all of a line that has none.
fn key(text: &str) -> usize {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '=' => return at,
            None if c == '#' => break,
            _ => {}
        }
    }
    text.len()
}

/// Depth of brackets after `text`, and the string of several lines that is still open there.
fn scan(text: &str, mut depth: usize, string: &mut Option<&'static str>) -> usize {
    let mut rest = text;
    loop {
        if let Some(close) = *string {
            let Some(at) = closing(rest, close) else { return depth };
            rest = &rest[at..];
            *string = None;
        }
        let Some(at) = rest.find(['"', '\'', '[', ']', '{', '}', '#']) else { return depth };
        rest = &rest[at..];
        match rest.as_bytes()[0] {
            b'#' => return depth,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ if rest.starts_with("\"\"\"") => *string = Some("\"\"\""),
            _ if rest.starts_with("'''") => *string = Some("'''"),
            mark => {
                let close = if mark == b'"' { "\"" } else { "'" };
                // A string of one line ends with it.
                let Some(at) = closing(&rest[1..], close) else { return depth };
                rest = &rest[1 + at..];
                continue;
            }
        }
        rest = &rest[if string.is_some() { 3 } else { 1 }..];
    }
}

/// The byte after `close` in `text`, escapes left out in strings that have them.
fn closing(text: &str, close: &str) -> Option<usize> {
    if close.starts_with('\'') {
        return text.find(close).map(|at| at + close.len());
    }
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'\\' {
            at += 1;
        } else if bytes[at..].starts_with(close.as_bytes()) {
            return Some(at + close.len());
        }
        at += 1;
    }
    None
}
