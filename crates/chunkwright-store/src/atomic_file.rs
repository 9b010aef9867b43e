//! Atomic file writes: a file appears whole or not at all, and survives a power failure.
//!
//! A rename is not enough: the name may reach the disk before the content does, and neither is guaranteed to be on disk
//! when the call returns.
//!
//! The process keeps a list of the files it is writing, so that it can remove them if it must exit at once, such as
//! after a signal ([`discard_all`]).

use parking_lot::{Mutex, MutexGuard};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The prefix of temporary files: hidden, so that no walk reads them.
const PREFIX: &str = ".chunkwright-";

/// Suffixes of the files that `SQLite` may put beside a database being written.
const BESIDE: [&str; 4] = ["", "-journal", "-wal", "-shm"];

/// Longest chain of symbolic links that is followed.
const MAX_LINKS: usize = 40;

/// Files being written: the temporary path and the destination of each.
static UNFINISHED: Mutex<Vec<(PathBuf, PathBuf)>> = Mutex::new(Vec::new());

/// A file that is written beside its destination and renamed when complete. If dropped earlier, it is deleted and the
/// destination is unchanged.
#[derive(Debug)]
pub struct AtomicFile {
    file: NamedTempFile,
    destination: PathBuf,
    _listed: Listed,
}

/// What to do with an existing file of the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// It is kept, and the new one is not written.
    #[default]
    Kept,
    /// It is replaced by the new one.
    Replaced,
}

impl AtomicFile {
    /// Begins a file for `path`. If that is a symbolic link, the link stays and its target is written. An existing file
    /// must be writable, and its permissions are kept.
    ///
    /// # Errors
    ///
    /// A folder or an existing file that is not writable; a cycle of links.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::begin(path, 0o666)
    }

    /// As [`create`](Self::create), but a new file is readable by its owner only.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create).
    pub fn create_private(path: &Path) -> io::Result<Self> {
        Self::begin(path, 0o600)
    }

    #[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix has modes"))]
    fn begin(path: &Path, mode: u32) -> io::Result<Self> {
        let destination = resolve(path)?;
        let replaced = match fs::metadata(&destination) {
            Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("it is not a regular file")),
            // A rename would replace even a read-only file.
            Ok(metadata) => OpenOptions::new().write(true).open(&destination).map(|_| Some(metadata))?,
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
        let mut unfinished = lock();
        let file = builder.tempfile_in(folder_of(&destination))?;
        unfinished.push((file.path().to_owned(), path.to_owned()));
        drop(unfinished);
        let listed = Listed(file.path().to_owned());
        if let Some(metadata) = replaced {
            keep_permissions(file.as_file(), &metadata)?;
        }
        Ok(Self { file, destination, _listed: listed })
    }

    /// Path of the file until it is complete.
    pub fn temporary(&self) -> &Path {
        self.file.path()
    }

    /// Renames the file to its destination, replacing any existing file.
    ///
    /// # Errors
    ///
    /// A file that cannot be synced or renamed.
    pub fn persist(self) -> io::Result<()> {
        self.finish(NamedTempFile::persist)
    }

    /// Renames the file to its destination, which must not exist.
    ///
    /// # Errors
    ///
    /// A file that cannot be synced or renamed; a name that is taken.
    pub fn persist_new(self) -> io::Result<()> {
        self.finish(NamedTempFile::persist_noclobber)
    }

    /// Renames the file to its destination; `existing` says whether that may replace a file.
    ///
    /// # Errors
    ///
    /// Those of [`persist`](Self::persist) or [`persist_new`](Self::persist_new).
    pub fn persist_over(self, existing: Existing) -> io::Result<()> {
        match existing {
            Existing::Kept => self.persist_new(),
            Existing::Replaced => self.persist(),
        }
    }

    fn finish(
        self,
        rename: fn(NamedTempFile, PathBuf) -> Result<File, tempfile::PersistError>,
    ) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        // Not while the process exits: files reported as untouched must stay so.
        let unfinished = lock();
        rename(self.file, self.destination.clone()).map_err(|error| error.error)?;
        drop(unfinished);
        sync_folder(folder_of(&self.destination))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// An entry of [`UNFINISHED`].
#[derive(Debug)]
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        lock().retain(|(temporary, _)| *temporary != self.0);
    }
}

fn lock() -> MutexGuard<'static, Vec<(PathBuf, PathBuf)>> {
    UNFINISHED.lock()
}

/// Destinations of the files being written, as given when they were begun.
pub fn unfinished() -> Vec<PathBuf> {
    lock().iter().map(|(_, path)| path.clone()).collect()
}

/// Removes every file that is being written. For a process that is about to exit: a thread that then begins or finishes
/// a file blocks forever.
pub fn discard_all() {
    let unfinished = lock();
    for (temporary, _) in unfinished.iter() {
        for suffix in BESIDE {
            let mut path = temporary.clone().into_os_string();
            path.push(suffix);
            // A file that cannot be removed stays: the process is exiting.
            let _ = fs::remove_file(path);
        }
    }
    std::mem::forget(unfinished);
}

/// The file that `path` leads to through symbolic links, whether it exists or not.
///
/// # Errors
///
/// Links that lead in a circle.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if !path.is_symlink() {
            return Ok(path);
        }
        path = folder_of(&path).join(fs::read_link(&path)?);
    }
    Err(io::Error::other("its symbolic links lead in a circle"))
}

/// Gives a new file the owner, where the system allows it, and the permissions of the one it will replace.
fn keep_permissions(file: &File, replaced: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
            // Only the superuser may change the owner, and only it needs to.
            let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
        }
        file.set_permissions(fs::Permissions::from_mode(replaced.mode() & 0o777))
    }
    #[cfg(not(unix))]
    file.set_permissions(replaced.permissions())
}

/// The identity of a file, independent of its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileId(Id);

#[cfg(unix)]
type Id = (u64, u64);
#[cfg(not(unix))]
type Id = PathBuf;

impl FileId {
    /// The file or folder at `path`, following links; `None` if there is none.
    pub fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        return fs::metadata(path).ok().map(|metadata| Self::from(&metadata));
        #[cfg(not(unix))]
        return path.canonicalize().ok().map(Self);
    }
}

#[cfg(unix)]
impl From<&Metadata> for FileId {
    fn from(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self((metadata.dev(), metadata.ino()))
    }
}

/// Whether `path`, which need not exist, lies in `folder` or below it.
pub fn lies_in(path: &Path, folder: &Path) -> bool {
    let Ok(path) = std::path::absolute(path) else { return false };
    let Some(folder_id) = FileId::of(folder) else {
        return std::path::absolute(folder).is_ok_and(|folder| path.starts_with(folder));
    };
    // The nearest existing folder resolves the rest of the path.
    let real = path.ancestors().skip(1).find_map(|above| above.canonicalize().ok());
    real.is_some_and(|real| real.ancestors().any(|above| FileId::of(above).as_ref() == Some(&folder_id)))
}

/// Renames a file that was written beside `path` to `path`, which must not exist.
pub(crate) fn persist_new(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}

/// Makes the names in a folder durable, where folders can be synced; elsewhere, as on Windows, the system does that
/// itself.
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
