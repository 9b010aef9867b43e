//! The embedded store: SQLite in one folder.
use std::path::Path;
use super::{Access, StoreError};
/// The embedded store.
#[derive(Debug)]
pub struct SqliteStore;
impl SqliteStore {
    /// Opens the store in the folder `path`, which begins to exist when it is opened to write.
    pub fn open(path: &Path, access: Access) -> Result<Self, StoreError> { unimplemented!() }
}
