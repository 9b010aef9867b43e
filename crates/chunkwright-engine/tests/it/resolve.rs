//! Configurations are resolved by one rule, and every key of the settings says what a form needs.

use std::collections::BTreeMap;

use chunkwright::options::KEYS;
use chunkwright::preset::PRESETS;
use chunkwright::{Key, Values};
use chunkwright_engine::settings::Source;
use chunkwright_engine::{
    Access, Engine, Error, FieldError, Layers, PreviewRequest, ResolveAnswer, ResolveRequest, schema,
};
use serde_json::{Map, Value, json};

/// An engine over a configuration of its own, without a store.
fn engine() -> Engine {
    let layers = Layers::default();
    Engine::open(layers.settings(Source::Request, []).unwrap(), Access::NoStore).unwrap()
}

fn resolve(engine: &Engine, settings: &Value) -> ResolveAnswer {
    engine.resolve(ResolveRequest { settings: settings.as_object().unwrap().clone() })
}

/// The values of an answer by key.
fn values(answer: &ResolveAnswer) -> BTreeMap<&str, &Value> {
    let set = answer.settings.iter().filter_map(|setting| Some((&*setting.key, setting.value.as_ref()?)));
    set.collect()
}

fn follows<'a>(answer: &'a ResolveAnswer, key: &str) -> Option<&'a str> {
    answer.settings.iter().find(|setting| setting.key == key).unwrap().follows.as_deref()
}

/// Values that a key takes and that differ from most presets.
fn samples(key: &Key) -> Vec<Value> {
    match key.values {
        Values::Number(1, 6) => vec![json!(2), json!(5)],
        Values::Number(..) => vec![json!(9), json!(37), json!(256), json!(1000), json!(1001)],
        Values::OneOf(choices) => choices.iter().map(|(name, _)| json!(name)).collect(),
        Values::SomeOf(_) => vec![json!([]), json!(["code"]), json!("code,table")],
        Values::Range => vec![json!([410, 614]), json!("0-0")],
        Values::Tables => vec![json!([]), json!([{ "name": "api", "paths": ["**/api/**"] }])],
        _ if key.name == "strategy" => key.choices().iter().map(|(name, _)| json!(name)).collect(),
        _ => panic!("no values of `{}`", key.name),
    }
}

#[test]
fn the_least_set_of_any_preset_under_any_key_gives_the_same_values() {
    let engine = engine();
    let mut shorter = 0;
    let mut check = |settings: Value| {
        let answer = resolve(&engine, &settings);
        let least = Value::Object(answer.least.clone());
        let again = resolve(&engine, &least);
        assert_eq!(values(&again), values(&answer), "{least} of {settings}");
        assert_eq!(again.least, answer.least, "the least set of the least set");
        assert_eq!(again.problems.len(), answer.problems.len(), "{least} of {settings}");
        // Everything that holds, said key by key, has the same least set.
        let all: Map<String, Value> =
            values(&answer).into_iter().map(|(key, value)| (key.to_owned(), value.clone())).collect();
        assert_eq!(resolve(&engine, &Value::Object(all)).least, answer.least, "{settings}");
        let given = settings.as_object().unwrap();
        assert!(answer.least.len() <= given.len(), "{least} of {settings}");
        shorter += usize::from(answer.least.len() < given.len());
        for key in answer.least.keys() {
            assert_eq!(follows(&again, key), None, "`{key}` of {least}");
        }
    };
    for preset in PRESETS {
        check(json!({ "preset": preset.name }));
        for key in KEYS {
            for value in samples(key) {
                check(json!({ "preset": preset.name, key.name: value }));
                check(json!({ "preset": preset.name, "max_size": 300, key.name: value }));
                check(json!({ "preset": preset.name, "unit": "chars", key.name: value }));
            }
        }
    }
    assert!(shorter > 10, "{shorter} sets had something to leave out");
}

#[test]
fn sizes_follow_the_limit_or_the_unit_and_say_so() {
    let engine = engine();
    for preset in PRESETS {
        let config = (preset.config)();
        let doubled = resolve(&engine, &json!({ "preset": preset.name, "max_size": 2 * config.max_size }));
        let before = serde_json::to_value(&config).unwrap();
        for key in KEYS.iter().filter(|key| key.follows().contains(&"max_size")) {
            let size = before[key.name].as_u64().unwrap();
            assert_eq!(values(&doubled)[key.name], 2 * size, "`{}` of `{}`", key.name, preset.name);
            let expected = (size > 0).then_some("max_size");
            assert_eq!(follows(&doubled, key.name), expected, "`{}` of `{}`", key.name, preset.name);
        }
        assert_eq!(follows(&doubled, "max_size"), None);
    }
    let chars = resolve(&engine, &json!({ "unit": "chars" }));
    assert_eq!((values(&chars)["max_size"], follows(&chars, "max_size")), (&json!(1024), Some("unit")));
    // Words of another system select its preset, whose sizes do not scale.
    let course = resolve(&engine, &json!({ "chunk_size": 300 }));
    assert_eq!(
        (values(&course)["preset"], follows(&course, "target_size")),
        (&json!("course"), Some("chunk_size"))
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once_and_the_rest_is_resolved() {
    let engine = engine();
    let wrong = json!({
        "preset": "stable", "max_size": 500, "min_size": 900, "overlap_size": 400, "unit": "bytes", "a/b c": 1, "store": "/srv"
    });
    let answer = resolve(&engine, &wrong);
    let mut pointers: Vec<&str> = answer.problems.iter().map(|problem| &*problem.pointer).collect();
    pointers.sort_unstable();
    let expected =
        ["a~1b%20c", "min_size", "overlap_size", "store", "unit"].map(|key| format!("#/settings/{key}"));
    assert_eq!(pointers, expected);
    let values = values(&answer);
    assert_eq!(
        (values["max_size"], values["min_size"], values["unit"]),
        (&json!(500), &json!(900), &json!("chars"))
    );
    let unknown = resolve(&engine, &json!({ "preset": "nope", "max_size": 300 }));
    assert_eq!(
        (&*unknown.problems[0].pointer, &unknown.least["max_size"]),
        ("#/settings/preset", &json!(300))
    );
    assert_eq!(
        unknown.least["preset"], "auto",
        "what is in force holds in place of a preset that is not there"
    );
}

/// Values that a key does not take, whatever else is set.
fn wrong_values(key: &str, schema: &Value) -> Vec<Value> {
    let above = |schema: &Value| json!(schema["maximum"].as_u64().unwrap_or(u64::MAX - 1) + 1);
    match schema["type"].as_str() {
        Some("integer") => vec![json!("many"), json!(-1), json!(1.5), above(schema)],
        Some("boolean") => vec![json!("maybe"), json!(3)],
        Some("array") => vec![json!(7), json!([{ "paths": [0] }])],
        Some("string") if schema["anyOf"].is_array() || schema["oneOf"].is_array() => {
            vec![json!(7), json!("nothing of this name")]
        }
        _ if key == "max_filesize" => vec![json!("1X"), json!([])],
        _ => panic!("no wrong value of `{key}`: {schema}"),
    }
}

#[test]
fn every_error_of_a_setting_has_a_pointer_to_what_the_request_has() {
    let engine = engine();
    let check = |settings: &Value, key: Option<&str>| {
        let request = PreviewRequest {
            text: Some("# A".into()),
            settings: settings.as_object().unwrap().clone(),
            ..PreviewRequest::default()
        };
        let error = engine.preview(request).unwrap_err();
        assert_eq!(error.code().name, "invalid_settings", "{settings}: {error}");
        let pointer = error.pointer().unwrap_or_else(|| panic!("{settings}: `{error}` has no pointer"));
        let request = json!({ "settings": settings });
        assert!(request.pointer(&pointer).is_some(), "{settings}: {pointer}");
        if let Some(key) = key {
            assert_eq!(pointer, format!("/settings/{key}"), "{settings}: {error}");
        }
        let problems =
            engine.resolve(ResolveRequest { settings: settings.as_object().unwrap().clone() }).problems;
        assert!(problems.contains(&FieldError::new(&pointer, error.to_string())), "{settings}: {problems:?}");
    };
    let schema = schema::of_settings().to_value();
    let keys = schema["properties"].as_object().unwrap();
    for (key, schema) in keys.iter().filter(|(_, schema)| schema.get("x-group").is_some()) {
        for value in wrong_values(key, schema) {
            check(&json!({ key: value }), Some(key));
            check(&json!({ "preset": "course", "max_size": 600, key: value }), Some(key));
        }
    }
    // Values that contradict each other, of which the request has one or both.
    for (settings, key) in [
        (json!({ "max_size": 4 }), "max_size"),
        (json!({ "preset": "course", "min_size": 2000 }), "min_size"),
        (json!({ "overlap_size": 200 }), "overlap_size"),
        (json!({ "fixed_chunk_lines": 3 }), "fixed_chunk_lines"),
        (json!({ "fixed_chunk_lines": 3, "overlap_lines": 3 }), "overlap_lines"),
        (json!({ "preset": "adaptive", "long_size": 100 }), "long_size"),
        (json!({ "band": [614, 410] }), "band"),
        (json!({ "kinds": [{ "name": "a", "paths": ["[" ] }] }), "kinds"),
        (json!({ "chunk_size": 5 }), "chunk_size"),
        (json!({ "max_chars": 100, "max_size": 200 }), "max_chars"),
        (json!({ "code_block_strategy": "none" }), "code_block_strategy"),
        (json!({ "include": ["["] }), "include"),
        (json!({ "type": ["klingon"] }), "type"),
    ] {
        check(&settings, Some(key));
    }
    for name in ["colour", "a/b", "~", ""] {
        check(&json!({ name: 1 }), None);
    }
}

#[test]
fn every_key_that_a_request_may_set_says_what_a_form_needs() {
    let schema = schema::of_settings().to_value();
    let groups: Vec<&str> =
        schema["x-groups"].as_array().unwrap().iter().filter_map(|group| group["name"].as_str()).collect();
    let engine = engine();
    let built_in = resolve(&engine, &json!({}));
    let built_in = values(&built_in);
    let keys = schema["properties"].as_object().unwrap();
    for key in KEYS.iter().map(|key| key.name).chain(["preset", "tokenizer", "include", "embedder"]) {
        assert!(keys.contains_key(key), "`{key}` is not in the schema");
    }
    for (name, key) in
        keys.iter().filter(|(name, _)| built_in.contains_key(name.as_str()) || Key::find(name).is_some())
    {
        assert!(
            key["description"].as_str().is_some_and(|text| !text.is_empty()),
            "`{name}` has no description"
        );
        assert!(groups.contains(&key["x-group"].as_str().unwrap_or_default()), "`{name}` has no group");
        assert_eq!(Some(&key["default"]), built_in.get(name.as_str()).copied(), "the default of `{name}`");
        let is_number = key["type"] == "integer" || key["items"]["type"] == "integer";
        assert_eq!(
            is_number || name == "max_filesize",
            key["x-unit"].is_string(),
            "the unit of `{name}`: {key}"
        );
        let choices = [&key["oneOf"], &key["anyOf"], &key["items"]["oneOf"]];
        let choices: Vec<&Value> = choices.iter().filter_map(|list| list.as_array()).flatten().collect();
        let is_choice =
            key["type"] == "string" || key["items"]["type"] == "string" && Key::find(name).is_some();
        assert_eq!(is_choice, !choices.is_empty(), "the choices of `{name}`: {key}");
        for choice in choices.iter().filter(|choice| choice.get("const").is_some()) {
            let text = choice["description"].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "the choice {} of `{name}` says nothing", choice["const"]);
        }
        for other in key["x-follows"].as_array().into_iter().flatten() {
            assert!(keys.contains_key(other.as_str().unwrap()), "`{name}` follows {other}");
        }
        if let Some(strategy) = key["x-strategy"].as_str() {
            let of_strategy = format!("`{strategy}`: ");
            assert!(
                key["description"].as_str().unwrap().starts_with(&of_strategy),
                "`{name}` is of {strategy}"
            );
        }
    }
}

#[test]
fn an_error_without_a_place_in_the_request_has_no_pointer() {
    assert_eq!(Error::Cancelled.field(), None);
}
