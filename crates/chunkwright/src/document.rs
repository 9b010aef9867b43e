//! The model of a document: a tree of sections over a row of blocks, and the invariants that hold
//! for it whatever parser made it.

mod breaks;
mod builder;
mod embedded;
mod payload;
mod properties;
mod unknown;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::parse::Parser;
use crate::position::Positions;
use crate::span::{LineIndex, Span};

use breaks::Breaks;
pub use breaks::with_lf;
pub use builder::DocumentBuilder;
pub(crate) use embedded::Begins;
use embedded::Embedded;
pub use embedded::Languages;
pub use properties::{MAX_PROPERTIES, MAX_PROPERTIES_LEN};

/// A parsed document.
///
/// Invariants, kept by [`DocumentBuilder::finish`] for every parser and any input:
///
/// * blocks are disjoint and in order, and together hold every non-blank byte of the source;
/// * a block starts at its first visible character or, when only blanks stand before that on the
///   line, at the start of the line, and it ends after its last visible character;
/// * sections are in the order of their start, a parent before its children, `sections()[0]` is the
///   document itself;
/// * seams and enclosures are in order and lie inside blocks;
/// * stretches of markup are disjoint and in order.
#[derive(Clone, Debug)]
pub struct Document {
    id: String,
    source: Arc<str>,
    sections: Vec<Section>,
    blocks: Vec<Block>,
    seams: Vec<Seam>,
    enclosures: Vec<Enclosure>,
    markup: Vec<Markup>,
    imports: Vec<String>,
    properties: BTreeMap<String, Vec<String>>,
    language: Option<&'static str>,
    comment: (&'static str, &'static str),
    is_unparsed: bool,
    is_text: bool,
    lines: LineIndex,
    /// Whether some line ends with something other than LF.
    has_cr: bool,
    embedded: Embedded,
    pub(crate) positions: Option<Positions>,
}

/// Position of a section in [`Document::sections`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SectionId(pub u32);

impl SectionId {
    /// The section that is the document itself.
    pub const ROOT: Self = Self(0);
}

/// A named part of a document: a heading with what stands under it, or a symbol of source code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Section {
    /// What it is.
    pub kind: SectionKind,
    /// The heading's text without markup, or the symbol's name. Empty for the document itself.
    pub title: String,
    /// From the heading or the symbol's first line to the end of the last block under it.
    pub span: Span,
    /// The section around it; `None` for the document itself only.
    pub parent: Option<SectionId>,
    /// The lines that announce a symbol (`class Foo(Bar):`): what later chunks borrow. Empty for headings.
    pub signature: Span,
    /// What documents a symbol: the comments above it, or a docstring inside. Empty where there is none.
    pub documentation: Span,
}

/// What a section is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    /// The document itself.
    Document,
    /// A heading of the level given, 1 to 6.
    Heading(u8),
    /// A symbol of source code.
    Symbol(SymbolKind),
    /// A key of a data file with what it holds. An array's element has an empty title where it has no name.
    Key,
}

/// What kind of symbol a section of source code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SymbolKind {
    /// A module, namespace or package.
    Module,
    /// A class, object, record or the like.
    Class,
    /// A struct or union.
    Struct,
    /// An enumeration.
    Enum,
    /// An interface.
    Interface,
    /// A trait or protocol.
    Trait,
    /// An implementation block.
    Impl,
    /// A free function.
    Function,
    /// A function that belongs to a class, trait or implementation.
    Method,
    /// A macro.
    Macro,
}

impl SymbolKind {
    /// The name that outlines and records use: `method`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::Impl => "impl",
            Self::Function => "function",
            Self::Method => "method",
            Self::Macro => "macro",
        }
    }

    /// Whether functions inside are methods.
    pub fn is_type(self) -> bool {
        use SymbolKind::{Class, Enum, Impl, Interface, Struct, Trait};
        matches!(self, Class | Struct | Enum | Interface | Trait | Impl)
    }
}

/// A block: the least that is not cut while it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its text.
    pub span: Span,
    /// The innermost section it stands in.
    pub section: SectionId,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockKind {
    /// A paragraph of prose, and whatever prose has no kind of its own.
    Paragraph,
    /// A heading line (ATX) or lines (setext).
    Heading,
    /// A fenced or indented block of code in prose.
    #[serde(rename = "code_block")]
    Code,
    /// A table.
    Table,
    /// A list, nested lists included.
    List,
    /// A block quote.
    Quote,
    /// A block of HTML or JSX.
    Html,
    /// Metadata at the top of a document.
    FrontMatter,
    /// What is referred to from elsewhere or not shown: link and footnote definitions, comments of prose.
    Definition,
    /// A member of a data file: a key with its value, or an element of an array.
    Data,
    /// Imports and exports of an MDX file or of source code.
    Import,
    /// A comment of source code that belongs to no symbol.
    Comment,
    /// A statement or declaration of source code outside every function.
    Statement,
    /// A function or method, whole.
    Function,
    /// What a class has beside its methods: its first lines, fields, docstring.
    #[serde(rename = "class")]
    ClassBody,
}

impl BlockKind {
    /// Number of kinds.
    pub(crate) const COUNT: usize = Self::ClassBody as usize + 1;

    /// The name that explanations and JSON use: `code_block`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paragraph => "paragraph",
            Self::Heading => "heading",
            Self::Code => "code_block",
            Self::Table => "table",
            Self::List => "list",
            Self::Quote => "quote",
            Self::Html => "html",
            Self::FrontMatter => "front_matter",
            Self::Definition => "definition",
            Self::Data => "data",
            Self::Import => "import",
            Self::Comment => "comment",
            Self::Statement => "statement",
            Self::Function => "function",
            Self::ClassBody => "class",
        }
    }

    /// Whether the block holds source code, which is cut at lines, not at sentences.
    pub fn is_code(self) -> bool {
        matches!(
            self,
            Self::Code | Self::Import | Self::Comment | Self::Statement | Self::Function | Self::ClassBody
        )
    }
}

/// A place inside a block where its structure allows a cut: a list item, a statement, a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seam {
    /// Byte offset of what begins there.
    pub at: u32,
    /// Depth in the structure, 0 outermost: smaller is a better place to cut. In a table, 0 is a row and
    /// 1 a cell.
    pub depth: u8,
}

/// A stretch that must be opened again when a cut falls into it: a fence, or the rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enclosure {
    /// What it is.
    pub kind: EnclosureKind,
    /// The whole stretch, opening and closing lines included.
    pub span: Span,
    /// The text that a later chunk repeats: the opening fence line, or the header and delimiter rows.
    pub open: Span,
    /// The text that closes a chunk that ends inside; empty if none is needed.
    pub close: Box<str>,
}

/// The kind of an [`Enclosure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnclosureKind {
    /// A fenced block of code.
    Fence,
    /// A table with a header row.
    Table,
    /// A delimited block of prose: an admonition, an example, a quotation, a turn of a conversation.
    Quote,
}

/// A stretch of the source that is not text, and what it reads as: `<p>` as nothing, `&amp;` as `&`.
///
/// A chunk of a format with markup owns source bytes like any other; only its text, which is measured, embedded and
/// searched, is their rendered form (see [`Document::read`]).
#[derive(Clone, Debug, PartialEq, Eq)]
struct Markup {
    /// The stretch.
    span: Span,
    /// Its replacement in the text; often empty.
    reads: Cow<'static, str>,
}

impl Document {
    /// Parses `source` with `parser`. Cannot fail: any text is a document.
    ///
    /// `id` is the document's key in its collection, part of every chunk's identity. Lines end at LF, CRLF or
    /// a lone CR in every format: the parser sees LF only, and spans are exact in `source`.
    ///
    /// # Panics
    ///
    /// If `source` is 4 GiB or longer; readers of files refuse such a file first.
    pub fn parse(id: impl Into<String>, source: impl Into<Arc<str>>, parser: &dyn Parser) -> Self {
        let source = source.into();
        let breaks = Breaks::of(&source);
        let text = if breaks.is_some() { Arc::from(with_lf(&source)) } else { Arc::clone(&source) };
        let mut builder = DocumentBuilder::new(id, text);
        parser.parse(&mut builder);
        let document = builder.finish();
        match breaks {
            Some(breaks) => document.with_breaks(source, &breaks),
            None => document,
        }
    }

    /// The document's key in its collection.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The whole text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The source, shared.
    pub fn shared_source(&self) -> Arc<str> {
        Arc::clone(&self.source)
    }

    /// All sections, parents before children; the first is the document itself.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The section with the id given.
    pub fn section(&self, id: SectionId) -> &Section {
        &self.sections[id.0 as usize]
    }

    /// All blocks, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block that holds byte `at`, or the first after it.
    pub(crate) fn block_at(&self, at: u32) -> Option<&Block> {
        self.blocks.get(self.blocks.partition_point(|block| block.span.end <= at))
    }

    /// Whether a block only announces something: a heading, or the first lines of a symbol.
    pub(crate) fn announces(&self, block: &Block) -> bool {
        block.kind == BlockKind::Heading || block.span.end <= self.section(block.section).signature.end
    }

    /// The seams inside `span`, its start excluded, in order.
    pub fn seams(&self, span: Span) -> &[Seam] {
        let from = self.seams.partition_point(|seam| seam.at <= span.start);
        let to = self.seams.partition_point(|seam| seam.at < span.end);
        &self.seams[from..to.max(from)]
    }

    /// The enclosures that touch `span`, in order.
    pub fn enclosures(&self, span: Span) -> &[Enclosure] {
        let from = self.enclosures.partition_point(|enclosure| enclosure.span.end <= span.start);
        let to = self.enclosures.partition_point(|enclosure| enclosure.span.start < span.end);
        &self.enclosures[from..to.max(from)]
    }

    /// The enclosure that a cut at byte `at` would divide.
    pub fn enclosure_at(&self, at: u32) -> Option<&Enclosure> {
        let index = self.enclosures.partition_point(|enclosure| enclosure.span.end <= at);
        self.enclosures.get(index).filter(|enclosure| enclosure.span.divided_by(at))
    }

    /// The rendered text of `span`: the source, with LF at the end of each line, and with each markup replaced by its
    /// reading. Markup that `span` holds in part is rendered where it begins.
    pub fn read(&self, span: Span) -> Cow<'_, str> {
        let from = self.markup.partition_point(|markup| markup.span.end <= span.start);
        let touching = self.markup[from..].iter().take_while(|markup| markup.span.start < span.end);
        let mut text = String::new();
        let mut at = span.start;
        for markup in touching {
            text.push_str(&self.plain(Span { start: at, end: markup.span.start.max(at) }));
            if markup.span.start >= span.start {
                text.push_str(&markup.reads);
            }
            at = markup.span.end.min(span.end);
        }
        let rest = self.plain(Span { start: at, end: span.end });
        if at == span.start && text.is_empty() {
            return rest;
        }
        text.push_str(&rest);
        Cow::Owned(text)
    }

    /// The source of `span` with LF at the end of each line.
    pub(crate) fn plain(&self, span: Span) -> Cow<'_, str> {
        let text = span.of(&self.source);
        if self.has_cr { with_lf(text) } else { Cow::Borrowed(text) }
    }

    /// Whether some of the source is markup.
    pub(crate) fn has_markup(&self) -> bool {
        !self.markup.is_empty()
    }

    /// Whether a cut at byte `at` would divide markup.
    pub(crate) fn tears_markup(&self, at: u32) -> bool {
        self.markup_around(at).is_some()
    }

    /// Start of the markup that a cut at byte `at` would divide.
    pub(crate) fn markup_around(&self, at: u32) -> Option<u32> {
        let index = self.markup.partition_point(|markup| markup.span.end <= at);
        self.markup.get(index).map(|markup| markup.span.start).filter(|&start| start < at)
    }

    /// Import statements of source code, one string each, in order.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// What the document says of itself, such as the tags and dates of front matter: values by name, lower case. Within
    /// [`MAX_PROPERTIES`] and [`MAX_PROPERTIES_LEN`].
    pub fn properties(&self) -> &BTreeMap<String, Vec<String>> {
        &self.properties
    }

    /// The programming language, where the parser knows it.
    pub fn language(&self) -> Option<&'static str> {
        self.language
    }

    /// The start and end of a line comment in the programming language; empty if unknown.
    pub fn comment(&self) -> (&'static str, &'static str) {
        self.comment
    }

    /// Whether this is source code whose structure is not known.
    pub fn is_unparsed(&self) -> bool {
        self.is_unparsed
    }

    /// The innermost section around byte `at` that begins before it: of source code perhaps a function
    /// inside the block that `at` stands in.
    pub(crate) fn section_around(&self, at: u32) -> SectionId {
        let next = self.sections.partition_point(|section| section.span.start < at);
        let mut id = SectionId(next.saturating_sub(1) as u32);
        while self.section(id).span.end <= at {
            let Some(parent) = self.section(id).parent else { break };
            id = parent;
        }
        id
    }

    /// Line numbers.
    pub fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// The sections from the outermost, the document itself left out, down to `id`.
    pub fn path(&self, id: SectionId) -> Vec<SectionId> {
        let mut path = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next.filter(|&id| id != SectionId::ROOT) {
            path.push(id);
            next = self.section(id).parent;
        }
        path.reverse();
        path
    }

    /// The titles along [`path`](Self::path), empty titles left out.
    pub fn titles(&self, id: SectionId) -> Vec<&str> {
        let path = self.path(id);
        path.iter().map(|&id| self.section(id).title.as_str()).filter(|title| !title.is_empty()).collect()
    }

    /// The innermost section that holds both.
    pub fn common_section(&self, mut a: SectionId, mut b: SectionId) -> SectionId {
        // A parent always has a smaller id than its children.
        while a != b {
            let (deeper, other) = if a > b { (a, b) } else { (b, a) };
            a = self.section(deeper).parent.unwrap_or(SectionId::ROOT);
            b = other;
        }
        a
    }

    /// The outline of the document: one line a heading or symbol, indented by its depth.
    pub fn outline(&self) -> String {
        let mut depths = vec![0_usize; self.sections.len()];
        let mut out = String::new();
        for (index, section) in self.sections.iter().enumerate().skip(1) {
            let parent = section.parent.unwrap_or(SectionId::ROOT);
            depths[index] = depths[parent.0 as usize] + 1;
            if !section.title.is_empty() {
                out.extend(std::iter::repeat_n("  ", depths[index] - 1));
                out.push_str(&section.title);
                out.push('\n');
            }
        }
        out
    }
}
