//! Files that are damaged or never held records: each causes an error, not a panic.

use std::process::Command;

use chunkwright_arrow::{Columns, Error, ExportRow, is_catching};

use crate::fixture::{ALL, plain, read, written};
use crate::stride::one_in;

fn file() -> Vec<u8> {
    let row = |index| ExportRow {
        document: Some("{\"id\":\"guide.md\"}".into()),
        vector: Some(vec![1.0, 2.0, index as f32]),
        sparse: Some(vec![(index, 0.5), (9, 1.5)]),
        ..plain(index).into()
    };
    let rows: Vec<ExportRow> = (0..3).map(row).collect();
    written(&rows, ALL)
}

#[test]
fn what_is_no_parquet_file_is_said_to_be_none() {
    for bytes in ["", "PAR1", "PAR1PAR1", "{\"chunk_id\":\"1\"}\n{\"chunk_id\":\"2\"}\n"] {
        let error = read(bytes.into()).unwrap_err();
        assert!(error.to_string().starts_with("not a readable Parquet file"), "{error}");
    }
}

#[test]
fn a_file_that_ends_early_is_an_error_wherever_it_ends() {
    let file = file();
    for end in (0..file.len()).step_by(37).chain([file.len() - 1]) {
        let error = read(file[..end].to_vec()).unwrap_err();
        assert!(matches!(error, Error::Unreadable(_)), "{end}: {error}");
    }
}

/// Damages one in `step` bytes.
fn damage(step: usize) {
    let file = file();
    let mut caught = 0;
    for at in (0..file.len()).step_by(step) {
        let mut damaged = file.clone();
        damaged[at] ^= if at % 2 == 0 { 0xff } else { 0x01 };
        // It may go unseen, as in a text; it may not take the process down.
        let outcome = read(damaged);
        caught += usize::from(outcome.is_err_and(|error| error.to_string().contains("contradicts the rest")));
    }
    // The library does panic; otherwise catching would be unnecessary.
    assert!(caught > 0);
}

#[test]
fn a_damaged_byte_never_panics() {
    // The damage is of two kinds in turn.
    damage(one_in(7));
}

/// Set in a child process whose output is examined.
const CHILD: &str = "CHUNKWRIGHT_TEST_DAMAGE_CHILD";

#[test]
fn a_hook_can_stay_silent_over_panics_that_are_caught() {
    if std::env::var_os(CHILD).is_some() {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !is_catching() {
                report(panic);
            }
        }));
        damage(67);
        assert!(!is_catching());
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["damage::a_hook_can_stay_silent_over_panics_that_are_caught", "--exact", "--nocapture"]);
    let output = child.env(CHILD, "").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_file_of_other_columns_is_refused_before_its_rows() {
    let file = written(&[plain(0).into()], Columns::default());
    // The name occurs in the footer only.
    let renamed = replaced(&file, b"strategy_version", b"strategy_edition");
    let error = read(renamed).unwrap_err();
    assert!(matches!(&error, Error::Missing { column } if column == "strategy_version"), "{error}");
}

/// `file` with every `from` replaced by `to`, of the same length.
fn replaced(file: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    for at in 0..=file.len() - from.len() {
        if file[at..].starts_with(from) {
            file[at..at + to.len()].copy_from_slice(to);
        }
    }
    file
}
