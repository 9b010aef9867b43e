//! Lines of a source, for formats that are read line by line.

use crate::document::{BlockKind, DocumentBuilder, SectionKind};
use crate::span::{LineIndex, Span};

/// The lines of a source, by index from 0. Past the end there are blank lines.
pub(super) struct Lines<'a> {
    source: &'a str,
    spans: Vec<Span>,
}

/// Longest title in bytes. A longer line is not a title that a person wrote; its inline markup is not parsed, which
/// bounds the work.
pub(super) const MAX_TITLE: usize = 1024;

/// A column after a tab is the next multiple of this.
const TAB: usize = 8;

impl<'a> Lines<'a> {
    /// The lines of `source`, without a byte order mark.
    pub(super) fn new(source: &'a str, index: &LineIndex) -> Self {
        let mut spans: Vec<Span> = index.spans(source.len()).collect();
        if source.starts_with('\u{feff}') {
            spans[0].start = '\u{feff}'.len_utf8() as u32;
        }
        Self { source, spans }
    }

    /// Number of lines.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Byte at which line `index` starts.
    pub(super) fn start(&self, index: usize) -> usize {
        self.spans.get(index).map_or(self.source.len(), |line| line.start as usize)
    }

    /// Byte after the last visible character of line `index`.
    pub(super) fn end(&self, index: usize) -> usize {
        self.start(index) + self.text(index).len()
    }

    /// Line `index` without its line break and the blanks before that.
    pub(super) fn text(&self, index: usize) -> &'a str {
        self.spans.get(index).map_or("", |line| line.of(self.source).trim_end())
    }

    /// Line `index` without blanks at its ends.
    pub(super) fn trimmed(&self, index: usize) -> &'a str {
        self.text(index).trim_start()
    }

    pub(super) fn is_blank(&self, index: usize) -> bool {
        self.text(index).is_empty()
    }

    /// Columns before the first visible character of line `index`.
    pub(super) fn indent(&self, index: usize) -> usize {
        let blanks = self.text(index).chars().take_while(|&c| c == ' ' || c == '\t');
        blanks.fold(0, |column, c| if c == '\t' { (column / TAB + 1) * TAB } else { column + 1 })
    }

    /// The first line from `index` on that is not blank, or the number of lines.
    pub(super) fn skip_blank(&self, index: usize) -> usize {
        (index..self.len()).find(|&index| !self.is_blank(index)).unwrap_or(self.len())
    }

    /// The line after the last visible one of `from..to`.
    pub(super) fn trim_end(&self, from: usize, to: usize) -> usize {
        (from..to.min(self.len())).rev().find(|&index| !self.is_blank(index)).map_or(from, |last| last + 1)
    }

    /// End of the lines from `index` on that are blank or indented by at least `indent` columns, without blank lines at
    /// the end.
    pub(super) fn indented(&self, index: usize, indent: usize) -> usize {
        let mut end = index;
        for line in index..self.len() {
            if self.is_blank(line) {
                continue;
            }
            if self.indent(line) < indent {
                break;
            }
            end = line + 1;
        }
        end
    }

    /// Reports the lines `from..to` as a block.
    pub(super) fn block(&self, out: &mut DocumentBuilder, kind: BlockKind, from: usize, to: usize) {
        if from < to {
            out.block(kind, self.start(from), self.end(to - 1));
        }
    }

    /// Reports the lines `from..to` as a heading of `level` with the section that it opens. Levels
    /// deeper than 6 stand at 6.
    pub(super) fn heading(
        &self,
        out: &mut DocumentBuilder,
        level: usize,
        title: &str,
        from: usize,
        to: usize,
    ) {
        if from < to {
            Self::heading_at(out, level, title, self.start(from), self.end(to - 1));
        }
    }

    /// The same for the bytes `start..end`.
    pub(super) fn heading_at(out: &mut DocumentBuilder, level: usize, title: &str, start: usize, end: usize) {
        let level = level.clamp(1, 6) as u8;
        while matches!(out.open_kind(), SectionKind::Heading(open) if open >= level) {
            out.close_section(start);
        }
        out.open_section(SectionKind::Heading(level), title, start);
        out.block(BlockKind::Heading, start, end);
    }
}

/// Depths of nested items by the column at which each begins.
#[derive(Default)]
pub(super) struct Columns(Vec<usize>);

impl Columns {
    /// Depth of an item that begins at `column`.
    pub(super) fn item(&mut self, column: usize) -> usize {
        while self.0.pop_if(|open| *open >= column).is_some() {}
        self.0.push(column);
        self.0.len() - 1
    }

    /// Depth of what begins at `column` inside the items that stand further left.
    pub(super) fn inner(&mut self, column: usize) -> usize {
        while self.0.pop_if(|open| *open >= column).is_some() {}
        self.0.len()
    }
}
