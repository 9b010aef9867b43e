//! Damaged store files: bits flipped, ends cut off, zeroed, missing.
//!
//! Whatever was done to a file, a reader either gets an error or reads exactly what was stored; and indexing into a new
//! store always works.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use chunkwright_index::atomic_file::Existing;
use chunkwright_index::{
    Access, Damaged, DocumentStore, GenerationStore, Mode, Models, SearchOptions, SqliteStore, Store,
    StoreError, search,
};

use crate::crash::Random;
use crate::fixture::{COLLECTION, Fixture};

/// What is read of a store: every text and what is found.
type Seen = Vec<String>;

fn see(fixture: &Fixture, folder: &Path, access: Access) -> Result<Seen, StoreError> {
    let store = SqliteStore::open(folder, access)?;
    let problems = store.check()?.problems;
    if let Some(problem) = problems.into_iter().next() {
        return Err(StoreError::Damaged { problem });
    }
    let generation = store.open(COLLECTION)?;
    let mut seen = Seen::new();
    for info in store.documents(&generation)? {
        seen.push(store.document(&generation, &info.doc_id)?.unwrap().source.to_string());
        seen.extend(store.records(&generation, &info.doc_id)?.into_iter().map(|record| record.text));
    }
    let options = SearchOptions { mode: Mode::Hybrid, top_k: 20, ..SearchOptions::default() };
    let found = search(&store, &generation, Models::embedder(&*fixture.bag), "apples and pears", &options);
    let found = found.map_err(|error| StoreError::Damaged { problem: error.to_string() })?;
    seen.extend(found.hits.into_iter().map(|hit| format!("{} {}", hit.record.chunk_id, hit.record.text)));
    Ok(seen)
}

#[test]
fn a_damaged_file_is_told_of_or_does_no_harm() {
    let text = |word: &str| {
        (0..12).map(|n| format!("# {word} {n}\n\nThis speaks of {word} in {n} words.\n\n")).collect()
    };
    let (apples, pears): (String, String) = (text("apples"), text("pears"));
    let fixture = Fixture::new("sqlite", &[("a.md", &apples), ("b.md", &pears)]);
    fixture.index();
    let whole = tempfile::tempdir().unwrap();
    // One file, as after the end of a process; then with a log beside it, as after a kill.
    fixture_copy(&fixture, whole.path(), true);
    let before = see(&fixture, whole.path(), Access::Read).unwrap();
    let hot = tempfile::tempdir().unwrap();
    fixture_copy(&fixture, hot.path(), false);
    let mut random = Random(20_260_103);
    let (mut told, mut harmless) = (0, 0);
    for template in [whole.path(), hot.path()] {
        for entry in fs::read_dir(template).unwrap() {
            let name = entry.unwrap().file_name();
            let bytes = fs::read(template.join(&name)).unwrap();
            for damage in 0..60 {
                let folder = tempfile::tempdir().unwrap();
                for other in fs::read_dir(template).unwrap() {
                    let other = other.unwrap();
                    fs::copy(other.path(), folder.path().join(other.file_name())).unwrap();
                }
                let at = random.below(bytes.len() as u64 + 1) as usize;
                // Most of a page is empty; what is written there is never read.
                let empty = bytes[at..].iter().take_while(|byte| **byte == 0).count();
                let at = if damage % 6 > 2 { at + empty } else { at };
                let mut damaged = bytes.clone();
                let what = match damage % 6 {
                    0 if damage == 0 => "removed",
                    0 => "cut off",
                    1 => "zeros from there",
                    2 => "noise from there",
                    _ => "a bit",
                };
                let rest = &mut damaged[at..];
                match what {
                    "cut off" => damaged.truncate(at),
                    "zeros from there" => rest.iter_mut().take(4096).for_each(|byte| *byte = 0),
                    "noise from there" => {
                        for byte in rest.iter_mut().take(512) {
                            *byte = random.below(256) as u8;
                        }
                    }
                    "a bit" => {
                        if let Some(byte) = rest.first_mut() {
                            *byte ^= 1 << random.below(8);
                        }
                    }
                    _ => {}
                }
                let path = folder.path().join(&name);
                if what == "removed" {
                    fs::remove_file(&path).unwrap();
                } else {
                    fs::write(&path, &damaged).unwrap();
                }
                let access = if damage % 2 == 0 { Access::Write } else { Access::Read };
                let place = format!("{} {what} {at} {access:?}", name.display());
                let seen = catch_unwind(AssertUnwindSafe(|| see(&fixture, folder.path(), access)));
                match seen.unwrap_or_else(|_| panic!("{place}: a panic")) {
                    Ok(seen) => {
                        // Of a log that ends early, what was committed before is there: no file says that there was more.
                        let is_log = name.to_string_lossy().ends_with("-wal");
                        let whole: BTreeSet<&String> = before.iter().collect();
                        assert!(
                            seen == before || is_log && seen.iter().all(|text| whole.contains(text)),
                            "{place}: {seen:?}"
                        );
                        harmless += 1;
                    }
                    Err(error) => {
                        let error = error.to_string();
                        assert!(!error.is_empty() && !error.contains('\n'), "{place}: {error}");
                        told += 1;
                    }
                }
            }
        }
    }
    println!("{told} damages were told of, {harmless} did no harm");
    assert!(told > 50 && harmless > 50, "{told} {harmless}");
}

/// Copies the store: as one file, or as it lies while it is open.
fn fixture_copy(fixture: &Fixture, to: &Path, is_one_file: bool) {
    if is_one_file {
        let copy = to.join("copy.db");
        SqliteStore::open(&fixture.store_path(), Access::Read)
            .unwrap()
            .backup(&copy, Existing::Kept)
            .unwrap();
        SqliteStore::restore(&copy, &to.join("store"), Damaged::Refused).unwrap();
        for entry in fs::read_dir(to.join("store")).unwrap() {
            let entry = entry.unwrap();
            fs::rename(entry.path(), to.join(entry.file_name())).unwrap();
        }
        fs::remove_dir(to.join("store")).unwrap();
        fs::remove_file(copy).unwrap();
        return;
    }
    for entry in fs::read_dir(fixture.store_path()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_database_without_a_byte_beside_a_lock_is_damage_and_not_a_new_store() {
    let fixture = Fixture::new("sqlite", &[("a.md", "# Apples\n\nApples are red.\n")]);
    fixture.index();
    let copy = tempfile::tempdir().unwrap();
    fixture_copy(&fixture, copy.path(), false);
    fs::write(copy.path().join(SqliteStore::FILE), b"").unwrap();
    for access in [Access::Read, Access::Write] {
        let error = SqliteStore::open(copy.path(), access).unwrap_err();
        assert!(matches!(error, StoreError::Empty { .. }), "{access:?}: {error}");
        assert_eq!(fs::metadata(copy.path().join(SqliteStore::FILE)).unwrap().len(), 0, "{access:?}");
    }
    fs::remove_file(copy.path().join(SqliteStore::FILE)).unwrap();
    assert!(matches!(SqliteStore::open(copy.path(), Access::Read), Err(StoreError::Missing { .. })));
}

#[test]
fn one_damaged_document_makes_no_backup_useless() {
    let fixture = Fixture::new(
        "sqlite",
        &[("a.md", "# Apples\n\nApples are red.\n"), ("b.md", "# Pears\n\nPears are green.\n")],
    );
    fixture.index();
    let store = SqliteStore::open(&fixture.store_path(), Access::Read).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let sound = store.backup(&folder.path().join("sound.db"), Existing::Kept).unwrap();
    assert_eq!((sound.documents, sound.problems.len()), (2, 0));
    drop(store);
    // A record that is not the text's, as a program with a bug might have stored it.
    crate::verify::write_changed(&fixture, "a.md", &|record| record["start_line"] = 7.into()).unwrap();
    let store = SqliteStore::open(&fixture.store_path(), Access::Read).unwrap();
    let copy = folder.path().join("copy.db");
    let report = store.backup(&copy, Existing::Kept).unwrap();
    assert_eq!(report.damaged.iter().map(|document| document.doc_id.as_str()).collect::<Vec<_>>(), ["a.md"]);
    let target = folder.path().join("restored");
    let error = SqliteStore::restore(&copy, &target, Damaged::Refused).unwrap_err().to_string();
    assert!(error.contains("document `a.md`") && error.contains("`start_line` is `7`"), "{error}");
    assert!(error.contains("--without-damaged") && !target.join(SqliteStore::FILE).exists(), "{error}");
    let left_out = SqliteStore::restore(&copy, &target, Damaged::LeftOut).unwrap();
    assert_eq!(left_out.damaged.len(), 1);
    let restored = SqliteStore::open(&target, Access::Write).unwrap();
    assert_eq!(restored.check().unwrap().problems, Vec::<String>::new());
    let documents = restored.documents(&restored.open(COLLECTION).unwrap()).unwrap();
    assert_eq!(documents.iter().map(|info| info.doc_id.as_str()).collect::<Vec<_>>(), ["b.md"]);
    for (what, bytes) in [("empty", &b""[..]), ("noise", b"this is not a database at all")] {
        let file = folder.path().join(what);
        fs::write(&file, bytes).unwrap();
        let error = SqliteStore::restore(&file, &folder.path().join("none"), Damaged::LeftOut).unwrap_err();
        assert!(matches!(error, StoreError::NotABackup { .. }), "{what}: {error}");
    }
}
