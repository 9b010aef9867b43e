//! Sparse vectors: the rows that have a token, with its weight in each.

use chunkwright::ChunkId;

use super::postings::{Postings, best};
use super::{Places, Selection};
use crate::cancel;
use crate::error::StoreError;
use crate::scored::Scored;

/// Weights by token.
#[derive(Debug, Default)]
pub(super) struct Sparse {
    by_token: Postings<f32>,
}

impl Sparse {
    /// Adds the weights of the next row.
    pub(super) fn push(&mut self, row: u32, weights: &[(u32, f32)]) {
        for &(token, weight) in weights {
            self.by_token.extend(token, [(row, weight)]);
        }
    }

    /// Adds the weights of other rows, which begin at `first`.
    pub(super) fn append(&mut self, first: u32, other: Self) {
        self.by_token.append(first, other.by_token);
    }

    /// The weights of kept rows at their new places.
    pub(super) fn moved(&self, places: &Places) -> Self {
        Self { by_token: self.by_token.moved(places) }
    }

    /// The `limit` passing rows with the greatest dot product, among `rows` rows and those that have a token of the
    /// query. The query is in ascending order of tokens, since floating-point addition is not associative.
    pub(super) fn search(
        &self,
        query: &[(u32, f32)],
        rows: usize,
        passing: &Selection,
        limit: usize,
        id: impl Fn(usize) -> ChunkId,
    ) -> Result<Vec<Scored>, StoreError> {
        let found = query.iter().filter_map(|&(token, asked)| Some((self.by_token.get(token)?, asked)));
        let found: Vec<_> = found.collect();
        let mut scores = vec![0.0_f32; if found.is_empty() { 0 } else { rows }];
        for (list, asked) in found {
            cancel::check()?;
            for (row, weight) in list.iter() {
                scores[row as usize] += asked * weight;
            }
        }
        Ok(best(&scores, passing, limit, id))
    }
}
