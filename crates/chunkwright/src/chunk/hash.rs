//! The hash of a configuration: `config_hash`.
//!
//! A stored generation is updated as long as its configuration has the same hash, and is rebuilt otherwise. So the hash
//! is made of canonical JSON, with sorted keys and without those at their [`BASELINE`]: a new key does not change the
//! hash of configurations that do not use it. Hashes were made of Rust's debug output once; what was stored under such
//! a [`Form::Debug`] keeps it.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::chunk::{ChunkConfig, Chunker, Kind};

/// The input of a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// Canonical JSON.
    #[default]
    Json,
    /// The debug output of a configuration, with the keys that the first version has.
    Debug,
}

impl Form {
    pub(super) const ALL: [Self; 2] = [Self::Json, Self::Debug];

    /// The hash of what cuts: 16 hex digits.
    pub(super) fn hash(self, chunker: &Chunker) -> String {
        let hashed = match self {
            Self::Json => canonical(chunker),
            Self::Debug => debug(chunker),
        };
        blake3::hash(hashed.as_bytes()).to_hex()[..16].to_owned()
    }
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

/// A key that was added since has to be named here, and this hash only exists if the key is at its [`BASELINE`].
fn debug(chunker: &Chunker) -> String {
    let ChunkConfig {
        strategy,
        unit,
        max_size,
        target_size,
        min_size,
        overlap_size,
        context,
        max_heading_level_for_path,
        section_level,
        packing,
        keep_whole,
        set_apart,
        lead_in_chars,
        short_size,
        long_size,
        medium_max_size,
        medium_overlap_size,
        band,
        fixed_chunk_lines,
        overlap_lines,
        kinds,
    } = chunker.config();
    let kind = |Kind { name, paths, chunk_type, min_size, keep_whole }: &Kind| {
        format!(
            "Kind {{ name: {name:?}, paths: {paths:?}, chunk_type: {chunk_type:?}, min_size: {min_size:?}, \
             keep_whole: {keep_whole:?} }}"
        )
    };
    let kinds = kinds.iter().map(kind).collect::<Vec<_>>().join(", ");
    let config = format!(
        "ChunkConfig {{ strategy: {strategy:?}, unit: {unit:?}, max_size: {max_size:?}, \
         target_size: {target_size:?}, min_size: {min_size:?}, overlap_size: {overlap_size:?}, \
         context: {context:?}, max_heading_level_for_path: {max_heading_level_for_path:?}, \
         section_level: {section_level:?}, packing: {packing:?}, keep_whole: {keep_whole:?}, \
         set_apart: {set_apart:?}, lead_in_chars: {lead_in_chars:?}, short_size: {short_size:?}, \
         long_size: {long_size:?}, medium_max_size: {medium_max_size:?}, \
         medium_overlap_size: {medium_overlap_size:?}, band: {band:?}, \
         fixed_chunk_lines: {fixed_chunk_lines:?}, overlap_lines: {overlap_lines:?}, kinds: [{kinds}] }}"
    );
    let window = chunker.window.as_ref().map(|(counter, limit)| (counter.name(), *limit));
    format!("{config}\n{}\n{}\n{window:?}", chunker.strategy_version(), chunker.counter().name())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chunk::Keep;
    use crate::preset::PRESETS;
    use crate::tokens::{Chars, Words};

    fn chunker(config: ChunkConfig) -> Chunker {
        Chunker::new(config, Arc::new(Words)).unwrap()
    }

    #[test]
    fn every_key_has_a_baseline() {
        let config = serde_json::to_value(ChunkConfig::default()).unwrap();
        let missing: Vec<_> =
            config.as_object().unwrap().keys().filter(|key| !BASELINE.contains_key(*key)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn only_what_differs_from_the_baseline_is_hashed_in_order() {
        let version = chunker(ChunkConfig::default()).strategy_version();
        let plain = format!(r#"{{"config":{{}},"strategy":"{version}","tokenizer":"words"}}"#);
        assert_eq!(canonical(&chunker(ChunkConfig::default())), plain);
        let kinds = vec![Kind { name: "api".into(), min_size: Some(0), ..Kind::default() }];
        let config =
            ChunkConfig { max_size: 300, keep_whole: vec![Keep::Table], kinds, ..ChunkConfig::default() };
        let said = format!(
            "{}{}",
            r#"{"config":{"keep_whole":["table"],"kinds":[{"chunk_type":"","min_size":0,"name":"api","paths":[]}],"max_size":300},"#,
            format_args!(
                r#""strategy":"{version}","tokenizer":"words","window":{{"limit":512,"tokenizer":"chars"}}}}"#
            ),
        );
        assert_eq!(canonical(&chunker(config).with_window(Arc::new(Chars), 512)), said);
    }

    #[test]
    fn the_older_form_is_what_debug_output_was() {
        for preset in PRESETS {
            let config = (preset.config)();
            let said = format!("{config:?}\n");
            assert!(debug(&chunker(config)).starts_with(&said), "{}", preset.name);
        }
        let window = debug(&chunker(ChunkConfig::default()).with_window(Arc::new(Chars), 512));
        assert!(window.ends_with("\nwords\nSome((\"chars\", 512))"), "{window}");
    }
}
