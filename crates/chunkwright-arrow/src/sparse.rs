//! Sparse vectors as a column: lists of tokens and their weights.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float32Array, ListArray, StructArray, UInt32Array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};

use crate::column::{Value, downcast};
use crate::error::Error;

/// A weight for each of a few tokens.
pub(crate) type Weights = Vec<(u32, f32)>;

/// The type of the column.
pub(crate) fn data_type() -> DataType {
    DataType::List(Arc::new(element()))
}

/// The column of `rows`; null for `None`.
pub(crate) fn write<'a>(rows: impl Iterator<Item = Option<&'a Weights>> + Clone) -> Result<ArrayRef, Error> {
    let all = || rows.clone().flatten().flatten();
    let tokens: UInt32Array = all().map(|(token, _)| *token).collect();
    let weights: Float32Array = all().map(|(_, weight)| *weight).collect();
    let pairs = StructArray::try_new(fields(), vec![Arc::new(tokens), Arc::new(weights)], None)?;
    let offsets = OffsetBuffer::from_lengths(rows.clone().map(|row| row.map_or(0, Vec::len)));
    let nulls: NullBuffer = rows.map(|row| row.is_some()).collect();
    Ok(Arc::new(ListArray::try_new(Arc::new(element()), offsets, Arc::new(pairs), Some(nulls))?))
}

/// The rows of the column `array`, which is named `name` in errors.
pub(crate) fn read(array: &ArrayRef, name: &str) -> Result<Vec<Option<Weights>>, Error> {
    let lists = downcast::<ListArray>(array, name, EXPECTED)?;
    let of_list =
        || Error::Type { column: name.to_owned(), found: lists.data_type().clone(), expected: EXPECTED };
    let pairs = lists.values().as_any().downcast_ref::<StructArray>().ok_or_else(of_list)?;
    let column = |field: &str| pairs.column_by_name(field).ok_or_else(of_list);
    let tokens = u32::values(column(TOKEN)?, &format!("{name}[].{TOKEN}"), pairs.nulls())?;
    let weights = downcast::<Float32Array>(column(WEIGHT)?, name, EXPECTED)?;
    let pair = |row: usize, at: usize| {
        let null = || Error::Null { column: format!("{name}[]"), row };
        let token = tokens[at].filter(|_| pairs.is_valid(at) && weights.is_valid(at));
        Ok((token.ok_or_else(null)?, weights.value(at)))
    };
    (0..lists.len())
        .map(|row| {
            if lists.is_null(row) {
                return Ok(None);
            }
            let range = lists.value_offsets()[row] as usize..lists.value_offsets()[row + 1] as usize;
            range.map(|at| pair(row, at)).collect::<Result<_, _>>().map(Some)
        })
        .collect()
}

const EXPECTED: &str = "a list of structs of `token` and `weight`";
const TOKEN: &str = "token";
const WEIGHT: &str = "weight";

/// The element of a sparse vector, named as Parquet names it.
fn element() -> Field {
    Field::new("element", DataType::Struct(fields()), false)
}

fn fields() -> Fields {
    vec![Field::new(TOKEN, DataType::UInt32, false), Field::new(WEIGHT, DataType::Float32, false)].into()
}
