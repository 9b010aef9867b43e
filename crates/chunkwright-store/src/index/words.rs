//! The rows that have a term and its frequency in each, as BM25 reads them.
//!
//! A row has about a hundred terms, whose posting lists lie far apart in memory. So rows are added in batches that are
//! sorted by term first: adding a million rows term by term took nearly half a minute.

use std::cell::Cell;
use std::sync::Arc;

use super::disk::{Disk, DiskPart};
use super::postings::{List, Postings, best};
use super::{Places, SearchIndex, Selection};
use crate::bm25::{TermCounts, TermId};
use crate::error::StoreError;
use crate::scored::Scored;
use crate::{bm25, cancel};

/// Postings by term.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The frequency in each row, capped at [`MOST`].
    by_term: Postings<u8>,
    /// Length normalization of each row's text; see [`bm25::norm`].
    norms: Vec<f32>,
    /// Unsorted entries of the rows from `first_new` on: the term, the row's distance from `first_new`, the frequency.
    new: Vec<u64>,
    first_new: u32,
}

/// The greatest frequency that is told from greater ones.
const MOST: u8 = u8::MAX;

/// Rows whose scores a thread keeps room for, 4 MB: new memory is cleared page by page, which took longer than some searches.
const MOST_SCORES: usize = 1 << 20;

thread_local! {
    static SCORES: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// Most entries sorted at once, which take 64 MB.
const LOT: usize = 4 << 20;

/// Bits of a frequency, and of a distance between rows.
const COUNT_BITS: u32 = 8;
const DISTANCE_BITS: u32 = 24;

impl Words {
    /// Adds the terms of the next row. Searches find them after they are [settled](Self::settle).
    pub(super) fn push(&mut self, row: u32, terms: &TermCounts) {
        if self.new.len() >= LOT || row - self.first_new >= 1 << DISTANCE_BITS {
            self.settle();
        }
        if self.new.is_empty() {
            self.first_new = row;
        }
        self.norms.push(bm25::norm(terms.length) as f32);
        let row = u64::from(row - self.first_new) << COUNT_BITS;
        let said = |&(term, count): &(TermId, u32)| {
            u64::from(term) << (COUNT_BITS + DISTANCE_BITS) | row | u64::from(count.min(MOST.into()))
        };
        self.new.extend(terms.counts.iter().map(said));
    }

    /// Sorts the added entries into the postings.
    pub(super) fn settle(&mut self) {
        let mut new = std::mem::take(&mut self.new);
        let term = |said: &u64| (said >> (COUNT_BITS + DISTANCE_BITS)) as TermId;
        // Rows are in order, and a stable sort keeps them so.
        radsort::sort_by_key(&mut new, term);
        for said in new.chunk_by(|a, b| term(a) == term(b)) {
            let row = |said: &u64| self.first_new + (said >> COUNT_BITS) as u32 % (1 << DISTANCE_BITS);
            self.by_term.extend(term(&said[0]), said.iter().map(|said| (row(said), *said as u8)));
        }
    }

    /// Adds the terms of other rows, which begin at `first`; both are [settled](Self::settle).
    pub(super) fn append(&mut self, first: u32, other: Self) {
        self.by_term.append(first, other.by_term);
        self.norms.extend(other.norms);
    }

    /// The terms of kept rows at their new places.
    pub(super) fn moved(&self, places: &Places) -> Self {
        let norms = places.kept().map(|row| self.norms[row]).collect();
        Self { by_term: self.by_term.moved(places), norms, ..Self::default() }
    }

    /// Drops all postings that are in memory, and what is known of the rows from `rows` on.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.by_term = Postings::default();
        self.norms.truncate(rows);
    }

    /// The rows, in order, that have all of `terms`.
    pub(super) fn having(
        &self,
        terms: &[TermId],
        (parts, disk): (&[DiskPart], &dyn Disk),
    ) -> Result<Vec<u32>, StoreError> {
        let on_disk =
            terms.iter().map(|term| disk.terms(parts, *term)).collect::<Result<Option<Vec<_>>, _>>()?;
        let mut rows = having_all(on_disk.iter().flatten().map(Arc::as_ref).collect());
        if on_disk.is_none() {
            rows.clear();
        }
        if let Some(lists) = terms.iter().map(|term| self.by_term.get(*term)).collect() {
            rows.extend(having_all(lists));
        }
        Ok(rows)
    }

    /// How often rows have `terms`, which are in the order of ids; `None` for a row that has more than is known.
    pub(super) fn counts(
        &self,
        rows: &[u32],
        terms: &[TermId],
        (parts, disk): (&[DiskPart], &dyn Disk),
    ) -> Result<Vec<Option<TermCounts>>, StoreError> {
        let none = |length| TermCounts { length, counts: Vec::new() };
        let mut found: Vec<_> =
            rows.iter().map(|row| bm25::length(self.norms[*row as usize]).map(none)).collect();
        for term in terms {
            cancel::check()?;
            let on_disk = disk.terms(parts, *term)?;
            for list in on_disk.as_deref().into_iter().chain(self.by_term.get(*term)) {
                for (row, counts) in rows.iter().zip(&mut found) {
                    match (list.value(*row), &mut *counts) {
                        (Some(MOST), _) => *counts = None,
                        (Some(count), Some(counts)) => counts.counts.push((*term, count.into())),
                        _ => {}
                    }
                }
            }
        }
        Ok(found)
    }

    /// The `limit` passing rows of `index` that BM25 ranks first. Document frequency counts all live rows, whether they
    /// pass or not.
    pub(super) fn search(
        &self,
        terms: &[(TermId, f32)],
        index: &SearchIndex,
        (passing, limit): (&Selection, usize),
        disk: &dyn Disk,
    ) -> Result<Vec<Scored>, StoreError> {
        let mut found = Vec::with_capacity(terms.len());
        for (term, own) in terms {
            let lists = (disk.terms(&index.on_disk.parts, *term)?, self.by_term.get(*term));
            let having = index.live_rows.having(*term, || lists.0.as_deref().into_iter().chain(lists.1));
            if having > 0 {
                let idf = bm25::idf(index.live_rows.count(), having);
                found.push((lists, f64::from(*own) * bm25::share(*term) * idf));
            }
        }
        if found.is_empty() {
            return Ok(Vec::new());
        }
        // In a fixed order, whatever the query's: floating-point addition is not associative.
        let lists = found.iter().flat_map(|((on_disk, in_memory), idf)| {
            on_disk.as_deref().into_iter().chain(*in_memory).map(|list| (list, *idf))
        });
        let weight = |row: u32, count: u8, idf: f64| {
            (idf * bm25::weight(u32::from(count), f64::from(self.norms[row as usize]))) as f32
        };
        let id = |row: usize| index.rows[row].id;
        if let Selection::Few(rows) = passing {
            let mut scores = vec![0.0_f32; rows.len()];
            for (list, idf) in lists {
                cancel::check()?;
                for (score, &row) in scores.iter_mut().zip(rows) {
                    *score += list.value(row).map_or(0.0, |count| weight(row, count, idf));
                }
            }
            return Ok(best(&scores, |at| rows[at] as usize, limit, id));
        }
        let mut scores = SCORES.take();
        scores.clear();
        scores.resize(index.rows.len(), 0.0);
        for (list, idf) in lists {
            cancel::check()?;
            for (row, count) in list.iter() {
                scores[row as usize] += weight(row, count, idf);
            }
        }
        passing.mask(&mut scores);
        let best = best(&scores, |row| row, limit, id);
        if scores.len() <= MOST_SCORES {
            SCORES.set(scores);
        }
        Ok(best)
    }

    /// The lists in memory by ascending term.
    pub(super) fn lists(&self) -> Vec<(TermId, &List<u8>)> {
        self.by_term.sorted()
    }

    pub(super) fn norms(&self) -> &[f32] {
        &self.norms
    }

    /// Rows with these norms, whose postings are on disk.
    pub(super) fn persisted(norms: Vec<f32>) -> Self {
        Self { norms, ..Self::default() }
    }
}

/// The rows that are in all lists.
fn having_all(mut lists: Vec<&List<u8>>) -> Vec<u32> {
    lists.sort_by_key(|list| list.rows.len());
    let Some((rarest, others)) = lists.split_first() else { return Vec::new() };
    let mut rows = rarest.rows.clone();
    for list in others {
        rows.retain(|row| list.rows.binary_search(row).is_ok());
    }
    rows
}
