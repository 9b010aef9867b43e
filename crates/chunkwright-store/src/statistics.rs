//! Statistics of the chunks that pass a filter, as stores compute them.

use std::collections::BTreeMap;

use chunkwright::ChunkId;
use chunkwright::stats::{Distribution, TokenLevel, advice, optimal_ratio};
use serde::{Deserialize, Serialize};

use crate::filter::Filter;

/// Which chunks are counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct StatisticsRequest {
    /// Which chunks are counted, enabled or not. As in a search, summaries are only where it speaks of `artifact`.
    pub filter: Filter,
    /// Token counts that are wanted, both ends included.
    pub band: Option<[usize; 2]>,
    /// Where the ranges of the histogram begin, at most [`MOST_RANGES`]; a range from 0 is always there. Empty for
    /// [`TOKEN_RANGES`].
    pub ranges: Vec<usize>,
}

/// Most ranges of a token histogram that a request may have; further ones are ignored.
pub const MOST_RANGES: usize = 256;

/// Most repeated texts that are named.
pub(super) const MOST_REPEATED: usize = 10;

/// Most chunks of a repeated text that are named.
const MOST_NAMED: usize = 5;

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
    /// What to do about chunks of high levels; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Number of chunks by `language`; those of no known language are in none.
    pub languages: BTreeMap<String, usize>,
    /// Number of chunks by `category`.
    pub categories: BTreeMap<String, usize>,
    /// Number of chunks by `cut`: the rule by which they begin.
    #[serde(default)]
    pub cuts: BTreeMap<String, usize>,
    /// Texts that several chunks have.
    #[serde(default)]
    pub repeated: RepeatedTexts,
    /// The distribution of `token_count`; its percentiles are exact.
    pub tokens: Distribution,
    /// Number of chunks by `token_count`, in the ranges asked for ([`TOKEN_RANGES`] if none were).
    pub token_histogram: Vec<TokenRange>,
    /// The band asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub band: Option<[usize; 2]>,
    /// Share of the chunks whose `token_count` is in the band.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub optimal_ratio: Option<f64>,
}

/// Texts that several chunks have: what a search finds more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepeatedTexts {
    /// Chunks whose `text` another chunk has too.
    pub chunks: usize,
    /// Number of such texts.
    pub texts: usize,
    /// Those that most chunks have, at most 10.
    pub most: Vec<RepeatedText>,
}

/// A text that several chunks have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepeatedText {
    /// How many.
    pub chunks: usize,
    /// The first of them, at most 5.
    pub some: Vec<ChunkPlace>,
}

/// A chunk whose text others have too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChunkPlace {
    /// Its id.
    pub chunk_id: ChunkId,
    /// Its document.
    pub doc_id: String,
}

impl RepeatedText {
    /// Adds a chunk if there is room.
    pub(super) fn add(&mut self, doc_id: &str, chunk_id: ChunkId) {
        if self.some.len() < MOST_NAMED {
            self.some.push(ChunkPlace { chunk_id, doc_id: doc_id.into() });
        }
    }
}

/// Default starts of the ranges of a token histogram. The last range has no end.
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

impl StatisticsRequest {
    /// The starts of the histogram's ranges.
    fn starts(&self) -> Vec<usize> {
        if self.ranges.is_empty() {
            return TOKEN_RANGES.to_vec();
        }
        let mut starts = vec![0];
        starts.extend(&self.ranges);
        starts.sort_unstable();
        starts.dedup();
        starts.truncate(MOST_RANGES);
        starts
    }
}

impl Statistics {
    /// Fills in the fields derived from the token counts of all chunks.
    pub(super) fn with_tokens(mut self, tokens: Vec<usize>, request: &StatisticsRequest) -> Self {
        for level in [TokenLevel::Normal, TokenLevel::Warning, TokenLevel::Large, TokenLevel::Oversized] {
            self.levels.insert(level, 0);
        }
        let starts = request.starts();
        let ends = starts.iter().skip(1).map(|next| Some(next - 1)).chain([None]);
        let range = |(&from, to)| TokenRange { from, to, chunks: 0 };
        self.token_histogram = starts.iter().zip(ends).map(range).collect();
        for &count in &tokens {
            *self.levels.entry(TokenLevel::of(count)).or_default() += 1;
            let range = starts.partition_point(|from| *from <= count).saturating_sub(1);
            self.token_histogram[range].chunks += 1;
        }
        self.advice = advice(&self.levels);
        self.band = request.band;
        self.optimal_ratio = request.band.map(|band| optimal_ratio(&tokens, band));
        self.tokens = Distribution::of(tokens);
        self
    }
}
