//! Cuts every example of specification files by every strategy and preset, and asserts every invariant.
//!
//! ```text
//! cargo run --release -p chunkwright --example conformance -- spec.txt gfm.txt
//! ```
//!
//! Takes files in the format of the `CommonMark` and GFM specifications: an example stands between a line of backticks
//! with the word `example` and a line `.`; `→` is a tab. The specifications are not part of this repository, because
//! their licence differs.

use std::sync::Arc;

use chunkwright::preset::PRESETS;
use chunkwright::{Chars, ChunkConfig, Chunker, Document, PARSERS, STRATEGIES, TokenCounter, Unit};

#[allow(dead_code, reason = "tests use the rest of it")]
#[path = "../tests/it/invariants.rs"]
mod invariants;

#[expect(clippy::print_stdout, reason = "a program of its own, run by hand")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chunkers = chunkers();
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file)?;
        let examples = examples(&text);
        // All examples together are one more: what one leaves open reaches into the next.
        let whole = examples.join("\n\n");
        let mut chunks = 0;
        for source in examples.iter().chain([&whole]) {
            for parser in PARSERS {
                let document = Document::parse("spec.md", source.as_str(), *parser);
                for chunker in &chunkers {
                    chunks += invariants::chunk(chunker, &document).len();
                }
            }
        }
        println!(
            "{file}: {} examples by {} formats and {} configurations: {chunks} chunks, every invariant holds",
            examples.len(),
            PARSERS.len(),
            chunkers.len()
        );
    }
    Ok(())
}

/// The inputs of a specification's examples.
fn examples(text: &str) -> Vec<String> {
    let mut examples = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        let fence = line.len() - line.trim_start_matches('`').len();
        let begins = fence >= 8 && line[fence..].trim_start().starts_with("example");
        match &mut open {
            None if begins => open = Some(String::new()),
            None => {}
            Some(example) if line == "." => {
                examples.push(std::mem::take(example));
                open = None;
            }
            Some(example) => {
                example.push_str(&line.replace('→', "\t"));
                example.push('\n');
            }
        }
    }
    examples
}

/// Every preset as it is, and every strategy at sizes that divide even an example.
fn chunkers() -> Vec<Chunker> {
    let mut configs: Vec<ChunkConfig> = PRESETS.iter().map(|preset| (preset.config)()).collect();
    for strategy in STRATEGIES {
        for (max_size, overlap_size, unit) in [(16, 0, Unit::Chars), (40, 10, Unit::Tokens)] {
            configs.push(ChunkConfig {
                strategy: strategy.name().into(),
                unit,
                max_size,
                target_size: max_size * 3 / 4,
                min_size: max_size / 4,
                overlap_size,
                ..ChunkConfig::default()
            });
        }
    }
    let chunker = |config: ChunkConfig| {
        let counter: Arc<dyn TokenCounter> =
            if config.unit == Unit::Chars { Arc::new(Chars) } else { Arc::new(invariants::Quads) };
        Chunker::new(config, counter).expect("sizes are in range")
    };
    configs.into_iter().map(chunker).collect()
}
