//! Cached shares of the writing systems of collections.

use std::collections::HashMap;

use chunkwright_index::{Generation, Script};
use parking_lot::Mutex;

/// The number of chunks in each script, in a sample of a generation.
pub(crate) type Scripts = HashMap<Script, u64>;

/// Cached scripts by generation, each with the change that they were counted at.
#[derive(Debug, Default)]
pub(crate) struct KnownScripts(Mutex<HashMap<(String, i64), (u64, Scripts)>>);

impl KnownScripts {
    /// The cached scripts of a generation, if it has not changed since.
    pub(crate) fn get(&self, generation: &Generation, change: u64) -> Option<Scripts> {
        let known = self.0.lock();
        let (counted_at, scripts) = known.get(&(generation.collection.clone(), generation.number))?;
        (*counted_at == change).then(|| scripts.clone())
    }

    /// Caches scripts, and drops those of other generations of the collection.
    pub(crate) fn put(&self, generation: &Generation, change: u64, scripts: Scripts) {
        let mut known = self.0.lock();
        known.retain(|(collection, _), _| *collection != generation.collection);
        known.insert((generation.collection.clone(), generation.number), (change, scripts));
    }
}
