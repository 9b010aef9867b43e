//! Checks the permissions of files that hold secrets.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
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
        /// The system error.
        error: io::Error,
    },
    /// A file that other users may change: they could let anyone in.
    #[error("others may change `{path}`; run `chmod go-w {path}`")]
    Writable {
        /// The file.
        path: PathBuf,
    },
}

/// Appends a line to the file at `path` and syncs it; a new file is readable by its user alone.
///
/// # Errors
///
/// A file that cannot be written.
pub fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let before = fs::read(path).unwrap_or_default();
    let end = if before.is_empty() || before.ends_with(b"\n") { "" } else { "\n" };
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(format!("{end}{line}\n").as_bytes())?;
    file.sync_all()
}

/// Checks that no other user may change the file at `path`; returns a warning if all users may read it.
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
