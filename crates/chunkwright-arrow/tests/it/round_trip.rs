//! Round trips: records are read back as they were written.

use std::fs::File;
use std::io::{self, Write};

use chunkwright::stats::TokenLevel;
use chunkwright_arrow::{Columns, Error, ExportRow, Reader, Writer, from_batch, to_batch};
use proptest::prelude::*;

use crate::fixture::{ALL, plain, read, record, row, written};
use crate::stride::one_in;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_560 / one_in(20) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_row_comes_back_from_a_batch_and_from_a_file(rows in prop::collection::vec(row(), 0..12)) {
        let batch = to_batch(&rows, ALL).unwrap();
        prop_assert_eq!(from_batch(&batch).unwrap(), rows.clone());
        prop_assert_eq!(read(written(&rows, ALL)).unwrap(), rows);
    }

    #[test]
    fn a_file_of_records_alone_has_no_other_columns(records in prop::collection::vec(record(), 0..6)) {
        let rows: Vec<ExportRow> = records.into_iter().map(ExportRow::from).collect();
        let batch = to_batch(&rows, Columns::default()).unwrap();
        prop_assert!(batch.column_by_name("document").is_none() && batch.column_by_name("vector").is_none());
        prop_assert_eq!(read(written(&rows, Columns::default())).unwrap(), rows);
    }

    #[test]
    fn columns_are_called_as_the_fields_of_json(record in record()) {
        let json = serde_json::to_value(&record).unwrap();
        let batch = to_batch(&[ExportRow::from(record)], Columns::default()).unwrap();
        for name in json.as_object().unwrap().keys() {
            prop_assert!(batch.column_by_name(name).is_some(), "{name}");
        }
    }
}

#[test]
fn more_rows_than_a_batch_come_back_in_order_from_a_file_on_disk() {
    let rows: Vec<ExportRow> = (0..2500).map(|index| ExportRow::from(plain(index))).collect();
    let mut writer = Writer::new(tempfile::tempfile().unwrap(), Columns::default()).unwrap();
    for rows in rows.chunks(999) {
        writer.write(rows).unwrap();
    }
    let file: File = writer.finish().unwrap();
    let batches: Vec<_> = Reader::new(file).unwrap().collect::<Result<_, _>>().unwrap();
    assert!(batches.len() > 1 && batches.iter().all(|batch| batch.len() <= 1024));
    assert_eq!(batches.concat(), rows);
}

#[test]
fn texts_of_many_megabytes_are_written_in_several_batches() {
    let large = |index| {
        let mut row = ExportRow::from(plain(index));
        row.record.content = char::from(b'a' + index as u8).to_string().repeat(9 << 20);
        row
    };
    let rows: Vec<ExportRow> = (0..5).map(large).collect();
    assert!(read(written(&rows, Columns::default())).unwrap() == rows);
}

#[test]
fn what_cannot_be_written_to_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let write = || {
        let mut writer = Writer::new(Full, ALL)?;
        writer.write(&[plain(0).into()])?;
        writer.finish()
    };
    assert!(matches!(write().err(), Some(Error::Unwritten(_))));
}

#[test]
fn a_file_without_rows_is_a_file() {
    assert_eq!(read(written(&[], ALL)).unwrap(), []);
}

#[test]
fn every_token_level_is_called_as_in_json() {
    for level in [TokenLevel::Normal, TokenLevel::Warning, TokenLevel::Large, TokenLevel::Oversized] {
        let mut row = ExportRow::from(plain(0));
        row.record.token_level = level;
        let batch = to_batch(&[row], Columns::default()).unwrap();
        let name = batch.column_by_name("token_level").unwrap().to_data();
        let json = serde_json::to_string(&level).unwrap();
        assert_eq!(name.buffers()[1].as_slice(), json.trim_matches('"').as_bytes());
    }
}

#[test]
fn a_document_or_vector_without_a_column_is_an_error() {
    let document = ExportRow { document: Some("{}".into()), ..plain(0).into() };
    let vector = ExportRow { vector: Some(vec![1.0]), ..plain(0).into() };
    let sparse = ExportRow { sparse: Some(vec![]), ..plain(0).into() };
    let codes = ExportRow { codes: Some(vec![7; 16]), ..plain(0).into() };
    let error = |row: ExportRow| to_batch(&[plain(0).into(), row], Columns::default()).unwrap_err();
    assert!(matches!(error(document), Error::NoColumn { column: "document", .. }));
    assert!(matches!(error(vector), Error::NoColumn { column: "vector", .. }));
    assert!(matches!(error(sparse), Error::NoColumn { column: "sparse", .. }));
    assert!(matches!(error(codes), Error::NoColumn { column: "codes", .. }));
}

#[test]
fn a_vector_of_another_length_is_an_error() {
    let row = ExportRow { vector: Some(vec![1.0]), ..plain(0).into() };
    let error = to_batch(&[row], ALL).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the vector of chunk `00000000000000000000000000000000` has 1 numbers; expected 3"
    );
}
