//! Runs that follow folders: vanished documents are removed, those that may only be unavailable stay, and old
//! generations are pruned.

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use chunkwright::{ChunkConfig, Chunker, Words};
use chunkwright_index::{
    Away, FolderOptions, GenerationState, IndexOptions, IndexReport, Pipeline, Prune, Renamed, WhyAway,
};

use crate::fixture::{COLLECTION, Fixture, chunker, for_each_store, now};
use crate::pipeline::sections;

fn follow(fixture: &Fixture, paths: &[&str]) -> IndexReport {
    let options = IndexOptions { prune: Prune::Follow, ..fixture.options.clone() };
    let paths: Vec<PathBuf> = paths.iter().map(|path| fixture.root().join(path)).collect();
    let report = fixture.pipeline.index(&paths, &options, &|_| {}).unwrap();
    assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
    report
}

fn ids(fixture: &Fixture) -> Vec<String> {
    fixture.store.documents(&now(&*fixture.store)).unwrap().into_iter().map(|info| info.doc_id).collect()
}

fn away(fixture: &Fixture, folder: &str, documents: usize, why: WhyAway) -> Away {
    let folder = fixture.root().canonicalize().unwrap().join(folder);
    Away { folder: folder.to_str().unwrap().to_owned(), documents, why }
}

#[test]
fn files_and_folders_that_vanished_leave_and_a_renamed_folder_takes_its_documents_along() {
    for_each_store(|kind| {
        let texts: Vec<String> = (0..4).map(|n| sections(n * 3, n * 3 + 3)).collect();
        let names = ["a.md", "глава/b.md", "глава/c.md", "глава/d.md"];
        let files: Vec<(&str, &str)> = names.into_iter().zip(texts.iter().map(String::as_str)).collect();
        let fixture = Fixture::new(kind, &files);
        assert_eq!(follow(&fixture, &[""]).indexed, 4);
        // Three of four are in the folder that is renamed: none is lost.
        fs::rename(fixture.root().join("глава"), fixture.root().join("章")).unwrap();
        let report = follow(&fixture, &[""]);
        let renamed = |name: &str| Renamed { from: format!("глава/{name}"), to: format!("章/{name}") };
        assert_eq!(report.renamed, ["b.md", "c.md", "d.md"].map(renamed), "{kind}");
        assert_eq!((report.embedded, report.pruned.len(), &report.away), (0, 3, &vec![]), "{kind}");
        assert_eq!(ids(&fixture), ["a.md", "章/b.md", "章/c.md", "章/d.md"]);
        // The last file of a folder, and a folder with its file.
        fixture.write("more/e.md", texts[0].as_bytes());
        fixture.write("only/f.md", texts[1].as_bytes());
        follow(&fixture, &[""]);
        fixture.remove("more/e.md");
        fs::remove_dir_all(fixture.root().join("only")).unwrap();
        assert_eq!(follow(&fixture, &[""]).pruned, ["more/e.md", "only/f.md"], "{kind}");
    });
}

#[test]
fn a_folder_that_is_empty_and_was_never_touched_keeps_its_documents() {
    for_each_store(|kind| {
        let files = [("a.md", "One."), ("b.md", "Two."), ("c.md", "Three."), ("mnt/deep/d.md", "Four.")];
        let fixture = Fixture::new(kind, &files);
        follow(&fixture, &[""]);
        // As the place of a file system looks that is not mounted.
        let (place, elsewhere) = (fixture.root().join("mnt"), fixture.root().with_extension("elsewhere"));
        fs::rename(&place, &elsewhere).unwrap();
        fs::create_dir(&place).unwrap();
        for prune in [Prune::Gone, Prune::Follow, Prune::Remove, Prune::Force, Prune::Keep] {
            let options = IndexOptions { prune, ..fixture.options.clone() };
            let report = fixture.pipeline.index(&[fixture.root()], &options, &|_| {}).unwrap();
            assert_eq!(report.away, [away(&fixture, "mnt", 1, WhyAway::Empty)], "{kind} {prune:?}");
            assert_eq!((report.pruned, ids(&fixture).len()), (vec![], 4), "{kind} {prune:?}");
        }
        fs::remove_dir(&place).unwrap();
        fs::rename(&elsewhere, &place).unwrap();
        let report = follow(&fixture, &[""]);
        assert_eq!((report.unchanged, report.away), (4, vec![]), "{kind}");
        // Emptied by hand it is no such folder.
        fixture.remove("mnt/deep/d.md");
        fs::remove_dir(place.join("deep")).unwrap();
        assert_eq!(follow(&fixture, &[""]).pruned, ["mnt/deep/d.md"], "{kind}");
    });
}

#[test]
fn more_than_half_of_a_path_stay_while_the_rest_is_brought_up_to_date() {
    for_each_store(|kind| {
        let small: Vec<String> = (0..3).map(|n| format!("small/{n}.md")).collect();
        let large: Vec<String> = (0..9).map(|n| format!("large/{n}.md")).collect();
        let files: Vec<(&str, &str)> = small.iter().chain(&large).map(|name| (&**name, "Words.")).collect();
        let fixture = Fixture::new(kind, &files);
        assert_eq!(follow(&fixture, &["small", "large"]).failed.len(), 3);
        let prefix = Some("small".parse().unwrap());
        let options = IndexOptions {
            folders: FolderOptions { prefix, ..FolderOptions::default() },
            ..fixture.options.clone()
        };
        fixture.pipeline.index(&[fixture.root().join("small")], &options, &|_| {}).unwrap();
        assert_eq!(ids(&fixture).len(), 12);
        // Of both together they are few; of their own folder they are most.
        fixture.remove("small/0.md");
        fixture.remove("small/1.md");
        fixture.remove("large/8.md");
        fixture.write("small/new.md", b"Other words.");
        let report = follow(&fixture, &["small", "large"]);
        assert_eq!((report.indexed, &report.pruned), (1, &vec!["8.md".to_owned()]), "{kind}");
        assert_eq!(report.away, [away(&fixture, "small", 2, WhyAway::Most)], "{kind}");
        let options = IndexOptions { prune: Prune::Force, ..fixture.options.clone() };
        let report = fixture.pipeline.index(&[fixture.root().join("small")], &options, &|_| {}).unwrap();
        assert_eq!((report.pruned, report.away), (vec!["small/0.md".into(), "small/1.md".into()], vec![]));
    });
}

#[test]
fn a_path_that_is_missing_keeps_its_documents_and_the_others_are_followed() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("a/a.md", "One."), ("b/b.md", "Two."), ("b/c.md", "Three.")]);
        follow(&fixture, &["a", "b"]);
        let elsewhere = fixture.root().with_extension("elsewhere");
        fs::rename(fixture.root().join("a"), &elsewhere).unwrap();
        fixture.remove("b/b.md");
        let report = follow(&fixture, &["a", "b"]);
        assert_eq!((report.pruned, ids(&fixture)), (vec!["b.md".into()], vec!["a.md".into(), "c.md".into()]));
        assert_eq!(report.away, [away(&fixture, "a", 1, WhyAway::Missing)], "{kind}");
        fs::rename(fixture.root().join("b"), fixture.root().join("c")).unwrap();
        let options = IndexOptions { prune: Prune::Follow, ..fixture.options.clone() };
        let paths = ["a", "b"].map(|path| fixture.root().join(path));
        let error = fixture.pipeline.index(&paths, &options, &|_| {}).unwrap_err().to_string();
        assert!(error.ends_with("does not exist; give a file or a folder"), "{kind}: {error}");
        fs::rename(&elsewhere, fixture.root().join("a")).unwrap();
    });
}

/// The pipeline of a fixture with another configuration.
fn other(fixture: &Fixture, max_size: usize) -> Pipeline {
    let config = ChunkConfig { max_size, target_size: max_size, ..chunker().config().clone() };
    let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
    Pipeline::new(Arc::clone(&fixture.store), COLLECTION, chunker, "test").with_embedder(fixture.bag.clone())
}

#[test]
fn after_a_switch_as_many_generations_stay_as_are_to_be_kept() {
    for_each_store(|kind| {
        for (keep, kept) in [(Some(1), 1), (Some(2), 2), (Some(3), 3), (None, 4)] {
            let fixture = Fixture::new(kind, &[("a.md", &sections(0, 3)), ("б.md", &sections(3, 5))]);
            let options = IndexOptions {
                keep_generations: keep.and_then(NonZeroUsize::new),
                ..fixture.options.clone()
            };
            let paths = [fixture.root()];
            let mut dropped = Vec::new();
            for size in [120, 140, 160, 180] {
                let report = other(&fixture, size).index(&paths, &options, &|_| {}).unwrap();
                dropped.extend(report.dropped);
            }
            let left = fixture.store.collections().unwrap().remove(0).generations;
            let states: Vec<_> = left.iter().map(|it| it.state).collect();
            let mut expected = vec![GenerationState::Old; kept - 1];
            expected.push(GenerationState::Current);
            assert_eq!((states, dropped.len()), (expected, 4 - kept), "{kind} {keep:?}");
            assert!(left.iter().all(|it| !dropped.contains(&it.generation.number) && it.documents == 2));
            assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
            // What is kept is gone back to as it is; what is not is built again of what is remembered.
            fixture.bag.take_texts();
            let back = other(&fixture, 160).index(&paths, &options, &|_| {}).unwrap();
            assert_eq!(back.unchanged == 2, kept > 1, "{kind} {keep:?}: {back:?}");
            assert_eq!((back.embedded, fixture.bag.take_texts().len()), (0, 0), "{kind} {keep:?}");
            // The one that was left last is the last to go.
            let third = other(&fixture, 200).index(&paths, &options, &|_| {}).unwrap();
            let left = fixture.store.collections().unwrap().remove(0).generations;
            let before = third.switched.unwrap();
            assert_eq!(left.iter().any(|it| it.generation.number == before), kept > 1, "{kind} {keep:?}");
        }
    });
}

#[test]
fn an_unfinished_generation_is_no_generation_to_be_kept() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("a.md", &sections(0, 3))]);
        let options = IndexOptions { keep_generations: NonZeroUsize::new(2), ..fixture.options.clone() };
        let paths = [fixture.root()];
        fixture.pipeline.index(&paths, &options, &|_| {}).unwrap();
        // A generation that cannot be completed.
        fixture.bag.down.store(true, std::sync::atomic::Ordering::Relaxed);
        fixture.write("b.md", sections(7, 9).as_bytes());
        let begun = other(&fixture, 120).index(&paths, &options, &|_| {}).unwrap();
        assert!(begun.withheld.is_some() && begun.dropped.is_empty(), "{kind}");
        fixture.bag.down.store(false, std::sync::atomic::Ordering::Relaxed);
        for size in [140, 160] {
            other(&fixture, size).index(&paths, &options, &|_| {}).unwrap();
        }
        let left = fixture.store.collections().unwrap().remove(0).generations;
        let states: Vec<_> = left.iter().map(|it| it.state).collect();
        let expected = [GenerationState::Building, GenerationState::Old, GenerationState::Current];
        assert_eq!(states, expected, "{kind}");
    });
}
