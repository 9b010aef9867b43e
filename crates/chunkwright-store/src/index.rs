//! The in-memory search index: dense and sparse vectors, terms, and the fields that filters read.
//!
//! It is derived from the store at the first search and updated by whole documents: the only changes are that a version
//! of a document is added or removed. So the index differs from a newly built one only in the order of its rows, on
//! which no ranking depends.
//!
//! A store may persist the first rows of an index, whose postings are then read [from disk](disk), as are vectors.

mod bits;
mod dense;
pub mod disk;
mod keyed;
mod live;
mod part;
mod passing;
mod postings;
mod shared;
mod sketch;
mod sparse;
mod stretches;
mod whole;
mod words;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use chunkwright::ChunkId;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::bm25::{TermCounts, TermId};
use crate::cancel;
use crate::document::IndexedChunk;
use crate::error::StoreError;
use crate::filter::Facts;
use crate::scored::Scored;
use bits::Bits;
use dense::Dense;
pub use dense::dot;
pub(crate) use dense::{MANY, STRETCH};
use disk::{Disk, DiskPart};
use keyed::Keyed;
use live::LiveRows;
pub use passing::{Decided, Located, Records, Selection};
use postings::ById;
pub(crate) use postings::List;
pub(super) use shared::{Coverage, SharedIndex, Stamp, Turn};
use sparse::Sparse;
use words::Words;

/// Vectors, terms and facts of the chunks of one generation.
#[derive(Debug, Default)]
pub struct SearchIndex {
    rows: Vec<Row>,
    /// Versions of documents, by position.
    documents: Vec<Document>,
    /// Number of documents that are visible, or were before they were removed: those after them are hidden.
    shown: usize,
    /// Position of each live version.
    live: HashMap<i64, u32>,
    /// Rows of live documents.
    live_rows: LiveRows,
    /// Rows that searches may find, live or not.
    enabled: Bits,
    /// Rows that are summaries.
    has_artifacts: bool,
    /// Facts of chunks, each combination once: there are few, except where symbols are named.
    facts: Vec<OwnedFacts>,
    /// Positions of facts by their hash. Of two with one hash, the first may be there again.
    known_facts: ById<u64, u32>,
    /// Made by the first search for a symbol.
    symbols: OnceLock<Keyed>,
    /// Rows by their ids, as soon as one is asked for.
    ids: OnceLock<Keyed>,
    dense: Dense,
    sparse: Sparse,
    words: Words,
    on_disk: DiskRows,
}

/// The first rows, whose postings are on disk.
#[derive(Clone, Debug, Default)]
struct DiskRows {
    rows: u32,
    parts: Vec<DiskPart>,
}

#[derive(Debug)]
struct Row {
    id: ChunkId,
    document: u32,
    facts: u32,
}

#[derive(Debug)]
struct Document {
    doc_id: String,
    version: i64,
    /// Its rows, which are contiguous.
    rows: std::ops::Range<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct OwnedFacts {
    category: String,
    language: Option<String>,
    content_type: String,
    artifact: Option<String>,
    symbols: String,
}

impl OwnedFacts {
    fn hash(&self) -> u64 {
        let Self { category, language, content_type, artifact, symbols } = self;
        let texts = [Some(category), language.as_ref(), Some(content_type), artifact.as_ref(), Some(symbols)];
        texts.into_iter().flatten().fold(0, |seed, text| xxh3_64_with_seed(text.as_bytes(), seed))
    }

    fn borrow<'a>(&'a self, doc_id: &'a str) -> Facts<'a> {
        Facts {
            doc_id,
            category: &self.category,
            language: self.language.as_deref(),
            content_type: &self.content_type,
            artifact: self.artifact.as_deref(),
            symbols: &self.symbols,
        }
    }
}

/// A chunk to add.
pub struct NewRow<'a> {
    /// Its id.
    pub id: ChunkId,
    /// What filters see.
    pub facts: Facts<'a>,
    /// The terms of its text.
    pub terms: &'a TermCounts,
    /// Its sparse vector; empty for none.
    pub sparse: &'a [(u32, f32)],
    /// Whether searches find it.
    pub enabled: bool,
    /// The key of its vector, where that is on disk too.
    pub vector: Option<i64>,
}

/// The versions of documents that were removed.
pub(super) enum Gone {
    AllBut(HashSet<i64>),
    These(Vec<i64>),
}

/// The new place of each row after the rows of removed documents are dropped.
struct Places {
    /// New place by row; [`GONE`](Self::GONE) for a dropped row.
    new: Vec<u32>,
}

impl Places {
    const GONE: u32 = u32::MAX;

    /// Rows that are live, and the first `persisted`, which stay where they are.
    fn of_live(live: &Bits, rows: usize, persisted: usize) -> Self {
        let mut next = 0;
        let place = |row| {
            let place = if row < persisted || live.has(row) { next } else { return Self::GONE };
            next += 1;
            place
        };
        Self { new: (0..rows).map(place).collect() }
    }

    /// The new place of a row.
    fn of(&self, row: u32) -> Option<u32> {
        Some(self.new[row as usize]).filter(|place| *place != Self::GONE)
    }

    /// The rows that are kept, in order.
    fn kept(&self) -> impl Iterator<Item = usize> {
        self.new.iter().enumerate().filter(|(_, place)| **place != Self::GONE).map(|(row, _)| row)
    }
}

impl SearchIndex {
    /// An empty index of vectors of this dimension; 0 if there are none.
    pub fn new(dimension: usize) -> Self {
        Self { dense: Dense::new(dimension, false), ..Self::default() }
    }

    /// As [`new`](Self::new), of vectors that are on disk too.
    pub(super) fn persistent(dimension: usize) -> Self {
        Self { dense: Dense::new(dimension, true), ..Self::default() }
    }

    /// Number of rows, whether they are live or not.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Begins a version of a document; chunks [pushed](Self::push) next belong to it.
    pub fn begin(&mut self, version: i64, doc_id: &str) {
        let start = self.rows.len() as u32;
        self.live.insert(version, self.documents.len() as u32);
        self.documents.push(Document { doc_id: doc_id.to_owned(), version, rows: start..start });
        self.shown = self.documents.len();
    }

    /// Adds a chunk of the document begun last; `vector` has the index's dimension or is `None`.
    pub fn push<V: Iterator<Item = f32>>(&mut self, row: &NewRow<'_>, vector: Option<V>) {
        let Facts { category, language, content_type, artifact, symbols, .. } = row.facts;
        let facts = OwnedFacts {
            category: category.into(),
            language: language.map(Into::into),
            content_type: content_type.into(),
            artifact: artifact.map(Into::into),
            symbols: symbols.into(),
        };
        let facts = self.intern(facts);
        if let Some(at) = self.add(row.id, facts, row.enabled, true) {
            self.words.push(at, row.terms);
            self.sparse.push(at, row.sparse);
            self.dense.push(vector, row.vector);
        }
    }

    /// Interns facts; returns their position.
    fn intern(&mut self, facts: OwnedFacts) -> u32 {
        self.has_artifacts |= facts.artifact.is_some();
        let hash = facts.hash();
        if let Some(known) = self.known_facts.get(&hash).filter(|known| self.facts[**known as usize] == facts)
        {
            return *known;
        }
        let next = self.facts.len() as u32;
        self.facts.push(facts);
        self.known_facts.insert(hash, next);
        next
    }

    /// Adds a row to the document begun last, without the data of search stages.
    fn add(&mut self, id: ChunkId, facts: u32, enabled: bool, live: bool) -> Option<u32> {
        let document = self.documents.last_mut()?;
        let at = self.rows.len() as u32;
        document.rows.end += 1;
        self.rows.push(Row { id, document: self.documents.len() as u32 - 1, facts });
        self.live_rows.push(live);
        self.enabled.push(enabled);
        Some(at)
    }

    /// Ends a series of changes: builds what searches read first, over all rows.
    pub fn finish(&mut self) {
        self.dense.sketch();
        self.words.settle();
        for keyed in [&mut self.symbols, &mut self.ids] {
            if keyed.get().is_some_and(|keyed| keyed.is_old(self.rows.len())) {
                keyed.take();
            }
        }
    }

    /// Adds all rows of another index, hidden until they are [shown](Self::show).
    fn append(&mut self, mut other: Self) {
        if self.rows.is_empty() {
            other.live_rows.remove_all();
            *self = Self { shown: 0, live: HashMap::new(), ..other };
            return;
        }
        let first = self.rows.len() as u32;
        let facts: Vec<u32> = other.facts.drain(..).map(|facts| self.intern(facts)).collect();
        for Document { doc_id, version, rows } in other.documents {
            let start = self.rows.len() as u32;
            self.documents.push(Document { doc_id, version, rows: start..start });
            for row in rows {
                let Row { id, facts: known, .. } = other.rows[row as usize];
                self.add(id, facts[known as usize], other.enabled.has(row as usize), false);
            }
        }
        let parts =
            other.on_disk.parts.into_iter().map(|part| DiskPart { first: first + part.first, ..part });
        self.on_disk.parts.extend(parts);
        if other.on_disk.rows > 0 {
            self.on_disk.rows = first + other.on_disk.rows;
        }
        self.words.append(first, other.words);
        self.sparse.append(first, other.sparse);
        self.dense.append(other.dense);
        self.finish();
    }

    /// Drops all rows but the first `rows`, which are persisted.
    fn cut(&mut self, rows: u32) {
        let documents = self.documents.partition_point(|document| document.rows.start < rows);
        for document in self.documents.drain(documents..) {
            self.live.remove(&document.version);
        }
        self.shown = documents;
        self.rows.truncate(rows as usize);
        self.symbols.take();
        self.ids.take();
        self.live_rows.truncate(rows as usize);
        self.enabled.truncate(rows as usize);
        self.dense.truncate(rows as usize);
        self.sparse.clear();
        self.words.truncate(rows as usize);
        self.on_disk.parts.retain(|part| part.first < rows);
        self.on_disk.rows = rows;
    }

    /// Removes the documents that are gone, and shows those that were [added](Self::append).
    fn show(&mut self, gone: &Gone) {
        match gone {
            Gone::AllBut(live) => self.retain(live),
            Gone::These(gone) => gone.iter().for_each(|version| self.remove(*version)),
        }
        for at in self.shown..self.documents.len() {
            let Document { version, rows, .. } = &self.documents[at];
            self.live.insert(*version, at as u32);
            self.live_rows.show(rows.clone());
        }
        self.shown = self.documents.len();
    }

    /// Discards what was added but not shown.
    fn forget(&mut self) {
        for document in &mut self.documents[self.shown..] {
            document.version = 0;
        }
        self.shown = self.documents.len();
    }

    /// The greatest version ever shown; versions only grow.
    pub fn last_version(&self) -> i64 {
        let shown = self.documents[..self.shown].iter().rev();
        shown.map(|document| document.version).find(|version| *version > 0).unwrap_or(0)
    }

    /// Removes every document whose version is not in `versions`.
    pub fn retain(&mut self, versions: &HashSet<i64>) {
        let gone: Vec<i64> =
            self.live.keys().copied().filter(|version| !versions.contains(version)).collect();
        for version in gone {
            self.remove(version);
        }
    }

    fn remove(&mut self, version: i64) {
        if let Some(document) = self.live.remove(&version) {
            self.live_rows.remove(self.documents[document as usize].rows.clone());
        }
    }

    /// Returns whether enough rows are dead to make [compacting](Self::compacted) worthwhile.
    pub fn is_fragmented(&self) -> bool {
        let persisted = self.on_disk.rows as usize;
        let dead_on_disk = persisted - self.live_rows.rows().count_below(persisted);
        (self.live_rows.count() + dead_on_disk) * 4 < self.rows.len() * 3
    }

    /// A copy without the rows of removed documents, but for those that are persisted.
    pub fn compacted(&self) -> Self {
        let places = Places::of_live(self.live_rows.rows(), self.rows.len(), self.on_disk.rows as usize);
        let mut index = Self {
            dense: self.dense.moved(&places),
            sparse: self.sparse.moved(&places),
            words: self.words.moved(&places),
            on_disk: self.on_disk.clone(),
            ..Self::default()
        };
        let mut facts: Vec<Option<u32>> = vec![None; self.facts.len()];
        let is_live = |at: u32| self.live.get(&self.documents[at as usize].version) == Some(&at);
        for at in 0..self.documents.len() as u32 {
            let Document { doc_id, version, rows } = &self.documents[at as usize];
            if rows.start >= self.on_disk.rows && !is_live(at) {
                continue;
            }
            index.begin(*version, doc_id);
            for row in rows.clone() {
                let Row { id, facts: old, .. } = self.rows[row as usize];
                let new = *facts[old as usize]
                    .get_or_insert_with(|| index.intern(self.facts[old as usize].clone()));
                index.add(id, new, self.enabled.has(row as usize), true);
            }
            if !is_live(at) {
                index.remove(*version);
            }
        }
        index
    }

    /// The `limit` rows with the greatest dot product; equal scores by chunk id.
    pub(super) fn dense(
        &self,
        query: &[f32],
        passing: &Selection,
        limit: usize,
        disk: &dyn Disk,
    ) -> Result<Vec<Scored>, StoreError> {
        cancel::check()?;
        let id = |row: usize| self.rows[row].id;
        self.dense.search(query, &passing.wide(self.rows.len()), limit, disk, (id, |row| self.version(row)))
    }

    /// What is here of chunks, in order: how often they have `terms`, which are in the order of ids, and their dot product
    /// with `query`; `None` for one that is not here, or has a term too often.
    pub(super) fn indexed(
        &self,
        ids: &[ChunkId],
        terms: &[TermId],
        query: Option<&[f32]>,
        disk: &dyn Disk,
    ) -> Result<Vec<Option<IndexedChunk>>, StoreError> {
        let rows: Vec<Option<usize>> = self.rows_of(ids).collect();
        let here: Vec<u32> = rows.iter().flatten().map(|row| *row as u32).collect();
        let mut counts = self.words.counts(&here, terms, (&self.on_disk.parts, disk))?.into_iter();
        let products = match query {
            Some(query) => self.dense.products(query, &here, disk, |row| self.version(row))?,
            None => HashMap::new(),
        };
        let indexed = |row: Option<usize>| {
            let product = products.get(&row?).copied();
            counts.next()?.map(|terms| IndexedChunk { terms, product })
        };
        Ok(rows.into_iter().map(indexed).collect())
    }

    /// The version of a row's document.
    fn version(&self, row: usize) -> i64 {
        self.documents[self.rows[row].document as usize].version
    }

    /// The `limit` rows with the greatest dot product with the sparse vector `query`, of those that have a token
    /// of it; equal scores by chunk id.
    ///
    /// # Errors
    ///
    /// [`StoreError::Cancelled`] if the work is to stop.
    pub fn sparse(
        &self,
        query: &[(u32, f32)],
        passing: &Selection,
        limit: usize,
        disk: &dyn Disk,
    ) -> Result<Vec<Scored>, StoreError> {
        let disk = (&*self.on_disk.parts, disk);
        self.sparse.search(query, self.rows.len(), (passing, limit), disk, |row| self.rows[row].id)
    }

    /// The `limit` rows that BM25 ranks first; equal scores by chunk id.
    ///
    /// # Errors
    ///
    /// [`StoreError::Cancelled`] if the work is to stop.
    pub fn lexical(
        &self,
        terms: &[(TermId, f32)],
        passing: &Selection,
        limit: usize,
        disk: &dyn Disk,
    ) -> Result<Vec<Scored>, StoreError> {
        self.words.search(terms, self, (passing, limit), disk)
    }
}

/// The `limit` best, best first; equal scores by chunk id.
pub fn top(mut scored: Vec<Scored>, limit: usize) -> Vec<Scored> {
    let order = |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id));
    if limit == 0 {
        return Vec::new();
    }
    if scored.len() > limit {
        scored.select_nth_unstable_by(limit - 1, order);
        scored.truncate(limit);
    }
    scored.sort_unstable_by(order);
    scored
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;
    use crate::index::disk::NoDisk;

    struct NoRecords;

    impl Records for NoRecords {
        fn passing(&self, _: &Filter) -> Result<HashSet<ChunkId>, StoreError> {
            Err(StoreError::ReadOnly)
        }

        fn each_text(&self, _: &[Located], _: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
            Err(StoreError::ReadOnly)
        }
    }

    /// Adds a document of `chunks` chunks, all made of its version.
    fn add(index: &mut SearchIndex, version: i64, chunks: u32) {
        index.begin(version, &format!("{version}.md"));
        for chunk in 0..chunks {
            let number = version as u32 * 100 + chunk;
            let terms = TermCounts::of(&format!("word{} word{} every", number % 7, number % 11));
            let symbols = format!("symbol{}", version % 3);
            let artifact = number.is_multiple_of(13).then_some("file_summary");
            let facts = Facts {
                doc_id: "",
                category: "doc",
                language: None,
                content_type: "paragraph",
                artifact,
                symbols: &symbols,
            };
            let sparse = [(number % 5, 1.5), (5 + number % 3, 0.5)];
            let id = ChunkId(u128::from(number).to_be_bytes());
            let enabled = !number.is_multiple_of(17);
            let row = NewRow { id, facts, terms: &terms, sparse: &sparse, enabled, vector: None };
            let vector = [number as f32 % 19.0, 1.0, -(number as f32 % 23.0)];
            index.push(&row, (!number.is_multiple_of(9)).then(|| vector.into_iter()));
        }
    }

    #[test]
    fn what_is_gone_leaves_no_trace() {
        let versions: HashSet<i64> =
            (1..400).filter(|version| version % 3 == 0 || version % 5 == 0).collect();
        let mut worn = SearchIndex::new(3);
        (1..400).for_each(|version| add(&mut worn, version, version as u32 % 40));
        worn.finish();
        assert!(worn.rows.len() > MANY, "sketches are moved too");
        worn.retain(&versions);
        assert!(worn.is_fragmented());
        let mut tidied = worn.compacted();
        assert_eq!(
            (tidied.rows.len(), tidied.live_rows.count()),
            (worn.live_rows.count(), worn.live_rows.count())
        );
        let mut fresh = SearchIndex::new(3);
        let mut live: Vec<i64> = versions.iter().copied().collect();
        live.sort_unstable();
        for version in live {
            add(&mut fresh, version, version as u32 % 40);
        }
        let filter = Filter::parse("symbol = symbol1").expect("a filter");
        // Two of them know the symbols of what there is now, and how many rows have a word.
        for index in [&worn, &tidied] {
            index.passing(&filter, &NoDisk, &NoRecords).expect("a quick filter");
            let terms = ["word3", "every"].map(|word| (crate::bm25::term_id(word), 1.0));
            index.lexical(&terms, &Selection::All, 50, &NoDisk).expect("ranked");
        }
        // Changes continue on all.
        for index in [&mut worn, &mut tidied, &mut fresh] {
            add(index, 1000, 12);
            index.finish();
        }
        for filter in [Filter::default(), filter] {
            let found = |index: &SearchIndex| {
                let passing = index.passing(&filter, &NoDisk, &NoRecords).expect("a quick filter");
                let terms =
                    [("word3", 1.0), ("every", 0.5)].map(|(word, own)| (crate::bm25::term_id(word), own));
                (
                    index.lexical(&terms, &passing, 50, &NoDisk).expect("ranked"),
                    index.dense(&[0.3, 0.2, -0.9], &passing, 50, &NoDisk).expect("ranked"),
                    index.sparse(&[(2, 1.0), (6, 0.5)], &passing, 50, &NoDisk).expect("ranked"),
                )
            };
            assert_eq!(found(&tidied), found(&fresh));
            assert_eq!(found(&worn), found(&fresh));
        }
    }

    #[test]
    fn what_is_added_is_seen_when_it_is_shown() {
        let part = |versions: std::ops::Range<i64>| {
            let mut part = SearchIndex::new(3);
            versions.for_each(|version| add(&mut part, version, version as u32 % 40));
            part.finish();
            part
        };
        let live = |versions: std::ops::Range<i64>| Gone::AllBut(versions.collect());
        let found = |index: &SearchIndex| {
            let passing = index.passing(&Filter::default(), &NoDisk, &NoRecords).expect("a quick filter");
            let terms = [("word3", 1.0), ("every", 0.5)].map(|(word, own)| (crate::bm25::term_id(word), own));
            (
                index.lexical(&terms, &passing, 50, &NoDisk).expect("ranked"),
                index.dense(&[0.3, 0.2, -0.9], &passing, 50, &NoDisk).expect("ranked"),
                index.sparse(&[(2, 1.0), (6, 0.5)], &passing, 50, &NoDisk).expect("ranked"),
            )
        };
        let mut index = SearchIndex::default();
        index.append(part(1..300));
        assert_eq!((found(&index).0.len(), index.last_version()), (0, 0));
        index.show(&live(1..300));
        let before = found(&index);
        assert_eq!((&before, index.last_version()), (&found(&part(1..300)), 299));
        // A change that was not committed, and another one with the same numbers.
        index.append(part(300..310));
        assert_eq!(found(&index), before);
        index.forget();
        assert_eq!((found(&index), index.last_version()), (before, 299));
        index.append(part(300..330));
        index.append(part(330..400));
        index.show(&Gone::These((1..150).collect()));
        assert_eq!((found(&index), index.last_version()), (found(&part(150..400)), 399));
        index.show(&live(200..400));
        assert_eq!((found(&index), index.last_version()), (found(&part(200..400)), 399));
        assert_eq!(found(&index.compacted()), found(&index));
    }
}
