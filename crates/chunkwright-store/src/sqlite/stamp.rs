//! A file stamp: detects that a file was replaced or changed.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// The identity and state of a file at one moment.
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
    /// The stamp of the file at `path`; `None` if there is none.
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

    /// Returns whether it is the same file, changed or not.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        self.file == other.file
    }
}
