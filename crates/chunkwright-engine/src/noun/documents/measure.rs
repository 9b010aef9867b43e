//! Measures the chunks of one document, and verifies what is promised of them.
//!
//! The chunker is not trusted: sizes and lines are counted again from the texts and the source.

use std::collections::BTreeMap;

use chunkwright::span::is_blank;
use chunkwright::{Chars, ChunkId, Chunked, LineIndex, Record, Span, TokenCounter, Unit};

use crate::request::documents::{Promise, Violation};

/// Measurements of one document.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) empty: bool,
    pub(super) bytes: usize,
    pub(super) tokens: Vec<usize>,
    pub(super) sizes: Vec<usize>,
    pub(super) oversize: usize,
    pub(super) ids: Vec<(ChunkId, usize)>,
    pub(super) content_types: BTreeMap<String, usize>,
    pub(super) cuts: BTreeMap<String, usize>,
    pub(super) lines: usize,
    pub(super) lines_in_chunks: usize,
    pub(super) violations: Vec<Violation>,
}

impl Measured {
    pub(super) fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.tokens.extend(other.tokens);
        self.sizes.extend(other.sizes);
        self.oversize += other.oversize;
        for (sum, counts) in [(&mut self.content_types, other.content_types), (&mut self.cuts, other.cuts)] {
            for (name, number) in counts {
                *sum.entry(name).or_default() += number;
            }
        }
        self.lines += other.lines;
        self.lines_in_chunks += other.lines_in_chunks;
        self.violations.extend(other.violations);
    }
}

/// Measures and verifies the chunks of one document; `records` are their records. Passes each record to `keep`
/// afterwards.
pub(super) fn measure(
    chunks: &Chunked<'_>,
    records: impl Iterator<Item = Record>,
    mut keep: impl FnMut(Record),
) -> Measured {
    let (chunker, document) = (chunks.chunker(), chunks.document());
    let source = document.source();
    let mut measured = Measured {
        empty: document.blocks().is_empty(),
        bytes: source.len(),
        ids: chunks.iter().map(|chunk| (chunk.id, document.lines().line(chunk.span.start))).collect(),
        ..Measured::default()
    };
    let config = chunker.config();
    for (chunk, record) in chunks.iter().zip(records) {
        let size = match config.unit {
            Unit::Tokens => chunker.counter().count(&record.text),
            Unit::Chars => Chars.count(&record.text),
        };
        let mut violation = |rule, found| {
            measured.violations.push(Violation {
                rule,
                doc_id: document.id().to_owned(),
                chunk_id: Some(record.chunk_id),
                line: record.start_line as usize,
                found,
            });
        };
        if source.get(record.start_byte as usize..record.end_byte as usize) != Some(&*record.content) {
            violation(Promise::ContentIsSource, "its content is not its bytes of the source".into());
        }
        if size > config.max_size && !chunk.oversize {
            violation(
                Promise::WithinLimit,
                format!("its text has a size of {size}, over {}", config.max_size),
            );
        }
        measured.tokens.push(record.token_count as usize);
        measured.sizes.push(size);
        measured.oversize += usize::from(chunk.oversize);
        *measured.content_types.entry(record.content_type.clone()).or_default() += 1;
        *measured.cuts.entry(record.cut.to_string()).or_default() += 1;
        keep(record);
    }
    let spans = chunks.iter().map(|chunk| chunk.span);
    [measured.lines, measured.lines_in_chunks] = cover(source, document.lines(), spans, |line| {
        measured.violations.push(lost(document.id(), line));
    });
    measured
}

/// Counts the non-blank lines of a source, and those that lie completely in chunks, whose spans are in order; calls
/// `lost` for each of the others.
pub(crate) fn cover(
    source: &str,
    lines: &LineIndex,
    spans: impl Iterator<Item = Span>,
    mut lost: impl FnMut(usize),
) -> [usize; 2] {
    let (mut all, mut held) = (0, 0);
    let mut spans = spans.peekable();
    let visible = |from: u32, to: u32| !source[from as usize..to as usize].trim_matches(is_blank).is_empty();
    for (index, Span { start, end }) in lines.spans(source.len()).enumerate() {
        if !visible(start, end) {
            continue;
        }
        all += 1;
        // The parts of the line before, between and after its chunks.
        let (mut at, mut is_lost) = (start, false);
        while let Some(span) = spans.peek() {
            if span.start >= end {
                break;
            }
            is_lost |= at < span.start && visible(at, span.start);
            at = at.max(span.end.min(end));
            if span.end > end {
                break;
            }
            spans.next();
        }
        is_lost |= at < end && visible(at, end);
        if is_lost {
            lost(index + 1);
        } else {
            held += 1;
        }
    }
    [all, held]
}

/// The violation that a line has visible characters outside all chunks.
pub(crate) fn lost(doc_id: &str, line: usize) -> Violation {
    Violation {
        rule: Promise::NothingLost,
        doc_id: doc_id.to_owned(),
        chunk_id: None,
        line,
        found: "the line has visible characters that are in no chunk".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chunkwright::parse::Markdown;
    use chunkwright::{ChunkConfig, Chunker, Document, Words};

    use super::*;

    #[test]
    fn lines_that_no_chunk_holds_are_told() {
        let chunker =
            Chunker::new(ChunkConfig { min_size: 0, ..ChunkConfig::default() }, Arc::new(Words)).unwrap();
        let document = Document::parse("a.md", "# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree\n", &Markdown);
        let mut chunks = chunker.chunk(&document).into_chunks();
        assert_eq!(chunks.len(), 3);
        chunks.remove(1);
        // Only a part of the last line is left.
        chunks[1].span.end -= 2;
        let mut lost = Vec::new();
        let spans = chunks.iter().map(|chunk| chunk.span);
        let counts = cover(document.source(), document.lines(), spans, |line| lost.push(line));
        assert_eq!((lost, counts), (vec![5, 7, 11], [6, 3]));
    }
}
