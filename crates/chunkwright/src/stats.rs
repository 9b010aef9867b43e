//! Statistics of chunk sizes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a chunk's token count reads to an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TokenLevel {
    /// Below 512.
    Normal,
    /// From 512, below 1024.
    Warning,
    /// From 1024 to 2048.
    Large,
    /// Above 2048.
    Oversized,
}

impl TokenLevel {
    /// Every level, in order.
    pub const ALL: &[Self] = &[Self::Normal, Self::Warning, Self::Large, Self::Oversized];

    /// The level of a chunk of `tokens` tokens.
    pub fn of(tokens: usize) -> Self {
        match tokens {
            0..512 => Self::Normal,
            512..1024 => Self::Warning,
            1024..=2048 => Self::Large,
            _ => Self::Oversized,
        }
    }

    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Warning => "warning",
            Self::Large => "large",
            Self::Oversized => "oversized",
        }
    }
}

/// Advice where chunks are [`Large`](TokenLevel::Large) or larger; `None` where none is.
pub fn advice(levels: &BTreeMap<TokenLevel, usize>) -> Option<String> {
    let of = |level| levels.get(&level).copied().unwrap_or_default();
    let (chunks, large) = (levels.values().sum::<usize>(), of(TokenLevel::Large) + of(TokenLevel::Oversized));
    (large > 0).then(|| {
        format!(
            "{large} of {chunks} chunks have 1024 tokens or more: reduce `max_size` (`chunk_size` of a course); code and tables that are kept whole stay so, unless they are divided in the source"
        )
    })
}

/// The distribution of a set of sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// Number of values.
    pub count: usize,
    /// Sum of all values.
    pub sum: usize,
    /// Arithmetic mean; 0 for no values.
    pub mean: f64,
    /// Least value.
    pub min: usize,
    /// 10th percentile, nearest rank.
    pub p10: usize,
    /// Median, nearest rank.
    pub p50: usize,
    /// 90th percentile, nearest rank.
    pub p90: usize,
    /// 99th percentile, nearest rank.
    pub p99: usize,
    /// Greatest value.
    pub max: usize,
}

impl Distribution {
    /// The distribution of `values`, which may be in any order.
    pub fn of(mut values: Vec<usize>) -> Self {
        values.sort_unstable();
        let (Some(&min), Some(&max)) = (values.first(), values.last()) else { return Self::default() };
        let percentile = |p: usize| values[(values.len() * p).div_ceil(100).max(1) - 1];
        let sum: usize = values.iter().sum();
        Self {
            count: values.len(),
            sum,
            mean: sum as f64 / values.len() as f64,
            min,
            p10: percentile(10),
            p50: percentile(50),
            p90: percentile(90),
            p99: percentile(99),
            max,
        }
    }
}

/// Share of `values` inside `band`, both ends included; 0 for no values.
pub fn optimal_ratio(values: &[usize], band: [usize; 2]) -> f64 {
    let inside = values.iter().filter(|&&value| (band[0]..=band[1]).contains(&value)).count();
    if values.is_empty() { 0.0 } else { inside as f64 / values.len() as f64 }
}
