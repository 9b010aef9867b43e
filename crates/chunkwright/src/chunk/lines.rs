//! The strategy `lines`: a fixed number of lines per chunk, some of them repeated. A configuration may choose it for
//! source code whose structure is unknown.

use crate::chunk::{Cut, Plan, Strategy};
use crate::context::path_size;
use crate::document::{Document, SectionId};
use crate::span::{Span, is_blank};

/// Chunks of a fixed number of lines, the repeated ones counted; fewer where the limit asks for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lines;

impl Strategy for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn version(&self) -> (u16, u16) {
        (1, 3)
    }

    fn summary(&self) -> &'static str {
        "a fixed number of lines with an overlap; no structure"
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        let source = document.source();
        let path =
            path_size(document, &plan.config, SectionId::ROOT, (&|text| plan.measure(text), &plan.measured));
        let (most, limit, overlap_lines) =
            (plan.config.lines_or_default(), plan.room(path), plan.config.overlap_lines);
        let mut chunk = Growing::default();
        // Sizes of the lines so far: what the next chunk repeats counts in it.
        let mut sizes: Vec<usize> = Vec::with_capacity(document.lines().count());
        for line in document.lines().spans(source.len()) {
            let visible = visible(line.of(source), line.start as usize);
            let size = plan.measure(&document.read(line));
            if let Some(owned) = chunk.span.filter(|_| chunk.lines >= most || chunk.size + size > limit) {
                plan.push(owned, Cut::Full);
                let repeated = overlap_lines.min(chunk.lines);
                let size = sizes.iter().rev().take(repeated).sum();
                chunk = Growing { lines: repeated, size, ..Growing::default() };
                // An overlap that would leave half of the chunk or less to its own text gives way.
                if size > limit / 2 {
                    chunk = Growing::default();
                }
            }
            sizes.push(size);
            if let Some(visible) = visible {
                chunk.span = Some(chunk.span.map_or(visible, |owned| owned.to(visible)));
            }
            if chunk.span.is_some() {
                chunk.lines += 1;
                chunk.size += size;
            }
        }
        if let Some(owned) = chunk.span {
            plan.push(owned, Cut::Full);
        }
    }
}

/// A chunk to which lines are added.
#[derive(Default)]
struct Growing {
    /// From its first visible line to its last.
    span: Option<Span>,
    /// Its lines, those repeated counted.
    lines: usize,
    /// The sum of its lines' sizes, those repeated counted.
    size: usize,
}

/// The visible part of the line at `at`, its indentation included.
fn visible(line: &str, at: usize) -> Option<Span> {
    let end = line.trim_end_matches(is_blank).len();
    let start = line.len() - line.trim_start_matches(['\u{feff}', '\r']).len();
    (start < end).then(|| Span::new(at + start, at + end))
}
