//! Measures of chunk sizes, of breaches of the limit, and of lost text.

use serde::{Deserialize, Serialize};

/// The sizes of a set of chunks. Tokens are those of the chunks' own text without blank ends, by the
/// counter of the evaluation: what a reader is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sizes {
    /// Number of chunks.
    pub chunks: usize,
    /// Arithmetic mean of tokens.
    pub mean: f64,
    /// Median, nearest rank.
    pub p50: usize,
    /// 95th percentile, nearest rank.
    pub p95: usize,
    /// The largest.
    pub max: usize,
    /// Share of chunks whose tokens are in the band asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub in_band: Option<f64>,
    /// Chunks that say that they are over the limit.
    pub oversize: usize,
    /// Chunks whose text is over the limit and that do not say so.
    pub over_limit: usize,
    /// Visible characters of the documents that are in a chunk, as a share.
    pub covered: f64,
}

/// The counts of one document, or of all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) tokens: Vec<usize>,
    pub(crate) oversize: usize,
    pub(crate) over_limit: usize,
    pub(crate) visible: usize,
    pub(crate) visible_in_chunks: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.tokens.extend(&other.tokens);
        self.oversize += other.oversize;
        self.over_limit += other.over_limit;
        self.visible += other.visible;
        self.visible_in_chunks += other.visible_in_chunks;
    }

    pub(crate) fn sizes(mut self, band: Option<[usize; 2]>) -> Sizes {
        self.tokens.sort_unstable();
        let tokens = &self.tokens;
        let percentile = |p: usize| match tokens.len() {
            0 => 0,
            count => tokens[(count * p).div_ceil(100).max(1) - 1],
        };
        Sizes {
            chunks: tokens.len(),
            mean: tokens.iter().sum::<usize>() as f64 / tokens.len().max(1) as f64,
            p50: percentile(50),
            p95: percentile(95),
            max: percentile(100),
            in_band: band.map(|band| chunkwright::stats::optimal_ratio(tokens, band)),
            oversize: self.oversize,
            over_limit: self.over_limit,
            covered: if self.visible == 0 {
                1.0
            } else {
                self.visible_in_chunks as f64 / self.visible as f64
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_summed_up() {
        let tally =
            Tally { tokens: (1..=100).rev().collect(), visible: 8, visible_in_chunks: 6, ..Tally::default() };
        let sizes = tally.sizes(Some([91, 200]));
        assert_eq!((sizes.chunks, sizes.p50, sizes.p95, sizes.max), (100, 50, 95, 100));
        assert_eq!((sizes.mean, sizes.in_band, sizes.covered), (50.5, Some(0.1), 0.75));
        let none = Tally::default().sizes(None);
        assert_eq!((none.chunks, none.max, none.covered), (0, 0, 1.0));
    }
}
