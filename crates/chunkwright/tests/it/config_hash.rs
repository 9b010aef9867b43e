//! The hash of a configuration: that of canonical JSON, without the keys that are left at their baseline.

use std::sync::Arc;

use chunkwright::options::KEYS;
use chunkwright::{Chars, ChunkConfig, Chunker, Keep, Key, Kind, Values, Words};
use serde_json::{Value, json};

fn chunker(config: ChunkConfig) -> Chunker {
    Chunker::new(config, Arc::new(Words)).unwrap()
}

/// Asserts that what is hashed for `chunker` is `canonical`.
#[track_caller]
fn check(chunker: &Chunker, canonical: &str) {
    let hash = &blake3::hash(canonical.as_bytes()).to_hex()[..16];
    assert_eq!(chunker.config_hash(), hash, "{canonical}");
}

/// Another value of `key` than its default.
fn another(key: &Key, default: &Value) -> Value {
    match key.values {
        Values::Text(_) | Values::OneOf(_) => {
            let mut names = key.choices().into_iter().map(|(name, _)| name);
            json!(names.find(|name| default != name))
        }
        Values::Number(..) => json!(default.as_u64().unwrap().checked_sub(1).unwrap_or(10)),
        Values::SomeOf(names) => json!([names[0].0]),
        Values::Range => json!([1, 2]),
        Values::Tables => json!([Kind { name: "api".into(), ..Kind::default() }]),
        values => panic!("a key takes {values}"),
    }
}

/// The default of every key is its baseline, and what is hashed of any other value is that value alone.
#[test]
fn every_key_has_a_baseline() {
    let default = serde_json::to_value(ChunkConfig::default()).unwrap();
    for key in KEYS {
        let value = another(key, &default[key.name]);
        assert_ne!(value, default[key.name], "{}", key.name);
        let mut config = default.clone();
        config[key.name] = value.clone();
        let chunker = chunker(serde_json::from_value(config).unwrap());
        let mut canonical = json!({
            "config": { key.name: value },
            "strategy": chunker.strategy_version(),
            "tokenizer": "words",
        });
        canonical.sort_all_objects();
        check(&chunker, &canonical.to_string());
    }
}

#[test]
fn only_what_differs_from_the_baseline_is_hashed_in_order() {
    let version = chunker(ChunkConfig::default()).strategy_version();
    check(
        &chunker(ChunkConfig::default()),
        &format!(r#"{{"config":{{}},"strategy":"{version}","tokenizer":"words"}}"#),
    );
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
    check(&chunker(config).with_window(Arc::new(Chars), 512), &said);
}
