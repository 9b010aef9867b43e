//! Text hidden from the index while generated questions are asked, since it would give the answer away.

use std::collections::HashMap;

use chunkwright::{Borrow, ChunkIn, Record, Span};

/// Stretches that are not indexed. Cutting happens before, on the documents as they are, so that cuts and sizes are the
/// real ones.
#[derive(Clone, Debug, Default)]
pub struct Hidden {
    /// The stretches of each document, in order.
    pub(super) stretches: HashMap<usize, Vec<Span>>,
    /// Whether the titles in borrowed paths are hidden, of all sections alike.
    pub(super) paths: bool,
}

impl Hidden {
    pub(super) fn add(&mut self, document: usize, stretch: Span) {
        let stretches = self.stretches.entry(document).or_default();
        let at = stretches.partition_point(|other| other.start <= stretch.start);
        stretches.insert(at, stretch);
    }

    /// Removes hidden text from the indexed text of a chunk.
    pub(crate) fn hide(&self, at: usize, chunk: ChunkIn<'_>, record: &mut Record) {
        let stretches = self.stretches.get(&at).map_or(&[][..], Vec::as_slice);
        let of_chunk = |it: &&Span| it.start < chunk.span.end && it.end > chunk.span.start;
        let hidden = stretches.iter().filter(of_chunk);
        if !self.paths && stretches.is_empty() {
            return;
        }
        let document = chunk.chunks().document();
        let is_shown = |borrow: &Borrow| match borrow {
            Borrow::Path(_) | Borrow::Heading(_) => !self.paths,
            Borrow::Overlap(span) => !stretches.iter().any(|it| it.start < span.end && it.end > span.start),
            _ => true,
        };
        let rendered = chunk.render_with(is_shown);
        let close = &rendered.text()[rendered.context().len() + rendered.content().len()..];
        let mut text = rendered.context().to_owned();
        let mut done = chunk.span.start;
        for stretch in hidden {
            text.push_str(&document.read(Span { start: done, end: stretch.start.max(done) }));
            done = stretch.end.min(chunk.span.end).max(done);
        }
        text.push_str(&document.read(Span { start: done, end: chunk.span.end }));
        text.push_str(close);
        if text.trim().is_empty() {
            // Indexed text cannot be empty; no query finds a text without words.
            text = "-".into();
        }
        record.text = text;
    }
}
