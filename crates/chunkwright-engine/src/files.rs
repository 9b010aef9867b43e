//! How do results appear whole, and never in place of what is read or stored?

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use chunkwright_index::SqliteStore;
use chunkwright_index::atomic_file::{FileId, lies_in, resolve};
use chunkwright_source::{WalkOptions, walk};

use crate::page;
use crate::settings::Layers;

pub use chunkwright_index::atomic_file::{AtomicFile, discard_all, unfinished};

impl Layers {
    /// Folders that nobody else writes into, whether or not they exist: that of the store in force, and those of the
    /// default store, models, vectors and of stores of folders. `given` is what a front end puts over the layers, by key.
    pub fn owned_folders(&self, given: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
        let value = |key: &str| given(key).or_else(|| self.text(key).map(str::to_owned));
        let store = value("store").filter(|store| !store.contains("://")).map(PathBuf::from);
        // If the home folder is unknown, there is no default store.
        let data = chunkwright_models::data_dir(value("data").as_deref().map(Path::new)).ok();
        let default =
            ["store", "cache", "folders", "models"].map(|folder| data.as_ref().map(|data| data.join(folder)));
        store.into_iter().chain(default.into_iter().flatten()).collect()
    }
}

/// What results must not be written over or into.
#[derive(Clone, Debug, Default)]
pub struct Protected {
    /// Files and folders that are read.
    pub inputs: Vec<PathBuf>,
    /// Folders of stores and models, which need not exist.
    pub stores: Vec<PathBuf>,
}

/// Why a file must not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// It cannot be written.
    #[error(transparent)]
    Unwritable(#[from] io::Error),
    /// It belongs to a store.
    #[error("it lies in the store `{}`; write the results outside of it", store.display())]
    InStore {
        /// The folder.
        store: PathBuf,
    },
    /// It is read.
    #[error("`{}` is an input of this command; write the results to another file", input.display())]
    IsInput {
        /// What is read, by the name under which it is.
        input: PathBuf,
    },
}

impl Protected {
    /// Whether `output` may be written. Answers its path where it lies in a folder that is read and holds the results of
    /// an earlier run: that file is replaced, and is no document.
    ///
    /// # Errors
    ///
    /// An output that is read or lies in a store, and one that cannot be written.
    pub fn check(&self, output: &Path) -> Result<Option<PathBuf>, OutputError> {
        let target = resolve(output)?;
        let existing = target.metadata().ok();
        if existing.as_ref().is_some_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            return Ok(None);
        }
        self.refuse_store(&target)?;
        let mut replaced = None;
        if let Some(id) = existing.and_then(|_| FileId::of(&target)) {
            if let Some(input) = self.inputs.iter().find(|input| FileId::of(input).as_ref() == Some(&id)) {
                return Err(OutputError::IsInput { input: input.clone() });
            }
            replaced = self.refuse_walked(&target, &id)?;
        }
        // Better now than after an hour of work. What is begun here is dropped at once.
        AtomicFile::create(output)?;
        Ok(replaced)
    }

    fn refuse_store(&self, target: &Path) -> Result<(), OutputError> {
        let id = FileId::of(target);
        let is_file_of = |store: &Path| {
            let files = fs::read_dir(store).into_iter().flatten().flatten();
            id.is_some() && files.map(|file| FileId::of(&file.path())).any(|file| file == id)
        };
        // Any store, not the one in force alone.
        let around = target.parent().filter(|folder| folder.join(SqliteStore::FILE).is_file());
        let mut stores = self.stores.iter().map(PathBuf::as_path).chain(around);
        match stores.find(|store| lies_in(target, store) || is_file_of(store)) {
            Some(store) => Err(OutputError::InStore { store: store.to_owned() }),
            None => Ok(()),
        }
    }

    /// Refuses an output that is found in a folder that is read.
    fn refuse_walked(&self, target: &Path, id: &FileId) -> Result<Option<PathBuf>, OutputError> {
        let mut replaced = None;
        for folder in self.inputs.iter().filter(|input| input.is_dir()) {
            if !lies_in(target, folder) && !has_other_names(target) {
                continue;
            }
            // What cannot be walked is reported by whoever reads it.
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
}

/// Whether a file is found under other names too.
#[cfg(unix)]
fn has_other_names(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    path.metadata().is_ok_and(|metadata| metadata.nlink() > 1)
}

/// Whether a file may have other names too: this system does not say.
#[cfg(not(unix))]
fn has_other_names(path: &Path) -> bool {
    path.is_file()
}

/// How files of chunks begin, as JSON Lines, as JSON and as a page: no documents, so a run may replace what an earlier
/// one wrote among its inputs. An empty file has no document to lose.
fn holds_results(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(1 << 10).read_to_end(&mut head));
    let begins = [b"{\"chunk_id\":\"".as_slice(), b"[\n{\"chunk_id\":\"", page::begin()];
    read.is_ok() && (head.is_empty() || begins.iter().any(|begin| head.starts_with(begin)))
}
