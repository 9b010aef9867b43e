//! Markdown: CommonMark and GFM by `pulldown-cmark`, front matter and MDX modules by us.
//!
//! Only the block structure is read. The parser's own metadata blocks stay off: they cost quadratic time on hostile
//! input, and front matter stands at the first byte or nowhere. Nothing here recurses, so any depth of nesting works.

mod admonitions;
mod digest;
mod headings;
mod modules;
mod plain;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser as Events, Tag};

use self::digest::{Digest, Place};
use self::modules::Modules;
use self::plain::{Detail, Next, Plain};
use super::Parser;
use super::front_matter::FrontMatter;
use super::grid;
use super::lines::Lines;
use crate::document::{BlockKind, DocumentBuilder, Enclosure, EnclosureKind, SectionKind};
use crate::span::{LineIndex, Span};

/// Markdown: CommonMark with GFM's tables, footnotes, and YAML or TOML front matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Markdown;

/// Markdown with JSX and with `import` and `export` statements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mdx;

impl Parser for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[
            "md", "markdown", "mkd", "mkdn", "mdown", "mdwn", "mdtxt", "mdtext", "markdoc", "rmd", "qmd",
            "mdc", "livemd", "workbook",
        ]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        report(out, Dialect::Markdown);
    }
}

impl Parser for Mdx {
    fn name(&self) -> &'static str {
        "mdx"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["mdx"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        report(out, Dialect::Mdx);
    }
}

/// Which Markdown a document is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Markdown,
    Mdx,
}

/// A block at the top level of the document.
struct Top {
    kind: BlockKind,
    range: Range<usize>,
    heading: Option<(u8, String)>,
}

/// How often a digest is made again with what turned out to be open, before the whole source is parsed.
const RETRIES: usize = 4;

/// Reports front matter and the blocks of the rest.
fn report(out: &mut DocumentBuilder, dialect: Dialect) {
    let source = out.source();
    // Text outside every event is a link reference definition.
    out.set_gap_kind(BlockKind::Definition);
    let start = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let front_matter = FrontMatter::of(&source, out.lines(), start);
    let mut levels: Vec<u8> = Vec::new();
    let body = front_matter.as_ref().map_or(start, |front_matter| front_matter.end);
    let mut tops = headings::split(&source, outline(out, body, dialect));
    admonitions::join(&source, &mut tops, out);
    grids(&source, &mut tops, out);
    if let Some(front_matter) = front_matter {
        let mut headings = tops.iter().filter_map(|top| top.heading.as_ref());
        let title = headings.find_map(|(level, title)| (*level == 1).then_some(title.as_str()));
        if front_matter.report(&source, title, out) {
            levels.push(1);
        }
    }
    for top in tops {
        if let Some((level, title)) = top.heading {
            while levels.pop_if(|open| *open >= level).is_some() {
                out.close_section(top.range.start);
            }
            levels.push(level);
            out.open_section(SectionKind::Heading(level), &title, top.range.start);
        }
        out.block(top.kind, top.range.start, top.range.end);
    }
}

/// Makes tables of the grids that Pandoc reads as such; to `CommonMark` they are paragraphs, or a paragraph and a list.
fn grids(source: &str, tops: &mut [Top], out: &mut DocumentBuilder) {
    let is_grid = |top: &Top| {
        let text = &source[top.range.clone()];
        top.kind == BlockKind::Paragraph
            && text.starts_with('+')
            && grid::is_border(text.lines().next().unwrap_or_default().trim_end())
    };
    if !tops.iter().any(is_grid) {
        return;
    }
    let index = out.lines().clone();
    let lines = Lines::new(source, &index);
    let mut at = 0;
    while at < tops.len() {
        if !is_grid(&tops[at]) {
            at += 1;
            continue;
        }
        let first = index.line(tops[at].range.start as u32) - 1;
        let end = lines.end(grid::report(&lines, out, first, lines.len()) - 1);
        (tops[at].kind, tops[at].range.end) = (BlockKind::Table, end);
        at += 1;
        // The builder drops empty ranges.
        while let Some(held) = tops.get_mut(at).filter(|held| held.range.start < end) {
            (held.range.start, held.heading) = (end.min(held.range.end), None);
            at += 1;
        }
    }
}

/// The top-level blocks of the source from byte `body` on; reports seams and enclosures on the way.
fn outline(out: &mut DocumentBuilder, body: usize, dialect: Dialect) -> Vec<Top> {
    let source = out.source();
    let outline = Outline::new(&source, out.lines(), body, dialect);
    for (at, depth) in outline.seams {
        out.seam(at, depth);
    }
    for enclosure in outline.enclosures {
        out.enclosure(enclosure);
    }
    outline.tops
}

/// The block structure of a source.
#[derive(Default)]
struct Outline {
    /// Blocks at the top level.
    tops: Vec<Top>,
    /// Starts and depths of the blocks within them.
    seams: Vec<(usize, usize)>,
    enclosures: Vec<Enclosure>,
}

impl Outline {
    /// The outline of the source from byte `body` on.
    fn new(source: &str, lines: &LineIndex, body: usize, dialect: Dialect) -> Self {
        let mut modules = Modules::default();
        let mut open = Vec::new();
        while open.len() < RETRIES {
            let known = (dialect == Dialect::Mdx).then_some(&mut modules);
            match Self::by_digest(source, lines, body, known, &open) {
                Ok(outline) => return outline,
                // What is read further has no statements, so it is not where there may be some.
                Err(Some(at)) if dialect == Dialect::Markdown => open.push(at),
                Err(_) => break,
            }
        }
        // Statements are left out of what the parser sees, unless something is open around one.
        let outline = Self::around(source, lines, body, &modules.found);
        outline.or_else(|| Self::around(source, lines, body, &[])).unwrap_or_default()
    }

    /// The outline of the source from byte `body` on as the parser reads it, except for `modules`. `None` if a block
    /// reaches over one.
    fn around(source: &str, lines: &LineIndex, body: usize, modules: &[Range<usize>]) -> Option<Self> {
        let mut outline = Self::default();
        let mut digest = Digest::default();
        let mut at = body;
        for module in modules {
            digest.push(source, at..module.start, Detail::Full);
            outline.tops.push(module_block(source, module.clone()));
            at = module.end;
        }
        digest.push(source, at..source.len(), Detail::Full);
        let parsed = outline.parse(source, lines, &digest);
        outline.tops.sort_by_key(|top| top.range.start);
        parsed.is_ok().then_some(outline)
    }

    /// The same, parsing only a digest. `open` are the stretches that reach over borders. An error if that does not give the whole
    /// outline, because of a form feed or a vertical tab, on which parsers disagree, or because a fence or HTML is open where
    /// the stretch that begins at the byte given ends.
    fn by_digest(
        source: &str,
        lines: &LineIndex,
        body: usize,
        modules: Option<&mut Modules>,
        open: &[usize],
    ) -> Result<Self, Option<usize>> {
        if memchr::memchr2(0x0b, 0x0c, source.as_bytes()).is_some() {
            return Err(None);
        }
        let mut outline = Self::default();
        let mut digest = Digest::default();
        let mut plain = Plain::new(source, lines, body, modules, open);
        while let Some(next) = plain.next() {
            match next {
                Next::Paragraph(range) => {
                    outline.tops.push(Top { kind: BlockKind::Paragraph, range, heading: None });
                }
                Next::Heading(level, title, range) => {
                    outline.tops.push(Top { kind: BlockKind::Heading, range, heading: Some((level, title)) });
                }
                Next::Html(range) => {
                    outline.tops.push(Top { kind: BlockKind::Html, range, heading: None });
                }
                Next::Module(range) => outline.tops.push(module_block(source, range)),
                Next::Fence(range) => {
                    outline.enclosures.extend(enclosure(lines, source, EnclosureKind::Fence, range.clone()));
                    outline.tops.push(Top { kind: BlockKind::Code, range, heading: None });
                }
                Next::Other(range, detail) => digest.push(source, range, detail),
            }
        }
        digest.finish(source.len());
        let parsed = outline.parse(source, lines, &digest);
        outline.tops.sort_by_key(|top| top.range.start);
        parsed.map(|()| outline).map_err(Some)
    }

    /// Adds what the parser finds in `digest`. An error if a block does not end in the stretch that it begins in: where that
    /// begins.
    fn parse(&mut self, source: &str, lines: &LineIndex, digest: &Digest) -> Result<(), usize> {
        // Inline extensions (strikethrough, task list marks) move no block.
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_HEADING_ATTRIBUTES;
        let mut part = 0;
        let mut depth = 0;
        let mut line = 1;
        let mut title: Option<(u8, String)> = None;
        for (event, range) in Events::new_ext(&digest.text, options).into_offset_iter() {
            match event {
                Event::Start(tag) => {
                    depth += 1;
                    let range = match digest.place(&mut part, &range) {
                        Place::Source(range) => range,
                        Place::Between => continue,
                        Place::Open(at) => return Err(at),
                    };
                    if depth == 1 {
                        title = heading_level(&tag).map(|level| (level, String::new()));
                        self.tops.push(Top { kind: kind(&tag), range: range.clone(), heading: None });
                    } else if is_block(&tag) {
                        // Blocks begin in the order of their lines: the next is not far.
                        while line < lines.count() && (lines.start(line + 1) as usize) <= range.start {
                            line += 1;
                        }
                        self.seams.push((lines.start(line) as usize, depth - 2));
                    }
                    let enclosed = match tag {
                        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => Some(EnclosureKind::Fence),
                        Tag::Table(_) => Some(EnclosureKind::Table),
                        _ => None,
                    };
                    if let Some(enclosed) = enclosed {
                        self.enclosures.extend(enclosure(lines, source, enclosed, range));
                    }
                }
                Event::End(_) => {
                    depth -= 1;
                    if depth == 0
                        && let (Some(title), Some(top)) = (title.take(), self.tops.last_mut())
                    {
                        top.heading = Some(title);
                    }
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some((_, title)) = &mut title {
                        title.push_str(&text);
                    }
                }
                Event::SoftBreak | Event::HardBreak => {
                    if let Some((_, title)) = &mut title {
                        title.push(' ');
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn heading_level(tag: &Tag<'_>) -> Option<u8> {
    let Tag::Heading { level, .. } = tag else { return None };
    Some(match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    })
}

fn kind(tag: &Tag<'_>) -> BlockKind {
    match tag {
        Tag::Heading { .. } => BlockKind::Heading,
        Tag::CodeBlock(_) => BlockKind::Code,
        Tag::Table(_) => BlockKind::Table,
        Tag::List(_) => BlockKind::List,
        Tag::BlockQuote(_) => BlockKind::Quote,
        Tag::HtmlBlock => BlockKind::Html,
        Tag::FootnoteDefinition(_) => BlockKind::Definition,
        _ => BlockKind::Paragraph,
    }
}

/// Whether the tag begins a block within a block, where a block too large may be cut.
fn is_block(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Item
            | Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::CodeBlock(_)
            | Tag::Table(_)
            | Tag::List(_)
            | Tag::BlockQuote(_)
            | Tag::HtmlBlock
    )
}

/// The text to repeat when the fence or table at `range` is cut. Lines are taken with their prefix (`> `, `- `), so
/// that a repeated opening is well-formed in its container.
fn enclosure(lines: &LineIndex, source: &str, kind: EnclosureKind, range: Range<usize>) -> Option<Enclosure> {
    let end = range.start + source[range.clone()].trim_end().len();
    let first = lines.line(range.start as u32);
    let start = lines.start(first) as usize;
    let line_end = |line: usize| {
        let next = if line < lines.count() { lines.start(line + 1) as usize } else { source.len() };
        start + source[start..next].trim_end().len()
    };
    let span = Span::new(start, end.max(start));
    if kind == EnclosureKind::Table {
        let open = Span::new(start, line_end(first + 1).min(end.max(start)));
        return Some(Enclosure { kind, span, open, close: "".into() });
    }
    let fence_at = range.start + source[range.start..end].find(['`', '~'])?;
    let fence = source[fence_at..].chars().next()?;
    let width = source[fence_at..].len() - source[fence_at..].trim_start_matches(fence).len();
    // Quote marks stay, list markers become the indentation of what follows them.
    let prefix = source[start..fence_at].chars().map(|c| if c == '>' || c.is_whitespace() { c } else { ' ' });
    let close: String = prefix.chain(std::iter::repeat_n(fence, width)).collect();
    let open = Span::new(start, line_end(first));
    let last = source[start..end].rsplit('\n').next().unwrap_or_default();
    let marks = last.trim_start_matches(|c: char| c == '>' || c.is_whitespace());
    let closed = start + last.len() < end && marks.len() >= width && marks.chars().all(|c| c == fence);
    // An unclosed fence extends past its last line: a chunk that ends there ends inside.
    let span = if closed { span } else { Span { end: span.end + 1, ..span } };
    Some(Enclosure { kind, span, open, close: close.into() })
}

/// The block that a statement of MDX is; an expression in braces is not a statement.
fn module_block(source: &str, range: Range<usize>) -> Top {
    let kind = if source[range.clone()].starts_with('{') { BlockKind::Paragraph } else { BlockKind::Import };
    Top { kind, range, heading: None }
}
