//! Result files: written atomically, and never over an input or a store.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use chunkwright_index::atomic_file::{FileId, lies_in, resolve};
use chunkwright_source::{WalkOptions, walk};

use crate::page;

pub use chunkwright_index::atomic_file::{AtomicFile, Existing, discard_all, unfinished};

/// Why a file must not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// It cannot be written.
    #[error(transparent)]
    Unwritable(#[from] io::Error),
    /// It exists, and may not be replaced.
    #[error("it exists")]
    Exists,
    /// It belongs to a store.
    #[error("it lies in the store `{}`; write the results outside of it", store.display())]
    InStore {
        /// The folder.
        store: PathBuf,
    },
    /// It is an input.
    #[error("`{}` is an input of this command; write the results to another file", input.display())]
    IsInput {
        /// The input, under its own name.
        input: PathBuf,
    },
}

/// Checks that results may be written to `output` by something that reads `inputs`, which are files and folders.
/// Returns the path of an existing file if it is to be replaced, lies in a folder that is read, and holds the results
/// of an earlier run: it is not a document.
///
/// # Errors
///
/// An output that exists, unless it may be replaced; one that is read or lies in a store, even then; one that cannot be
/// written.
pub fn check_output(
    output: &Path,
    inputs: &[PathBuf],
    existing: Existing,
) -> Result<Option<PathBuf>, OutputError> {
    let target = resolve(output)?;
    let metadata = target.metadata().ok();
    if metadata.as_ref().is_some_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return Ok(None);
    }
    #[cfg(feature = "sqlite")]
    let folder = std::path::absolute(&target)?;
    #[cfg(feature = "sqlite")]
    if let Some(store) =
        folder.ancestors().skip(1).find(|folder| folder.join(chunkwright_index::SqliteStore::FILE).is_file())
    {
        return Err(OutputError::InStore { store: store.to_owned() });
    }
    let id = metadata.as_ref().and_then(|_| FileId::of(&target));
    let is_target = |input: &&PathBuf| match &id {
        Some(id) => FileId::of(input).as_ref() == Some(id),
        // For example a state that does not exist yet.
        None => resolve(input).is_ok_and(|input| input == target),
    };
    if let Some(input) = inputs.iter().find(is_target) {
        return Err(OutputError::IsInput { input: input.clone() });
    }
    let replaced = id.map(|id| refuse_walked(&target, &id, inputs)).transpose()?.flatten();
    if existing == Existing::Kept && metadata.is_some_and(|metadata| metadata.is_file()) {
        return Err(OutputError::Exists);
    }
    // Fails now rather than after an hour of work. The file is dropped at once.
    AtomicFile::create(output)?;
    Ok(replaced)
}

/// Refuses an output that is found in a folder that is read.
fn refuse_walked(target: &Path, id: &FileId, inputs: &[PathBuf]) -> Result<Option<PathBuf>, OutputError> {
    let mut replaced = None;
    for folder in inputs.iter().filter(|input| input.is_dir()) {
        if !lies_in(target, folder) && !has_other_names(target) {
            continue;
        }
        // A folder that cannot be walked is reported when it is read.
        let Ok(found) = walk(std::slice::from_ref(folder), &WalkOptions::default()) else { continue };
        for file in found.files.into_iter().filter(|file| FileId::of(&file.path).as_ref() == Some(id)) {
            if target.canonicalize().is_ok_and(|real| real == file.path) && holds_results(target) {
                replaced = Some(file.path);
            } else {
                let folder = if folder == Path::new(".") { Path::new("") } else { folder };
                return Err(OutputError::IsInput { input: folder.join(file.doc_id) });
            }
        }
    }
    Ok(replaced)
}

/// Returns whether a file has other hard links.
#[cfg(unix)]
fn has_other_names(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    path.metadata().is_ok_and(|metadata| metadata.nlink() > 1)
}

/// Returns whether a file may have other hard links, which this system does not tell.
#[cfg(not(unix))]
fn has_other_names(path: &Path) -> bool {
    path.is_file()
}

/// Returns whether a file begins like a file of chunks, as JSON Lines, JSON or a page: such a file is not a document,
/// so a run may replace the results of an earlier run among its inputs. An empty file has no document to lose.
fn holds_results(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(1 << 10).read_to_end(&mut head));
    let begins = [b"{\"chunk_id\":\"".as_slice(), b"[\n{\"chunk_id\":\"", page::begin()];
    read.is_ok() && (head.is_empty() || begins.iter().any(|begin| head.starts_with(begin)))
}
