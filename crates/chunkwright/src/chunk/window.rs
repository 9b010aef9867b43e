//! The strategy `window`: windows of one size over the whole document, whatever its structure.

use std::ops::Range;

use crate::chunk::fill;
use crate::chunk::pack::{self, Goal};
use crate::chunk::split::{Atom, Splitter};
use crate::chunk::{Cut, Draft, Packing, Plan, Strategy};
use crate::document::Document;
use crate::span::Span;

/// Windows filled with sentences, lines and rows, each with the end of the one before as its overlap.
/// The last ends where the document ends. Reads no sections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window;

impl Strategy for Window {
    fn name(&self) -> &'static str {
        "window"
    }

    fn version(&self) -> (u16, u16) {
        (1, 4)
    }

    fn summary(&self) -> &'static str {
        "sliding windows of one size with an overlap, at sentences and lines; no structure"
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        let limit = plan.room(plan.config.overlap_size);
        let measure = |text: &str| plan.measure(text);
        let fits = |span: Span, size: usize| plan.fits(document, span, size);
        let splitter = Splitter::new(document, &plan.config, (&measure, &fits), limit, limit / GRAIN);
        let whole = Span::new(0, document.source().len());
        let atoms = splitter.atoms(document.blocks(), None, whole);
        let goal = Goal { limit, target: limit, min: 0 };
        let runs = pack::runs(&atoms, goal, Packing::FirstFit);
        let drafts: Vec<_> = runs.into_iter().map(|run| draft(&atoms, run)).collect();
        plan.extend(drafts);
    }
}

/// A window is filled with pieces of at most this part of it.
const GRAIN: usize = 8;

/// The window of some atoms.
fn draft(atoms: &[Atom], run: Range<usize>) -> Draft {
    let (first, last) = (&atoms[run.start], &atoms[run.end - 1]);
    Draft { span: first.span.to(last.span), cut: Cut::Window, whole: fill::kept(&atoms[run]), apart: false }
}
