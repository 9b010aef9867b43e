//! Files: which are taken, which are left out and why.

use std::path::PathBuf;

use crate::report::{SkipReason, Skipped};

/// What files are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkOptions {
    /// Largest file that is read, in bytes.
    pub max_file_size: u64,
}

/// What a walk found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Files to read, by document id.
    pub files: Vec<SourceFile>,
    /// What was left out, by path.
    pub skipped: Vec<Skipped>,
    /// The folders and files that were walked, absolute.
    pub roots: Vec<PathBuf>,
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its key in a collection (see [`doc_id`]).
    pub doc_id: String,
    /// The folder that the id is relative to, absolute, escaped like an id.
    pub root: String,
}

/// Why paths cannot be walked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A path that does not exist.
    #[error("`{path}` does not exist")]
    Missing {
        /// The path.
        path: String,
    },
    /// One path lies inside another: its files would be documents twice.
    #[error("`{inner}` lies inside `{outer}`; give one of them, or index them into two collections")]
    Overlap {
        /// The outer path.
        outer: String,
        /// The inner path.
        inner: String,
    },
    /// A path that cannot be looked at.
    #[error("`{path}` cannot be read: {error}")]
    Io {
        /// The path.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
}

/// Walks `paths`, files or folders, as ripgrep does.
///
/// # Errors
///
/// A path that does not exist, cannot be read, or lies inside another.
pub fn walk(paths: &[PathBuf], options: &WalkOptions) -> Result<Walk, SourceError> {
    unimplemented!()
}

/// Reads a file, the whole of one state of it.
///
/// # Errors
///
/// The reason to leave it out.
pub fn read(file: &SourceFile, options: &WalkOptions) -> Result<Vec<u8>, SkipReason> {
    unimplemented!()
}
