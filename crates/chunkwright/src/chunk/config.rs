//! How a document is cut: plain data, checked once.

use serde::{Deserialize, Serialize};

use crate::chunk::{STRATEGIES, strategy};
use crate::preset;

/// What sizes are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Tokens of the chunker's counter.
    #[default]
    Tokens,
    /// Unicode scalar values.
    Chars,
}

/// What chunks borrow beside what well-formed text needs (reopened fences, table headers).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContextRule {
    /// Nothing.
    None,
    /// The titles of the sections around the chunk; for source code the document's id and the
    /// signatures around the chunk.
    #[default]
    Path,
}

/// How a document is cut. Plain data: [`Chunker::new`] checks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChunkConfig {
    /// Name of the strategy, one of [`STRATEGIES`].
    pub strategy: String,
    /// What all sizes are counted in.
    pub unit: Unit,
    /// Hard limit of a chunk's text, borrowed text included.
    pub max_size: usize,
    /// Size aimed at where a section is divided; at most `max_size`.
    pub target_size: usize,
    /// A chunk below this joins a neighbour under the same parent where it can.
    pub min_size: usize,
    /// Size of the text repeated from before each chunk; it is borrowed, never owned twice.
    pub overlap_size: usize,
    /// What chunks borrow.
    pub context: ContextRule,
    /// Deepest heading level in `header_path`.
    pub max_heading_level_for_path: u8,
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
        /// The name that was asked for.
        name: String,
    },
    /// No preset has this name.
    #[error("unknown preset `{name}`; known are {}", names(preset::PRESETS.iter().map(|preset| preset.name)))]
    UnknownPreset {
        /// The name that was asked for.
        name: String,
    },
    /// `max_size` leaves no room for text.
    #[error("`max_size` is `{max_size}`; it must be at least `{}`", ChunkConfig::LEAST_MAX_SIZE)]
    MaxSizeTooSmall {
        /// The size that was asked for.
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
        /// The size that was asked for.
        overlap_size: usize,
        /// The limit.
        max_size: usize,
    },
    /// A heading level outside 1 to 6.
    #[error("`max_heading_level_for_path` is `{level}`; it must be from 1 to 6")]
    HeadingLevel {
        /// The level that was asked for.
        level: u8,
    },
}

/// `a, b and c`, for messages that say what would be right.
fn names(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl ChunkConfig {
    /// Least `max_size`: below it a single character with its token fallback might not fit.
    pub const LEAST_MAX_SIZE: usize = 8;

    /// Checks every value.
    ///
    /// # Errors
    ///
    /// The first value that cannot be used, and what would be right.
    pub fn check(&self) -> Result<(), ConfigError> {
        let max_size = self.max_size;
        if max_size < Self::LEAST_MAX_SIZE {
            return Err(ConfigError::MaxSizeTooSmall { max_size });
        }
        for (field, size) in [("min_size", self.min_size), ("target_size", self.target_size)] {
            if size > max_size {
                return Err(ConfigError::OverMaxSize { field, size, max_size });
            }
        }
        if self.overlap_size > max_size / 2 {
            return Err(ConfigError::OverlapTooLarge { overlap_size: self.overlap_size, max_size });
        }
        if !(1..=6).contains(&self.max_heading_level_for_path) {
            return Err(ConfigError::HeadingLevel { level: self.max_heading_level_for_path });
        }
        strategy(&self.strategy).map(|_| ())
    }
}
