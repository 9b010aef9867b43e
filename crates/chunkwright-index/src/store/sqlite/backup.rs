//! Copies of a whole store, made while it is in use.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use super::super::StoreError;
use super::setup::{check_layout, create_folder, lock};
use super::{SqliteStore, check};
use crate::durable;

/// Pages copied before others may have a turn, and how long that is.
const PAGES: i32 = 4096;
const PAUSE: Duration = Duration::from_millis(1);

impl SqliteStore {
    /// Copies the store as it is at one moment into the file `to`, which must not exist. Searches and
    /// writes go on meanwhile. The file appears whole or not at all.
    ///
    /// # Errors
    ///
    /// A file that exists or cannot be written.
    pub fn backup(&self, to: &Path) -> Result<(), StoreError> {
        let io = |error| StoreError::Io { path: to.display().to_string(), error };
        if to.exists() {
            return Err(io(std::io::ErrorKind::AlreadyExists.into()));
        }
        let copy = tempfile::NamedTempFile::new_in(durable::folder_of(to)).map_err(io)?;
        let mut target = Connection::open(copy.path())?;
        let source = self.connect()?;
        Backup::new(&source, &mut target)?.run_to_completion(PAGES, PAUSE, None)?;
        // One file, which needs no log beside it.
        target.pragma_update(None, "journal_mode", "DELETE")?;
        drop(target);
        durable::persist_new(copy, to).map_err(io)
    }

    /// Makes a store in the folder `path` of a backup. The folder must hold no store.
    ///
    /// # Errors
    ///
    /// A folder with a store; a file that is no backup, or a damaged one.
    pub fn restore(from: &Path, path: &Path) -> Result<(), StoreError> {
        let io = |path: &Path, error| StoreError::Io { path: path.display().to_string(), error };
        let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let found = check_layout(&source).and_then(|()| check::check(&source));
        match found {
            // Older layouts are brought up to date when the store is opened.
            Err(StoreError::Layout { found, expected }) if found < expected => {}
            found => {
                if let Some(problem) = found?.problems.into_iter().next() {
                    return Err(StoreError::Damaged { problem });
                }
            }
        }
        create_folder(path).map_err(|error| io(path, error))?;
        let _lock = lock(path)?;
        let file = path.join(Self::FILE);
        if file.exists() {
            return Err(io(&file, std::io::ErrorKind::AlreadyExists.into()));
        }
        let copy = tempfile::NamedTempFile::new_in(path).map_err(|error| io(path, error))?;
        fs::copy(from, copy.path()).map_err(|error| io(from, error))?;
        durable::persist_new(copy, &file).map_err(|error| io(&file, error))
    }
}
