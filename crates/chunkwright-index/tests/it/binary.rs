//! Binary documents, from disk to search and back.

use chunkwright_index::{FetchOptions, Mode, SearchOptions, fetch};
use chunkwright_source::SkipReason::{Encrypted, NoText};

use crate::fixture::{Fixture, for_each_store, now};

pub(crate) const ENGLISH: &[u8] = include_bytes!("../../../chunkwright-source/tests/samples/english.pdf");
const ENCRYPTED: &[u8] = include_bytes!("../../../chunkwright-source/tests/samples/encrypted.pdf");
const SCAN: &[u8] = include_bytes!("../../../chunkwright-source/tests/samples/scan.pdf");

#[test]
fn a_pdf_is_found_with_its_pages_and_given_back_as_it_was() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("other.md", "# Other\n\nNothing to see.\n")]);
        fixture.write("guide.pdf", ENGLISH);
        assert_eq!(fixture.index().indexed, 2);
        let fetched =
            fetch(&*fixture.store, &now(&*fixture.store), "guide.pdf", FetchOptions::default()).unwrap();
        assert_eq!(fetched.document.format, "pdf");
        assert!(fetched.bytes().unwrap() == ENGLISH, "the bytes fetched are not those of the file");
        assert!(fetched.text.starts_with("# Installation Guide\n"));
        let positions: Vec<_> =
            fetched.records.iter().map(|record| record.position.clone().unwrap()).collect();
        assert_eq!((positions[0].first, positions[positions.len() - 1].last), (1, 3));
        let options = SearchOptions { mode: Mode::Lexical, ..SearchOptions::default() };
        let hits = fixture.search("troubleshooting", &options);
        assert!(hits.first().is_some_and(|hit| hit.starts_with("guide.pdf")), "{kind}: {hits:?}");
        assert_eq!(fixture.index().unchanged, 2);
    });
}

#[test]
fn what_has_no_text_is_skipped_with_the_reason_and_what_is_damaged_fails() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        for (name, bytes) in [("a.pdf", ENCRYPTED), ("b.pdf", SCAN), ("c.pdf", &b"%PDF-1.7\n"[..])] {
            fixture.write(name, bytes);
        }
        let report = fixture.index();
        let skipped: Vec<_> = report.skipped.iter().map(|it| (it.path.as_str(), it.reason)).collect();
        assert_eq!(skipped, [("a.pdf", Encrypted), ("b.pdf", NoText)]);
        assert_eq!(report.failed.len(), 1);
        assert!(report.failed[0].message.contains("damaged"), "{}", report.failed[0].message);
        assert!(report.adds_up());
    });
}
