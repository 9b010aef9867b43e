//! The strategy `adaptive`: cuts a document according to its size.
//!
//! A short document is one chunk. One of medium size is cut into windows that follow its structure. A long one is cut
//! at its headings, and sections that are too large into windows; or, if a band of sizes is configured, into chunks
//! within the band, preferably at headings.

use crate::chunk::fill::Filler;
use crate::chunk::pack::Goal;
use crate::chunk::{Cut, Draft, Packing, Plan, Strategy, tree};
use crate::document::{Document, SectionId};

/// Short documents whole, medium ones in windows, long ones by their headings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Adaptive;

impl Strategy for Adaptive {
    fn name(&self) -> &'static str {
        "adaptive"
    }

    fn version(&self) -> (u16, u16) {
        (1, 5)
    }

    fn summary(&self) -> &'static str {
        "by the size of the document: whole, windows, or headings with windows"
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        let (Some(first), Some(end)) = (document.blocks().first(), document.blocks().last()) else { return };
        let whole = first.span.to(end.span);
        let size = plan.measure(&document.read(whole));
        if size < plan.config.short_size && size <= plan.config.max_size {
            plan.set_document_type("short_document");
            plan.push(whole, Cut::Full);
            return;
        }
        let [least, greatest] = plan.config.band;
        let drafts = if size <= plan.config.long_size {
            plan.set_document_type("medium_document");
            plan.set_sizes(plan.config.medium_max_size, plan.config.medium_overlap_size);
            across(document, plan, &|limit| Goal { limit, target: limit, min: plan.config.min_size })
        } else if greatest > 0 {
            plan.set_document_type("long_document");
            plan.set_sizes(greatest, 0);
            plan.config.to_mut().packing = Packing::Even;
            across(document, plan, &|limit| Goal { limit, target: limit.midpoint(least), min: least })
        } else {
            plan.set_document_type("long_document");
            tree::drafts(&Filler::new(document, plan))
        };
        plan.extend(drafts.into_iter().map(as_window));
    }
}

/// The chunks of the whole document as one run of blocks.
fn across(document: &Document, plan: &Plan<'_>, goal: &dyn Fn(usize) -> Goal) -> Vec<Draft> {
    let filler = Filler::new(document, plan);
    let mut drafts = Vec::new();
    filler.fill(0..document.blocks().len(), SectionId::ROOT, Cut::Full, goal, &mut drafts);
    drafts
}

/// A chunk that continues where the one before was full is a window.
fn as_window(draft: Draft) -> Draft {
    if draft.cut.continues() { Draft { cut: Cut::Window, ..draft } } else { draft }
}
