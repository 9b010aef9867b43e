//! Records as columns of Arrow and Parquet.
//!
//! Chunks leave the library as [`Record`]s, one object each. Tools for tables (pandas, Polars, `DuckDB`, Spark,
//! training pipelines) want columns. This crate converts a batch of records to an Arrow [`RecordBatch`] and back, and a
//! stream of them to a Parquet file and back.
//!
//! The columns are the record's fields under their own names; what is a list or an object in JSON is a list or a
//! struct. A round trip returns an equal record: an absent value is null, and an empty one is empty. One table of
//! columns (`record`) defines the schema, the writing and the reading; a field that is added to the record but not to
//! the table does not compile.
//!
//! An export may say more about a chunk than its record does: [`ExportRow`] adds its document and its vector, and
//! [`Columns`] says which of them a file has.
//!
//! ```
//! use chunkwright_arrow::{Columns, ExportRow, Reader, Writer};
//! # fn records() -> Vec<chunkwright::Record> { Vec::new() }
//! let rows: Vec<ExportRow> = records().into_iter().map(ExportRow::from).collect();
//! let mut writer = Writer::new(Vec::new(), Columns::default())?;
//! writer.write(&rows)?;
//! let file = writer.finish()?;
//! for batch in Reader::from_bytes(file)? {
//!     for row in batch? {
//!         println!("{} {}", row.record.chunk_id, row.record.text);
//!     }
//! }
//! # Ok::<(), chunkwright_arrow::Error>(())
//! ```

mod batch;
mod catching;
mod column;
mod error;
mod file;
mod record;
mod sparse;

pub use arrow_array::RecordBatch;
pub use arrow_schema::{Schema, SchemaRef};
pub use batch::{Columns, ExportRow, from_batch, schema, to_batch};
pub use catching::is_catching;
pub use chunkwright::Record;
pub use error::Error;
pub use file::{Reader, Writer};
pub use parquet::file::reader::ChunkReader;
