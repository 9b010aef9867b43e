//! Plain text.

use super::Parser;
use crate::document::{BlockKind, DocumentBuilder};

/// Plain text: paragraphs between blank lines. The fallback for formats that no other parser knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text;

impl Parser for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt", "text"]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        let source = out.source();
        let mut paragraphs = Vec::new();
        let mut start = None;
        for line in out.lines().spans(source.len()) {
            if !line.of(&source).trim().is_empty() {
                start.get_or_insert(line.start as usize);
            } else if let Some(start) = start.take() {
                paragraphs.push((start, line.start as usize));
            }
        }
        paragraphs.extend(start.map(|start| (start, source.len())));
        for (start, end) in paragraphs {
            out.block(BlockKind::Paragraph, start, end);
        }
    }
}
