//! Repairs what a custom strategy reports so that chunks hold every visible byte exactly once: whatever it does, text
//! is never lost or owned twice, and nothing panics.

use crate::chunk::{Cut, Draft, Plan};
use crate::document::Document;
use crate::span::{Span, is_blank, is_cluster_start};

impl Plan<'_> {
    /// Puts the drafts in order (see [`push`](Self::push)).
    pub(super) fn tile(&mut self, document: &Document) {
        let end = document.source().len() as u32;
        let mut reported = std::mem::take(&mut self.drafts);
        for draft in &mut reported {
            draft.span.start = place(document, draft.span.start);
            draft.span.end = place(document, draft.span.end);
        }
        reported.sort_by_key(|draft| draft.span.start);
        let mut tiles: Vec<Draft> = Vec::with_capacity(reported.len());
        let mut at = 0;
        for draft in reported {
            let own = Span { start: draft.span.start.max(at), end: draft.span.end };
            let Some(span) = visible(document, own) else { continue };
            between(document, Span { start: at, end: span.start }, &mut tiles);
            at = span.end;
            tiles.push(Draft { span, ..draft });
        }
        between(document, Span { start: at, end }, &mut tiles);
        for draft in &mut tiles {
            let block = document.block_at(draft.span.start);
            draft.whole =
                block.is_some_and(|block| block.span == draft.span && self.config.keeps(block.kind));
        }
        self.drafts = tiles;
    }
}

/// The last place up to `at` at which a chunk may begin.
pub(super) fn place(document: &Document, at: u32) -> u32 {
    let source = document.source();
    let mut at = (at as usize).min(source.len());
    while at > 0 && at < source.len() {
        if let Some(start) = document.markup_around(at as u32) {
            at = start as usize;
        } else if is_cluster_start(source, at) {
            break;
        } else {
            at -= 1;
        }
    }
    at as u32
}

/// `span` from its first visible character on, or from the indentation before that, up to its last.
pub(super) fn visible(document: &Document, span: Span) -> Option<Span> {
    if span.start >= span.end {
        return None;
    }
    let (source, range) = (document.source(), span.range());
    let text = &source[range.clone()];
    let first = range.start + text.find(|c| !is_blank(c))?;
    let line = source[..first].rfind('\n').map_or(0, |end| end + 1);
    let indentation = &source[line..first];
    let is_indented = line >= range.start && indentation.chars().all(|c| is_blank(c) && c != '\u{feff}');
    let start = if is_indented { line } else { first };
    Some(Span::new(start, range.start + text.trim_end_matches(is_blank).len()))
}

/// Adds what stands in no draft, which lies after all of `tiles`.
fn between(document: &Document, gap: Span, tiles: &mut Vec<Draft>) {
    let Some(span) = visible(document, gap) else { return };
    let has_words = span.of(document.source()).contains(char::is_alphanumeric);
    match tiles.last_mut().filter(|_| !has_words) {
        Some(last) => last.span.end = span.end,
        None => tiles.push(Draft { span, cut: Cut::Full, whole: false, apart: false }),
    }
}
