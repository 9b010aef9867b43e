//! Completion candidates for the values of flags.

use std::env;

use chunkwright::Key;
use chunkwright_engine::settings::{Source, key};
use chunkwright_engine::{Access, Engine, Layers};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use crate::app::variables;

/// The variable by which a shell script asks for candidates.
pub(crate) const VARIABLE: &str = "CHUNKWRIGHT_COMPLETE";

/// The candidates of a key; `None` if any text is valid.
pub(crate) fn of(key: &'static Key) -> Option<ArgValueCandidates> {
    let known = move || {
        let known = key::known_values(key).into_iter();
        known.map(|(name, summary)| candidate(&name, summary)).collect::<Vec<_>>()
    };
    match key.name {
        "collection" => Some(ArgValueCandidates::new(collections)),
        "preset" => Some(ArgValueCandidates::new(move || {
            let layers = layers();
            let own = layers.own_presets().map(|name| candidate(name, "of `chunkwright.toml`"));
            known().into_iter().chain(own).collect()
        })),
        _ if key::known_values(key).is_empty() => None,
        _ => Some(ArgValueCandidates::new(known)),
    }
}

fn candidate(name: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(name).help((!help.is_empty()).then(|| help.to_owned().into()))
}

/// The configuration of a command run here, as far as it can be read: completion does not interrupt typing with errors.
fn layers() -> Layers {
    let nearest =
        env::current_dir().ok().and_then(|folder| Layers::default().with_nearest_file(&folder).ok());
    let layers = nearest.unwrap_or_default();
    layers.clone().with_environment(variables().filter(|(name, _)| name != VARIABLE)).unwrap_or(layers)
}

/// The collections of the store in force.
fn collections() -> Vec<CompletionCandidate> {
    let settings = layers().settings(Source::Flags, []).ok();
    let engine = settings.and_then(|settings| Engine::open(settings, Access::Read).ok());
    let names = engine.and_then(|engine| engine.collection_names().ok()).unwrap_or_default();
    names.iter().map(|name| candidate(name, "")).collect()
}
