//! The hash of a configuration: `config_hash`.
//!
//! A stored generation is updated as long as its configuration has the same hash, and is rebuilt otherwise. So the hash
//! is made of canonical JSON, with sorted keys and without those at their [`BASELINE`]: a new key does not change the
//! hash of configurations that do not use it.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::chunk::Chunker;

/// The hash of what cuts: 16 hex digits.
pub(super) fn of(chunker: &Chunker) -> String {
    blake3::hash(canonical(chunker).as_bytes()).to_hex()[..16].to_owned()
}

/// For each key, the value at which it is left out of the hash. Stored hashes depend on it: a value never changes,
/// whatever the defaults become, and a new key is added with the value that keeps the behaviour from before the key.
static BASELINE: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let values = json!({
        "strategy": "tree",
        "unit": "tokens",
        "max_size": 256,
        "target_size": 200,
        "min_size": 64,
        "overlap_size": 0,
        "context": "title",
        "max_heading_level_for_path": 3,
        "section_level": 6,
        "packing": "balanced",
        "keep_whole": [],
        "set_apart": [],
        "lead_in_chars": 200,
        "short_size": 300,
        "long_size": 800,
        "medium_max_size": 512,
        "medium_overlap_size": 100,
        "band": [0, 0],
        "fixed_chunk_lines": 0,
        "unknown_files": "text",
        "overlap_lines": 5,
        "kinds": [],
    });
    values.as_object().cloned().unwrap_or_default()
});

fn canonical(chunker: &Chunker) -> String {
    let mut config = serde_json::to_value(chunker.config()).unwrap_or_default();
    if let Some(keys) = config.as_object_mut() {
        keys.retain(|key, value| BASELINE.get(key) != Some(value));
    }
    let mut hashed = json!({
        "config": config,
        "strategy": chunker.strategy_version(),
        "tokenizer": chunker.counter().name(),
    });
    if let Some((counter, limit)) = &chunker.window {
        hashed["window"] = json!({ "limit": limit, "tokenizer": counter.name() });
    }
    hashed.sort_all_objects();
    hashed.to_string()
}
