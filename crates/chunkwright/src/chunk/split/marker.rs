//! Markers at the beginning of a line, which are never parted from their text.

use crate::document::Document;
use crate::span::{Span, is_blank};

/// Start of the marker that a cut at byte `at` of `span` would part from its text (see [`marker_at`]). In code only a
/// marker on the same line counts: a comment may have lines of nothing but `*`.
pub(crate) fn marker_before(document: &Document, span: Span, at: u32) -> Option<u32> {
    let (text, length) = (span.of(document.source()), (at - span.start) as usize);
    let line = marker_at(text, length)?;
    let is_prose = document.language().is_none() && document.enclosure_at(at).is_none();
    (is_prose || !text[line..length].contains('\n')).then_some(span.start + line as u32)
}

/// Longest marker of a line, in bytes, that keeps its text: nested lists and quotes have several in a row.
const MAX_MARKER: usize = 32;

/// Start of the line that ends before byte `at` of `text`, or of the last non-blank line before it, if it holds nothing
/// but markers: bullets, numbers, quote marks, `#`, bars, boxes.
pub(super) fn marker_at(text: &str, at: usize) -> Option<usize> {
    let (text, rest) = text.split_at(at);
    let visible = text.trim_end_matches(is_blank);
    // A line that begins further up is longer than any marker.
    let near = visible.floor_char_boundary(visible.len().saturating_sub(4 * MAX_MARKER));
    let at = match visible[near..].rfind('\n') {
        Some(at) => near + at + 1,
        None if near == 0 => 0,
        None => return None,
    };
    let line = visible[at..].trim_start();
    // Without a blank behind it, it is a word: `#tag`, `1.5`, `-x`.
    let goes_on = |c: char| is_blank(c) || c == '#';
    let stands_apart = visible.len() < text.len() || line.ends_with(['>', '|']) || rest.starts_with(goes_on);
    if line.is_empty() || line.len() > MAX_MARKER || !stands_apart {
        return None;
    }
    let is_on_line = !text[visible.len()..].contains('\n');
    if !is_on_line && !rest.trim_start().starts_with(char::is_alphanumeric) {
        return None;
    }
    let is_marker = |word: &str| {
        let number = word.trim_end_matches(['.', ')']);
        let is_number =
            number.len() < word.len() && number.len() < 10 && number.bytes().all(|b| b.is_ascii_digit());
        let is_of = |marks: &[u8]| word.len() <= 6 && word.bytes().all(|byte| marks.contains(&byte));
        is_number && !number.is_empty()
            || matches!(word, "-" | "*" | "•")
            // The text of these stands on their line.
            || is_on_line && [&b"#"[..], b"=", b">", b"[xX]", b"/", b"|", b"+"].iter().any(|marks| is_of(marks))
    };
    line.split_whitespace().all(is_marker).then_some(at)
}
