//! Columns written by other programs, or modified.

use std::sync::Arc;

use arrow_array::builder::{Float32Builder, ListBuilder};
use arrow_array::{ArrayRef, Int64Array, NullArray, StringArray, new_null_array};
use arrow_schema::{Field, Schema};
use chunkwright::record::Symbols;
use chunkwright_arrow::{ExportRow, RecordBatch, from_batch, to_batch};

use crate::fixture::{ALL, plain};

/// A batch of one row that has everything but an `adaptive` part.
fn batch() -> RecordBatch {
    let mut record = plain(7);
    record.symbols = Some(Symbols { names: vec!["run".into()], ..Symbols::default() });
    let row = ExportRow {
        record,
        document: Some("{}".into()),
        overlays: Some("[]".into()),
        vector: Some(vec![0.5, 1.0, 2.0]),
        sparse: Some(vec![(2, 1.5)]),
        codes: Some(vec![7; 16]),
        model: None,
    };
    to_batch(&[row], ALL).unwrap()
}

/// `batch` with the column `name` replaced, removed or added.
fn with(batch: &RecordBatch, name: &str, array: Option<ArrayRef>) -> RecordBatch {
    let schema = batch.schema();
    let mut columns: Vec<_> = schema.fields().iter().cloned().zip(batch.columns().to_vec()).collect();
    columns.retain(|(field, _)| field.name() != name);
    if let Some(array) = array {
        columns.push((Arc::new(Field::new(name, array.data_type().clone(), true)), array));
    }
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

/// The error for the batch with the column `name` replaced or removed.
fn error(name: &str, array: Option<ArrayRef>) -> String {
    from_batch(&with(&batch(), name, array)).unwrap_err().to_string()
}

fn strings(value: &str) -> ArrayRef {
    Arc::new(StringArray::from(vec![value]))
}

#[test]
fn columns_of_other_names_and_any_order_are_no_matter() {
    let changed = with(&batch(), "stars", Some(Arc::new(Int64Array::from(vec![5]))));
    let changed = with(&changed, "chunk_id", changed.column_by_name("chunk_id").cloned());
    assert_eq!(from_batch(&changed).unwrap(), from_batch(&batch()).unwrap());
}

#[test]
fn a_row_of_a_batch_engine_without_a_chunk_is_no_row_and_a_model_may_stand_in_each() {
    let changed = with(&batch(), "outcome", Some(strings("chunk")));
    let changed = with(&changed, "vector_model", Some(strings("bag")));
    let rows = from_batch(&changed).unwrap();
    assert_eq!(rows[0].model.as_deref(), Some("bag"));
    // Nothing is dropped that has a chunk, whatever a column of that name says.
    assert_eq!(from_batch(&with(&changed, "outcome", Some(strings("sold")))).unwrap(), rows);
    let empty = changed.columns().iter().map(|array| new_null_array(array.data_type(), 1)).collect();
    let schema = changed.schema();
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    let schema = Schema::new(fields.collect::<Vec<Field>>());
    let empty = RecordBatch::try_new(Arc::new(schema), empty).unwrap();
    let empty = with(&empty, "outcome", Some(strings("failed")));
    assert_eq!(from_batch(&empty).unwrap(), []);
    let unsaid = with(&empty, "outcome", None);
    assert!(from_batch(&unsaid).unwrap_err().to_string().contains("`chunk_id` is null"));
}

#[test]
fn an_optional_column_that_is_missing_is_none() {
    let mut changed = batch();
    for name in
        ["symbols", "language", "part", "document", "overlays", "vector", "sparse", "codes", "section_index"]
    {
        changed = with(&changed, name, None);
    }
    let rows = from_batch(&changed).unwrap();
    assert_eq!(rows, [ExportRow::from(plain(7))]);
}

#[test]
fn an_optional_column_without_a_type_is_none() {
    let changed = with(&batch(), "part", Some(Arc::new(NullArray::new(1))));
    assert_eq!(from_batch(&changed).unwrap()[0].record.part, None);
}

#[test]
fn a_part_of_the_adaptive_columns_is_none_of_them() {
    let changed = with(&batch(), "section_title", Some(strings("Install")));
    assert_eq!(from_batch(&changed).unwrap()[0].record.adaptive, None);
}

#[test]
fn a_vector_may_be_a_list_of_any_length() {
    let mut builder = ListBuilder::new(Float32Builder::new());
    builder.append_value([Some(1.0), Some(2.0)]);
    let changed = with(&batch(), "vector", Some(Arc::new(builder.finish())));
    assert_eq!(from_batch(&changed).unwrap()[0].vector, Some(vec![1.0, 2.0]));
}

#[test]
fn a_number_may_be_a_long_one_that_fits() {
    let long = |value| -> Option<ArrayRef> { Some(Arc::new(Int64Array::from(vec![value]))) };
    let changed = with(&batch(), "start_byte", long(4_294_967_295));
    assert_eq!(from_batch(&changed).unwrap()[0].record.start_byte, u32::MAX);
    assert_eq!(
        error("start_byte", long(-1)),
        "column `start_byte` is `-1` in row 0; known are whole numbers from 0 to 4294967295"
    );
}

#[test]
fn a_required_column_that_is_missing_is_named() {
    assert_eq!(error("content", None), "column `content` is missing; is this a file of chunk records?");
}

#[test]
fn a_column_of_another_type_is_named_with_both_types() {
    let text = strings("1");
    assert_eq!(
        error("start_byte", Some(Arc::clone(&text))),
        "column `start_byte` is of type `Utf8`; expected an unsigned 32-bit integer"
    );
    assert_eq!(
        error("section_path", Some(Arc::clone(&text))),
        "column `section_path` is of type `Utf8`; expected a list of strings"
    );
    assert_eq!(
        error("symbols", Some(Arc::clone(&text))),
        "column `symbols` is of type `Utf8`; expected a struct"
    );
    assert_eq!(
        error("vector", Some(text)),
        "column `vector` is of type `Utf8`; expected a list of 32-bit floating-point numbers"
    );
    assert_eq!(
        error("content", Some(Arc::new(Int64Array::from(vec![1])))),
        "column `content` is of type `Int64`; expected a string"
    );
}

#[test]
fn null_in_a_required_column_is_named_with_its_row() {
    let nulls = new_null_array(&arrow_schema::DataType::Utf8, 1);
    assert_eq!(
        error("content", Some(nulls)),
        "column `content` is null in row 0; every record has a value there"
    );
}

#[test]
fn a_name_that_is_not_known_is_listed_with_those_that_are() {
    assert_eq!(
        error("token_level", Some(strings("huge"))),
        "column `token_level` is `huge` in row 0; known are one of `normal`, `warning`, `large`, `oversized`"
    );
}
