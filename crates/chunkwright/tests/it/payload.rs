//! Payloads of data URIs, which no text has.

use chunkwright::{Document, Span, parse::Text};

/// Asserts how `source` reads.
#[track_caller]
fn check(source: &str, expected: &str) {
    let read = |document: &Document| document.read(Span::new(0, source.len())).into_owned();
    assert_eq!(read(&Document::parse("a.txt", source, &Text)), expected, "{source}");
}

#[test]
fn only_long_payloads_of_data_uris_are_left_out() {
    let long = "iVBORw0KGgo+/x".repeat(20);
    check(&format!("![x](data:image/png;base64,{long})"), "![x](data:image/png;base64,)");
    check(
        &format!("url('data:font/woff2;charset=utf-8;base64,{long}=='), data:a;base64,{long}"),
        "url('data:font/woff2;charset=utf-8;base64,'), data:a;base64,",
    );
    for whole in [
        "data:image/png;base64,iVBORw0KGgo=".to_owned(),
        format!("a word;base64,{long}"),
        format!("data:image/svg+xml,{long}"),
        format!("é;base64,{long}"),
    ] {
        check(&whole, &whole);
    }
}
