//! Sources in parts: together the parts are the source, whatever their size, and none is larger than requested.

use chunkwright_index::{
    Change, DocumentInfo, Generation, GenerationSpec, SourceForm, SourceRange, Store, StoreError,
};
use chunkwright_source::format::file_hash;

use crate::contract::document;
use crate::fixture::{for_each_store, open};

/// Documents with a text of `length` bytes or a little more: one whose file is that text, and one whose file is not.
pub(crate) fn write(store: &dyn Store, length: usize) -> (Generation, [(DocumentInfo, String, Vec<u8>); 2]) {
    let generation = store.begin("c", &GenerationSpec::default()).unwrap();
    let mut written = ["same.txt", "other.txt"].map(|doc_id| {
        let mut new = document(doc_id, 0, &["A paragraph."]);
        // Characters of one to four bytes, so that few offsets are the beginning of one.
        new.document.source =
            (new.document.source.to_string() + &"aж章🦀\r\n".repeat(length / 12 + 1)).into();
        new
    });
    let file: Vec<u8> = written[1].document.source.encode_utf16().flat_map(u16::to_le_bytes).collect();
    written[1].document.raw = Some(file);
    for new in &mut written {
        new.document.info.bytes = new.document.bytes().len() as u64;
        new.document.info.file_hash = file_hash(new.document.bytes());
    }
    let changes = written.clone().map(|new| Change::Replace(Box::new(new)));
    store.write(&generation, &changes).unwrap();
    let written = written.map(|new| {
        let info = store.document_info(&generation, &new.document.info.doc_id).unwrap().unwrap();
        (info, new.document.source.to_string(), new.document.bytes().to_vec())
    });
    (generation, written)
}

#[test]
fn the_parts_of_a_source_are_the_source() {
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        // More than one piece of those that servers keep.
        let (generation, written) = write(&*store, 9 << 18);
        for (document, text, file) in &written {
            for (form, expected) in [(SourceForm::Text, text.as_bytes()), (SourceForm::File, &**file)] {
                let range = |offset, limit| SourceRange { document, form, offset, limit };
                let read = |offset, limit| store.source(&generation, range(offset, limit)).unwrap().unwrap();
                let mut all = Vec::new();
                while all.len() < expected.len() {
                    let part = read(all.len() as u64, 1_333_333);
                    assert!((1..=1_333_333).contains(&part.bytes.len()), "{kind} {form:?}");
                    assert_eq!(part.length, expected.len() as u64, "{kind} {form:?}");
                    all.extend(part.bytes);
                }
                assert!(all == expected, "{kind} {form:?}");
                let middle = (2 << 20) - 2;
                assert_eq!(read(middle as u64, 5).bytes, &expected[middle..middle + 5], "{kind} {form:?}");
                for offset in [expected.len() as u64, u64::MAX] {
                    assert_eq!(read(offset, usize::MAX).bytes, [0; 0], "{kind} {form:?}");
                }
            }
        }
        let (document, ..) = &written[0];
        let other = DocumentInfo { version: document.version + 100, ..document.clone() };
        let range = SourceRange { document: &other, form: SourceForm::File, offset: 0, limit: 1 };
        assert_eq!(store.source(&generation, range).unwrap(), None, "{kind}: that version is not stored");
        store.remove(&generation).unwrap();
        let error = store.source(&generation, SourceRange { document, ..range }).unwrap_err();
        assert!(matches!(error, StoreError::UnknownGeneration { .. }), "{kind} {error}");
    });
}
