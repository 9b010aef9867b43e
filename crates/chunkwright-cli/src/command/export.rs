//! `chunkwright export`


use anyhow::{Context, Result, bail};
use chunkwright_arrow::{Columns, ExportRow, Writer};
use chunkwright_index::transfer::{Row, Vectors, export};
use chunkwright_index::{Access, Store};

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::interrupt;
use crate::output::{Format, Output, OutputFlags, OutputPath};

/// Write every record of a collection, as JSON Lines or Parquet
///
/// The first record of each document carries the document and what was changed by hand in it, so that
/// `chunkwright import` makes the same collection of it in any store. With --vectors nothing has to be
/// embedded again.
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// Write vectors too
    #[arg(long)]
    vectors: bool,
    /// Leave out the documents: records and changes by hand only
    #[arg(long)]
    records_only: bool,
    /// What is written
    #[arg(short, long, default_value = "jsonl")]
    format: ExportFormat,
    /// Write to this file instead of standard output; it appears whole or not at all
    #[arg(short, long, value_name = "FILE", required_if_eq("format", "parquet"))]
    output: Option<OutputPath>,
    #[command(flatten)]
    collection: CollectionFlags,
}

/// Formats of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object a line
    Jsonl,
    /// Columns of the same names, in a file
    Parquet,
}

/// Rows that are written together.
const BATCH: usize = 1024;

impl Export {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.collection])?;
        let store = app::store(&settings, Access::Read)?;
        let generation = store.open(&settings.collection)?;
        let vectors = if self.vectors { Vectors::Moved } else { Vectors::Left };
        if self.vectors && generation.spec.model.is_none() {
            bail!("collection `{}` has no vectors; leave out `--vectors`", generation.collection);
        }
        let mut output = OutputFlags::new(Some(Format::Jsonl), self.output.clone()).open()?;
        let written = if self.format == ExportFormat::Parquet {
            let model = generation.spec.model.as_ref().filter(|_| self.vectors);
            let columns = Columns {
                document: !self.records_only,
                overlays: true,
                sparse: model.is_some_and(|model| model.sparse),
                vector: model.map(|model| model.dimension).map(u16::try_from).transpose().context("the vectors are too long for a column")?,
            };
            parquet(&*store, &generation, vectors, output, columns)?
        } else {
            let mut written = 0;
            export::<anyhow::Error>(&*store, &generation, vectors, &mut |mut row: Row| {
                written += 1;
                row.document = row.document.filter(|_| !self.records_only);
                output.object(&row)
            })?;
            output.finish()?;
            written
        };
        if written == 0 {
            global.say("the collection has no chunk");
        }
        Ok(if written == 0 { Outcome::Nothing } else { Outcome::Success })
    }
}

/// Writes Parquet.
fn parquet(
    store: &dyn Store,
    generation: &chunkwright_index::Generation,
    vectors: Vectors,
    output: Output,
    columns: Columns,
) -> Result<usize> {
    let mut writer = Writer::new(output, columns)?;
    let mut written = 0;
    let mut batch: Vec<ExportRow> = Vec::with_capacity(BATCH);
    export::<anyhow::Error>(store, generation, vectors, &mut |row: Row| {
        interrupt::check()?;
        written += 1;
        let document = row.document.as_ref().filter(|_| columns.document);
        let document = document.map(serde_json::to_string).transpose();
        let document = document.context("a document could not be written as JSON")?;
        let overlays = (!row.overlays.is_empty()).then(|| serde_json::to_string(&row.overlays)).transpose();
        let overlays = overlays.context("changes by hand could not be written as JSON")?;
        let Row { record, vector, sparse, .. } = row;
        batch.push(ExportRow { record, document, overlays, vector, sparse });
        if batch.len() == BATCH {
            writer.write(&batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    writer.write(&batch)?;
    writer.finish()?.finish()?;
    Ok(written)
}
