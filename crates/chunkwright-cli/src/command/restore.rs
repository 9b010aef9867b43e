//! `chunkwright restore`

use std::path::PathBuf;

use anyhow::Result;
use chunkwright_index::SqliteStore;

use crate::app::{self, CollectionFlags, Global, Outcome};

/// Make a store of a backup
///
/// The backup is checked first. A folder that has a store is left as it is.
#[derive(Debug, clap::Args)]
pub(crate) struct Restore {
    /// A file that `chunkwright backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Restore {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        SqliteStore::restore(&self.file, &app::store_dir(&settings)?)?;
        Ok(Outcome::Success)
    }
}
