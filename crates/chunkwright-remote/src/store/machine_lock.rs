//! The write lock of a server's store on this machine: a lock file in a local folder, as for a store in a folder.

use parking_lot::Mutex;
use std::fs::File;
use std::path::{Path, PathBuf};

use chunkwright_store::StoreError;
use chunkwright_store::sqlite::{create_folder, lock as lock_folder};

/// A lock that is held until it is released or its process ends.
#[derive(Debug)]
pub(super) struct MachineLock {
    folder: PathBuf,
    /// The store, for messages.
    address: String,
    held: Mutex<Option<File>>,
}

impl MachineLock {
    pub(super) fn new(folder: &Path, address: &str) -> Self {
        Self { folder: folder.to_owned(), address: address.to_owned(), held: Mutex::default() }
    }

    /// Takes the lock, or fails at once.
    pub(super) fn claim(&self) -> Result<(), StoreError> {
        let mut held = self.held.lock();
        if held.is_some() {
            return Ok(());
        }
        create_folder(&self.folder)
            .map_err(|error| StoreError::Io { path: self.folder.display().to_string(), error })?;
        let taken = lock_folder(&self.folder).map_err(|error| match error {
            StoreError::Locked { holder, .. } => StoreError::Locked { path: self.address.clone(), holder },
            other => other,
        })?;
        *held = Some(taken);
        Ok(())
    }

    /// Releases the lock.
    pub(super) fn release(&self) {
        self.held.lock().take();
    }
}
