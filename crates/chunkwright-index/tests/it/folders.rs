//! Folder scans: the files that become documents, and what is reported of the others.

use chunkwright_index::{FetchOptions, fetch};
use chunkwright_source::SkipReason::{self, Binary, Hidden, Ignored, Secret, TooLarge};

use crate::fixture::{Fixture, now};

#[track_caller]
fn check(fixture: &Fixture, documents: &[&str], skipped: &[(&str, SkipReason)]) {
    let report = fixture.index();
    let stored = fixture.store.documents(&now(&*fixture.store)).unwrap();
    assert_eq!(stored.iter().map(|info| info.doc_id.as_str()).collect::<Vec<_>>(), documents);
    let left_out: Vec<_> =
        report.skipped.iter().map(|skipped| (skipped.path.as_str(), skipped.reason)).collect();
    assert_eq!(left_out, skipped);
    assert_eq!(report.seen, documents.len() + skipped.len());
    for doc_id in documents {
        let fetched = fetch(&*fixture.store, &now(&*fixture.store), doc_id, FetchOptions::default()).unwrap();
        assert_eq!(fetched.document.doc_id, *doc_id);
    }
}

#[test]
fn files_are_taken_as_ripgrep_takes_them() {
    let files = [
        ("a.md", "# A\n\nText.\n"),
        ("b.log", "ignored"),
        ("keep.log", "kept"),
        ("build/x.md", "ignored with its folder"),
        ("build/y.md", "ignored with its folder"),
        ("sub/.gitignore", "*.tmp\n"),
        ("sub/c.tmp", "ignored"),
        ("sub/d.txt", "taken"),
        (".hidden/e.md", "hidden"),
        (".git/config", "hidden"),
        (".gitignore", "*.log\n!keep.log\n/build/\n"),
        (".ignore", "q.md\n"),
        ("q.md", "ignored"),
    ];
    let skipped = [
        (".git", Hidden),
        (".gitignore", Hidden),
        (".hidden", Hidden),
        (".ignore", Hidden),
        ("b.log", Ignored),
        ("build", Ignored),
        ("q.md", Ignored),
        ("sub/.gitignore", Hidden),
        ("sub/c.tmp", Ignored),
    ];
    check(&Fixture::new("sqlite", &files), &["a.md", "keep.log", "sub/d.txt"], &skipped);
}

#[test]
fn what_is_no_text_or_no_business_of_ours_is_left_out() {
    let files = [
        ("a.md", "# A\n\nText.\n"),
        ("keys/server.pem", "secret"),
        (".env", "SECRET=1"),
        ("id_rsa", "secret"),
    ];
    let mut fixture = Fixture::new("sqlite", &files);
    fixture.write("elf.py", b"\x7fELF\x02\x01\x01\0\0\0");
    fixture.write("large.txt", &[b'a'; 200]);
    fixture.options.walk.max_file_size = 100;
    let skipped = [
        (".env", Secret),
        ("elf.py", Binary),
        ("id_rsa", Secret),
        ("keys/server.pem", Secret),
        ("large.txt", TooLarge),
    ];
    check(&fixture, &["a.md"], &skipped);
}

#[test]
fn strange_names_have_ids_that_work() {
    let files = [
        ("with space.md", "x"),
        ("-rf.md", "x"),
        ("100%.md", "x"),
        ("a#L1.md", "x"),
        ("文档.md", "x"),
        ("<img src=x>.md", "x"),
        ("e\u{301}.md", "NFD"),
        ("é.md", "NFC"),
    ];
    let mut ids = [
        "with space.md",
        "-rf.md",
        "100%25.md",
        "a#L1.md",
        "文档.md",
        "<img src=x>.md",
        "e\u{301}.md",
        "é.md",
    ];
    ids.sort_unstable();
    check(&Fixture::new("sqlite", &files), &ids, &[]);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_utf8_have_ids_that_work() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::new("sqlite", &[("new\nline.md", "x")]);
    fixture.write(std::ffi::OsStr::from_bytes(b"bad\xff\xfe.md"), b"x");
    check(&fixture, &["bad%FF%FE.md", "new%0Aline.md"], &[]);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_each_says_where_it_leads() {
    use chunkwright_source::SkipReason::{Dangling, NotRegular, OutsideRoot, Symlink};
    use std::os::unix::fs::symlink;
    let fixture = Fixture::new("sqlite", &[("real.md", "x")]);
    let root = fixture.root();
    for (target, link) in [
        ("real.md", "alias.md"),
        (".", "self"),
        ("..", "up"),
        ("nowhere", "dangling.md"),
        ("two", "one"),
        ("one", "two"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    std::fs::hard_link(root.join("real.md"), root.join("hard.md")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket.md")).unwrap();
    let skipped = [
        ("alias.md", Symlink),
        ("dangling.md", Dangling),
        ("one", Symlink),
        ("self", Symlink),
        ("socket.md", NotRegular),
        ("two", Symlink),
        ("up", OutsideRoot),
    ];
    check(&fixture, &["hard.md", "real.md"], &skipped);
}

#[test]
fn a_single_file_is_named_by_its_name() {
    let fixture = Fixture::new("sqlite", &[("docs/a.md", "# A\n\nText.\n"), ("docs/b.md", "x")]);
    let path = fixture.root().join("docs/a.md");
    fixture.pipeline.index(&[path], &fixture.options, &|_| {}).unwrap();
    let report = fixture.pipeline.index(&[fixture.root().join("docs")], &fixture.options, &|_| {}).unwrap();
    assert_eq!((report.unchanged, report.indexed), (1, 1));
}

#[test]
fn paths_that_make_no_sense_are_refused_with_a_sentence() {
    let fixture = Fixture::new("sqlite", &[("docs/a.md", "x"), ("docs-2.md", "z"), ("more/a.md", "y")]);
    let index = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|path| fixture.root().join(path)).collect();
        fixture.pipeline.index(&paths, &fixture.options, &|_| {})
    };
    let error = index(&["nowhere"]).unwrap_err().to_string();
    assert!(error.ends_with("nowhere` does not exist; give a file or a folder"), "{error}");
    let overlaps = [
        &["docs/a.md", "."][..],
        &[".", "docs/a.md"],
        &["docs", "docs"],
        &["docs", "docs-2.md", "docs/a.md"],
        &["docs-2.md", "docs/a.md", "docs"],
    ];
    for paths in overlaps {
        let error = index(paths).unwrap_err().to_string();
        assert!(error.contains("lies inside"), "{error}");
    }
    let report = index(&["docs", "more"]).unwrap();
    assert_eq!((report.indexed, report.failed.len()), (1, 1));
    assert!(report.failed[0].message.contains("index these folders into two collections"));
    assert!(report.adds_up());
}
