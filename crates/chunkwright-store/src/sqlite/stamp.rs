//! Tells a file from one that took its place, and from itself after a change.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// A file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    file: FileId,
    length: u64,
    modified: Option<SystemTime>,
}

/// Device and number of the file.
#[cfg(unix)]
type FileId = (u64, u64);

/// When the file was made.
#[cfg(not(unix))]
type FileId = Option<SystemTime>;

impl Stamp {
    /// The file at `path`; `None` while there is none.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        #[cfg(unix)]
        let file = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let file = metadata.created().ok();
        Some(Self { file, length: metadata.len(), modified: metadata.modified().ok() })
    }

    /// Whether it is the same file, changed or not.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        self.file == other.file
    }
}
