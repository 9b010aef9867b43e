//! Normalizes line breaks: every format and strategy sees LF only, whatever ends the lines of the source.
//!
//! Formats disagree about a lone CR (most grammars of source code take what follows it for the rest of a comment),
//! counters charge for the CR of a CRLF, and hashes of text differ. So a source that contains a CR is parsed as if each
//! CRLF and each lone CR were an LF; spans are then mapped back to the source, and forth again when the document is
//! cut. A document therefore gives the same chunks whichever of the three ends its lines.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::{memchr, memchr_iter};

use crate::chunk::Chunk;
use crate::context::Borrow;
use crate::document::{Block, Document, Enclosure, Markup, Seam, Section};
use crate::span::{LineIndex, Span};

/// `text` with an LF for each CRLF and each lone CR: the lines of a document end at these three and nothing else.
pub fn with_lf(text: &str) -> Cow<'_, str> {
    match memchr(b'\r', text.as_bytes()) {
        Some(_) => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
        None => Cow::Borrowed(text),
    }
}

/// Positions of the CRLFs that [`with_lf`] shortens by one byte each. A lone CR keeps its length.
pub(super) struct Breaks {
    /// Position of each LF in the text, and of its CR in the source.
    pairs: Vec<(u32, u32)>,
}

impl Breaks {
    /// The line breaks of `source`, or `None` if all are LF.
    pub(super) fn of(source: &str) -> Option<Self> {
        let bytes = source.as_bytes();
        memchr(b'\r', bytes)?;
        let pairs = memchr_iter(b'\r', bytes).filter(|&at| bytes.get(at + 1) == Some(&b'\n'));
        Some(Self { pairs: (0..).zip(pairs).map(|(before, at)| (at as u32 - before, at as u32)).collect() })
    }

    /// Maps byte `at` of the text with LF to the source: never between the two bytes of a CRLF.
    fn in_source(&self, at: u32) -> u32 {
        at + self.pairs.partition_point(|&(feed, _)| feed < at) as u32
    }

    /// Maps byte `at` of the source to the text with LF.
    fn in_text(&self, at: u32) -> u32 {
        at - self.pairs.partition_point(|&(_, cr)| cr < at) as u32
    }
}

impl Document {
    /// Maps byte `at` of the text [with LF](with_lf) to the source.
    pub fn place_in_source(&self, at: u32) -> u32 {
        Breaks::of(&self.source).map_or(at, |breaks| breaks.in_source(at))
    }

    /// Puts a document of a text with LF into the `source` that has `breaks` in their place.
    pub(super) fn with_breaks(self, source: Arc<str>, breaks: &Breaks) -> Self {
        self.moved(source, &|at| breaks.in_source(at))
    }

    /// Calls `cut` with the document with LF only and the mapping of source bytes to it; maps the result back to the
    /// source.
    pub(crate) fn cut_with_lf(
        &self,
        cut: impl FnOnce(&Self, &dyn Fn(u32) -> u32) -> Vec<Chunk>,
    ) -> Vec<Chunk> {
        let Some(breaks) = Breaks::of(&self.source) else { return cut(self, &|at| at) };
        let text = Arc::from(with_lf(&self.source));
        let document = self.clone().moved(text, &|at| breaks.in_text(at));
        let mut chunks = cut(&document, &|at| breaks.in_text(at));
        let place = |span: Span| moved(span, &|at| breaks.in_source(at));
        for chunk in &mut chunks {
            chunk.span = place(chunk.span);
            for borrow in &mut chunk.borrows {
                match borrow {
                    Borrow::Heading(span)
                    | Borrow::Signature(span)
                    | Borrow::Item(span)
                    | Borrow::Fence(span)
                    | Borrow::TableHeader(span)
                    | Borrow::Overlap(span) => *span = place(*span),
                    Borrow::Document | Borrow::Path(_) | Borrow::Close(_) => {}
                }
            }
        }
        chunks
    }

    /// The same document over `source`, with each of its positions mapped by `place`.
    fn moved(self, source: Arc<str>, place: &dyn Fn(u32) -> u32) -> Self {
        let moved = |span: Span| moved(span, place);
        let sections = self.sections.into_iter().map(|section| Section {
            span: moved(section.span),
            signature: moved(section.signature),
            documentation: moved(section.documentation),
            ..section
        });
        let enclosures = self.enclosures.into_iter().map(|enclosure| Enclosure {
            span: moved(enclosure.span),
            open: moved(enclosure.open),
            ..enclosure
        });
        let seams = self.seams.into_iter().map(|seam| Seam { at: place(seam.at), ..seam });
        Self {
            sections: sections.collect(),
            blocks: self.blocks.into_iter().map(|block| Block { span: moved(block.span), ..block }).collect(),
            seams: seams.collect(),
            enclosures: enclosures.collect(),
            markup: self
                .markup
                .into_iter()
                .map(|markup| Markup { span: moved(markup.span), ..markup })
                .collect(),
            lines: LineIndex::new(&source),
            has_cr: memchr(b'\r', source.as_bytes()).is_some(),
            // Cached places of embedded code have the old positions.
            embedded: self.embedded.anew(),
            source,
            ..self
        }
    }
}

fn moved(span: Span, place: &dyn Fn(u32) -> u32) -> Span {
    Span { start: place(span.start), end: place(span.end) }
}
