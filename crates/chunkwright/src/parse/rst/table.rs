//! Tables of reStructuredText: grid, simple, and by directive.
//!
//! A row may take several lines, so rows are reported as seams. A later part repeats everything down to
//! the border under the header, or the upper border where there is no header, and a simple table is
//! closed by its border: each part is a table.

use crate::document::{BlockKind, DocumentBuilder, Enclosure, EnclosureKind};
use crate::parse::grid::{self, enclose};
use crate::parse::lines::Lines;
use crate::span::Span;

/// Reports the table that begins at line `at`, if one does; gives the line after it.
pub(super) fn table(lines: &Lines<'_>, out: &mut DocumentBuilder, at: usize) -> Option<usize> {
    let end = rows(lines, out, at, lines.len())?;
    lines.block(out, BlockKind::Table, at, end);
    Some(end)
}

/// Reports rows and enclosure of the table drawn at line `at`, and gives the line after it.
fn rows(lines: &Lines<'_>, out: &mut DocumentBuilder, at: usize, to: usize) -> Option<usize> {
    if grid::is_border(lines.trimmed(at)) {
        Some(grid::report(lines, out, at, to))
    } else if is_simple_border(lines.trimmed(at)) {
        simple(lines, out, at, to)
    } else {
        None
    }
}

fn is_simple_border(text: &str) -> bool {
    text.starts_with("==") && text.contains("= ") && text.bytes().all(|byte| byte == b'=' || byte == b' ')
}

fn simple(lines: &Lines<'_>, out: &mut DocumentBuilder, at: usize, to: usize) -> Option<usize> {
    // The last border has a blank line after it; a border before that ends the header.
    let is_border = |line: &usize| is_simple_border(lines.trimmed(*line));
    let mut borders = Vec::new();
    for line in (at + 1..to).filter(is_border) {
        borders.push(line);
        if lines.is_blank(line + 1) || line + 1 >= to {
            break;
        }
    }
    let bottom = *borders.last()?;
    let head = if borders.len() > 1 { borders[0] } else { at };
    // An indented line continues the row above.
    let indent = lines.indent(at);
    for line in head + 2..bottom {
        if !lines.is_blank(line) && lines.indent(line) <= indent {
            out.seam(lines.start(line), 0);
        }
    }
    enclose(lines, out, at..head + 1, bottom + 1, lines.text(bottom));
    Some(bottom + 1)
}

/// Reports rows and enclosure of the table that the directive `name` makes of the lines `at..end`.
pub(super) fn directive(lines: &Lines<'_>, out: &mut DocumentBuilder, name: &str, at: usize, end: usize) {
    let blank = (at + 1..end).find(|&line| lines.is_blank(line));
    let body = blank.map_or(end, |line| lines.skip_blank(line)).min(end);
    if body == end {
        return;
    }
    if name == "table" {
        rows(lines, out, body, end);
        return;
    }
    let options = at + 1..body;
    let option = |name: &str| options.clone().find_map(|line| lines.trimmed(line).strip_prefix(name));
    let count = option(":header-rows:").and_then(|count| count.trim().parse().ok()).unwrap_or(0);
    let indent = lines.indent(body);
    let by_list = name != "csv-table";
    let is_row = |line: &usize| {
        !lines.is_blank(*line)
            && lines.indent(*line) <= indent
            && (!by_list || lines.trimmed(*line).starts_with('*'))
    };
    let rows: Vec<usize> = (body..end).filter(is_row).collect();
    for &row in rows.iter().skip(count.max(1)) {
        out.seam(lines.start(row), 0);
    }
    // The text that later parts repeat ends with the header rows, or with the blank line above the first row.
    let head_end = rows.get(count).copied().unwrap_or(end);
    let open = if head_end == body { lines.start(body - 1) } else { lines.end(head_end - 1) };
    let open = Span::new(lines.start(at), open);
    let span = Span::new(lines.start(at), lines.end(end - 1));
    out.enclosure(Enclosure { kind: EnclosureKind::Table, span, open, close: "".into() });
}
