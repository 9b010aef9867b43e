//! The rows that pass a filter.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use chunkwright::ChunkId;
use parking_lot::Mutex;

use super::bits::Bits;
use super::disk::Disk;
use super::keyed::hash;
use super::{Row, SearchIndex};
use crate::error::StoreError;
use crate::filter::{Facts, Field, Fields, Filter, Got, Test, Wanted};

/// The rows that pass a filter: decided once, used by every stage.
#[derive(Clone, Debug)]
pub enum Selection {
    /// All rows.
    All,
    /// These rows.
    Rows(Bits),
    /// These rows, in order: at most [`FEW`].
    Few(Vec<u32>),
}

/// Rows whose scores cost less one by one than among all.
const FEW: usize = 1_000;

impl Selection {
    fn of(rows: Bits) -> Self {
        if rows.count_below(rows.len()) <= FEW { Self::Few(rows.iter().collect()) } else { Self::Rows(rows) }
    }

    pub(super) fn has(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Rows(rows) => rows.has(row),
            Self::Few(rows) => rows.binary_search(&(row as u32)).is_ok(),
        }
    }

    /// Sets the scores of all other rows to 0.
    pub(super) fn mask(&self, scores: &mut [f32]) {
        match self {
            Self::All => {}
            Self::Rows(rows) => rows.mask(scores),
            Self::Few(_) => self.wide(scores.len()).mask(scores),
        }
    }

    /// Of `rows` rows, a selection that is asked about all of them.
    pub(super) fn wide(&self, rows: usize) -> Cow<'_, Self> {
        match self {
            Self::Few(few) => Cow::Owned(Self::Rows(Bits::of(few.iter().map(|row| *row as usize), rows))),
            _ => Cow::Borrowed(self),
        }
    }
}

/// The selections of the filters that were decided last, over an index as it is.
#[derive(Debug, Default)]
pub struct Decided(Mutex<Vec<(Filter, Arc<Selection>)>>);

/// Selections that are kept. The stages of a search share one.
const KEPT: usize = 8;

impl Decided {
    /// The selection of a filter, which `decide` makes.
    ///
    /// # Errors
    ///
    /// Those of `decide`.
    pub fn get(
        &self,
        filter: &Filter,
        decide: impl FnOnce() -> Result<Selection, StoreError>,
    ) -> Result<Arc<Selection>, StoreError> {
        // Few rows name a symbol.
        if filter.needed_symbols().is_some()
            && filter.is_quick_but_for_words()
            && filter.of_words().is_empty()
        {
            return decide().map(Arc::new);
        }
        if let Some((_, known)) = self.0.lock().iter().find(|(known, _)| known == filter) {
            return Ok(Arc::clone(known));
        }
        let selection = Arc::new(decide()?);
        let mut kept = self.0.lock();
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((filter.clone(), Arc::clone(&selection)));
        Ok(selection)
    }

    pub(super) fn clear(&mut self) {
        self.0.get_mut().clear();
    }
}

/// Reads what an index does not hold and filters need.
pub trait Records {
    /// The chunks that pass a filter.
    ///
    /// # Errors
    ///
    /// Errors of reading.
    fn passing(&self, filter: &Filter) -> Result<HashSet<ChunkId>, StoreError>;

    /// Calls `each` with the texts of chunks, in order, empty for one that is not there.
    ///
    /// # Errors
    ///
    /// Errors of reading.
    fn each_text(&self, chunks: &[Located], each: &mut dyn FnMut(&str)) -> Result<(), StoreError>;
}

/// Where a chunk is.
#[derive(Clone, Copy, Debug)]
pub struct Located {
    /// Its id.
    pub id: ChunkId,
    /// The version of its document, and its number in that.
    pub at: (i64, u32),
}

/// What filters see of a row.
struct RowFields<'a> {
    facts: Facts<'a>,
    row: usize,
    /// The rows that pass each test of words.
    words: &'a [(&'a Test, Bits)],
}

impl Fields for RowFields<'_> {
    fn get(&self, field: Field) -> Got<'_> {
        self.facts.get(field)
    }

    fn has_words(&self, test: &Test) -> Option<bool> {
        self.words.iter().find(|(known, _)| *known == test).map(|(_, rows)| rows.has(self.row))
    }
}

impl SearchIndex {
    /// Selects the rows that pass.
    ///
    /// # Errors
    ///
    /// Errors of reading.
    pub fn passing(
        &self,
        filter: &Filter,
        disk: &dyn Disk,
        records: &dyn Records,
    ) -> Result<Selection, StoreError> {
        let whole = self.live_rows.all() && self.enabled.all();
        if whole && filter.is_empty() && !self.has_artifacts {
            return Ok(Selection::All);
        }
        let mut rows = self.live_rows.rows().and(&self.enabled);
        if !filter.is_quick_but_for_words() {
            let ids = records.passing(filter)?;
            rows.retain(|row| ids.contains(&self.rows[row].id));
            return Ok(Selection::of(rows));
        }
        if let Some(needed) = filter.needed_symbols() {
            let symbols = self.symbols.get_or_init(|| self.by_symbol());
            let found = needed.iter().flat_map(|symbol| symbols.having(hash(symbol), self.rows.len()));
            rows = rows.and(&Bits::of(found, self.rows.len()));
        }
        // Words may need texts: of as few rows as possible.
        let mut words = Vec::new();
        for test in filter.of_words() {
            words.push((test, self.having(test, &rows, disk, records)?));
        }
        if !filter.is_empty() || self.has_artifacts {
            rows.retain(self.passes(filter, &words));
        }
        Ok(Selection::of(rows))
    }

    /// Decides whether a row passes, given the rows that pass each test of words. Rows with the same facts in one document
    /// are decided once, unless their words decide.
    fn passes<'a>(
        &'a self,
        filter: &'a Filter,
        words: &'a [(&'a Test, Bits)],
    ) -> impl FnMut(usize) -> bool + 'a {
        let mut last = (u32::MAX, u32::MAX, false);
        move |row| {
            let Row { document, facts, .. } = self.rows[row];
            if (last.0, last.1) != (document, facts) || !words.is_empty() {
                let doc_id = &self.documents[document as usize].doc_id;
                let facts_here = self.facts[facts as usize].borrow(doc_id);
                last = (document, facts, filter.passes(&RowFields { facts: facts_here, row, words }));
            }
            last.2
        }
    }

    /// The rows among `rows` whose text passes a test of words. Only texts that have all the words of a phrase are read.
    fn having(
        &self,
        test: &Test,
        rows: &Bits,
        disk: &dyn Disk,
        records: &dyn Records,
    ) -> Result<Bits, StoreError> {
        let Some(wanted) = Wanted::of(test) else { return Ok(Bits::default()) };
        let found = self.words.having(&wanted.terms, (&self.on_disk.parts, disk))?;
        let mut having: Vec<usize> = found.into_iter().map(|row| row as usize).collect();
        having.retain(|row| rows.has(*row));
        if !wanted.is_of_terms() && !having.is_empty() {
            let places: Vec<Located> =
                having.iter().map(|row| Located { id: self.rows[*row].id, at: self.place(*row) }).collect();
            let mut passing = Vec::with_capacity(places.len());
            records.each_text(&places, &mut |text| passing.push(wanted.is_in(text)))?;
            let mut passing = passing.into_iter();
            having.retain(|_| passing.next().unwrap_or(false));
        }
        Ok(Bits::of(having, self.rows.len()))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::filter::Condition;
    use crate::index::{Coverage, Gone, SharedIndex, Stamp};

    #[test]
    fn a_filter_of_words_is_decided_once_until_the_index_changes() {
        let shared = SharedIndex::default();
        let test = Test::Phrase("two words".into());
        let filter = Filter::new(Condition::Field { field: Field::TEXT, test });
        let decided = Cell::new(0);
        let search = |change| {
            let stamp = Stamp { change, persisted: Coverage::default() };
            let found = shared.search(
                stamp,
                |_| Ok(Gone::These(Vec::new())),
                |_, known| {
                    let decide = || {
                        decided.set(decided.get() + 1);
                        Ok(Selection::All)
                    };
                    known.map(|known| known.get(&filter, decide)).transpose()
                },
            );
            found.expect("an answer").expect("the same rows").is_some()
        };
        assert!(search(1) && search(1));
        assert_eq!(decided.get(), 1);
        assert!(search(2));
        assert_eq!(decided.get(), 2);
        // A snapshot of before does not know all rows.
        assert!(!search(1));
        assert_eq!(decided.get(), 2);
    }
}
