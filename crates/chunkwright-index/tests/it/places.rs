//! Several folders in one collection: the folder that a file belongs to, and that no folder takes a document of
//! another.

use std::path::PathBuf;

use chunkwright_index::transfer::{Vectors, export};
use chunkwright_index::{
    DocumentInfo, FolderError, FolderOptions, IndexError, IndexOptions, IndexReport, Pipeline, Prune,
    StoreError, folders, remove_folder,
};

use crate::fixture::{COLLECTION, Fixture, chunker, for_each_store, now};

/// Folders side by side, and a store.
struct Places(Fixture);

impl Places {
    fn new(kind: &str, files: &[(&str, &str)]) -> Self {
        let places = Self(Fixture::new(kind, &[]));
        for (name, text) in files {
            places.write(name, text);
        }
        places
    }

    fn write(&self, name: &str, text: &str) {
        self.0.write(name, text.as_bytes());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.root().join(name)
    }

    /// The folder as documents name it.
    fn root(&self, name: &str) -> String {
        self.path(name).canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    fn with(&self, change: impl FnOnce(&mut IndexOptions)) -> IndexOptions {
        let mut options = self.0.options.clone();
        change(&mut options);
        options
    }

    fn try_index(&self, paths: &[&str], options: &IndexOptions) -> Result<IndexReport, IndexError> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| self.path(path)).collect();
        self.0.pipeline.index(&paths, options, &|_| {})
    }

    #[track_caller]
    fn index(&self, path: &str) -> IndexReport {
        self.run(path, |_| {})
    }

    #[track_caller]
    fn run(&self, path: &str, change: impl FnOnce(&mut IndexOptions)) -> IndexReport {
        let report = self.try_index(&[path], &self.with(change)).unwrap();
        assert!(report.adds_up(), "{report:?}");
        assert_eq!(self.0.store.check().unwrap().problems, Vec::<String>::new());
        report
    }

    #[track_caller]
    fn refused(&self, paths: &[&str], change: impl FnOnce(&mut IndexOptions)) -> FolderError {
        let before = self.everything();
        match self.try_index(paths, &self.with(change)) {
            Err(IndexError::Folders(error)) => {
                assert_eq!(self.everything(), before, "a refusal writes nothing");
                error
            }
            other => panic!("not refused: {other:?}"),
        }
    }

    fn documents(&self) -> Vec<DocumentInfo> {
        self.0.store.documents(&now(&*self.0.store)).unwrap()
    }

    fn ids(&self) -> Vec<String> {
        self.documents().into_iter().map(|info| info.doc_id).collect()
    }

    fn text(&self, doc_id: &str) -> String {
        self.0.store.document(&now(&*self.0.store), doc_id).unwrap().unwrap().source.to_string()
    }

    /// All generations with all documents; none where there is no collection.
    fn everything(&self) -> Vec<(String, Vec<DocumentInfo>)> {
        let collections = self.0.store.collections().unwrap();
        let generations = collections.into_iter().flat_map(|collection| collection.generations);
        let documents = |status: &chunkwright_index::GenerationStatus| {
            self.0.store.documents(&status.generation).unwrap()
        };
        generations.map(|status| (status.generation.to_string(), documents(&status))).collect()
    }
}

fn prefix(name: &str) -> impl FnOnce(&mut IndexOptions) {
    let prefix = name.parse().unwrap();
    |options| options.folders.prefix = Some(prefix)
}

const FILES: [(&str, &str); 4] = [
    ("a/README.md", "# 甲\n\n甲项目的说明。\n"),
    ("a/docs/guide.md", "# Guide\n\nOf the first.\n"),
    ("b/README.md", "# Б\n\nОписание второго.\n"),
    ("b/b.py", "def b():\n    return 2\n"),
];

#[test]
fn a_second_folder_with_a_document_of_the_same_id_is_refused_and_nothing_is_written() {
    for_each_store(|kind| {
        let places = Places::new(kind, &FILES);
        places.index("a");
        let error = places.refused(&["b"], |_| {});
        let (a, b) = (places.root("a"), places.root("b"));
        assert_eq!(
            error.to_string(),
            format!(
                "`{b}` has 1 document with the same id as one of `{a}`: `README.md`; index it with `--prefix NAME` (ids become `NAME/README.md`) or `--root FOLDER` (ids are relative to that folder), or with `--moved-from {a}` if it is that folder in a new place"
            )
        );
        places.refused(&["b"], |options| options.dry_run = true);
        places.refused(&["b/README.md"], |_| {});
        for n in 0..5 {
            places.write(&format!("a/{n}.md"), "text");
            places.write(&format!("b/{n}.md"), "text");
        }
        places.index("a");
        let error = places.refused(&["b"], |_| {});
        assert!(error.to_string().contains("`0.md`, `1.md`, `2.md` and 3 more; "), "{error}");
        assert_eq!(places.text("README.md"), FILES[0].1);
    });
}

#[test]
fn a_prefix_is_remembered_however_the_folder_is_given() {
    for_each_store(|kind| {
        let places = Places::new(kind, &FILES);
        places.index("a");
        assert_eq!(places.run("b", prefix("b")).indexed, 2);
        let ids = ["README.md", "b/README.md", "b/b.py", "docs/guide.md"];
        assert_eq!(places.ids(), ids, "{kind}");
        places.write("b/new/x.md", "# New\n\nA new file.\n");
        let paths = ["b", "b/.", "a/../b", "b/new", "b/new/x.md", "b/README.md"];
        for path in paths {
            assert_eq!(places.run(path, |options| options.dry_run = true).failed, [], "{kind} {path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(places.path("b"), places.path("link")).unwrap();
            assert_eq!(places.run("link", |options| options.dry_run = true).indexed, 1, "{kind}");
        }
        assert_eq!(places.index("b/new").indexed, 1);
        for path in paths {
            let report = places.index(path);
            assert_eq!((report.indexed, report.failed), (0, vec![]), "{kind} {path}");
        }
        assert_eq!(places.run("b", prefix("b")).indexed, 0);
        assert_eq!(places.ids(), ["README.md", "b/README.md", "b/b.py", "b/new/x.md", "docs/guide.md"]);
        assert_eq!([places.text("README.md"), places.text("b/README.md")], [FILES[0].1, FILES[2].1]);
        // The whole of it at once.
        assert_eq!(places.index("").indexed, 0, "{kind}");
        let known = folders(&*places.0.store, &now(&*places.0.store)).unwrap();
        let known: Vec<_> =
            known.iter().map(|folder| (&*folder.root, &*folder.prefix, folder.documents)).collect();
        assert_eq!(known, [(&*places.root("a"), "", 2), (&*places.root("b"), "b", 3)]);
    });
}

#[test]
fn pruning_a_folder_removes_nothing_of_another() {
    for_each_store(|kind| {
        let places = Places::new(kind, &FILES);
        places.write("a/docs/own.md", "text");
        places.run("b", prefix("a"));
        places.run("a/docs", prefix("manual"));
        places.run("a/docs/own.md", |_| {});
        places.index("a");
        let all = ["README.md", "a/README.md", "a/b.py", "manual/guide.md", "manual/own.md"];
        assert_eq!(places.ids(), all, "{kind}");
        for path in ["a", "a/docs", "b", "a/docs/own.md", "a/README.md"] {
            assert_eq!(places.run(path, |options| options.prune = Prune::Force).pruned, Vec::<String>::new());
        }
        std::fs::remove_file(places.path("a/docs/guide.md")).unwrap();
        std::fs::remove_file(places.path("b/b.py")).unwrap();
        let pruned = |path| places.run(path, |options| options.prune = Prune::Force).pruned;
        assert_eq!(pruned("a"), ["manual/guide.md"], "{kind}");
        assert_eq!(pruned("b"), ["a/b.py"], "{kind}");
        assert_eq!(places.ids(), ["README.md", "a/README.md", "manual/own.md"], "{kind}");
    });
}

#[test]
fn a_file_has_one_id_whichever_folder_around_it_is_indexed() {
    for_each_store(|kind| {
        let places = Places::new(
            kind,
            &[("p/docs/a.md", "# A\n\nOne.\n"), ("p/x.md", "text"), ("p/docs/q/b.md", "b")],
        );
        places.index("p/docs/a.md");
        places.index("p");
        assert_eq!(places.ids(), ["a.md", "docs/q/b.md", "x.md"], "{kind}");
        places.write("p/docs/a.md", "# A\n\nTwo.\n");
        places.write("p/docs/q/new.md", "text");
        let report = places.index("p/docs/q");
        assert_eq!((report.indexed, report.unchanged), (1, 1));
        assert_eq!(places.index("p/docs").indexed, 1);
        assert_eq!(places.index("p").indexed, 0);
        assert_eq!(places.ids(), ["a.md", "docs/q/b.md", "docs/q/new.md", "x.md"], "{kind}");
        assert!(places.text("a.md").contains("Two"));
    });
}

#[test]
fn documents_of_other_folders_are_carried_to_a_new_generation_with_their_folder() {
    for_each_store(|kind| {
        let places = Places::new(kind, &FILES);
        places.index("a");
        places.run("b", prefix("b"));
        let before: Vec<_> =
            places.documents().into_iter().map(|info| (info.doc_id, info.root, info.prefix)).collect();
        let other = Pipeline::new(places.0.store.clone(), COLLECTION, chunker(), "test").with_summaries(true);
        let report = other.index(&[places.path("a")], &places.0.options, &|_| {}).unwrap();
        assert_eq!((report.carried, report.switched.is_some(), report.withheld), (2, true, None), "{kind}");
        let after: Vec<_> =
            places.documents().into_iter().map(|info| (info.doc_id, info.root, info.prefix)).collect();
        assert_eq!(after, before, "{kind}");
        let report = other.index(&[places.path("b")], &places.0.options, &|_| {}).unwrap();
        assert_eq!((report.indexed, report.unchanged), (0, 2), "{kind}");
        // Begun anew, a folder of the same ids is refused too.
        places.write("c/README.md", "text");
        assert!(matches!(
            places.0.pipeline.index(&[places.path("c")], &places.0.options, &|_| {}),
            Err(IndexError::Folders(FolderError::Taken { .. }))
        ));
    });
}

#[test]
fn a_root_or_a_prefix_that_gives_the_same_ids_is_no_other_folder() {
    for_each_store(|kind| {
        let places = Places::new(kind, &FILES);
        places.index("a");
        places.run("b", prefix("lib"));
        let before: Vec<_> = places.documents();
        let same = |path: &str, root: &str, prefix: Option<&str>| {
            let folders = FolderOptions {
                root: Some(places.path(root)),
                prefix: prefix.map(|prefix| prefix.parse().unwrap()),
                moved_from: None,
            };
            let report = places.run(path, |options| (options.folders, options.rehash) = (folders, true));
            assert_eq!((report.indexed, report.unchanged > 0), (0, true), "{kind} {path}");
        };
        same("a/docs/guide.md", "a", None);
        same("a/docs", "a", None);
        same("b/README.md", "b", Some("lib"));
        places.write("a/docs/new.md", "text");
        places.index("a/docs");
        let of = |info: &DocumentInfo| (info.doc_id.clone(), info.root.clone(), info.prefix.clone());
        let after: Vec<_> = places.documents().iter().map(of).collect();
        assert!(before.iter().all(|info| after.contains(&of(info))), "{kind}");
        assert!(after.contains(&("docs/new.md".into(), places.root("a"), String::new())), "{kind}");
        let root = |folder: &str| Some(places.path(folder));
        let other = places.refused(&["a/docs/guide.md"], |options| options.folders.root = root(""));
        assert!(matches!(other, FolderError::Prefixed { .. }), "{other}");
    });
}

#[test]
fn a_folder_that_was_moved_keeps_its_documents() {
    for_each_store(|kind| {
        let places = Places::new(kind, &FILES);
        places.run("b", prefix("lib"));
        places.index("a");
        let (from, ids) = (places.root("b"), places.ids());
        std::fs::rename(places.path("b"), places.path("c")).unwrap();
        std::fs::remove_file(places.path("c/b.py")).unwrap();
        places.write("c/new.md", "# New\n\nWritten after the move.\n");
        let report = places.run("c", |options| options.dry_run = true);
        assert_eq!((report.moved_folders[0].from.as_str(), places.ids()), (from.as_str(), ids), "{kind}");
        let report = places.index("c");
        assert_eq!(report.moved_folders.len(), 1, "{kind}");
        assert_eq!(
            (report.moved_folders[0].to.clone(), report.moved_folders[0].documents),
            (places.root("c"), 2)
        );
        assert_eq!(report.pruned, ["lib/b.py"], "{kind}");
        assert_eq!(places.ids(), ["README.md", "docs/guide.md", "lib/README.md", "lib/new.md"]);
        let lib = places.documents().into_iter().filter(|info| info.prefix == "lib");
        assert!(lib.clone().count() == 2 && lib.clone().all(|info| info.root == places.root("c")), "{kind}");
    });
}

#[test]
fn a_copy_of_a_folder_takes_its_place_when_it_is_told_to() {
    for_each_store(|kind| {
        let places = Places::new(kind, &FILES);
        places.index("a");
        for (name, text) in &FILES[..2] {
            places.write(&name.replacen("a/", "copy/", 1), text);
        }
        assert!(matches!(places.refused(&["copy"], |_| {}), FolderError::Taken { .. }));
        let from = |from: &str| {
            let from = Some(places.path(from));
            |options: &mut IndexOptions| options.folders.moved_from = from
        };
        let error = places.refused(&["copy"], from("nowhere"));
        assert!(error.to_string().contains(&format!("known are `{}`", places.root("a"))), "{error}");
        for moved in [1, 0] {
            assert_eq!(places.run("copy", from("a")).moved_folders.len(), moved, "{kind}");
            assert!(places.documents().iter().all(|info| info.root == places.root("copy")), "{kind}");
        }
        // And now the first is the other one.
        assert!(matches!(places.refused(&["a"], |_| {}), FolderError::Taken { .. }));
        assert_eq!(places.ids(), ["README.md", "docs/guide.md"], "{kind}");
    });
}

#[test]
fn another_folder_in_place_of_one_that_is_gone_is_not_taken_for_it() {
    for_each_store(|kind| {
        let places = Places::new(kind, &FILES);
        places.index("a");
        std::fs::rename(places.path("a"), places.path("unmounted")).unwrap();
        let Err(IndexError::Folders(error)) = places.try_index(&["b"], &places.0.options) else {
            panic!("{kind}: not refused");
        };
        assert!(matches!(error, FolderError::Taken { .. }), "{error}");
        assert_eq!(places.text("README.md"), FILES[0].1, "{kind}");
    });
}

#[test]
fn a_folder_has_one_prefix_until_its_documents_are_removed() {
    for_each_store(|kind| {
        let places = Places::new(kind, &FILES);
        places.run("a", prefix("x"));
        for change in ["y", "x/y"] {
            let error = places.refused(&["a"], prefix(change));
            assert!(error.to_string().contains("2 documents of"), "{error}");
            assert!(error.to_string().contains("with the prefix `x`; "), "{error}");
        }
        places.refused(&["a/docs"], prefix("manual"));
        places.refused(&["a/README.md"], prefix("y"));
        let removed =
            remove_folder(&*places.0.store, &now(&*places.0.store), &places.path("a"), false).unwrap();
        assert_eq!(removed.len(), 2);
        assert_eq!(places.run("a", prefix("y")).indexed, 2);
        assert_eq!(places.ids(), ["y/README.md", "y/docs/guide.md"], "{kind}");
    });
}

#[test]
fn ids_can_be_relative_to_a_folder_around_the_paths() {
    for_each_store(|kind| {
        let places = Places::new(kind, &FILES);
        let root = |options: &mut IndexOptions| {
            options.folders = FolderOptions { root: Some(places.path("")), ..FolderOptions::default() };
        };
        let report = places.try_index(&["a", "b/README.md"], &places.with(root)).unwrap();
        assert_eq!((report.indexed, report.failed.len()), (3, 0), "{kind}");
        assert_eq!(places.ids(), ["a/README.md", "a/docs/guide.md", "b/README.md"], "{kind}");
        assert_eq!(places.index("a").indexed, 0);
        assert_eq!(places.run("b", root).indexed, 1);
        let error = places.refused(&["b"], |options| options.folders.root = Some(places.path("a")));
        assert!(error.to_string().contains("is not inside"), "{error}");
        assert!(matches!(
            places.refused(&["b"], |options| options.folders.root = Some(places.path("nowhere"))),
            FolderError::Root { .. }
        ));
    });
}

#[test]
fn a_new_file_with_the_id_of_another_folders_document_fails_alone() {
    for_each_store(|kind| {
        let places = Places::new(kind, &FILES);
        places.index("a");
        places.run("b", prefix("b"));
        places.write("a/b/README.md", "another text");
        places.write("a/c.md", "a new text");
        let report = places.index("a");
        assert_eq!((report.indexed, report.failed.len()), (1, 1), "{kind}");
        assert!(report.failed[0].message.contains(&places.root("b")), "{report:?}");
        assert_eq!(places.text("b/README.md"), FILES[2].1, "{kind}");
        // It keeps no new generation from being complete.
        let other = Pipeline::new(places.0.store.clone(), COLLECTION, chunker(), "test").with_summaries(true);
        let report = other.index(&[places.path("a")], &places.0.options, &|_| {}).unwrap();
        assert_eq!((report.failed.len(), report.withheld), (1, None), "{kind}");
        assert_eq!(places.text("b/README.md"), FILES[2].1, "{kind}");
    });
}

#[test]
fn what_is_exported_is_of_its_folder_where_it_is_imported() {
    for_each_store(|kind| {
        let places = Places::new("memory", &FILES);
        places.run("a", prefix("x"));
        let other = Places::new(kind, &[]);
        let mut rows = Vec::new();
        export::<StoreError>(&*places.0.store, &now(&*places.0.store), Vectors::Moved, &mut |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
        crate::transfer::import(&*other.0.store, rows).unwrap();
        let report = other.0.pipeline.index(&[places.path("a")], &other.0.options, &|_| {}).unwrap();
        assert_eq!((report.unchanged, report.indexed), (2, 0), "{kind}");
        assert_eq!(other.ids(), ["x/README.md", "x/docs/guide.md"], "{kind}");
    });
}

#[test]
fn records_without_a_folder_belong_to_the_file_with_their_text_and_to_no_other() {
    let places = Places::new("memory", &FILES);
    places.index("a");
    for (folder, is_taken) in [("a", false), ("b", true)] {
        let other = Places::new("memory", &[]);
        let mut rows = Vec::new();
        export::<StoreError>(&*places.0.store, &now(&*places.0.store), Vectors::Moved, &mut |mut row| {
            row.document = None;
            rows.push(row);
            Ok(())
        })
        .unwrap();
        crate::transfer::import(&*other.0.store, rows).unwrap();
        let report = other.0.pipeline.index(&[places.path(folder)], &other.0.options, &|_| {});
        match report {
            Ok(report) => assert!(!is_taken && report.failed.is_empty(), "{folder} {report:?}"),
            Err(error) => assert!(
                is_taken && error.to_string().contains("the documents that are of no folder: `README.md`"),
                "{folder} {error}"
            ),
        }
    }
}

#[test]
fn two_runs_at_once_never_put_a_document_in_place_of_anothers() {
    let places = Places::new("memory", &FILES);
    let index = |name: &str| places.try_index(&[name], &places.0.options);
    let (a, b) = std::thread::scope(|scope| {
        let a = scope.spawn(|| index("a"));
        let b = index("b");
        (a.join().unwrap(), b)
    });
    // Whichever was first has it, and the other says so.
    let refused = [&a, &b]
        .into_iter()
        .filter(|report| report.as_ref().map_or(true, |report| !report.failed.is_empty()));
    assert_eq!(refused.count(), 1, "{a:?} {b:?}");
}
