//! `chunkwright export`

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use chunkwright_arrow::{Columns, ExportRow, Writer};
use chunkwright_index::transfer::{Row, Vectors, export};
use chunkwright_index::{Access, Store, StoreError, durable};

use crate::app::{self, CollectionFlags, Global, Outcome};
use crate::output::{Format, OutputFlags};

/// Write every record of a collection, as JSON Lines or Parquet
///
/// The first record of each document carries the document, so that `chunkwright import` makes the same
/// collection of it in any store. With --vectors nothing has to be embedded again.
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// Write vectors too
    #[arg(long)]
    vectors: bool,
    /// Leave out the documents: records only
    #[arg(long)]
    records_only: bool,
    /// What is written
    #[arg(short, long, default_value = "jsonl")]
    format: ExportFormat,
    /// Write to this file instead of standard output; it appears whole or not at all
    #[arg(short, long, value_name = "FILE", required_if_eq("format", "parquet"))]
    output: Option<PathBuf>,
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
        let written = if let (ExportFormat::Parquet, Some(path)) = (self.format, &self.output) {
            let model = generation.spec.model.as_ref().filter(|_| self.vectors);
            let columns = Columns {
                document: !self.records_only,
                sparse: model.is_some_and(|model| model.sparse),
                vector: model.map(|model| model.dimension).map(u16::try_from).transpose().context("the vectors are too long for a column")?,
            };
            parquet(&*store, &generation, vectors, path, columns)?
        } else {
            let mut output = OutputFlags::new(Some(Format::Jsonl), self.output.clone()).open()?;
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
    path: &std::path::Path,
    columns: Columns,
) -> Result<usize> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder)
        .with_context(|| format!("`{}` could not be written; name a file in a folder you can write to", path.display()))?;
    let mut writer = Writer::new(file, columns)?;
    let mut written = 0;
    let mut batch: Vec<ExportRow> = Vec::with_capacity(BATCH);
    export::<anyhow::Error>(store, generation, vectors, &mut |row: Row| {
        written += 1;
        let document = row.document.filter(|_| columns.document);
        let document = document.map(|document| serde_json::to_string(&document)).transpose();
        let document = document.map_err(|error| StoreError::Damaged { problem: error.to_string() })?;
        batch.push(ExportRow { record: row.record, document, vector: row.vector, sparse: row.sparse });
        if batch.len() == BATCH {
            writer.write(&batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    writer.write(&batch)?;
    let file = writer.finish()?;
    durable::persist(file, path)?;
    Ok(written)
}
