//! Presets: named configurations, as data.

use crate::chunk::{
    ChunkConfig, ConfigError, ContextRule, Keep, Kind, OtherName, Packing, Unit, UnknownFiles,
};

/// A named configuration.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name that configuration and records use.
    pub name: &'static str,
    /// Its purpose, in one sentence.
    pub summary: &'static str,
    /// Its values.
    pub config: fn() -> ChunkConfig,
}

/// All presets. `auto` is the default; the others reproduce the rules of older systems as far as the guarantees
/// allow (`tests/spec` states them rule by rule).
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "auto",
        summary: "structure first, balanced sizes, stable under edits; for prose and code",
        config: auto,
    },
    Preset {
        name: "stable",
        summary: "Markdown by headings and paragraphs, 250 to 1800 characters, fences whole",
        config: stable,
    },
    Preset {
        name: "docs",
        summary: "documentation sites: sections with their heading; api, demo and doc pages are distinguished",
        config: docs,
    },
    Preset {
        name: "course",
        summary: "course material by top-level headings, 1000 characters; code and tables whole and apart",
        config: course,
    },
    Preset { name: "code", summary: "source code, one chunk per symbol, at most 512 tokens", config: code },
    Preset {
        name: "adaptive",
        summary: "by document size: whole, windows of 512 tokens, or headings with windows of 800",
        config: adaptive,
    },
    Preset {
        name: "recursive",
        summary: "plain text by paragraphs, lines, sentences, words; no structure",
        config: recursive,
    },
];

/// The values of the preset called `name`, which may be another system's ([`OtherName`]).
///
/// # Errors
///
/// [`ConfigError::UnknownPreset`] if there is none.
pub fn preset(name: &str) -> Result<ChunkConfig, ConfigError> {
    if let Some(other) = OtherName::find(name) {
        return Ok(ChunkConfig { strategy: other.strategy.into(), ..preset(other.preset)? });
    }
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
        context: ContextRule::Title,
        max_heading_level_for_path: 3,
        section_level: 6,
        packing: Packing::Balanced,
        keep_whole: Vec::new(),
        set_apart: Vec::new(),
        lead_in_chars: 200,
        short_size: 300,
        long_size: 800,
        medium_max_size: 512,
        medium_overlap_size: 100,
        band: [0, 0],
        fixed_chunk_lines: 0,
        unknown_files: UnknownFiles::Text,
        overlap_lines: 5,
        kinds: Vec::new(),
    }
}

/// For Markdown whose chunks are cited: three passes over headings, paragraphs and small chunks.
fn stable() -> ChunkConfig {
    ChunkConfig {
        strategy: "sections".into(),
        unit: Unit::Chars,
        max_size: 1800,
        target_size: 1400,
        min_size: 250,
        context: ContextRule::Heading,
        keep_whole: vec![Keep::Code],
        ..auto()
    }
}

/// Documents at these paths, with a category and a type of their chunks.
fn kind(name: &str, chunk_type: &str, paths: &[&str]) -> Kind {
    let paths = paths.iter().map(|&path| path.into()).collect();
    Kind { name: name.into(), chunk_type: chunk_type.into(), paths, ..Kind::default() }
}

/// Paths of pages that describe interfaces.
const API: &[&str] = &["**/api/**", "**/apis/**", "**/reference/**", "**/api.*"];

/// For documentation sites: a heading before what continues its section, and three kinds of pages by their paths.
fn docs() -> ChunkConfig {
    ChunkConfig {
        context: ContextRule::Heading,
        kinds: vec![
            // A method of an interface is looked up alone, however short it is.
            Kind { min_size: Some(0), ..kind("api", "api_methods", API) },
            // Half of a demo's code is of no use.
            Kind {
                keep_whole: Some(vec![Keep::Code]),
                ..kind("demo", "demo", &["**/demo/**", "**/demos/**", "**/example/**", "**/examples/**"])
            },
            kind("doc", "doc", &[]),
        ],
        ..auto()
    }
}

/// For course material: top-level sections, code and tables whole and apart, text with an overlap.
fn course() -> ChunkConfig {
    ChunkConfig {
        strategy: "sections".into(),
        unit: Unit::Chars,
        max_size: 1000,
        target_size: 1000,
        min_size: 100,
        overlap_size: 200,
        context: ContextRule::Heading,
        section_level: 1,
        packing: Packing::FirstFit,
        keep_whole: vec![Keep::Code, Keep::Table],
        set_apart: vec![Keep::Code, Keep::Table],
        ..auto()
    }
}

/// For source code: one chunk per function, class or method; lines if none are known.
fn code() -> ChunkConfig {
    ChunkConfig { max_size: 512, target_size: 400, min_size: 0, fixed_chunk_lines: 50, ..auto() }
}

/// For documents of mixed sizes: short documents whole, medium ones in windows, long ones by headings.
fn adaptive() -> ChunkConfig {
    ChunkConfig {
        strategy: "adaptive".into(),
        max_size: 800,
        target_size: 800,
        min_size: 50,
        overlap_size: 160,
        context: ContextRule::None,
        packing: Packing::FirstFit,
        kinds: vec![
            kind("api", "", API),
            kind("faq", "", &["**/faq/**", "**/faqs/**", "**/{faq,FAQ,faqs,FAQS}.*"]),
            kind(
                "release_notes",
                "",
                &[
                    "**/{releases,release-notes,release_notes,changelogs}/**",
                    "**/{changelog,CHANGELOG,CHANGES,HISTORY,NEWS,RELEASES}{,.*}",
                    "**/release{-,_}notes*",
                ],
            ),
        ],
        ..auto()
    }
}

/// As general-purpose splitters cut, with our guarantees; for comparison.
fn recursive() -> ChunkConfig {
    ChunkConfig { strategy: "recursive".into(), context: ContextRule::None, min_size: 0, ..auto() }
}
