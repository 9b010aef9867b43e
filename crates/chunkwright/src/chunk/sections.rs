//! The strategy `sections`: every heading down to a level is a border.
//!
//! Three passes. The first divides the document at its headings. The second joins the blocks of each section up to the
//! limit; blocks that are set apart are chunks of their own, with what leads into them. The last joins what is too
//! small to its neighbour if both have the same `header_path` and neither is set apart. A bare heading belongs to the section after it.

use std::ops::Range;

use crate::chunk::fill::Filler;
use crate::chunk::{Cut, Draft, Plan, Strategy};
use crate::document::{Document, SectionId, SectionKind};

/// Headings as borders, and nothing across them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sections;

impl Strategy for Sections {
    fn name(&self) -> &'static str {
        "sections"
    }

    fn version(&self) -> (u16, u16) {
        (1, 5)
    }

    fn summary(&self) -> &'static str {
        "headings down to a level are boundaries; small chunks join only under the same heading path"
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        let filler = Filler::new(document, plan);
        let mut drafts = Vec::new();
        for (run, section) in sections(document, plan.config.section_level) {
            let first = document.blocks()[run.start];
            let begins = filler.begins(first.section, first.span.start, Cut::Full);
            let from = drafts.len();
            filler.fill(run, section, begins, &|limit| filler.goal(limit), &mut drafts);
            join(&filler, from, &mut drafts);
        }
        plan.extend(drafts);
    }
}

/// The blocks of each section, bare headings with those of the section after them.
fn sections(document: &Document, level: u8) -> Vec<(Range<usize>, SectionId)> {
    let depths = depths(document);
    let outermost = depths.iter().skip(1).min().copied().unwrap_or(1);
    let level = level.max(outermost);
    let border = |mut id: SectionId| {
        while depths[id.0 as usize] > level {
            id = document.section(id).parent.unwrap_or(SectionId::ROOT);
        }
        id
    };
    let blocks = document.blocks();
    let mut runs: Vec<(Range<usize>, SectionId)> = Vec::new();
    let mut bare = false;
    for (index, block) in blocks.iter().enumerate() {
        let section = border(block.section);
        match runs.last_mut() {
            Some((run, last)) if bare || *last == section => {
                run.end = index + 1;
                *last = document.common_section(*last, section);
                bare &= document.announces(block);
            }
            _ => {
                runs.push((index..index + 1, section));
                bare = document.announces(block);
            }
        }
    }
    // Headings that nothing follows belong to what stands before them.
    if bare && let [.., (before, section), (last, other)] = &mut runs[..] {
        before.end = last.end;
        *section = document.common_section(*section, *other);
        runs.pop();
    }
    runs
}

/// The level of each section: of a heading as written, of a symbol by its depth.
fn depths(document: &Document) -> Vec<u8> {
    let mut depths: Vec<u8> = Vec::with_capacity(document.sections().len());
    for section in document.sections() {
        let above = section.parent.map_or(0, |parent| depths[parent.0 as usize]);
        depths.push(match section.kind {
            SectionKind::Document => 0,
            SectionKind::Heading(level) => level,
            SectionKind::Symbol(_) | SectionKind::Key => above.saturating_add(1),
        });
    }
    depths
}

/// Joins drafts from `from` on, all of one section, to those before them where one is too small and both
/// fit together. Within a run that also holds the drafts of the section before, if it has the same
/// `header_path`.
fn join(filler: &Filler<'_, '_>, mut from: usize, drafts: &mut Vec<Draft>) {
    let (document, config) = (filler.document, &filler.plan.config);
    let path = |at: u32| {
        let mut id = document.block_at(at).map_or(SectionId::ROOT, |block| block.section);
        while let SectionKind::Heading(level) = document.section(id).kind
            && level > config.max_heading_level_for_path
        {
            id = document.section(id).parent.unwrap_or(SectionId::ROOT);
        }
        id
    };
    let size = |draft: &Draft| filler.plan.measure(&document.read(draft.span));
    from = from.saturating_sub(1);
    let mut joined: Vec<(Draft, usize, SectionId)> = Vec::new();
    for draft in drafts.drain(from..) {
        let (size, path, last_path) = (size(&draft), path(draft.span.start), path(draft.span.end - 1));
        match joined.last_mut() {
            Some((last, before, before_path))
                if (*before < config.min_size || size < config.min_size)
                    && *before_path == path
                    && *before + size < filler.room(path)
                    && !(last.whole || draft.whole || last.apart || draft.apart) =>
            {
                last.span = last.span.to(draft.span);
                *before += size;
                *before_path = last_path;
            }
            _ => joined.push((draft, size, last_path)),
        }
    }
    drafts.extend(joined.into_iter().map(|(draft, ..)| draft));
}
