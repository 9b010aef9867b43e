//! Recognizes plain top-level blocks of a Markdown document without parsing it.
//!
//! Most of a document is paragraphs, headings, fences and HTML that begin at the margin. How their lines begin tells
//! where they end, several times faster than a parser. Whatever could be anything else (a list, a quote, a table, a
//! definition, a setext heading) is left to the parser, from its first line to a border: a line at the margin, after a
//! blank one, that can continue neither a list nor a quote. The rules here are stricter than `CommonMark`'s, so that
//! whatever they accept is right.

use std::ops::Range;

use memchr::memmem;

use super::modules::Modules;
use crate::span::LineIndex;

/// The next construct.
pub(super) enum Next {
    /// A paragraph.
    Paragraph(Range<usize>),
    /// A heading with its level and title.
    Heading(u8, String, Range<usize>),
    /// A block of HTML.
    Html(Range<usize>),
    /// A fence.
    Fence(Range<usize>),
    /// A statement of MDX.
    Module(Range<usize>),
    /// Something that takes a parser to read.
    Other(Range<usize>, Detail),
}

/// The part of a construct that the parser has to see.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Every byte.
    Full,
    /// The beginnings of its lines (see [`beginning`]).
    Beginnings,
}

/// Reads a source line by line, always between two blocks at the top level.
pub(super) struct Plain<'a> {
    source: &'a str,
    lines: &'a LineIndex,
    /// Start of the first line: a byte order mark or front matter may precede it.
    body: usize,
    /// The next line, 1-based.
    line: usize,
    /// Finds statements, where there are some.
    modules: Option<&'a mut Modules>,
    /// Starts of constructs that reach over borders: sixteen, and sixteen times as many for each further time it is named.
    open: &'a [usize],
}

impl<'a> Plain<'a> {
    pub(super) fn new(
        source: &'a str,
        lines: &'a LineIndex,
        body: usize,
        modules: Option<&'a mut Modules>,
        open: &'a [usize],
    ) -> Self {
        Self { source, lines, body, line: lines.line(body as u32), modules, open }
    }

    /// Reads past the next construct and returns it.
    pub(super) fn next(&mut self) -> Option<Next> {
        loop {
            let text = self.text(self.line)?;
            let (kind, indent) = outdented(text);
            let start = self.start(self.line) + indent;
            let is_open = kind != Kind::Blank && self.open.contains(&self.start(self.line));
            return Some(match kind {
                Kind::Blank => {
                    self.line += 1;
                    continue;
                }
                _ if is_open => self.other(self.start(self.line)),
                Kind::Text => {
                    if let Some(range) =
                        self.modules.as_mut().and_then(|modules| modules.read(self.source, start))
                    {
                        self.line = if range.end < self.source.len() {
                            self.lines.line(range.end as u32)
                        } else {
                            self.lines.count() + 1
                        };
                        return Some(Next::Module(range));
                    }
                    self.paragraph(start).unwrap_or_else(|| self.other(start))
                }
                Kind::Heading(level) => {
                    self.line += 1;
                    let range = start..self.start(self.line);
                    match title(&self.source[range.start + usize::from(level)..range.end]) {
                        Some(title) => Next::Heading(level, title, range),
                        None => Next::Other(range, Detail::Full),
                    }
                }
                Kind::Html => {
                    self.line += 1;
                    while self.text(self.line).is_some_and(|text| Kind::of(text) != Kind::Blank) {
                        self.line += 1;
                    }
                    Next::Html(start..self.start(self.line))
                }
                Kind::Raw(end) => {
                    while let Some(text) = self.text(self.line) {
                        self.line += 1;
                        if memmem::find(text, end.as_bytes()).is_some() {
                            break;
                        }
                    }
                    Next::Html(start..self.start(self.line))
                }
                Kind::Fence => self.fence(start),
                Kind::Indented(_) | Kind::Other => self.other(start),
            });
        }
    }

    /// The construct from `start` up to a border or the end.
    fn other(&mut self, start: usize) -> Next {
        let mut after_blank = false;
        // Whether nothing since the last blank line could take a fence for a part of it, as HTML and definitions do.
        let mut yields = true;
        let times = self.open.iter().filter(|open| **open == start).count();
        let mut borders = if times > 0 { 16_usize.saturating_pow(times as u32) } else { 0 };
        let mut detail = if times > 0 { Detail::Full } else { Detail::Beginnings };
        while let Some(text) = self.text(self.line) {
            let kind = Kind::of(text);
            let border = match kind {
                // The parser lets a list reach over definitions that follow it.
                Kind::Text => text[0] != b'[',
                Kind::Heading(_) | Kind::Fence | Kind::Html | Kind::Raw(_) => true,
                Kind::Blank | Kind::Indented(_) | Kind::Other => false,
            };
            if border && (after_blank || yields && kind == Kind::Fence) {
                if borders == 0 {
                    break;
                }
                borders -= 1;
            }
            after_blank = kind == Kind::Blank;
            let inner = &text[markers(text)..];
            yields = after_blank || yields && !matches!(inner[0], b'<' | b'[');
            let inner = Kind::of(inner);
            if !matches!(inner, Kind::Text | Kind::Blank | Kind::Fence) {
                detail = Detail::Full;
            }
            self.line += 1;
        }
        let range = start..self.start(self.line);
        // Definitions may go on at the next line.
        if detail == Detail::Beginnings && self.source[range.clone()].contains("]:") {
            detail = Detail::Full;
        }
        Next::Other(range, detail)
    }

    /// The paragraph that begins at `start`, if that is plainly what it is.
    fn paragraph(&mut self, start: usize) -> Option<Next> {
        let mut line = self.line + 1;
        let end = loop {
            let Some(text) = self.text(line) else { break self.source.len() };
            // Most lines.
            if text[0].is_ascii_alphabetic() || !text[0].is_ascii() {
                line += 1;
                continue;
            }
            match outdented(text).0 {
                Kind::Text => {}
                Kind::Blank | Kind::Heading(_) | Kind::Fence | Kind::Html | Kind::Raw(_) => {
                    break self.start(line);
                }
                Kind::Indented(inner) if Kind::of(inner) == Kind::Text => {}
                Kind::Indented(_) | Kind::Other => return None,
            }
            line += 1;
        };
        // A paragraph may begin with definitions of links.
        let text = &self.source[start..end];
        if text.starts_with('[') && text.contains("]:") {
            return None;
        }
        self.line = line;
        Some(Next::Paragraph(start..end))
    }

    /// The fence that begins at `start`.
    fn fence(&mut self, start: usize) -> Next {
        let opening = &self.source.as_bytes()[start..];
        let mark = opening[0];
        let width = run(opening, mark);
        self.line += 1;
        while let Some(text) = self.text(self.line) {
            self.line += 1;
            let indent = run(&text[..text.len().min(3)], b' ');
            let marks = run(&text[indent..], mark);
            let after = &text[indent + marks..];
            if marks >= width && matches!(after[run(after, b' ')..].first(), None | Some(b'\n' | b'\r')) {
                return Next::Fence(start..self.start(self.line));
            }
        }
        Next::Fence(start..self.source.len())
    }

    /// Where a line starts; the end of the source for a line past the last.
    fn start(&self, line: usize) -> usize {
        if line > self.lines.count() {
            return self.source.len();
        }
        (self.lines.start(line) as usize).max(self.body)
    }

    /// The text of a line with its line break; nothing past the last.
    fn text(&self, line: usize) -> Option<&'a [u8]> {
        if line > self.lines.count() {
            return None;
        }
        let text = &self.source.as_bytes()[self.start(line)..self.start(line + 1)];
        (!text.is_empty()).then_some(text)
    }
}

/// Length of what is left of `line` where [`Detail::Beginnings`] are enough: the indentation and the
/// marks of lists and quotes, if words follow that only go on with a paragraph or with code.
pub(super) fn beginning(line: &[u8]) -> Option<usize> {
    let len = markers(line);
    (Kind::of(&line[len..]) == Kind::Text).then_some(len)
}

/// Length of the indentation and the marks of lists and quotes that `line` begins with. Not all of it.
fn markers(line: &[u8]) -> usize {
    let mut len = 0;
    loop {
        let rest = &line[len..];
        let mark = match rest[0] {
            b' ' | b'\t' | b'>' => 1,
            b'-' | b'+' | b'*' => 1 + run(&rest[1..], b' '),
            b'0'..=b'9' => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let mark = digits + usize::from(matches!(rest.get(digits), Some(b'.' | b')')));
                mark + run(&rest[mark..], b' ')
            }
            _ => return len,
        };
        let ends_with_blank = matches!(rest[mark - 1], b' ' | b'\t' | b'>');
        // With nothing after it a mark may underline a heading.
        let is_empty = mark > 1 && matches!(rest.get(mark), Some(b'\t' | b'\r' | b'\n'));
        if !ends_with_blank || is_empty || mark == rest.len() {
            return len;
        }
        len += mark;
    }
}

/// The kind of a line, by its beginning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind<'a> {
    Blank,
    /// The line begins a paragraph, or continues one.
    Text,
    /// The line is a heading of this level.
    Heading(u8),
    /// The line opens a fence.
    Fence,
    /// The line begins a block of HTML that ends at a blank line.
    Html,
    /// The line begins a block of HTML that ends with the line that has this.
    Raw(&'static str),
    /// Blanks, and then this.
    Indented(&'a [u8]),
    /// Anything else.
    Other,
}

impl<'a> Kind<'a> {
    /// The kind of a line that has at least one byte.
    fn of(line: &'a [u8]) -> Self {
        let first = line[0];
        let text = |is_text: bool| if is_text { Self::Text } else { Self::Other };
        let after = |count: usize| line.get(count).copied().unwrap_or(b'\n');
        match first {
            b'\n' | b'\r' => Self::Blank,
            b' ' | b'\t' => match line.iter().position(|byte| !matches!(byte, b' ' | b'\t')) {
                None => Self::Blank,
                Some(at) if matches!(line[at], b'\n' | b'\r') => Self::Blank,
                Some(at) => Self::Indented(&line[at..]),
            },
            b'#' => match run(line, b'#') {
                level @ 1..=6 if matches!(after(level), b' ' | b'\t' | b'\n' | b'\r') => {
                    Self::Heading(level as u8)
                }
                _ => Self::Other,
            },
            b'`' | b'~' => match run(line, first) {
                1..=2 => text(first == b'`'),
                _ if first == b'~' => Self::Fence,
                width if !line[width..].contains(&b'`') => Self::Fence,
                _ => Self::Other,
            },
            // Neither the item of a list nor a thematic break.
            b'*' | b'_' => text(after(run(line, first)) > b' '),
            b'0'..=b'9' => {
                let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
                text(!matches!(after(digits), b'.' | b')'))
            }
            b'<' => {
                if let Some(end) = raw(&line[1..]) {
                    return Self::Raw(end);
                }
                let tag = &line[1 + usize::from(after(1) == b'/')..];
                let name = &tag[..tag.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()];
                let ends = matches!(tag.get(name.len()), None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'>'));
                if ends && HTML.contains(&name) { Self::Html } else { Self::Other }
            }
            // Below the first row of a table this could be what makes it one.
            b':' => text(line.iter().any(|&byte| byte.is_ascii_alphabetic()) || !line.contains(&b'-')),
            // A footnote.
            b'[' => text(after(1) != b'^'),
            b'a'..=b'z'
            | b'A'..=b'Z'
            | 0x80..
            | b'!'
            | b'"'
            | b'$'..=b')'
            | b','
            | b'.'
            | b'/'
            | b';'
            | b'?'
            | b'@'
            | b'\\'
            | b']'
            | b'^'
            | b'{'
            | b'}' => Self::Text,
            _ => Self::Other,
        }
    }
}

/// Elements that begin a block of HTML: those that are seen often.
const HTML: &[&[u8]] = &[
    b"dd", b"details", b"div", b"dl", b"dt", b"h1", b"h2", b"h3", b"iframe", b"li", b"ol", b"p", b"section",
    b"summary", b"table", b"tbody", b"td", b"th", b"thead", b"tr", b"ul",
];

/// The kind of a line at the top level, and how far it is indented if that does not count: fences and HTML that ends by what it
/// says may be, by up to three blanks.
fn outdented(line: &[u8]) -> (Kind<'_>, usize) {
    match Kind::of(line) {
        Kind::Indented(inner) => {
            let indent = line.len() - inner.len();
            match Kind::of(inner) {
                kind @ (Kind::Fence | Kind::Raw(_)) if indent < 4 && !line[..indent].contains(&b'\t') => {
                    (kind, indent)
                }
                _ => (Kind::Indented(inner), 0),
            }
        }
        kind => (kind, 0),
    }
}

/// What ends the block of HTML that `tag` begins, if that does not end at a blank line: a comment, a script. As the parser has
/// it, not `CommonMark`, where a script may end with `</pre>`.
fn raw(tag: &[u8]) -> Option<&'static str> {
    const NAMES: [(&[u8], &str); 4] =
        [(b"pre", "</pre>"), (b"style", "</style>"), (b"script", "</script>"), (b"textarea", "</textarea>")];
    const MARKS: [(&[u8], &str); 3] = [(b"!--", "-->"), (b"?", "?>"), (b"![CDATA[", "]]>")];
    let begins = |(name, _): &&(&[u8], &str)| {
        let after = tag.get(name.len()).copied().unwrap_or(b'\n');
        let is_whole = matches!(after, b' ' | b'\t' | b'\r' | b'\n' | b'>');
        is_whole && tag[..name.len().min(tag.len())].eq_ignore_ascii_case(name)
    };
    let known = NAMES.iter().find(begins).or_else(|| MARKS.iter().find(|(mark, _)| tag.starts_with(mark)));
    let is_declaration = || tag[0] == b'!' && tag.get(1).is_some_and(u8::is_ascii_alphabetic);
    known.map(|(_, end)| *end).or_else(|| (!tag.is_empty() && is_declaration()).then_some(">"))
}

/// The title of a heading from what stands after its marks, if that has no other markup than code and
/// attributes.
fn title(text: &str) -> Option<String> {
    let mut text = text.trim_matches([' ', '\t', '\r', '\n']);
    if let Some(attributes) = text.strip_suffix('}') {
        text = attributes[..attributes.rfind(['{', '}', '<', '>', '\\'])?].trim_end_matches([' ', '\t']);
        if !attributes[text.len()..].trim_start_matches([' ', '\t']).starts_with('{') {
            return None;
        }
    }
    let marks = text.bytes().filter(|&byte| byte == b'`').count();
    if marks == 0 {
        return text.bytes().all(is_unmarked).then(|| text.to_owned());
    }
    let mut title = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        let plain = if index % 2 == 1 {
            // Blanks at both ends of code do not count.
            !part.is_empty() && !part.starts_with(' ') && !part.bytes().any(|byte| byte < b' ')
        } else {
            // Two marks together mean something else.
            part.bytes().all(is_unmarked) && (!part.is_empty() || index == 0 || index == marks)
        };
        if !plain {
            return None;
        }
        title.push_str(part);
    }
    (marks % 2 == 0).then_some(title)
}

/// Whether the byte is never part of markup in a heading.
fn is_unmarked(byte: u8) -> bool {
    match byte {
        b'*' | b'_' | b'[' | b']' | b'<' | b'>' | b'&' | b'\\' | b'{' | b'}' | b'#' => false,
        _ => byte >= b' ' && byte != 0x7f || byte == b'\t',
    }
}

/// Number of times that `byte` is repeated at the beginning of `text`.
fn run(text: &[u8], byte: u8) -> usize {
    text.iter().take_while(|&&found| found == byte).count()
}
