//! Copies a store in a folder, and restores it.

use std::path::Path;

use chunkwright_index::atomic_file::Existing;
use chunkwright_index::{Access, CheckReport, Damaged, SqliteStore};

use crate::core::engine::Engine;
use crate::error::Error;

impl Engine {
    /// Copies the whole store into `file` while it is in use, and checks the copy. Returns the report on the copy.
    ///
    /// # Errors
    ///
    /// A store on a server, a file that cannot be written, one that exists unless it may be replaced.
    pub fn backup(&self, file: &Path, existing: Existing) -> Result<CheckReport, Error> {
        let store = SqliteStore::open(&self.store_dir()?, Access::Read)?;
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
