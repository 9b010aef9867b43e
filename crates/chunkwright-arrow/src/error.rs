//! Errors of columns and files.

use arrow_schema::{ArrowError, DataType};
use chunkwright::ChunkId;
use thiserror::Error;

/// Why columns could not be converted to records, or records to columns.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A column that every record needs is not there.
    #[error("column `{column}` is missing; is this a file of chunk records?")]
    Missing {
        /// Name of the column, with those of the structs around it.
        column: String,
    },
    /// A column is of another type.
    #[error("column `{column}` is of type `{found}`; expected {expected}")]
    Type {
        /// Name of the column, with those of the structs around it.
        column: String,
        /// The type that it has.
        found: DataType,
        /// The type that it should have, in words.
        expected: &'static str,
    },
    /// A row has no value where every record has one.
    #[error("column `{column}` is null in row {row}; every record has a value there")]
    Null {
        /// Name of the column, with those of the structs around it.
        column: String,
        /// Row in its batch or file, from 0.
        row: usize,
    },
    /// A value is not one that its column may hold.
    #[error("column `{column}` is `{value}` in row {row}; known are {known}")]
    Value {
        /// Name of the column, with those of the structs around it.
        column: String,
        /// Row in its batch or file, from 0.
        row: usize,
        /// The value.
        value: String,
        /// Those that it may hold.
        known: String,
    },
    /// A row holds what its file has no column for.
    #[error("chunk `{chunk_id}` has `{column}`, but that column was not requested")]
    NoColumn {
        /// `document`, `overlays`, `vector`, `sparse` or `codes`.
        column: &'static str,
        /// Id of the row's chunk.
        chunk_id: ChunkId,
    },
    /// A vector is longer or shorter than the others.
    #[error("the vector of chunk `{chunk_id}` has {found} numbers; expected {expected}")]
    Dimensions {
        /// Id of the row's chunk.
        chunk_id: ChunkId,
        /// Numbers that it has.
        found: usize,
        /// Numbers that it should have.
        expected: usize,
    },
    /// The rows do not fit into one batch.
    #[error("a batch of {bytes} bytes of text is too large; the limit is 2 GiB")]
    TooLarge {
        /// Bytes of text in the rows.
        bytes: usize,
    },
    /// The file is not a Parquet file, or is damaged.
    #[error("not a readable Parquet file: {0}")]
    Unreadable(String),
    /// The file is compressed in a way that this build cannot undo.
    #[error("the file is compressed with `{codec}`; supported are snappy, gzip and no compression")]
    Codec {
        /// Parquet's name of the codec.
        codec: String,
    },
    /// The file could not be written.
    #[error("the Parquet file could not be written: {0}")]
    Unwritten(String),
    /// Arrays that were made do not fit their schema.
    #[error(transparent)]
    Columns(#[from] ArrowError),
}

impl Error {
    /// The error of a file, of which `rows` rows stand before the batch that it is of.
    pub(crate) fn after(mut self, rows: usize) -> Self {
        if let Self::Null { row, .. } | Self::Value { row, .. } = &mut self {
            *row += rows;
        }
        self
    }
}
