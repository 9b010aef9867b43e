//! The text that HTML renders as: marks over the source, and the white space between what is visible.
//!
//! White space in HTML means little and line breaks come from tags, so a break is only noted while tags and blanks go
//! by. Once something visible follows, the break takes the place of the blanks between two blocks, which no chunk owns,
//! or of the first tag where there are no blanks.

use html5gum::Token;

use crate::document::DocumentBuilder;

/// The separator of two visible things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Break {
    /// Nothing.
    #[default]
    None,
    /// A space.
    Space,
    /// A line break.
    Line,
    /// A blank line.
    Blank,
}

/// A stretch of source that reads as something else.
struct Mark {
    start: usize,
    end: usize,
    reads: String,
}

/// Collects marks in the order of the source.
pub(super) struct Reading<'a> {
    source: &'a str,
    marks: Vec<Mark>,
    /// The break requested since the last visible thing, and the mark that will render it.
    pending: Break,
    carrier: Option<usize>,
    /// Whether the carrier is the blanks between two blocks.
    settled: bool,
    /// Whether nothing visible stands on the line yet.
    fresh: bool,
    /// The prefix of lines inside quotes and lists.
    prefix: String,
    /// Whether text is that of a cell, where `|` is escaped.
    pub(super) in_cell: bool,
}

impl<'a> Reading<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let (pending, prefix) = (Break::None, String::new());
        let (marks, carrier) = (Vec::new(), None);
        Self { source, marks, pending, carrier, settled: false, fresh: true, prefix, in_cell: false }
    }

    /// Sets what lines begin with from now on.
    pub(super) fn set_prefix(&mut self, prefix: String) {
        self.prefix = prefix;
    }

    /// Marks `start..end` as invisible; it asks for a break. Gives the mark.
    pub(super) fn gap(&mut self, start: usize, end: usize, wanted: Break) -> usize {
        self.marks.push(Mark { start, end, reads: String::new() });
        let mark = self.marks.len() - 1;
        self.ask(mark, wanted);
        mark
    }

    /// Asks for a break in the place of `mark`, the last one, or of one before it.
    pub(super) fn ask(&mut self, mark: usize, wanted: Break) {
        if wanted > Break::None {
            self.pending = self.pending.max(wanted);
            self.carrier.get_or_insert(mark);
        }
    }

    /// Renders `mark`, the last one, as a list marker, the beginning of a heading or the like, after the requested
    /// break.
    pub(super) fn begin(&mut self, mark: usize, marker: &str) {
        self.visible();
        self.marks[mark].reads.push_str(marker);
        self.fresh = true;
    }

    /// Lets `mark`, the last one, read as `text`, whatever blanks stand before it.
    pub(super) fn end(&mut self, mark: usize, text: &str) {
        (self.pending, self.carrier) = (Break::None, None);
        (self.settled, self.fresh) = (false, false);
        self.marks[mark].reads.push_str(text);
    }

    /// Marks `start..end` as something visible that reads as `text`.
    pub(super) fn replace(&mut self, start: usize, end: usize, text: &str) {
        self.visible();
        self.fresh = false;
        self.marks.push(Mark { start, end, reads: text.to_owned() });
    }

    /// Replaces a part of what `mark` reads as.
    pub(super) fn amend(&mut self, mark: usize, old: &str, new: &str) {
        let reads = &mut self.marks[mark].reads;
        if let Some(at) = reads.rfind(old) {
            reads.replace_range(at..at + old.len(), new);
        }
    }

    /// Writes the requested break: something visible follows.
    fn visible(&mut self) {
        let text = match self.pending {
            _ if self.fresh => String::new(),
            Break::None => String::new(),
            Break::Space => " ".into(),
            Break::Line => format!("\n{}", self.prefix),
            Break::Blank => format!("\n{}\n{}", self.prefix.trim_end(), self.prefix),
        };
        if let Some(carrier) = self.carrier.take() {
            self.marks[carrier].reads.push_str(&text);
        }
        (self.pending, self.settled) = (Break::None, false);
    }

    /// Reads the text `start..end`: blanks collapse, character references are resolved. Calls `word` with each visible
    /// stretch.
    pub(super) fn text(&mut self, start: usize, end: usize, mut word: impl FnMut(&str)) {
        let bytes = self.source.as_bytes();
        let mut at = start;
        while at < end {
            let stop = |blank: fn(u8) -> bool| (at..end).find(|&at| blank(bytes[at])).unwrap_or(end);
            if is_space(bytes[at]) {
                let to = stop(|byte| !is_space(byte));
                // A single space between two words stays as it is.
                let plain = &self.source[at..to] == " " && to < end && at > start;
                if !plain || self.fresh || self.pending > Break::None {
                    self.blanks(at, to);
                }
                word(" ");
                at = to;
            } else if let Some((length, value)) = reference(&self.source[at..end]) {
                let escaped = if self.in_cell { value.replace('|', "\\|") } else { value.clone() };
                self.replace(at, at + length, &escaped);
                word(&value);
                at += length;
            } else if bytes[at] == b'|' && self.in_cell {
                self.replace(at, at + 1, "\\|");
                word("|");
                at += 1;
            } else {
                let to = if self.in_cell {
                    stop(|byte| is_space(byte) || matches!(byte, b'&' | b'|'))
                } else {
                    stop(|byte| is_space(byte) || byte == b'&')
                };
                let to = to.max(at + 1);
                self.visible();
                self.fresh = false;
                word(&self.source[at..to]);
                at = to;
            }
        }
    }

    /// Blanks that ask for a space; the indentation of the next line apart, so that a line may begin there.
    fn blanks(&mut self, start: usize, end: usize) {
        let line = self.source[start..end].rfind(['\n', '\r']).map_or(end, |at| start + at + 1);
        let mark = self.gap(start, line, Break::Space);
        if self.pending >= Break::Line && !self.settled {
            (self.carrier, self.settled) = (Some(mark), true);
        }
        if line < end {
            self.gap(line, end, Break::Space);
        }
    }

    /// Reads preformatted text.
    pub(super) fn preformatted(&mut self, start: usize, end: usize) {
        let mut at = start;
        while let Some(found) = self.source[at..end].find('&').map(|found| at + found) {
            match reference(&self.source[found..end]) {
                Some((length, value)) => {
                    self.replace(found, found + length, &value);
                    at = found + length;
                }
                None => at = found + 1,
            }
        }
        if start < end {
            self.visible();
            self.fresh = false;
        }
    }

    /// Gives the marks to `out`.
    pub(super) fn finish(self, out: &mut DocumentBuilder) {
        for mark in self.marks {
            out.markup(mark.start, mark.end, mark.reads);
        }
    }
}

/// White space, as HTML has it.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0C)
}

/// Longest character reference, in bytes.
const MAX_REFERENCE: usize = 34;

/// The character reference that `text` begins with: its length and value. One without its semicolon is
/// text: it may be a part of an address.
fn reference(text: &str) -> Option<(usize, String)> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'&') {
        return None;
    }
    let near = &bytes[..bytes.len().min(MAX_REFERENCE)];
    let end = 1 + near[1..].iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'#')?;
    if bytes[end] != b';' || end == 1 {
        return None;
    }
    let value = super::tokens(&text[..=end]).find_map(|token| match token {
        Token::String(value) => Some(value),
        _ => None,
    })?;
    let value = String::from_utf8_lossy(&value).into_owned();
    (value != text[..=end]).then_some((end + 1, value))
}
