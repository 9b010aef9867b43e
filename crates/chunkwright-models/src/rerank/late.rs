//! Late interaction: for each token of the question, the token of the text that is nearest to it.

use std::path::Path;

use super::{RerankError, Reranker};
use crate::data::ModelError;
use crate::embedders::{E5, Role};
use crate::vectors::product;

/// The encoder, whose token vectors are compared.
pub(super) struct Late {
    encoder: E5,
}

impl Late {
    pub(super) fn open(data_dir: &Path) -> Result<Self, ModelError> {
        Ok(Self { encoder: E5::open(data_dir)? })
    }
}

impl Reranker for Late {
    fn name(&self) -> &'static str {
        "multilingual-e5-small late interaction"
    }

    /// Scores are from -1 to 1: the mean over the question's tokens of the largest cosine with a token
    /// of the text (`MaxSim` of `ColBERT`, Khattab and Zaharia 2020, as a mean).
    fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        let vectors =
            |texts: &[&str], role| self.encoder.token_vectors(texts, role).map_err(RerankError::other);
        let query = vectors(&[query], Role::Query)?.pop().unwrap_or_default();
        let texts = vectors(texts, Role::Passage)?;
        Ok(texts.iter().map(|text| max_sim(&query, text, self.encoder.dimension())).collect())
    }
}

/// -1 if either has no tokens.
fn max_sim(query: &[f32], text: &[f32], dimension: usize) -> f32 {
    if query.is_empty() || text.is_empty() {
        return -1.0;
    }
    let nearest = |token: &[f32]| {
        text.chunks_exact(dimension).map(|other| product(token, other)).fold(-1.0_f32, f32::max)
    };
    let tokens = query.chunks_exact(dimension);
    let count = tokens.len() as f32;
    tokens.map(nearest).sum::<f32>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_mean_of_the_largest_cosines() {
        let query = [1.0, 0.0, 0.0, 1.0];
        assert!((max_sim(&query, &[1.0, 0.0, 0.6, 0.8], 2) - 0.9).abs() < 1e-6);
        assert!((max_sim(&query, &[-1.0, 0.0], 2) + 0.5).abs() < 1e-6);
        assert!((max_sim(&query, &[], 2) + 1.0).abs() < 1e-6);
    }
}
