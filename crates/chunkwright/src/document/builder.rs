//! Builds a document that keeps its invariants from what a parser reports.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::payload::payloads;
use super::properties;
use crate::document::{
    Block, BlockKind, Document, Embedded, Enclosure, Markup, Seam, Section, SectionId, SectionKind,
};
use crate::span::{LineIndex, Span, is_blank, is_cluster_start};

/// Collects what a parser sees and turns it into a [`Document`] that keeps its invariants.
///
/// Parsers report ranges as they find them; the builder clamps what overlaps, extends starts to the start of their
/// line, trims blanks, and gives text outside all blocks to the block before it (if it has no letter or digit, as
/// closing brackets) or a block of its own. This is what makes tiling hold for every parser.
#[derive(Debug)]
pub struct DocumentBuilder {
    document: Document,
    /// Sections that are open inside the document, outermost first.
    open: Vec<SectionId>,
    gap_kind: BlockKind,
}

/// Sections nested deeper than this become part of their parent, so that no hostile nesting costs
/// more than linear time or any stack.
const MAX_SECTION_DEPTH: usize = 32;

/// Longest reading of markup, in bytes: no more tokens than `auto` allows a chunk.
const MAX_READING_LEN: usize = 256;

impl DocumentBuilder {
    /// An empty document over `source`.
    ///
    /// # Panics
    ///
    /// If `source` is 4 GiB or longer.
    pub fn new(id: impl Into<String>, source: impl Into<Arc<str>>) -> Self {
        let source: Arc<str> = source.into();
        assert!(u32::try_from(source.len()).is_ok(), "a source of 4 GiB or more cannot be one document");
        let root = Section {
            kind: SectionKind::Document,
            title: String::new(),
            span: Span::new(0, source.len()),
            parent: None,
            signature: Span::default(),
            documentation: Span::default(),
        };
        let document = Document {
            id: id.into(),
            lines: LineIndex::new(&source),
            has_cr: source.contains('\r'),
            source,
            sections: vec![root],
            blocks: Vec::new(),
            seams: Vec::new(),
            enclosures: Vec::new(),
            markup: Vec::new(),
            imports: Vec::new(),
            properties: BTreeMap::new(),
            language: None,
            comment: ("", ""),
            is_unparsed: false,
            is_text: false,
            embedded: Embedded::default(),
            positions: None,
        };
        Self { document, open: Vec::new(), gap_kind: BlockKind::Paragraph }
    }

    /// The text to parse. A cheap clone, so that a parser can read it while it reports. Its lines end with LF
    /// (see [`Document::parse`]).
    pub fn source(&self) -> Arc<str> {
        Arc::clone(&self.document.source)
    }

    /// Line numbers of the source.
    pub fn lines(&self) -> &LineIndex {
        &self.document.lines
    }

    /// The document's id: a parser may look at its file name.
    pub fn id(&self) -> &str {
        &self.document.id
    }

    /// Names the programming language.
    pub fn set_language(&mut self, language: &'static str) {
        self.document.language = Some(language);
    }

    /// Sets the start and end of the language's line comments, such as `# ` and an empty end. Borrowed text other than
    /// code is put in one.
    pub fn set_comment(&mut self, comment: (&'static str, &'static str)) {
        self.document.comment = comment;
    }

    /// Marks the structure of the source code as unknown: there is no grammar, or it rejects too much. Blocks are then
    /// a guess.
    pub fn set_unparsed(&mut self) {
        self.document.is_unparsed = true;
    }

    /// Says that this is plain text, as which files of unknown formats are read.
    pub(crate) fn set_text(&mut self) {
        self.document.is_text = true;
    }

    /// Sets the kind that text outside every reported block gets. [`BlockKind::Paragraph`] if never called.
    pub fn set_gap_kind(&mut self, kind: BlockKind) {
        self.gap_kind = kind;
    }

    /// Opens a section inside the one that is open now. `start` must not go back.
    pub fn open_section(&mut self, kind: SectionKind, title: &str, start: usize) -> SectionId {
        let parent = self.innermost();
        if self.open.len() >= MAX_SECTION_DEPTH {
            self.open.push(parent);
            return parent;
        }
        let id = SectionId(self.document.sections.len() as u32);
        let end = self.document.source.len();
        self.document.sections.push(Section {
            kind,
            title: on_one_line(title),
            span: Span::new(start.min(end), end),
            parent: Some(parent),
            signature: Span::default(),
            documentation: Span::default(),
        });
        self.open.push(id);
        id
    }

    /// Sets the lines that announce the section opened last.
    pub fn set_signature(&mut self, start: usize, end: usize) {
        let id = self.innermost();
        self.document.sections[id.0 as usize].signature = Span::new(start, end);
    }

    /// Sets what documents the section opened last.
    pub fn set_documentation(&mut self, start: usize, end: usize) {
        let id = self.innermost();
        self.document.sections[id.0 as usize].documentation = Span::new(start, end);
    }

    /// Closes the section opened last; it ends at `end`. Closing the document itself does nothing.
    pub fn close_section(&mut self, end: usize) {
        // A section deeper than the bound stands for its parent, which stays open.
        if let Some(id) = self.open.pop()
            && self.innermost() != id
        {
            let span = &mut self.document.sections[id.0 as usize].span;
            span.end = span.start.max(end as u32);
        }
    }

    /// The section opened last and not closed yet.
    fn innermost(&self) -> SectionId {
        self.open.last().copied().unwrap_or(SectionId::ROOT)
    }

    /// Number of sections open inside the document.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Kind of the section opened last.
    pub fn open_kind(&self) -> SectionKind {
        let id = self.innermost();
        self.document.sections[id.0 as usize].kind
    }

    /// Adds a block to the section that is open now. Blank ranges are ignored.
    pub fn block(&mut self, kind: BlockKind, start: usize, end: usize) {
        let section = self.innermost();
        self.document.blocks.push(Block { kind, span: Span::new(start, end.max(start)), section });
    }

    /// Marks a place inside the blocks where structure allows a cut; `depth` 0 is the outermost. A place
    /// inside a grapheme cluster is ignored.
    pub fn seam(&mut self, at: usize, depth: usize) {
        if is_cluster_start(&self.document.source, at) {
            self.document.seams.push(Seam { at: at as u32, depth: depth.min(255) as u8 });
        }
    }

    /// Marks a stretch that must be opened again when it is cut.
    pub fn enclosure(&mut self, enclosure: Enclosure) {
        self.document.enclosures.push(enclosure);
    }

    /// Marks a stretch as markup that renders as `reads`; as nothing if that is longer than 256 bytes, since it could
    /// not be divided. Markup that overlaps an earlier one is ignored.
    pub fn markup(&mut self, start: usize, end: usize, reads: impl Into<Cow<'static, str>>) {
        if start < end {
            let mut reads = reads.into();
            if reads.len() > MAX_READING_LEN {
                reads = Cow::Borrowed("");
            }
            self.document.markup.push(Markup { span: Span::new(start, end), reads });
        }
    }

    /// Lets the block added last reach to `end`.
    pub fn reach(&mut self, end: usize) {
        if let Some(block) = self.document.blocks.last_mut() {
            block.span.end = block.span.end.max(end as u32);
        }
    }

    /// Takes over what stands in `part`, a document of the source from byte `at` on: its sections, inside the
    /// one that is open now, blocks, seams, enclosures, markup and imports. It must not go back.
    pub fn embed(&mut self, part: &Document, at: usize) {
        let shift = |span: Span| Span { start: span.start + at as u32, end: span.end + at as u32 };
        let (around, count) = (self.innermost(), self.document.sections.len() as u32);
        let place = |id: SectionId| if id == SectionId::ROOT { around } else { SectionId(count + id.0 - 1) };
        let document = &mut self.document;
        document.sections.extend(part.sections.iter().skip(1).map(|section| Section {
            span: shift(section.span),
            parent: section.parent.map(place),
            signature: shift(section.signature),
            ..section.clone()
        }));
        let blocks = part.blocks.iter();
        document.blocks.extend(blocks.map(|block| Block {
            span: shift(block.span),
            section: place(block.section),
            ..*block
        }));
        document.enclosures.extend(part.enclosures.iter().map(|enclosure| Enclosure {
            span: shift(enclosure.span),
            open: shift(enclosure.open),
            ..enclosure.clone()
        }));
        let markup = part.markup.iter();
        document.markup.extend(markup.map(|markup| Markup { span: shift(markup.span), ..markup.clone() }));
        document.imports.extend_from_slice(&part.imports);
        for seam in &part.seams {
            self.seam(seam.at as usize + at, seam.depth.into());
        }
    }

    /// Adds an import statement of source code.
    pub fn import(&mut self, import: impl Into<String>) {
        self.document.imports.push(import.into());
    }

    /// Adds what the document says of itself under a name. What exceeds the bounds of a record is left out.
    pub fn property(&mut self, name: &str, values: Vec<String>) {
        properties::add(&mut self.document.properties, name, values);
    }

    /// Closes open sections and blocks, and establishes the invariants of [`Document`].
    pub fn finish(mut self) -> Document {
        let end = self.document.source.len();
        while !self.open.is_empty() {
            self.close_section(end);
        }
        let source = self.source();
        for payload in payloads(&source) {
            self.markup(payload.start as usize, payload.end as usize, "");
        }
        let mut document = self.document;
        document.markup.sort_by_key(|markup| markup.span);
        keep_disjoint(&mut document.markup, |markup| markup.span);
        let reported = std::mem::take(&mut document.blocks);
        document.blocks = tile(&document, reported, self.gap_kind);
        let last = document.blocks.last().map_or(0, |block| block.span.end);
        let source = Arc::clone(&document.source);
        for seam in &mut document.seams {
            seam.at = line_start(&source, seam.at as usize, 0) as u32;
        }
        document.seams.sort_unstable();
        document.seams.dedup_by_key(|seam| seam.at);
        document.seams.retain(|seam| seam.at < last);
        document.enclosures.sort_by_key(|enclosure| enclosure.span);
        keep_disjoint(&mut document.enclosures, |enclosure| enclosure.span);
        document
    }
}

/// Drops what overlaps something before it.
fn keep_disjoint<T>(sorted: &mut Vec<T>, span: impl Fn(&T) -> Span) {
    let mut end = 0;
    sorted.retain(|item| {
        let follows = span(item).start >= end;
        if follows {
            end = span(item).end;
        }
        follows
    });
}

/// Longest title, in characters: a longer one is a paragraph that looks like a title, and every chunk under it would
/// measure it.
const MAX_TITLE: usize = 400;

/// A title without line breaks (setext headings may have some) and without blanks at its ends, cut where
/// it is longer than a title can be.
fn on_one_line(title: &str) -> String {
    let words: Vec<_> = title.split_whitespace().collect();
    let mut line = words.join(" ");
    if let Some((at, _)) = line.char_indices().nth(MAX_TITLE) {
        line.truncate(at);
        line.push('…');
    }
    line
}

/// Makes the reported blocks disjoint, ordered, trimmed, and complete.
fn tile(document: &Document, mut reported: Vec<Block>, gap_kind: BlockKind) -> Vec<Block> {
    let source = &*document.source;
    if !reported.is_sorted_by_key(|block| block.span.start) {
        reported.sort_by_key(|block| block.span.start);
    }
    let mut tiled: Vec<Block> = Vec::with_capacity(reported.len() + 1);
    let mut end = 0;
    for block in reported {
        let Some(mut span) = trim(source, (block.span.start as usize).max(end), block.span.end as usize)
        else {
            continue;
        };
        // Text that renders as nothing is not a block.
        if !document.markup.is_empty() && document.read(span).chars().all(is_blank) {
            continue;
        }
        if let Some(gap) = trim(source, end, span.start as usize) {
            if tiled.is_empty() && is_wordless(document, gap) {
                span.start = gap.start;
            } else {
                fill_gap(document, gap_kind, &mut tiled, gap, block.section);
            }
        }
        let after = tiled.last().map_or(0, |block| block.span.end as usize);
        let start = line_start(source, span.start as usize, after.max(end));
        end = span.end as usize;
        if let Some(previous) = tiled.last_mut().filter(|_| !is_cluster_start(source, start)) {
            // No block begins inside a grapheme cluster.
            previous.span.end = span.end;
            continue;
        }
        tiled.push(Block { span: Span::new(start, span.end as usize), ..block });
    }
    if let Some(gap) = trim(source, end, source.len()) {
        fill_gap(document, gap_kind, &mut tiled, gap, SectionId::ROOT);
    }
    tiled
}

/// Whether the rendered text of `span` has no letter or digit.
fn is_wordless(document: &Document, span: Span) -> bool {
    !document.read(span).contains(char::is_alphanumeric)
}

/// Gives text that no block holds to the block before, or a block of its own. `next` is the section of
/// the block that follows.
fn fill_gap(document: &Document, gap_kind: BlockKind, tiled: &mut Vec<Block>, gap: Span, next: SectionId) {
    let source = &*document.source;
    match tiled.last_mut() {
        Some(previous) if is_wordless(document, gap) || !is_cluster_start(source, gap.start as usize) => {
            previous.span.end = gap.end;
        }
        previous => {
            let holding = |mut id: SectionId| {
                while !document.section(id).span.contains(gap.start) {
                    let Some(parent) = document.section(id).parent else { break };
                    id = parent;
                }
                id
            };
            let (before, floor) =
                previous.map_or((SectionId::ROOT, 0), |block| (block.section, block.span.end));
            let section = holding(before).max(holding(next));
            let start = line_start(source, gap.start as usize, floor as usize);
            tiled.push(Block { kind: gap_kind, span: Span::new(start, gap.end as usize), section });
        }
    }
}

/// The visible part of `start..end`, without blanks at its ends.
fn trim(source: &str, start: usize, end: usize) -> Option<Span> {
    let text = source.get(start..end)?;
    let head = text.trim_start_matches(is_blank);
    let start = end - head.len();
    let visible = head.trim_end_matches(is_blank);
    (!visible.is_empty()).then(|| Span::new(start, start + visible.len()))
}

/// The start of the line of byte `at` if only blanks stand between, and never before `floor`; else `at`.
fn line_start(source: &str, at: usize, floor: usize) -> usize {
    let Some(before) = source.get(floor..at) else { return at };
    let indent = before.trim_end_matches([' ', '\t']);
    if indent.is_empty() && floor == 0 || indent.ends_with(['\n', '\r']) { floor + indent.len() } else { at }
}
