//! Rows of an export, and the batch that they make.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder};
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeListArray, Float32Array, ListArray, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use chunkwright::Record;

use crate::column::{Column, Row, Table, downcast, text};
use crate::error::Error;
use crate::sparse;

/// A record, with the additional values of an export.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportRow {
    /// The record.
    pub record: Record,
    /// Its document, as JSON. Exports have it at the first chunk of each document.
    pub document: Option<String>,
    /// The document's overlays, which hold its changes by hand, as JSON; given at its first chunk.
    pub overlays: Option<String>,
    /// The vector of its text.
    pub vector: Option<Vec<f32>>,
    /// The sparse vector of its text: tokens and what they weigh.
    pub sparse: Option<Vec<(u32, f32)>>,
    /// The codes of its tokens.
    pub codes: Option<Vec<u8>>,
    /// The model of its vector, which tables of batch engines name in each row. It is read and not written: exports name the
    /// model in `document`.
    pub model: Option<String>,
}

impl From<Record> for ExportRow {
    fn from(record: Record) -> Self {
        Self { record, document: None, overlays: None, vector: None, sparse: None, codes: None, model: None }
    }
}

/// The columns in addition to those of the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each says whether there is a column")]
pub struct Columns {
    /// Whether there is a column `document`.
    pub document: bool,
    /// Whether there is a column `overlays`.
    pub overlays: bool,
    /// Numbers of each value of the column `vector`; no such column for `None`.
    pub vector: Option<u16>,
    /// Whether there is a column `sparse`.
    pub sparse: bool,
    /// Whether there is a column `codes`.
    pub codes: bool,
}

/// The columns of a record in their order, then `document`, `overlays`, `vector`, `sparse` and `codes` where
/// `columns` has them.
pub fn schema(columns: Columns) -> SchemaRef {
    let mut fields = Record::fields();
    if columns.document {
        fields.push(<Option<String> as Column>::field(DOCUMENT));
    }
    if columns.overlays {
        fields.push(<Option<String> as Column>::field(OVERLAYS));
    }
    if let Some(dimensions) = columns.vector {
        let list = DataType::FixedSizeList(Arc::new(number()), i32::from(dimensions));
        fields.push(Field::new(VECTOR, list, true));
    }
    if columns.sparse {
        fields.push(Field::new(SPARSE, sparse::data_type(), true));
    }
    if columns.codes {
        fields.push(Field::new(CODES, DataType::Binary, true));
    }
    Arc::new(Schema::new(fields))
}

/// The columns of `rows`.
///
/// # Errors
///
/// A row with a document or vectors that `columns` does not have, a vector of another length, and texts of
/// 2 GiB or more in one column.
pub fn to_batch(rows: &[ExportRow], columns: Columns) -> Result<RecordBatch, Error> {
    let records: Vec<_> = rows.iter().map(|row| Some(&row.record)).collect();
    let mut arrays = Record::arrays(&records)?;
    let without = |column, row: Option<&ExportRow>| match row {
        Some(row) => Err(Error::NoColumn { column, chunk_id: row.record.chunk_id }),
        None => Ok(()),
    };
    if columns.document {
        arrays.push(text(rows.iter().map(|row| row.document.as_deref()))?);
    } else {
        without(DOCUMENT, rows.iter().find(|row| row.document.is_some()))?;
    }
    if columns.overlays {
        arrays.push(text(rows.iter().map(|row| row.overlays.as_deref()))?);
    } else {
        without(OVERLAYS, rows.iter().find(|row| row.overlays.is_some()))?;
    }
    match columns.vector {
        Some(dimensions) => arrays.push(write_vectors(rows, dimensions)?),
        None => without(VECTOR, rows.iter().find(|row| row.vector.is_some()))?,
    }
    if columns.sparse {
        arrays.push(sparse::write(rows.iter().map(|row| row.sparse.as_ref()))?);
    } else {
        without(SPARSE, rows.iter().find(|row| row.sparse.is_some()))?;
    }
    if columns.codes {
        let codes: BinaryArray = rows.iter().map(|row| row.codes.as_deref()).collect();
        arrays.push(Arc::new(codes));
    } else {
        without(CODES, rows.iter().find(|row| row.codes.is_some()))?;
    }
    Ok(RecordBatch::try_new(schema(columns), arrays)?)
}

/// The rows of `batch`, whatever made it. Columns of other names are ignored; one that is optional and missing
/// is `None` in every row. Tables of batch engines have a row for each document without chunks, told by `outcome`;
/// these are left out.
///
/// # Errors
///
/// A required column that is missing, a column of another type, and a value that no record has.
pub fn from_batch(batch: &RecordBatch) -> Result<Vec<ExportRow>, Error> {
    let schema = batch.schema_ref();
    let mut table = Table {
        fields: &schema.fields,
        arrays: batch.columns(),
        present: None,
        len: batch.num_rows(),
        prefix: String::new(),
    };
    if let (Some(ids), Some(outcomes)) = (table.column("chunk_id"), table.column(OUTCOME)) {
        let outcomes = downcast::<StringArray>(outcomes, OUTCOME, "a string")?;
        let has_none = |row| outcomes.is_valid(row) && outcomes.value(row) != CHUNK && ids.is_null(row);
        table.present = Some((0..table.len).map(|row| !has_none(row)).collect());
    }
    let models = <Option<String> as Column>::read(&table, MODEL)?;
    let documents = <Option<String> as Column>::read(&table, DOCUMENT)?;
    let overlays = <Option<String> as Column>::read(&table, OVERLAYS)?;
    let vectors = match table.column(VECTOR) {
        Some(array) => read_vectors(array)?,
        None => vec![None; table.len],
    };
    let weights = match table.column(SPARSE) {
        Some(array) => sparse::read(array, SPARSE)?,
        None => vec![None; table.len],
    };
    let codes = match table.column(CODES) {
        Some(array) => {
            let codes = downcast::<BinaryArray>(array, CODES, "bytes")?;
            codes.iter().map(|codes| codes.map(<[u8]>::to_vec)).collect()
        }
        None => vec![None; table.len],
    };
    let vectors = vectors.into_iter().zip(weights).zip(codes.into_iter().zip(models));
    let rows = Record::rows(&table)?.into_iter().zip(documents.into_iter().zip(overlays)).zip(vectors);
    Ok(rows
        .filter_map(|((record, (document, overlays)), ((vector, sparse), (codes, model)))| {
            let (document, overlays, model) = (document.flatten(), overlays.flatten(), model.flatten());
            Some(ExportRow { record: record?, document, overlays, vector, sparse, codes, model })
        })
        .collect())
}

const DOCUMENT: &str = "document";
const OVERLAYS: &str = "overlays";
const VECTOR: &str = "vector";
const SPARSE: &str = "sparse";
const CODES: &str = "codes";

/// What a row of a batch engine is, and the model of its vector.
pub(crate) const OUTCOME: &str = "outcome";
pub(crate) const MODEL: &str = "vector_model";

/// The outcome of a row that is a chunk.
const CHUNK: &str = "chunk";

/// The element of a vector, named as Parquet names it.
fn number() -> Field {
    Field::new("element", DataType::Float32, false)
}

fn write_vectors(rows: &[ExportRow], dimensions: u16) -> Result<ArrayRef, Error> {
    let expected = usize::from(dimensions);
    let numbers = Float32Builder::with_capacity(rows.len() * expected);
    let mut builder = FixedSizeListBuilder::with_capacity(numbers, i32::from(dimensions), rows.len())
        .with_field(Arc::new(number()));
    for row in rows {
        match &row.vector {
            Some(vector) if vector.len() != expected => {
                let chunk_id = row.record.chunk_id;
                return Err(Error::Dimensions { chunk_id, found: vector.len(), expected });
            }
            Some(vector) => builder.values().append_slice(vector),
            // A placeholder that is never read.
            None => builder.values().append_value_n(0.0, expected),
        }
        builder.append(row.vector.is_some());
    }
    Ok(Arc::new(builder.finish()))
}

/// Lists of any length too: that is how a file looks whose writer knew of no fixed ones.
fn read_vectors(array: &ArrayRef) -> Result<Vec<Option<Vec<f32>>>, Error> {
    if let Some(lists) = array.as_any().downcast_ref::<FixedSizeListArray>() {
        return (0..lists.len()).map(|row| numbers(lists.is_valid(row), &lists.value(row), row)).collect();
    }
    let lists = downcast::<ListArray>(array, VECTOR, EXPECTED)?;
    (0..lists.len()).map(|row| numbers(lists.is_valid(row), &lists.value(row), row)).collect()
}

const EXPECTED: &str = "a list of 32-bit floating-point numbers";

fn numbers(is_valid: bool, list: &ArrayRef, row: usize) -> Result<Option<Vec<f32>>, Error> {
    let numbers = downcast::<Float32Array>(list, VECTOR, EXPECTED)?;
    if is_valid && numbers.null_count() > 0 {
        return Err(Error::Null { column: format!("{VECTOR}[]"), row });
    }
    Ok(is_valid.then(|| numbers.values().to_vec()))
}
