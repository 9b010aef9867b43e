//! Cuts a list of questions by a strategy of its own: one chunk for each question with its answer.
//!
//! `cargo run -p chunkwright --example own_strategy`
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::sync::Arc;

use chunkwright::{Chars, ChunkConfig, Chunker, Cut, Document, Plan, Span, Strategy, Unit, parse::Markdown};

/// A chunk begins at every paragraph that begins with `Q:`.
struct Questions;

impl Strategy for Questions {
    fn name(&self) -> &'static str {
        "questions"
    }

    /// To be raised with every change that moves a boundary: stored chunks are then made again.
    fn version(&self) -> (u16, u16) {
        (1, 0)
    }

    fn summary(&self) -> &'static str {
        "one chunk for each question with its answer"
    }

    fn cut(&self, document: &Document, plan: &mut Plan<'_>) {
        let blocks = document.blocks();
        let begins = |block: &&chunkwright::Block| block.span.of(document.source()).starts_with("Q:");
        let starts = blocks.iter().filter(begins).map(|block| block.span.start);
        let end = document.source().len() as u32;
        let starts: Vec<u32> = starts.chain([end]).collect();
        for pair in starts.windows(2) {
            plan.push(Span { start: pair[0], end: pair[1] }, Cut::Full);
        }
    }
}

const SOURCE: &str = "\
# Library\n\nAnswers of the desk.\n\nQ: When is it open?\n\nA: From nine to six, on Saturdays to two.\n\n\
Q: How long may I keep a book?\n\nA: For four weeks. It can be renewed twice, by telephone or at the desk.\n";

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = ChunkConfig { unit: Unit::Chars, max_size: 120, target_size: 120, ..ChunkConfig::default() };
    let chunker = Chunker::with_strategy(config, Arc::new(Chars), Arc::new(Questions))?;
    let document = Document::parse("faq.md", SOURCE, &Markdown);
    let chunks = chunker.chunk(&document);
    let mut owned = String::new();
    for chunk in &chunks {
        let text = chunk.render();
        println!("{} {:>3} {:?}", chunk.id, chunk.size, text.text());
        assert!(text.text().chars().count() <= 120, "no text is over the limit, whatever a strategy reports");
        owned.push_str(chunk.content());
    }
    // Two answers, and what stands before them, which was not reported.
    assert_eq!(chunks.len(), 3);
    let visible = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(visible(&owned), visible(SOURCE), "every visible byte is in one chunk");
    Ok(())
}
