//! Sparse vectors: the rows that have a token, with its weight in each.

use chunkwright::ChunkId;

use super::disk::{Disk, DiskPart};
use super::postings::{List, Postings, best};
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

    /// Drops all postings that are in memory.
    pub(super) fn clear(&mut self) {
        self.by_token = Postings::default();
    }

    /// The lists in memory by ascending token.
    pub(super) fn lists(&self) -> Vec<(u32, &List<f32>)> {
        self.by_token.sorted()
    }

    /// The `limit` passing rows with the greatest dot product, among `rows` rows and those that have a token of the
    /// query. The query is in ascending order of tokens, since floating-point addition is not associative.
    pub(super) fn search(
        &self,
        query: &[(u32, f32)],
        rows: usize,
        (passing, limit): (&Selection, usize),
        (parts, disk): (&[DiskPart], &dyn Disk),
        id: impl Fn(usize) -> ChunkId,
    ) -> Result<Vec<Scored>, StoreError> {
        let mut scores = Vec::new();
        for &(token, asked) in query {
            cancel::check()?;
            let on_disk = disk.tokens(parts, token)?;
            for list in on_disk.as_deref().into_iter().chain(self.by_token.get(token)) {
                scores.resize(rows, 0.0_f32);
                for (row, weight) in list.iter() {
                    scores[row as usize] += asked * weight;
                }
            }
        }
        if scores.is_empty() {
            return Ok(Vec::new());
        }
        passing.mask(&mut scores);
        Ok(best(&scores, |row| row, limit, id))
    }
}
