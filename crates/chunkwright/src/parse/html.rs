//! HTML: tokens by `html5gum`, structure by us.
//!
//! No tree is built: it would be as deep as the nesting, and chunking only needs a flat list. Blocks are headings,
//! paragraphs, listings, tables, lists and quotes, wherever they stand; all other elements only end what is open. Tags
//! are markup (see [`DocumentBuilder::markup`]) that reads as Markdown: a heading as `## `, a list item as `- `, a row
//! as `| a | b |`, unless the table only [lays out](layout) the page. Scripts, styles and comments read as nothing. Navigation, headers and footers of a page are text
//! like any other: nothing is lost.

mod layout;
mod reading;
mod table;
mod tags;

use std::collections::HashSet;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

use super::Parser;
use super::front_matter::FrontMatter;
use crate::document::{BlockKind, DocumentBuilder, Enclosure, EnclosureKind, SectionKind};
use crate::span::Span;
use reading::{Break, Reading};
use table::Table;

/// HTML and XHTML.
#[derive(Clone, Copy, Debug, Default)]
pub struct Html;

impl Parser for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["html", "htm", "xhtml"]
    }

    fn renders(&self) -> bool {
        true
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        // Generators of sites take front matter above pages of HTML, too.
        let front_matter = FrontMatter::of(&source, out.lines(), 0).filter(FrontMatter::is_mapping);
        let mut page = Page::new(&source);
        page.body = front_matter.as_ref().map_or(0, |front_matter| front_matter.end);
        tokens(&source).for_each(|token| page.token(token));
        page.report(front_matter.as_ref(), out);
    }
}

/// The tokens of HTML with their places.
fn tokens(html: &str) -> impl Iterator<Item = Token<usize>> {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter).map(|Ok(token)| token)
}

/// A block outside every other.
struct Top {
    kind: BlockKind,
    start: usize,
    end: usize,
    heading: Option<(u8, String)>,
}

/// An element that holds blocks and is one block with them.
enum Container {
    /// A list; of a numbered one, the next number.
    List(Option<u32>),
    Definitions,
    Quote,
    Table(Table),
}

/// A listing that is open.
struct Listing {
    mark: usize,
    start: usize,
    /// End of its opening tag, without the last character.
    open: usize,
    /// Start of its text, if it has begun.
    text: Option<usize>,
    /// Whether its text so far ends a line.
    ended: bool,
}

/// The part of a page read so far.
struct Page<'a> {
    source: &'a str,
    /// End of the front matter.
    body: usize,
    reading: Reading<'a>,
    tops: Vec<Top>,
    /// The block that is open.
    open: Option<Top>,
    containers: Vec<Container>,
    /// Where tables begin that lay out the page, and how many of these are open.
    layouts: HashSet<usize>,
    in_layouts: usize,
    /// Start of the open elements that are still empty: the next block begins with them.
    lead: Option<usize>,
    listing: Option<Listing>,
    /// Name of the element that is left out, how many of it are open, and where it begins.
    left_out: Option<(Vec<u8>, usize, usize)>,
    /// The page's own title: its start, its text and its end.
    title: Option<(usize, Span, usize)>,
    in_title: bool,
    /// End of the tokens so far.
    reached: usize,
    /// Whether there is text since the last place to cut.
    seen: bool,
    seams: Vec<(usize, usize)>,
    enclosures: Vec<Enclosure>,
}

/// Lists and quotes nested deeper are read as if they were not.
const MAX_INDENTS: usize = 8;

impl<'a> Page<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            body: 0,
            reading: Reading::new(source),
            tops: Vec::new(),
            open: None,
            containers: Vec::new(),
            layouts: layout::tables(source),
            in_layouts: 0,
            lead: None,
            listing: None,
            left_out: None,
            title: None,
            in_title: false,
            reached: 0,
            seen: false,
            seams: Vec::new(),
            enclosures: Vec::new(),
        }
    }

    fn token(&mut self, token: Token<usize>) {
        let end = match &token {
            Token::StartTag(tag) => tag.span.end,
            Token::EndTag(tag) => tag.span.end,
            Token::String(text) => text.span.end,
            Token::Comment(comment) => comment.span.end,
            Token::Doctype(doctype) => doctype.span.end,
            Token::Error(_) => 0,
        };
        self.reached = self.reached.max(end);
        match token {
            Token::StartTag(tag) if self.is_tag(tag.span) => self.start_tag(&tag),
            Token::EndTag(tag) if self.is_tag(tag.span) => {
                self.end_tag(&tag.name, tag.span.start, tag.span.end);
            }
            Token::String(text) => self.text(text.span.start, text.span.end),
            Token::Comment(comment) => self.invisible(comment.span.start, comment.span.end),
            Token::Doctype(doctype) => self.invisible(doctype.span.start, doctype.span.end),
            _ => {}
        }
    }

    /// Whether a token's span is that of a tag. Anything else, such as a tag cut off by the end of the file, is text.
    fn is_tag(&self, span: html5gum::Span<usize>) -> bool {
        let is_tag = |text: &str| text.starts_with('<') && text.ends_with('>');
        span.start >= self.body && self.source.get(span.start..span.end).is_some_and(is_tag)
    }

    fn invisible(&mut self, start: usize, end: usize) {
        let (start, end) = (self.boundary(start).max(self.body), self.boundary(end));
        if self.left_out.is_none() && start < end {
            self.reading.gap(start, end, Break::None);
        }
    }

    /// `at`, inside the source and at a character.
    fn boundary(&self, at: usize) -> usize {
        self.source.floor_char_boundary(at)
    }

    fn text(&mut self, start: usize, end: usize) {
        let (start, end) = (self.boundary(start).max(self.body), self.boundary(end));
        if self.left_out.is_some() || start >= end {
            return;
        }
        let text = &self.source[start..end];
        if self.in_title {
            // Whether the title is read is known at the end.
            if let Some((_, title, _)) = &mut self.title {
                title.end = end as u32;
            }
            return;
        }
        if let Some(listing) = &mut self.listing {
            let text = if listing.text.is_none() && text.starts_with(['\n', '\r']) {
                let line = start + if text.starts_with("\r\n") { 2 } else { 1 };
                self.reading.gap(start, line, Break::None);
                line
            } else {
                start
            };
            listing.text.get_or_insert(text);
            listing.ended = self.source[text..end].ends_with(['\n', '\r']) || listing.ended && text == end;
            self.seen = true;
            self.reading.preformatted(text, end);
            return;
        }
        if text.bytes().any(|byte| !reading::is_space(byte)) {
            // The sign that links a heading to itself.
            if self.heading().is_some() && matches!(text.trim(), "¶" | "#" | "&para;" | "\u{f0c1}") {
                self.reading.gap(start, end, Break::None);
                return;
            }
            self.visible(start);
        }
        self.reading.in_cell = self.in_cell();
        let heading = self.open.as_mut().and_then(|open| open.heading.as_mut());
        match heading {
            Some((_, title)) => self.reading.text(start, end, |word| title.push_str(word)),
            None => self.reading.text(start, end, |_| {}),
        }
    }

    fn heading(&self) -> Option<&(u8, String)> {
        self.open.as_ref()?.heading.as_ref()
    }

    /// Something visible begins at `start`: it belongs to a block.
    fn visible(&mut self, start: usize) {
        self.seen = true;
        if self.open.is_none() {
            self.open(BlockKind::Paragraph, start);
        }
    }

    /// Begins a block.
    fn open(&mut self, kind: BlockKind, start: usize) {
        let start = self.lead.take().unwrap_or(start);
        self.open = Some(Top { kind, start, end: start, heading: None });
        self.seen = false;
    }

    /// Ends the block that is open.
    fn close(&mut self, end: usize) {
        self.lead = None;
        if let Some(open) = self.open.take() {
            self.tops.push(Top { end, ..open });
        }
    }

    /// Ends the open block before one that begins at `start`; inside a container this is a place to cut.
    fn block(&mut self, kind: BlockKind, start: usize) {
        if self.containers.is_empty() {
            if self.open.is_some() {
                self.close(start);
            }
            self.open(kind, start);
        } else {
            self.seam(start);
        }
    }

    /// Notes a place to cut, if that leaves no marker alone.
    fn seam(&mut self, at: usize) {
        if self.seen && !self.in_cell() {
            self.seams.push((at, self.containers.len().saturating_sub(1)));
            self.seen = false;
        }
    }

    fn in_cell(&self) -> bool {
        self.containers.iter().any(|container| matches!(container, Container::Table(table) if table.in_cell))
    }

    /// Marks a tag that requests a break; in a table's cell every break is a space.
    fn tag(&mut self, start: usize, end: usize, wanted: Break) -> usize {
        let one_line = self.in_cell() || self.heading().is_some();
        let wanted = if one_line { wanted.min(Break::Space) } else { wanted };
        self.reading.gap(start, end, wanted)
    }

    fn push(&mut self, container: Container, kind: BlockKind, start: usize) {
        self.block(kind, start);
        self.containers.push(container);
        self.indent();
    }

    /// Ends the innermost container that `is` one, with all inside it.
    fn pop(&mut self, end: usize, is: impl Fn(&Container) -> bool) {
        let Some(at) = self.containers.iter().rposition(is) else { return };
        self.containers.truncate(at);
        self.indent();
        if at == 0 {
            self.close(end);
        }
    }

    /// Lets lines begin as the containers ask for.
    fn indent(&mut self) {
        let mut prefix = String::new();
        for container in self.containers.iter().take(MAX_INDENTS) {
            match container {
                Container::List(None) => prefix.push_str("  "),
                Container::List(Some(_)) => prefix.push_str("   "),
                Container::Quote => prefix.push_str("> "),
                Container::Definitions | Container::Table(_) => {}
            }
        }
        self.reading.set_prefix(prefix);
    }

    fn end_listing(&mut self, start: usize, end: usize) {
        let Some(listing) = self.listing.take() else { return };
        let text = &self.source[listing.text.unwrap_or(start).min(start)..start];
        let fence = "`".repeat(3.max(1 + super::longest_run(text, '`')));
        self.reading.amend(listing.mark, "```", &fence);
        // An unclosed listing extends past the end: a chunk that ends there ends inside.
        let mut span = Span::new(listing.start, end + 1);
        if start < end {
            span.end -= 1;
            let mark = self.reading.gap(start, end, Break::None);
            let line = if listing.ended { "" } else { "\n" };
            self.reading.end(mark, &format!("{line}{fence}"));
            self.reading.ask(mark, Break::Blank);
        }
        self.enclosures.push(Enclosure {
            kind: EnclosureKind::Fence,
            span,
            open: Span::new(listing.start, listing.open),
            close: fence.into(),
        });
        if self.containers.is_empty() {
            self.close(end);
        }
    }

    /// Ends what the file left open, and reports all.
    fn report(mut self, front_matter: Option<&FrontMatter>, out: &mut DocumentBuilder) {
        let end = self.source.len();
        // A tag that the end of the file cut off.
        self.text(self.reached.min(end), end);
        if let Some((_, _, from)) = self.left_out.take() {
            self.invisible(from, end);
        }
        self.end_listing(end, end);
        self.close(end);
        let mut headings = self.tops.iter().filter_map(|top| top.heading.as_ref());
        let heading = headings.find_map(|(level, title)| (*level == 1).then_some(title.as_str()));
        let mut levels: Vec<u8> = Vec::new();
        let is_page = front_matter.is_some_and(|front_matter| front_matter.report(self.source, heading, out));
        if is_page {
            levels.push(1);
        }
        let titled = is_page || heading.is_some();
        // A title without an end holds the page.
        if let Some((start, text, end)) = self.title.take().filter(|_| !self.in_title) {
            let is_first = self.tops.first().is_none_or(|top| top.start >= end);
            if titled || !is_first || text.of(self.source).trim().is_empty() {
                out.markup(start, end, "");
            } else {
                let mut title = String::new();
                let mut reading = Reading::new(self.source);
                let mark = reading.gap(start, text.start as usize, Break::None);
                reading.begin(mark, "# ");
                reading.text(text.start as usize, text.end as usize, |word| title.push_str(word));
                let mark = reading.gap(text.end as usize, end, Break::None);
                reading.end(mark, "\n\n");
                reading.finish(out);
                levels.push(1);
                out.open_section(SectionKind::Heading(1), &title, start);
                out.block(BlockKind::Heading, start, end);
            }
        }
        for top in self.tops {
            if let Some((level, title)) = top.heading.filter(|(_, title)| !title.trim().is_empty()) {
                while levels.pop_if(|open| *open >= level).is_some() {
                    out.close_section(top.start);
                }
                levels.push(level);
                out.open_section(SectionKind::Heading(level), &title, top.start);
            }
            out.block(top.kind, top.start, top.end);
        }
        for (at, depth) in self.seams {
            out.seam(at, depth);
        }
        for enclosure in self.enclosures {
            out.enclosure(enclosure);
        }
        self.reading.finish(out);
    }
}
