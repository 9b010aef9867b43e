//! Chunks of a column of texts, for tables that are Arrow underneath.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use chunkwright_engine::{Code, Input, NewSource};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::input::AnyRecordBatch;

use crate::chunks::Chunks;
use crate::documents::{self, Sources};
use crate::errors;
use crate::keys::Keys;

/// Cuts the texts of a table: any object with the `PyCapsule` interface of Arrow, such as a frame of Polars or pandas, a table
/// of pyarrow or a relation of `DuckDB`. `text` names the column of texts, and `name` that of their names, which tell their
/// formats and are their `doc_id`; without one they are numbered. A null is no document.
#[pyfunction]
#[pyo3(signature = (table, *, text="text", name=None, **keys))]
pub(crate) fn chunk_arrow(
    py: Python<'_>,
    table: AnyRecordBatch,
    text: &str,
    name: Option<&str>,
    keys: Option<&Bound<'_, PyDict>>,
) -> PyResult<Chunks> {
    let keys = Keys::read(keys)?;
    let batches = table.into_table()?.into_inner().0;
    let mut inputs = Vec::new();
    let mut row = 0;
    for batch in &batches {
        let texts = column(py, batch, text)?;
        let names = name.map(|name| column(py, batch, name)).transpose()?;
        for (at, text) in texts.iter().enumerate() {
            let name = match &names {
                Some(names) => names[at].clone().unwrap_or_else(|| format!("{row}.md")),
                None => format!("{row}.md"),
            };
            row += 1;
            let Some(text) = text else { continue };
            inputs
                .push(Input::Memory { place: name.clone(), document: NewSource::new(name, text.as_bytes()) });
        }
    }
    documents::cut(py, Sources(inputs), &keys, false)
}

/// The texts of a column.
fn column(py: Python<'_>, batch: &RecordBatch, name: &str) -> PyResult<Vec<Option<String>>> {
    let refuse = |said: String| errors::refused(py, Code::INVALID_REQUEST, &said);
    let column = batch.column_by_name(name).ok_or_else(|| {
        let schema = batch.schema();
        let names: Vec<String> = schema.fields().iter().map(|field| format!("`{}`", field.name())).collect();
        refuse(format!("the table has no column `{name}`; it has {}", names.join(", ")))
    })?;
    let owned =
        |texts: &mut dyn Iterator<Item = Option<&str>>| texts.map(|text| text.map(str::to_owned)).collect();
    if let Some(texts) = column.as_string_opt::<i32>() {
        Ok(owned(&mut texts.iter()))
    } else if let Some(texts) = column.as_string_opt::<i64>() {
        Ok(owned(&mut texts.iter()))
    } else if let Some(texts) = column.as_string_view_opt() {
        Ok(owned(&mut texts.iter()))
    } else {
        Err(refuse(format!("the column `{name}` is of {}; it must be of texts", column.data_type())))
    }
}
