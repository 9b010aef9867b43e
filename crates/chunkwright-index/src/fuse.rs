//! Fusion: merges two or three rankings into one.

use std::collections::HashMap;

use chunkwright::ChunkId;
use serde::{Deserialize, Serialize};

use chunkwright_store::Scored;

/// How the rankings of the stages become one. The sparse stage is there where the model gives sparse vectors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Fusion {
    /// Reciprocal rank fusion: the sum of `1 / (k + rank)` over the stages. Scores play no part.
    Rrf {
        /// The larger, the less the first ranks weigh. Not negative.
        #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
        k: f64,
    },
    /// `dense_weight * dense + (1 - dense_weight) * tokens`, where `tokens` is `lexical`, or with a sparse
    /// stage `sparse_weight * sparse + (1 - sparse_weight) * lexical`. The scores of each stage are stretched
    /// to 0..1 over its candidates; a chunk that a stage did not find has 0 there.
    WeightedSum {
        /// From 0 (words only) to 1 (meaning only); absent for that of the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        dense_weight: Option<f64>,
        /// From 0 (BM25 only) to 1 (the model's weights only). Of no effect without a sparse stage.
        #[serde(default = "sparse_weight")]
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        sparse_weight: f64,
        /// From 0 (not looked at) to 1 (it alone orders the best): the weight of late interaction in a second look at the
        /// best. Of no effect without a model that gives codes of tokens.
        #[serde(default = "late_weight")]
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        late_weight: f64,
    },
}

fn late_weight() -> f64 {
    Fusion::LATE_WEIGHT
}

fn sparse_weight() -> f64 {
    Fusion::SPARSE_WEIGHT
}

impl Fusion {
    /// The usual constant of reciprocal rank fusion in the literature.
    pub const RRF_K: f64 = 60.0;

    /// The weight of the dense stage of a model that has [none of its own](crate::Calibration::dense_weight).
    /// Measured as recall in 1,000 tokens: with static vectors on five question sets 67.0 at 0.4, 66.1 to 66.3 at
    /// 0.3 and 0.5, 64.2 for BM25 alone, and 59.5 for reciprocal rank fusion, where a weak model has equal weight;
    /// with e5 on Chinese questions 68.4 at 0.4, 66.3 at 0.5, 60.8 for BM25 alone, and 66.8 for reciprocal rank
    /// fusion.
    pub const DENSE_WEIGHT: f64 = 0.4;

    /// The default weight of the sparse stage against the lexical one. With [`DENSE_WEIGHT`](Self::DENSE_WEIGHT) it
    /// weighs dense, sparse and BM25 by 0.4, 0.2 and 0.4: the weights of the dense and sparse scores in the README of
    /// BGE-M3, where late interaction has the rest. We have not measured it, and its authors do not always use it: for
    /// long documents (MLDR) they fuse 0.2 dense with 0.8 sparse.
    pub const SPARSE_WEIGHT: f64 = 1.0 / 3.0;

    /// The default weight of late interaction.
    pub const LATE_WEIGHT: f64 = 0.5;

    /// A weighted sum with this weight of the dense stage.
    pub fn weighted_sum(dense_weight: f64) -> Self {
        Self::default().or_dense_weight(dense_weight)
    }

    /// The same with this weight of the dense stage, where it has none.
    pub(crate) fn or_dense_weight(self, usual: f64) -> Self {
        match self {
            Self::WeightedSum { dense_weight: None, sparse_weight, late_weight } => {
                Self::WeightedSum { dense_weight: Some(usual), sparse_weight, late_weight }
            }
            set => set,
        }
    }

    /// The weight of late interaction; 0 where ranks are fused.
    pub fn late_weight(self) -> f64 {
        match self {
            Self::WeightedSum { late_weight, .. } => late_weight,
            Self::Rrf { .. } => 0.0,
        }
    }

    /// One ranking of everything in any stage, best first; equal scores by chunk id. `sparse` is `None` if that stage
    /// did not run.
    pub fn fuse(self, dense: &[Scored], sparse: Option<&[Scored]>, lexical: &[Scored]) -> Vec<Scored> {
        self.fuse_with_share(1.0, dense, sparse, lexical)
    }

    /// As [`fuse`](Self::fuse), for a model that reads a share of the query, from 0 to 1. Below 0.5 only the lexical
    /// stage counts, since such a model misses most of the question. From 0.5 on, a weighted sum scales the weight of
    /// the dense stage by the share; reciprocal rank fusion has no weights.
    pub fn fuse_with_share(
        self,
        share: f64,
        dense: &[Scored],
        sparse: Option<&[Scored]>,
        lexical: &[Scored],
    ) -> Vec<Scored> {
        let all = dense.len() + sparse.map_or(0, <[Scored]>::len) + lexical.len();
        let mut scores: HashMap<ChunkId, f64> = HashMap::with_capacity(all);
        let stages = [dense, sparse.unwrap_or_default(), lexical];
        for (stage, contribution) in stages.into_iter().zip(self.contributions(share, dense, sparse, lexical))
        {
            let Some(contribution) = contribution else { continue };
            for (index, scored) in stage.iter().enumerate() {
                *scores.entry(scored.id).or_default() += contribution.of(index, scored.score);
            }
        }
        let mut fused: Vec<Scored> = scores.into_iter().map(|(id, score)| Scored { id, score }).collect();
        fused.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        fused
    }

    /// The contributions of the dense, the sparse and the lexical stage to the scores of their candidates; `None` for a
    /// stage that is left out of the fusion.
    pub(crate) fn contributions(
        self,
        share: f64,
        dense: &[Scored],
        sparse: Option<&[Scored]>,
        lexical: &[Scored],
    ) -> [Option<Contribution>; 3] {
        let is_read = share >= 0.5;
        let usual = |weight: Option<f64>| weight.unwrap_or(Self::DENSE_WEIGHT);
        match self {
            Self::Rrf { k } => {
                let by_rank = Contribution::ByRank { k };
                [is_read.then_some(by_rank), sparse.filter(|_| is_read).map(|_| by_rank), Some(by_rank)]
            }
            Self::WeightedSum { dense_weight, .. } if !is_read => {
                [None, None, Some(Contribution::by_score(lexical, 1.0 - usual(dense_weight)))]
            }
            Self::WeightedSum { dense_weight, sparse_weight, .. } => {
                let dense_weight = usual(dense_weight) * share;
                let rest = 1.0 - dense_weight;
                let (own, words) = match sparse {
                    Some(_) => (rest * sparse_weight, rest * (1.0 - sparse_weight)),
                    None => (0.0, rest),
                };
                [
                    Some(Contribution::by_score(dense, dense_weight)),
                    sparse.map(|sparse| Contribution::by_score(sparse, own)),
                    Some(Contribution::by_score(lexical, words)),
                ]
            }
        }
    }
}

/// The contribution of a stage to the fused score of its candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Contribution {
    ByRank { k: f64 },
    ByScore { least: f64, span: f64, weight: f64 },
}

impl Contribution {
    fn by_score(stage: &[Scored], weight: f64) -> Self {
        let (least, span) = range(stage);
        Self::ByScore { least, span, weight }
    }

    /// The contribution to the candidate with this score at `index`, counted from 0.
    pub(crate) fn of(self, index: usize, score: f64) -> f64 {
        match self {
            Self::ByRank { k } => 1.0 / (k + index as f64 + 1.0),
            // If all candidates score the same, all of them are the best.
            Self::ByScore { least, span, weight } => {
                weight * if span > 0.0 { (score - least) / span } else { 1.0 }
            }
        }
    }
}

impl Default for Fusion {
    fn default() -> Self {
        let (sparse_weight, late_weight) = (Self::SPARSE_WEIGHT, Self::LATE_WEIGHT);
        Self::WeightedSum { dense_weight: None, sparse_weight, late_weight }
    }
}

/// Least score and the distance to the greatest; the scores of a stage are in order.
fn range(stage: &[Scored]) -> (f64, f64) {
    match (stage.first(), stage.last()) {
        (Some(first), Some(last)) => (last.score, first.score - last.score),
        _ => (0.0, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(scores: &[(u8, f64)]) -> Vec<Scored> {
        scores.iter().map(|&(id, score)| Scored { id: ChunkId([id; 16]), score }).collect()
    }

    #[track_caller]
    fn check(fusion: Fusion, dense: &[(u8, f64)], lexical: &[(u8, f64)], expected: &[(u8, f64)]) {
        let fused = fusion.fuse(&stage(dense), None, &stage(lexical));
        let fused: Vec<(u8, f64)> =
            fused.iter().map(|hit| (hit.id.0[0], (hit.score * 1e4).round() / 1e4)).collect();
        assert_eq!(fused, expected);
    }

    #[test]
    fn reciprocal_rank_adds_what_each_rank_is_worth() {
        let expected = [(2, 0.0325), (1, 0.0164), (3, 0.0161)];
        check(Fusion::Rrf { k: 60.0 }, &[(1, 0.9), (2, 0.8)], &[(2, 7.0), (3, 1.0)], &expected);
    }

    #[test]
    fn the_weighted_sum_stretches_each_stage() {
        let expected = [(2, 0.825), (1, 0.5), (3, 0.0), (4, 0.0)];
        let (dense, lexical) = ([(1, 0.9), (2, 0.76), (3, 0.5)], [(2, 8.0), (4, 2.0)]);
        check(Fusion::weighted_sum(0.5), &dense, &lexical, &expected);
    }

    #[test]
    fn a_sparse_stage_shares_what_dense_leaves_with_words() {
        let (dense, lexical) = (stage(&[(1, 0.9), (2, 0.76), (3, 0.5)]), stage(&[(2, 8.0), (4, 2.0)]));
        let sparse = stage(&[(3, 5.0), (2, 3.0), (5, 1.0)]);
        let fused = |fusion: Fusion, sparse: Option<&[Scored]>| -> Vec<(u8, f64)> {
            let fused = fusion.fuse(&dense, sparse, &lexical);
            fused.iter().map(|hit| (hit.id.0[0], (hit.score * 1e4).round() / 1e4)).collect()
        };
        let sum = Fusion::WeightedSum { dense_weight: Some(0.5), sparse_weight: 0.4, late_weight: 0.0 };
        let expected = [(2, 0.725), (1, 0.5), (3, 0.2), (4, 0.0), (5, 0.0)];
        assert_eq!(fused(sum, Some(&sparse)), expected);
        // A stage that ran and found nothing differs from one that did not run.
        assert_eq!(fused(sum, Some(&[]))[0], (2, 0.625));
        assert_eq!(fused(sum, None), fused(Fusion::weighted_sum(0.5), None));
        let rrf = fused(Fusion::Rrf { k: 60.0 }, Some(&sparse));
        assert_eq!(rrf[..2], [(2, 0.0487), (3, 0.0323)]);
        let shares =
            [0.4, 1.0 / 3.0].map(|share| sum.fuse_with_share(share, &dense, Some(&sparse), &lexical));
        assert_eq!(shares[0], Fusion::weighted_sum(0.5).fuse(&[], None, &lexical));
        assert_eq!(shares[0], shares[1]);
    }

    #[test]
    fn a_weighted_sum_may_be_configured_without_weights() {
        let read = |json: &str| serde_json::from_str::<Fusion>(json).unwrap();
        assert_eq!(read(r#"{"method": "weighted_sum"}"#), Fusion::default());
        let set = read(r#"{"method": "weighted_sum", "dense_weight": 0.7}"#);
        assert_eq!(set, Fusion::weighted_sum(0.7));
        assert_eq!(set.or_dense_weight(0.6), set);
        assert_eq!(Fusion::default().or_dense_weight(0.6), Fusion::weighted_sum(0.6));
        let (dense, lexical) = (stage(&[(1, 0.9), (2, 0.1)]), stage(&[(2, 8.0), (1, 2.0)]));
        let usual = Fusion::weighted_sum(Fusion::DENSE_WEIGHT).fuse(&dense, None, &lexical);
        assert_eq!(Fusion::default().fuse(&dense, None, &lexical), usual);
    }

    #[test]
    fn a_model_that_reads_little_of_the_query_has_little_to_say() {
        let (dense, lexical) = (stage(&[(1, 0.9), (2, 0.1)]), stage(&[(2, 8.0), (1, 2.0)]));
        let first = |fusion: Fusion, share| fusion.fuse_with_share(share, &dense, None, &lexical)[0].id.0[0];
        let sum = Fusion::weighted_sum(0.9);
        assert_eq!((first(sum, 1.0), first(sum, 0.5), first(sum, 0.4)), (1, 2, 2));
        let rrf = Fusion::Rrf { k: 60.0 };
        assert_eq!((first(rrf, 1.0), first(rrf, 0.1)), (1, 2));
    }

    #[test]
    fn equal_scores_are_ordered_by_id() {
        check(Fusion::weighted_sum(0.0), &[], &[(1, 1.0), (2, 1.0)], &[(1, 1.0), (2, 1.0)]);
        check(Fusion::Rrf { k: 1.0 }, &[(9, 1.0)], &[(3, 5.0)], &[(3, 0.5), (9, 0.5)]);
    }
}
