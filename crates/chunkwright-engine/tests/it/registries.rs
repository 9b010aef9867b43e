//! Consistency between registries of different crates.

use std::collections::BTreeMap;

use chunkwright::{PARSERS, Parser as _};
use chunkwright_code::{COMPONENTS, LANGUAGES, PLAIN};
use chunkwright_engine::convert::CONVERTERS;
use chunkwright_index::STORES;
use chunkwright_models::{
    COUNTERS, DIALECTS, EMBEDDERS, MODELS, RERANK_DIALECTS, RERANKERS, SPARSE_DIALECTS, WRITERS,
};

/// Every format of the product: registry, name, extensions.
fn formats() -> Vec<(&'static str, &'static str, &'static [&'static str])> {
    let parsers = PARSERS.iter().map(|parser| ("PARSERS", parser.name(), parser.extensions()));
    let components = COMPONENTS.iter().map(|parser| ("COMPONENTS", parser.name(), parser.extensions()));
    let languages = LANGUAGES.iter().map(|parser| ("LANGUAGES", parser.name(), parser.extensions()));
    let plain = PLAIN.iter().map(|language| ("PLAIN", language.name, language.extensions));
    let converters =
        CONVERTERS.iter().map(|converter| ("CONVERTERS", converter.name(), converter.extensions()));
    parsers.chain(components).chain(languages).chain(plain).chain(converters).collect()
}

#[test]
fn no_two_formats_claim_an_extension() {
    let mut owners: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (registry, name, extensions) in formats() {
        for extension in extensions {
            owners.entry(extension).or_default().push(format!("`{name}` of {registry}"));
        }
    }
    let clashes = owners.iter().filter(|(_, owners)| owners.len() > 1);
    let clashes: Vec<String> =
        clashes.map(|(name, owners)| format!(".{name}: {}", owners.join(", "))).collect();
    assert!(clashes.is_empty(), "{}", clashes.join("\n"));
}

#[test]
fn extensions_are_lower_case_and_without_a_dot() {
    for (registry, name, extensions) in formats() {
        for extension in extensions {
            let fits =
                !extension.is_empty() && !extension.contains('.') && extension.to_lowercase() == *extension;
            assert!(fits, "`{name}` of {registry} has the extension `{extension}`");
        }
    }
}

#[test]
fn no_two_formats_share_a_name() {
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (registry, name, _) in formats() {
        names.entry(name).or_default().push(registry);
    }
    names.retain(|_, registries| registries.len() > 1);
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn every_member_says_what_it_is() {
    let mut members: Vec<(&str, &str, &str)> = Vec::new();
    members.extend(STORES.iter().map(|store| ("STORES", store.name, store.summary)));
    members.extend(COUNTERS.iter().map(|counter| ("COUNTERS", counter.name, counter.summary)));
    members.extend(EMBEDDERS.iter().map(|info| ("EMBEDDERS", info.name, info.summary)));
    members.extend(DIALECTS.iter().map(|dialect| ("DIALECTS", dialect.name, dialect.summary)));
    members.extend(SPARSE_DIALECTS.iter().map(|dialect| ("SPARSE_DIALECTS", dialect.name, dialect.summary)));
    members.extend(RERANKERS.iter().map(|info| ("RERANKERS", info.name, info.summary)));
    members.extend(RERANK_DIALECTS.iter().map(|dialect| ("RERANK_DIALECTS", dialect.name, dialect.summary)));
    members.extend(WRITERS.iter().map(|info| ("WRITERS", info.name, info.summary)));
    members.extend(MODELS.iter().map(|model| ("MODELS", model.name, model.summary)));
    for (index, (registry, name, summary)) in members.iter().enumerate() {
        let fits = !summary.is_empty() && !summary.contains('\n') && !summary.ends_with('.');
        assert!(
            fits,
            "the summary of `{name}` of {registry} must be one line without a final period: `{summary}`"
        );
        let twin = members[..index].iter().find(|(other, twin, _)| (other, twin) == (registry, name));
        assert!(twin.is_none(), "{registry} has `{name}` twice");
    }
}
