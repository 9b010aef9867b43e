//! Lines: which stand above which, and paragraphs where there is no syntax to go by.

use std::ops::Range;

/// Whether only blanks stand before byte `at` on its line.
pub(crate) fn starts_line(source: &str, at: usize) -> bool {
    let before = source.as_bytes().get(..at).unwrap_or_default();
    let byte = before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t' | 0x0c));
    byte.is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
}

/// The start of the line of byte `at` if only blanks stand between; else `at`.
pub(crate) fn indented_start(source: &str, at: usize) -> usize {
    let before = source.get(..at).unwrap_or_default();
    let line = before.trim_end_matches([' ', '\t']);
    if line.is_empty() || line.ends_with(['\n', '\r']) { line.len() } else { at }
}

/// Number of line breaks between `from` and `to`, blanks before `from` included.
///
/// Some grammars count the line break as the end of a comment, some do not.
pub(crate) fn breaks(source: &str, from: usize, to: usize) -> usize {
    let Some(before) = source.get(..from) else { return 0 };
    let between = source.get(before.trim_end().len()..to).unwrap_or_default();
    let feeds = between.matches('\n').count();
    if feeds > 0 { feeds } else { between.matches('\r').count() }
}

/// The end of the `count`th line of `start..end`, or `end`; trailing blanks left out.
pub(crate) fn first_lines(source: &str, start: usize, end: usize, count: usize) -> usize {
    let text = source.get(start..end).unwrap_or_default();
    let cut = text.match_indices('\n').nth(count - 1).map_or(text.len(), |(at, _)| at);
    start + text[..cut].trim_end().len()
}

/// The runs of lines between blank lines in `start..end`.
pub(crate) fn paragraphs(source: &str, start: usize, end: usize) -> Vec<Range<usize>> {
    let text = source.get(start..end).unwrap_or_default();
    let mut paragraphs: Vec<Range<usize>> = Vec::new();
    let mut at = start;
    let mut open = false;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let visible = !line.trim().is_empty();
        match paragraphs.last_mut() {
            Some(last) if open && visible => last.end = end,
            _ if visible => paragraphs.push(at..end),
            _ => {}
        }
        open = visible;
        at = end;
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_line_is_two_breaks_whatever_ends_a_line() {
        for text in ["a\n\nb", "a\r\n\r\nb", "a\r\rb", "a  \n \n  b"] {
            assert_eq!(breaks(text, 1, text.len() - 1), 2, "{text:?}");
        }
        assert_eq!(breaks("/// a\nfn", 6, 6), 1, "the comment's own line break counts");
    }

    #[test]
    fn paragraphs_end_at_blank_lines() {
        assert_eq!(paragraphs("a\nb\n\n \nc", 0, 8), [0..4, 7..8]);
        assert_eq!(paragraphs("\r\n\r\na\r\nb\r\n\r\nc", 4, 13), [4..10, 12..13]);
    }
}
