//! reStructuredText: block structure as docutils reads it, Sphinx's directives included.
//!
//! One pass over the lines, without a parser of inline markup: a block is recognized by how its first line begins and
//! by what is indented under it. Directives are not run, so `include` stays a line. What docutils reports as an error
//! is read as its author most likely meant it.

mod markup;
mod table;

use super::Parser;
use super::lines::{Columns, Lines};
use crate::document::{BlockKind, DocumentBuilder, Enclosure, EnclosureKind};
use crate::span::Span;
use markup::{Item, adornment, columns, directive, is_label, item_mark, plain};

/// reStructuredText.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rst;

impl Parser for Rst {
    fn name(&self) -> &'static str {
        "rst"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["rst", "rest"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        let lines = Lines::new(&source, out.lines());
        let mut reader = Reader { lines, out, styles: Vec::new(), labels: None, has_body: false };
        let mut at = 0;
        while at < reader.lines.len() {
            at = if reader.lines.is_blank(at) { at + 1 } else { reader.block(at) };
        }
        reader.flush(at);
    }
}

struct Reader<'a, 'o> {
    lines: Lines<'a>,
    out: &'o mut DocumentBuilder,
    /// Adornments of titles in the order of their first use: the position is the level.
    styles: Vec<(char, bool)>,
    /// The first of the labels right above: they belong to a title below.
    labels: Option<usize>,
    /// Whether anything but titles came before: a field list before that is about the document.
    has_body: bool,
}

impl<'a> Reader<'a, '_> {
    /// Reads the block that begins at line `at`; gives the line after it.
    fn block(&mut self, at: usize) -> usize {
        if let Some((title, text, style)) = self.title(at) {
            let level = self.styles.iter().position(|known| *known == style).unwrap_or_else(|| {
                self.styles.push(style);
                self.styles.len() - 1
            });
            let from = self.labels.take().unwrap_or(at);
            self.lines.heading(self.out, level + 1, &plain(text), from, title);
            return title;
        }
        let text = self.lines.text(at);
        if self.lines.indent(at) == 0 && (text == ".." || text.starts_with(".. ")) {
            return self.explicit(at);
        }
        self.flush(at);
        if adornment(text).is_some() && text.len() >= 4 && self.lines.is_blank(at + 1) {
            // A transition belongs to what stands before it.
            return at + 1;
        }
        let metadata = !std::mem::replace(&mut self.has_body, true);
        if self.lines.indent(at) > 0 {
            let end = self.lines.indented(at, 1);
            self.lines.block(self.out, BlockKind::Quote, at, end);
            self.inside(at, end);
            return end;
        }
        if let Some(end) = table::table(&self.lines, self.out, at) {
            return end;
        }
        if text.starts_with(">>>") {
            let end = self.paragraph(at);
            self.lines.block(self.out, BlockKind::Code, at, end);
            return end;
        }
        if let Some(item) = self.item(at) {
            let end = self.list(at, item);
            let kind = if item == Item::Field && metadata { BlockKind::FrontMatter } else { BlockKind::List };
            self.lines.block(self.out, kind, at, end);
            self.inside(at, end);
            return end;
        }
        if text.starts_with("__ ") {
            self.lines.block(self.out, BlockKind::Definition, at, at + 1);
            return at + 1;
        }
        self.prose(at)
    }

    /// The title that begins at line `at`: the line after it, its text, its adornment.
    fn title(&self, at: usize) -> Option<(usize, &'a str, (char, bool))> {
        let lines = &self.lines;
        let (first, second) = (lines.text(at), lines.text(at + 1));
        let long_enough = |mark: &str, title: &str| mark.len() >= 4 || columns(title) <= mark.len();
        if let Some(mark) = adornment(first)
            && !second.is_empty()
        {
            let closes = adornment(lines.text(at + 2)) == Some(mark) && adornment(second).is_none();
            if closes && long_enough(first, second.trim_start()) {
                return Some((at + 3, second, (mark, true)));
            }
        }
        let mark = adornment(second)?;
        (lines.indent(at) == 0 && adornment(first).is_none() && long_enough(second, first)).then_some((
            at + 2,
            first,
            (mark, false),
        ))
    }

    /// Flushes labels above something other than a title.
    fn flush(&mut self, at: usize) {
        if let Some(from) = self.labels.take() {
            self.lines.block(self.out, BlockKind::Definition, from, self.lines.trim_end(from, at));
        }
    }

    /// A directive, comment, target, footnote or substitution.
    fn explicit(&mut self, at: usize) -> usize {
        let text = self.lines.text(at);
        // An empty comment holds nothing that stands after a blank line.
        let empty = text == ".." && self.lines.is_blank(at + 1);
        let end = if empty { at + 1 } else { self.lines.indented(at + 1, 1).max(at + 1) };
        if is_label(text) && (end == at + 1 || directive(text).is_some()) {
            self.labels.get_or_insert(at);
            return end;
        }
        self.flush(at);
        self.has_body = true;
        let kind = match directive(text) {
            Some(name) => match markup::directive_kind(name) {
                BlockKind::Code => {
                    self.fence(EnclosureKind::Fence, at, end);
                    BlockKind::Code
                }
                BlockKind::Table => {
                    table::directive(&self.lines, self.out, name, at, end);
                    BlockKind::Table
                }
                kind => {
                    let is_prose = !self.inside(at, end) && text.ends_with("::");
                    if is_prose && kind == BlockKind::Quote {
                        self.fence(EnclosureKind::Quote, at, end);
                    }
                    kind
                }
            },
            None => BlockKind::Definition,
        };
        self.lines.block(self.out, kind, at, end);
        end
    }

    /// A paragraph, and the literal block or the definitions under it.
    fn prose(&mut self, at: usize) -> usize {
        let end = self.paragraph(at);
        self.lines.block(self.out, BlockKind::Paragraph, at, end);
        let body = self.lines.skip_blank(end);
        if !self.lines.text(end - 1).ends_with("::") || body == self.lines.len() {
            return end;
        }
        let quote = self.lines.text(body).chars().next().filter(char::is_ascii_punctuation);
        let close = if self.lines.indent(body) > 0 {
            self.lines.indented(body, 1)
        } else if let Some(quote) = quote.filter(|_| body > end) {
            // A quoted literal block: unindented lines that all begin with one mark.
            let goes_on = |line: &usize| self.lines.text(*line).starts_with(quote);
            body + (body..self.lines.len()).take_while(goes_on).count()
        } else {
            return end;
        };
        if close > body {
            self.lines.block(self.out, BlockKind::Code, body, close);
            self.literal(end - 1, body, close);
        }
        close.max(end)
    }

    /// The line after the paragraph at line `at`.
    fn paragraph(&self, at: usize) -> usize {
        let literal = |line: usize| self.lines.text(line - 1).ends_with("::") && self.lines.indent(line) > 0;
        (at + 1..self.lines.len())
            .find(|&line| self.lines.is_blank(line) || literal(line))
            .unwrap_or(self.lines.len())
    }

    /// The kind of item that line `at` begins, if any.
    fn item(&self, at: usize) -> Option<Item> {
        let text = self.lines.text(at);
        if text.is_empty() || self.lines.indent(at) > 0 {
            return None;
        }
        let next_is_indented = !self.lines.is_blank(at + 1) && self.lines.indent(at + 1) > 0;
        match item_mark(text) {
            // `A. Einstein` may begin a paragraph; its second line tells.
            Some(Item::Number) => {
                let next = self.lines.text(at + 1);
                (next.is_empty() || next_is_indented || item_mark(next).is_some()).then_some(Item::Number)
            }
            Some(item) => Some(item),
            None => {
                let plain = !text.starts_with("..") && !text.starts_with("__ ") && !text.ends_with("::");
                (next_is_indented && plain).then_some(Item::Term)
            }
        }
    }

    /// The line after the list of such items that begins at line `at`.
    fn list(&self, at: usize, item: Item) -> usize {
        let mut line = at;
        loop {
            let end = self.lines.indented(line + 1, 1).max(line + 1);
            let next = self.lines.skip_blank(end);
            let goes_on = self.item(next) == Some(item) && self.title(next).is_none();
            if !goes_on {
                return end;
            }
            line = next;
        }
    }

    /// Reports what stands inside the lines `from..to`: where items and paragraphs begin, and blocks of
    /// code. Says whether there were any of these.
    fn inside(&mut self, from: usize, to: usize) -> bool {
        let mut has_code = false;
        let mut depths = Columns::default();
        let mut after_blank = true;
        let mut at = from;
        while at < to {
            if self.lines.is_blank(at) {
                after_blank = true;
                at += 1;
                continue;
            }
            let (indent, text) = (self.lines.indent(at), self.lines.trimmed(at));
            let explicit = text.starts_with(".. ");
            let depth = if explicit || item_mark(text).is_some() || (indent == 0 && after_blank) {
                Some(depths.item(indent))
            } else {
                after_blank.then(|| depths.inner(indent))
            };
            if let Some(depth) = depth.filter(|_| at > from) {
                self.out.seam(self.lines.start(at), depth);
            }
            after_blank = false;
            let body = self.lines.skip_blank(at + 1);
            if explicit && directive(text).is_some_and(|name| markup::directive_kind(name) == BlockKind::Code)
            {
                let end = self.lines.indented(at + 1, indent + 1).clamp(at + 1, to);
                self.fence(EnclosureKind::Fence, at, end);
                at = end;
            } else if text.ends_with("::") && !explicit && body < to && self.lines.indent(body) > indent {
                let end = self.lines.indented(body, indent + 1).clamp(body, to);
                self.literal(at, body, end);
                at = end;
            } else {
                at += 1;
                continue;
            }
            has_code = true;
        }
        has_code
    }

    /// The lines `at..end` are a directive: a later part repeats its first lines.
    fn fence(&mut self, kind: EnclosureKind, at: usize, end: usize) {
        let options = (at + 1..end).find(|&line| self.lines.is_blank(line));
        let body = options.map_or(at + 1, |line| self.lines.skip_blank(line));
        if body < end {
            // With the blank line that has to stand before the body.
            let open = if body > at + 1 { self.lines.start(body - 1) } else { self.lines.end(at) };
            self.enclose(kind, self.lines.start(at), Span::new(self.lines.start(at), open), end);
        }
    }

    /// The lines `body..end` are literal by the `::` at the end of line `at`: a later part repeats that.
    fn literal(&mut self, at: usize, body: usize, end: usize) {
        let mark = self.lines.end(at);
        if body > at + 1 && body < end {
            self.enclose(
                EnclosureKind::Fence,
                mark,
                Span::new(mark - "::".len(), self.lines.start(body - 1)),
                end,
            );
        }
    }

    fn enclose(&mut self, kind: EnclosureKind, start: usize, open: Span, end: usize) {
        let span = Span::new(start, self.lines.end(end - 1));
        self.out.enclosure(Enclosure { kind, span, open, close: "".into() });
    }
}
