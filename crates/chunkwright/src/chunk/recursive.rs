//! The strategy `recursive`: plain text, without structure.

use crate::chunk::pack;
use crate::chunk::split::Splitter;
use crate::chunk::{Plan, Strategy};
use crate::document::Document;
use crate::span::Span;

/// What general splitters do, with our guarantees: fills each chunk as far as the limit allows with
/// paragraphs, then lines, sentences, words, and grapheme clusters. Reads no sections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recursive;

impl Strategy for Recursive {
    fn name(&self) -> &'static str {
        "recursive"
    }

    fn version(&self) -> (u16, u16) {
        (1, 0)
    }

    fn summary(&self) -> &'static str {
        "fills each chunk with paragraphs, then lines, sentences and words; no structure"
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        let limit = plan.room(0);
        let measure = |text: &str| plan.measure(text);
        let splitter = Splitter { document, measure: &measure, limit };
        let whole = Span::new(0, document.source().len());
        let atoms = splitter.atoms(document.blocks(), None, whole);
        let starts = pack::first_fit(&atoms, limit);
        for (index, &start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(atoms.len());
            let span = Span { start: atoms[start].span.start, end: atoms[end - 1].span.end };
            plan.push(span, atoms[start].level.cut());
        }
    }
}
