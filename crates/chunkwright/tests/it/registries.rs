//! Finds registry members that no test covers: each test names the registry, the member and what it lacks.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use chunkwright::options::KEYS;
use chunkwright::preset::PRESETS;
use chunkwright::{ALIASES, PARSERS, STRATEGIES};

use crate::fixtures::{SAMPLES, SYNTAX};

#[test]
fn every_format_has_a_sample_and_hostile_syntax() {
    let mut gaps = Vec::new();
    for parser in PARSERS {
        let ending =
            |name: &str| name.rsplit('.').next().is_some_and(|last| parser.extensions().contains(&last));
        if !SAMPLES.iter().any(|(name, _)| ending(name)) {
            gaps.push(format!("`{}` of PARSERS has no sample in SAMPLES", parser.name()));
        }
        if !SYNTAX.iter().any(|(name, pieces)| *name == parser.name() && !pieces.is_empty()) {
            gaps.push(format!("`{}` of PARSERS has no hostile syntax in SYNTAX", parser.name()));
        }
    }
    assert!(gaps.is_empty(), "{}", gaps.join("\n"));
}

#[test]
fn every_strategy_and_preset_is_specified() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // The preset `code` is specified where languages are known.
    let folders = ["chunkwright", "chunkwright-code"].map(|name| crates.join(name).join("tests/spec"));
    let pages = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let spec: String = pages.map(|page| fs::read_to_string(page.unwrap().path()).unwrap()).collect();
    let mut gaps = Vec::new();
    // Cases without a configuration are cut by `auto`.
    let is_specified = |preset: &str| preset == "auto" || spec.contains(&format!("preset = \"{preset}\""));
    for strategy in STRATEGIES {
        let mut presets = PRESETS.iter().filter(|preset| (preset.config)().strategy == strategy.name());
        let by_name = spec.contains(&format!("strategy = \"{}\"", strategy.name()));
        if !by_name && !presets.any(|preset| is_specified(preset.name)) {
            gaps.push(format!("`{}` of STRATEGIES has no case in tests/spec", strategy.name()));
        }
    }
    for preset in PRESETS.iter().filter(|preset| !is_specified(preset.name)) {
        gaps.push(format!("`{}` of PRESETS has no case in tests/spec", preset.name));
    }
    assert!(gaps.is_empty(), "{}", gaps.join("\n"));
}

#[test]
fn no_two_members_of_a_registry_share_a_name() {
    let registries: [(&str, Vec<&str>); 5] = [
        ("PARSERS", PARSERS.iter().map(|parser| parser.name()).collect()),
        ("STRATEGIES", STRATEGIES.iter().map(|strategy| strategy.name()).collect()),
        ("PRESETS", PRESETS.iter().map(|preset| preset.name).collect()),
        ("KEYS", KEYS.iter().map(|key| key.name).collect()),
        ("ALIASES", ALIASES.iter().map(|alias| alias.name).collect()),
    ];
    for (registry, names) in registries {
        let distinct: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(distinct.len(), names.len(), "{registry} has a name twice: {names:?}");
    }
    let keys: BTreeSet<&str> = KEYS.iter().map(|key| key.name).collect();
    let shadowed: Vec<&str> =
        ALIASES.iter().map(|alias| alias.name).filter(|name| keys.contains(name)).collect();
    assert!(shadowed.is_empty(), "ALIASES has names that are keys: {shadowed:?}");
}

#[test]
fn every_summary_is_one_line_without_a_final_period() {
    let summaries = STRATEGIES.iter().map(|strategy| (strategy.name(), strategy.summary()));
    for (name, summary) in summaries.chain(PRESETS.iter().map(|preset| (preset.name, preset.summary))) {
        let fits = !summary.is_empty() && !summary.contains('\n') && !summary.ends_with('.');
        assert!(fits, "the summary of `{name}` must be one line without a final period: `{summary}`");
    }
}
