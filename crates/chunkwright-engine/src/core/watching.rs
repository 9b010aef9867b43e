//! Marks of the folders that processes watch, beside the store.
//!
//! A mark is a file that its process keeps locked while it watches. The system releases the lock when the process ends,
//! however it ends, so a mark that can be locked is of a process that is gone, and counts no more. A mark appears
//! locked and whole. Where locks are mandatory, it cannot be read by others, and only the process itself knows.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::core::engine::Engine;
use crate::places::name_of;

/// Number of marks that this process has made.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// What a mark says.
#[derive(Serialize, Deserialize)]
struct Marked {
    collection: String,
    paths: Vec<String>,
}

/// A mark; it goes when it is dropped.
#[derive(Debug)]
pub(crate) struct Mark {
    path: PathBuf,
    _held: File,
}

impl Drop for Mark {
    fn drop(&mut self) {
        // What stays is not locked, and the next mark removes it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Marks that this process watches `paths` for a collection. `None` where nothing can be written beside the store, or the
/// caller passed in the store; the folders are watched all the same.
pub(crate) fn mark(engine: &Engine, collection: &str, paths: &[PathBuf]) -> Option<Mark> {
    let folder = folder(engine)?;
    let paths = paths.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
    let paths = paths.map(|path| path.display().to_string()).collect();
    make(&folder, &Marked { collection: collection.to_owned(), paths }).ok()
}

fn make(folder: &Path, marked: &Marked) -> io::Result<Mark> {
    fs::create_dir_all(folder)?;
    for path in marks(folder).filter(|path| read(path).is_none()) {
        // Another process may have removed it.
        let _ = fs::remove_file(path);
    }
    let name = format!("{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    let (new, path) = (folder.join(format!("{name}.new")), folder.join(format!("{name}.json")));
    let mut held = File::create(&new)?;
    held.try_lock()?;
    held.write_all(&serde_json::to_vec(marked)?)?;
    fs::rename(&new, &path)?;
    Ok(Mark { path, _held: held })
}

/// The watched paths of each collection that has some; without the folders above them, where the engine
/// [hides](Engine::hides_places) these.
pub(crate) fn watched(engine: &Engine) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in folder(engine).iter().flat_map(|folder| marks(folder)) {
        let Some(Marked { collection, paths }) = read(&path) else { continue };
        let shown = |path: String| if engine.hides_places() { name_of(&path).to_owned() } else { path };
        all.entry(engine.name_now(&collection)).or_default().extend(paths.into_iter().map(shown));
    }
    for paths in all.values_mut() {
        paths.sort_unstable();
        paths.dedup();
    }
    all
}

fn folder(engine: &Engine) -> Option<PathBuf> {
    let folder = (!engine.has_given_store()).then(|| engine.state_dir().ok())??;
    Some(folder.join("watching"))
}

fn marks(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"))
}

/// What a mark says; `None` if its process has ended.
fn read(path: &Path) -> Option<Marked> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => serde_json::from_reader(file).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_counts_while_it_is_held_and_the_next_removes_what_a_dead_process_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let all = || marks(folder.path()).filter_map(|path| read(&path)).map(|it| it.collection);
        let sorted = || {
            let mut names: Vec<String> = all().collect();
            names.sort_unstable();
            names
        };
        let marked = |name: &str| Marked { collection: name.into(), paths: vec!["/docs".into()] };
        let a = make(folder.path(), &marked("a")).expect("a mark");
        let b = make(folder.path(), &marked("b")).expect("a mark");
        assert_eq!(sorted(), ["a", "b"]);
        drop(a);
        assert_eq!(sorted(), ["b"]);
        // As it is after a kill: the file is there, and nobody holds it.
        let dead = folder.path().join("1-0.json");
        fs::write(&dead, br#"{"collection":"dead","paths":[]}"#).expect("a file");
        assert_eq!(sorted(), ["b"]);
        drop(make(folder.path(), &marked("c")).expect("a mark"));
        assert!(!dead.exists(), "what a dead process left");
        assert_eq!(sorted(), ["b"]);
        drop(b);
    }
}
