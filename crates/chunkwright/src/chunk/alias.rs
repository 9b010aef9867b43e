//! Other names for keys of the configuration: those of the systems that the presets reproduce, so that their
//! configurations work unchanged.

use crate::chunk::Unit;

/// Another name for a key of [`ChunkConfig`](crate::ChunkConfig).
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The other name.
    pub name: &'static str,
    /// What it stands for.
    pub means: Means,
}

/// What an [`Alias`] stands for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Means {
    /// One key, with the same value.
    Key(&'static str),
    /// One key, a size in this unit.
    Size(&'static str, Unit),
    /// Keys and values, by its own value.
    Values(&'static [(&'static str, Assignments)]),
}

/// Keys with their values as text; lists are separated by commas.
pub type Assignments = &'static [(&'static str, &'static str)];

/// All aliases.
pub static ALIASES: &[Alias] = &[
    // `stable`.
    Alias { name: "max_chars", means: Means::Size("max_size", Unit::Chars) },
    Alias { name: "min_chars", means: Means::Size("min_size", Unit::Chars) },
    Alias {
        name: "keep_code_blocks_intact",
        means: Means::Values(&[("true", &[("keep_whole", "code")]), ("false", &[("keep_whole", "")])]),
    },
    // `course`.
    Alias { name: "min_chunk_size", means: Means::Size("min_size", Unit::Chars) },
    Alias { name: "max_chunk_size", means: Means::Size("max_size", Unit::Chars) },
    Alias { name: "chunk_size", means: Means::Size("max_size", Unit::Chars) },
    Alias { name: "chunk_overlap", means: Means::Size("overlap_size", Unit::Chars) },
    Alias {
        name: "code_block_strategy",
        means: Means::Values(&[
            ("hybrid", &[("keep_whole", "code,table"), ("set_apart", "code,table")]),
            ("whole", &[("keep_whole", "code,table"), ("set_apart", "")]),
            ("split", &[("keep_whole", ""), ("set_apart", "")]),
        ]),
    },
    Alias { name: "chunking_strategy", means: Means::Values(&[("semantic", &[("strategy", "sections")])]) },
    // `code`.
    Alias { name: "max_tokens", means: Means::Size("max_size", Unit::Tokens) },
    // `adaptive`.
    Alias {
        name: "chunk_strategy",
        means: Means::Values(&[
            ("adaptive", &[("strategy", "adaptive")]),
            ("simple", &[("strategy", "window")]),
        ]),
    },
    Alias { name: "adaptive_chunk_min_words_short", means: Means::Key("min_size") },
    Alias { name: "adaptive_chunk_max_words_short", means: Means::Key("short_size") },
    Alias { name: "adaptive_chunk_size_medium", means: Means::Key("medium_max_size") },
    Alias { name: "adaptive_chunk_overlap_medium", means: Means::Key("medium_overlap_size") },
    Alias { name: "adaptive_chunk_size_long", means: Means::Key("max_size") },
    Alias { name: "adaptive_chunk_overlap_long", means: Means::Key("overlap_size") },
];
