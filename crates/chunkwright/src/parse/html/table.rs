//! Tables of HTML, read as tables of Markdown.

use html5gum::StartTag;

use super::reading::Break;
use super::tags::attribute;
use super::{Container, Page};
use crate::document::{BlockKind, Enclosure, EnclosureKind};
use crate::span::Span;

/// Tables with more columns are read without the line below their headers: it would be longer than they.
const MAX_HEADERS: usize = 32;

/// A cell that stands over more columns is read as over these, and one in a later column as over one row.
const MAX_SPAN: usize = 32;

/// A table that is open. Tables inside its cells are text of the cell.
#[derive(Default)]
pub(super) struct Table {
    pub(super) in_cell: bool,
    start: usize,
    /// Tables open inside a cell.
    inner: usize,
    rows: usize,
    in_row: bool,
    /// Cells of the row so far, and how many of them are headers.
    cells: usize,
    headers: usize,
    /// Columns beside the first that the last cell stands over.
    over: usize,
    /// For how many more rows the cell above each column stands in it.
    below: Vec<usize>,
    /// Columns of the first row.
    width: usize,
    /// Number of header rows.
    header_rows: usize,
    /// Where the header rows begin and end.
    header: Option<(usize, usize)>,
}

impl Page<'_> {
    /// The table that is open, outside all others, and how deep it stands.
    fn table(&mut self) -> Option<(usize, &mut Table)> {
        self.containers.iter_mut().enumerate().rev().find_map(|(at, container)| match container {
            Container::Table(table) => Some((at, table)),
            _ => None,
        })
    }

    pub(super) fn start_in_table(&mut self, tag: &StartTag<usize>) {
        let (name, start, end) = (&tag.name[..], tag.span.start, tag.span.end);
        let Some((at, table)) = self.table() else {
            let is_layout = self.layouts.contains(&start);
            self.in_layouts += usize::from(is_layout);
            if is_layout || self.in_layouts > 0 && name != b"table" {
                self.start_block(start, end);
                return;
            }
            if name == b"table" {
                self.push(Container::Table(Table { start, ..Table::default() }), BlockKind::Table, start);
            }
            self.tag(start, end, Break::Blank);
            return;
        };
        if name == b"table" || table.inner > 0 {
            table.inner += usize::from(name == b"table");
            self.tag(start, end, Break::Space);
            return;
        }
        if name == b"tr" {
            let mark = self.end_row(at, start, end);
            self.reading.ask(mark, Break::Line);
            let Some((_, table)) = self.table() else { return };
            if table.rows == 0 {
                table.header = Some((start, start));
            }
            (table.in_row, table.cells, table.headers) = (true, 0, 0);
            // The header stays with the first row.
            if table.rows > table.header_rows.max(usize::from(table.header.is_some())) {
                self.seam(start);
            }
            return;
        }
        // The row of the first cell may have no tag.
        if !table.in_row {
            table.header = table.header.or(Some((start, start)));
            (table.in_row, table.cells, table.headers) = (true, 0, 0);
        }
        let number =
            |name| attribute(tag, name).and_then(|span| span.trim().parse::<usize>().ok()).unwrap_or(1);
        let (span, rows) = (number(b"colspan"), number(b"rowspan"));
        let first = table.cells == 0;
        let above = table.above();
        let over = above + if first { 0 } else { table.over };
        // Only the first row can widen the table.
        let room = if table.rows == 0 { MAX_SPAN } else { table.width.saturating_sub(table.cells) };
        let span = span.clamp(1, room.clamp(1, MAX_SPAN));
        if rows > 1 && table.cells < MAX_SPAN {
            table.below.resize(table.below.len().max(table.cells + span), 0);
            table.below[table.cells..table.cells + span].fill(rows - 1);
        }
        table.over = span - 1;
        table.cells += span;
        table.headers += if name == b"th" { span } else { 0 };
        table.in_cell = false;
        self.containers.truncate(at + 1);
        let mark = if first {
            self.tag(start, end, Break::Line)
        } else {
            let mark = self.reading.gap(start, end, Break::None);
            self.reading.end(mark, " ");
            mark
        };
        self.reading.begin(mark, &"| ".repeat(1 + over));
        if let Some((_, table)) = self.table() {
            table.in_cell = true;
        }
    }

    pub(super) fn end_in_table(&mut self, name: &[u8], start: usize, end: usize) {
        let Some((at, table)) = self.table() else {
            if self.in_layouts > 0 {
                self.in_layouts -= usize::from(name == b"table");
                self.end_block(start, end);
            } else {
                self.tag(start, end, Break::Blank);
            }
            return;
        };
        if table.inner > 0 {
            table.inner -= usize::from(name == b"table");
            self.tag(start, end, Break::Space);
            return;
        }
        match name {
            b"tr" => {
                let mark = self.end_row(at, start, end);
                self.reading.ask(mark, Break::Line);
            }
            b"table" => {
                let mark = self.end_row(at, start, end);
                let enclosure = self.table().and_then(|(_, table)| table.enclosure(end));
                self.enclosures.extend(enclosure);
                self.pop(end, |container| matches!(container, Container::Table(_)));
                self.reading.ask(mark, Break::Blank);
            }
            _ => {
                self.tag(start, end, Break::Space);
            }
        }
    }

    /// Marks the tag at `start..end` as the end of the row that is open, if one is. Gives the mark.
    fn end_row(&mut self, at: usize, start: usize, end: usize) -> usize {
        self.containers.truncate(at + 1);
        let mark = self.reading.gap(start, end, Break::None);
        let Some((_, table)) = self.table() else { return mark };
        table.in_cell = false;
        if !std::mem::take(&mut table.in_row) || table.cells == 0 {
            return mark;
        }
        let over = std::mem::take(&mut table.over) + table.above();
        table.rows += 1;
        table.width = table.width.max(table.cells);
        let mut text = " |".repeat(1 + over);
        if table.rows == 1 && table.headers == table.cells && table.cells <= MAX_HEADERS {
            text.push_str("\n|");
            text.push_str(&" --- |".repeat(table.cells));
            table.header = table.header.map(|(from, _)| (from, end));
            table.header_rows = 1;
        } else if table.rows > 1 && table.rows == table.header_rows + 1 && table.headers == table.cells {
            // Headers of several rows stay together.
            table.header = table.header.map(|(from, _)| (from, end));
            table.header_rows += 1;
        } else if table.rows == 1 {
            table.header = None;
        }
        self.reading.end(mark, &text);
        mark
    }
}

impl Table {
    /// Passes the columns in which cells of rows above stand, and gives their number.
    fn above(&mut self) -> usize {
        let from = self.cells;
        while let Some(rows) = self.below.get_mut(self.cells).filter(|rows| **rows > 0) {
            *rows -= 1;
            self.cells += 1;
        }
        let above = self.cells - from;
        // Below headers they are headers.
        self.headers += if self.header_rows == self.rows { above } else { 0 };
        above
    }

    /// The text that is repeated when the table is cut; requires a header row.
    fn enclosure(&self, end: usize) -> Option<Enclosure> {
        let (start, header_end) = self.header.filter(|(start, end)| end > start)?;
        let span = Span::new(self.start, end);
        Some(Enclosure {
            kind: EnclosureKind::Table,
            span,
            open: Span::new(start, header_end),
            close: "".into(),
        })
    }
}
