//! PDF.

use std::fmt::Write as _;

use chunkwright::PositionUnit::Page;
use chunkwright_source::convert::{ConvertError, Omission};

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

/// A PDF whose pages show lines of text, each at a height, and a grey area if it is a scan.
fn pages(pages: &[&[(u32, &str)]]) -> Vec<u8> {
    let count = pages.len();
    let kids: String = (0..count).map(|n| format!("{} 0 R ", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Count {count}/Kids[{kids}]>>"),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned(),
    ];
    for (n, lines) in pages.iter().enumerate() {
        let show = |(y, text): &(u32, &str)| format!("BT /F1 10 Tf 60 {y} Td ({text}) Tj ET\n");
        let scan = if lines.is_empty() { "q 0.2 g 50 50 500 600 re f Q" } else { "" };
        let content = lines.iter().map(show).collect::<String>() + scan;
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {} 0 R/Resources<</Font<</F1 3 0 R>>>>>>",
            5 + 2 * n
        ));
        objects.push(format!("<</Length {}>>\nstream\n{content}\nendstream", content.len()));
    }
    let mut file = String::from("%PDF-1.4\n");
    let mut places = String::new();
    for (n, object) in objects.iter().enumerate() {
        let _ = writeln!(places, "{:010} 00000 n ", file.len());
        let _ = writeln!(file, "{} 0 obj\n{object}\nendobj", n + 1);
    }
    let (start, size) = (file.len(), objects.len() + 1);
    let _ = write!(
        file,
        "xref\n0 {size}\n0000000000 65535 f \n{places}trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF"
    );
    file.into_bytes()
}

/// Asserts what pages read as.
#[track_caller]
fn check_pages(given: &[&[(u32, &str)]], expect: &str) {
    assert_eq!(converted("pdf", &pages(given)).unwrap().text.trim_end(), expect);
}

const LINE: &str = "The harbour master counts the lanterns every evening and writes the number down";

#[test]
fn running_heads_and_page_numbers_divide_no_sentence() {
    let page = |number: &'static str, first: &'static str, last: &'static str| {
        [(760, "Annual Report"), (700, first), (688, last), (60, "Confidential"), (20, number)]
    };
    let a = page("Page 1 of 3", LINE, "and then the clerk, who has waited for it since noon, carries it");
    let b = page(
        "Page 2 of 3",
        "to the office. Nobody",
        "has ever seen it after that. It is kept in a large blue book on",
    );
    let c = page("Page 3 of 3", "a shelf.", "The end.");
    check_pages(
        &[&a, &b, &c],
        &format!(
            "Annual Report\n\n{LINE} and then the clerk, who has waited for it since noon, carries it to the office. Nobody \
             has ever seen it after that. It is kept in a large blue book on a shelf. The end.\n\nConfidential"
        ),
    );
    let converted = converted("pdf", &pages(&[&a, &b, &c])).unwrap();
    stands(
        &converted,
        Page,
        &[("carries it", 1), ("to the office", 2), ("a shelf.", 3), ("Confidential", 3)],
    );
}

#[test]
fn a_line_that_stands_once_or_counts_something_else_stays() {
    let page = |head: &'static str, last: &'static str| [(760, head), (700, LINE), (688, last)];
    let lasts = ["and closes the book.", "in the book of the harbour.", "as the statutes require."];
    let check = |heads: [&'static str; 3]| {
        let [a, b, c] = [0, 1, 2].map(|n| page(heads[n], lasts[n]));
        let text: Vec<_> = (0..3).map(|n| format!("{}\n\n{LINE} {}", heads[n], lasts[n])).collect();
        check_pages(&[&a, &b, &c], &text.join("\n\n"));
    };
    check(["Total: 120", "Total: 77", "Total: 9"]);
    check(["Annual Report", "Annual Report", "Errata"]);
    // Pages that hold nothing else are not empty for it.
    let form: &[(u32, &str)] = &[(700, "Signature")];
    check_pages(&[form, form, form], "Signature\n\nSignature\n\nSignature");
}

#[test]
fn words_that_a_line_end_divides_are_joined() {
    let check = |first: &str, second: &str, expect: &str| {
        let first = format!("{LINE} {first}");
        check_pages(&[&[(700, &first), (688, second)]], &format!("{LINE} {expect}"));
    };
    check("for the restora-", "tion of the lamp.", "for the restoration of the lamp.");
    check("in a well-", "known book, a well-known one.", "in a well-known book, a well-known one.");
    check("for the pre-", "and postwar years.", "for the pre- and postwar years.");
    check("for DNA-", "based lamps.", "for DNA-based lamps.");
    check("by Jean-", "Paul Lamp.", "by Jean-Paul Lamp.");
    // At the end of a page too.
    let first = format!("{LINE} for the restora-");
    check_pages(
        &[&[(700, &*first)], &[(700, "tion of the lamp.")]],
        &format!("{LINE} for the restoration of the lamp."),
    );
}

#[test]
fn pages_without_text_in_a_document_that_has_some_are_named() {
    let text: &[(u32, &str)] = &[(700, LINE)];
    let converted = converted("pdf", &pages(&[text, &[], text, &[], &[]])).unwrap();
    assert_eq!(converted.omissions, [Omission::Pages(vec![2, 4, 5])]);
    let sentence = "pages 2, 4-5 have no text; scanned pages need text recognition (OCR) first";
    assert_eq!(converted.omissions[0].to_string(), sentence);
}
