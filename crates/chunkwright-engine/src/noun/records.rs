//! Files of records: how they are recognised, opened and read.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;

use chunkwright::Record;
use chunkwright_arrow::{ExportRow, Reader};
use chunkwright_index::transfer::{self, FileRows, ImportError, Row, RowAt, RowFile};

use crate::error::Error;

/// Maximum length of the line that is read to detect records (16 MiB).
const MAX_FIRST_LINE: u64 = 16 << 20;

/// The first bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// The first bytes of a gzip file.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// A file of records, JSON Lines or Parquet.
pub(crate) struct RecordFile<'a> {
    path: &'a Path,
    is_parquet: bool,
}

impl<'a> RecordFile<'a> {
    /// The file at `path`, whose format is told by its first bytes.
    pub(crate) fn new(path: &'a Path) -> Result<Self, Error> {
        Ok(Self { path, is_parquet: is_parquet(path)? })
    }
}

impl RowFile for RecordFile<'_> {
    fn rows(&self) -> Result<FileRows<'_>, ImportError> {
        rows(self.path, self.is_parquet)
    }
}

/// Returns whether a file is Parquet, by its first bytes.
pub(crate) fn is_parquet(path: &Path) -> Result<bool, Error> {
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
fn rows(path: &Path, is_parquet: bool) -> Result<FileRows<'static>, ImportError> {
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
            codes: row.codes,
            model: row.model,
        };
        Ok((at, row))
    };
    let is_chunk = |row: &Result<(RowAt, Row), ImportError>| {
        row.as_ref().map_or(true, |(_, row)| row.record.artifact.is_none())
    };
    Ok(Box::new(batches.enumerate().map(row).filter(is_chunk)))
}
