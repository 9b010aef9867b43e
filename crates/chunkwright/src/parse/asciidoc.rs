//! `AsciiDoc`: block structure as Asciidoctor reads it.
//!
//! One pass over the lines. Nothing is substituted: attributes, `include` and `ifdef` stay the lines they are. The
//! content of a delimited block is read only to find where it may be cut; a heading in it does not count as one. An
//! unclosed block extends to the end, as in Asciidoctor.

mod markup;
mod table;

use super::Parser;
use super::lines::Lines;
use crate::document::{BlockKind, DocumentBuilder, Enclosure, EnclosureKind};
use crate::span::Span;
use markup::{Delimiter, delimiter, list_mark, plain, section_title, underline_level};

/// `AsciiDoc`.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsciiDoc;

impl Parser for AsciiDoc {
    fn name(&self) -> &'static str {
        "asciidoc"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["adoc", "asciidoc", "asc"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        let lines = Lines::new(&source, out.lines());
        let mut reader = Reader { lines, out, lead: None, at_top: true };
        let mut at = 0;
        while at < reader.lines.len() {
            at = if reader.lines.is_blank(at) { at + 1 } else { reader.block(at) };
        }
        reader.flush(at);
    }
}

/// The lines right above a block that say something about it: attributes, anchors, a title, comments.
#[derive(Clone, Copy)]
struct Lead<'a> {
    from: usize,
    /// The block attributes, in brackets, that stand last.
    attributes: &'a str,
}

struct Reader<'a, 'o> {
    lines: Lines<'a>,
    out: &'o mut DocumentBuilder,
    lead: Option<Lead<'a>>,
    /// Whether no block came before: the document's own title may follow.
    at_top: bool,
}

impl<'a> Reader<'a, '_> {
    /// Reads the block that begins at line `at`; gives the line after it.
    fn block(&mut self, at: usize) -> usize {
        let text = self.lines.text(at);
        if let Some(attributes) = markup::lead(text, self.lines.text(at + 1)) {
            let lead = self.lead.get_or_insert(Lead { from: at, attributes });
            if !attributes.is_empty() {
                lead.attributes = attributes;
            }
            return at + 1;
        }
        let lead = self.lead.unwrap_or(Lead { from: at, attributes: "" });
        if let Some((level, title, end)) = self.title(at) {
            self.lead = None;
            let is_first = std::mem::replace(&mut self.at_top, false);
            if markup::style(lead.attributes).is_some_and(|style| style == "discrete" || style == "float") {
                self.lines.block(self.out, BlockKind::Heading, lead.from, end);
                return end;
            }
            self.lines.heading(self.out, level, &plain(title), lead.from, end);
            // Author, revision and attributes stand right under the document's title.
            let header = (end..self.lines.len()).find(|&line| self.lines.is_blank(line));
            let header = header.unwrap_or(self.lines.len());
            if is_first && level == 1 && header > end {
                self.lines.block(self.out, BlockKind::FrontMatter, end, header);
                return header;
            }
            return end;
        }
        if markup::is_line_macro(text) {
            // A line that sets or tests an attribute is not part of a block, and takes no attributes.
            self.flush(at);
            let goes_on = |line: &usize| markup::is_line_macro(self.lines.text(*line));
            let end = at + (at..self.lines.len()).take_while(goes_on).count();
            let kind = if self.at_top { BlockKind::FrontMatter } else { BlockKind::Definition };
            self.lines.block(self.out, kind, at, end);
            return end;
        }
        self.lead = None;
        self.at_top = false;
        let (kind, end) = self.content(at, lead);
        self.lines.block(self.out, kind, lead.from, end);
        end
    }

    /// Reads a block other than a heading; returns its kind and the line after it.
    fn content(&mut self, at: usize, lead: Lead<'_>) -> (BlockKind, usize) {
        let text = self.lines.text(at);
        if let Some(delimiter) = delimiter(text) {
            let end = self.delimited(at, self.lines.len());
            return (self.enclosed(delimiter, lead, at, end), end);
        }
        if list_mark(text).is_some() {
            return (BlockKind::List, self.list(at));
        }
        let end = self.paragraph(at, self.lines.len());
        let style = markup::style(lead.attributes).unwrap_or_default();
        let kind = match style {
            "source" | "listing" | "literal" | "stem" | "latexmath" | "asciimath" | "plantuml"
            | "mermaid" => BlockKind::Code,
            "quote" | "verse" | "NOTE" | "TIP" | "IMPORTANT" | "WARNING" | "CAUTION" | "example"
            | "sidebar" | "abstract" => BlockKind::Quote,
            _ if self.lines.indent(at) > 0 => BlockKind::Code,
            _ if markup::is_admonition(text) => BlockKind::Quote,
            _ => BlockKind::Paragraph,
        };
        (kind, end)
    }

    /// The title at line `at`: its level, its text, the line after it.
    fn title(&self, at: usize) -> Option<(usize, &'a str, usize)> {
        let text = self.lines.text(at);
        if let Some((level, title)) = section_title(text) {
            return Some((level, title, at + 1));
        }
        let level = underline_level(text, self.lines.text(at + 1))?;
        Some((level, text, at + 2))
    }

    /// Reports pending lines above something that takes no attributes as a block.
    fn flush(&mut self, at: usize) {
        if let Some(lead) = self.lead.take() {
            let end = self.lines.trim_end(lead.from, at);
            self.lines.block(self.out, BlockKind::Definition, lead.from, end);
        }
    }

    /// The line after the block whose delimiter is line `at`.
    fn delimited(&self, at: usize, to: usize) -> usize {
        let text = self.lines.text(at);
        let close = if text.starts_with("```") { "```" } else { text };
        (at + 1..to).find(|&line| self.lines.text(line) == close).map_or(to, |line| line + 1)
    }

    /// Reports the content of the delimited block at the lines `at..end`, and the text that its parts repeat; returns
    /// its kind.
    fn enclosed(&mut self, delimiter: Delimiter, lead: Lead<'_>, at: usize, end: usize) -> BlockKind {
        match delimiter {
            Delimiter::Comment => BlockKind::Definition,
            Delimiter::Table => {
                table::table(&self.lines, self.out, lead.attributes, lead.from, at, end);
                BlockKind::Table
            }
            Delimiter::Verbatim => {
                self.enclose(EnclosureKind::Fence, lead.from, at, end);
                BlockKind::Code
            }
            Delimiter::Compound => {
                // `[source]` and `[stem]` make any block verbatim.
                if matches!(markup::style(lead.attributes), Some("source" | "stem" | "listing" | "verse")) {
                    self.enclose(EnclosureKind::Fence, lead.from, at, end);
                    return BlockKind::Code;
                }
                if !self.inside(at + 1, end, 0) {
                    self.enclose(EnclosureKind::Quote, lead.from, at, end);
                }
                BlockKind::Quote
            }
        }
    }

    /// A part of the lines `from..end`, whose delimiter is line `at`, repeats the lines down to that and is
    /// closed by its like.
    fn enclose(&mut self, kind: EnclosureKind, from: usize, at: usize, end: usize) {
        let text = self.lines.text(at);
        let close = if text.starts_with("```") { "```" } else { text };
        let open = Span::new(self.lines.start(from), self.lines.end(at));
        let mut span = Span::new(self.lines.start(from), self.lines.end(end - 1));
        if end == at + 1 || self.lines.text(end - 1) != close {
            // An unclosed block extends past its last line: a chunk that ends there ends inside.
            span.end += 1;
        }
        self.out.enclosure(Enclosure { kind, span, open, close: close.into() });
    }

    /// Reports where the blocks and items inside the lines `from..to` begin, and verbatim blocks and tables.
    /// Says whether there were any of these.
    fn inside(&mut self, from: usize, to: usize, depth: usize) -> bool {
        let mut has_verbatim = false;
        let mut marks: Vec<&str> = Vec::new();
        let mut lead: Option<Lead<'_>> = None;
        let mut after_blank = true;
        let mut at = from;
        while at < to {
            let text = self.lines.text(at);
            if text.is_empty() || text == "+" {
                // Blocks attached to an item are inside it.
                after_blank = true;
                at += 1;
                continue;
            }
            let first = lead.is_none();
            if let Some(mark) = list_mark(self.lines.trimmed(at)) {
                let nested = marks.iter().position(|open| *open == mark).unwrap_or(marks.len());
                marks.truncate(nested);
                marks.push(mark);
                self.seam(at, from, depth + nested);
                lead = None;
            } else if let Some(attributes) = markup::lead(text, self.lines.text(at + 1)) {
                if first {
                    self.seam(at, from, depth + marks.len());
                }
                lead = Some(Lead { from: lead.map_or(at, |lead| lead.from), attributes });
            } else if let Some(delimiter) = delimiter(text) {
                if first {
                    self.seam(at, from, depth + marks.len());
                }
                let lead = lead.take().unwrap_or(Lead { from: at, attributes: "" });
                if delimiter != Delimiter::Compound {
                    let end = self.delimited(at, to);
                    // Rows of a table in a block are not items of the block: lines will do.
                    if delimiter == Delimiter::Verbatim {
                        self.enclose(EnclosureKind::Fence, lead.from, at, end);
                        has_verbatim = true;
                    }
                    at = end;
                    after_blank = true;
                    continue;
                }
            } else {
                if after_blank && first {
                    self.seam(at, from, depth + marks.len());
                }
                lead = None;
            }
            after_blank = false;
            at += 1;
        }
        has_verbatim
    }

    fn seam(&mut self, at: usize, from: usize, depth: usize) {
        if at > from || depth > 0 {
            self.out.seam(self.lines.start(at), depth);
        }
    }

    /// Reports the items of the list at line `at`; returns the line after it.
    fn list(&mut self, at: usize) -> usize {
        let mut end = at + 1;
        let mut line = at + 1;
        // Whether the next block is attached to the item by a `+`.
        let mut attached = false;
        while line < self.lines.len() {
            let text = self.lines.text(line);
            let after_blank = self.lines.is_blank(line - 1);
            if text.is_empty() {
                line += 1;
                continue;
            }
            let is_item = list_mark(self.lines.trimmed(line)).is_some();
            if text == "+" || attached && markup::lead(text, self.lines.text(line + 1)).is_some() {
                attached = true;
            } else if delimiter(text).is_some() {
                if !attached {
                    break;
                }
                line = self.delimited(line, self.lines.len()) - 1;
                attached = false;
            } else if !is_item && !attached && after_blank && self.lines.indent(line) == 0
                || !attached && markup::lead(text, self.lines.text(line + 1)).is_some()
                || section_title(text).is_some() && after_blank
            {
                break;
            } else {
                attached = false;
            }
            line += 1;
            end = line;
        }
        self.inside(at, end, 0);
        end
    }

    /// The line after the paragraph at line `at`.
    fn paragraph(&self, at: usize, to: usize) -> usize {
        let ends = |line: &usize| {
            let text = self.lines.text(*line);
            text.is_empty() || delimiter(text).is_some() || markup::is_block_attributes(text)
        };
        (at + 1..to).find(ends).unwrap_or(to)
    }
}
