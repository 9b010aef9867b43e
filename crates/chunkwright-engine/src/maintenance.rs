//! Checks a store, copies and restores it, and manages its cache of model outputs.

use std::path::Path;

use chunkwright_index::{CacheUsage, CheckReport, Damaged, SqliteStore};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::Error;
use crate::files::Existing;
use crate::task::Task;

/// How much was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClearedCache {
    /// Number of entries.
    pub forgotten: usize,
}

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
            return owner.perform(self, Task::ClearCache, &|_| {});
        }
        Ok(ClearedCache { forgotten: self.writable_store()?.cache().clear()? })
    }

    /// Copies the whole store into `file` while it is in use, and checks the copy. Returns the report on the copy.
    ///
    /// # Errors
    ///
    /// A store on a server, a file that cannot be written, one that exists unless it may be replaced.
    pub fn backup(&self, file: &Path, existing: Existing) -> Result<CheckReport, Error> {
        let store = SqliteStore::open(&self.store_dir()?, chunkwright_index::Access::Read)?;
        Ok(store.backup(file, existing)?)
    }

    /// Creates a store from a copy that [`backup`](Self::backup) wrote, after checking it. The report lists what was
    /// left out.
    ///
    /// # Errors
    ///
    /// A copy that is damaged, unless damaged documents are left out; a folder that has a store.
    pub fn restore(&self, file: &Path, damaged: Damaged) -> Result<CheckReport, Error> {
        let folder = self.store_dir()?;
        Ok(SqliteStore::restore(file, &folder, damaged)?)
    }
}
