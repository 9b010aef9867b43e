//! The last step of cutting, the same for every strategy: enforces the limit exactly and gives chunks their identity.

use std::borrow::Cow;
use std::ops::Range;

use crate::chunk::boundary::{Boundary, BoundaryOutcome};
use crate::chunk::identity::identify;
use crate::chunk::pack::{self, Goal};
use crate::chunk::split::{self, Level, Splitter, is_cluster};
use crate::chunk::strategy::Sizes;
use crate::chunk::{Chunk, ChunkConfig, ChunkId, Chunker, Cut, Draft, Packing, Part, Plan};
use crate::context::{self, Borrow, Measured};
use crate::document::{Block, BlockKind, Document, Enclosure, EnclosureKind, SectionId};
use crate::span::{Span, is_blank};

/// Turns drafts into chunks, with the boundaries set by hand; returns the outcome of each.
pub(super) fn finish(
    chunker: &Chunker,
    document: &Document,
    plan: Plan<'_>,
    boundaries: &[Boundary],
) -> (Vec<Chunk>, Vec<BoundaryOutcome>) {
    let Plan { config, document_type, drafts, sizes, measured, .. } = plan;
    let mut finisher = Finisher {
        chunker,
        config: &config,
        document_type,
        document,
        keeps_spans: false,
        chunks: Vec::with_capacity(drafts.len()),
        sizes: sizes.into_inner().unwrap_or_default(),
        measured,
        text: String::new(),
    };
    for (index, draft) in finisher.with_announced(drafts).into_iter().enumerate() {
        let begins = index == 0 && matches!(draft.cut, Cut::Full | Cut::Window);
        finisher.fit(Draft { cut: if begins { Cut::Document } else { draft.cut }, ..draft });
    }
    let outcomes = finisher.set(boundaries);
    let Finisher { mut chunks, .. } = finisher;
    identify(document, &mut chunks);
    number_parts(document, &mut chunks);
    (chunks, outcomes)
}

pub(super) struct Finisher<'a> {
    chunker: &'a Chunker,
    /// The configuration for this document.
    config: &'a ChunkConfig,
    document_type: Option<Cow<'static, str>>,
    pub(super) document: &'a Document,
    /// Whether a draft that fits only with less borrowed text borrows less instead of being divided: its span was found
    /// to fit before.
    pub(super) keeps_spans: bool,
    pub(super) chunks: Vec<Chunk>,
    /// Sizes of the blocks; empty if the strategy did not measure them.
    sizes: Sizes,
    /// Sizes of what was to be borrowed.
    measured: Measured,
    /// Room to put texts together in.
    text: String,
}

impl Finisher<'_> {
    /// Adds the chunk of a draft, or several if its text is over a limit.
    pub(super) fn fit(&mut self, draft: Draft) {
        // A stack of drafts still to fit, each with the room that its cutting was given.
        let mut left = vec![(draft.span, draft.cut, self.config.max_size)];
        while let Some((span, cut, room)) = left.pop() {
            let (section, mut borrows) = self.borrows(span, cut);
            let (mut size, mut over) = self.measure(span, &borrows);
            let overlaps = borrows.len();
            if over && !draft.whole {
                // An overlap is dropped before owned text is divided.
                borrows.retain(|borrow| !matches!(borrow, Borrow::Overlap(_)));
            }
            if borrows.len() < overlaps {
                (size, over) = self.measure(span, &borrows);
            }
            if !over || draft.whole {
                self.add(span, section, cut, borrows, size, over);
                continue;
            }
            if is_cluster(span.of(self.document.source())) {
                // Rather than being cut it stands without what it borrows.
                let (size, over) = self.measure(span, &[]);
                if !over {
                    self.add(span, section, cut, Vec::new(), size, over);
                    continue;
                }
            }
            if self.keeps_spans
                && let Some((size, borrows)) = self.lessened(span, borrows.clone())
            {
                self.add(span, section, cut, borrows, size, false);
                continue;
            }
            let context = context::render(self.document, Span { end: span.start, ..span }, &borrows);
            let beside = self.config.max_size.saturating_sub(self.chunker.measure().count(context.text()));
            let room = (room * 3 / 4).min(beside).max(1);
            let pieces = self.divide(span, cut, room);
            // Rather than leave something without what it announces, it borrows less.
            let torn =
                pieces.len() == 1 || pieces.windows(2).any(|pair| self.announces(pair[0].0, pair[1].0));
            if torn {
                if let Some((size, borrows)) = self.lessened(span, borrows) {
                    self.add(span, section, cut, borrows, size, false);
                    continue;
                }
                let whole = self.config.max_size;
                let larger = self.divide(span, cut, whole * 3 / 4);
                if larger.len() > 1 {
                    left.extend(larger.into_iter().rev().map(|(span, cut)| (span, cut, whole)));
                    continue;
                }
            }
            if pieces.len() > 1 || room > 1 {
                left.extend(pieces.into_iter().rev().map(|(span, cut)| (span, cut, room)));
            } else {
                // A single character that does not fit with what it borrows stands alone.
                let (size, over) = self.measure(span, &[]);
                self.add(span, section, cut, Vec::new(), size, over);
            }
        }
    }

    /// The drafts, each that only announces something joined to the next where both fit together, if need be with
    /// less of what they would borrow, and a marker at the end of another moved to the text it belongs to.
    fn with_announced(&mut self, drafts: Vec<Draft>) -> Vec<Draft> {
        let source = self.document.source();
        let mut joined: Vec<Draft> = Vec::with_capacity(drafts.len());
        for mut draft in drafts {
            if let Some(last) = joined.last_mut().filter(|last| !last.whole && !draft.whole) {
                let both = last.span.to(draft.span);
                if let Some(at) = split::marker_before(self.document, both, draft.span.start) {
                    let before = Span { end: at, ..both }.of(source).trim_end_matches(is_blank);
                    draft.span.start = at;
                    last.span.end = last.span.start + before.len() as u32;
                    if before.trim_start_matches(is_blank).is_empty() {
                        draft.cut = last.cut;
                        joined.pop();
                    }
                } else if self.announces(last.span, draft.span) && !self.measure(both, &[]).1 {
                    last.span = both;
                    continue;
                }
            }
            joined.push(draft);
        }
        joined
    }

    /// Those of `borrows` that fit with `span`, innermost first, and the total size.
    fn lessened(&mut self, span: Span, borrows: Vec<Borrow>) -> Option<(usize, Vec<Borrow>)> {
        let (mut size, over) = self.measure(span, &[]);
        if over {
            return None;
        }
        let mut kept = Vec::with_capacity(borrows.len());
        for borrow in borrows.into_iter().rev() {
            kept.insert(0, borrow);
            loop {
                let (larger, over) = self.measure(span, &kept);
                if !over {
                    size = larger;
                    break;
                }
                match &mut kept[0] {
                    Borrow::Path(path) if path.len() > 1 => drop(path.remove(0)),
                    _ => {
                        kept.remove(0);
                        break;
                    }
                }
            }
        }
        Some((size, kept))
    }

    /// Whether all of `span` announces what follows it: headings, a marker, the line that opens a fence.
    fn announces(&self, span: Span, next: Span) -> bool {
        let document = self.document;
        let opens = |enclosure: &Enclosure| {
            enclosure.kind == EnclosureKind::Fence
                && enclosure.open.end >= span.end
                && enclosure.span.divided_by(next.start)
        };
        blocks_in(document, span).iter().all(|block| block.kind == BlockKind::Heading)
            || split::marker_before(document, span.to(next), next.start) == Some(span.start)
            || document.enclosure_at(next.start).is_some_and(opens)
    }

    /// Size of the text of a chunk, and whether it is over the limit or the model's window.
    pub(super) fn measure(&mut self, span: Span, borrows: &[Borrow]) -> (usize, bool) {
        let counter = self.chunker.measure();
        let content = self.document.read(span);
        self.text.clear();
        let closes = borrows.iter().any(|borrow| matches!(borrow, Borrow::Close(_)));
        if self.chunker.window.is_none() && (!closes || counter.adds_up("a", "b")) {
            context::render_into(self.document, Span { end: span.start, ..span }, borrows, &mut self.text);
            if self.text.is_empty() || counter.adds_up(&self.text, &content) {
                let size = counter.count(&self.text) + self.content_size(span);
                return (size, size > self.config.max_size);
            }
            self.text.clear();
        }
        let text = if borrows.is_empty() {
            &*content
        } else {
            context::render_into(self.document, span, borrows, &mut self.text);
            &self.text
        };
        let size = counter.count(text);
        let over = match &self.chunker.window {
            _ if size > self.config.max_size => true,
            // A token has at least one byte.
            Some((counter, limit)) => text.len() > *limit && counter.count(text) > *limit,
            None => false,
        };
        (size, over)
    }

    /// Size of what `span` reads, from the sizes of its blocks where counts add up between them.
    fn content_size(&self, span: Span) -> usize {
        let (counter, document) = (self.chunker.measure(), self.document);
        let (source, range) = (document.source(), range_in(document, span));
        let blocks = &document.blocks()[range.clone()];
        let mut total = 0;
        // Start of the text not yet counted.
        let mut start = span.start;
        if let Some(sizes) = self.sizes.with_blanks.get(range.clone()).filter(|_| !document.has_markup()) {
            for (index, pair) in blocks.windows(2).enumerate() {
                let [block, next] = [pair[0].span, pair[1].span];
                let border = next.start as usize;
                if !counter.adds_up(&source[start as usize..border], &source[border..next.end as usize]) {
                    continue;
                }
                let known = start == block.start;
                let text = || &source[start as usize..border];
                total += if known { sizes[index] as usize } else { counter.count(text()) };
                start = next.start;
            }
        }
        let last = Span { start, ..span };
        if blocks.last().is_some_and(|block| block.span == last)
            && let Some(Some(size)) = self.sizes.alone.get(range.end - 1)
        {
            return total + *size as usize;
        }
        total + counter.count(&document.read(last))
    }

    fn borrows(&self, span: Span, cut: Cut) -> (SectionId, Vec<Borrow>) {
        let section = section_of(self.document, span);
        let measure = |text: &str| self.chunker.measure().count(text);
        let previous = self.chunks.last().map(|chunk| chunk.span).filter(|_| cut.continues());
        (section, context::borrows(self.document, self.config, span, previous, (&measure, &self.measured)))
    }

    /// Cuts `span` again, into pieces of at most `room`.
    fn divide(&self, span: Span, cut: Cut, room: usize) -> Vec<(Span, Cut)> {
        let measure = |text: &str| self.chunker.measure().count(text);
        let fits = |part: Span, size: usize| {
            part != span && context::fits(self.document, self.config, part, size, (&measure, &self.measured))
        };
        let splitter = Splitter::new(self.document, self.config, (&measure, &fits), room, room);
        let mut atoms = Vec::new();
        if is_cluster(span.of(self.document.source())) {
            splitter.chars(span, Level::Grapheme, &mut atoms);
        } else {
            atoms = splitter.atoms(blocks_in(self.document, span), None, span);
        }
        let total: usize = atoms.iter().map(|atom| atom.size as usize).sum();
        let target = total.div_ceil(total.div_ceil(room).max(1)).max(1);
        let goal = Goal { limit: room, target, min: target / 2 };
        let runs = pack::runs(&atoms, goal, Packing::Balanced);
        let piece = |(index, run): (usize, Range<usize>)| {
            let (first, last) = (&atoms[run.start], &atoms[run.end - 1]);
            (first.span.to(last.span), if index == 0 { cut } else { first.level.cut() })
        };
        runs.into_iter().enumerate().map(piece).collect()
    }

    fn add(
        &mut self,
        span: Span,
        section: SectionId,
        cut: Cut,
        borrows: Vec<Borrow>,
        size: usize,
        oversize: bool,
    ) {
        let kind = dominant_kind(self.document, span);
        // All are identified at the end.
        let id = ChunkId([0; 16]);
        let document_type = self.document_type.clone();
        let part = None;
        self.chunks.push(Chunk {
            id,
            span,
            section,
            size,
            cut,
            kind,
            part,
            borrows,
            oversize,
            document_type,
        });
    }
}

/// The innermost section that holds all of a chunk that owns `span`; the document itself where no block is.
pub(crate) fn section_of(document: &Document, span: Span) -> SectionId {
    let blocks = blocks_in(document, span);
    let Some(last) = blocks.last() else { return SectionId::ROOT };
    // A block that only announces is about what follows it.
    let first = blocks.iter().find(|block| !document.announces(block)).unwrap_or(last);
    document.common_section(first.section, last.section)
}

/// The blocks that `span` touches: at least one for every span a strategy reports.
pub(crate) fn blocks_in(document: &Document, span: Span) -> &[Block] {
    &document.blocks()[range_in(document, span)]
}

fn range_in(document: &Document, span: Span) -> Range<usize> {
    let blocks = document.blocks();
    let from = blocks.partition_point(|block| block.span.end <= span.start);
    let to = blocks.partition_point(|block| block.span.start < span.end);
    from..to
}

/// The kind of block that takes most bytes of `span`, headings left out unless there is nothing else.
///
/// Line ends count as one byte, so that it is the same for CRLF and LF: documents are cut with LF.
pub(crate) fn dominant_kind(document: &Document, span: Span) -> BlockKind {
    let mut most = (BlockKind::Heading, 0);
    let mut shares = [0; BlockKind::COUNT];
    for block in blocks_in(document, span).iter().filter(|block| block.kind != BlockKind::Heading) {
        let share = &mut shares[block.kind as usize];
        let own = Span { start: block.span.start.max(span.start), end: block.span.end.min(span.end) };
        *share += document.plain(own).len();
        if *share > most.1 {
            most = (block.kind, *share);
        }
    }
    most.0
}

/// Numbers the chunks that are pieces of one block.
pub(crate) fn number_parts(document: &Document, chunks: &mut [Chunk]) {
    // The block that each chunk begins inside, or else ends inside.
    let divided = |chunk: &Chunk| {
        let blocks = blocks_in(document, chunk.span);
        let (first, last) = (blocks.first()?, blocks.last()?);
        let block = if first.span.start < chunk.span.start {
            first
        } else if chunk.span.end < last.span.end {
            last
        } else {
            return None;
        };
        Some(block.span)
    };
    let parts: Vec<_> = chunks
        .iter()
        .enumerate()
        .map(|(index, chunk)| {
            let block = divided(chunk)?;
            let from = chunks.partition_point(|chunk| chunk.span.end <= block.start);
            let to = chunks.partition_point(|chunk| chunk.span.start < block.end);
            Some(Part { index: (index - from) as u32, total: (to - from) as u32 })
        })
        .collect();
    for (chunk, part) in chunks.iter_mut().zip(parts) {
        chunk.part = part;
    }
}
