//! `chunkwright import`

use std::path::PathBuf;

use anyhow::Result;
use chunkwright_engine::Access;

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, grouped};

/// Read records into a collection, from JSON Lines or Parquet
///
/// The output of `chunkwright export` recreates the same collection, including changes made by hand. Records of
/// `chunkwright chunk`, or of another program with the same fields, are accepted too: the sources of their documents
/// are reassembled from them. All records must have been cut with one configuration, those of a document together and
/// in order. Missing vectors are made by the next `chunkwright index`.
///
/// The whole file is verified before anything is written: a record that contradicts itself or its document is refused
/// with its line and the reason, and the collection stays unchanged. A file that would hide other documents of the
/// collection, because they were cut with another configuration, is refused too; with the preset and settings of the
/// records (flags or `chunkwright.toml`) those documents are cut again instead. Chunks that were changed by hand in
/// this collection keep their changes.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// The file; its format is detected from its content
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
        let results = self.output.check(global, &[&self.file, &self.cut])?;
        let engine = global.engine(&[&self.cut, &self.collection], Access::Write)?;
        let answer = engine.default_collection().import(&self.file)?;
        global.tell(&answer.notices);
        let done = &answer.imported;
        results.only(&answer, |_| {
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
