//! Proves that a store is sound, copies it, and says what it remembers of models.

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
    /// Proves that the store is sound: the storage engine's own checks, and every document from its file to its vectors,
    /// of one collection or of all.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a collection that does not exist.
    pub fn check(&self, collection: Option<&str>) -> Result<CheckReport, Error> {
        let store = self.store()?;
        let collection = collection.map(|name| store.open(name)).transpose()?.map(|known| known.collection);
        Ok(store.check_documents_of(collection.as_deref())?)
    }

    /// What is remembered of models: vectors and notes.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn cache(&self) -> Result<Vec<CacheUsage>, Error> {
        Ok(self.store()?.cache().usage()?)
    }

    /// Forgets vectors of texts that no chunk has, and all notes.
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

    /// Copies the whole store into `file` while it is in use, and proves the copy. The report is that of the copy.
    ///
    /// # Errors
    ///
    /// A store on a server, a file that cannot be written, one that exists unless it may be replaced.
    pub fn backup(&self, file: &Path, existing: Existing) -> Result<CheckReport, Error> {
        let store = SqliteStore::open(&self.store_dir()?, chunkwright_index::Access::Read)?;
        Ok(store.backup(file, existing)?)
    }

    /// Makes a store of a copy that [`backup`](Self::backup) wrote, which is proven first. The report says what was
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
