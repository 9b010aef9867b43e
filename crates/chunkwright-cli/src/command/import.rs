//! `chunkwright import`

use std::path::PathBuf;

use anyhow::Result;
use chunkwright_engine::Access;

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, grouped};

/// Read records into a collection, from JSON Lines or Parquet
///
/// What `chunkwright export` wrote makes the same collection, changes by hand included. Records of `chunkwright
/// chunk`, or of another program with the same fields, are read too: the source of their documents is put
/// together from them. The records must be cut in one way, those of a document together and in order. Vectors
/// that do not come with them are made by the next `chunkwright index`.
///
/// The whole file is proven before anything is written: a record that contradicts itself or its document is
/// refused with its line and the reason, and the collection stays as it is. So is a file that would hide other
/// documents of the collection because they are cut otherwise; with the preset and settings of the records
/// (flags or `chunkwright.toml`) those documents are cut again instead. A chunk that was changed by hand in
/// this collection stays as it is here.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// The file; what it is is told by its content
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Import {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let engine = global.engine(&[&self.cut, &self.collection], Access::Write)?;
        let answer = engine.default_collection().import(&self.file)?;
        global.tell(&answer.notices);
        let done = &answer.imported;
        self.output.only(&answer, |_| {
            let mut table = Table::new(["", ""]);
            for (name, number) in [
                ("documents", done.documents),
                ("unchanged", done.unchanged),
                ("chunks", done.chunks),
                ("sources put together", done.rebuilt),
                ("changes by hand", done.overlays),
                ("documents cut again", done.carried),
            ] {
                table.row([name.to_owned(), bold(&grouped(number))]);
            }
            table.to_string()
        })?;
        let any = done.documents + done.unchanged > 0;
        Ok(if any { Outcome::Success } else { Outcome::Nothing })
    }
}
