//! `chunkwright backup`

use std::path::PathBuf;

use anyhow::Result;
use chunkwright_index::{Access, SqliteStore};

use crate::app::{self, CollectionFlags, Global, Outcome};

/// Copy the whole store into one file, while it is in use
///
/// The copy is of one moment, of all collections. It appears whole or not at all. `chunkwright restore` makes
/// a store of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Backup {
    /// The file to write, which must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Backup {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        SqliteStore::open(&app::store_dir(&settings)?, Access::Read)?.backup(&self.file)?;
        Ok(Outcome::Success)
    }
}
