//! The parent of a chunk: a reference to the text worth reading around it.
//!
//! It is computed from the chunk's position, not from the section the chunk is about: a chunk may begin with headings
//! above that section, and a parent that began below them would not contain it.

use crate::document::{Document, SectionId};
use crate::record::Record;
use crate::span::{Span, is_blank};

/// The target of a record's `parent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// The whole document.
    Document,
    /// Lines of it, 1-based, both included.
    Lines(u32, u32),
}

impl Document {
    /// A reference, `DOC_ID#L10-L80`, to the smallest section that contains `span` and other visible text, or the
    /// document's id if there is no such section. It always contains `span`, blanks included.
    pub fn parent_of(&self, span: Span) -> String {
        match self.parent_section(span) {
            SectionId::ROOT => self.id().to_owned(),
            section => self.lines_around(section, span),
        }
    }

    /// A reference to the lines of a section, and of `span` where that reaches beyond it.
    pub(crate) fn lines_around(&self, section: SectionId, span: Span) -> String {
        let section = self.section(section).span;
        // A section reaches over the blanks behind its last block, and may end inside one.
        let blocks = self.blocks();
        let last = blocks.partition_point(|block| block.span.start < section.end).checked_sub(1);
        let end = last.map_or(0, |last| blocks[last].span.end.min(section.end)).max(span.end);
        let after = Span { start: span.end, end }.of(self.source()).trim_end_matches(is_blank);
        let lines = Span { start: section.start.min(span.start), end: span.end + after.len() as u32 };
        let (start, end) = self.lines().lines(lines);
        format!("{}#L{start}-L{end}", self.id())
    }

    fn parent_section(&self, span: Span) -> SectionId {
        let source = self.source();
        let text = span.of(source);
        let visible = text.trim_start_matches(is_blank);
        let start = span.end - visible.len() as u32;
        let end = start + visible.trim_end_matches(is_blank).len() as u32;
        // Sections nest and are in order: those around `start` are the last that begins there or before, and
        // those around that one.
        let after = self.sections().partition_point(|section| section.span.start <= start);
        let mut id = SectionId(after.saturating_sub(1) as u32);
        while let Some(around) = self.section(id).parent {
            let section = self.section(id).span;
            let is_visible = |from: u32, to: u32| !source[from as usize..to as usize].chars().all(is_blank);
            if section.start <= start
                && end <= section.end
                && (is_visible(section.start, start) || is_visible(end, section.end))
            {
                return id;
            }
            id = around;
        }
        SectionId::ROOT
    }
}

impl Record {
    /// The target of `parent` if it contains this chunk: the document, or lines that begin at or before the chunk's
    /// first and end at or after its last, in a document of `lines` lines. `None` for anything else, which only records
    /// of older or other programs have.
    pub fn holding_parent(&self, lines: usize) -> Option<Parent> {
        let place = self.parent.strip_prefix(&self.doc_id)?;
        if place.is_empty() {
            return Some(Parent::Document);
        }
        // `parse` alone would take a sign.
        let number = |text: &str| {
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse::<u32>().ok()).flatten()
        };
        let (start, end) = place.strip_prefix("#L")?.split_once("-L")?;
        let (start, end) = (number(start)?, number(end)?);
        let holds = (1..=self.start_line).contains(&start) && self.end_line <= end && end as usize <= lines;
        holds.then_some(Parent::Lines(start, end))
    }
}
