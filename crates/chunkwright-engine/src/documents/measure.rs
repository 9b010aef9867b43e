//! How large are the chunks of one document, and is what is promised of them kept?
//!
//! Nothing is taken from the chunker on trust: sizes and lines are counted again from the texts and the source.

use std::collections::BTreeMap;

use chunkwright::span::is_blank;
use chunkwright::{Chars, Chunk, ChunkId, Chunked, Document, Record, TokenCounter, Unit};
use serde::{Deserialize, Serialize};

/// What is measured of one document.
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

/// Measures and verifies the chunks of one document, of which `records` are the records.
pub(super) fn measure(chunks: &Chunked<'_>, records: &[Record]) -> Measured {
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
    }
    cover(document, chunks, &mut measured);
    measured
}

/// Counts the lines with visible characters, and those of which all are in chunks.
fn cover(document: &Document, chunks: &[Chunk], measured: &mut Measured) {
    let source = document.source();
    let mut chunks = chunks.iter().peekable();
    for line in 1..=document.lines().count() {
        let start = document.lines().start(line);
        let end = if line < document.lines().count() {
            document.lines().start(line + 1)
        } else {
            source.len() as u32
        };
        let visible =
            |from: u32, to: u32| !source[from as usize..to as usize].trim_matches(is_blank).is_empty();
        if !visible(start, end) {
            continue;
        }
        measured.lines += 1;
        // What of the line lies before, between and after its chunks.
        let (mut at, mut lost) = (start, false);
        while let Some(chunk) = chunks.peek() {
            if chunk.span.start >= end {
                break;
            }
            lost |= at < chunk.span.start && visible(at, chunk.span.start);
            at = at.max(chunk.span.end.min(end));
            if chunk.span.end > end {
                break;
            }
            chunks.next();
        }
        lost |= at < end && visible(at, end);
        if lost {
            measured.violations.push(Violation {
                rule: Promise::NothingLost,
                doc_id: document.id().to_owned(),
                chunk_id: None,
                line,
                found: "the line has visible characters that are in no chunk".into(),
            });
        } else {
            measured.lines_in_chunks += 1;
        }
    }
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Violation {
    /// Which promise.
    pub rule: Promise,
    /// The document.
    pub doc_id: String,
    /// The chunk, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_id: Option<ChunkId>,
    /// First line it is about, 1-based.
    pub line: usize,
    /// What was found.
    pub found: String,
}

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    /// A chunk's content is exactly its bytes of the source.
    ContentIsSource,
    /// A text is within the limit, or says that it is not.
    WithinLimit,
    /// No two chunks have one id.
    UniqueIds,
    /// Every visible character is in a chunk.
    NothingLost,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chunkwright::parse::Markdown;
    use chunkwright::{ChunkConfig, Chunker, Words};

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
        let mut measured = Measured::default();
        cover(&document, &chunks, &mut measured);
        let lost: Vec<usize> = measured.violations.iter().map(|violation| violation.line).collect();
        assert_eq!((lost, measured.lines, measured.lines_in_chunks), (vec![5, 7, 11], 6, 3));
        assert!(measured.violations.iter().all(|violation| violation.rule == Promise::NothingLost));
    }
}
