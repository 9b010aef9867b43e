//! `chunkwright backup`

use anyhow::Result;
use chunkwright_engine::Access;

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::OutputPath;
use crate::text::{count, plain, red};

/// Copy the whole store into one file, while it is in use
///
/// The copy is of one moment, of all collections. It appears whole or not at all, and it is proven as
/// `chunkwright check` proves a store: the exit status is 1 if the copy holds damage, which is then named.
/// `chunkwright restore` makes a store of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Backup {
    /// The file to write, which must not exist
    #[arg(value_name = "FILE")]
    file: OutputPath,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Backup {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let engine = global.engine(&[&self.collection], Access::NoStore)?;
        let report = engine.backup(self.file.path())?;
        let (documents, chunks) = (count(report.documents, "document"), count(report.chunks, "chunk"));
        if report.problems.is_empty() {
            global.say(&format!("the copy was proven: {documents}, {chunks}"));
            return Ok(Outcome::Success);
        }
        for problem in &report.problems {
            global.say(&format!("{} {}", red("problem"), plain(problem)));
        }
        global.say(&format!(
            "the copy holds {documents} and {chunks}, damage included; `chunkwright restore --without-damaged` restores the rest"
        ));
        Ok(Outcome::Nothing)
    }
}
