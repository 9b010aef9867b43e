//! Rows of the documents that searches see.

use parking_lot::Mutex;

use super::bits::Bits;
use super::postings::{ById, List};
use crate::bm25::TermId;

/// Which rows are live. Every change of them forgets what was counted.
#[derive(Debug, Default)]
pub(super) struct LiveRows {
    rows: Bits,
    count: usize,
    /// Number of live rows that have a term, of the terms that were asked for. Counting takes as long as scoring.
    having: Mutex<ById<TermId, usize>>,
}

impl LiveRows {
    /// Adds the next row.
    pub(super) fn push(&mut self, live: bool) {
        self.rows.push(live);
        self.count += usize::from(live);
        self.having.get_mut().clear();
    }

    /// Makes rows live that were not.
    pub(super) fn show(&mut self, rows: std::ops::Range<u32>) {
        self.count += rows.len();
        rows.for_each(|row| self.rows.set(row as usize));
        self.having.get_mut().clear();
    }

    /// Makes rows dead that were live.
    pub(super) fn remove(&mut self, rows: std::ops::Range<u32>) {
        self.count -= rows.len();
        rows.for_each(|row| self.rows.clear(row as usize));
        self.having.get_mut().clear();
    }

    /// Makes all rows dead.
    pub(super) fn remove_all(&mut self) {
        self.rows.clear_all();
        self.count = 0;
        self.having.get_mut().clear();
    }

    /// Drops what is not below `rows`.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.rows.truncate(rows);
        self.count = self.rows.count_below(rows);
        self.having.get_mut().clear();
    }

    pub(super) fn rows(&self) -> &Bits {
        &self.rows
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns whether all rows are live.
    pub(super) fn all(&self) -> bool {
        self.count == self.rows.len()
    }

    /// Number of live rows in the lists of a term.
    pub(super) fn having<'a, L>(&self, term: TermId, lists: impl Fn() -> L) -> usize
    where
        L: Iterator<Item = &'a List<u8>>,
    {
        if self.all() {
            return lists().map(|list| list.rows.len()).sum();
        }
        let known = self.having.lock().get(&term).copied();
        known.unwrap_or_else(|| {
            let rows = lists().flat_map(|list| &list.rows);
            let live = rows.filter(|row| self.rows.has(**row as usize)).count();
            // Words that no row has are without number.
            if live > 0 {
                self.having.lock().insert(term, live);
            }
            live
        })
    }
}
