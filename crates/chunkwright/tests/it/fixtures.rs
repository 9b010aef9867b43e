//! Texts and configurations that tests share.

use std::sync::Arc;

use chunkwright::preset::PRESETS;
use chunkwright::{Chars, ChunkConfig, Chunker, STRATEGIES, TokenCounter, Unit, Words};

use crate::invariants::Quads;

/// Documents in three languages with everything that Markdown has.
pub(crate) const SAMPLES: &[(&str, &str)] = &[
    ("english.md", include_str!("../samples/english.md")),
    ("chinese.md", include_str!("../samples/chinese.md")),
    ("russian.md", include_str!("../samples/russian.md")),
];

/// Counters: every one of this crate, and one whose counts do not add up.
pub(crate) fn counters() -> Vec<Arc<dyn TokenCounter>> {
    vec![Arc::new(Chars), Arc::new(Words), Arc::new(Quads)]
}

/// A chunker for every preset and every strategy at a few sizes and units, with each counter.
pub(crate) fn chunkers() -> Vec<Chunker> {
    let mut configs: Vec<ChunkConfig> = PRESETS.iter().map(|preset| (preset.config)()).collect();
    for strategy in STRATEGIES {
        for (max_size, min_size, overlap_size) in [(16, 4, 0), (40, 10, 12), (120, 30, 0), (2000, 400, 0)] {
            for unit in [Unit::Chars, Unit::Tokens] {
                let strategy = strategy.name().to_owned();
                let target_size = max_size * 3 / 4;
                configs.push(ChunkConfig {
                    strategy,
                    unit,
                    max_size,
                    min_size,
                    target_size,
                    overlap_size,
                    ..ChunkConfig::default()
                });
            }
        }
    }
    let chunker = |config: &ChunkConfig, counter| Chunker::new(config.clone(), counter).unwrap();
    configs.iter().flat_map(|config| counters().into_iter().map(|counter| chunker(config, counter))).collect()
}
