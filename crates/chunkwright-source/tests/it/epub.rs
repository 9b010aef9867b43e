//! EPUB.

use std::io::{Cursor, Write};

use chunkwright::PositionUnit::Chapter;
use chunkwright_source::convert::ConvertError;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::{converted, stands};

const CONTAINER: &str =
    r#"<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>"#;

const PACKAGE: &str = r#"<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Lamps &amp; Oil</dc:title>
    <dc:creator>Анна Лампина</dc:creator></metadata><manifest>
    <item id="b" href="text/two.xhtml" media-type="application/xhtml+xml"/>
    <item id="a" href="text/one%20a.xhtml" media-type="application/xhtml+xml"/>
    <item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>
    <item id="c" href="../three.xhtml" media-type="application/xhtml+xml"/></manifest>
    <spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>"#;

const PAGES: &[(&str, &str)] = &[
    (
        "OPS/text/two.xhtml",
        "<html><head><title/></head><body><h1>Two</h1><script src=\"a.js\"/><p>Second text.</p></body></html>",
    ),
    ("OPS/text/one a.xhtml", "<html><head><title>x</title></head><body><p>First text.</p></body></html>"),
    (
        "OPS/nav.xhtml",
        "<nav><ol><li><a href=\"text/one%20a.xhtml#top\">One</a></li><li><a href=\"../three.xhtml\">井</a></li></ol></nav>",
    ),
    ("three.xhtml", "<html><body><p>Third text.</p></body></html>"),
];

/// A book of these files.
fn book(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, text) in [("mimetype", "application/epub+zip")].iter().chain(files) {
        zip.start_file(*name, stored).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn files<'f>(more: &[(&'f str, &'f str)]) -> Vec<(&'f str, &'f str)> {
    let meta = [("META-INF/container.xml", CONTAINER), ("OPS/book.opf", PACKAGE)];
    meta.iter().chain(PAGES).chain(more).copied().collect()
}

#[test]
fn chapters_stand_in_the_order_of_the_spine_below_the_title() {
    let converted = converted("epub", &book(&files(&[]))).unwrap();
    assert_eq!(
        converted.text,
        "# Lamps & Oil\n\nАнна Лампина\n\n## One\n\nFirst text.\n\n## Two\n\nSecond text.\n\n## 井\n\nThird text.\n\n"
    );
    stands(&converted, Chapter, &[("# Lamps", 2), ("First text.", 2), ("## Two", 3), ("Third text.", 4)]);
}

#[test]
fn a_book_with_digital_rights_says_so_and_one_with_obfuscated_fonts_is_read() {
    let encryption = |algorithm: &str, path: &str| {
        format!(
            r#"<encryption><enc:EncryptedData><enc:EncryptionMethod Algorithm="{algorithm}"/><enc:CipherData>
               <enc:CipherReference URI="{path}"/></enc:CipherData></enc:EncryptedData></encryption>"#
        )
    };
    let check = |algorithm: &str, path: &str| {
        let encryption = encryption(algorithm, path);
        converted("epub", &book(&files(&[("META-INF/encryption.xml", &encryption)]))).map(|_| ())
    };
    let aes = "http://www.w3.org/2001/04/xmlenc#aes128-cbc";
    assert_eq!(check(aes, "OPS/text/two.xhtml"), Err(ConvertError::Encrypted));
    assert_eq!(check(aes, "OPS/picture.png"), Ok(()));
    assert_eq!(check("http://www.idpf.org/2008/embedding", "OPS/text/two.xhtml"), Ok(()));
}

#[test]
fn what_is_missing_in_a_book_is_named() {
    let error = |files: &[(&str, &str)]| converted("epub", &book(files)).unwrap_err().to_string();
    assert_eq!(error(&[]), "it is damaged or not a `epub` file: it has no `META-INF/container.xml`");
    assert!(error(&files(&[])[..1]).ends_with("its package file is missing"));
    assert_eq!(converted("epub", &book(&files(&[])[..2])).unwrap_err(), ConvertError::NoText);
    let whole = book(&files(&[]));
    for at in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        if let Some(converter) = chunkwright_source::convert::converter_for("epub", &damaged) {
            let _ = converter.convert(&damaged);
        }
    }
}
