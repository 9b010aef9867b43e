//! Checks a store, and manages its cache of model outputs.

use chunkwright_index::{CacheUsage, CheckReport};

use crate::core::engine::Engine;
use crate::error::Error;
use crate::request::cache::ClearedCache;
use crate::request::task::Task;

impl Engine {
    /// Checks that the store is sound: runs the storage engine's own checks, and verifies every document from its file
    /// to its vectors, in one collection or in all.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a collection that does not exist.
    pub fn check(&self, collection: Option<&str>) -> Result<CheckReport, Error> {
        let store = self.store()?;
        let collection = collection.map(|name| store.open(name)).transpose()?.map(|known| known.collection);
        Ok(store.check_documents_of(collection.as_deref())?)
    }

    /// The cached outputs of models: vectors and notes.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn cache(&self) -> Result<Vec<CacheUsage>, Error> {
        Ok(self.store()?.cache().usage()?)
    }

    /// Removes cached vectors of texts that no chunk has, and all notes.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn clear_cache(&self) -> Result<ClearedCache, Error> {
        if let Some(owner) = self.owner()? {
            return self.through(&owner, Task::ClearCache, &|_| {});
        }
        Ok(ClearedCache { forgotten: self.writable_store()?.cache().clear()? })
    }
}
