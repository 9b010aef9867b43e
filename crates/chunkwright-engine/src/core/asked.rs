//! Counts which documents searches find, so that the vectors of those come first.

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;

/// Number of documents counted, of all collections.
const MOST: usize = 10_000;

/// How often searches of this process found each document.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    counts: Mutex<HashMap<(String, String), u64>>,
}

impl Asked {
    /// Counts a document that a search found `times` times.
    pub(crate) fn add(&self, collection: &str, doc_id: &str, times: u64) {
        let mut counts = self.counts.lock();
        let key = (collection.to_owned(), doc_id.to_owned());
        if counts.len() < MOST || counts.contains_key(&key) {
            *counts.entry(key).or_default() += times;
        }
    }

    /// The counts of a collection.
    pub(crate) fn of(&self, collection: &str) -> BTreeMap<String, u64> {
        let counts = self.counts.lock();
        let of = counts.iter().filter(|((of, _), _)| of == collection);
        of.map(|((_, doc_id), times)| (doc_id.clone(), *times)).collect()
    }

    /// Removes the counts of a collection, and returns them.
    pub(crate) fn take(&self, collection: &str) -> BTreeMap<String, u64> {
        let counts = self.of(collection);
        self.counts.lock().retain(|(of, _), _| of != collection);
        counts
    }
}
