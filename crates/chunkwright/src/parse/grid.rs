//! Grid tables of reStructuredText and of Pandoc's Markdown.

use super::lines::Lines;
use crate::document::{DocumentBuilder, Enclosure, EnclosureKind};
use crate::span::Span;

/// Whether a line is a border of a grid: `+---+---+`.
pub(super) fn is_border(text: &str) -> bool {
    text.len() >= 3
        && text.starts_with('+')
        && text.ends_with('+')
        && text.contains(['-', '='])
        && text.bytes().all(|byte| b"+-=:".contains(&byte))
}

/// Reports rows and enclosure of the grid at line `at`, and gives the line after it.
pub(super) fn report(lines: &Lines<'_>, out: &mut DocumentBuilder, at: usize, to: usize) -> usize {
    let end = (at + 1..to).find(|&line| !lines.trimmed(line).starts_with(['|', '+'])).unwrap_or(to);
    let borders: Vec<usize> = (at + 1..end).filter(|&line| is_border(lines.trimmed(line))).collect();
    // The header may have several rows.
    let is_below_header = |line: &usize| lines.trimmed(*line).contains('=') && *line + 1 < end;
    let head = borders.iter().copied().find(is_below_header).unwrap_or(at);
    for line in borders.into_iter().filter(|&line| line >= head && line + 1 < end) {
        out.seam(lines.start(line + 1), 0);
    }
    enclose(lines, out, at..head + 1, end, "");
    end
}

/// Lets the parts of the table down to line `end` repeat the lines `head`, and end with `close`.
pub(super) fn enclose(
    lines: &Lines<'_>,
    out: &mut DocumentBuilder,
    head: std::ops::Range<usize>,
    end: usize,
    close: &str,
) {
    if head.end < end {
        let open = Span::new(lines.start(head.start), lines.end(head.end - 1));
        let span = Span::new(lines.start(head.start), lines.end(end - 1));
        out.enclosure(Enclosure { kind: EnclosureKind::Table, span, open, close: close.into() });
    }
}
