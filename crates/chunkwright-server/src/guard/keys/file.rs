//! The file of keys, reloaded when it changes, so that keys are added and revoked while the server runs.

use parking_lot::Mutex;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::{KeyError, Keys};
use crate::files::{FileError, readable_by_us_alone};

/// Interval at which the file is checked.
const LOOK: Duration = Duration::from_secs(1);

/// Why a file of keys cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// A file that cannot be read, or that others may change.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line that is not an entry of a file of keys.
    #[error("`{path}` cannot be used: {error}")]
    Key {
        /// The file.
        path: PathBuf,
        /// Why.
        error: KeyError,
    },
    /// A file without keys, which would lock out every client.
    #[error("`{path}` has no key; `chunkwright key NAME --keys {path}` adds one")]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// The keys of a file, as it is now.
#[derive(Debug)]
pub(super) struct KeyFile {
    path: PathBuf,
    loaded: Mutex<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    keys: Arc<Keys>,
    /// The time and length of the file when it was read, and when it was last checked.
    made: Option<(SystemTime, u64)>,
    looked: Instant,
}

impl KeyFile {
    pub(super) fn open(path: &Path) -> Result<(Self, Option<String>), KeyFileError> {
        let made = made(path);
        let (keys, warning) = read(path)?;
        if keys.is_empty() {
            return Err(KeyFileError::Empty { path: path.to_owned() });
        }
        let loaded = Loaded { keys: Arc::new(keys), made, looked: Instant::now() };
        Ok((Self { path: path.to_owned(), loaded: Mutex::new(loaded) }, warning))
    }

    /// The current keys. If the file cannot be used, its previous keys stay; a file without keys locks out every
    /// client.
    pub(super) fn keys(&self) -> Arc<Keys> {
        let mut loaded = self.loaded.lock();
        if loaded.looked.elapsed() >= LOOK {
            loaded.looked = Instant::now();
            let made = made(&self.path);
            if made != loaded.made {
                loaded.made = made;
                match read(&self.path) {
                    Ok((keys, _)) => {
                        loaded.keys = Arc::new(keys);
                        tracing::info!("the keys were read again");
                    }
                    Err(error) => tracing::error!(%error, "the keys before stay in force"),
                }
            }
        }
        Arc::clone(&loaded.keys)
    }
}

/// The modification time of the file, and its length.
fn made(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn read(path: &Path) -> Result<(Keys, Option<String>), KeyFileError> {
    let warning = readable_by_us_alone(path)?;
    let text =
        fs::read_to_string(path).map_err(|error| FileError::Unreadable { path: path.to_owned(), error })?;
    let keys = Keys::parse(&text).map_err(|error| KeyFileError::Key { path: path.to_owned(), error })?;
    Ok((keys, warning))
}
