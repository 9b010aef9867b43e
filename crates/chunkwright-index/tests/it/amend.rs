//! Manual changes: what they do, and that they survive.

use std::sync::Arc;

use chunkwright::{ChunkConfig, Chunker, ContextRule};
use chunkwright_index::{
    AmendError, Duplicates, FetchOptions, Mode, Models, Overlay, Pipeline, SearchOptions, Verdict, amend,
    explain, fetch, search, search_all_versions,
};

use crate::fixture::{Fixture, for_each_store, now};

const GUIDE: &str = "# Guide\n\n## Install\n\nDownload the archive and unpack it into a folder of its own, then run the \
installer from there and wait until it has finished all of its work.\n\n## Configure\n\nSet the size of chunks in the \
configuration file before the first start of the program, and restart it after every change that you make.\n";

fn corpus(kind: &str) -> Fixture {
    let fixture = Fixture::new(
        kind,
        &[("guide.md", GUIDE), ("other.md", "# Other\n\nNothing of interest stands here.\n")],
    );
    fixture.index();
    fixture
}

fn lexical() -> SearchOptions {
    SearchOptions { mode: Mode::Lexical, ..SearchOptions::default() }
}

fn change(fixture: &Fixture, query: &str, change: &dyn Fn(&mut Overlay)) -> Overlay {
    let found = search(&*fixture.store, &now(&*fixture.store), Models::default(), query, &lexical()).unwrap();
    let id = found.hits[0].record.chunk_id;
    let changed =
        amend(&*fixture.store, &now(&*fixture.store), Some(&*fixture.bag), None, id, change).unwrap();
    assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
    changed
}

#[test]
fn a_text_given_by_hand_is_what_is_searched_and_embedded() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let before = fixture.search("installer", &lexical());
        fixture.bag.take_texts();
        let overlay = change(&fixture, "installer", &|overlay| overlay.text = Some("Use the wizard.".into()));
        assert!(overlay.original.unwrap().contains("installer"));
        assert_eq!(fixture.bag.take_texts(), ["Use the wizard."]);
        assert!(fixture.search("installer", &lexical()).is_empty());
        assert_eq!(fixture.search("wizard", &lexical()), before);
        let dense = SearchOptions { mode: Mode::Dense, ..lexical() };
        assert_eq!(fixture.search("use the wizard", &dense)[0], before[0]);
        // The source is what it was, and a run has nothing to do.
        let fetched =
            fetch(&*fixture.store, &now(&*fixture.store), "guide.md", FetchOptions::default()).unwrap();
        assert_eq!(fetched.text, GUIDE);
        assert_eq!(fixture.index().unchanged, 2);
        // An edit elsewhere in the document leaves it on.
        fixture.write("guide.md", GUIDE.replace("restart it", "start it again").as_bytes());
        assert_eq!(fixture.index().indexed, 1);
        assert_eq!(fixture.search("wizard", &lexical()), before);
        change(&fixture, "wizard", &|overlay| overlay.text = None);
        assert_eq!(fixture.search("installer", &lexical()), before);
        assert!(fixture.store.overlays("test").unwrap().is_empty());
    });
}

#[test]
fn what_was_changed_finds_its_chunk_by_content_where_ids_moved_and_is_listed_where_it_is_gone() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let overlay = change(&fixture, "configuration", &|overlay| {
            overlay.keywords = vec!["wizard".into()];
            overlay.pins = vec!["How do I begin?".into()];
        });
        // No titles are borrowed now, so that the id is another.
        let config = ChunkConfig { context: ContextRule::None, ..crate::fixture::chunker().config().clone() };
        let chunker = Chunker::new(config, Arc::new(chunkwright::Words)).unwrap();
        let other = Pipeline::new(Arc::clone(&fixture.store), "test", chunker, "test")
            .with_embedder(fixture.bag.clone());
        other.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        let id = overlay.chunk_id.parse().unwrap();
        assert!(fixture.store.chunks(&now(&*fixture.store), &[id]).unwrap()[0].is_none());
        assert_eq!(fixture.search("wizard", &lexical()).len(), 1);
        let hit =
            search(&*fixture.store, &now(&*fixture.store), Models::default(), "how do i BEGIN", &lexical())
                .unwrap()
                .hits
                .remove(0);
        assert_eq!(hit.kept, chunkwright_index::Kept::Pinned);
        // Its content is gone.
        fixture.write("guide.md", b"# Guide\n\n## Install\n\nNothing is left of it.\n");
        fixture.index();
        assert!(fixture.search("wizard", &lexical()).is_empty());
        let overlays = fixture.store.overlays("test").unwrap();
        let records = fixture.store.records(&now(&*fixture.store), "guide.md").unwrap();
        let records: Vec<_> = records.iter().collect();
        assert!(overlays.place(&records).iter().all(Option::is_none));
        assert_eq!(overlays.iter().next().unwrap().keywords, overlay.keywords);
        // And comes back.
        fixture.write("guide.md", GUIDE.as_bytes());
        fixture.index();
        assert_eq!(fixture.search("wizard", &lexical()).len(), 1);
    });
}

#[test]
fn a_text_over_the_limit_or_without_words_is_refused() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let store = &*fixture.store;
        let id = store.records(&now(store), "other.md").unwrap()[0].chunk_id;
        let limit = crate::fixture::chunker().with_window(Arc::new(chunkwright::Words), 10_000);
        let with = |text: &str| {
            amend(store, &now(store), None, Some(&limit), id, &|overlay: &mut Overlay| {
                overlay.text = Some(text.into());
            })
        };
        let refused = with(&"word ".repeat(50));
        assert!(
            matches!(refused, Err(AmendError::TooLong { size: 250, limit: 240, unit: "chars" })),
            "{refused:?}"
        );
        assert!(matches!(with(" \n"), Err(AmendError::Empty)));
        assert!(with("one two three").is_ok());
        let unknown = chunkwright::ChunkId([7; 16]);
        assert!(matches!(
            amend(store, &now(store), None, None, unknown, &|_| {}),
            Err(AmendError::Unknown { .. })
        ));
    });
}

#[test]
fn every_chunk_that_is_not_in_an_answer_has_a_reason() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        fixture.write("copy.md", GUIDE.as_bytes());
        fixture.index();
        let store = &*fixture.store;
        let verdict = |query: &str, options: &SearchOptions, doc_id: &str, has: &str| {
            let records = store.records(&now(store), doc_id).unwrap();
            let id = records.iter().find(|record| record.content.contains(has)).unwrap().chunk_id;
            explain(store, &now(store), Models::embedder(&*fixture.bag), query, options, id).unwrap()
        };
        let one = SearchOptions { top_k: 1, ..lexical() };
        let found = verdict("installer", &lexical(), "copy.md", "installer");
        let other = verdict("installer", &lexical(), "guide.md", "installer");
        let (first, second) =
            if matches!(found.verdict, Verdict::Found { .. }) { (found, other) } else { (other, found) };
        assert_eq!(first.verdict, Verdict::Found { rank: 1 });
        assert_eq!(second.verdict, Verdict::Duplicate { of: first.chunk_id });
        assert_eq!(verdict("installer", &lexical(), "other.md", "interest").verdict, Verdict::NoMatch);
        let both = "installer configuration";
        assert!(matches!(
            (
                verdict(both, &one, "guide.md", "installer").verdict,
                verdict(both, &one, "guide.md", "Configure").verdict
            ),
            (_, Verdict::Outranked { top_k: 1 }) | (Verdict::Outranked { top_k: 1 }, _)
        ));
        let filtered = SearchOptions {
            filter: chunkwright_index::Filter::parse("doc_id=other.md").unwrap(),
            ..lexical()
        };
        assert_eq!(verdict("installer", &filtered, "guide.md", "installer").verdict, Verdict::Filtered);
        let crowded = SearchOptions { per_document: Some(1), duplicates: Duplicates::Keep, ..lexical() };
        let verdicts = ["installer", "Configure"].map(|has| verdict(both, &crowded, "guide.md", has).verdict);
        assert!(verdicts.contains(&Verdict::PerDocument { per_document: 1 }), "{verdicts:?}");
        let missing =
            explain(store, &now(store), Models::default(), "x", &lexical(), chunkwright::ChunkId([1; 16]))
                .unwrap();
        assert_eq!(missing.verdict, Verdict::Missing);
        let near = SearchOptions { mode: Mode::Hybrid, candidates: 1, top_k: 1, ..SearchOptions::default() };
        assert_eq!(
            verdict("installer", &near, "other.md", "interest").verdict,
            Verdict::NoCandidate { candidates: 1 }
        );
    });
}

#[test]
fn all_versions_are_searched_when_that_is_asked_for() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let config =
            ChunkConfig { max_size: 120, target_size: 100, ..crate::fixture::chunker().config().clone() };
        let chunker = Chunker::new(config, Arc::new(chunkwright::Words)).unwrap();
        let smaller = Pipeline::new(Arc::clone(&fixture.store), "test", chunker, "test");
        fixture.write("guide.md", GUIDE.replace("finished", "ended").as_bytes());
        smaller.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        assert!(fixture.search("finished", &lexical()).is_empty());
        let found = search_all_versions(
            &*fixture.store,
            "test",
            Models::embedder(&*fixture.bag),
            "finished",
            &lexical(),
        )
        .unwrap();
        let old = fixture.store.collections().unwrap()[0].generations[0].generation.number;
        assert_eq!(found.hits.iter().map(|hit| (hit.rank, hit.generation)).collect::<Vec<_>>(), [(1, old)]);
    });
}
