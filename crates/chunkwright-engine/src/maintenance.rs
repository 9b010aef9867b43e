//! What is in the store as a whole, is it sound, and how is it copied?

use std::collections::BTreeMap;
use std::path::Path;

use chunkwright_index::{CacheUsage, CheckReport, Damaged, Folder, GenerationStatus, SqliteStore, folders};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::Error;
use crate::task::Task;

/// A collection, by the generation that searches see, and its folders.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectionStatus {
    /// The generation that searches see.
    #[serde(flatten)]
    pub status: GenerationStatus,
    /// The folders that its documents are of.
    pub folders: Vec<Folder>,
}

/// A collection in a list, and its generations as numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedCollection {
    /// The generation that searches see.
    #[serde(flatten)]
    pub status: GenerationStatus,
    /// Number of generations.
    pub generations: usize,
    /// Number of chunks by strategy version, over all generations.
    pub versions: BTreeMap<String, usize>,
}

/// How much was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClearedCache {
    /// Number of entries.
    pub forgotten: usize,
}

impl Engine {
    /// Lists all collections, by name, without reading their documents.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn list_collections(&self) -> Result<Vec<ListedCollection>, Error> {
        let listed = |collection: &chunkwright_index::Collection| {
            let (status, versions) = (collection.visible()?.clone(), collection.version_stats());
            Some(ListedCollection { status, generations: collection.generations.len(), versions })
        };
        Ok(self.store()?.collections()?.iter().filter_map(listed).collect())
    }

    /// All collections, by name.
    ///
    /// # Errors
    ///
    /// A store that fails.
    pub fn collections(&self) -> Result<Vec<CollectionStatus>, Error> {
        let store = self.store()?;
        let mut found = Vec::new();
        for collection in store.collections()? {
            let Some(status) = collection.visible().cloned() else { continue };
            let folders = folders(&*store, &status.generation)?;
            found.push(CollectionStatus { status, folders });
        }
        Ok(found)
    }

    /// Proves that the store is sound: the storage engine's own checks, and every document from its file to its vectors.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn check(&self) -> Result<CheckReport, Error> {
        Ok(self.store()?.check()?)
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

    /// Copies the whole store into `file`, which must not exist, while it is in use, and proves the copy. The report
    /// is that of the copy.
    ///
    /// # Errors
    ///
    /// A store on a server, a file that cannot be written.
    pub fn backup(&self, file: &Path) -> Result<CheckReport, Error> {
        let store = SqliteStore::open(&self.store_dir()?, chunkwright_index::Access::Read)?;
        Ok(store.backup(file)?)
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
