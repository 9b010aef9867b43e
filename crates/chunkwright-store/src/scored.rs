//! A chunk with its score, as a search stage returns it.

use chunkwright::ChunkId;

/// A chunk and its score in a stage of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// The chunk.
    pub id: ChunkId,
    /// Dot product, or BM25; greater is better.
    pub score: f64,
}
