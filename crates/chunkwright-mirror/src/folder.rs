//! The folder of a mirror: its files, what is known of them, and its lock.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chunkwright_http::Clock;
use serde::{Deserialize, Serialize};

use crate::error::MirrorError;

/// Interval at which a lock that another run holds is tried again.
const STEP: Duration = Duration::from_millis(100);

/// An open mirror.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    pub(crate) state: State,
    pub(crate) lock: File,
}

/// What is known of the files of a mirror.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    /// The pages of a site, by their addresses.
    pub(crate) pages: BTreeMap<String, Page>,
    /// The commit at which the content of each file of a repository was first seen.
    pub(crate) commits: BTreeMap<String, String>,
}

/// A page that was fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Page {
    /// Its file, below the folder of files.
    pub(crate) file: String,
    /// Its length. A file of another length is not what was fetched: the power failed.
    pub(crate) bytes: u64,
    /// BLAKE3 of its bytes.
    pub(crate) hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_modified: Option<String>,
    /// When it was last known to be current: seconds since 1970.
    pub(crate) checked: i64,
}

/// The folder of the files of a mirror.
pub(crate) fn files_of(mirror: &Path) -> PathBuf {
    mirror.join("files")
}

impl Folder {
    /// Opens the mirror of this name below `all`, and waits for a run that uses it.
    pub(crate) fn open(
        all: &Path,
        key: &str,
        cancel: &AtomicBool,
        clock: &dyn Clock,
    ) -> Result<Self, MirrorError> {
        let path = all.join(key);
        let wrong = |error| failed(&path, error);
        fs::create_dir_all(files_of(&path)).map_err(wrong)?;
        // The folder is named as the system names it, so that documents of it are found again.
        let path = path.canonicalize().map_err(wrong)?;
        let lock = File::create(path.join("lock")).map_err(|error| failed(&path, error))?;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(failed(&path, error)),
                Err(TryLockError::WouldBlock) if cancel.load(Ordering::SeqCst) => {
                    return Err(MirrorError::Cancelled);
                }
                Err(TryLockError::WouldBlock) => clock.sleep(STEP),
            }
        }
        // A state that cannot be read costs that everything is asked for again.
        let state = fs::read(path.join("state.json")).ok();
        let state = state.and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default();
        Ok(Self { path, state, lock })
    }

    /// The folder of its files.
    pub(crate) fn files(&self) -> PathBuf {
        files_of(&self.path)
    }

    /// Writes what is known.
    pub(crate) fn save(&self) -> Result<(), MirrorError> {
        let json = serde_json::to_vec(&self.state).unwrap_or_default();
        self.put(&self.path.join("state.json"), &json).map_err(|error| failed(&self.path, error))
    }

    /// Writes the file of a page. It appears whole.
    pub(crate) fn write(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.files().join(file);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        self.put(&path, bytes)
    }

    fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let part = self.path.join("part");
        fs::write(&part, bytes)?;
        fs::rename(&part, path)
    }

    /// Whether the file of a page is as it was fetched.
    pub(crate) fn has(&self, page: &Page) -> bool {
        let metadata = fs::metadata(self.files().join(&page.file));
        metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() == page.bytes)
    }

    /// Removes the file of a page, and folders that are empty then.
    pub(crate) fn remove(&self, file: &str) {
        let files = self.files();
        let path = files.join(file);
        let _ = fs::remove_file(&path);
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != files) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

/// The error of a file or folder.
pub(crate) fn failed(path: &Path, error: io::Error) -> MirrorError {
    MirrorError::Io { path: path.display().to_string(), error }
}
