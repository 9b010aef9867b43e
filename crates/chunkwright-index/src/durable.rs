//! Files that appear whole or not at all, and stay when the power fails.
//!
//! A rename is not enough: the name may reach the disk before the content does, and neither needs to be there
//! when the call returns.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use tempfile::NamedTempFile;

/// Gives a file that was written beside it the name `path`, in place of what has it now.
///
/// # Errors
///
/// A file that cannot be synced or renamed.
pub fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}

/// Gives a file that was written beside it the name `path`, which nothing may have.
///
/// # Errors
///
/// A file that cannot be synced or renamed; a name that is taken.
pub fn persist_new(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}

/// Makes the names in a folder durable, where the system lets folders be synced; elsewhere, as on Windows, it
/// sees to that itself.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput) => Ok(()),
        synced => synced,
    }
}

/// The folder that holds `path`.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
