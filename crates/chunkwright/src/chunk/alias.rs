//! Aliases of configuration keys: the names that other systems use, so that configurations of systems that a preset
//! reproduces work unchanged. A key of such a system selects the preset that stands for it.

use crate::chunk::Unit;

/// Another name for a key of [`ChunkConfig`](crate::ChunkConfig).
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The other name.
    pub name: &'static str,
    /// The preset that reproduces the system whose name it is.
    pub preset: &'static str,
    /// Its meaning.
    pub means: Means,
}

/// The meaning of an [`Alias`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Means {
    /// One key, with the same value.
    Key(&'static str),
    /// One key, a size that recommends itself: unless a `band` is set beside it, that of a fifth around it.
    Banded(&'static str),
    /// One key, a size in this unit.
    Size(&'static str, Unit),
    /// One key, a size in this unit, of a system that indexes nothing but source code: unless `unknown_files` is set beside
    /// it, that is `lines`.
    CodeSize(&'static str, Unit),
    /// Keys and values, by its own value.
    Values(&'static [(&'static str, Assignments)]),
}

/// Keys with their values as text; lists are separated by commas.
pub type Assignments = &'static [(&'static str, &'static str)];

/// All aliases.
pub static ALIASES: &[Alias] = &[
    // `stable`.
    Alias { name: "max_chars", preset: "stable", means: Means::Size("max_size", Unit::Chars) },
    Alias { name: "min_chars", preset: "stable", means: Means::Size("min_size", Unit::Chars) },
    Alias {
        name: "keep_code_blocks_intact",
        preset: "stable",
        means: Means::Values(&[("true", &[("keep_whole", "code")]), ("false", &[("keep_whole", "")])]),
    },
    // `course`.
    Alias { name: "min_chunk_size", preset: "course", means: Means::Size("min_size", Unit::Chars) },
    Alias { name: "max_chunk_size", preset: "course", means: Means::Size("max_size", Unit::Chars) },
    Alias { name: "chunk_size", preset: "course", means: Means::Size("max_size", Unit::Chars) },
    Alias { name: "chunk_overlap", preset: "course", means: Means::Size("overlap_size", Unit::Chars) },
    Alias {
        name: "code_block_strategy",
        preset: "course",
        means: Means::Values(&[
            ("hybrid", &[("keep_whole", "code,table"), ("set_apart", "code,table")]),
            ("whole", &[("keep_whole", "code,table"), ("set_apart", "")]),
            ("split", &[("keep_whole", ""), ("set_apart", "")]),
        ]),
    },
    Alias {
        name: "chunking_strategy",
        preset: "course",
        means: Means::Values(&[("semantic", &[("strategy", "sections")])]),
    },
    // `code`.
    // The design cuts every file without a syntax tree by lines.
    Alias { name: "max_tokens", preset: "code", means: Means::CodeSize("max_size", Unit::Tokens) },
    // `adaptive`.
    Alias {
        name: "chunk_strategy",
        preset: "adaptive",
        means: Means::Values(&[
            ("adaptive", &[("strategy", "adaptive")]),
            ("simple", &[("strategy", "window")]),
        ]),
    },
    Alias { name: "adaptive_chunk_min_words_short", preset: "adaptive", means: Means::Key("min_size") },
    Alias { name: "adaptive_chunk_max_words_short", preset: "adaptive", means: Means::Key("short_size") },
    // The design recommends 512 tokens ± 20 %, and that more than 80 % of the chunks lie within.
    Alias { name: "adaptive_chunk_size_medium", preset: "adaptive", means: Means::Banded("medium_max_size") },
    Alias {
        name: "adaptive_chunk_overlap_medium",
        preset: "adaptive",
        means: Means::Key("medium_overlap_size"),
    },
    Alias { name: "adaptive_chunk_size_long", preset: "adaptive", means: Means::Key("max_size") },
    Alias { name: "adaptive_chunk_overlap_long", preset: "adaptive", means: Means::Key("overlap_size") },
];

/// A name of another system's strategy, understood wherever a strategy or a preset is named.
#[derive(Clone, Copy, Debug)]
pub struct OtherName {
    /// The name.
    pub name: &'static str,
    /// The strategy that it stands for.
    pub strategy: &'static str,
    /// The preset that reproduces the system whose name it is.
    pub preset: &'static str,
}

/// All names of other systems' strategies.
pub static OTHER_NAMES: &[OtherName] = &[
    OtherName { name: "semantic", strategy: "sections", preset: "course" },
    OtherName { name: "simple", strategy: "window", preset: "adaptive" },
];

impl OtherName {
    /// The meaning of another system's strategy of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        OTHER_NAMES.iter().find(|other| other.name == name)
    }
}
