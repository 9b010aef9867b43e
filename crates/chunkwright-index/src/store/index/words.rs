//! Which rows have a term, and how often: what BM25 reads.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::super::{Scored, TermCounts, TermId};
use super::{Passing, SearchIndex, top};
use crate::bm25;

/// Postings by term.
#[derive(Debug, Default)]
pub(super) struct Words {
    by_term: HashMap<TermId, Postings, BuildHasherDefault<IdHasher>>,
    /// Of the length of each row's text; see [`bm25::norm`].
    norms: Vec<f32>,
}

/// The rows that have a term, in order, and how often each does; more often than 255 times says no more.
#[derive(Debug, Default)]
struct Postings {
    rows: Vec<u32>,
    counts: Vec<u8>,
}

/// A term's id is a hash already.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0 << 8 | u64::from(byte);
        }
    }

    fn write_u32(&mut self, id: u32) {
        // The map takes its buckets from one end and its tags from the other.
        self.0 = u64::from(id) << 32 | u64::from(id);
    }
}

impl Words {
    /// Adds the terms of the next row.
    pub(super) fn push(&mut self, row: u32, terms: &TermCounts) {
        self.norms.push(bm25::norm(terms.length) as f32);
        for &(term, count) in &terms.counts {
            let postings = self.by_term.entry(term).or_default();
            postings.rows.push(row);
            postings.counts.push(count.min(255) as u8);
        }
    }

    /// The `limit` rows of `index` that BM25 ranks first, of those that pass. Rarity is that among all live
    /// rows, whatever passes.
    pub(super) fn search(
        &self,
        terms: &[TermId],
        index: &SearchIndex,
        passing: &Passing,
        limit: usize,
    ) -> Vec<Scored> {
        let is_whole = index.live_count == index.rows.len();
        let mut found: Vec<(&Postings, f64)> = Vec::with_capacity(terms.len());
        for postings in terms.iter().filter_map(|term| self.by_term.get(term)) {
            let having = if is_whole {
                postings.rows.len()
            } else {
                postings.rows.iter().filter(|row| index.live_rows.has(**row as usize)).count()
            };
            if having > 0 {
                found.push((postings, bm25::idf(index.live_count, having)));
            }
        }
        // In one order whatever the query's: additions are not associative.
        let mut scores = vec![0.0_f32; if found.is_empty() { 0 } else { index.rows.len() }];
        for (postings, idf) in &found {
            for (&row, &count) in postings.rows.iter().zip(&postings.counts) {
                let norm = f64::from(self.norms[row as usize]);
                scores[row as usize] += (idf * bm25::weight(u32::from(count), norm)) as f32;
            }
        }
        best(&scores, passing, limit, |row| index.rows[row].id)
    }
}

/// The `limit` rows with the greatest scores over 0.
fn best(
    scores: &[f32],
    passing: &Passing,
    limit: usize,
    id: impl Fn(usize) -> chunkwright::ChunkId,
) -> Vec<Scored> {
    let mut kept: Vec<Scored> = Vec::new();
    let mut least = 0.0_f32;
    for (row, &score) in scores.iter().enumerate() {
        if score > 0.0 && score >= least && passing.has(row) {
            kept.push(Scored { id: id(row), score: f64::from(score) });
            // Now and then what cannot be among the first any more is dropped.
            if kept.len() >= limit.max(64).saturating_mul(4) {
                kept = top(kept, limit);
                least = kept.last().map_or(0.0, |last| last.score as f32);
            }
        }
    }
    top(kept, limit)
}
