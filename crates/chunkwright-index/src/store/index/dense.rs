//! Ranking by dot product, exact, over vectors that lie in memory in one piece.

use chunkwright::ChunkId;
use rayon::prelude::*;

use super::super::Scored;
use super::bits::Bits;
use super::{Passing, top};

/// Rows scored by one task.
const ROWS_PER_TASK: usize = 4096;

/// The vectors of rows.
#[derive(Debug, Default)]
pub(super) struct Dense {
    /// Length of each vector; 0 where there are none.
    dimension: usize,
    /// A vector a row; zeros where there is none.
    vectors: Vec<f32>,
    /// Rows that have one.
    has: Bits,
}

impl Dense {
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension, ..Self::default() }
    }

    /// Adds the vector of the next row.
    pub(super) fn push<V: Iterator<Item = f32>>(&mut self, vector: Option<V>) {
        let end = self.vectors.len() + self.dimension;
        self.has.push(vector.is_some() && self.dimension > 0);
        if let Some(vector) = vector {
            self.vectors.extend(vector.take(self.dimension));
        }
        self.vectors.resize(end, 0.0);
    }

    /// The `limit` best rows that pass; equal scores by chunk id.
    pub(super) fn search(
        &self,
        query: &[f32],
        passing: &Passing,
        limit: usize,
        id: impl Fn(usize) -> ChunkId + Sync,
    ) -> Vec<Scored> {
        if self.dimension == 0 {
            return Vec::new();
        }
        let tasks = self.vectors.par_chunks(ROWS_PER_TASK * self.dimension).enumerate();
        let best: Vec<Vec<Scored>> = tasks
            .map(|(task, vectors)| {
                let rows = vectors.chunks_exact(self.dimension).enumerate();
                let score = |(at, vector): (usize, &[f32])| {
                    let row = task * ROWS_PER_TASK + at;
                    (self.has.has(row) && passing.has(row))
                        .then(|| Scored { id: id(row), score: f64::from(dot(query, vector)) })
                };
                top(rows.filter_map(score).collect(), limit)
            })
            .collect();
        top(best.concat(), limit)
    }
}

/// Dot product, in lanes that a compiler turns into vector instructions. The order of additions is
/// fixed, so equal input has equal output everywhere.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0_f32; LANES];
    let (a_lanes, b_lanes) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a_lanes.remainder().iter().zip(b_lanes.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_lanes.zip(b_lanes) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}
