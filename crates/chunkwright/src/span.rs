//! Byte spans and line numbers.

use std::ops::Range;

use memchr::memchr2_iter;
use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

/// A half-open range of bytes in a document's source.
///
/// Offsets are `u32`: a source longer than 4 GiB is refused by [`Document::parse`](crate::Document::parse).
/// Both ends always fall on `char` boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`, in bytes.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end, "span {start}..{end} is reversed");
        Self { start: start as u32, end: end as u32 }
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the span holds no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The span as a range for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The text of this span in `source`.
    pub fn of(self, source: &str) -> &str {
        &source[self.range()]
    }

    /// From the start of this span to the end of `last`.
    pub(crate) fn to(self, last: Self) -> Self {
        Self { start: self.start, end: last.end }
    }

    /// Whether `at` is inside, the end excluded.
    pub fn contains(self, at: u32) -> bool {
        self.start <= at && at < self.end
    }

    /// Whether `at` is inside, both ends excluded: cutting there would divide the span.
    pub fn divided_by(self, at: u32) -> bool {
        self.start < at && at < self.end
    }
}

/// Line numbers of a source, 1-based. A line ends at LF, CRLF or CR and nothing else, so that the
/// numbers agree with editors and with `sed` on every file without lone CRs.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    /// Byte offset at which each line starts; never empty.
    starts: Vec<u32>,
}

impl LineIndex {
    /// Indexes `source` in one pass.
    pub fn new(source: &str) -> Self {
        let bytes = source.as_bytes();
        // Lines of real documents have about 40 bytes.
        let mut starts = Vec::with_capacity(1 + bytes.len() / 32);
        starts.push(0);
        // The CR of a CRLF ends nothing.
        let ends = memchr2_iter(b'\n', b'\r', bytes)
            .filter(|&at| bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
        starts.extend(ends.map(|at| at as u32 + 1));
        Self { starts }
    }

    /// The 1-based line that holds byte `at`.
    pub fn line(&self, at: u32) -> usize {
        self.starts.partition_point(|&start| start <= at)
    }

    /// The byte at which 1-based `line` starts; the last line's start for a line past the end.
    pub fn start(&self, line: usize) -> u32 {
        self.starts[(line.max(1) - 1).min(self.starts.len() - 1)]
    }

    /// The lines of a source of `len` bytes, in order, line breaks included.
    pub fn spans(&self, len: usize) -> impl Iterator<Item = Span> + Clone + '_ {
        let ends = self.starts.iter().skip(1).copied().chain([len as u32]);
        self.starts.iter().zip(ends).map(|(&start, end)| Span { start, end })
    }

    /// Number of lines, counting an empty one after a final line break.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// First and last line of a non-empty span, 1-based, inclusive.
    pub fn lines(&self, span: Span) -> (usize, usize) {
        (self.line(span.start), self.line(span.end.max(span.start + 1) - 1))
    }
}

/// Whether `c` is blank: whitespace, or a byte order mark. Blank text need not belong to any chunk.
pub fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Whether no grapheme cluster holds both the character at byte `at` and the one before it, judged by
/// those two alone.
pub(crate) fn is_cluster_start(source: &str, at: usize) -> bool {
    let Some((before, after)) = source.split_at_checked(at) else { return false };
    let (Some(last), Some(next)) = (before.chars().next_back(), after.chars().next()) else { return true };
    if last.is_ascii() && next.is_ascii() {
        return (last, next) != ('\r', '\n');
    }
    let pair = &source[at - last.len_utf8()..at + next.len_utf8()];
    pair.graphemes(true).count() == 2
}
