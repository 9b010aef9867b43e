//! `chunkwright import`

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use chunkwright_arrow::Reader;
use chunkwright_index::transfer::{self, ImportError, ImportOptions, Row, RowAt};
use chunkwright_index::verify::Counters;
use chunkwright_index::{Access, GenerationSpec, Pipeline, Store};

use crate::app::{self, CollectionFlags, CutFlags, Global, IndexEmbedder, Outcome};
use crate::output::OutputFlags;
use crate::settings::Settings;
use crate::text::{Table, bold, count, grouped, plain, yellow};

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

/// What a Parquet file begins with.
const PARQUET: &[u8] = b"PAR1";

/// What a gzip file begins with.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Rows of a file, one by one.
type Rows = Box<dyn Iterator<Item = Result<(RowAt, Row), ImportError>>>;

impl Import {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.cut, &self.collection])?;
        let shown = plain(&self.file.display().to_string());
        let mut file = File::open(&self.file).with_context(|| format!("`{shown}` cannot be read"))?;
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            bail!("`{shown}` is not a regular file; records are read twice, so write them to a file first");
        }
        let mut head = Vec::new();
        file.by_ref().take(PARQUET.len() as u64).read_to_end(&mut head)?;
        if head.starts_with(GZIP) {
            bail!("`{shown}` is compressed by gzip; unpack it first");
        }
        let is_parquet = head == PARQUET;
        let store = app::store(&settings, Access::Write)?;
        let data_dir = app::data_dir(&settings).unwrap_or_default();
        let options = ImportOptions {
            counters: &Counters::installed(&data_dir),
            pipeline: &|spec| pipeline(&settings, &store, spec),
            now: &app::now(),
        };
        let mut open = || rows(&self.file, is_parquet);
        let done = transfer::import(&*store, &settings.collection, &options, &mut open)
            .with_context(|| format!("`{shown}` was not imported"))?;
        if !done.kept_overlays.is_empty() {
            global.say(&format!(
                "{} {} changed by hand both here and in the file; they stay as they are here: {}",
                yellow("kept"),
                count(done.kept_overlays.len(), "chunk"),
                done.kept_overlays.join(", ")
            ));
        }
        let mut output = self.output.open()?;
        if output.is_text() {
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
            output.text(&table.to_string())?;
        } else {
            output.only(&done)?;
        }
        output.finish()?;
        let any = done.documents + done.unchanged > 0;
        Ok(if any { Outcome::Success } else { Outcome::Nothing })
    }
}

/// Begins to read the rows of a file.
fn rows(path: &Path, is_parquet: bool) -> Result<Rows, ImportError> {
    let unreadable = |reason: String| ImportError::Unreadable { at: None, reason };
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    if !is_parquet {
        return Ok(Box::new(transfer::lines(BufReader::new(file))));
    }
    let reader = Reader::new(file).map_err(|error| unreadable(error.to_string()))?;
    let batches = reader.flat_map(move |batch| match batch {
        Ok(rows) => rows.into_iter().map(Ok).collect::<Vec<_>>(),
        Err(error) => vec![Err(unreadable(error.to_string()))],
    });
    let row = |(index, row): (usize, Result<chunkwright_arrow::ExportRow, ImportError>)| {
        let at = RowAt { unit: "row", number: index + 1 };
        let row = row?;
        let refuse = |column: &str, error: serde_json::Error| ImportError::Unreadable {
            at: Some(at),
            reason: format!("column `{column}`: {error}"),
        };
        let document = row.document.map(|json| serde_json::from_str(&json)).transpose();
        let overlays = row.overlays.map(|json| serde_json::from_str(&json)).transpose();
        let row = Row {
            record: row.record,
            document: document.map_err(|error| refuse("document", error))?,
            overlays: overlays.map_err(|error| refuse("overlays", error))?.unwrap_or_default(),
            vector: row.vector,
            sparse: row.sparse,
        };
        Ok((at, row))
    };
    let is_chunk = |row: &Result<(RowAt, Row), ImportError>| {
        row.as_ref().map_or(true, |(_, row)| row.record.artifact.is_none())
    };
    Ok(Box::new(batches.enumerate().map(row).filter(is_chunk)))
}

/// The pipeline of the settings in force, if it cuts and embeds as `spec` says.
fn pipeline(settings: &Settings, store: &Arc<dyn Store>, spec: &GenerationSpec) -> Option<Pipeline> {
    let chunker = app::chunker(settings).ok()?;
    let pipeline = Pipeline::new(Arc::clone(store), &settings.collection, chunker, &settings.preset);
    let pipeline = pipeline.with_summaries(spec.config_hash.ends_with("+summaries"));
    match &spec.model {
        None => Some(pipeline),
        Some(model) => match app::embedder_of(settings, model) {
            Ok(IndexEmbedder::One(embedder)) => Some(pipeline.with_embedder(embedder)),
            _ => None,
        },
    }
}
