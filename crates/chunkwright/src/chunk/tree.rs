//! The strategy `tree`: one algorithm over the section tree, for prose and code.
//!
//! Sections are hard borders, except that what is too small to stand alone (below `min_size`; above all a bare heading)
//! joins a sibling under the same parent. A section that fits is a chunk; one that does not is packed from its blocks
//! into chunks of balanced size, and blocks that do not fit are cut inside.

use std::ops::Range;

use crate::chunk::fill::Filler;
use crate::chunk::{Cut, Draft, Plan, Strategy};
use crate::context;
use crate::document::{Document, SectionId, SectionKind};

/// Structure first: sections as borders, small ones joined, large ones packed in balance.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tree;

impl Strategy for Tree {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn version(&self) -> (u16, u16) {
        (1, 5)
    }

    fn summary(&self) -> &'static str {
        "sections are boundaries, small ones are joined, large ones are split evenly"
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        let drafts = drafts(&Filler::new(document, plan));
        plan.extend(drafts);
    }
}

/// The chunks of a document by its section tree.
pub(super) fn drafts(filler: &Filler<'_, '_>) -> Vec<Draft> {
    let document = filler.document;
    let units = Walk { document, filler, at: 0 }.section(SectionId::ROOT);
    let mut drafts = Vec::with_capacity(units.len());
    for unit in units {
        let first = document.blocks()[unit.blocks.start];
        let begins =
            if unit.merged { Cut::Merged } else { filler.begins(first.section, first.span.start, Cut::Full) };
        filler.fill(unit.blocks, unit.section, begins, &|limit| filler.goal(limit), &mut drafts);
    }
    drafts
}

/// A run of blocks that becomes one chunk, or several if it is over the limit.
#[derive(Clone, Debug)]
struct Unit {
    blocks: Range<usize>,
    /// The innermost section that holds all of it.
    section: SectionId,
    size: usize,
    /// Whether several sections were joined.
    merged: bool,
    /// Whether it only announces something: headings, or the first lines of a symbol.
    bare: bool,
    /// Whether a unit before it under the same parent may join it.
    open: bool,
    record: RecordEdges,
}

/// Whether a record of data begins with a unit, and whether the unit ends one of which it is a part.
#[derive(Clone, Copy, Debug, Default)]
struct RecordEdges {
    begins: bool,
    ends: bool,
}

struct Walk<'a, 'p> {
    document: &'a Document,
    filler: &'a Filler<'a, 'p>,
    /// Next block to visit.
    at: usize,
}

impl Walk<'_, '_> {
    /// The units of a section, its subsections included, from block `self.at` on. Sections nest at most
    /// as deep as [`crate::DocumentBuilder`] lets them, so recursion is safe.
    fn section(&mut self, section: SectionId) -> Vec<Unit> {
        let mut units = Vec::new();
        while let Some(block) = self.document.blocks().get(self.at) {
            if block.section == section {
                units.push(self.own(section));
            } else if let Some(child) = self.child_towards(section, block.section) {
                let from = units.len();
                units.extend(self.section(child));
                self.hold(child, &mut units[from..]);
            } else {
                break;
            }
        }
        let mut units = self.join(section, Self::attach_bare(section, units));
        // Units kept apart in here stay apart further out.
        for unit in units.iter_mut().skip(1) {
            unit.open = false;
        }
        units
    }

    /// The run of blocks from `self.at` on that belong to `section` itself.
    fn own(&mut self, section: SectionId) -> Unit {
        let start = self.at;
        let blocks = self.document.blocks();
        while blocks.get(self.at).is_some_and(|block| block.section == section) {
            self.at += 1;
        }
        let run = start..self.at;
        Unit {
            size: self.filler.size(run.clone()),
            bare: blocks[run.clone()].iter().all(|block| self.document.announces(block)),
            blocks: run,
            section,
            merged: false,
            open: true,
            record: RecordEdges::default(),
        }
    }

    /// Keeps a record of data, an element or one of several documents, from sharing a chunk with another unless it is
    /// whole.
    fn hold(&self, section: SectionId, units: &mut [Unit]) {
        let is_record = self.document.section(section).kind == SectionKind::Key
            && context::heading(self.document, section).is_none();
        if let [first, rest @ ..] = units
            && is_record
        {
            first.record.begins = true;
            if !rest.is_empty() || first.size > self.filler.room(section) {
                first.open = false;
                rest.last_mut().unwrap_or(first).record.ends = true;
            }
        }
    }

    /// The child of `section` on the way to its descendant `inner`.
    fn child_towards(&self, section: SectionId, inner: SectionId) -> Option<SectionId> {
        let mut id = inner;
        loop {
            let parent = self.document.section(id).parent?;
            if parent == section {
                return Some(id);
            }
            id = parent;
        }
    }

    /// Joins units that are bare headings to the next unit, whatever the size: a heading alone says nothing. The last
    /// one joins the unit before it.
    fn attach_bare(section: SectionId, units: Vec<Unit>) -> Vec<Unit> {
        let mut attached: Vec<Unit> = Vec::with_capacity(units.len());
        let mut bare: Option<Unit> = None;
        for unit in units {
            let unit = match bare.take() {
                // One section with the headings above it is still one section.
                Some(before) => Unit { merged: unit.merged, ..joined(section, &[before, unit]) },
                None => unit,
            };
            if unit.bare { bare = Some(unit) } else { attached.push(unit) }
        }
        match (bare, attached.last_mut()) {
            // At the outer end of a section a bare heading may still join what follows the section.
            (Some(bare), Some(last)) if section == SectionId::ROOT => {
                *last = joined(section, &[last.clone(), bare]);
            }
            (Some(bare), _) => attached.push(bare),
            (None, _) => {}
        }
        attached
    }

    /// Joins units too small to stand alone, at least total cost.
    fn join(&self, section: SectionId, units: Vec<Unit>) -> Vec<Unit> {
        let min = self.filler.plan.config.min_size;
        if units.len() < 2 || units.iter().all(|unit| unit.size >= min) {
            return units;
        }
        let limit = self.filler.room(section);
        let mut best = vec![u64::MAX; units.len() + 1];
        let mut from = vec![0; units.len() + 1];
        best[0] = 0;
        for end in 1..=units.len() {
            let (mut size, mut standing, mut large) = (0, 0, 0);
            for start in (end.saturating_sub(JOIN_WINDOW)..end).rev() {
                let unit = &units[start];
                size += unit.size;
                standing += usize::from(unit.size >= min);
                large += usize::from(unit.size > limit);
                let count = end - start;
                // A unit that will be divided anyway always has room for another.
                if count > 1 && (size > limit && large == 0 || standing > 1) {
                    break;
                }
                let cost = best[start]
                    + join_cost(count, standing, size, min, self.filler.plan.config.target_size)
                    + self.anchor(unit);
                if cost < best[end] {
                    best[end] = cost;
                    from[end] = start;
                }
                let parts_record = start > 0 && units[start - 1].record.ends && unit.record.begins;
                if !unit.open || parts_record {
                    break;
                }
            }
        }
        let mut out = Vec::new();
        let mut end = units.len();
        while end > 0 {
            out.push(joined(section, &units[from[end]..end]));
            end = from[end];
        }
        out.reverse();
        out
    }

    /// A small cost by the text a unit begins with, so that the same borders are chosen after an edit.
    fn anchor(&self, unit: &Unit) -> u64 {
        let block = self.document.blocks()[unit.blocks.start];
        u64::from(crate::chunk::split::jitter(block.span.of(self.document.source())))
    }
}

/// Several units of `section` as one.
fn joined(section: SectionId, units: &[Unit]) -> Unit {
    let (first, last) = (&units[0], &units[units.len() - 1]);
    Unit {
        blocks: first.blocks.start..last.blocks.end,
        section: if units.len() == 1 { first.section } else { section },
        size: units.iter().map(|unit| unit.size).sum(),
        merged: units.len() > 1 || first.merged,
        bare: units.iter().all(|unit| unit.bare),
        open: first.open,
        record: RecordEdges { begins: first.record.begins, ends: last.record.ends },
    }
}

/// Most units that may join: units too small to stand alone reach the minimum long before.
const JOIN_WINDOW: usize = 64;

/// The cost of `count` units as one chunk, in thousandths; `standing` of them could stand alone.
fn join_cost(count: usize, standing: usize, size: usize, min: usize, target: usize) -> u64 {
    let (size, min, target) = (size as u64, min.max(1) as u64, target.max(1) as u64);
    let runt = if size < min { 600 + 1000 * (min - size) / min } else { 0 };
    let borders = 150 * (count as u64 - 1);
    let miss = if standing == 0 && size < target { 300 * (target - size) / target } else { 0 };
    runt + borders + miss
}
