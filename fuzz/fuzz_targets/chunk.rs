//! Every strategy and preset keeps every invariant on any text in every format, at any size.
#![no_main]

use std::sync::Arc;

use chunkwright::preset::PRESETS;
use chunkwright::{Chars, ChunkConfig, Chunker, Document, PARSERS, STRATEGIES, TokenCounter, Unit};
use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../crates/chunkwright/tests/it/invariants.rs"]
mod invariants;

fuzz_target!(|data: &[u8]| {
    let [parser, base, max_size, min_size, overlap_size, text @ ..] = data else { return };
    let parser = PARSERS[usize::from(*parser) % PARSERS.len()];
    let document = Document::parse("docs/api/fuzz", String::from_utf8_lossy(text).as_ref(), parser);
    let max_size = ChunkConfig::LEAST_MAX_SIZE + 8 + usize::from(*max_size);
    let base = usize::from(*base) % (PRESETS.len() + STRATEGIES.len());
    let mut config = match PRESETS.get(base) {
        Some(preset) => (preset.config)(),
        None => ChunkConfig {
            strategy: STRATEGIES[base - PRESETS.len()].name().into(),
            ..ChunkConfig::default()
        },
    };
    config.max_size = max_size;
    config.target_size = max_size * 3 / 4;
    config.min_size = usize::from(*min_size) % (max_size / 2);
    config.overlap_size = usize::from(*overlap_size) % (max_size / 2);
    config.medium_max_size = max_size / 2;
    config.medium_overlap_size = config.overlap_size / 2;
    config.short_size = max_size / 2;
    config.long_size = 2 * max_size;
    let counter: Arc<dyn TokenCounter> =
        if config.unit == Unit::Chars { Arc::new(Chars) } else { Arc::new(invariants::Quads) };
    let chunker = Chunker::new(config, counter).expect("sizes are in range");
    invariants::chunk(&chunker, &document);
});
