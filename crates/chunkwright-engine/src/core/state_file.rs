//! Small JSON files beside the store, for what does not deserve a table in every store.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use chunkwright_index::atomic_file::AtomicFile;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::core::engine::Engine;
use crate::error::Error;

/// One change of a file at a time.
static CHANGING: Mutex<()> = Mutex::new(());

/// The contents of the file `name`; the default if there is no such file, or if the caller passed in the store.
pub(crate) fn read<T: Default + DeserializeOwned>(engine: &Engine, name: &str) -> T {
    let text = place(engine, name).and_then(|path| fs::read(path).ok());
    text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Changes the contents of the file `name`. Nothing is written if `change` fails, or if the caller passed in the store.
pub(crate) fn change<T: Default + DeserializeOwned + Serialize, R>(
    engine: &Engine,
    name: &str,
    change: impl FnOnce(&mut T) -> Result<R, Error>,
) -> Result<R, Error> {
    let _changing = CHANGING.lock();
    let mut held = read(engine, name);
    let result = change(&mut held)?;
    let Some(path) = place(engine, name) else { return Ok(result) };
    engine.check_writable()?;
    let written = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = AtomicFile::create(&path)?;
        file.write_all(&serde_json::to_vec_pretty(&held)?)?;
        file.persist()
    };
    written().map_err(Error::Unwritten)?;
    Ok(result)
}

/// Where the file is; `None` if the caller passed in the store.
fn place(engine: &Engine, name: &str) -> Option<PathBuf> {
    if engine.has_given_store() {
        return None;
    }
    Some(engine.state_dir().ok()?.join(name))
}
