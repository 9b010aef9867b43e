//! Fusion: one ranking out of two.

use std::collections::HashMap;

use chunkwright::ChunkId;
use serde::{Deserialize, Serialize};

use crate::store::Scored;

/// How the dense and the lexical ranking become one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Fusion {
    /// Reciprocal rank fusion: the sum of `1 / (k + rank)` over the stages. Scores play no part.
    Rrf {
        /// The larger, the less the first ranks weigh. Not negative.
        k: f64,
    },
    /// `dense_weight * dense + (1 - dense_weight) * lexical`, both stages' scores stretched to 0..1
    /// over their candidates; a chunk that a stage did not find has 0 there.
    WeightedSum {
        /// From 0 (words only) to 1 (meaning only).
        dense_weight: f64,
    },
}

impl Fusion {
    /// What the literature uses for reciprocal rank fusion.
    pub const RRF_K: f64 = 60.0;

    /// The default weight of the dense stage.
    pub const DENSE_WEIGHT: f64 = 0.3;
}

impl Default for Fusion {
    fn default() -> Self {
        Self::WeightedSum { dense_weight: Self::DENSE_WEIGHT }
    }
}
