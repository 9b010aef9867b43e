//! Pages of documents in the order of their ids: the request and the total.
//!
//! A page begins after an id, so it costs what it holds plus what the pattern rejects on the way, wherever it is in the
//! list. The number of all documents of a list is counted once for each change of the generation, not for each page.

use parking_lot::Mutex;
use std::collections::btree_map::Range;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use crate::document::DocumentInfo;
use crate::filter::Glob;
use crate::generation::Generation;
use crate::list::MAX_PAGE;

/// A request for a page of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentsBehind<'a> {
    /// Only documents whose id matches this pattern.
    pub source: Option<&'a Glob>,
    /// The id that the page begins after; `None` for the first page. No document need have it.
    pub after: Option<&'a str>,
    /// Number of documents to pass over before the page: only their ids are read.
    pub skip: usize,
    /// Most documents of the page, from 1 to [`MAX_PAGE`].
    pub limit: usize,
}

/// Documents of a page, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedDocuments {
    /// The documents.
    pub documents: Vec<DocumentInfo>,
    /// Number of all documents of the list, those on other pages included.
    pub total: usize,
    /// Whether there are documents after the last one of the page.
    pub is_more: bool,
}

impl<'a> DocumentsBehind<'a> {
    /// Number of documents of a full page.
    pub(super) fn page_size(&self) -> usize {
        self.limit.clamp(1, MAX_PAGE)
    }

    /// The common prefix of the ids of the list.
    pub(super) fn prefix(&self) -> &'a str {
        self.source.map_or("", Glob::prefix)
    }

    /// Whether a document is on the list.
    pub(super) fn has(&self, doc_id: &str) -> bool {
        self.source.is_none_or(|glob| glob.matches(doc_id))
    }

    /// The documents that the page may have, by id.
    pub fn range<'m, V>(&self, documents: &'m BTreeMap<String, V>) -> Range<'m, String, V> {
        let from = match self.after {
            Some(after) if after >= self.prefix() => Bound::Excluded(after),
            _ => Bound::Included(self.prefix()),
        };
        documents.range::<str, _>((from, Bound::Unbounded))
    }

    /// The number of documents of the list.
    pub fn count<V>(&self, documents: &BTreeMap<String, V>) -> usize {
        if self.source.is_none() {
            return documents.len();
        }
        let all = Self { after: None, ..*self };
        let begun =
            all.range(documents).map(|(doc_id, _)| doc_id).take_while(|id| id.starts_with(self.prefix()));
        begun.filter(|doc_id| self.has(doc_id)).count()
    }

    /// Takes ids in order, beginning with the first that is not before [`prefix`](Self::prefix) and is after `after`;
    /// returns those of the page, and whether there are more.
    ///
    /// # Errors
    ///
    /// Errors of reading.
    pub fn take<T, E>(
        &self,
        ids: impl Iterator<Item = Result<(String, T), E>>,
    ) -> Result<(Vec<(String, T)>, bool), E> {
        let (mut page, mut skip) = (Vec::new(), self.skip);
        for entry in ids {
            let (doc_id, value) = entry?;
            if !doc_id.starts_with(self.prefix()) {
                break;
            }
            if self.has(&doc_id) && skip > 0 {
                skip -= 1;
            } else if self.has(&doc_id) {
                if page.len() == self.page_size() {
                    return Ok((page, true));
                }
                page.push((doc_id, value));
            }
        }
        Ok((page, false))
    }
}

/// Cached numbers of documents, by generation and pattern.
#[derive(Debug, Default)]
pub struct Totals(Mutex<HashMap<i64, Counted>>);

/// The counts as of one change of a generation.
#[derive(Debug, Default)]
struct Counted {
    change: u64,
    by_pattern: HashMap<Option<String>, usize>,
}

/// Most patterns per generation whose counts are cached.
const PATTERNS: usize = 64;

impl Totals {
    /// The number of documents that match, counted by `count` if it is not known as of this change.
    ///
    /// # Errors
    ///
    /// Errors of counting.
    pub fn get<E>(
        &self,
        generation: &Generation,
        change: u64,
        source: Option<&Glob>,
        count: impl FnOnce() -> Result<usize, E>,
    ) -> Result<usize, E> {
        let pattern = source.map(ToString::to_string);
        let known = |all: &HashMap<i64, Counted>| {
            let counted = all.get(&generation.number).filter(|counted| counted.change == change);
            counted.and_then(|counted| counted.by_pattern.get(&pattern).copied())
        };
        if let Some(total) = known(&self.0.lock()) {
            return Ok(total);
        }
        let total = count()?;
        let mut all = self.0.lock();
        let counted = all.entry(generation.number).or_default();
        if counted.change < change || counted.by_pattern.len() >= PATTERNS {
            *counted = Counted { change: change.max(counted.change), by_pattern: HashMap::new() };
        }
        // A reader of an older snapshot caches nothing.
        if counted.change == change {
            counted.by_pattern.insert(pattern, total);
        }
        Ok(total)
    }

    /// Forgets a generation, by its number.
    pub fn forget(&self, generation: i64) {
        self.0.lock().remove(&generation);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;
    use crate::generation::GenerationSpec;

    #[test]
    fn documents_are_counted_once_for_each_change_and_pattern() {
        let totals = Totals::default();
        let generation =
            Generation { collection: "c".into(), number: 1, spec: GenerationSpec::default(), stored: None };
        let glob = Glob::new("a/*").expect("a glob");
        let counts = Cell::new(0);
        let get = |change, source, total| {
            let count = || {
                counts.set(counts.get() + 1);
                Ok::<usize, Infallible>(total)
            };
            let Ok(found) = totals.get(&generation, change, source, count);
            (found, counts.get())
        };
        assert_eq!(get(1, None, 10), (10, 1));
        assert_eq!(get(1, None, 99), (10, 1));
        assert_eq!(get(1, Some(&glob), 3), (3, 2));
        assert_eq!(get(2, None, 11), (11, 3));
        assert_eq!(get(1, None, 10), (10, 4), "a reader of an older moment");
        assert_eq!(get(2, None, 99), (11, 4));
        assert_eq!(get(2, Some(&glob), 4), (4, 5));
        totals.forget(generation.number);
        assert_eq!(get(2, None, 12), (12, 6));
    }
}
