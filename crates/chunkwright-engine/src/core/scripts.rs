//! Cached shares of the writing systems of collections.

use std::collections::HashMap;

use chunkwright_index::{Generation, Script};
use parking_lot::Mutex;

/// The number of chunks in each script, in a sample of a generation's documents.
pub(crate) type Scripts = HashMap<Script, u64>;

/// Cached scripts by generation, each with the number of documents that there were.
#[derive(Debug, Default)]
pub(crate) struct KnownScripts(Mutex<HashMap<(String, i64), (usize, Scripts)>>);

impl KnownScripts {
    /// The cached scripts of a generation, if it has as many documents as it had then.
    pub(crate) fn get(&self, generation: &Generation, documents: usize) -> Option<Scripts> {
        let known = self.0.lock();
        let (count, scripts) = known.get(&(generation.collection.clone(), generation.number))?;
        (*count == documents).then(|| scripts.clone())
    }

    /// Caches scripts, and drops those of other generations of the collection.
    pub(crate) fn put(&self, generation: &Generation, documents: usize, scripts: Scripts) {
        let mut known = self.0.lock();
        known.retain(|(collection, _), _| *collection != generation.collection);
        known.insert((generation.collection.clone(), generation.number), (documents, scripts));
    }
}
