//! `chunkwright backup`

use anyhow::Result;
use chunkwright_engine::Access;

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::{OutputPath, existing};
use crate::text::{count, plain, red};

/// Copy the whole store into one file, even while it is in use
///
/// The copy is a snapshot of all collections. It is written atomically and verified as `chunkwright check` verifies a
/// store: the exit status is 1 if the copy contains damage, which is listed. `chunkwright restore` restores it.
#[derive(Debug, clap::Args)]
pub(crate) struct Backup {
    /// The file to write
    #[arg(value_name = "FILE")]
    file: OutputPath,
    /// Replace the file if it exists; it is replaced atomically
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Backup {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let existing = existing(self.force);
        self.file.check(&[], existing)?;
        let engine = global.engine(&[&self.collection], Access::NoStore)?;
        let report = engine.backup(self.file.path(), existing)?;
        let (documents, chunks) = (count(report.documents, "document"), count(report.chunks, "chunk"));
        if report.problems.is_empty() {
            global.say(&format!("the copy was verified: {documents}, {chunks}"));
            return Ok(Outcome::Success);
        }
        for problem in &report.problems {
            global.say(&format!("{} {}", red("problem"), plain(problem)));
        }
        global.say(&format!(
            "the copy holds {documents} and {chunks}, including damaged ones; `chunkwright restore --without-damaged` restores the rest"
        ));
        Ok(Outcome::Nothing)
    }
}
