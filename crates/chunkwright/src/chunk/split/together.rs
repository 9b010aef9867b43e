//! What is not parted although parts of it could stand alone: a block or item that fits with what it borrows, headings and
//! what they announce, comments and annotations and the signature below them.

use crate::chunk::split::{Atom, Level, Splitter, TEARING};
use crate::document::Block;
use crate::span::Span;

/// Depth of the deepest items that are kept together: bounds the work for lists of a hundred levels.
const MAX_DEPTH: u8 = 8;

impl Splitter<'_> {
    /// Whether something over the limit is kept together.
    pub(super) fn fits(&self, span: Span, size: u32) -> bool {
        // Smaller pieces may be wanted although all would fit.
        self.grain >= self.limit && (self.fits)(span, size as usize)
    }

    /// The atoms, as one where those that belong together are over the limit but fit.
    pub(super) fn together(&self, mut atoms: Vec<Atom>) -> Vec<Atom> {
        let mut together = Vec::with_capacity(atoms.len());
        let mut at = 0;
        while let Some(&first) = atoms.get(at) {
            let is_announced = at > 0 && first.cost >= TEARING;
            let (count, size) = if is_announced { (1, 0) } else { self.belonging(&atoms[at..]) };
            if size as usize <= self.limit {
                atoms[at..at + count].iter_mut().skip(1).for_each(|atom| atom.inside = true);
            }
            let span = first.span.to(atoms[at + count - 1].span);
            let is_one = count > 1 && size as usize > self.limit && self.fits(span, size);
            together.push(if is_one { Atom { span, size, ..first } } else { first });
            at += if is_one { count } else { 1 };
        }
        together
    }

    /// Number and size of the atoms that belong to the first: what it announces, and the rest of its item or block.
    fn belonging(&self, atoms: &[Atom]) -> (usize, u32) {
        let (mut size, mut is_lead) = (0, true);
        // Depth of the item or block.
        let mut depth = None;
        for (count, atom) in atoms.iter().enumerate() {
            let begins = match atom.level {
                Level::Section | Level::Block => Some(None),
                Level::Item(depth) if depth <= MAX_DEPTH => Some(Some(depth)),
                _ => None,
            };
            let is_announced = count == 0 || atom.cost >= TEARING;
            let is_inside = match (depth, begins) {
                (None, _) | (_, Some(None)) => false,
                (Some(own), Some(Some(below))) => below > own,
                (Some(_), None) => true,
            };
            if !is_announced && !is_inside || count > 0 && (atom.alone || atoms[0].alone) {
                return (count, size);
            }
            // What does not fit whole is divided where it is best.
            if size as usize > self.config.max_size {
                return (1, size);
            }
            size += atom.size;
            is_lead &= is_announced;
            if is_lead && let Some(begins) = begins {
                depth = Some(begins.unwrap_or(0));
            }
        }
        (atoms.len(), size)
    }

    /// Holds together what leads into the body of a symbol that `block` begins with, as far as it fits: comments,
    /// annotations, signature.
    pub(super) fn hold_lead(&self, block: &Block, starts: &mut [(u32, Level, u32)]) {
        let section = self.document.section(block.section);
        let (start, signature) = (section.span.start, section.signature);
        if start < block.span.start || signature.is_empty() {
            return;
        }
        let below = section.documentation.end;
        let begins =
            [start, if below <= signature.start { below.max(start) } else { start }, signature.start];
        let fits = |&from: &u32| self.size(from, signature.end) as usize <= self.limit;
        let Some(from) = begins.into_iter().find(fits) else { return };
        for (at, _, extra) in starts.iter_mut().filter(|(at, ..)| from < *at && *at < signature.end) {
            // Where comments are left out, their end is a place as any other.
            let is_border = Span { start: from, end: *at }.of(self.document.source()).trim().is_empty();
            *extra += if is_border { 0 } else { TEARING };
        }
    }
}
