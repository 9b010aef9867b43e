//! Exports the records of a collection, and imports them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;

use chunkwright::Record;
use chunkwright_arrow::{Columns, ExportRow, Reader, Writer};
use chunkwright_index::transfer::{self, ImportError, ImportOptions, Row, RowAt, Vectors, export};
use chunkwright_index::verify::Counters;
use chunkwright_index::{GenerationSpec, Pipeline, Store};
use serde::{Deserialize, Serialize};

pub use chunkwright_index::transfer::Imported;

use crate::collection::Collection;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::snapshot::Snapshot;
use crate::task::Task;

/// What of a collection is exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ExportRequest {
    /// Vectors too.
    pub vectors: bool,
    /// Records and changes by hand only, without the documents.
    pub records_only: bool,
}

/// What an import did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportAnswer {
    /// What came in.
    #[serde(flatten)]
    pub imported: Imported,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// Maximum length of the line that is read to detect records (16 MiB).
const MAX_FIRST_LINE: u64 = 16 << 20;

/// Number of rows that are written at once.
const BATCH: usize = 1024;

/// The first bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// The first bytes of a gzip file.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The rows of a file.
type Rows = Box<dyn Iterator<Item = Result<(RowAt, Row), ImportError>>>;

impl Snapshot {
    /// Passes every record to `each`, by document and in order; returns their number.
    ///
    /// # Errors
    ///
    /// Vectors of a collection that has none, a store that fails, and what `each` fails with.
    pub fn export<E: From<Error>>(
        &self,
        request: ExportRequest,
        each: &mut dyn FnMut(Row) -> Result<(), E>,
    ) -> Result<usize, E> {
        let vectors = self.vectors(request)?;
        let mut written = 0;
        export::<Failed<E>>(self.store(), self.generation(), vectors, &mut |mut row: Row| {
            self.engine().check_cancelled().map_err(|error| Failed(error.into()))?;
            written += 1;
            row.document = row.document.filter(|_| !request.records_only);
            each(row).map_err(Failed)
        })
        .map_err(|Failed(error)| error)?;
        Ok(written)
    }

    /// Writes every record to `sink` as Parquet; returns their number, and the sink.
    ///
    /// # Errors
    ///
    /// As [`export`](Self::export), and a sink that cannot be written.
    pub fn export_parquet<W: Write + Send>(
        &self,
        request: ExportRequest,
        sink: W,
    ) -> Result<(usize, W), Error> {
        self.vectors(request)?;
        let model = self.generation().spec.model.as_ref().filter(|_| request.vectors);
        let dimension = model.map(|model| u16::try_from(model.dimension)).transpose();
        let columns = Columns {
            document: !request.records_only,
            overlays: true,
            sparse: model.is_some_and(|model| model.sparse),
            vector: dimension.map_err(|_| Error::LongVectors)?,
        };
        let mut writer = Writer::new(sink, columns)?;
        let mut batch: Vec<ExportRow> = Vec::with_capacity(BATCH);
        let written = self.export::<Error>(request, &mut |row: Row| {
            let Row { record, document, overlays, vector, sparse, .. } = row;
            let document = document.map(|document| serde_json::to_string(&document)).transpose()?;
            let overlays = (!overlays.is_empty()).then(|| serde_json::to_string(&overlays)).transpose()?;
            batch.push(ExportRow { record, document, overlays, vector, sparse });
            if batch.len() == BATCH {
                writer.write(&batch)?;
                batch.clear();
            }
            Ok(())
        })?;
        writer.write(&batch)?;
        Ok((written, writer.finish()?))
    }

    fn vectors(&self, request: ExportRequest) -> Result<Vectors, Error> {
        match (request.vectors, &self.generation().spec.model) {
            (false, _) => Ok(Vectors::Left),
            (true, Some(_)) => Ok(Vectors::Moved),
            (true, None) => Err(Error::NoVectors { collection: self.generation().collection.clone() }),
        }
    }
}

/// The error of `each`, which need not be an error of a store.
struct Failed<E>(E);

impl<E: From<Error>> From<chunkwright_index::StoreError> for Failed<E> {
    fn from(error: chunkwright_index::StoreError) -> Self {
        Self(Error::from(error).into())
    }
}

impl Collection {
    /// Imports the records of `file`, JSON Lines or Parquet, into the collection: all of them or none.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or holds something else; a record that contradicts itself, its document or the
    /// collection; a store that fails.
    pub fn import(&self, file: &Path) -> Result<ImportAnswer, Error> {
        let is_parquet = is_parquet(file)?;
        let engine = self.engine();
        if let Some(owner) = engine.owner()? {
            let task = Task::Import { collection: self.name().to_owned(), file: file.to_owned() };
            return owner.perform(engine, task, &|_| {});
        }
        let _turn = engine.turn(self.name())?;
        let store = &engine.writable_store()?;
        let data_dir = engine.data_dir().unwrap_or_default();
        let options = ImportOptions {
            counters: &Counters::installed(&data_dir),
            pipeline: &|spec| self.pipeline_of(store, spec),
            now: &engine.now(),
        };
        let mut open = || rows(file, is_parquet);
        let imported = transfer::import(&**store, self.name(), &options, &mut open);
        let path = file.display().to_string();
        let imported = imported.map_err(|error| Error::Import { path, error: Box::new(error) })?;
        let mut notices = Vec::new();
        if !imported.kept_overlays.is_empty() {
            let (number, ids) = (imported.kept_overlays.len(), imported.kept_overlays.join(", "));
            let chunks = if number == 1 { "chunk".to_owned() } else { format!("{number} chunks") };
            let message = format!(
                "{chunks} changed by hand both here and in the file; the changes made here are kept: {ids}"
            );
            notices.push(Notice::new(NoticeCode::OverlaysKept, message));
        }
        Ok(ImportAnswer { imported, notices })
    }

    /// A pipeline with the settings in force, and the summaries, redaction and embedder of `spec`; `None` if it cannot
    /// be built.
    fn pipeline_of(&self, store: &Arc<dyn Store>, spec: &GenerationSpec) -> Option<Pipeline> {
        let (engine, settings) = (self.engine(), self.engine().settings());
        let chunker = engine.chunker().ok()?;
        let pipeline = Pipeline::new(Arc::clone(store), self.name(), chunker, &settings.preset);
        let pipeline = pipeline
            .with_summaries(spec.config_hash.ends_with("+summaries"))
            .with_redaction(spec.config_hash.contains("+redacted"));
        match &spec.model {
            None => Some(pipeline),
            Some(model) => Some(pipeline.with_embedder(engine.embedder_of(Some(model)).ok()??)),
        }
    }
}

/// Returns whether a file is Parquet, by its first bytes.
fn is_parquet(path: &Path) -> Result<bool, Error> {
    let shown = || path.display().to_string();
    let unreadable = |error: io::Error| Error::Unreadable { path: shown(), error };
    let mut file = File::open(path).map_err(unreadable)?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(Error::NotARegularFile { path: shown() });
    }
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(PARQUET.len() as u64).read_to_end(&mut head).map_err(unreadable)?;
    if head.starts_with(GZIP) {
        return Err(Error::Compressed { path: shown() });
    }
    Ok(head == PARQUET)
}

/// Returns whether a file holds records: it is Parquet, or its first line is a record.
pub(crate) fn holds_records(path: &Path) -> bool {
    let is_line = || {
        let mut line = String::new();
        let mut file = BufReader::new(File::open(path).ok()?.take(MAX_FIRST_LINE));
        file.read_line(&mut line).ok()?;
        serde_json::from_str::<Record>(&line).ok()
    };
    is_parquet(path).is_ok_and(|is_parquet| is_parquet || is_line().is_some())
}

/// Maximum size of a file that is checked for being blank, in bytes.
const MAX_BLANK: u64 = 4 << 10;

/// Returns whether a file stands for no records: the null device, or a blank file with the extension of a file of
/// chunks.
pub(crate) fn is_empty_state(path: &Path) -> bool {
    if path.canonicalize().is_ok_and(|path| path == Path::new("/dev/null")) {
        return true;
    }
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    let is_called =
        extension.is_some_and(|it| ["jsonl", "ndjson", "parquet", "csv"].iter().any(|name| it == *name));
    is_called
        && path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_BLANK)
        && fs::read(path).is_ok_and(|bytes| bytes.trim_ascii().is_empty())
}

/// The records of the chunks in a file, in order.
pub(crate) fn records(path: &Path) -> Result<Vec<Record>, Error> {
    let failed = |error| Error::Import { path: path.display().to_string(), error: Box::new(error) };
    let rows = rows(path, is_parquet(path)?).map_err(failed)?;
    rows.map(|row| row.map(|(_, row)| row.record).map_err(failed)).collect()
}

/// Opens a file to read its rows.
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
    let row = |(index, row): (usize, Result<ExportRow, ImportError>)| {
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
