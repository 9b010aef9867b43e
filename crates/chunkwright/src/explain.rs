//! Explanations of chunk boundaries: facts computed after the cut, from the document and its chunks alone.
//!
//! Nothing here takes part in cutting, so explanations cost nothing unless requested and cannot disagree with what a
//! strategy did. Facts are typed; `words` renders them as clauses, the same for every front end.

mod words;

use serde::Serialize;

use crate::chunk::{Chunk, ChunkId, Chunker, Cut, Part, Unit};
use crate::context::{self, Borrow};
use crate::document::{BlockKind, Document, Section, SectionKind};
use crate::span::Span;
use crate::tokens::{Chars, TokenCounter};

/// Why one chunk is as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Position in the document, from 0.
    pub chunk_index: u32,
    /// Identity, 32 hex digits.
    pub chunk_id: ChunkId,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, 1-based, inclusive.
    pub end_line: u32,
    /// All titles from the outermost.
    pub section_path: Vec<String>,
    /// Size of its text in `unit`, borrowed text included.
    pub size: usize,
    /// The limit of `size`.
    pub max_size: usize,
    /// What sizes are counted in.
    pub unit: Unit,
    /// Over the limit because a block is kept whole.
    pub oversize: bool,
    /// Piece of a block or symbol that was too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Whether it is of source code whose syntax was not read: the language has no grammar here, or the source is too
    /// broken or would cost too much.
    #[serde(rename = "unparsed", skip_serializing_if = "std::ops::Not::not")]
    pub is_unparsed: bool,
    /// Why it begins where it does.
    pub begin: Begin,
    /// Why it ends where it does.
    pub end: End,
    /// Where inside it the structure would have allowed a cut, in order.
    pub rejected: Vec<Candidate>,
    /// What it borrows.
    pub borrows: Vec<Borrowed>,
}

/// Why a chunk begins where it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Begin {
    /// The rule, as in records: `heading`, `full`, `split:sentence`, ...
    pub cut: Cut,
    /// What stands there: `paragraph`, `table`, `function`, ...
    pub block: BlockKind,
    /// Title of the section that begins there, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Why a chunk ends where it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "why", rename_all = "snake_case")]
#[non_exhaustive]
pub enum End {
    /// The document ends.
    Document,
    /// A section or symbol begins, which is a hard border.
    Section {
        /// Its title.
        title: String,
        /// Size the chunk would have had with what follows; see [`Full`](Self::Full).
        size_with_next: usize,
    },
    /// What follows did not fit.
    Full {
        /// Size the chunk would have had with the next block, or with as much of it as the next chunk
        /// holds. Over `max_size`.
        size_with_next: usize,
    },
    /// What follows would have fitted; the strategy preferred to cut here, for balance or stability.
    Balanced {
        /// Size the chunk would have had with the next block, or with as much of it as the next chunk
        /// holds. At most `max_size`.
        size_with_next: usize,
    },
    /// The block is too large for one chunk and was cut inside.
    Split {
        /// Where the block was cut: `split:sentence`, `split:row`, ...
        cut: Cut,
        /// Size the chunk would have had with as much more of the block as the next chunk holds.
        size_with_next: usize,
    },
}

/// A place where the structure would have allowed a cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// First line after the cut, 1-based.
    pub line: u32,
    /// First byte after the cut.
    pub byte: u32,
    /// What would have begun there.
    #[serde(flatten)]
    pub level: Level,
}

/// The structural level of a [`Candidate`]: the earlier in this list, the better a place to cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "level", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Level {
    /// A section.
    Section {
        /// Its depth: 1 for those of the document.
        depth: usize,
        /// Its title.
        title: String,
    },
    /// A block of this kind.
    Block {
        /// `paragraph`, `table`, `function`, ...
        block: BlockKind,
    },
    /// Something inside a block: a list item, a statement.
    Inside {
        /// Its depth in the block, 0 outermost.
        depth: u8,
    },
}

/// A piece of borrowed text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Borrowed {
    /// `document`, `path`, `heading`, `signature`, `item`, `fence`, `table_header`, `overlap` or `close`.
    pub kind: &'static str,
    /// The text.
    pub text: String,
    /// Its size alone, in the unit of the configuration.
    pub size: usize,
}

impl Chunker {
    /// Explains the chunk at `index` among all `chunks` of `document`.
    ///
    /// # Panics
    ///
    /// If there is no such chunk.
    pub(crate) fn explain_one(&self, document: &Document, chunks: &[Chunk], index: usize) -> Explanation {
        let chunk = &chunks[index];
        let (start_line, end_line) = document.lines().lines(chunk.span);
        Explanation {
            chunk_index: index as u32,
            chunk_id: chunk.id,
            start_line: start_line as u32,
            end_line: end_line as u32,
            section_path: document.titles(chunk.section).into_iter().map(str::to_owned).collect(),
            size: chunk.size,
            max_size: self.config().max_size,
            unit: self.config().unit,
            oversize: chunk.oversize,
            part: chunk.part,
            begin: Begin {
                cut: chunk.cut,
                block: block_at(document, chunk.span.start),
                title: section_at(document, chunk.span.start).map(|section| section.title.clone()),
            },
            end: self.end(document, chunk, chunks.get(index + 1)),
            rejected: candidates(document, chunk.span),
            is_unparsed: document.is_unparsed(),
            borrows: chunk.borrows.iter().map(|borrow| self.borrowed(document, borrow)).collect(),
        }
    }

    fn end(&self, document: &Document, chunk: &Chunk, next: Option<&Chunk>) -> End {
        let Some(next) = next else { return End::Document };
        let size_with_next = self.size_with_next(document, chunk, next);
        match next.cut {
            Cut::Heading | Cut::Symbol | Cut::Merged => {
                let title = section_at(document, next.span.start).map(|section| section.title.clone());
                End::Section { title: title.unwrap_or_default(), size_with_next }
            }
            Cut::Document | Cut::Full if size_with_next > self.config().max_size => {
                End::Full { size_with_next }
            }
            Cut::Document | Cut::Full => End::Balanced { size_with_next },
            cut => End::Split { cut, size_with_next },
        }
    }

    /// The size of `chunk` if it extended to the end of the next block or of the `next` chunk, whichever comes first.
    /// This way measuring a block of any size costs no more than one more chunk.
    fn size_with_next(&self, document: &Document, chunk: &Chunk, next: &Chunk) -> usize {
        let block = document.blocks().partition_point(|block| block.span.end <= next.span.start);
        let block_end = document.blocks().get(block).map_or(next.span.end, |block| block.span.end);
        let end = next.span.end.min(block_end);
        let borrows: Vec<Borrow> =
            chunk.borrows.iter().filter(|borrow| !matches!(borrow, Borrow::Close(_))).cloned().collect();
        let span = Span { start: chunk.span.start, end };
        self.size_of(context::render(document, span, &borrows).text())
    }

    fn borrowed(&self, document: &Document, borrow: &Borrow) -> Borrowed {
        let kind = match borrow {
            Borrow::Document => "document",
            Borrow::Path(_) => "path",
            Borrow::Heading(_) => "heading",
            Borrow::Signature(_) => "signature",
            Borrow::Item(_) => "item",
            Borrow::Fence(_) => "fence",
            Borrow::TableHeader(_) => "table_header",
            Borrow::Overlap(_) => "overlap",
            Borrow::Close(_) => "close",
        };
        let rendered = context::render(document, Span::default(), std::slice::from_ref(borrow));
        Borrowed { kind, size: self.size_of(rendered.text()), text: rendered.into_text() }
    }

    fn size_of(&self, text: &str) -> usize {
        match self.config().unit {
            Unit::Tokens => self.counter().count(text),
            Unit::Chars => Chars.count(text),
        }
    }
}

/// The kind of the block that holds `at` or is the next after it.
fn block_at(document: &Document, at: u32) -> BlockKind {
    let index = document.blocks().partition_point(|block| block.span.end <= at);
    document.blocks().get(index).map_or(BlockKind::Paragraph, |block| block.kind)
}

/// The outermost section that begins on the line at `at`, blanks before it left out of account.
fn section_at(document: &Document, at: u32) -> Option<&Section> {
    let rest = &document.source()[at as usize..];
    let visible = at + (rest.len() - rest.trim_start().len()) as u32;
    let sections = &document.sections()[1..];
    let first = sections.partition_point(|section| section.span.start < at);
    sections.get(first).filter(|section| section.span.start <= visible)
}

/// The places inside `span` where the structure would have allowed a cut.
fn candidates(document: &Document, span: Span) -> Vec<Candidate> {
    let blocks = document.blocks();
    let first = blocks.partition_point(|block| block.span.start <= span.start);
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut add = |byte, level| {
        candidates.push(Candidate { line: document.lines().line(byte) as u32, byte, level });
    };
    for block in blocks[first..].iter().take_while(|block| block.span.start < span.end) {
        let level = match section_at(document, block.span.start) {
            Some(section) => Level::Section { depth: depth(document, section), title: section.title.clone() },
            None => Level::Block { block: block.kind },
        };
        add(block.span.start, level);
    }
    for seam in document.seams(span) {
        add(seam.at, Level::Inside { depth: seam.depth });
    }
    // Blocks come first among equals, and a seam at the start of a block says nothing more.
    candidates.sort_by_key(|candidate| candidate.byte);
    candidates.dedup_by_key(|candidate| candidate.byte);
    candidates
}

/// Depth of a section: 1 for those of the document.
fn depth(document: &Document, section: &Section) -> usize {
    match section.kind {
        SectionKind::Heading(level) => usize::from(level),
        SectionKind::Document | SectionKind::Symbol(_) | SectionKind::Key => {
            section.parent.map_or(0, |parent| document.path(parent).len() + 1)
        }
    }
}
