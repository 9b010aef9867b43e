//! Options: values in their text form, and the configuration that follows when only some keys are set.

use chunkwright::options::KEYS;
use chunkwright::{ChunkConfig, ChunkOptions, Keep, OptionsError, Unit, UnknownFiles, Values, preset};
use serde_json::{Value, json};

fn options(values: Value) -> Result<ChunkOptions, OptionsError> {
    match values {
        Value::Object(values) => ChunkOptions::read(values),
        _ => panic!("options are an object"),
    }
}

fn check(values: Value, expected: &ChunkConfig) {
    assert_eq!(&options(values).unwrap().resolve().unwrap(), expected);
}

fn refuses(values: Value, expected: &str) {
    let error = options(values).and_then(|options| Ok(options.resolve()?)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn every_field_of_a_configuration_is_a_key_and_every_size_scales() {
    let Value::Object(fields) = serde_json::to_value(ChunkConfig::default()).unwrap() else { panic!() };
    let mut keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    let in_order = keys.clone();
    keys.sort_unstable();
    let mut sorted: Vec<&str> = fields.keys().map(String::as_str).collect();
    sorted.sort_unstable();
    assert_eq!((keys, in_order.len()), (sorted, fields.len()));
    // All numbers are alike, so that each that scales to the other unit is another.
    let fields =
        fields.into_iter().map(|(name, value)| (name, if value.is_u64() { json!(100) } else { value }));
    let mut config: ChunkConfig = serde_json::from_value(fields.collect()).unwrap();
    let chars = ChunkOptions { unit: Some(Unit::Chars), ..ChunkOptions::default() };
    let scaling: Vec<&str> = chars.apply(&mut config).into_iter().map(|(name, _)| name).collect();
    let sizes: Vec<&str> = KEYS.iter().filter(|key| key.about.is_size).map(|key| key.name).collect();
    assert_eq!(scaling, sizes);
    let Value::Object(scaled) = serde_json::to_value(config).unwrap() else { panic!() };
    let scaled: Vec<&str> =
        in_order.into_iter().filter(|name| scaled[*name].is_u64() && scaled[*name] != json!(100)).collect();
    assert_eq!(scaled, sizes);
}

#[test]
fn sizes_follow_the_limit_or_the_unit() {
    let auto = ChunkConfig::default;
    check(json!({}), &auto());
    check(
        json!({"max_size": 512}),
        &ChunkConfig {
            max_size: 512,
            target_size: 400,
            min_size: 128,
            short_size: 600,
            long_size: 1600,
            medium_max_size: 1024,
            medium_overlap_size: 200,
            ..auto()
        },
    );
    let chars = options(json!({"unit": "chars"})).unwrap().resolve().unwrap();
    assert_eq!((chars.max_size, chars.target_size, chars.min_size), (1024, 800, 256));
    let both = options(json!({"unit": "chars", "max_size": 512})).unwrap().resolve().unwrap();
    assert_eq!((both.max_size, both.target_size, both.min_size), (512, 400, 128));
}

#[test]
fn lists_may_be_text_and_aliases_stand_for_keys() {
    let given = json!({"keep_whole": "code,table", "band": "410-614"});
    let config = options(given).unwrap().resolve().unwrap();
    assert_eq!((config.keep_whole, config.band), (vec![Keep::Code, Keep::Table], [410, 614]));
    let config = options(json!({"max_chars": 1800})).unwrap().resolve().unwrap();
    assert_eq!((config.max_size, config.unit), (1800, Unit::Chars));
}

#[test]
fn keys_of_another_system_select_its_preset_and_scale_nothing() {
    let of = |name| preset::preset(name).unwrap();
    check(json!({"max_chars": 1800}), &of("stable"));
    check(json!({"max_chars": 1000}), &ChunkConfig { max_size: 1000, target_size: 1000, ..of("stable") });
    check(
        json!({"max_chunk_size": 2000, "code_block_strategy": "hybrid"}),
        &ChunkConfig { max_size: 2000, ..of("course") },
    );
    check(
        json!({"chunk_size": 300}),
        &ChunkConfig { max_size: 300, target_size: 300, overlap_size: 150, ..of("course") },
    );
    check(json!({"chunk_strategy": "simple"}), &ChunkConfig { strategy: "window".into(), ..of("adaptive") });
    check(
        json!({"adaptive_chunk_max_words_short": 900}),
        &ChunkConfig { short_size: 900, long_size: 900, ..of("adaptive") },
    );
    check(json!({"strategy": "semantic"}), &of("course"));
    check(json!({"preset": "semantic"}), &of("course"));
    let of_code = ChunkConfig { max_size: 1024, unknown_files: UnknownFiles::Lines, ..of("code") };
    check(json!({"max_tokens": 1024}), &of_code);
    // What it brings along gives way to what is set beside it.
    let as_text = json!({"max_tokens": 1024, "unknown_files": "text"});
    check(as_text, &ChunkConfig { unknown_files: UnknownFiles::Text, ..of_code });
    // A preset that is named wins, and names of several systems select none.
    let config = options(json!({"preset": "auto", "max_chars": 1024})).unwrap().resolve().unwrap();
    assert_eq!((config.strategy.as_str(), config.max_size, config.target_size), ("tree", 1024, 800));
    let mixed = options(json!({"max_chars": 1024, "chunk_overlap": 10})).unwrap();
    assert_eq!(mixed.preset, None);
}

#[test]
fn what_is_wrong_says_what_would_be_right() {
    refuses(
        json!({"max_size": "big"}),
        "`max_size` is \"big\"; it must be a whole number of at most 4294967295",
    );
    refuses(json!({"max_size": 4}), "`max_size` is `4`; it must be at least `8`");
    refuses(json!({"unit": "bytes"}), "`unit` is \"bytes\"; it must be `tokens` or `chars`");
    refuses(json!({"section_level": 9}), "`section_level` is 9; it must be a whole number from 1 to 6");
    refuses(
        json!({"code_block_strategy": "none"}),
        "`code_block_strategy` is `none`; it must be one of `hybrid`, `whole`, `split`",
    );
    refuses(
        json!({"max_chars": 100, "max_size": 200}),
        "`max_chars` makes `max_size` 100, but it is 200 there; set only one",
    );
}

#[test]
fn lists_and_bytes_may_be_text() {
    let read = |values: Values, text: &str| values.parse(text).map_err(|error| error.to_string());
    assert_eq!(read(Values::List("GLOB"), "*.{a,b}, c"), Ok(json!(["*.{a,b}", "c"])));
    assert_eq!(read(Values::Bytes, "64K"), Ok(json!(65536)));
    assert_eq!(read(Values::Bytes, "10"), Ok(json!(10)));
    assert_eq!(read(Values::Flag, "true"), Ok(json!(true)));
    assert!(read(Values::Bytes, "1X").is_err() && read(Values::Flag, "yes").is_err());
}
