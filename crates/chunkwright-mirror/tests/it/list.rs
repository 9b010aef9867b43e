//! Lists of pages in files.

use std::fs;
use std::path::Path;

use chunkwright_mirror::{Address, Limits, MirrorError, Mirrored, Mirrors};

use crate::server::{At, Server};
use crate::site::files;

fn bring(folder: &Path, list: &Path, limits: Limits) -> Result<Mirrored, MirrorError> {
    Mirrors::new(folder.join("mirrors"), limits).bring(&Address::of_list(list)?, &|_, _| {})
}

fn allowing() -> Limits {
    Limits { allow_private: true, ..Limits::default() }
}

#[test]
fn the_pages_of_a_list_are_kept_in_step_each_from_its_own_host() {
    let (one, two, folder) = (Server::new(), Server::new(), tempfile::tempdir().unwrap());
    for path in ["/a", "/b", "/hidden"] {
        one.html(path, path);
    }
    one.page("/robots.txt", "text/plain", "User-agent: *\nDisallow: /hidden\n");
    two.html("/c?x=1", "C");
    // The other host of the list is none that a redirect may lead to.
    one.put("/away", At::Status(302, vec![format!("location: {}", two.url("/secret"))]));
    let list = folder.path().join("pages.txt");
    let write = |lines: &[String]| fs::write(&list, lines.join("\r\n")).unwrap();
    let all = [
        "\u{feff}# What we read".to_owned(),
        one.url("/a"),
        String::new(),
        format!("  {}#part ", one.url("/b")),
        two.url("/c?x=1"),
        one.url("/a#again"),
        one.url("/hidden"),
        one.url("/away"),
    ];
    write(&all);
    let first = bring(folder.path(), &list, allowing()).unwrap();
    assert_eq!(
        (files(&first, &one), files(&first, &two)),
        (vec!["a.html".to_owned(), "b.html".to_owned()], vec!["c@x=1.html".to_owned()])
    );
    let report = &first.report;
    assert_eq!((report.changed, report.excluded, report.failed.len(), report.missing), (3, 1, 1, 1));
    let failed = report.failed[0].to_string();
    assert!(failed.contains("is not on the host that was named"), "{failed}");
    assert!(first.meta.iter().any(|(_, meta)| meta["url"] == two.url("/c?x=1")));
    assert!(two.asked().iter().all(|(path, _)| path != "/secret"));
    one.asked();
    drop(first);

    let same = bring(folder.path(), &list, allowing()).unwrap();
    assert_eq!((same.report.changed, same.report.unchanged), (0, 3));
    drop(same);

    // A host that fails costs nothing, and a page that leaves the list goes.
    two.put("/robots.txt", At::Drop);
    write(&[one.url("/a"), two.url("/c?x=1")]);
    let later = bring(folder.path(), &list, allowing()).unwrap();
    assert_eq!((files(&later, &one), files(&later, &two).len()), (vec!["a.html".to_owned()], 1));
    assert_eq!((later.report.removed, later.report.failed.len(), later.report.missing), (1, 1, 0));
}

#[test]
fn limits_hold_for_a_list_as_a_whole_and_remove_nothing() {
    let (one, two, folder) = (Server::new(), Server::new(), tempfile::tempdir().unwrap());
    one.html("/a", "A");
    two.html("/b", "B");
    let list = folder.path().join("pages.txt");
    fs::write(&list, format!("{}\n{}\n", one.url("/a"), two.url("/b"))).unwrap();
    let few = Limits { pages: 1, ..allowing() };
    let first = bring(folder.path(), &list, few).unwrap();
    assert_eq!((first.report.changed, first.report.left), (1, Some((1, "the limit of pages"))));
    drop(first);
    let whole = bring(folder.path(), &list, allowing()).unwrap();
    assert_eq!((whole.report.changed, whole.report.unchanged), (1, 1));
    drop(whole);
    one.html("/a", "A, second edition");
    two.html("/b", "B, second edition");
    let little = Limits { bytes: 1, ..allowing() };
    let cut = bring(folder.path(), &list, little).unwrap();
    assert_eq!((cut.report.changed, cut.report.left), (1, Some((1, "the limit of bytes"))));
    assert_eq!((files(&cut, &one).len(), files(&cut, &two).len(), cut.report.missing), (1, 1, 0));
}

#[test]
fn a_list_names_no_private_host_and_one_that_cannot_be_read_says_where() {
    let (server, folder) = (Server::new(), tempfile::tempdir().unwrap());
    server.html("/a", "A");
    let list = folder.path().join("pages.txt");
    let asked = |text: &str| {
        fs::write(&list, text).unwrap();
        bring(folder.path(), &list, Limits::default()).unwrap_err().to_string()
    };
    let port = server.url("").rsplit(':').next().unwrap().to_owned();
    for host in ["127.0.0.1", "localhost", "[::1]", "169.254.169.254"] {
        let error = asked(&format!("http://{host}:{port}/a\n"));
        assert!(error.contains("private address") || error.contains("link-local"), "{host}: {error}");
    }
    assert!(server.asked().is_empty());
    for (text, expected) in [
        ("# nothing\n\n", "lists no page; nothing was removed"),
        ("", "lists no page"),
        ("# one\nhttps://h/a\nsee there\n", "line 3 of"),
        ("/etc/passwd", "line 1 of"),
        ("file:///etc/passwd", "line 1 of"),
        ("git+https://h/o/r", "line 1 of"),
        ("https://me:word@h/", "line 1 of"),
    ] {
        let error = asked(text);
        assert!(error.contains(expected) && !error.contains("word"), "{text:?}: {error}");
    }
    let missing = Address::of_list(&folder.path().join("none.txt")).unwrap_err();
    assert!(matches!(missing, MirrorError::Io { .. }), "{missing}");
}
