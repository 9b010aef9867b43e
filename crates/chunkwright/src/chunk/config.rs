//! The configuration of cutting: plain data, checked once.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::chunk::kind::Kind;
use crate::chunk::strategy::{self, STRATEGIES};
use crate::chunk::unknown::UnknownFiles;
use crate::document::BlockKind;
use crate::preset;

/// What sizes are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Tokens of the chunker's counter.
    #[default]
    Tokens,
    /// Unicode scalar values.
    Chars,
}

impl Unit {
    /// Its plural noun, for sentences.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Chars => "characters",
        }
    }
}

/// What chunks borrow beside what well-formed text needs (reopened fences, table headers).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ContextRule {
    /// Nothing.
    None,
    /// The titles of the sections around the chunk; for source code the document's id and the
    /// signatures around the chunk.
    Path,
    /// As [`Path`](Self::Path), but of the titles only the innermost. Those further out are shared by
    /// all chunks of the document: they tell documents apart, not chunks. The keys of data are one name
    /// and stay together.
    #[default]
    Title,
    /// The heading of the chunk's section, as it stands in the source, unless the chunk begins with a
    /// heading; for source code as [`Path`](Self::Path).
    Heading,
}

/// How the blocks of a section that is too large are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Packing {
    /// Toward `target_size`, at places that an edit elsewhere does not move.
    #[default]
    Balanced,
    /// Toward `target_size`, all chunks alike, dividing blocks for it; an edit may move every cut of the
    /// section.
    Even,
    /// As much as the limit allows, from the first on.
    FirstFit,
}

/// A kind of block that may be kept whole or set apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Fenced and indented code in prose.
    Code,
    /// Tables.
    Table,
}

impl Keep {
    /// Whether it includes blocks of kind `kind`.
    fn holds(self, kind: BlockKind) -> bool {
        match self {
            Self::Code => kind == BlockKind::Code,
            Self::Table => kind == BlockKind::Table,
        }
    }
}

/// How a document is cut. Plain data: [`Chunker::new`] checks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ChunkConfig {
    /// Name of the strategy, one of [`STRATEGIES`] or of the caller's own ([`Chunker::with_strategy`]).
    ///
    /// [`Chunker::with_strategy`]: crate::Chunker::with_strategy
    pub strategy: String,
    /// What all sizes are counted in.
    pub unit: Unit,
    /// Hard limit of a chunk's text, borrowed text included.
    pub max_size: usize,
    /// Size aimed at where a section is split; at most `max_size`.
    pub target_size: usize,
    /// A chunk below this joins a neighbour under the same parent where it can.
    pub min_size: usize,
    /// Size of the text repeated from before a chunk that continues a section; it is borrowed, never
    /// owned twice.
    pub overlap_size: usize,
    /// What chunks borrow.
    pub context: ContextRule,
    /// Deepest heading level in `header_path`.
    pub max_heading_level_for_path: u8,
    /// Deepest heading level that begins a section of its own in the strategy `sections`; a document
    /// whose headings are all deeper is cut at its outermost level.
    pub section_level: u8,
    /// How the blocks of a section that is too large are put together.
    pub packing: Packing,
    /// Blocks that are never divided. One that is over the limit is a chunk marked `oversize`.
    pub keep_whole: Vec<Keep>,
    /// Blocks that are chunks of their own, with what leads into them.
    pub set_apart: Vec<Keep>,
    /// A paragraph shorter than this, in Unicode scalar values, may lead into the code, table or list
    /// after it and then stays with it. Seed value 200.
    pub lead_in_chars: usize,
    /// `adaptive`: a document below this size is one chunk, if it fits.
    pub short_size: usize,
    /// `adaptive`: a document over this size is long, and cut by its headings. In between it is medium.
    pub long_size: usize,
    /// `adaptive`: limit in medium documents, at most `max_size`, which holds for long ones.
    pub medium_max_size: usize,
    /// `adaptive`: overlap in medium documents, at most half of their limit; `overlap_size` holds for
    /// long ones.
    pub medium_overlap_size: usize,
    /// Least and greatest size wanted; `[0, 0]` wants none. Reports count the share of chunks within.
    /// `adaptive` cuts long documents toward it, across their sections.
    pub band: [usize; 2],
    /// Source code whose structure is not known is cut every so many lines, whatever the strategy; 0: by
    /// the strategy, as everything else. Seed value 50.
    pub fixed_chunk_lines: usize,
    /// How a file is cut whose extension nothing knows.
    pub unknown_files: UnknownFiles,
    /// Lines repeated from before a chunk that was cut by lines, of `fixed_chunk_lines`. Seed value 5.
    pub overlap_lines: usize,
    /// What documents are, by their paths; the first that matches holds.
    pub kinds: Vec<Kind>,
}

impl Default for ChunkConfig {
    /// The preset `auto`.
    fn default() -> Self {
        preset::auto()
    }
}

/// A configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No strategy has this name.
    #[error("unknown strategy `{name}`; known are {}", names(STRATEGIES.iter().map(|strategy| strategy.name())))]
    UnknownStrategy {
        /// The requested name.
        name: String,
    },
    /// A strategy of the caller's own has a name that it cannot have.
    #[error(
        "a strategy cannot be named `{name}`; a name is a word of lower-case letters, digits, `_` and `-`, and none of {}",
        names(STRATEGIES.iter().map(|strategy| strategy.name()))
    )]
    StrategyName {
        /// The name.
        name: String,
    },
    /// No preset has this name.
    #[error("unknown preset `{name}`; known are {}", names(preset::PRESETS.iter().map(|preset| preset.name)))]
    UnknownPreset {
        /// The requested name.
        name: String,
    },
    /// A size that no document has.
    #[error("`{field}` is `{size}`; it must be at most `{}`", ChunkConfig::GREATEST_SIZE)]
    TooLarge {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        size: usize,
    },
    /// A pattern in `kinds` that is not a glob.
    #[error("invalid glob `{pattern}`: {error}")]
    Glob {
        /// The pattern.
        pattern: String,
        /// The error of the pattern.
        error: fast_glob::Error,
    },
    /// `max_size` leaves no room for text.
    #[error("`max_size` is `{max_size}`; it must be at least `{}`", ChunkConfig::LEAST_MAX_SIZE)]
    MaxSizeTooSmall {
        /// The requested size.
        max_size: usize,
    },
    /// A size is larger than `max_size`.
    #[error("`{field}` is `{size}`; it must be at most `max_size`, which is `{max_size}`")]
    OverMaxSize {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        size: usize,
        /// The limit.
        max_size: usize,
    },
    /// `overlap_size` would leave less than half of a chunk to its own text.
    #[error(
        "`overlap_size` is `{overlap_size}`; it must be at most half of `max_size`, which is `{max_size}`"
    )]
    OverlapTooLarge {
        /// The requested size.
        overlap_size: usize,
        /// The limit.
        max_size: usize,
    },
    /// Lines repeated would be all of a chunk.
    #[error(
        "`overlap_lines` is `{overlap_lines}`; it must be less than the lines of a chunk, which are `{lines}`"
    )]
    OverlapLines {
        /// The requested number of lines.
        overlap_lines: usize,
        /// The number of lines in a chunk.
        lines: usize,
    },
    /// A heading level outside 1 to 6.
    #[error("`{field}` is `{level}`; it must be from 1 to 6")]
    HeadingLevel {
        /// Name of the field.
        field: &'static str,
        /// The requested level.
        level: u8,
    },
    /// A band whose ends are not in order.
    #[error(
        "`band` is `{least}-{greatest}`; it must be a least and a greatest size, such as `410-614`, or `0-0` for none"
    )]
    Band {
        /// Its first value.
        least: usize,
        /// Its second value.
        greatest: usize,
    },
    /// Documents cannot be short and long at once.
    #[error("`short_size` is `{short_size}`; it must be at most `long_size`, which is `{long_size}`")]
    ShortOverLong {
        /// The size below which a document is short.
        short_size: usize,
        /// The size over which it is long.
        long_size: usize,
    },
}

impl ConfigError {
    /// The keys whose values contradict each other or are wrong, that at fault first.
    pub fn keys(&self) -> Vec<&'static str> {
        match self {
            Self::UnknownStrategy { .. } | Self::StrategyName { .. } => vec!["strategy"],
            Self::UnknownPreset { .. } => vec!["preset"],
            Self::TooLarge { field, .. } | Self::HeadingLevel { field, .. } => vec![field],
            Self::Glob { .. } => vec!["kinds"],
            Self::MaxSizeTooSmall { .. } => vec!["max_size"],
            Self::OverMaxSize { field, .. } => vec![field, "max_size"],
            Self::OverlapTooLarge { .. } => vec!["overlap_size", "max_size"],
            Self::OverlapLines { .. } => vec!["overlap_lines", "fixed_chunk_lines"],
            Self::Band { .. } => vec!["band"],
            Self::ShortOverLong { .. } => vec!["short_size", "long_size"],
        }
    }
}

/// `a, b and c`, for messages that say what would be right.
fn names(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl ChunkConfig {
    /// Least `max_size`: below it a single character with its token fallback might not fit.
    pub const LEAST_MAX_SIZE: usize = 8;

    /// Greatest value of any size: no document is longer, and no sum of two overflows.
    pub const GREATEST_SIZE: usize = u32::MAX as usize;

    /// Lines of a chunk in the strategy `lines` if `fixed_chunk_lines` is not set.
    pub const DEFAULT_LINES: usize = 50;

    /// Checks every value.
    ///
    /// # Errors
    ///
    /// The first value that cannot be used, and what would be right.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_all().into_iter().next().map_or(Ok(()), Err)
    }

    /// Checks every value, and returns everything that is wrong.
    pub fn check_all(&self) -> Vec<ConfigError> {
        let mut problems = self.problems();
        problems.extend(strategy::known(&self.strategy).err());
        problems
    }

    /// Checks every value but the name of the strategy.
    pub(crate) fn check_values(&self) -> Result<(), ConfigError> {
        self.problems().into_iter().next().map_or(Ok(()), Err)
    }

    /// Everything that is wrong with the values, but for the name of the strategy.
    fn problems(&self) -> Vec<ConfigError> {
        let mut problems = Vec::new();
        let mut wrong_if = |is_wrong: bool, error: ConfigError| {
            if is_wrong {
                problems.push(error);
            }
        };
        let max_size = self.max_size;
        for (field, size) in [
            ("max_size", max_size),
            ("lead_in_chars", self.lead_in_chars),
            ("short_size", self.short_size),
            ("long_size", self.long_size),
            ("medium_max_size", self.medium_max_size),
            ("medium_overlap_size", self.medium_overlap_size),
            ("band", self.band[1]),
            ("fixed_chunk_lines", self.fixed_chunk_lines),
        ] {
            wrong_if(size > Self::GREATEST_SIZE, ConfigError::TooLarge { field, size });
        }
        wrong_if(max_size < Self::LEAST_MAX_SIZE, ConfigError::MaxSizeTooSmall { max_size });
        for (field, size) in [("min_size", self.min_size), ("target_size", self.target_size)] {
            wrong_if(size > max_size, ConfigError::OverMaxSize { field, size, max_size });
        }
        let overlap_size = self.overlap_size;
        wrong_if(overlap_size > max_size / 2, ConfigError::OverlapTooLarge { overlap_size, max_size });
        let (lines, overlap_lines) = (self.lines_or_default(), self.overlap_lines);
        wrong_if(overlap_lines >= lines, ConfigError::OverlapLines { overlap_lines, lines });
        let (short_size, long_size) = (self.short_size, self.long_size);
        wrong_if(short_size > long_size, ConfigError::ShortOverLong { short_size, long_size });
        let [least, greatest] = self.band;
        let is_band = (least, greatest) == (0, 0) || (least > 0 && least < greatest);
        wrong_if(!is_band, ConfigError::Band { least, greatest });
        for (field, level) in [
            ("max_heading_level_for_path", self.max_heading_level_for_path),
            ("section_level", self.section_level),
        ] {
            wrong_if(!(1..=6).contains(&level), ConfigError::HeadingLevel { field, level });
        }
        for pattern in self.kinds.iter().flat_map(|kind| &kind.paths) {
            if let Err(error) = fast_glob::validate(pattern) {
                wrong_if(true, ConfigError::Glob { pattern: pattern.clone(), error });
            }
        }
        problems
    }

    /// Lines of a chunk that is cut by lines.
    pub(crate) fn lines_or_default(&self) -> usize {
        if self.fixed_chunk_lines > 0 { self.fixed_chunk_lines } else { Self::DEFAULT_LINES }
    }

    /// `band`, if one is wanted.
    pub fn band_wanted(&self) -> Option<[usize; 2]> {
        Some(self.band).filter(|&band| band != [0, 0])
    }

    /// Whether blocks of `kind` are never divided.
    pub(crate) fn keeps(&self, kind: BlockKind) -> bool {
        self.keep_whole.iter().any(|keep| keep.holds(kind))
    }

    /// Whether blocks of `kind` are chunks of their own.
    pub(crate) fn sets_apart(&self, kind: BlockKind) -> bool {
        self.set_apart.iter().any(|keep| keep.holds(kind))
    }

    /// The kind of the document with this id, if one of `kinds` matches.
    pub fn kind(&self, doc_id: &str) -> Option<&Kind> {
        let matches = |kind: &&Kind| {
            kind.paths.is_empty() || kind.paths.iter().any(|path| fast_glob::glob_match(path, doc_id))
        };
        self.kinds.iter().find(matches)
    }

    /// The configuration for the document with this id.
    pub fn for_document(&self, doc_id: &str) -> Cow<'_, Self> {
        let mut config = Cow::Borrowed(self);
        if let Some(kind) = self.kind(doc_id) {
            kind.apply(&mut config);
        }
        config
    }
}
