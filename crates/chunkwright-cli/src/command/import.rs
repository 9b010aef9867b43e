//! `chunkwright import`

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::PathBuf;

use anyhow::{Context, Result};
use chunkwright_arrow::Reader;
use chunkwright_index::Access;
use chunkwright_index::transfer::{Importer, Row};

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::output::OutputFlags;
use crate::text::{Table, bold, grouped};

/// Read records into a collection, from JSON Lines or Parquet
///
/// What `chunkwright export` wrote makes the same collection. Records of `chunkwright chunk`, or of another
/// program with the same fields, are read too: the source of their documents is put together from them. The
/// records must be cut in one way, those of a document together and in order. Vectors that do not come
/// with them are made by the next `chunkwright index`.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// The file; what it is is told by its content
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// What a Parquet file begins with.
const PARQUET: &[u8] = b"PAR1";

impl Import {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        let shown = self.file.display();
        let mut file = File::open(&self.file).with_context(|| format!("`{shown}` cannot be read"))?;
        let mut head = Vec::new();
        file.by_ref().take(PARQUET.len() as u64).read_to_end(&mut head)?;
        file.rewind()?;
        let store = app::store(&settings, Access::Write)?;
        let mut importer = Importer::new(&*store, &settings.collection);
        if head == PARQUET {
            for batch in Reader::new(file)? {
                for row in batch? {
                    let document = row.document.map(|document| serde_json::from_str(&document)).transpose();
                    let document = document.with_context(|| format!("a document in `{shown}` cannot be read"))?;
                    importer.push(Row { record: row.record, document, vector: row.vector, sparse: row.sparse })?;
                }
            }
        } else {
            for (number, line) in BufReader::new(file).lines().enumerate() {
                let line = line.with_context(|| format!("`{shown}` is no text; give JSON Lines or Parquet"))?;
                if line.trim().is_empty() {
                    continue;
                }
                let row: Row = serde_json::from_str(&line)
                    .with_context(|| format!("line {} of `{shown}` is no record", number + 1))?;
                if row.record.artifact.is_none() {
                    importer.push(row)?;
                }
            }
        }
        let done = importer.finish()?;
        let mut output = self.output.open()?;
        if output.is_text() {
            let mut table = Table::new(["", ""]);
            for (name, number) in [
                ("documents", done.documents),
                ("unchanged", done.unchanged),
                ("chunks", done.chunks),
                ("sources put together", done.rebuilt),
            ] {
                table.row([name.to_owned(), bold(&grouped(number))]);
            }
            output.text(&table.to_string())?;
        } else {
            output.only(&done)?;
        }
        output.finish()?;
        let any = done.documents + done.unchanged > 0;
        Ok(if any { Outcome::Success } else { Outcome::Nothing })
    }
}
