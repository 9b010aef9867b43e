//! The one table of a record's columns.
//!
//! The macro generates both directions from it. It names every field when it builds a struct, so that the compiler
//! rejects a table that lacks one.

use std::collections::BTreeMap;
use std::fmt::Debug;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field};
use chunkwright::record::{AdaptiveFields, Symbols};
use chunkwright::stats::TokenLevel;
use chunkwright::{ChunkId, Cut, PageBox, Part, Position, PositionUnit, Record, SummaryKind};
use serde::Deserialize;
use serde::de::value::{Error as Unknown, StrDeserializer};

use crate::column::{Column, Row, Table, Value, text};
use crate::error::Error;

/// Implements [`Row`]: the fields and their types, and after `flat` an optional struct whose fields are columns beside
/// the others.
macro_rules! rows {
    ($($type:ident { $($field:ident: $column:ty,)* $(; flat $flat:ident: $inner:ty)? })*) => {$(
        impl Row for $type {
            fn fields() -> Vec<Field> {
                let fields = vec![$(<$column as Column>::field(stringify!($field))),*];
                $(let fields = [fields, flat_fields::<$inner>()].concat();)?
                fields
            }

            fn arrays(rows: &[Option<&Self>]) -> Result<Vec<ArrayRef>, Error> {
                let arrays = vec![$({
                    let values: Vec<_> = rows.iter().map(|row| row.map(|row| &row.$field)).collect();
                    <$column as Column>::write(&values)?
                }),*];
                $(let arrays = {
                    let inner: Vec<_> = rows.iter().map(|row| row.and_then(|row| row.$flat.as_ref())).collect();
                    [arrays, <$inner>::arrays(&inner)?].concat()
                };)?
                Ok(arrays)
            }

            fn rows(table: &Table<'_>) -> Result<Vec<Option<Self>>, Error> {
                $(let mut $field = <$column as Column>::read(table, stringify!($field))?.into_iter();)*
                $(let mut $flat = flat_read::<$inner>(table)?.into_iter();)?
                let mut rows = Vec::with_capacity(table.len);
                for row in 0..table.len {
                    // Every column moves on, in rows that are absent too.
                    $(let $field = $field.next().flatten();)*
                    $(let $flat = $flat.next().flatten();)?
                    let value = || Some(Self { $($field: $field?,)* $($flat,)? });
                    rows.push(if table.has(row) { value() } else { None });
                }
                Ok(rows)
            }
        }
    )*};
}

rows! {
    Record {
        chunk_id: ChunkId,
        doc_id: String,
        artifact: Option<SummaryKind>,
        chunk_index: u32,
        total_chunks: u32,
        parent: String,
        previous: Option<ChunkId>,
        next: Option<ChunkId>,
        content: String,
        context: String,
        text: String,
        start_line: u32,
        end_line: u32,
        start_byte: u32,
        end_byte: u32,
        start_char: u32,
        end_char: u32,
        position: Option<Position>,
        header_path: String,
        section_path: Vec<String>,
        content_type: String,
        chunk_type: String,
        category: String,
        language: Option<String>,
        prose_language: Option<String>,
        symbols: Option<Symbols>,
        imports: Option<Vec<String>>,
        char_count: u32,
        word_count: u32,
        token_count: u32,
        tokenizer: String,
        token_level: TokenLevel,
        oversize: bool,
        part: Option<Part>,
        cut: Cut,
        strategy_version: String,
        preset: String,
        config_hash: String,
        file_hash: String,
        indexed_at: Option<String>,
        properties: BTreeMap<String, Vec<String>>,
        meta: BTreeMap<String, String>,
        ; flat adaptive: AdaptiveFields
    }
    Position {
        unit: PositionUnit,
        first: u32,
        last: u32,
        boxes: Vec<PageBox>,
    }
    Symbols {
        function_name: Option<String>,
        class_name: Option<String>,
        parent_class: Option<String>,
        names: Vec<String>,
    }
    Part {
        index: u32,
        total: u32,
    }
    AdaptiveFields {
        adaptive_chunking: bool,
        is_complete_document: bool,
        section_title: String,
        section_index: u32,
    }
}

/// The columns of a struct that is optional and flattened: any of them may be null.
fn flat_fields<T: Row>() -> Vec<Field> {
    T::fields().into_iter().map(|field| field.with_nullable(true)).collect()
}

/// As in JSON, a flattened struct is present in rows in which all of its columns are.
fn flat_read<T: Row>(table: &Table<'_>) -> Result<Vec<Option<T>>, Error> {
    let mut present = table.present.clone();
    for field in T::fields() {
        let Some(array) = table.column(field.name()) else {
            return Ok((0..table.len).map(|_| None).collect());
        };
        present = NullBuffer::union(present.as_ref(), array.nulls());
    }
    T::rows(&Table { present, prefix: table.prefix.clone(), ..*table })
}

/// Enumerations are text, by the names that they have in JSON.
macro_rules! names {
    ($($type:ident: $name:expr,)*) => {$(
        impl Value for $type {
            fn data_type() -> DataType {
                DataType::Utf8
            }

            fn array(values: &[Option<&Self>]) -> Result<ArrayRef, Error> {
                let name: fn($type) -> &'static str = $name;
                text(values.iter().map(|value| value.copied().map(name)))
            }

            fn values(
                array: &ArrayRef,
                name: &str,
                present: Option<&NullBuffer>,
            ) -> Result<Vec<Option<Self>>, Error> {
                let is_present = |row| present.is_none_or(|present| present.is_valid(row));
                let names = String::values(array, name, present)?.into_iter().enumerate();
                let names = names.map(|(row, value)| (row, value.filter(|_| is_present(row))));
                names.map(|(row, value)| value.map(|value| named(value, name, row)).transpose()).collect()
            }
        }
    )*};
}

names! {
    Cut: Cut::as_str,
    SummaryKind: SummaryKind::name,
    PositionUnit: PositionUnit::as_str,
    TokenLevel: |level| match level {
        TokenLevel::Normal => "normal",
        TokenLevel::Warning => "warning",
        TokenLevel::Large => "large",
        TokenLevel::Oversized => "oversized",
    },
}

/// The variant called `value`. The error of the derived reader lists the known ones.
fn named<T: for<'de> Deserialize<'de> + Debug>(value: String, column: &str, row: usize) -> Result<T, Error> {
    let parsed: Result<T, Unknown> = T::deserialize(StrDeserializer::new(&value));
    parsed.map_err(|unknown| {
        let reason = unknown.to_string();
        let known = reason.split_once("expected ").map_or(reason.as_str(), |(_, known)| known).to_owned();
        Error::Value { column: column.to_owned(), row, value, known }
    })
}

impl Value for ChunkId {
    fn data_type() -> DataType {
        DataType::Utf8
    }

    fn array(values: &[Option<&Self>]) -> Result<ArrayRef, Error> {
        let digits: Vec<Option<String>> = values.iter().map(|id| id.map(ToString::to_string)).collect();
        text(digits.iter().map(Option::as_deref))
    }

    fn values(
        array: &ArrayRef,
        name: &str,
        present: Option<&NullBuffer>,
    ) -> Result<Vec<Option<Self>>, Error> {
        let is_present = |row| present.is_none_or(|present| present.is_valid(row));
        let id = |(row, value): (usize, Option<String>)| match value {
            Some(value) if is_present(row) => value.parse().map(Some).map_err(|_| {
                let known = "32 hex digits".to_owned();
                Error::Value { column: name.to_owned(), row, value, known }
            }),
            _ => Ok(None),
        };
        String::values(array, name, present)?.into_iter().enumerate().map(id).collect()
    }
}
