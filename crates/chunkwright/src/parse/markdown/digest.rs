//! The digest of a Markdown document: the part of it that is given to the parser.
//!
//! Parsing is linear, so what is left out costs nothing: the digest holds only what is not [plain](super::plain), and
//! only the marks of lists and quotes of words. Several parser runs over parts of a document would lose the definitions
//! that its titles refer to; one digest has them all.

use std::ops::Range;

use super::plain::{self, Detail};
use crate::span::Span;

/// The part of a source that the parser has to see: stretches that are not plain (see [`plain`]), each of whole blocks
/// at the top level.
#[derive(Default)]
pub(super) struct Digest {
    pub(super) text: String,
    /// The parts of the text, in order.
    parts: Vec<Part>,
}

/// Bytes of a digest that stand for bytes of its source. There may be one for each line, so it is small.
struct Part {
    /// Its start and length in the digest.
    at: u32,
    len: u32,
    /// The source that it represents.
    source: Span,
    /// Number of bytes taken from the source. The bytes after them represent the rest of a line.
    kept: u32,
    /// Number of the stretch.
    stretch: u32,
}

/// The source position of something in a digest.
pub(super) enum Place {
    Source(Range<usize>),
    /// It stands for what was left out.
    Between,
    /// It continues past the end of its stretch, which begins at this byte of the source.
    Open(usize),
}

/// A thematic break that stands for what was left out, so that nothing reaches across it, a line of words before it either.
const BETWEEN: &str = "***\n\n";

impl Digest {
    /// Adds a stretch.
    pub(super) fn push(&mut self, source: &str, range: Range<usize>, detail: Detail) {
        let stretch = self.parts.last().map_or(0, |last| last.stretch + 1);
        if stretch > 0 {
            self.text.push_str(BETWEEN);
        }
        if detail == Detail::Full {
            self.push_part(source, range.clone(), range.len(), "", stretch);
            return;
        }
        let mut start = range.start;
        for line in source[range].split_inclusive('\n') {
            let end = start + line.len();
            match plain::beginning(line.as_bytes()) {
                Some(len) => self.push_part(source, start..end, len, "x\n", stretch),
                None => self.push_part(source, start..end, line.len(), "", stretch),
            }
            start = end;
        }
    }

    /// Adds the first `len` bytes of `range`, and `rest` for the rest of it.
    fn push_part(&mut self, source: &str, range: Range<usize>, len: usize, rest: &str, stretch: u32) {
        let at = self.text.len();
        self.text.push_str(&source[range.start..range.start + len]);
        self.text.push_str(rest);
        let added = (self.text.len() - at) as u32;
        if let Some(last) = self.parts.last_mut()
            && last.stretch == stretch
            && last.kept == last.len
            && rest.is_empty()
        {
            last.source.end = range.end as u32;
            last.len += added;
            last.kept += added;
            return;
        }
        let source = Span::new(range.start, range.end);
        self.parts.push(Part { at: at as u32, len: added, source, kept: len as u32, stretch });
    }

    /// Ends the digest of a source of `len` bytes.
    pub(super) fn finish(&mut self, len: usize) {
        if self.parts.last().is_some_and(|last| (last.source.end as usize) < len) {
            self.text.push_str(BETWEEN);
        }
    }

    /// The place of `range`. `at` is the part in which the range before it begins, and then that of this.
    pub(super) fn place(&self, at: &mut usize, range: &Range<usize>) -> Place {
        let (begin, end) = (range.start as u32, range.end as u32);
        while self.parts.get(*at + 1).is_some_and(|next| next.at <= begin) {
            *at += 1;
        }
        let rest = &self.parts[(*at).min(self.parts.len())..];
        let Some(first) = rest.first().filter(|part| begin < part.at + part.len) else {
            return Place::Between;
        };
        let start = first.source.start + (begin - first.at);
        let after = rest.partition_point(|part| part.at < end);
        let last = &rest[after.max(1) - 1];
        if last.stretch != first.stretch || end > last.at + last.len {
            let before = &self.parts[..*at];
            let begin =
                before.iter().rposition(|part| part.stretch != first.stretch).map_or(0, |last| last + 1);
            return Place::Open(self.parts[begin].source.start as usize);
        }
        let end = end - last.at;
        let end = if end <= last.kept { last.source.start + end } else { last.source.end };
        Place::Source(start as usize..end as usize)
    }
}
