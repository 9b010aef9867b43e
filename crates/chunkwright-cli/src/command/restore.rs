//! `chunkwright restore`

use std::path::PathBuf;

use anyhow::Result;
use chunkwright_engine::{Access, Damaged};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::text::{count, plain, red};

/// Restore a store from a backup
///
/// The backup is verified first, as `chunkwright check` verifies a store. If documents are damaged they are listed
/// and nothing is restored, unless --without-damaged leaves them out. A folder that already has a store is not
/// changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Restore {
    /// A file that `chunkwright backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Leave out damaged documents and restore the rest
    #[arg(long)]
    without_damaged: bool,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Restore {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let engine = global.engine(&[&self.collection], Access::NoStore)?;
        let damaged = if self.without_damaged { Damaged::LeftOut } else { Damaged::Refused };
        let left_out = engine.restore(&self.file, damaged)?;
        for problem in &left_out.problems {
            global.say(&format!("{} {}", red("problem"), plain(problem)));
        }
        if !left_out.damaged.is_empty() {
            let documents = count(left_out.damaged.len(), "document");
            global.say(&format!("{documents} left out; `chunkwright index` adds them again from their files"));
        }
        Ok(if left_out.damaged.is_empty() { Outcome::Success } else { Outcome::Partial })
    }
}
