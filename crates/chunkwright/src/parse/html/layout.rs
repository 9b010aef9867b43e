//! Tells tables that lay out a page from tables of data.
//!
//! Mails and old pages put everything into tables. Such a table is no table to a reader: what its cells hold are headings,
//! paragraphs and lists of the page. One pass before the page is read finds them, since the first tag of a table does not
//! tell what its cells will hold.

use std::collections::HashSet;

use html5gum::Token;

use super::tags::attribute;

/// Tables nested deeper are not looked at.
const MAX_NESTING: usize = 64;

/// What is known of a table that is open.
#[derive(Default)]
struct Table {
    start: usize,
    /// Whether its author says that it is for layout.
    declared: bool,
    /// Whether it has what only tables of data have: headers, a caption.
    headed: bool,
    cells: usize,
    /// Cells of the row that is open, and most cells of a row.
    in_row: usize,
    columns: usize,
    cell: Option<Cell>,
    /// Whether a cell holds a table, preformatted text, or a heading with more.
    sectioned: bool,
    /// Cells that hold headings, and those that hold several blocks.
    headings: usize,
    several: usize,
}

#[derive(Default)]
struct Cell {
    blocks: usize,
    headings: usize,
    /// Whether there is text beside headings.
    text: bool,
    preformatted: bool,
}

impl Table {
    fn end_cell(&mut self) {
        let Some(cell) = self.cell.take() else { return };
        self.sectioned |= cell.preformatted || cell.headings > 0 && cell.text;
        self.headings += usize::from(cell.headings > 0);
        self.several += usize::from(cell.blocks > 1);
    }

    fn is_layout(&self) -> bool {
        let holds_page = self.sectioned
            || self.cells == 1
            || self.headings > 0 && self.columns == 1
            // A table of data may have a cell or two with two paragraphs.
            || self.several > 0 && 4 * self.several >= self.cells;
        self.declared || !self.headed && self.cells > 0 && holds_page
    }
}

/// The places of the tags that open tables for layout.
pub(super) fn tables(source: &str) -> HashSet<usize> {
    let mut layouts = HashSet::new();
    let has_table = source.match_indices('<').any(|(at, _)| {
        source.as_bytes().get(at + 1..at + 6).is_some_and(|name| name.eq_ignore_ascii_case(b"table"))
    });
    if !has_table {
        return layouts;
    }
    let mut open: Vec<Table> = Vec::new();
    // Tables that are open and nested too deep, and whether a heading is open.
    let (mut deeper, mut in_heading) = (0_usize, false);
    for token in super::tokens(source) {
        match token {
            Token::StartTag(tag) if tag.name[..] == *b"table" => {
                if let Some(around) = open.last_mut() {
                    around.sectioned |= around.cell.is_some();
                }
                if open.len() == MAX_NESTING {
                    deeper += 1;
                    continue;
                }
                let role = attribute(&tag, b"role").unwrap_or_default();
                let declared = matches!(role.trim(), "presentation" | "none");
                open.push(Table { start: tag.span.start, declared, ..Table::default() });
            }
            Token::EndTag(tag) if tag.name[..] == *b"table" && deeper > 0 => deeper -= 1,
            Token::EndTag(tag) if tag.name[..] == *b"table" => {
                if let Some(mut table) = open.pop() {
                    table.end_cell();
                    if table.is_layout() {
                        layouts.insert(table.start);
                    }
                }
            }
            Token::StartTag(tag) => {
                if let Some(table) = open.last_mut().filter(|_| deeper == 0) {
                    in_heading |= is_heading(&tag.name);
                    start_tag(table, &tag.name);
                }
            }
            Token::EndTag(tag) => {
                in_heading &= !is_heading(&tag.name);
                if let Some(table) =
                    open.last_mut().filter(|_| matches!(&tag.name[..], b"td" | b"th" | b"tr"))
                {
                    table.end_cell();
                }
            }
            Token::String(text) if !in_heading => {
                if let Some(cell) = open.last_mut().and_then(|table| table.cell.as_mut()) {
                    cell.text |= !text.value.trim_ascii().is_empty();
                }
            }
            _ => {}
        }
    }
    layouts.extend(open.iter().filter(|table| table.is_layout()).map(|table| table.start));
    layouts
}

fn is_heading(name: &[u8]) -> bool {
    matches!(name, b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6")
}

fn start_tag(table: &mut Table, name: &[u8]) {
    match name {
        b"tr" => {
            table.end_cell();
            table.in_row = 0;
        }
        b"td" | b"th" => {
            table.end_cell();
            table.headed |= name == b"th";
            (table.cells, table.in_row) = (table.cells + 1, table.in_row + 1);
            table.columns = table.columns.max(table.in_row);
            table.cell = Some(Cell::default());
        }
        b"thead" | b"caption" => table.headed = true,
        _ => {
            let Some(cell) = &mut table.cell else { return };
            let is_heading = is_heading(name);
            cell.headings += usize::from(is_heading);
            cell.preformatted |= name == b"pre";
            let is_block = matches!(name, b"p" | b"ul" | b"ol" | b"dl" | b"pre" | b"blockquote" | b"hr");
            cell.blocks += usize::from(is_heading || is_block);
        }
    }
}
