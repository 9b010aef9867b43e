//! Code inside a document: the language that a fence names, and the places where its syntax allows a cut.
//!
//! A fence is parsed only when it has to be cut, and then once: a grammar takes many times longer than prose takes to
//! parse, and most fences are never divided.

use std::sync::OnceLock;

use crate::document::{Block, Document, Enclosure, EnclosureKind};
use crate::parse::Parser;
use crate::span::Span;

/// Who knows the parser of a programming language by the name that a fence gives it: `python`, `py`.
pub type Languages = fn(&str) -> Option<&'static dyn Parser>;

/// Places where the code in a fence may be cut: a cut at any byte of a place reads the same.
type Places = Vec<(Span, Begins)>;

/// The code in the fences of a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Embedded {
    languages: Option<Languages>,
    /// The places of each enclosure of the document; computed on first use.
    places: Vec<OnceLock<Option<Places>>>,
}

impl Embedded {
    /// The same languages, with nothing read yet.
    pub(super) fn anew(&self) -> Self {
        let places = vec![OnceLock::new(); self.places.len()];
        Self { languages: self.languages, places }
    }
}

/// The construct that begins at a place in embedded code, with its depth, 0 outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    /// A symbol.
    Symbol(u8),
    /// A statement or comment outside every function.
    Block(u8),
    /// Something inside one of those.
    Inner(u8),
    /// Nothing: the construct there continues.
    Nothing,
}

impl Document {
    /// Lets fences that are divided be cut as the code is that they hold, if `languages` knows it.
    pub fn with_languages(mut self, languages: Languages) -> Self {
        let places = vec![OnceLock::new(); self.enclosures.len()];
        self.embedded = Embedded { languages: Some(languages), places };
        self
    }

    /// The construct that begins at byte `at` of the code inside a fence, if its language is known.
    pub(crate) fn code_begins(&self, at: u32) -> Option<Begins> {
        let languages = self.embedded.languages?;
        let index = self.enclosures.partition_point(|enclosure| enclosure.span.end <= at);
        let is_fence = |fence: &&Enclosure| fence.kind == EnclosureKind::Fence && fence.span.divided_by(at);
        let fence = self.enclosures.get(index).filter(is_fence)?;
        let places = self.embedded.places.get(index)?;
        let places = places.get_or_init(|| self.code_places(fence, languages)).as_ref()?;
        let next = places.get(places.partition_point(|(place, _)| place.end < at));
        Some(next.filter(|(place, _)| place.start <= at).map_or(Begins::Nothing, |&(_, begins)| begins))
    }

    /// Places where the code inside `fence` may be cut, if its language is known and its syntax understood.
    fn code_places(&self, fence: &Enclosure, languages: Languages) -> Option<Places> {
        let language = languages(language_name(&self.read(fence.open))?)?;
        let end = self.source.floor_char_boundary(fence.span.end as usize);
        let inside = Reading::new(self, Span::new((fence.open.end as usize).min(end), end));
        let code = Document::parse("", before_close(&inside.text, &fence.close), language);
        if code.is_unparsed() {
            return None;
        }
        let mut places: Vec<_> =
            code.blocks().iter().map(|block| (block.span.start, code.begins(block))).collect();
        let seams = code.seams.iter().map(|seam| (seam.at, Begins::Inner(seam.depth)));
        places.extend(seams);
        places.sort_by_key(|&(at, _)| at);
        // Where a block and a seam coincide, keep the block, which comes first.
        places.dedup_by_key(|&mut (at, _)| at);
        Some(places.into_iter().filter_map(|(at, begins)| Some((inside.place(at)?, begins))).collect())
    }

    /// The construct that `block` begins, in source code.
    fn begins(&self, block: &Block) -> Begins {
        let path = self.path(block.section);
        let is_around = |&&id: &&_| self.section(id).span.start < block.span.start;
        let around = path.iter().filter(is_around).count();
        let depth = around.min(255) as u8;
        if around < path.len() { Begins::Symbol(depth) } else { Begins::Block(depth) }
    }
}

/// The starts, in lower case, of lines that open a block of code and name its language.
const OPENINGS: &[&str] =
    &["```", "~~~", ".. code-block::", ".. code::", ".. sourcecode::", "#+begin_src", "[source", "[,"];

/// The language that the lines name which open a fence: `python` of `~~~python title=x`, `~~~ {.python}`,
/// `.. code:: python`, `[source%linenums,python]`.
fn language_name(open: &str) -> Option<&str> {
    let info = open.lines().find_map(|line| {
        let line = line.trim_start();
        let begins = |opening: &&&str| {
            line.get(..opening.len()).is_some_and(|head| head.eq_ignore_ascii_case(opening))
        };
        let opening = OPENINGS.iter().find(begins)?;
        if opening.starts_with('[') { line.split(',').nth(1) } else { Some(&line[opening.len()..]) }
    })?;
    let info = info.trim_start_matches(|c: char| c.is_whitespace() || "`~{.".contains(c));
    let info = ["language-", "lang-"].iter().find_map(|prefix| info.strip_prefix(prefix)).unwrap_or(info);
    let is_name = |c: char| c.is_alphanumeric() || "+#-_".contains(c);
    let name = &info[..info.find(|c| !is_name(c)).unwrap_or(info.len())];
    (!name.is_empty()).then_some(name)
}

/// `text` without its last line, if that line closes it.
fn before_close<'t>(text: &'t str, close: &str) -> &'t str {
    let (text, close) = (text.trim_end(), close.trim());
    let last = text.rfind('\n').map_or(0, |at| at + 1);
    if !close.is_empty() && text[last..].trim_start().starts_with(close) { &text[..last] } else { text }
}

/// The rendered text of a stretch of a document, with its positions in the source.
struct Reading {
    text: String,
    runs: Vec<Run>,
}

/// A stretch that reads as itself.
struct Run {
    /// Its start in the text.
    text: u32,
    /// Start of the markup before it that renders as nothing.
    from: u32,
    /// Its span in the source.
    span: Span,
}

impl Reading {
    fn new(document: &Document, span: Span) -> Self {
        let mut reading = Self { text: String::new(), runs: Vec::new() };
        let (mut at, mut from) = (span.start, span.start);
        let markup = &document.markup;
        let touching = &markup[markup.partition_point(|markup| markup.span.end <= span.start)..];
        for markup in touching.iter().take_while(|markup| markup.span.start < span.end) {
            let start = markup.span.start.max(at);
            if reading.push(document, from, Span { start: at, end: start }) {
                from = start;
            }
            if !markup.reads.is_empty() {
                reading.text.push_str(&markup.reads);
                from = markup.span.end;
            }
            at = markup.span.end.min(span.end);
        }
        reading.push(document, from, Span { start: at, end: span.end });
        reading
    }

    /// Adds text that renders as itself, if there is any.
    fn push(&mut self, document: &Document, from: u32, span: Span) -> bool {
        if !span.is_empty() {
            self.runs.push(Run { text: self.text.len() as u32, from, span });
            self.text.push_str(span.of(&document.source));
        }
        !span.is_empty()
    }

    /// The place at which the text continues from byte `at`.
    fn place(&self, at: u32) -> Option<Span> {
        let run = self.runs.get(self.runs.partition_point(|run| run.text <= at).checked_sub(1)?)?;
        let end = run.span.start + (at - run.text);
        let start = if at == run.text { run.from } else { end };
        (end <= run.span.end).then_some(Span { start, end })
    }
}
