//! Filling: turns the blocks of one section into chunks. Shared by the strategies that read structure.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use crate::chunk::pack::{self, Goal};
use crate::chunk::split::{Atom, Splitter};
use crate::chunk::{Cut, Draft, Packing, Plan};
use crate::context;
use crate::document::{Document, SectionId, SectionKind};
use crate::span::Span;

/// Fills chunks with the blocks of one document, each block measured once.
pub(super) struct Filler<'a, 'p> {
    pub(super) document: &'a Document,
    pub(super) plan: &'a Plan<'p>,
    /// Size of each block with the blanks after it.
    sizes: &'a [u32],
    /// Room for content under each section, once known.
    rooms: RefCell<HashMap<SectionId, usize>>,
}

impl<'a, 'p> Filler<'a, 'p> {
    pub(super) fn new(document: &'a Document, plan: &'a Plan<'p>) -> Self {
        Self { document, plan, sizes: plan.sizes(document), rooms: RefCell::default() }
    }

    /// Sum of the sizes of some blocks.
    pub(super) fn size(&self, blocks: Range<usize>) -> usize {
        self.sizes[blocks].iter().map(|&size| size as usize).sum()
    }

    /// Size left for content under `section` after what it borrows, not counting the overlap.
    pub(super) fn room(&self, section: SectionId) -> usize {
        *self.rooms.borrow_mut().entry(section).or_insert_with(|| {
            let measure = |text: &str| self.plan.measure(text);
            self.plan.room(context::path_size(
                self.document,
                &self.plan.config,
                section,
                (&measure, &self.plan.measured),
            ))
        })
    }

    /// Adds the chunks of a run of blocks in `section`; the first begins for the reason `begins`.
    pub(super) fn fill(
        &self,
        run: Range<usize>,
        section: SectionId,
        begins: Cut,
        goal: &dyn Fn(usize) -> Goal,
        drafts: &mut Vec<Draft>,
    ) {
        let config = &*self.plan.config;
        let blocks = &self.document.blocks()[run.clone()];
        let whole = Span { start: blocks[0].span.start, end: blocks[blocks.len() - 1].span.end };
        let apart = blocks.iter().any(|block| config.sets_apart(block.kind)) && blocks.len() > 1;
        let size = self.size(run.clone());
        // Content that fits with the longest path fits with its own, which then need not be measured.
        let common = self.plan.room(context::share(config));
        let fits = |span: Span, size: usize| self.plan.fits(self.document, span, size);
        if !apart && (size <= common || fits(whole, size)) {
            let apart = blocks.iter().any(|block| config.sets_apart(block.kind));
            drafts.push(Draft { span: whole, cut: begins, whole: false, apart });
            return;
        }
        let room = if size <= common { common } else { self.room(section) };
        let room = room.saturating_sub(config.overlap_size).max(1);
        let measure = |text: &str| self.plan.measure(text);
        let sizes = &self.sizes[run];
        // The text that the parts of a fence or table repeat must fit with them.
        let divided = blocks.iter().zip(sizes);
        let divided = divided.filter(|&(block, &size)| {
            size as usize > room && !config.keeps(block.kind) && !fits(block.span, size as usize)
        });
        let reopened = divided
            .map(|(block, _)| context::reopening_size(self.document, config, block.span, &measure))
            .max()
            .unwrap_or(0);
        // An overlap gives way to the text itself.
        let limit = room.saturating_sub(reopened).max(config.max_size / 4).max(1);
        let grain = if config.packing == Packing::Even { limit / EVEN_GRAIN } else { limit };
        let splitter = Splitter::new(self.document, config, (&measure, &fits), limit, grain);
        let atoms = splitter.atoms(blocks, Some(sizes), whole);
        for (index, run) in pack::runs(&atoms, goal(limit), config.packing).into_iter().enumerate() {
            let (first, last) = (&atoms[run.start], &atoms[run.end - 1]);
            let cut = if index == 0 {
                begins
            } else {
                let block = blocks.partition_point(|block| block.span.start <= first.span.start) - 1;
                self.begins(blocks[block].section, first.span.start, first.level.cut())
            };
            let (whole, apart) = (kept(&atoms[run.clone()]), atoms[run].iter().any(|atom| atom.alone));
            drafts.push(Draft { span: first.span.to(last.span), cut, whole, apart });
        }
    }

    /// The sizes of the configuration, for chunks of at most `limit`.
    pub(super) fn goal(&self, limit: usize) -> Goal {
        let config = &self.plan.config;
        let target = (config.target_size * limit / config.max_size).max(1);
        Goal { limit, target, min: config.min_size.min(target) }
    }

    /// The reason that a chunk begins at `at`: a section begins there, or `otherwise`.
    pub(super) fn begins(&self, section: SectionId, at: u32, otherwise: Cut) -> Cut {
        let section = self.document.section(section);
        match section.kind {
            SectionKind::Document => otherwise,
            _ if section.span.start < at => otherwise,
            SectionKind::Heading(_) | SectionKind::Key => Cut::Heading,
            SectionKind::Symbol(_) => Cut::Symbol,
        }
    }
}

/// Even chunks are put together from pieces of at most this part of one.
const EVEN_GRAIN: usize = 3;

/// Whether the chunk of these atoms is a block that is kept whole although it is over the limit.
pub(super) fn kept(atoms: &[Atom]) -> bool {
    matches!(atoms, [atom] if atom.whole)
}
