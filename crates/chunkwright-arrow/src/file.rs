//! Records in a Parquet file, as a stream.
//!
//! A collection may be larger than memory, so rows go in and come out in batches. Parquet gathers a row group
//! before it writes it; its size is bounded in bytes as well as in rows, since records are of very different
//! sizes.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::ChunkReader;
use parquet::schema::types::ColumnPath;

use crate::batch::{Columns, ExportRow, MODEL, OUTCOME, from_batch, schema, to_batch};
use crate::catching::caught;
use crate::error::Error;

/// Most rows that become columns at once.
const BATCH_ROWS: usize = 1024;

/// Bytes of text above which a batch is closed early (8 MiB).
const BATCH_BYTES: usize = 8 << 20;

/// Most rows of a row group: large enough to compress and to scan, small enough to skip by its statistics.
const GROUP_ROWS: usize = 64 << 10;

/// Encoded bytes above which a row group is closed early (32 MiB).
const GROUP_BYTES: usize = 32 << 20;

/// Columns of which hardly two values are equal: a dictionary of them would be built in vain.
const DISTINCT: &[&str] = &["chunk_id", "previous", "next", "content", "text", "document", "overlays"];

/// Writes rows to a Parquet file. Memory is bounded by a row group and a batch.
pub struct Writer<W: Write + Send> {
    file: ArrowWriter<W>,
    columns: Columns,
    /// The indices of the columns to write; `None` for all.
    chosen: Option<Vec<usize>>,
}

impl<W: Write + Send> Writer<W> {
    /// A file with the record's columns and `columns`, written to `write`.
    ///
    /// # Errors
    ///
    /// If writing to `write` fails.
    pub fn new(write: W, columns: Columns) -> Result<Self, Error> {
        Self::create(write, columns, None)
    }

    /// As [`new`](Self::new), with these columns alone, in this order. A file that lacks some of the record's columns
    /// cannot be read back.
    ///
    /// # Errors
    ///
    /// If a name is not that of a column, or writing to `write` fails.
    pub fn with_columns<'n>(
        write: W,
        columns: Columns,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, Error> {
        let schema = schema(columns);
        let places: Result<Vec<usize>, _> = names.into_iter().map(|name| schema.index_of(name)).collect();
        Self::create(write, columns, Some(places?))
    }

    fn create(write: W, columns: Columns, chosen: Option<Vec<usize>>) -> Result<Self, Error> {
        let schema = schema(columns);
        let schema = match &chosen {
            Some(places) => Arc::new(schema.project(places)?),
            None => schema,
        };
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .set_created_by(concat!("chunkwright ", env!("CARGO_PKG_VERSION")).to_owned());
        for column in DISTINCT {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(*column), false);
        }
        let vector = ["vector", "list", "element"].map(str::to_owned).to_vec();
        let properties = properties.set_column_dictionary_enabled(ColumnPath::new(vector), false).build();
        let file = ArrowWriter::try_new(write, schema, Some(properties)).map_err(unwritten)?;
        Ok(Self { file, columns, chosen })
    }

    /// Adds `rows`, which may be any number.
    ///
    /// # Errors
    ///
    /// If [`to_batch`] or writing fails.
    pub fn write(&mut self, rows: &[ExportRow]) -> Result<(), Error> {
        let mut rest = rows;
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(batch_len(rest));
            let batch = to_batch(batch, self.columns)?;
            let batch = match &self.chosen {
                Some(places) => batch.project(places)?,
                None => batch,
            };
            self.file.write(&batch).map_err(unwritten)?;
            rest = after;
        }
        Ok(())
    }

    /// Says something about the whole file in its footer.
    pub fn note(&mut self, key: &str, value: String) {
        self.file.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
    }

    /// Writes the remaining rows and the footer, without which the file cannot be read.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn finish(self) -> Result<W, Error> {
        self.file.into_inner().map_err(unwritten)
    }
}

/// Number of rows, at least one, that are within a batch's bounds.
fn batch_len(rows: &[ExportRow]) -> usize {
    let mut bytes = 0;
    let within = rows.iter().take(BATCH_ROWS).take_while(|row| {
        let document = [&row.document, &row.overlays].into_iter().flatten().map(String::len).sum::<usize>();
        bytes += row.record.content.len() + row.record.context.len() + row.record.text.len() + document;
        bytes <= BATCH_BYTES
    });
    within.count().max(1)
}

/// Reads the rows of a Parquet file, in batches of at most 1,024. After an error it is at its end.
pub struct Reader {
    batches: Option<ParquetRecordBatchReader>,
    /// Rows read so far.
    rows: usize,
    notes: Vec<KeyValue>,
}

impl Reader {
    /// The rows of `file`.
    ///
    /// # Errors
    ///
    /// If the file is not a Parquet file, is damaged, is compressed by anything but Snappy or gzip, or lacks a column
    /// that every record needs.
    pub fn new<R: ChunkReader + 'static>(file: R) -> Result<Self, Error> {
        let builder = guarded(|| {
            // Types as Parquet knows them: what a writer called a dictionary or a large string is a string.
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
        })?;
        let groups = builder.metadata().row_groups().iter();
        let mut codecs = groups.flat_map(RowGroupMetaData::columns).map(ColumnChunkMetaData::compression);
        if let Some(codec) = codecs.find(|&codec| !is_known(codec)) {
            return Err(Error::Codec { codec: codec.to_string() });
        }
        // Other columns are not even decoded: they may be large, or of a type that is not known here.
        let known =
            schema(Columns { document: true, overlays: true, vector: Some(0), sparse: true, codes: true });
        let fields = builder.parquet_schema().root_schema().get_fields().iter().enumerate();
        let is_known = |name: &str| [OUTCOME, MODEL].contains(&name) || known.index_of(name).is_ok();
        let fields = fields.filter(|(_, field)| is_known(field.name())).map(|(at, _)| at);
        let columns = ProjectionMask::roots(builder.parquet_schema(), fields);
        let notes = builder.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
        let batches = guarded(|| builder.with_projection(columns).with_batch_size(BATCH_ROWS).build())?;
        from_batch(&RecordBatch::new_empty(arrow_array::RecordBatchReader::schema(&batches)))?;
        Ok(Self { batches: Some(batches), rows: 0, notes })
    }

    /// What the footer says under a key (see [`Writer::note`]).
    pub fn note(&self, key: &str) -> Option<&str> {
        self.notes.iter().find(|note| note.key == key)?.value.as_deref()
    }

    /// The rows of a file that is in memory.
    ///
    /// # Errors
    ///
    /// As [`Reader::new`].
    pub fn from_bytes(file: Vec<u8>) -> Result<Self, Error> {
        Self::new(bytes::Bytes::from(file))
    }
}

impl Iterator for Reader {
    type Item = Result<Vec<ExportRow>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batches = self.batches.as_mut()?;
        let rows = match guarded(|| Ok(batches.next().transpose()?)) {
            Ok(Some(batch)) => from_batch(&batch).map_err(|error| error.after(self.rows)),
            Ok(None) => {
                self.batches = None;
                return None;
            }
            Err(error) => Err(error),
        };
        match &rows {
            Ok(rows) => self.rows += rows.len(),
            Err(_) => self.batches = None,
        }
        Some(rows)
    }
}

/// The error of writing, with its cause.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn unwritten(error: ParquetError) -> Error {
    Error::Unwritten(error.to_string())
}

/// Whether this build can unpack `codec`.
fn is_known(codec: Compression) -> bool {
    matches!(codec, Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_))
}

/// Runs `read`. A library that panics over a damaged file costs that file and nothing else.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Error> {
    match caught(read) {
        Some(read) => read.map_err(|error| Error::Unreadable(error.to_string())),
        None => Err(Error::Unreadable("a column contradicts the rest".to_owned())),
    }
}
