//! `chunkwright export`

use anyhow::{Result, bail};
use chunkwright_engine::{Access, ExportRequest};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::output::{FieldFlags, Format, TargetFlags};

/// Write every record of a collection, as JSON Lines or Parquet
///
/// The first record of each document carries the document and the changes made by hand in it, so that `chunkwright
/// import` recreates the collection in any store. With --vectors nothing has to be embedded again.
#[derive(Debug, clap::Args)]
#[command(mut_arg("output", |output| output.required_if_eq("format", "parquet")))]
pub(crate) struct Export {
    /// Write vectors too
    #[arg(long)]
    vectors: bool,
    /// Write only records and changes made by hand, without the documents
    #[arg(long)]
    records_only: bool,
    /// What is written; by default what the extension of FILE says, or `jsonl`
    #[arg(short, long)]
    format: Option<ExportFormat>,
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    fields: FieldFlags,
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

impl Export {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.target.check(global, &[], Some(Format::Jsonl), self.fields.clone())?;
        let engine = global.engine(&[&self.collection], Access::Read)?;
        let snapshot = engine.default_collection().snapshot()?;
        let request = ExportRequest { vectors: self.vectors, records_only: self.records_only };
        let is_parquet = || self.target.output.as_ref()?.extension().filter(|extension| extension == "parquet");
        let by_extension = if is_parquet().is_some() { ExportFormat::Parquet } else { ExportFormat::Jsonl };
        let format = self.format.unwrap_or(by_extension);
        if format == ExportFormat::Parquet && self.fields.fields.is_some() {
            bail!("`--fields` picks fields of JSON Lines; `chunk --format parquet` picks columns");
        }
        let mut output = results.open()?;
        let written = match format {
            ExportFormat::Parquet => {
                let (written, output) = snapshot.export_parquet(request, output)?;
                output.finish()?;
                written
            }
            ExportFormat::Jsonl => {
                let written = snapshot.export::<anyhow::Error>(request, &mut |row| output.object(&row))?;
                output.finish()?;
                written
            }
        };
        Ok(global.found(written, "the collection has no chunk"))
    }
}
