//! Ranking by dot product, exact, over vectors that lie in memory in one piece.

use std::collections::HashMap;

use chunkwright::ChunkId;
use rayon::prelude::*;

use super::filter::Facts;
use super::{Filter, Scored};

/// Rows scored by one task.
const ROWS_PER_TASK: usize = 4096;

/// The vectors of a collection and what filters ask of their chunks.
#[derive(Debug, Default)]
pub(super) struct DenseIndex {
    /// Length of each vector.
    pub(super) dimension: usize,
    rows: Vec<Row>,
    /// `rows.len() * dimension` numbers.
    vectors: Vec<f32>,
    /// Documents' ids, each once.
    doc_ids: Vec<String>,
    /// What chunks say of themselves, each combination once: there are few, but where symbols are named.
    facts: Vec<OwnedFacts>,
    /// Where a combination is.
    known: HashMap<OwnedFacts, u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct OwnedFacts {
    category: String,
    language: Option<String>,
    content_type: String,
    artifact: Option<String>,
    symbols: String,
}

impl OwnedFacts {
    fn of(facts: Facts<'_>) -> Self {
        Self {
            category: facts.category.into(),
            language: facts.language.map(Into::into),
            content_type: facts.content_type.into(),
            artifact: facts.artifact.map(Into::into),
            symbols: facts.symbols.into(),
        }
    }

    fn borrow(&self) -> Facts<'_> {
        Facts {
            category: &self.category,
            language: self.language.as_deref(),
            content_type: &self.content_type,
            artifact: self.artifact.as_deref(),
            symbols: &self.symbols,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Row {
    id: ChunkId,
    doc_id: u32,
    facts: u32,
}

/// A row to add.
pub(super) struct NewRow<'a> {
    pub(super) id: ChunkId,
    pub(super) doc_id: &'a str,
    pub(super) facts: Facts<'a>,
}

impl DenseIndex {
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension, ..Self::default() }
    }

    /// Adds a chunk; `vector` must have the index's dimension. Chunks of one document come together.
    pub(super) fn push(&mut self, row: &NewRow<'_>, vector: impl Iterator<Item = f32>) {
        if self.doc_ids.last().is_none_or(|last| last != row.doc_id) {
            self.doc_ids.push(row.doc_id.to_owned());
        }
        let next = self.facts.len() as u32;
        let facts = OwnedFacts::of(row.facts);
        let at = *self.known.entry(facts).or_insert_with_key(|facts| {
            self.facts.push(facts.clone());
            next
        });
        self.vectors.extend(vector);
        self.vectors.resize((self.rows.len() + 1) * self.dimension, 0.0);
        self.rows.push(Row { id: row.id, doc_id: self.doc_ids.len() as u32 - 1, facts: at });
    }

    /// The `limit` best rows that pass; equal scores by chunk id.
    pub(super) fn search(&self, query: &[f32], filter: &Filter, limit: usize) -> Vec<Scored> {
        let doc_ids: Vec<bool> = self.doc_ids.iter().map(|doc_id| filter.passes_doc_id(doc_id)).collect();
        let facts: Vec<bool> = self.facts.iter().map(|facts| filter.passes(facts.borrow())).collect();
        let score = |(row, vector): (&Row, &[f32])| {
            (doc_ids[row.doc_id as usize] && facts[row.facts as usize])
                .then(|| Scored { id: row.id, score: f64::from(dot(query, vector)) })
        };
        // A collection of dimension 0 has no rows, so no chunk of 0 numbers is ever asked for.
        let dimension = self.dimension.max(1);
        let tasks =
            self.rows.par_chunks(ROWS_PER_TASK).zip(self.vectors.par_chunks(ROWS_PER_TASK * dimension));
        let best: Vec<Vec<Scored>> = tasks
            .map(|(rows, vectors)| {
                top(rows.iter().zip(vectors.chunks_exact(dimension)).filter_map(score).collect(), limit)
            })
            .collect();
        top(best.concat(), limit)
    }
}

/// The `limit` best, best first; equal scores by chunk id.
pub(super) fn top(mut scored: Vec<Scored>, limit: usize) -> Vec<Scored> {
    let order = |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id));
    if scored.len() > limit && limit > 0 {
        scored.select_nth_unstable_by(limit - 1, order);
    }
    scored.truncate(limit);
    scored.sort_unstable_by(order);
    scored
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
