//! The header of a table: several rows of it become one, since Markdown has one, and every part of a table repeats it.

use undoc::{Block, Cell, Row, Table};

/// Most rows of a header, and of titles above it.
const MAX_ROWS: usize = 6;

/// The blocks of a table: titles that stand above its header, and the table with one header row. `frozen` is the number
/// of its first rows that are known to stay on the screen.
pub(super) fn blocks(mut table: Table, frozen: usize) -> Vec<Block> {
    let mut blocks = titles(&mut table);
    let frozen = frozen.saturating_sub(blocks.len());
    join_header(&mut table, frozen);
    blocks.push(Block::Table(table));
    blocks
}

/// Takes the rows above the header that have one text only.
fn titles(table: &mut Table) -> Vec<Block> {
    let filled = |row: &Row| row.cells.iter().filter(|cell| !cell.is_empty()).count();
    let count = table.rows.iter().take_while(|row| filled(row) < 2).count();
    // A list of one column, or one that has little else.
    if count == 0 || count > MAX_ROWS || count >= table.rows.len() || filled(&table.rows[0]) == 0 {
        return Vec::new();
    }
    let titles = table.rows.drain(..count).flat_map(|row| row.cells).flat_map(|cell| cell.content);
    titles.filter(|paragraph| !paragraph.is_empty()).map(Block::Paragraph).collect()
}

/// Makes one row of the rows of the header.
fn join_header(table: &mut Table, frozen: usize) {
    let count = header_rows(table, frozen);
    if count < 2 {
        return;
    }
    let width = table.column_count();
    let columns = table.cell_columns();
    let mut names: Vec<Vec<String>> = vec![Vec::new(); width];
    for (row, columns) in table.rows.iter().zip(&columns).take(count) {
        for (cell, &first) in row.cells.iter().zip(columns) {
            let text = cell.plain_text().split_whitespace().collect::<Vec<_>>().join(" ");
            let last = (first + cell.col_span.max(1) as usize).min(width);
            for names in names[first.min(last)..last]
                .iter_mut()
                .filter(|names| !text.is_empty() && names.last() != Some(&text))
            {
                names.push(text.clone());
            }
        }
    }
    let cells = names.iter().map(|names| Cell::header(names.join(" "))).collect();
    table.rows.splice(..count, [Row::header(cells)]);
}

/// Number of the rows that are the header: those marked as such or frozen, and those that a cell spans or divides.
fn header_rows(table: &Table, frozen: usize) -> usize {
    let limit = table.rows.len().saturating_sub(1).min(MAX_ROWS);
    let marked = table.rows.iter().take_while(|row| row.is_header).count();
    let mut count = marked.max(frozen).max(1);
    if count > limit {
        return 1;
    }
    let mut row = 0;
    while row < count.min(limit) {
        let spans = table.rows[row].cells.iter().filter(|cell| !cell.is_empty());
        for cell in spans {
            // What is divided below: a group of columns; one over the whole width would be a title.
            let groups = cell.col_span > 1 && table.rows[row].cells.len() > 1;
            count = count.max(row + cell.row_span.max(1) as usize).max(row + 1 + usize::from(groups));
        }
        row += 1;
    }
    if count > limit { 1 } else { count }
}
