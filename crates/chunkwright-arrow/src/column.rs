//! Maps types of Rust to types of columns, and converts values both ways.
//!
//! Three traits, so that the table of a record's columns is only names and types. A [`Value`] is the content of one
//! cell; a [`Column`] adds whether it may be null, which `Option` expresses; a [`Row`] is a struct whose fields are
//! columns, either a nested one or the whole record.
//!
//! An absent nested value has to leave a place in each column below it, so everything is passed as `Option<&T>`, one
//! for each row.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringBuilder, UInt32Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, ListArray, StringArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use chunkwright::PageBox;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// The content of a cell.
pub(crate) trait Value: Sized {
    /// The type of its column.
    fn data_type() -> DataType;

    /// The column of `values`; null for `None`.
    fn array(values: &[Option<&Self>]) -> Result<ArrayRef, Error>;

    /// The values of `array`, which is named `name` in errors. Rows that are not `present`, because the enclosing
    /// struct is absent, hold arbitrary values.
    fn values(array: &ArrayRef, name: &str, present: Option<&NullBuffer>)
    -> Result<Vec<Option<Self>>, Error>;
}

/// A field of a struct: a [`Value`], or an `Option` of one.
pub(crate) trait Column: Sized {
    /// Its column, named `name`.
    fn field(name: &str) -> Field;

    /// The column of `values`; `None` stands for a struct that is absent.
    fn write(values: &[Option<&Self>]) -> Result<ArrayRef, Error>;

    /// The values of the column `name` of `table`; `None` in rows in which the struct is absent.
    fn read(table: &Table<'_>, name: &str) -> Result<Vec<Option<Self>>, Error>;
}

/// A struct whose fields are columns.
pub(crate) trait Row: Sized {
    /// Its columns.
    fn fields() -> Vec<Field>;

    /// One array for each of the columns.
    fn arrays(rows: &[Option<&Self>]) -> Result<Vec<ArrayRef>, Error>;

    /// The rows of `table`; `None` for absent ones.
    fn rows(table: &Table<'_>) -> Result<Vec<Option<Self>>, Error>;
}

/// Columns by their names: a batch, or a nested struct.
pub(crate) struct Table<'a> {
    /// The columns' names and types.
    pub(crate) fields: &'a [Arc<Field>],
    /// The columns.
    pub(crate) arrays: &'a [ArrayRef],
    /// In which rows the struct is present; in all for `None`.
    pub(crate) present: Option<NullBuffer>,
    /// Number of rows.
    pub(crate) len: usize,
    /// The prefix of column names in errors.
    pub(crate) prefix: String,
}

impl Table<'_> {
    /// The column `name`; the first if several have that name. A column of the null type counts as missing: some
    /// programs write one if all values are null.
    pub(crate) fn column(&self, name: &str) -> Option<&ArrayRef> {
        let at = self.fields.iter().position(|field| field.name() == name)?;
        self.arrays.get(at).filter(|array| *array.data_type() != DataType::Null)
    }

    /// Whether row `row` is present.
    pub(crate) fn has(&self, row: usize) -> bool {
        self.present.as_ref().is_none_or(|present| present.is_valid(row))
    }

    /// The path of the column `name` in errors.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl<T: Value> Column for T {
    fn field(name: &str) -> Field {
        Field::new(name, T::data_type(), false)
    }

    fn write(values: &[Option<&Self>]) -> Result<ArrayRef, Error> {
        T::array(values)
    }

    fn read(table: &Table<'_>, name: &str) -> Result<Vec<Option<Self>>, Error> {
        let column = table.path(name);
        let Some(array) = table.column(name) else { return Err(Error::Missing { column }) };
        let values = T::values(array, &column, table.present.as_ref())?;
        match values.iter().enumerate().find(|(row, value)| value.is_none() && table.has(*row)) {
            Some((row, _)) => Err(Error::Null { column, row }),
            None => Ok(values),
        }
    }
}

impl<T: Value> Column for Option<T> {
    fn field(name: &str) -> Field {
        Field::new(name, T::data_type(), true)
    }

    fn write(values: &[Option<&Self>]) -> Result<ArrayRef, Error> {
        let values: Vec<Option<&T>> = values.iter().map(|value| value.and_then(Option::as_ref)).collect();
        T::array(&values)
    }

    fn read(table: &Table<'_>, name: &str) -> Result<Vec<Option<Self>>, Error> {
        match table.column(name) {
            Some(array) => {
                let values = T::values(array, &table.path(name), table.present.as_ref())?;
                Ok(values.into_iter().map(Some).collect())
            }
            None => Ok((0..table.len).map(|_| Some(None)).collect()),
        }
    }
}

/// Values that are written as JSON in a column of texts, since a type of columns would be of no use: the names of a map
/// are not known, and boxes are read one by one. Null if there are none.
macro_rules! as_json {
    ($(($($generics:tt)*) $type:ty, $known:literal;)*) => {$(
        impl<$($generics)*> Column for $type {
            fn field(name: &str) -> Field {
                Option::<String>::field(name)
            }

            fn write(values: &[Option<&Self>]) -> Result<ArrayRef, Error> {
                let json = |all: &&Self| serde_json::to_string(all).unwrap_or_default();
                let texts: Vec<Option<String>> =
                    values.iter().map(|all| all.filter(|all| !all.is_empty()).as_ref().map(json)).collect();
                text(texts.iter().map(Option::as_deref))
            }

            fn read(table: &Table<'_>, name: &str) -> Result<Vec<Option<Self>>, Error> {
                let parse = |(row, json): (usize, Option<Option<String>>)| {
                    let Some(json) = json.flatten() else { return Ok(Some(Self::new())) };
                    serde_json::from_str(&json).map(Some).map_err(|_| Error::Value {
                        column: table.path(name),
                        row,
                        value: json,
                        known: $known.into(),
                    })
                };
                Option::<String>::read(table, name)?.into_iter().enumerate().map(parse).collect()
            }
        }
    )*};
}

as_json! {
    (V: Serialize + DeserializeOwned) BTreeMap<String, V>, "objects of texts or lists, as JSON";
    () Vec<PageBox>, "lists of boxes, as JSON";
}

/// `array` as an `A`, or an error that column `name` must be `expected`.
pub(crate) fn downcast<'a, A: Array + 'static>(
    array: &'a ArrayRef,
    name: &str,
    expected: &'static str,
) -> Result<&'a A, Error> {
    array.as_any().downcast_ref::<A>().ok_or_else(|| Error::Type {
        column: name.to_owned(),
        found: array.data_type().clone(),
        expected,
    })
}

impl Value for String {
    fn data_type() -> DataType {
        DataType::Utf8
    }

    fn array(values: &[Option<&Self>]) -> Result<ArrayRef, Error> {
        text(values.iter().map(|value| value.map(String::as_str)))
    }

    fn values(array: &ArrayRef, name: &str, _: Option<&NullBuffer>) -> Result<Vec<Option<Self>>, Error> {
        let array = downcast::<StringArray>(array, name, "a string")?;
        Ok(array.iter().map(|value| value.map(str::to_owned)).collect())
    }
}

/// A column of text. Its places are 32-bit numbers, so it has to be below 2 GiB.
pub(crate) fn text<'a>(
    values: impl ExactSizeIterator<Item = Option<&'a str>> + Clone,
) -> Result<ArrayRef, Error> {
    let bytes = values.clone().flatten().map(str::len).sum();
    if i32::try_from(bytes).is_err() {
        return Err(Error::TooLarge { bytes });
    }
    let mut builder = StringBuilder::with_capacity(values.len(), bytes);
    values.for_each(|value| builder.append_option(value));
    Ok(Arc::new(builder.finish()))
}

impl Value for u32 {
    fn data_type() -> DataType {
        DataType::UInt32
    }

    fn array(values: &[Option<&Self>]) -> Result<ArrayRef, Error> {
        let mut builder = UInt32Builder::with_capacity(values.len());
        for value in values {
            builder.append_option(value.copied());
        }
        Ok(Arc::new(builder.finish()))
    }

    fn values(
        array: &ArrayRef,
        name: &str,
        present: Option<&NullBuffer>,
    ) -> Result<Vec<Option<Self>>, Error> {
        if let Some(array) = array.as_primitive_opt::<UInt32Type>() {
            return Ok(array.iter().collect());
        }
        // Programs that read JSON only have long integers.
        let array = downcast::<Int64Array>(array, name, "an unsigned 32-bit integer")?;
        let number = |(row, value): (usize, Option<i64>)| match value {
            Some(value) if present.is_none_or(|present| present.is_valid(row)) => {
                let known = || format!("whole numbers from 0 to {}", u32::MAX);
                let outside =
                    |_| Error::Value { column: name.into(), row, value: value.to_string(), known: known() };
                u32::try_from(value).map(Some).map_err(outside)
            }
            _ => Ok(None),
        };
        array.iter().enumerate().map(number).collect()
    }
}

impl Value for bool {
    fn data_type() -> DataType {
        DataType::Boolean
    }

    fn array(values: &[Option<&Self>]) -> Result<ArrayRef, Error> {
        let mut builder = BooleanBuilder::with_capacity(values.len());
        for value in values {
            builder.append_option(value.copied());
        }
        Ok(Arc::new(builder.finish()))
    }

    fn values(array: &ArrayRef, name: &str, _: Option<&NullBuffer>) -> Result<Vec<Option<Self>>, Error> {
        Ok(downcast::<BooleanArray>(array, name, "a boolean")?.iter().collect())
    }
}

impl Value for Vec<String> {
    fn data_type() -> DataType {
        DataType::List(Arc::new(item()))
    }

    fn array(values: &[Option<&Self>]) -> Result<ArrayRef, Error> {
        let lengths = values.iter().map(|list| list.map_or(0, Vec::len));
        let items: Vec<Option<&String>> = values.iter().copied().flatten().flatten().map(Some).collect();
        let items = String::array(&items)?;
        let nulls: NullBuffer = values.iter().map(Option::is_some).collect();
        let lists =
            ListArray::try_new(Arc::new(item()), OffsetBuffer::from_lengths(lengths), items, Some(nulls))?;
        Ok(Arc::new(lists))
    }

    fn values(array: &ArrayRef, name: &str, _: Option<&NullBuffer>) -> Result<Vec<Option<Self>>, Error> {
        let lists = downcast::<ListArray>(array, name, "a list of strings")?;
        let expected = "a list of strings";
        let items = downcast::<StringArray>(lists.values(), name, expected).map_err(|_| Error::Type {
            column: name.to_owned(),
            found: lists.data_type().clone(),
            expected,
        })?;
        (0..lists.len())
            .map(|row| {
                if lists.is_null(row) {
                    return Ok(None);
                }
                let range = lists.value_offsets()[row] as usize..lists.value_offsets()[row + 1] as usize;
                let null = || Error::Null { column: format!("{name}[]"), row };
                let list =
                    range.map(|at| items.is_valid(at).then(|| items.value(at).to_owned()).ok_or_else(null));
                list.collect::<Result<_, _>>().map(Some)
            })
            .collect()
    }
}

/// The element of a list of strings, named as Parquet names it.
fn item() -> Field {
    Field::new("element", DataType::Utf8, false)
}

impl<T: Row> Value for T {
    fn data_type() -> DataType {
        DataType::Struct(T::fields().into())
    }

    fn array(values: &[Option<&Self>]) -> Result<ArrayRef, Error> {
        let nulls: NullBuffer = values.iter().map(Option::is_some).collect();
        let structs = StructArray::try_new(T::fields().into(), T::arrays(values)?, Some(nulls))?;
        Ok(Arc::new(structs))
    }

    fn values(
        array: &ArrayRef,
        name: &str,
        present: Option<&NullBuffer>,
    ) -> Result<Vec<Option<Self>>, Error> {
        let structs = downcast::<StructArray>(array, name, "a struct")?;
        T::rows(&Table {
            fields: structs.fields(),
            arrays: structs.columns(),
            present: NullBuffer::union(present, structs.nulls()),
            len: structs.len(),
            prefix: format!("{name}."),
        })
    }
}
