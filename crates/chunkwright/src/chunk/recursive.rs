//! The strategy `recursive`: plain text, without structure.

use std::ops::Range;

use crate::chunk::config::Packing;
use crate::chunk::fill;
use crate::chunk::pack::{self, Goal};
use crate::chunk::split::{Level, Splitter};
use crate::chunk::{Cut, Draft, Plan, Strategy};
use crate::document::Document;
use crate::span::Span;

/// Works as general splitters do, with our guarantees: fills each chunk as far as the limit allows with paragraphs,
/// then lines, sentences, words, and grapheme clusters. Ignores sections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recursive;

impl Strategy for Recursive {
    fn name(&self) -> &'static str {
        "recursive"
    }

    fn version(&self) -> (u16, u16) {
        (1, 5)
    }

    fn summary(&self) -> &'static str {
        "fills each chunk with paragraphs, then lines, sentences and words; no structure"
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        let limit = plan.room(plan.config.overlap_size);
        let measure = |text: &str| plan.measure(text);
        let fits = |span: Span, size: usize| plan.fits(document, span, size);
        let splitter = Splitter::new(document, &plan.config, (&measure, &fits), limit, limit);
        let whole = Span::new(0, document.source().len());
        let atoms = splitter.atoms(document.blocks(), None, whole);
        let goal = Goal { limit, target: limit, min: 0 };
        let draft = |run: Range<usize>| {
            let (first, last) = (&atoms[run.start], &atoms[run.end - 1]);
            // A section that begins here is not why.
            let cut = if first.level == Level::Section { Cut::Full } else { first.level.cut() };
            Draft { span: first.span.to(last.span), cut, whole: fill::kept(&atoms[run]), apart: false }
        };
        let drafts: Vec<_> = pack::runs(&atoms, goal, Packing::FirstFit).into_iter().map(draft).collect();
        plan.extend(drafts);
    }
}
