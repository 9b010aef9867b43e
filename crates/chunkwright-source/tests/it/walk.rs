//! Ids of files.

use std::path::Path;

use chunkwright_source::doc_id;
#[cfg(unix)]
use chunkwright_source::walk::unescape;

#[test]
fn ids_are_printable_and_injective() {
    for (path, id) in [
        ("./docs/a b.md", "docs/a b.md"),
        ("100%/x.md", "100%25/x.md"),
        ("new\nline\t.md", "new%0Aline%09.md"),
        ("文档/док.md", "文档/док.md"),
        ("\u{202e}gpj.md", "%E2%80%AEgpj.md"),
        ("a#L1.md", "a#L1.md"),
    ] {
        assert_eq!(doc_id(Path::new(path)), id);
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_no_utf8_have_ids() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"bad\xff\xfe.md");
    assert_eq!(doc_id(Path::new(name)), "bad%FF%FE.md");
    for name in [name, "/a b/100%/%41/new\nline/文档".as_ref()] {
        assert_eq!(unescape(&doc_id(Path::new(name))), Path::new(name));
    }
}
