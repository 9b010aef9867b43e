//! Presets: named configurations, as data.

use crate::chunk::{ChunkConfig, ConfigError, ContextRule, Unit};

/// A named configuration.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name that configuration and records use.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub summary: &'static str,
    /// Its values.
    pub config: fn() -> ChunkConfig,
}

/// All presets.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "auto",
        summary: "structure first, balanced sizes, stable under edits; for prose and code",
        config: auto,
    },
    Preset {
        name: "recursive",
        summary: "plain text by paragraphs, lines, sentences, words; no structure",
        config: recursive,
    },
];

/// The values of the preset called `name`.
///
/// # Errors
///
/// [`ConfigError::UnknownPreset`] if there is none.
pub fn preset(name: &str) -> Result<ChunkConfig, ConfigError> {
    let found = PRESETS.iter().find(|preset| preset.name == name);
    found.map(|preset| (preset.config)()).ok_or_else(|| ConfigError::UnknownPreset { name: name.into() })
}

/// Our own default.
pub(crate) fn auto() -> ChunkConfig {
    ChunkConfig {
        strategy: "tree".into(),
        unit: Unit::Tokens,
        max_size: 256,
        target_size: 200,
        min_size: 64,
        overlap_size: 0,
        context: ContextRule::Path,
        max_heading_level_for_path: 3,
    }
}

/// Seed 0's fallback: what general splitters do, with our guarantees.
fn recursive() -> ChunkConfig {
    ChunkConfig { strategy: "recursive".into(), context: ContextRule::None, min_size: 0, ..auto() }
}
