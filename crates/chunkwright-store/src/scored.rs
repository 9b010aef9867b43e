//! A chunk with its score, as a stage of a search answers it.

use chunkwright::ChunkId;

/// A chunk and what a stage of the search gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// The chunk.
    pub id: ChunkId,
    /// Dot product, or BM25; greater is better.
    pub score: f64,
}
