//! Writes records as a table of rows and columns.

use std::fmt;
use std::io::Write;

use chunkwright::Record;
use chunkwright_arrow::{Columns, ExportRow, Writer, schema};
use serde_json::Value;

use crate::error::Error;
use crate::fields::Fields;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Typed columns, compressed.
    Parquet,
    /// Lines of text as in RFC 4180, with a header line. Lists and objects are JSON; absent values are empty.
    Csv,
}

/// A table of records that is being written. Its columns are the fields of records, or the selected ones.
pub struct RecordTable<W: Write + Send> {
    kind: Kind<W>,
    /// Whether it has every field, so that records can be read back.
    is_whole: bool,
}

enum Kind<W: Write + Send> {
    Parquet(Box<Writer<W>>),
    Csv { table: Box<csv::Writer<W>>, columns: Vec<String> },
}

impl<W: Write + Send> fmt::Debug for RecordTable<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordTable").finish_non_exhaustive()
    }
}

impl<W: Write + Send> RecordTable<W> {
    /// Creates a table that is written to `sink`, with the selected `fields` of the records, or all.
    ///
    /// # Errors
    ///
    /// A field that records do not have, and a sink that cannot be written.
    pub fn new(sink: W, format: TableFormat, fields: Option<&Fields>) -> Result<Self, Error> {
        let schema = schema(Columns::default());
        let all: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let names = fields.map_or_else(|| all.clone(), |fields| fields.names().collect());
        if let Some(name) = names.iter().find(|name| !all.contains(name)) {
            return Err(Error::UnknownField { field: (*name).to_owned(), known: all.join(", ") });
        }
        let kind = match format {
            TableFormat::Parquet => {
                Kind::Parquet(Box::new(Writer::with_columns(sink, Columns::default(), names)?))
            }
            TableFormat::Csv => {
                let mut table = csv::Writer::from_writer(sink);
                table.write_record(&names).map_err(unwritten)?;
                let columns = names.into_iter().map(str::to_owned).collect();
                Kind::Csv { table: Box::new(table), columns }
            }
        };
        Ok(Self { kind, is_whole: fields.is_none() })
    }

    /// Says something about the whole table, where records are read back from it: in Parquet with every field.
    pub(crate) fn note(&mut self, key: &str, value: String) {
        if let Kind::Parquet(table) = &mut self.kind
            && self.is_whole
        {
            table.note(key, value);
        }
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// A sink that cannot be written.
    pub fn write(&mut self, records: Vec<Record>) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Parquet(table) => {
                let rows: Vec<ExportRow> = records.into_iter().map(ExportRow::from).collect();
                Ok(table.write(&rows)?)
            }
            Kind::Csv { table, columns } => {
                for record in records {
                    let record = serde_json::to_value(record)?;
                    let cells = columns.iter().map(|column| cell(record.get(column)));
                    table.write_record(cells).map_err(unwritten)?;
                }
                Ok(())
            }
        }
    }

    /// Writes the remaining rows; returns the sink.
    ///
    /// # Errors
    ///
    /// A sink that cannot be written.
    pub fn finish(self) -> Result<W, Error> {
        match self.kind {
            Kind::Parquet(table) => Ok(table.finish()?),
            Kind::Csv { table, .. } => {
                table.into_inner().map_err(|error| unwritten(error.into_error().into()))
            }
        }
    }
}

/// The text of a cell.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

fn unwritten(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::Unwritten(error),
        other => Error::Unwritten(std::io::Error::other(format!("{other:?}"))),
    }
}
