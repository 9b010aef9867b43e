//! Statistics of the chunks that pass a filter, as stores compute them.

use std::collections::BTreeMap;

use chunkwright::stats::{Distribution, TokenLevel, optimal_ratio};
use serde::{Deserialize, Serialize};

use super::Filter;

/// Which chunks are counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct StatisticsRequest {
    /// Which chunks are counted, enabled or not. As in a search, summaries are only where it speaks of `artifact`.
    pub filter: Filter,
    /// Token counts that are wanted, both ends included.
    pub band: Option<[usize; 2]>,
}

/// What the chunks that pass a filter are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statistics {
    /// Documents with a chunk that passes.
    pub documents: usize,
    /// Chunks.
    pub chunks: usize,
    /// Those that searches may find.
    pub enabled: usize,
    /// Those that were disabled by hand.
    pub disabled: usize,
    /// Number of chunks by `strategy_version`.
    pub strategy_versions: BTreeMap<String, usize>,
    /// Number of chunks by `content_type`.
    pub content_types: BTreeMap<String, usize>,
    /// Number of chunks by `chunk_type`.
    pub chunk_types: BTreeMap<String, usize>,
    /// Number of chunks by `token_level`, each level named.
    pub levels: BTreeMap<TokenLevel, usize>,
    /// Number of chunks by `language`; those of no known language are in none.
    pub languages: BTreeMap<String, usize>,
    /// Number of chunks by `category`.
    pub categories: BTreeMap<String, usize>,
    /// The distribution of `token_count`; its percentiles are exact.
    pub tokens: Distribution,
    /// Number of chunks by `token_count`, in ranges that are always the same ([`TOKEN_RANGES`]).
    pub token_histogram: Vec<TokenRange>,
    /// The band asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub band: Option<[usize; 2]>,
    /// Share of the chunks whose `token_count` is in the band.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub optimal_ratio: Option<f64>,
}

/// Where the ranges of a token histogram begin. The last one has no end.
pub const TOKEN_RANGES: [usize; 9] = [0, 32, 64, 128, 256, 384, 512, 1024, 2049];

/// A range of token counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenRange {
    /// Least count in it.
    pub from: usize,
    /// Greatest count in it; none for the last range.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<usize>,
    /// Number of chunks.
    pub chunks: usize,
}

impl Statistics {
    /// Fills in what follows from the token counts of all chunks.
    pub(super) fn with_tokens(mut self, tokens: Vec<usize>, band: Option<[usize; 2]>) -> Self {
        for level in [TokenLevel::Normal, TokenLevel::Warning, TokenLevel::Large, TokenLevel::Oversized] {
            self.levels.insert(level, 0);
        }
        let ends = TOKEN_RANGES.iter().skip(1).map(|next| Some(next - 1)).chain([None]);
        let range = |(&from, to)| TokenRange { from, to, chunks: 0 };
        self.token_histogram = TOKEN_RANGES.iter().zip(ends).map(range).collect();
        for &count in &tokens {
            *self.levels.entry(TokenLevel::of(count)).or_default() += 1;
            let range = TOKEN_RANGES.partition_point(|from| *from <= count).saturating_sub(1);
            self.token_histogram[range].chunks += 1;
        }
        self.band = band;
        self.optimal_ratio = band.map(|band| optimal_ratio(&tokens, band));
        self.tokens = Distribution::of(tokens);
        self
    }
}
