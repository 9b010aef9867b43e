//! Files that appear whole or not at all.

use std::fs;
use std::io::Write as _;

use chunkwright_index::atomic_file::{AtomicFile, FileId, lies_in, unfinished};
use tempfile::TempDir;

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("results");
    for (before, persist, after) in [
        (None, false, None),
        (None, true, Some("new")),
        (Some("old"), false, Some("old")),
        (Some("old"), true, Some("new")),
    ] {
        let _ = fs::remove_file(&path);
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert!(unfinished().contains(&path));
        if persist {
            file.persist().unwrap();
        } else {
            drop(file);
        }
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), after);
        assert!(!unfinished().contains(&path));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), usize::from(after.is_some()));
    }
    let file = AtomicFile::create(&path).unwrap();
    assert_eq!(file.persist_new().unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_lies_in_a_folder_is_told_by_the_folder_and_not_by_its_name() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("store/inner")).unwrap();
    fs::write(at("store/file"), "").unwrap();
    for (path, expected) in [
        ("store/file", true),
        ("store/not-there", true),
        ("store/inner/x/y", true),
        ("store/../store/x", true),
        ("store/../x", false),
        ("storex", false),
        ("store", false),
    ] {
        assert_eq!(lies_in(&at(path), &at("store")), expected, "{path}");
        assert_eq!(lies_in(&at(path), &at("store/../store/")), expected, "{path}");
        let later = path.replace("store", "later");
        // A folder that is to be one may not become a file.
        if !later.contains("..") {
            assert_eq!(lies_in(&at(&later), &at("later")), expected || later == "later", "{later}");
        }
    }
    fs::hard_link(at("store/file"), at("hard")).unwrap();
    assert_eq!(FileId::of(&at("hard")).is_some(), FileId::of(&at("store/file")).is_some());
    #[cfg(unix)]
    assert_eq!(FileId::of(&at("hard")), FileId::of(&at("store/file")));
}
