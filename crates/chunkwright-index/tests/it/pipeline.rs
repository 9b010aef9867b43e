//! Runs of the pipeline: what they write, keep, embed and remove.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright_index::{
    Access, Away, Duplicates, Expand, Expansion, FetchError, FetchOptions, GenerationState, IndexReport,
    Mode, Models, Pipeline, Prune, Renamed, STORES, SearchOptions, StoreError, StoreLocation, WhyAway, fetch,
    search,
};

use crate::fixture::{Bag, COLLECTION, Fixture, POISON, chunker, for_each_store, now};

/// A word for a number, without digits, which the analysis would divide off.
fn word(n: usize) -> String {
    const SYLLABLES: [&str; 10] = ["ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu"];
    n.to_string().bytes().map(|digit| SYLLABLES[usize::from(digit - b'0')]).chain(["k"]).collect()
}

/// Sections whose words tell them apart.
pub(crate) fn sections(from: usize, to: usize) -> String {
    let section = |n| {
        let word = word(n);
        format!(
            "## The {word} section\n\nThis text speaks of {word} and of nothing else at all, at some length.\n\n"
        )
    };
    (from..to).map(section).collect()
}

fn lexical() -> SearchOptions {
    SearchOptions { mode: Mode::Lexical, ..SearchOptions::default() }
}

#[test]
fn only_texts_that_changed_are_embedded_again() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("a.md", &sections(0, 20)), ("b.md", &sections(20, 40))]);
        let first = fixture.index();
        assert_eq!((first.indexed, first.embedded, first.reused), (2, first.chunks, 0));
        fixture.bag.take_texts();
        let edited = format!("A new first line.\n\n{}", sections(0, 20)).replace("mik", "somethingelse");
        fixture.write("a.md", edited.as_bytes());
        let second = fixture.index();
        assert_eq!((second.indexed, second.unchanged), (1, 1));
        let texts = fixture.bag.take_texts();
        assert_eq!(texts.len(), second.embedded);
        assert!(second.embedded <= 3 && texts.iter().any(|text| text.contains("somethingelse")), "{texts:?}");
        assert_eq!(second.reused + second.embedded, second.chunks);
        assert!(fixture.search("mik", &lexical()).is_empty());
        // Nothing is stale, and what only moved says where it stands now.
        assert_eq!(fixture.search("somethingelse", &lexical()).len(), 1);
        let moved = fetch(&*fixture.store, &now(&*fixture.store), "a.md", FetchOptions::default()).unwrap();
        assert_eq!(moved.bytes().unwrap(), edited.as_bytes());
        for record in &moved.records {
            assert_eq!(record.content, edited[record.start_byte as usize..record.end_byte as usize]);
            let lines: Vec<&str> = edited
                .lines()
                .skip(record.start_line as usize - 1)
                .take((record.end_line - record.start_line + 1) as usize)
                .collect();
            assert!(lines.join("\n").contains(record.content.trim()));
        }
    });
}

fn bytes_of(path: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap())
        // Readers coordinate in this one; it holds no data.
        .filter(|entry| !entry.file_name().to_string_lossy().ends_with("-shm"))
        .map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn an_unchanged_run_writes_nothing() {
    let fixture =
        Fixture::new("sqlite", &[("a.md", &sections(0, 5)), ("empty.md", ""), ("blank.md", "\n \n")]);
    let first = fixture.index();
    assert_eq!((first.indexed, first.empty), (1, 2));
    let before = bytes_of(&fixture.store_path());
    let second = fixture.try_index().unwrap();
    assert_eq!((second.unchanged, second.indexed, second.empty), (3, 0, 0));
    assert!(bytes_of(&fixture.store_path()) == before);
}

/// When a file was modified, in nanoseconds since 1970.
fn modified(path: &Path) -> i64 {
    let modified = std::fs::metadata(path).unwrap().modified().unwrap();
    modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64
}

#[test]
fn a_dry_run_counts_and_writes_nothing() {
    let mut fixture = Fixture::new("sqlite", &[("a.md", &sections(0, 5)), ("empty.md", "")]);
    fixture.options.started = modified(&fixture.root().join("a.md")) + 1_000_000_000;
    let before = bytes_of(&fixture.store_path());
    fixture.options.dry_run = true;
    let counted = fixture.try_index().unwrap();
    assert!(bytes_of(&fixture.store_path()) == before);
    assert!(fixture.bag.take_texts().is_empty());
    fixture.options.dry_run = false;
    let written = fixture.index();
    assert_eq!(IndexReport { generation: None, ..written }, counted);
    // By now the times of the files can be trusted. A run notes that of each file, a dry run does not.
    fixture.options.started += 60_000_000_000;
    let before = bytes_of(&fixture.store_path());
    fixture.options.dry_run = true;
    assert_eq!(fixture.try_index().unwrap().unchanged, 2);
    assert!(bytes_of(&fixture.store_path()) == before);
    fixture.options.dry_run = false;
    assert_eq!(fixture.try_index().unwrap().unchanged, 2);
    assert!(bytes_of(&fixture.store_path()) != before);
}

#[test]
fn a_failing_embedder_loses_no_text_and_is_asked_again_next_time() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("a.md", &sections(0, 300)), ("b.md", &sections(300, 310))]);
        fixture.bag.down.store(true, Ordering::Relaxed);
        let first = fixture.index();
        assert_eq!((first.indexed, first.embedded, first.pending), (2, 0, first.chunks));
        assert!(first.embed_error.unwrap().ends_with("the bag is torn"));
        assert_eq!(fixture.bag.calls.load(Ordering::Relaxed), 2);
        assert_eq!(fixture.search("mik", &lexical()).len(), 1);
        // Still down: nothing new to store.
        let second = fixture.index();
        assert_eq!((second.indexed, second.unchanged, second.pending), (0, 2, first.chunks));
        fixture.bag.down.store(false, Ordering::Relaxed);
        let third = fixture.index();
        assert_eq!((third.indexed, third.embedded, third.pending), (2, first.chunks, 0));
        let dense = SearchOptions { mode: Mode::Dense, ..lexical() };
        assert_eq!(fixture.search("mik", &dense).len(), 5);
        assert_eq!(fixture.index().unchanged, 2);
    });
}

#[test]
fn a_text_without_a_vector_costs_no_other_text_its_own() {
    for_each_store(|kind| {
        let text = sections(0, 20).replace(" lek ", &format!(" {POISON} "));
        let fixture = Fixture::new(kind, &[("a.md", &text)]);
        let report = fixture.index();
        assert_eq!((report.pending, report.embedded), (1, report.chunks - 1));
        assert_eq!(fixture.search(POISON, &lexical()).len(), 1);
        assert_eq!(fixture.index().unchanged, 1);
    });
}

#[test]
fn a_document_that_becomes_empty_leaves_no_chunks() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("a.md", &sections(0, 2))]);
        fixture.index();
        fixture.write("a.md", b"");
        let report = fixture.index();
        assert_eq!(report.empty, 1);
        assert!(fixture.search("cek", &lexical()).is_empty());
        fixture.write("a.md", sections(0, 2).as_bytes());
        assert_eq!(fixture.index().indexed, 1);
        assert!(!fixture.search("cek", &lexical()).is_empty());
    });
}

#[test]
fn documents_go_with_their_files_and_stay_where_a_run_leaves_files_out() {
    for_each_store(|kind| {
        let names = ["a.md", "b.md", "c.md", "sub/d.md", "sub/e.md", "sub/f.py"];
        let files: Vec<(&str, &str)> =
            names.iter().map(|name| (*name, "# Same\n\nThe same text.\n")).collect();
        let mut fixture = Fixture::new(kind, &files);
        let ids = |fixture: &Fixture| -> Vec<String> {
            let documents = fixture.store.documents(&now(&*fixture.store)).unwrap();
            documents.into_iter().map(|info| info.doc_id).collect()
        };
        let folder = fixture.root().to_string_lossy().into_owned();
        let away = |documents, why| vec![Away { folder: folder.clone(), documents, why }];
        fixture.index();
        fixture.remove("a.md");
        fixture.options.prune = Prune::Keep;
        assert_eq!(fixture.index().away, away(1, WhyAway::Kept), "{kind}");
        // A file alone, and a folder inside, remove no neighbour.
        fixture.options.prune = Prune::default();
        for path in ["b.md", "sub"] {
            let report =
                fixture.pipeline.index(&[fixture.root().join(path)], &fixture.options, &|_| {}).unwrap();
            assert_eq!((report.pruned, report.away), (vec![], vec![]), "{kind} {path}");
        }
        assert_eq!(fixture.index().pruned, ["a.md"], "{kind}");
        // Equal files are documents of their own: the others are still there.
        let all = SearchOptions { duplicates: Duplicates::Keep, ..lexical() };
        assert_eq!(fixture.search("same text", &all).len(), 5, "{kind}");
        // More than half are gone: they stay, and the rest is brought up to date.
        for name in ["b.md", "c.md", "sub/d.md"] {
            fixture.remove(name);
        }
        fixture.write("sub/e.md", b"# Other\n\nOther words.\n");
        for prune in [Prune::Gone, Prune::Remove] {
            fixture.options.prune = prune;
            let report = fixture.index();
            assert_eq!((report.pruned, report.away), (vec![], away(3, WhyAway::Most)), "{kind} {prune:?}");
        }
        assert_eq!(fixture.search("other", &all).len(), 1, "{kind}");
        fixture.options.prune = Prune::Force;
        assert_eq!(fixture.index().pruned, ["b.md", "c.md", "sub/d.md"], "{kind}");
        // A file that is there and left out keeps its document, until everything else is to go.
        fixture.write(".ignore", b"*.py\n");
        fixture.options.prune = Prune::Gone;
        let report = fixture.index();
        assert_eq!((report.pruned, report.away), (vec![], away(1, WhyAway::LeftOut)), "{kind}");
        fixture.options.prune = Prune::Remove;
        assert_eq!(fixture.index().pruned, ["sub/f.py"], "{kind}");
        assert_eq!(ids(&fixture), ["sub/e.md"], "{kind}");
    });
}

#[test]
fn of_equal_texts_one_is_shown_whose_file_exists() {
    for_each_store(|kind| {
        let text = "# Same\n\nThe same text.\n";
        let mut fixture = Fixture::new(kind, &[("a.md", text), ("b.md", text), ("c.md", "Other words.")]);
        fixture.options.prune = Prune::Keep;
        fixture.index();
        let shown = |fixture: &Fixture| {
            let embedder = Models::embedder(&*fixture.bag);
            let generation = now(&*fixture.store);
            let answer = search(&*fixture.store, &generation, embedder, "same text", &lexical()).unwrap();
            let [hit] = answer.hits.as_slice() else { panic!("{kind}: {} hits", answer.hits.len()) };
            assert_eq!((hit.rank, hit.duplicates.len()), (1, 1), "{kind}");
            let other = hit.duplicates_at[0].split('#').next().unwrap().to_owned();
            (hit.record.doc_id.clone(), other)
        };
        let (first, other) = shown(&fixture);
        fixture.remove(&first);
        assert_eq!(shown(&fixture), (other.clone(), first.clone()), "{kind}");
        // Where none exists, as for a collection of another machine, the better one is.
        fixture.remove(&other);
        assert_eq!(shown(&fixture), (first, other), "{kind}");
    });
}

#[test]
fn pruning_stays_within_the_paths_scanned() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(kind, &[("docs/a.md", "x"), ("docs/b.md", "x"), ("src/c.md", "x")]);
        let index = |fixture: &Fixture, name: &str| {
            fixture.pipeline.index(&[fixture.root().join(name)], &fixture.options, &|_| {}).unwrap()
        };
        index(&fixture, "docs");
        index(&fixture, "src");
        fixture.options.prune = Prune::Remove;
        fixture.remove("docs/a.md");
        assert_eq!(index(&fixture, "src").pruned, Vec::<String>::new());
        assert_eq!(index(&fixture, "docs").pruned, ["a.md"]);
        assert_eq!(fixture.store.documents(&now(&*fixture.store)).unwrap().len(), 2);
    });
}

#[test]
fn another_configuration_cuts_everything_again() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("a.md", &sections(0, 3))]);
        fixture.index();
        let before = fixture.store.records(&now(&*fixture.store), "a.md").unwrap();
        let config =
            chunkwright::ChunkConfig { max_size: 120, target_size: 100, ..chunker().config().clone() };
        let other = chunkwright::Chunker::new(config, Arc::new(chunkwright::Words)).unwrap();
        let other = Pipeline::new(Arc::clone(&fixture.store), COLLECTION, other, "test")
            .with_embedder(fixture.bag.clone());
        let report = other.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        assert_eq!(report.indexed, 1);
        let records = fixture.store.records(&now(&*fixture.store), "a.md").unwrap();
        assert_eq!(records.len(), report.chunks);
        assert_ne!(records, before);
        // Going back restores what was, which is still there.
        let back = fixture.index();
        assert_eq!((back.indexed, back.unchanged, back.switched), (0, 1, report.generation));
        assert_eq!(fixture.store.records(&now(&*fixture.store), "a.md").unwrap(), before);
    });
}

#[test]
fn a_file_that_was_moved_and_edited_is_told_as_renamed_and_embeds_what_was_edited() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(kind, &[("a.md", &sections(0, 5)), ("b.md", &sections(5, 7))]);
        fixture.index();
        fixture.options.prune = Prune::Remove;
        fixture.remove("a.md");
        fixture.write("c.md", format!("{}\n# New\n\nNothing like it before.\n", sections(0, 5)).as_bytes());
        fixture.write("d.md", b"# Other\n\nThis one says something else.\n");
        let second = fixture.index();
        assert_eq!(second.renamed, [Renamed { from: "a.md".into(), to: "c.md".into() }]);
        assert_eq!((second.indexed, second.embedded), (2, 2));
        assert_eq!(fixture.index().renamed, []);
    });
}

#[test]
fn a_file_that_was_moved_is_one_document_and_keeps_its_vectors() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(kind, &[("a.md", &sections(0, 5)), ("b.md", &sections(5, 7))]);
        let first = fixture.index();
        fixture.options.prune = Prune::Remove;
        std::fs::rename(fixture.root().join("a.md"), fixture.root().join("c.md")).unwrap();
        let second = fixture.index();
        assert_eq!((second.indexed, second.unchanged, second.embedded), (1, 1, 0));
        assert_eq!(second.pruned, ["a.md"]);
        assert_eq!(second.renamed, [Renamed { from: "a.md".into(), to: "c.md".into() }]);
        assert_eq!(fixture.index().renamed, []);
        assert_eq!(fixture.store.collections().unwrap()[0].generations[0].chunks, first.chunks);
        assert_eq!(fixture.search("cek", &lexical()).len(), 1);
    });
}

#[test]
fn any_number_of_files_is_indexed_once() {
    for count in [127, 128, 129, 384] {
        let fixture = Fixture::new("sqlite", &[]);
        for n in 0..count {
            fixture.write(format!("{n:03}.txt"), word(n).as_bytes());
        }
        assert_eq!(fixture.index().indexed, count);
        let second = fixture.index();
        assert_eq!((second.unchanged, second.indexed), (count, 0));
        assert_eq!(fixture.store.documents(&now(&*fixture.store)).unwrap().len(), count);
    }
}

/// A pipeline like the fixture's that cuts smaller.
fn smaller(fixture: &Fixture) -> Pipeline {
    let config = chunkwright::ChunkConfig { max_size: 120, target_size: 100, ..chunker().config().clone() };
    let chunker = chunkwright::Chunker::new(config, Arc::new(chunkwright::Words)).unwrap();
    Pipeline::new(Arc::clone(&fixture.store), COLLECTION, chunker, "test").with_embedder(fixture.bag.clone())
}

fn states(fixture: &Fixture) -> Vec<(GenerationState, usize)> {
    let collections = fixture.store.collections().unwrap();
    collections[0].generations.iter().map(|status| (status.state, status.documents)).collect()
}

#[test]
fn another_model_builds_the_next_generation_and_vectors_are_never_mixed() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[("a.md", &sections(0, 3))]);
        fixture.index();
        let other = Bag::new(8);
        let pipeline = Pipeline::new(Arc::clone(&fixture.store), COLLECTION, chunker(), "test")
            .with_embedder(other.clone());
        other.down.store(true, Ordering::Relaxed);
        let report = pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        assert!(report.withheld.unwrap().contains("the bag is torn"));
        // Searches go on as before.
        assert_eq!(states(&fixture), [(GenerationState::Current, 1), (GenerationState::Building, 1)]);
        let dense = SearchOptions { mode: Mode::Dense, ..lexical() };
        assert!(!fixture.search("cek", &dense).is_empty());
        other.down.store(false, Ordering::Relaxed);
        let report = pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        assert_eq!((report.withheld, report.switched.is_some(), report.pending), (None, true, 0));
        let found =
            search(&*fixture.store, &now(&*fixture.store), Models::embedder(&*other), "cek", &dense).unwrap();
        assert!(!found.hits.is_empty());
        let error =
            search(&*fixture.store, &now(&*fixture.store), Models::embedder(&*fixture.bag), "cek", &dense)
                .unwrap_err();
        assert!(
            error.to_string().contains("holds vectors of `bag-8` (8 dimensions), not of `bag-256` (256)"),
            "{error}"
        );
    });
}

#[test]
fn a_generation_has_the_documents_of_paths_that_were_not_scanned_too() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(
            kind,
            &[("docs/a.md", &sections(0, 4)), ("src/b.md", &sections(4, 8)), ("src/c.md", "x")],
        );
        let index = |pipeline: &Pipeline, fixture: &Fixture, name: &str| {
            pipeline.index(&[fixture.root().join(name)], &fixture.options, &|_| {}).unwrap()
        };
        index(&fixture.pipeline, &fixture, "docs");
        index(&fixture.pipeline, &fixture, "src");
        fixture.remove("src/b.md");
        let smaller = smaller(&fixture);
        fixture.options.dry_run = true;
        let counted = index(&smaller, &fixture, "docs");
        assert_eq!(states(&fixture), [(GenerationState::Current, 3)]);
        fixture.options.dry_run = false;
        let report = index(&smaller, &fixture, "docs");
        assert_eq!((report.indexed, report.carried), (1, 2));
        assert_eq!((counted.indexed, counted.carried, counted.chunks), (1, 2, report.chunks));
        assert_eq!(states(&fixture), [(GenerationState::Old, 3), (GenerationState::Current, 3)]);
        // The file is gone, and what the store had of it was enough.
        assert_eq!(fixture.search("kak", &lexical()).len(), 1);
        // What is removed from the new generation does not come back with the old one.
        fixture.options.prune = Prune::Force;
        assert_eq!(index(&smaller, &fixture, "src").pruned, ["b.md"]);
        fixture.options.prune = Prune::Keep;
        let back = index(&fixture.pipeline, &fixture, "docs");
        assert!(back.switched.is_some());
        assert_eq!(states(&fixture), [(GenerationState::Current, 2), (GenerationState::Old, 2)]);
        assert!(fixture.search("kak", &lexical()).is_empty());
    });
}

#[test]
fn a_generation_whose_building_was_stopped_is_gone_on_with() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(kind, &[]);
        for n in 0..300 {
            fixture.write(format!("{n:03}.md"), sections(n, n + 1).as_bytes());
        }
        fixture.index();
        let smaller = smaller(&fixture);
        let cancel = Arc::new(AtomicBool::new(false));
        fixture.options.cancel = Some(Arc::clone(&cancel));
        let stop = |_: chunkwright_index::Progress<'_>| cancel.store(true, Ordering::Relaxed);
        let stopped = smaller.index(&[fixture.root()], &fixture.options, &stop).unwrap();
        assert!(stopped.cancelled && stopped.switched.is_none());
        cancel.store(false, Ordering::Relaxed);
        let count = |progress: chunkwright_index::Progress<'_>| {
            if let chunkwright_index::Progress::Committed { .. } = progress {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let first = smaller.index(&[fixture.root()], &fixture.options, &count).unwrap();
        assert!(first.cancelled && first.indexed > 0);
        assert_eq!(
            states(&fixture),
            [(GenerationState::Current, 300), (GenerationState::Building, first.indexed)]
        );
        cancel.store(false, Ordering::Relaxed);
        let rest = smaller.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        assert_eq!((rest.unchanged, rest.indexed), (first.indexed, 300 - first.indexed));
        assert!(rest.switched.is_some());
    });
}

#[test]
fn a_first_run_that_was_stopped_is_not_current_until_another_ends() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(kind, &[]);
        for n in 0..300 {
            fixture.write(format!("{n:03}.md"), sections(n, n + 1).as_bytes());
        }
        let cancel = Arc::new(AtomicBool::new(false));
        fixture.options.cancel = Some(Arc::clone(&cancel));
        let stop = |progress: chunkwright_index::Progress<'_>| {
            if let chunkwright_index::Progress::Committed { .. } = progress {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let first = fixture.pipeline.index(&[fixture.root()], &fixture.options, &stop).unwrap();
        assert!(first.cancelled && (1..300).contains(&first.indexed), "{kind}");
        assert_eq!(states(&fixture), [(GenerationState::Building, first.indexed)], "{kind}");
        assert!(!fixture.store.is_complete(&now(&*fixture.store)).unwrap());
        // What is there can be found.
        assert!(!fixture.search("cek", &lexical()).is_empty(), "{kind}");
        cancel.store(false, Ordering::Relaxed);
        // What is built beside it waits as ever.
        let beside = smaller(&fixture);
        let stopped = beside.index(&[fixture.root()], &fixture.options, &stop).unwrap();
        assert!(stopped.cancelled);
        let building = states(&fixture).iter().all(|(state, _)| *state == GenerationState::Building);
        assert!(building && states(&fixture).len() == 2, "{kind}");
        cancel.store(false, Ordering::Relaxed);
        let rest = fixture.index();
        assert_eq!((rest.indexed, rest.switched), (300 - first.indexed, None), "{kind}");
        assert_eq!(states(&fixture)[0], (GenerationState::Current, 300), "{kind}");
        assert!(fixture.store.is_complete(&now(&*fixture.store)).unwrap());
        let before = fixture.store.collections().unwrap();
        fixture.index();
        assert_eq!(fixture.store.collections().unwrap(), before, "{kind}: nothing is written");
    });
}

#[test]
fn a_collection_without_a_document_is_not_current() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        fixture.index();
        assert_eq!(states(&fixture), [(GenerationState::Building, 0)], "{kind}");
        fixture.write("a.md", b"Some words.\n");
        fixture.index();
        assert_eq!(states(&fixture), [(GenerationState::Current, 1)], "{kind}");
    });
}

#[test]
fn a_file_whose_time_and_length_are_as_before_is_not_read() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(kind, &[("a.md", "One text.\n"), ("b.md", "Another text.\n")]);
        let path = fixture.root().join("a.md");
        let nanos = modified(&path);
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        // Read at once after it was written, its time proves nothing.
        fixture.options.started = nanos + 1_000_000_000;
        fixture.index();
        let rewrite = |fixture: &Fixture, text: &str| {
            fixture.write("a.md", text.as_bytes());
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        };
        rewrite(&fixture, "Two text.\n");
        fixture.options.started = nanos + 60_000_000_000;
        assert_eq!(fixture.index().indexed, 1);
        rewrite(&fixture, "Six text.\n");
        assert_eq!(fixture.index().indexed, 0);
        fixture.options.rehash = true;
        assert_eq!(fixture.index().indexed, 1);
        assert_eq!(fixture.search("six", &lexical()).len(), 1);
    });
}

#[test]
fn a_run_says_what_became_of_chunks_and_what_embedding_costs() {
    for_each_store(|kind| {
        let mut fixture = Fixture::new(kind, &[("a.md", &sections(0, 20)), ("b.md", &sections(20, 22))]);
        fixture.options.price = Some(1e6);
        let first = fixture.index();
        assert_eq!(
            (first.added, first.kept, first.cost),
            (first.chunks, 0, Some(first.tokens_to_embed as f64))
        );
        let edited = format!("A new first line.\n\n{}", sections(0, 20)).replace("mik", "somethingelse");
        fixture.write("a.md", edited.as_bytes());
        fixture.options.prune = Prune::Remove;
        fixture.options.dry_run = true;
        let counted = fixture.try_index().unwrap();
        fixture.options.dry_run = false;
        let second = fixture.index();
        assert_eq!(counted, second);
        assert!(second.moved > 10 && second.changed >= 1 && second.tokens_to_embed < 200, "{second:?}");
        assert_eq!(second.kept + second.moved + second.changed + second.removed, first.chunks);
    });
}

#[test]
fn a_run_stops_when_it_is_told_and_goes_on_where_it_was() {
    let mut fixture = Fixture::new("sqlite", &[]);
    for n in 0..300 {
        fixture.write(format!("{n:03}.md"), sections(n, n + 1).as_bytes());
    }
    let cancel = Arc::new(AtomicBool::new(false));
    fixture.options.cancel = Some(Arc::clone(&cancel));
    fixture.options.clock = Some(slow(&fixture, 1));
    let done = std::cell::Cell::new(0);
    let stop = |progress: chunkwright_index::Progress<'_>| match progress {
        chunkwright_index::Progress::Committed { .. } => cancel.store(true, Ordering::Relaxed),
        chunkwright_index::Progress::Read { files, .. } => done.set(files),
        _ => {}
    };
    let first = fixture.pipeline.index(&[fixture.root()], &fixture.options, &stop).unwrap();
    assert!(first.cancelled && first.indexed > 0 && first.indexed < 300);
    assert_eq!(done.get(), first.indexed);
    assert_eq!(states(&fixture), [(GenerationState::Building, first.indexed)]);
    cancel.store(false, Ordering::Relaxed);
    let second = fixture.index();
    assert_eq!((second.unchanged, second.indexed), (first.indexed, 300 - first.indexed));
}

/// A clock that a slow model moves: each text that it embedded took so many seconds.
fn slow(fixture: &Fixture, seconds: u64) -> chunkwright_index::Clock {
    let bag = Arc::clone(&fixture.bag);
    chunkwright_index::Clock::new(move || bag.texts.lock().unwrap().len() as u64 * seconds * 1_000_000_000)
}

#[test]
fn documents_are_stored_after_seconds_of_embedding_however_slow_the_model_is() {
    for_each_store(|kind| {
        let files: Vec<(String, String)> =
            (0..40).map(|n| (format!("{n:02}.md"), sections(4 * n, 4 * n + 4))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
        for (seconds, most) in [(1, 16), (0, usize::MAX)] {
            let mut fixture = Fixture::new(kind, &files);
            fixture.options.clock = Some(slow(&fixture, seconds));
            let (commits, waiting) = (std::cell::Cell::new(0), std::cell::Cell::new((0, 0)));
            let on_progress = |progress: chunkwright_index::Progress<'_>| match progress {
                chunkwright_index::Progress::Committed { .. } => {
                    let (since, last) = waiting.get();
                    assert!(last - since <= most, "{} texts until documents were stored", last - since);
                    waiting.set((last, last));
                    commits.set(commits.get() + 1);
                }
                chunkwright_index::Progress::Embedded { texts, found, tokens } => {
                    assert!(texts <= found && tokens > 0);
                    waiting.set((waiting.get().0, texts));
                }
                _ => {}
            };
            let report = fixture.pipeline.index(&[fixture.root()], &fixture.options, &on_progress).unwrap();
            assert_eq!((report.indexed, report.pending), (40, 0));
            assert!(if seconds > 0 { commits.get() > 5 } else { commits.get() < 5 }, "{}", commits.get());
            let timings = report.timings.unwrap();
            assert_eq!(timings.embed_ms, report.embedded as u64 * seconds * 1_000);
            // The same collection as without a clock.
            fixture.options.clock = None;
            let again = fixture.index();
            assert_eq!((again.unchanged, again.embedded, again.timings), (40, 0, None));
        }
    });
}

#[test]
fn a_store_is_written_by_one_process_and_read_by_many() {
    let fixture = Fixture::new("sqlite", &[("a.md", &sections(0, 3))]);
    fixture.index();
    let sqlite = STORES[0];
    let error = (sqlite.open)(&StoreLocation::folder(&fixture.store_path()), Access::Write)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains(&format!("is being written by process {}", std::process::id())), "{error}");
    let reader = (sqlite.open)(&StoreLocation::folder(&fixture.store_path()), Access::Read).unwrap();
    assert_eq!(reader.documents(&now(&*reader)).unwrap().len(), 1);
    assert!(matches!(reader.write(&now(&*reader), &[]), Err(StoreError::ReadOnly)));
    fixture.write("b.md", b"# B\n\nMore.\n");
    fixture.index();
    assert_eq!(reader.documents(&now(&*reader)).unwrap().len(), 2);
    let missing = (sqlite.open)(&StoreLocation::folder(&fixture.root()), Access::Read).err().unwrap();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
}

#[test]
fn fetch_gives_documents_chunks_and_lines_exactly() {
    for_each_store(|kind| {
        let text = "# One\r\n\r\nFirst.\r\n\r\n# Two\r\n\r\nSecond 文.\r\n";
        let fixture = Fixture::new(kind, &[("a#1.md", text), ("empty.md", "")]);
        fixture.index();
        let get = |reference: &str| {
            fetch(&*fixture.store, &now(&*fixture.store), reference, FetchOptions::default())
        };
        let whole = get("a#1.md").unwrap();
        assert_eq!((whole.text.as_str(), whole.start_line, whole.end_line), (text, 1, 7));
        assert_eq!(get("a#1.md#L3").unwrap().text, "First.\r\n");
        assert_eq!(get("a#1.md#L5-L7").unwrap().text, "# Two\r\n\r\nSecond 文.\r\n");
        assert_eq!(get("a#1.md#L7-L99").unwrap().end_line, 7);
        let chunk = get("a#1.md#0").unwrap();
        assert_eq!(chunk.text, whole.records[0].content);
        let by_id = get(&whole.records[0].chunk_id.to_string()).unwrap();
        assert_eq!(by_id.text, chunk.text);
        let expansion =
            Expansion { expand: Expand::Neighbours(9), max_tokens: None, counter: &chunkwright::Words };
        let options = FetchOptions { expansion: Some(expansion), ..FetchOptions::default() };
        let window = fetch(&*fixture.store, &now(&*fixture.store), "a#1.md#0", options).unwrap();
        assert_eq!(window.records.len(), whole.records.len());
        assert_eq!(window.text, text.trim_end());
        assert_eq!(get("empty.md").unwrap().text, "");
        for reference in ["b.md", "a#1.md#", "a#1.md#+0", "a#1.md#Lx", "0123456789abcdef0123456789abcdef", ""]
        {
            assert!(matches!(get(reference), Err(FetchError::Unknown { .. })), "{reference}");
        }
        assert!(matches!(get("a#1.md#99"), Err(FetchError::Index { .. })));
        for reference in ["a#1.md#L0", "a#1.md#L8", "a#1.md#L3-L2", "empty.md#L1"] {
            assert!(matches!(get(reference), Err(FetchError::Lines { .. })), "{reference}");
        }
    });
}

#[test]
fn damage_is_found_and_named_and_never_a_panic() {
    let fixture = Fixture::new("sqlite", &[("a.md", &sections(0, 200)), ("b.md", &sections(200, 300))]);
    fixture.index();
    let copy = tempfile::tempdir().unwrap();
    // All of the store is in one file once its log is written back, which the end of the last connection does.
    let Fixture { store, pipeline, bag, folder, .. } = fixture;
    drop((pipeline, store, bag));
    let sound = std::fs::read(folder.path().join("store/chunkwright.sqlite3")).unwrap();
    let file = copy.path().join("chunkwright.sqlite3");
    let (mut found, mut used) = (0, 0);
    for step in 0..40 {
        let at = 100 + step * (sound.len() - 200) / 40;
        // Nothing reads what is zeros: a page's room for more.
        if sound[at..at + 48].iter().all(|byte| *byte == 0) {
            continue;
        }
        used += 1;
        let mut damaged = sound.clone();
        for byte in &mut damaged[at..at + 48] {
            *byte ^= 0x55;
        }
        std::fs::write(&file, &damaged).unwrap();
        found += usize::from(is_found(copy.path()));
    }
    std::fs::write(&file, &sound[..sound.len() / 2]).unwrap();
    assert!(is_found(copy.path()));
    std::fs::write(&file, b"something else entirely, long enough to be looked at as a database ".repeat(40))
        .unwrap();
    assert!(is_found(copy.path()));
    // What is left are pages that nothing uses, and bytes of records that still read.
    assert!(used > 25 && found * 4 >= used * 3, "{found} of {used} found");
}

/// Whether opening, checking, searching or fetching tells of damage; none may panic.
fn is_found(path: &Path) -> bool {
    let Ok(store) = (STORES[0].open)(&StoreLocation::folder(path), Access::Write) else { return true };
    let told = store.check().map_or(true, |report| !report.problems.is_empty());
    let Ok(now) = store.open(COLLECTION) else { return true };
    let searched = search(&*store, &now, Models::default(), "speaks length", &lexical()).is_err();
    let listed = store.documents(&now).unwrap_or_default();
    let fetched = listed.iter().map(|info| fetch(&*store, &now, &info.doc_id, FetchOptions::default()));
    told | searched | fetched.into_iter().any(|result| result.is_err())
}
