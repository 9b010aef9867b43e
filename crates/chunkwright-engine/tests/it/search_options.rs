//! Every option of searches keeps the promises of its table, so that a new one is tested as soon as it is listed.

use chunkwright_engine::{ExpandRequest, Fusion, OptionValues, SEARCH_OPTIONS, SearchOption, SearchRequest};
use serde_json::{Value, json};

fn read(options: &[(&str, Value)]) -> Result<SearchRequest, String> {
    SearchRequest::read("a", options.iter().cloned()).map_err(|error| error.to_string())
}

/// The options without which this one has no effect, as they must be.
fn needed(option: &SearchOption) -> Option<(&'static str, Value)> {
    option.needs.map(|needs| (needs.option, needs.value.unwrap_or("parent").into()))
}

#[test]
fn a_search_without_options_is_the_default() {
    let usual = SearchRequest::new("a");
    assert_eq!(read(&[]), Ok(usual.clone()));
    let json = serde_json::to_value(usual).unwrap();
    for option in SEARCH_OPTIONS {
        let default = (option.default)();
        let default = default.as_str().map_or(default.clone(), |name| option.json_of(name).into());
        let in_request = json.pointer(option.pointer).cloned().unwrap_or_default();
        // The constant of ranks stands in no request for a sum.
        assert!(in_request == default || option.name == "rrf_k", "`{}`: {in_request}", option.name);
    }
}

#[test]
fn every_option_is_named_once_and_read_alike_as_text_and_as_json() {
    for (index, option) in SEARCH_OPTIONS.iter().enumerate() {
        let name = option.name;
        assert!(SEARCH_OPTIONS[..index].iter().all(|other| other.name != name), "`{name}` is there twice");
        let help = option.help();
        let sentence = help.split("\n\n").next().unwrap();
        assert!(!sentence.is_empty() && !sentence.ends_with('.'), "`{name}`: {sentence}");
        let (text, value) = match option.values {
            OptionValues::Number(..) => ("7", json!(7)),
            OptionValues::Decimal(..) => ("0.25", json!(0.25)),
            OptionValues::OneOf(names) => (*names.last().unwrap(), json!(names.last())),
            OptionValues::Flag => ("true", json!(true)),
            OptionValues::Filter => ("language=rust", json!({ "field": "language", "is": "rust" })),
            _ => ("parent", json!("parent")),
        };
        let given = |value| {
            let options: Vec<_> = needed(option).into_iter().chain([(name, value)]).collect();
            serde_json::to_value(read(&options).unwrap()).unwrap()
        };
        let request = given(text.into());
        assert_eq!(given(value), request, "`{name}`");
        assert_ne!(request.pointer(option.pointer), None, "`{name}`: {request}");
        assert_ne!(given(Value::Null), request, "`{name}` changes nothing");
    }
}

#[test]
fn every_number_out_of_range_is_refused_in_text_and_in_json() {
    for option in SEARCH_OPTIONS {
        let Some((least, greatest)) = option.values.range() else { continue };
        let below = json!(least.as_i64().unwrap() - 1);
        let above = greatest.and_then(|greatest| Some(json!(greatest.as_u64()? + 1)));
        for value in [below].into_iter().chain(above) {
            let sentences = [value.clone(), value.to_string().into()].map(|value| {
                let options: Vec<_> = needed(option).into_iter().chain([(option.name, value)]).collect();
                read(&options).unwrap_err()
            });
            assert!(
                sentences[0].starts_with(&format!("`{}` is `{value}`; it must be ", option.name)),
                "{sentences:?}"
            );
            assert_eq!(sentences[0], sentences[1]);
        }
    }
}

#[test]
fn a_refusal_says_what_would_be_right() {
    for (name, value, sentence) in [
        ("top_k", json!(0), "`top_k` is `0`; it must be from 1 to 1000"),
        (
            "top_k",
            json!("99999999999999999999"),
            "`top_k` is `99999999999999999999`; it must be from 1 to 1000",
        ),
        ("top_k", json!("many"), "`top_k` is `many`; it must be a whole number from 1 to 1000"),
        ("top_k", json!(1.5), "`top_k` is `1.5`; it must be a whole number from 1 to 1000"),
        ("offset", json!("-1"), "`offset` is `-1`; it must be at least 0"),
        (
            "candidates",
            json!("99999999999999999999"),
            "`candidates` is `99999999999999999999`; it must be at most 18446744073709551615",
        ),
        ("max_tokens", json!("no"), "`max_tokens` is `no`; it must be a whole number of at least 1"),
        ("min_relevance", json!(2.0), "`min_relevance` is `2`; it must be from 0 to 1"),
        ("dense_weight", json!("NaN"), "`dense_weight` is `NaN`; it must be a number from 0 to 1"),
        ("mode", json!("fast"), "`mode` is `fast`; it must be `hybrid`, `dense`, `sparse` or `lexical`"),
        ("duplicates", json!("drop"), "`duplicates` is `drop`; it must be `near`, `collapse` or `keep`"),
        ("text", json!("yes"), "`text` is `yes`; it must be `true` or `false`"),
        (
            "expand",
            json!("all"),
            "`expand` is `all`; it must be `parent`, `merge` or a number of neighbours, such as `1`",
        ),
        ("rrf_k", json!("1"), "`rrf_k` needs `fusion=rrf`; give both, or leave it out"),
        ("expand_tokens", json!("9"), "`expand_tokens` needs `expand`; give both, or leave it out"),
        ("topk", json!("1"), "searches have no option `topk`; did you mean `top_k`?"),
    ] {
        assert_eq!(read(&[(name, value)]), Err(sentence.to_owned()));
    }
}

#[test]
fn parts_of_fusion_and_of_the_expansion_are_options_too() {
    let request = read(&[("fusion", json!("rrf")), ("rrf_k", json!("7"))]).unwrap();
    assert_eq!(request.fusion, Fusion::Rrf { k: 7.0 });
    assert_eq!(read(&[("fusion", json!("rrf"))]).unwrap().fusion, Fusion::Rrf { k: Fusion::RRF_K });
    assert_eq!(read(&[("dense_weight", json!("0.5"))]).unwrap().fusion, Fusion::weighted_sum(0.5));
    let expand = ExpandRequest { with: "2".parse().unwrap(), max_tokens: Some(50) };
    // Agents write the number as one.
    for number in [json!("2"), json!(2)] {
        let request = read(&[("expand", number), ("expand_tokens", json!("50"))]).unwrap();
        assert_eq!(request.expand, Some(expand));
    }
}
