//! What a search reads, in memory: vectors, dense and sparse, terms, and what filters ask of chunks.
//!
//! Derived from what a store holds, at the first search, and brought up to date by whole documents: a
//! version of a document comes or goes, and nothing else ever happens. So the index never differs from
//! one made afresh, but in the order of its rows, which no ranking depends on.

mod bits;
mod dense;
mod postings;
mod sparse;
mod words;

use std::collections::{HashMap, HashSet};

use chunkwright::ChunkId;

use super::filter::{Facts, Filter};
use super::{Scored, TermCounts, TermId};
use bits::Bits;
use dense::Dense;
use sparse::Sparse;
use words::Words;

/// Vectors, terms and facts of the chunks of one generation.
#[derive(Debug, Default)]
pub(super) struct SearchIndex {
    rows: Vec<Row>,
    /// Versions of documents, by position.
    documents: Vec<Document>,
    /// Where each version that is live is.
    live: HashMap<i64, u32>,
    /// Rows of documents that are live.
    live_rows: Bits,
    live_count: usize,
    /// Rows that searches may find, of all.
    enabled: Bits,
    /// Rows that are summaries.
    has_artifacts: bool,
    /// What chunks say of themselves, each combination once: there are few, but where symbols are named.
    facts: Vec<OwnedFacts>,
    known_facts: HashMap<OwnedFacts, u32>,
    dense: Dense,
    sparse: Sparse,
    words: Words,
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
    /// Its rows, which are together.
    rows: std::ops::Range<u32>,
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
pub(super) struct NewRow<'a> {
    pub(super) id: ChunkId,
    pub(super) facts: Facts<'a>,
    pub(super) terms: &'a TermCounts,
    /// Its sparse vector; empty for none.
    pub(super) sparse: &'a [(u32, f32)],
    pub(super) enabled: bool,
}

/// The rows that a filter lets pass: decided once, used by every stage.
pub(super) enum Passing {
    /// All rows that there are.
    All,
    /// These.
    Rows(Bits),
}

impl Passing {
    fn has(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Rows(rows) => rows.has(row),
        }
    }
}

impl SearchIndex {
    /// An empty index of vectors of this dimension; 0 where there are none.
    pub(super) fn new(dimension: usize) -> Self {
        Self { dense: Dense::new(dimension), ..Self::default() }
    }

    /// Begins a version of a document; what is [pushed](Self::push) next belongs to it.
    pub(super) fn begin(&mut self, version: i64, doc_id: &str) {
        let start = self.rows.len() as u32;
        self.live.insert(version, self.documents.len() as u32);
        self.documents.push(Document { doc_id: doc_id.to_owned(), version, rows: start..start });
    }

    /// Adds a chunk of the document begun last; `vector` has the index's dimension, or is none.
    pub(super) fn push<V: Iterator<Item = f32>>(&mut self, row: &NewRow<'_>, vector: Option<V>) {
        let Some(document) = self.documents.last_mut() else { return };
        let Facts { category, language, content_type, artifact, symbols, .. } = row.facts;
        let facts = OwnedFacts {
            category: category.into(),
            language: language.map(Into::into),
            content_type: content_type.into(),
            artifact: artifact.map(Into::into),
            symbols: symbols.into(),
        };
        let next = self.facts.len() as u32;
        let facts = *self.known_facts.entry(facts).or_insert_with_key(|facts| {
            self.facts.push(facts.clone());
            next
        });
        let at = self.rows.len();
        document.rows.end += 1;
        self.rows.push(Row { id: row.id, document: self.documents.len() as u32 - 1, facts });
        self.has_artifacts |= artifact.is_some();
        self.live_rows.push(true);
        self.live_count += 1;
        self.enabled.push(row.enabled);
        self.words.push(at as u32, row.terms);
        self.sparse.push(at as u32, row.sparse);
        self.dense.push(vector);
    }

    /// Ends a row of changes: what searches read first is made of all rows.
    pub(super) fn finish(&mut self) {
        self.dense.sketch();
    }

    /// The greatest version ever begun; versions only grow.
    pub(super) fn last_version(&self) -> i64 {
        self.documents.last().map_or(0, |document| document.version)
    }

    /// Takes out every document whose version is not in `versions`.
    pub(super) fn retain(&mut self, versions: &HashSet<i64>) {
        let gone: Vec<i64> =
            self.live.keys().copied().filter(|version| !versions.contains(version)).collect();
        for version in gone {
            if let Some(document) = self.live.remove(&version) {
                for row in self.documents[document as usize].rows.clone() {
                    self.live_rows.clear(row as usize);
                    self.live_count -= 1;
                }
            }
        }
    }

    /// Whether so much of it is gone that a fresh one is better.
    pub(super) fn is_worn(&self) -> bool {
        self.live_count * 4 < self.rows.len() * 3
    }

    /// Which rows pass. `by_record` answers, for filters that need records, which chunks pass.
    pub(super) fn passing<E>(
        &self,
        filter: &Filter,
        by_record: impl FnOnce() -> Result<HashSet<ChunkId>, E>,
    ) -> Result<Passing, E> {
        let whole = self.live_count == self.rows.len() && self.enabled.all();
        if whole && filter.is_empty() && !self.has_artifacts {
            return Ok(Passing::All);
        }
        let mut rows = self.live_rows.and(&self.enabled);
        if !filter.is_quick() {
            let ids = by_record()?;
            rows.retain(|row| ids.contains(&self.rows[row].id));
        } else if !filter.is_empty() || self.has_artifacts {
            // Rows with the same facts in one document are decided once.
            let mut last = (u32::MAX, u32::MAX, false);
            rows.retain(|row| {
                let Row { document, facts, .. } = self.rows[row];
                if (last.0, last.1) != (document, facts) {
                    let doc_id = &self.documents[document as usize].doc_id;
                    last = (document, facts, filter.passes(&self.facts[facts as usize].borrow(doc_id)));
                }
                last.2
            });
        }
        Ok(Passing::Rows(rows))
    }

    /// The `limit` rows with the greatest dot product; equal scores by chunk id.
    pub(super) fn dense(&self, query: &[f32], passing: &Passing, limit: usize) -> Vec<Scored> {
        self.dense.search(query, passing, limit, |row| self.rows[row].id)
    }

    /// The `limit` rows with the greatest dot product with the sparse vector `query`, of those that have a token
    /// of it; equal scores by chunk id.
    pub(super) fn sparse(&self, query: &[(u32, f32)], passing: &Passing, limit: usize) -> Vec<Scored> {
        self.sparse.search(query, self.rows.len(), passing, limit, |row| self.rows[row].id)
    }

    /// The `limit` rows that BM25 ranks first; equal scores by chunk id.
    pub(super) fn lexical(&self, terms: &[TermId], passing: &Passing, limit: usize) -> Vec<Scored> {
        self.words.search(terms, self, passing, limit)
    }
}

/// The `limit` best, best first; equal scores by chunk id.
pub(super) fn top(mut scored: Vec<Scored>, limit: usize) -> Vec<Scored> {
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
