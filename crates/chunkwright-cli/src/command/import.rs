//! `chunkwright import`

use std::path::PathBuf;

use anyhow::Result;
use chunkwright_engine::Access;

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, grouped};

/// Read records into a collection, from files of JSON Lines or Parquet
///
/// The output of `chunkwright export` recreates the same collection, including changes made by hand. Records of
/// `chunkwright chunk`, or of another program with the same fields, are accepted too: the sources of their documents
/// are reassembled from them. All records must have been cut with one configuration, those of a document together and
/// in order. Missing vectors are made by the next `chunkwright index`.
///
/// All files are verified before anything is written: a record that contradicts itself, its document or another file is
/// refused with its line and the reason, and the collection stays unchanged. Files are read and written side by side.
/// What is cut or embedded in another way than the collection becomes a new generation, which searches see when every
/// document is stored with all its chunks and a sample of the records was read back; an import that was interrupted is
/// run again and writes only what is missing. Files that would hide other documents of the
/// collection, because they were cut with another configuration, are refused too; with the preset and settings of the
/// records (flags or `chunkwright.toml`) those documents are cut again instead. Chunks that were changed by hand in
/// this collection keep their changes.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// Files; the format of each is detected from its content
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Import {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[&self.files, &self.cut])?;
        let engine = global.engine(&[&self.cut, &self.collection], Access::Write)?;
        let answer = engine.default_collection().import(&self.files)?;
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
