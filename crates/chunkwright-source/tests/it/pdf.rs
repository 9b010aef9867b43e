//! PDF.

use chunkwright::PositionUnit::Page;
use chunkwright_source::convert::ConvertError;

use crate::{converted, stands};

const ENGLISH: &[u8] = include_bytes!("../samples/english.pdf");
const RUSSIAN: &[u8] = include_bytes!("../samples/russian.pdf");
const CHINESE: &[u8] = include_bytes!("../samples/chinese.pdf");

#[test]
fn headings_prose_and_tables_of_three_languages_stand_on_their_pages() {
    let check = |pdf: &[u8], expect: &[(&str, u32)]| stands(&converted("pdf", pdf).unwrap(), Page, expect);
    check(
        ENGLISH,
        &[
            ("# Installation Guide", 1),
            ("# Before you begin", 1),
            ("The program reads documents and divides them into chunks.", 1),
            ("# Run the program", 2),
            ("| max_size | largest chunk |", 2),
            ("# Troubleshooting", 3),
        ],
    );
    check(
        RUSSIAN,
        &[
            ("# Руководство по установке", 1),
            ("Каждая часть остаётся меньше предела модели.", 1),
            ("| min_size | наименьшая часть |", 2),
            ("# Устранение неполадок", 3),
        ],
    );
    check(
        CHINESE,
        &[("# 安装指南", 1), ("每个块都小于模型的上限。", 1), ("| 选项 | 含义 |", 2), ("# 故障排除", 3)],
    );
}

#[test]
fn what_needs_a_password_or_has_no_text_says_so() {
    let error = |pdf: &[u8]| converted("pdf", pdf).unwrap_err();
    assert_eq!(error(include_bytes!("../samples/encrypted.pdf")), ConvertError::Encrypted);
    assert_eq!(error(include_bytes!("../samples/scan.pdf")), ConvertError::NoText);
}

#[test]
fn damaged_files_are_errors_or_have_what_is_left() {
    assert!(matches!(converted("pdf", b"%PDF-1.7\n"), Err(ConvertError::Damaged { .. })));
    for at in (9..ENGLISH.len()).step_by(97) {
        let mut damaged = ENGLISH.to_vec();
        damaged[at] ^= 0x55;
        let _ = converted("pdf", &damaged);
        let _ = converted("pdf", &ENGLISH[..at]);
    }
}

#[test]
fn nesting_does_not_exhaust_the_stack() {
    let depth = 200_000;
    let (open, close) = ("[".repeat(depth), "]".repeat(depth));
    let file = format!(
        "%PDF-1.7\n1 0 obj\n<</Type/Catalog/X {open}{close}>>\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    );
    assert!(converted("pdf", file.as_bytes()).is_err());
}
