//! Tables of `AsciiDoc`.
//!
//! A row may be one line or a line for each cell: the number of columns tells where the next begins.

use crate::document::{DocumentBuilder, Enclosure, EnclosureKind};
use crate::parse::lines::Lines;
use crate::span::Span;

/// Reports the rows of the table whose delimiter is line `at` and which ends before line `end`, and what a
/// part of it repeats, from line `from` on.
pub(super) fn table(
    lines: &Lines<'_>,
    out: &mut DocumentBuilder,
    attributes: &str,
    from: usize,
    at: usize,
    end: usize,
) {
    let delimiter = lines.text(at);
    let is_closed = end > at + 1 && lines.text(end - 1) == delimiter;
    let body = at + 1..if is_closed { end - 1 } else { end };
    let first = lines.skip_blank(body.start).min(body.end);
    let width = columns(attributes).unwrap_or_else(|| cells(lines.text(first), delimiter)).max(1);
    let mut rows = Vec::new();
    let mut count = 0;
    for line in body.clone().filter(|&line| !lines.is_blank(line)) {
        let found = cells(lines.text(line), delimiter);
        if found > 0 && count % width == 0 {
            rows.push(line);
        }
        count += found;
    }
    // A first row alone, with a blank line after it and none before, is a header.
    let implied = first == body.start && rows.get(1).is_some_and(|&row| lines.is_blank(row - 1));
    let one_line = rows.get(1).is_some_and(|&row| lines.trim_end(first, row) == first + 1);
    let has_header = attributes.contains("%header")
        || attributes.contains("options=\"header")
        || attributes.contains("options=header")
        || (implied && one_line && !attributes.contains("%noheader"));
    for &row in rows.iter().skip(1) {
        out.seam(lines.start(row), 0);
    }
    let head = match rows.get(1) {
        Some(&row) if has_header => row - 1,
        _ => at,
    };
    // With the blank line that makes the first row a header.
    let open = Span::new(lines.start(from), lines.end(head));
    let mut span = Span::new(lines.start(from), lines.end(end - 1));
    // An unclosed table extends past its last line.
    span.end += u32::from(!is_closed);
    out.enclosure(Enclosure { kind: EnclosureKind::Fence, span, open, close: delimiter.into() });
}

/// Number of cells that begin in `text`.
fn cells(text: &str, delimiter: &str) -> usize {
    match delimiter.as_bytes().first() {
        Some(b'|') => {
            let bars = text.matches('|').count() - text.matches("\\|").count();
            // `3+|` spans three columns.
            let spans = text
                .split('|')
                .filter_map(|before| before.rsplit(' ').next()?.strip_suffix('+')?.parse().ok());
            bars + spans.map(|span: usize| span.clamp(1, 64) - 1).sum::<usize>()
        }
        Some(&mark) if !text.is_empty() => text.bytes().filter(|&byte| byte == mark).count() + 1,
        _ => 0,
    }
}

/// Number of columns that block attributes name: `cols="1,2"`, `cols=3*`.
fn columns(attributes: &str) -> Option<usize> {
    let rest = attributes.split_once("cols=")?.1;
    let list = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split([',', ']']).next()?,
    };
    let count = |part: &str| {
        let times = part.trim().split_once('*').and_then(|(times, _)| times.parse::<usize>().ok());
        times.unwrap_or(1).min(1000)
    };
    Some(list.split([',', ';']).map(count).sum())
}
