//! Any text is a document in every programming language, and keeps every invariant.
#![no_main]

use std::sync::Arc;

use chunkwright::{ChunkConfig, Chunker, Document};
use chunkwright_code::LANGUAGES;
use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../crates/chunkwright/tests/it/invariants.rs"]
mod invariants;

fuzz_target!(|data: &[u8]| {
    let [language, max_size, text @ ..] = data else { return };
    let language = LANGUAGES[usize::from(*language) % LANGUAGES.len()];
    let document = Document::parse("src/fuzz", String::from_utf8_lossy(text).as_ref(), language);
    let max_size = 16 + usize::from(*max_size);
    let config = ChunkConfig {
        max_size,
        target_size: max_size * 3 / 4,
        min_size: max_size / 4,
        ..ChunkConfig::default()
    };
    let chunker = Chunker::new(config, Arc::new(invariants::Quads)).expect("sizes are in range");
    invariants::chunk(&chunker, &document);
});
