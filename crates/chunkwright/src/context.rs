//! Borrowed context of chunks, and the text that results.
//!
//! Borrowed text stands before (or, for a closing fence, after) what a chunk owns. It is never part of the chunk's
//! span, but it is embedded and searched with the chunk, so it counts toward the limit.

use std::cell::RefCell;
use std::slice;

use serde::{Deserialize, Serialize};

use crate::chunk::{ChunkConfig, ContextRule, Lines, Strategy};
use crate::document::{BlockKind, Document, Enclosure, EnclosureKind, SectionId, SectionKind};
use crate::span::{Span, is_blank};
use crate::words;

/// One borrowed piece of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Borrow {
    /// The document's id, in a comment of its language: where source code lives says what it is.
    Document,
    /// Titles of the sections around the chunk, outermost first.
    Path(Vec<SectionId>),
    /// The heading of the section around the chunk, as it stands in the source.
    Heading(Span),
    /// The lines that announce an enclosing symbol.
    Signature(Span),
    /// The first line of a list item around the chunk: without it what is indented in the list would
    /// read as code.
    Item(Span),
    /// The opening lines of a fence or delimited block that the chunk starts inside, or the label of a turn.
    Fence(Span),
    /// Header and delimiter rows of a table that the chunk starts inside.
    TableHeader(Span),
    /// Text before the chunk, repeated.
    Overlap(Span),
    /// What closes the fence that the chunk ends inside.
    Close(Box<str>),
}

/// The three texts of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    text: String,
    content: Span,
}

impl Rendered {
    /// Borrowed text before the content. May be empty.
    pub fn context(&self) -> &str {
        &self.text[..self.content.start as usize]
    }

    /// The rendered text that the chunk owns: the source with LF as its line breaks, and without markup if the format
    /// has any (see [`Document::read`]).
    pub fn content(&self) -> &str {
        self.content.of(&self.text)
    }

    /// The text that is embedded and searched: context, content, and closing text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Converts into [`text`](Self::text).
    pub fn into_text(self) -> String {
        self.text
    }
}

/// Sizes of long texts that were to be borrowed. Chunks one after the other ask for the same: the header of a wide table, a
/// title of a whole paragraph, which would otherwise be measured for each of them.
#[derive(Default)]
pub(crate) struct Measured(RefCell<Vec<(Vec<Borrow>, usize)>>);

impl Measured {
    /// Number of the latest entries that are remembered.
    const KEPT: usize = 16;

    fn size(&self, borrows: &[Borrow], measure: impl FnOnce() -> usize) -> usize {
        let mut known = self.0.borrow_mut();
        if let Some((_, size)) = known.iter().find(|(of, _)| of == borrows) {
            return *size;
        }
        if known.len() == Self::KEPT {
            known.remove(0);
        }
        let size = measure();
        known.push((borrows.to_vec(), size));
        size
    }
}

/// Joins what a chunk borrows and owns.
pub(crate) fn render(document: &Document, span: Span, borrows: &[Borrow]) -> Rendered {
    let mut text = String::with_capacity(span.len() + 64);
    let content = render_into(document, span, borrows, &mut text);
    Rendered { text, content }
}

/// As [`render`], at the end of `text`; gives the place of the content in it.
pub(crate) fn render_into(document: &Document, span: Span, borrows: &[Borrow], text: &mut String) -> Span {
    for borrow in borrows {
        match borrow {
            Borrow::Document => {
                let (open, close) = document.comment();
                for part in [open, document.id(), close, "\n"] {
                    text.push_str(part);
                }
            }
            Borrow::Path(path) => {
                let before = text.len();
                for &id in path {
                    if text.len() > before {
                        text.push_str(" > ");
                    }
                    text.push_str(&document.section(id).title);
                }
                text.push_str("\n\n");
            }
            // A fence may open with a blank line: reStructuredText needs it.
            Borrow::Fence(span) => push_line(text, &document.read(*span)),
            Borrow::Signature(span) | Borrow::Item(span) | Borrow::TableHeader(span) => {
                push_line(text, document.read(*span).trim_end_matches(['\n', '\r']));
            }
            Borrow::Heading(span) => {
                push_line(text, &document.read(*span));
                text.push('\n');
            }
            Borrow::Overlap(span) => text.push_str(&document.read(*span)),
            Borrow::Close(_) => {}
        }
    }
    let start = text.len();
    text.push_str(&document.read(span));
    let content = Span::new(start, text.len());
    for borrow in borrows {
        if let Borrow::Close(close) = borrow {
            text.push('\n');
            text.push_str(close);
        }
    }
    content
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// The text that a chunk that owns `span` borrows under `config`, closing text included.
///
/// The path is that of the section which goes on where the span begins: of what begins further down, the chunk holds the
/// heading or first lines. Borrowed text that would take more than its share of `max_size` (measured by `measure`, unless
/// it was already) is left out, outermost part first. `previous` is the span that the chunk before owns, from which an
/// overlap is taken.
pub(crate) fn borrows(
    document: &Document,
    config: &ChunkConfig,
    span: Span,
    previous: Option<Span>,
    (measure, measured): (&dyn Fn(&str) -> usize, &Measured),
) -> Vec<Borrow> {
    let mut borrows = Vec::new();
    if config.context != ContextRule::None {
        let section = continued(document, span.start);
        borrows.extend(path_borrows(document, config, span.start, section, (measure, measured)));
    }
    borrows.extend(items(document, config, span.start));
    if let Some(enclosure) = document.enclosure_at(span.start) {
        let borrow = match enclosure.kind {
            EnclosureKind::Fence | EnclosureKind::Quote => Borrow::Fence(enclosure.open),
            EnclosureKind::Table => Borrow::TableHeader(enclosure.open),
        };
        let fits = |borrow: &Borrow| {
            let size = measured.size(slice::from_ref(borrow), || measure(&document.read(enclosure.open)));
            size <= reopening_share(config)
        };
        // A cut inside the rows that would be borrowed has them already, in part.
        if span.start >= enclosure.open.end && fits(&borrow) {
            borrows.push(borrow);
        }
    } else if let Some(previous) = previous {
        if config.strategy == Lines.name() {
            borrows.extend(lines_before(document, config.overlap_lines, span, previous));
        } else if config.overlap_size > 0 {
            // What is borrowed already is not repeated once more.
            let borrowed = borrows.iter().map(|borrow| borrowed_to(document, borrow)).max().unwrap_or(0);
            let previous = Span { start: previous.start.max(borrowed), ..previous };
            if previous.start < previous.end {
                borrows.extend(overlap(document, config, span, previous, measure));
            }
        }
    }
    if let Some(enclosure) = document.enclosure_at(span.end)
        && !enclosure.close.is_empty()
    {
        borrows.push(Borrow::Close(enclosure.close.clone()));
    }
    borrows
}

/// Tokens by which the sum of sizes may be more than the size of the whole, and it is measured.
const NEAR: usize = 8;

/// Whether a chunk that owns `span` is within the limit with what it borrows, an overlap left out. Its parts with the
/// blanks after them have this size.
pub(crate) fn fits(
    document: &Document,
    config: &ChunkConfig,
    span: Span,
    size: usize,
    (measure, measured): (&dyn Fn(&str) -> usize, &Measured),
) -> bool {
    let limit = config.max_size;
    let after = &document.source()[span.end as usize..];
    let blank: usize = after.chars().take_while(|&c| is_blank(c)).take(limit).map(char::len_utf8).sum();
    if size > limit + blank + NEAR {
        return false;
    }
    let borrows = borrows(document, config, span, None, (measure, measured));
    let context = render(document, Span { end: span.start, ..span }, &borrows);
    // A token has at least one byte.
    if size + context.text().len() <= limit {
        return true;
    }
    let most = size + measured.size(&borrows, || measure(context.text()));
    let is_near = most <= limit + blank + NEAR;
    most <= limit || is_near && measure(render(document, span, &borrows).text()) <= limit
}

/// End of the text that `borrow` repeats.
fn borrowed_to(document: &Document, borrow: &Borrow) -> u32 {
    match borrow {
        Borrow::Path(path) => path.last().and_then(|&id| heading(document, id)).map_or(0, |span| span.end),
        Borrow::Heading(span) | Borrow::Signature(span) | Borrow::Item(span) => span.end,
        _ => 0,
    }
}

/// The innermost section that a chunk which begins at `start` continues or begins.
fn continued(document: &Document, start: u32) -> SectionId {
    let own = document.block_at(start).map_or(SectionId::ROOT, |block| block.section);
    // A cut inside a function may be inside another that has no blocks of its own.
    let inner = document.section_around(start);
    if document.common_section(own, inner) == own { inner } else { own }
}

/// Largest share of the limit that a path may take.
pub(crate) fn share(config: &ChunkConfig) -> usize {
    config.max_size / 4
}

/// A title with this many times more bytes than its share has tokens may be far over the share.
const FAR_OVER: usize = 16;

/// Largest share of the limit that an opening fence line or a table's header may take. A larger header
/// would leave its rows no room; they stand without it.
fn reopening_share(config: &ChunkConfig) -> usize {
    config.max_size / 3
}

/// The path borrowed by a chunk that begins at `start` inside `section`.
fn path_borrows(
    document: &Document,
    config: &ChunkConfig,
    start: u32,
    section: SectionId,
    (measure, measured): (&dyn Fn(&str) -> usize, &Measured),
) -> Vec<Borrow> {
    // A section that begins with the chunk announces itself.
    let outside =
        |id: &SectionId| document.section(*id).span.start < start && !document.section(*id).title.is_empty();
    let mut path = document.path(section);
    path.retain(outside);
    // A token has at least one byte: most borrowed text needs no counting.
    let size = |borrow: &[Borrow]| {
        measured.size(borrow, || measure(render(document, Span { start, end: start }, borrow).text()))
    };
    let fits = |borrow: &[Borrow], bytes: usize| bytes <= share(config) || size(borrow) <= share(config);
    // A key of data says what it is only with the keys around it.
    let is_data = path.last().is_some_and(|&id| document.section(id).kind == SectionKind::Key);
    if document.language().is_none() && config.context == ContextRule::Heading && !is_data {
        // A chunk that begins with the heading of a section says where it is.
        let begins = document.block_at(start).is_some_and(|block| {
            block.kind == BlockKind::Heading && block.span.start <= document.section(block.section).span.start
        });
        let Some(&last) = path.last().filter(|_| !begins) else { return Vec::new() };
        // An element of an array has a name and no heading.
        let heading = heading(document, last).map_or_else(|| Borrow::Path(vec![last]), Borrow::Heading);
        return Some(vec![heading]).filter(|borrow| fits(borrow, usize::MAX)).unwrap_or_default();
    }
    if document.language().is_none() {
        if config.context == ContextRule::Title && !is_data {
            path.drain(..path.len().saturating_sub(1));
        }
        // A title that is far too long alone need not be measured with each of those below it.
        let is_far_over = |&id: &SectionId| {
            document.section(id).title.len() > FAR_OVER * share(config)
                && size(&[Borrow::Path(vec![id])]) > 2 * share(config) + FAR_OVER
        };
        if let Some(last) = path.iter().rposition(is_far_over) {
            path.drain(..=last);
        }
        while !path.is_empty() {
            let bytes = path.iter().map(|&id| document.section(id).title.len() + " > ".len()).sum();
            let borrow = [Borrow::Path(path)];
            if fits(&borrow, bytes) {
                return borrow.into();
            }
            let [Borrow::Path(rest)] = borrow else { break };
            path = rest;
            path.remove(0);
        }
        return Vec::new();
    }
    path.retain(|&id| matches!(document.section(id).kind, SectionKind::Symbol(_)));
    let signatures = path.iter().map(|&id| document.section(id).signature);
    let announced = signatures.filter(|signature| signature.end <= start && !signature.is_empty());
    let mut borrows = vec![Borrow::Document];
    borrows.extend(announced.map(Borrow::Signature));
    while !borrows.is_empty() && !fits(&borrows, usize::MAX) {
        borrows.remove(0);
    }
    // Of a signature that is too long, or that the chunk begins inside, the line with the name says enough.
    if let Some(&last) = path.last() {
        let announced = Borrow::Signature(document.section(last).signature);
        if borrows.last() != Some(&announced)
            && let Some(name) = name_line(document, last, start)
            && fits(slice::from_ref(&Borrow::Signature(name)), usize::MAX)
        {
            borrows = vec![Borrow::Signature(name)];
        }
    }
    borrows
}

/// The line of a symbol's signature that has its name, if it ends before `start`.
fn name_line(document: &Document, id: SectionId, start: u32) -> Option<Span> {
    let section = document.section(id);
    let name =
        section.title.rsplit(|c: char| !c.is_alphanumeric() && c != '_').find(|name| !name.is_empty())?;
    let text = section.signature.of(document.source());
    let mut at = section.signature.start as usize;
    let line = text.split_inclusive('\n').find_map(|line| {
        let from = at;
        at += line.len();
        line.contains(name).then(|| Span::new(from, from + line.trim_end().len()))
    })?;
    (line.end <= start).then_some(line)
}

/// Most places of a list that are searched for the items around one: bounds the work for lists of thousands of items.
const MAX_ITEMS_BEFORE: usize = 256;

/// First lines of the list items around a chunk that begins at `start` with something indented, outermost
/// first; cut at a word where all would take more than their share of the limit.
fn items(document: &Document, config: &ChunkConfig, start: u32) -> Vec<Borrow> {
    let source = document.source();
    let indent =
        |at: u32| source[at as usize..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let Some(list) = document.block_at(start) else { return Vec::new() };
    // Text borrowed from a fence is indented like the fence.
    let from = document.enclosure_at(start).map_or(start, |enclosure| enclosure.open.start);
    let mut inside = indent(from);
    if list.kind != BlockKind::List || !list.span.divided_by(start) || inside == 0 {
        return Vec::new();
    }
    let seams = document.seams(Span { start: list.span.start, end: from });
    let places = seams.iter().rev().map(|seam| seam.at).take(MAX_ITEMS_BEFORE).chain([list.span.start]);
    let mut items = Vec::new();
    for at in places {
        let width = indent(at);
        if width < inside {
            items.push(at);
            inside = width;
        }
        if inside == 0 {
            break;
        }
    }
    // A token or character has at least one byte.
    let share = reopening_share(config) / items.len().max(1);
    let first_line = |&at: &u32| {
        let line = document.lines().line(at);
        let text = Span { start: at, end: document.lines().start(line + 1).max(at) }.of(source).trim_end();
        let words = text.match_indices(' ').map(|(end, _)| end).chain([text.len()]);
        let end = words.take_while(|&end| end <= share).last().unwrap_or(0);
        let visible = text[..end].trim_end().len();
        Borrow::Item(Span::new(at as usize, at as usize + visible))
    };
    items.iter().rev().map(first_line).collect()
}

/// The heading that begins a section.
pub(crate) fn heading(document: &Document, id: SectionId) -> Option<Span> {
    let block = document.block_at(document.section(id).span.start)?;
    (block.section == id && block.kind == BlockKind::Heading).then_some(block.span)
}

/// Size of the most that a chunk in `section` borrows as its path.
pub(crate) fn path_size(
    document: &Document,
    config: &ChunkConfig,
    section: SectionId,
    (measure, measured): (&dyn Fn(&str) -> usize, &Measured),
) -> usize {
    if config.context == ContextRule::None {
        return 0;
    }
    let end = document.section(section).span.end;
    let borrows = path_borrows(document, config, end, section, (measure, measured));
    measure(render(document, Span { start: end, end }, &borrows).text())
}

/// Size of the most that a piece of the block at `span` borrows to be well-formed.
pub(crate) fn reopening_size(
    document: &Document,
    config: &ChunkConfig,
    span: Span,
    measure: &dyn Fn(&str) -> usize,
) -> usize {
    let size = |enclosure: &Enclosure| {
        let open = measure(&document.read(enclosure.open));
        let close = if enclosure.close.is_empty() { 0 } else { measure(&enclosure.close) + 1 };
        if open <= reopening_share(config) { open + 1 + close } else { close }
    };
    document.enclosures(span).iter().map(size).max().unwrap_or(0)
}

/// The last `count` lines of the chunk before.
fn lines_before(document: &Document, count: usize, span: Span, previous: Span) -> Option<Borrow> {
    let lines = document.lines();
    let first = lines.line(span.start).saturating_sub(count).max(lines.line(previous.start));
    let overlap = Span { start: lines.start(first).max(previous.start), end: span.start };
    (count > 0 && !overlap.is_empty()).then_some(Borrow::Overlap(overlap))
}

/// The end of the chunk before, at most `overlap_size`, from the start of a sentence, line or word.
fn overlap(
    document: &Document,
    config: &ChunkConfig,
    span: Span,
    previous: Span,
    measure: &dyn Fn(&str) -> usize,
) -> Option<Borrow> {
    let source = document.source();
    let text = previous.of(source);
    let fits = |at: usize| {
        let overlap = Span::new(previous.start as usize + at, span.start as usize);
        let torn = document.tears_markup(overlap.start) || document.enclosure_at(overlap.start).is_some();
        !torn && measure(&document.read(overlap)) <= config.overlap_size
    };
    // The furthest of some places, in order, from which the rest fits: by the sum of what lies between
    // them, from the end on, and then exactly.
    let furthest = |mut places: Vec<usize>| {
        places.retain(|&at| text[at..].starts_with(|c| !is_blank(c)));
        let (mut size, mut end, mut from) = (0, text.len(), places.len());
        for (index, &at) in places.iter().enumerate().rev() {
            size += measure(&text[at..end]);
            if size > config.overlap_size {
                break;
            }
            (end, from) = (at, index);
        }
        places[from..].iter().copied().find(|&at| fits(at))
    };
    // Only the end can fit: a token has at most this many bytes in practice.
    let near = text.len().saturating_sub(16 * config.overlap_size);
    let near = (near..=text.len()).find(|&at| text.is_char_boundary(at))?;
    let tail = &text[near..];
    let sentences = words::sentences(tail).map(|at| near + at);
    let words = || words::starts(tail).into_iter().map(|at| near + at);
    let start = furthest(sentences.filter(|&at| at > near || near == 0).collect())
        .or_else(|| furthest(words().collect()))?;
    let start = previous.start as usize + start;
    Some(Borrow::Overlap(Span::new(start, span.start as usize)))
}
