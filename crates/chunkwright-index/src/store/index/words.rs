//! Which rows have a term, and how often: what BM25 reads.

use super::super::{Scored, TermCounts, TermId};
use super::postings::{List, Postings, best};
use super::{Passing, Places, SearchIndex};
use crate::bm25;

/// Postings by term.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// How often each row has it; more often than 255 times says no more.
    by_term: Postings<u8>,
    /// Of the length of each row's text; see [`bm25::norm`].
    norms: Vec<f32>,
}

impl Words {
    /// Adds the terms of the next row.
    pub(super) fn push(&mut self, row: u32, terms: &TermCounts) {
        self.norms.push(bm25::norm(terms.length) as f32);
        for &(term, count) in &terms.counts {
            self.by_term.push(row, term, count.min(255) as u8);
        }
    }

    /// The terms of rows that have a new place.
    pub(super) fn moved(&self, places: &Places) -> Self {
        let norms = places.kept().map(|row| self.norms[row]).collect();
        Self { by_term: self.by_term.moved(places), norms }
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
        let mut found: Vec<(&List<u8>, f64)> = Vec::with_capacity(terms.len());
        for postings in terms.iter().filter_map(|term| self.by_term.get(*term)) {
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
            for (row, count) in postings.iter() {
                let norm = f64::from(self.norms[row as usize]);
                scores[row as usize] += (idf * bm25::weight(u32::from(count), norm)) as f32;
            }
        }
        best(&scores, passing, limit, |row| index.rows[row].id)
    }
}
