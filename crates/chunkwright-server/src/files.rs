//! Who else may read a file that holds what is secret?

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file that holds keys is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A file that cannot be read.
    #[error("`{path}` cannot be read ({}); give a file that can be", error.kind())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A file that others may change: who does so lets in whom they like.
    #[error("others may change `{path}`; run `chmod go-w {path}`")]
    Writable {
        /// The file.
        path: PathBuf,
    },
}

/// Checks that nobody else may change the file at `path`; a warning if everybody may read it.
///
/// # Errors
///
/// A file that others may change, or that cannot be looked at.
pub fn readable_by_us_alone(path: &Path) -> Result<Option<String>, FileError> {
    let metadata = fs::metadata(path);
    let metadata = metadata.map_err(|error| FileError::Unreadable { path: path.to_owned(), error })?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = metadata.permissions().mode();
        if mode & 0o022 != 0 {
            return Err(FileError::Writable { path: path.to_owned() });
        }
        if mode & 0o004 != 0 {
            let path = path.display();
            return Ok(Some(format!("everybody on this machine can read `{path}`; run `chmod o-r {path}`")));
        }
    }
    let _ = metadata;
    Ok(None)
}
