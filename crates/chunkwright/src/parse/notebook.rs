//! Jupyter notebooks: the text of their cells, in place.
//!
//! A notebook is JSON. Everything between the texts of its cells is markup that renders as nothing, a line break or a
//! fence, so that a chunk reads as the Markdown and the code that a notebook shows, while its span is exact in the
//! file. Cells of Markdown are read as such; code is a listing in the notebook's language. Outputs are left out: they
//! are made again by running the code.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Markdown, Parser};
use crate::document::{BlockKind, Document, DocumentBuilder, Enclosure, EnclosureKind, SectionKind};
use crate::span::Span;

/// Jupyter notebooks (`nbformat` 4). Anything else is read as text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notebook;

impl Parser for Notebook {
    fn name(&self) -> &'static str {
        "notebook"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["ipynb"]
    }

    fn renders(&self) -> bool {
        true
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        let Some((cells, language)) = read(&source) else { return };
        let mut levels = Vec::new();
        let mut end = 0;
        for cell in cells {
            separate(out, &source, end..cell.span.start, end > 0);
            cell.report(out, &source, &language, &mut levels);
            end = cell.span.end;
        }
        out.markup(end, source.len(), "");
    }
}

#[derive(Deserialize)]
struct RawNotebook<'a> {
    #[serde(borrow)]
    cells: Vec<&'a RawValue>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    kernelspec: Option<Kernel>,
    language_info: Option<Kernel>,
}

#[derive(Deserialize)]
struct Kernel {
    /// Of a kernel.
    language: Option<String>,
    /// Of a language.
    name: Option<String>,
}

#[derive(Deserialize)]
struct RawCell<'a> {
    cell_type: String,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
}

/// A cell and the JSON strings of its text.
struct Cell {
    span: Range<usize>,
    kind: String,
    /// Each with its quotes.
    strings: Vec<Range<usize>>,
}

/// The cells and the language; `None` if `source` is not a notebook.
fn read(source: &str) -> Option<(Vec<Cell>, String)> {
    let body = source.strip_prefix('\u{feff}').unwrap_or(source);
    let notebook: RawNotebook<'_> = serde_json::from_str(body).ok()?;
    let place = |raw: &RawValue| {
        // A string borrowed from the source lies within it.
        let start = raw.get().as_ptr() as usize - source.as_ptr() as usize;
        start..start + raw.get().len()
    };
    let mut cells = Vec::with_capacity(notebook.cells.len());
    for raw in notebook.cells {
        let cell: RawCell<'_> = serde_json::from_str(raw.get()).ok()?;
        let strings = match cell.source {
            Some(text) if text.get().starts_with('"') => vec![place(text)],
            Some(texts) => {
                let texts: Vec<&RawValue> = serde_json::from_str(texts.get()).ok()?;
                texts.into_iter().filter(|text| text.get().starts_with('"')).map(place).collect()
            }
            None => Vec::new(),
        };
        cells.push(Cell { span: place(raw), kind: cell.cell_type, strings });
    }
    let Metadata { kernelspec, language_info } = notebook.metadata;
    let language =
        language_info.and_then(|info| info.name).or_else(|| kernelspec.and_then(|kernel| kernel.language));
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-#_.".contains(c);
    Some((cells, language.filter(|name| name.chars().all(plain)).unwrap_or_default()))
}

/// The markup between two cells renders as a blank line, in the place of the blanks, which no chunk owns.
fn separate(out: &mut DocumentBuilder, source: &str, between: Range<usize>, follows: bool) {
    let blanks = between.end - (between.len() - source[between.clone()].trim_end().len());
    let line = if follows { "\n\n" } else { "" };
    out.markup(between.start, blanks, if blanks == between.end { line } else { "" });
    out.markup(blanks, between.end, line);
}

impl Cell {
    fn report(&self, out: &mut DocumentBuilder, source: &str, language: &str, levels: &mut Vec<u8>) {
        let text = Unescaped::new(source, &self.strings);
        let Span { start, end } = Span::new(self.span.start, self.span.end);
        let (start, end) = (start as usize, end as usize);
        let (Some(first), Some(last)) = (self.strings.first(), self.strings.last()) else {
            out.markup(start, end, "");
            return;
        };
        if text.text.trim().is_empty() {
            out.markup(start, end, "");
            return;
        }
        let is_code = self.kind == "code";
        let fence = "`".repeat(3.max(1 + super::longest_run(&text.text, '`')));
        // The line break is separate: repeated opening text brings its own.
        out.markup(start, first.start, if is_code { format!("{fence}{language}") } else { String::new() });
        out.markup(first.start, first.start + 1, if is_code { "\n" } else { "" });
        let closing = if text.text.ends_with('\n') { fence.clone() } else { format!("\n{fence}") };
        out.markup(last.end - 1, end, if is_code { closing } else { String::new() });
        for (range, reads) in &text.marks {
            out.markup(range.start, range.end, reads.clone());
        }
        if is_code {
            out.block(BlockKind::Code, start, end);
            out.enclosure(Enclosure {
                kind: EnclosureKind::Fence,
                span: Span::new(start, end),
                open: Span::new(start, first.start),
                close: fence.into(),
            });
            for &line in &text.lines {
                out.seam(line, 0);
            }
        } else if self.kind == "markdown" {
            self.report_markdown(out, &text, levels);
        } else {
            out.block(BlockKind::Paragraph, start, end);
        }
    }

    /// Reports what the Markdown parser sees in the cell's text, in the places where it stands.
    fn report_markdown(&self, out: &mut DocumentBuilder, text: &Unescaped, levels: &mut Vec<u8>) {
        let document = Document::parse(out.id().to_owned(), text.text.as_str(), &Markdown);
        let last = document.blocks().len().saturating_sub(1);
        for (index, block) in document.blocks().iter().enumerate() {
            let start = if index == 0 { self.span.start } else { text.place(block.span.start) };
            let end = if index == last { self.span.end } else { text.place_of_end(block.span.end) };
            let section = document.section(block.section);
            if block.kind == BlockKind::Heading
                && let SectionKind::Heading(level) = section.kind
                && block.span.contains(section.span.start)
            {
                while levels.pop_if(|open| *open >= level).is_some() {
                    out.close_section(start);
                }
                levels.push(level);
                out.open_section(section.kind, &section.title, start);
            }
            out.block(block.kind, start, end);
        }
        let whole = Span::new(0, text.text.len());
        for seam in document.seams(whole) {
            out.seam(text.place(seam.at), seam.depth.into());
        }
        for enclosure in document.enclosures(whole) {
            let place = |span: Span| Span::new(text.place(span.start), text.place_of_end(span.end));
            out.enclosure(Enclosure {
                span: place(enclosure.span),
                open: place(enclosure.open),
                ..enclosure.clone()
            });
        }
    }
}

/// The text of JSON strings, and where it stands.
struct Unescaped {
    text: String,
    /// Escapes and what stands between strings, each with what it reads as.
    marks: Vec<(Range<usize>, String)>,
    /// Starts of runs of plain text, in the text and in the source.
    runs: Vec<(usize, usize)>,
    /// Starts of lines after the first in the source.
    lines: Vec<usize>,
}

impl Unescaped {
    fn new(source: &str, strings: &[Range<usize>]) -> Self {
        let mut new = Self { text: String::new(), marks: Vec::new(), runs: Vec::new(), lines: Vec::new() };
        let mut end = None;
        for string in strings {
            let (mut at, close) = (string.start + 1, string.end - 1);
            if let Some(end) = end {
                // Between strings; a line of the source may begin there.
                let line = source[end..at].rfind('\n').map_or(at, |found| end + found + 1);
                new.marks.push((end..line, String::new()));
                new.marks.push((line..at, String::new()));
                if new.text.ends_with('\n') && line == at {
                    new.lines.push(at);
                }
            }
            end = Some(close);
            while at < close {
                new.runs.push((new.text.len(), at));
                let plain = source[at..close].find('\\').map_or(close, |found| at + found);
                new.text.push_str(&source[at..plain]);
                at = plain;
                if at < close {
                    let (length, value) = escape(&source[at..close]);
                    new.runs.push((new.text.len(), at));
                    new.text.push(value);
                    new.marks.push((at..at + length, value.into()));
                    at += length;
                    if value == '\n' && at < close {
                        new.lines.push(at);
                    }
                }
            }
        }
        new.runs.push((new.text.len(), end.unwrap_or_default()));
        new
    }

    /// Maps byte `at` of the text to the source.
    fn place(&self, at: u32) -> usize {
        let at = at as usize;
        let run = self.runs.partition_point(|&(text, _)| text <= at).saturating_sub(1);
        self.runs.get(run).map_or(0, |&(text, source)| source + (at - text))
    }

    /// Maps the end of a span of the text, before byte `end`, to the source.
    fn place_of_end(&self, end: u32) -> usize {
        let run = self.runs.partition_point(|&(text, _)| text < end as usize).saturating_sub(1);
        let next = self.runs.get(run + 1).map_or(usize::MAX, |next| next.1);
        self.runs.get(run).map_or(0, |&(text, source)| (source + (end as usize - text)).min(next))
    }
}

/// The escape that `text` begins with, which is valid JSON: its length and value.
fn escape(text: &str) -> (usize, char) {
    let unit = |at: usize| text.get(at..at + 4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let simple = match text.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => {
            let low = text.get(6..8).filter(|next| *next == "\\u").and_then(|_| unit(8));
            let units = unit(2).into_iter().chain(low);
            let value =
                char::decode_utf16(units).next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER);
            let length = if value.len_utf16() == 2 { 12 } else { 6 };
            return (length.min(text.len()), value);
        }
        Some(&byte) => byte.into(),
        None => '\\',
    };
    (text.len().min(2), simple)
}
