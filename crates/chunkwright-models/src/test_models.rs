//! Installed models in tests. Where one is absent, a test says so and does nothing, unless the environment sets
//! `CHUNKWRIGHT_REQUIRE_MODELS`: then it fails.

#![expect(clippy::print_stdout, reason = "says which models were absent")]
#![expect(clippy::disallowed_methods, reason = "tests find installed models as a user's configuration does")]

use std::path::{Path, PathBuf};

/// The data directory, if the model is installed in it.
pub(crate) fn data_dir_with(name: &str) -> Option<PathBuf> {
    let configured = std::env::var("CHUNKWRIGHT_DATA").ok();
    let dir = crate::data_dir(configured.as_deref().map(Path::new)).ok()?;
    if crate::data::model(name).is_ok_and(|model| model.is_installed(&dir)) {
        return Some(dir);
    }
    let message = format!("model `{name}` is not installed; run `chunkwright models install {name}`");
    assert!(std::env::var_os("CHUNKWRIGHT_REQUIRE_MODELS").is_none(), "{message}");
    println!("not checked: {message}");
    None
}

/// A file of an installed model.
pub(crate) fn file(model: &str, file: usize) -> Option<Vec<u8>> {
    let dir = data_dir_with(model)?;
    crate::data::model(model).ok()?.read(&dir, file).ok()
}
