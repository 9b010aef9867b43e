//! Chunks that are divided and joined by hand, over edits, other settings, renames and interruptions.

use std::sync::Arc;

use chunkwright::chunk::BoundaryKind;
use chunkwright::{ChunkConfig, Chunker, Record, Words};
use chunkwright_index::{
    AmendError, IndexOptions, IndexReport, ListedOverlay, Overlay, OverlayState, Pipeline, Prune, Store,
    list_overlays, parsed, plan_boundary,
};
use proptest::prelude::*;

use crate::fixture::{COLLECTION, Fixture, chunker, for_each_store, now};
use crate::kinds::for_each_local_store;
use crate::stride::one_in;

const GUIDE: &str = "# 指南\n\n## Install\n\nDownload the archive and unpack it into a folder of its own. Then run the \
installer from there and wait until it has finished all of its work.\n\n## Удаление\n\nЗапустите программу удаления \
и подтвердите вопрос.\n\n## Configure\n\nSet the size of chunks before the first start.\n";

fn corpus(kind: &str) -> Fixture {
    let fixture =
        Fixture::new(kind, &[("guide.md", GUIDE), ("other.md", "# Other\n\nNothing of interest.\n")]);
    fixture.index();
    fixture
}

/// As the engine does: plans, keeps, and lets a run without documents cut.
fn set(fixture: &Fixture, doc_id: &str, at: usize, kind: BoundaryKind) -> Result<IndexReport, AmendError> {
    keep(fixture, doc_id, at, kind)?;
    Ok(run(fixture, &fixture.pipeline))
}

fn keep(fixture: &Fixture, doc_id: &str, at: usize, kind: BoundaryKind) -> Result<(), AmendError> {
    let (store, generation) = (&*fixture.store, now(&*fixture.store));
    let document = parsed(store, &generation, doc_id)?.unwrap();
    let overlays = store.overlays(COLLECTION)?;
    let own = windowed(&fixture.pipeline);
    for overlay in plan_boundary(&overlays, &own, &document, (at as u32, kind), "2026-01-02T00:00:00Z")? {
        store.put_overlay(COLLECTION, &overlay)?;
    }
    Ok(())
}

fn windowed(_: &Pipeline) -> Chunker {
    chunker().with_window(Arc::new(Words), 10_000)
}

fn run(fixture: &Fixture, pipeline: &Pipeline) -> IndexReport {
    let report = pipeline.put([], &fixture.options, &|_| {}).unwrap();
    assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
    report
}

fn records(fixture: &Fixture, doc_id: &str) -> Vec<Record> {
    fixture.store.records(&now(&*fixture.store), doc_id).unwrap()
}

fn contents(fixture: &Fixture, doc_id: &str) -> Vec<String> {
    records(fixture, doc_id).into_iter().map(|record| record.content).collect()
}

fn listed(fixture: &Fixture) -> Vec<ListedOverlay> {
    list_overlays(&*fixture.store, &now(&*fixture.store)).unwrap()
}

fn states(fixture: &Fixture) -> Vec<OverlayState> {
    listed(fixture).into_iter().map(|listed| listed.state).collect()
}

#[test]
fn a_divided_chunk_stays_divided_and_only_its_pieces_are_embedded() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let before = records(&fixture, "guide.md");
        fixture.bag.take_texts();
        set(&fixture, "guide.md", GUIDE.find("Then run").unwrap(), BoundaryKind::Split).unwrap();
        let after = records(&fixture, "guide.md");
        assert_eq!(after.len(), before.len() + 1, "{kind}");
        let piece = after.iter().find(|record| record.content.starts_with("Then run")).unwrap();
        assert_eq!(piece.cut.as_str(), "manual");
        assert!(piece.text.contains("Install"), "it borrows the titles above it: {:?}", piece.text);
        let new = after.iter().filter(|record| before.iter().all(|old| old.chunk_id != record.chunk_id));
        assert_eq!(fixture.bag.take_texts().len(), new.count(), "{kind}");
        let [only] = &listed(&fixture)[..] else { panic!("{kind}") };
        assert_eq!((only.state, &only.on), (OverlayState::On, &Some(piece.chunk_id.to_string())));
        // Nothing is left to do, whatever is run.
        for report in [fixture.index(), run(&fixture, &fixture.pipeline)] {
            assert_eq!((report.indexed, report.carried, report.overlays.on), (0, 0, 1), "{kind}");
        }
        assert_eq!(records(&fixture, "guide.md"), after, "{kind}");
        // Joined again it is what it was, and nothing is left of the boundary.
        set(&fixture, "guide.md", piece.start_byte as usize, BoundaryKind::Merge).unwrap();
        let ids = |records: &[Record]| records.iter().map(|record| record.chunk_id).collect::<Vec<_>>();
        assert_eq!(ids(&records(&fixture, "guide.md")), ids(&before), "{kind}");
        assert!(listed(&fixture).is_empty() && fixture.bag.take_texts().is_empty(), "{kind}");
    });
}

#[test]
fn joined_chunks_stay_joined_and_keep_the_limit() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let before = contents(&fixture, "guide.md");
        let configure = GUIDE.find("## Configure").unwrap();
        set(&fixture, "guide.md", configure, BoundaryKind::Merge).unwrap();
        let after = contents(&fixture, "guide.md");
        assert!(after.iter().any(|content| content.contains("подтвердите") && content.contains("Configure")));
        assert_eq!(after.len(), before.len() - 1, "{kind}");
        let over = set(&fixture, "guide.md", GUIDE.find("## Удаление").unwrap(), BoundaryKind::Merge);
        assert!(
            matches!(over, Err(AmendError::MergeTooLong { size, limit: 240, .. }) if size > 240),
            "{over:?}"
        );
        assert_eq!(contents(&fixture, "guide.md"), after, "{kind}");
        // Divided again there it is as it was.
        set(&fixture, "guide.md", configure, BoundaryKind::Split).unwrap();
        assert_eq!(contents(&fixture, "guide.md"), before, "{kind}");
        assert!(listed(&fixture).is_empty(), "{kind}");
        // What is so already is refused.
        for (at, what) in [
            (configure, BoundaryKind::Split),
            (configure + 3, BoundaryKind::Merge),
            (0, BoundaryKind::Split),
            (0, BoundaryKind::Merge),
        ] {
            let refused = set(&fixture, "guide.md", at, what);
            assert!(matches!(refused, Err(AmendError::NoBoundary { .. })), "{kind} {at} {refused:?}");
        }
    });
}

#[test]
fn boundaries_are_found_again_after_edits_and_under_other_settings() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        set(&fixture, "guide.md", GUIDE.find("Then run").unwrap(), BoundaryKind::Split).unwrap();
        set(&fixture, "guide.md", GUIDE.find("## Configure").unwrap(), BoundaryKind::Merge).unwrap();
        let holds = |expected: [OverlayState; 2]| {
            let mut states = states(&fixture);
            states.sort_unstable();
            assert_eq!(states, expected, "{kind}");
            let after = contents(&fixture, "guide.md");
            assert!(after.iter().any(|content| content.starts_with("Then ")), "{kind} {after:?}");
            assert!(after.iter().any(|content| content.contains("вопрос") && content.contains("Configure")));
        };
        let index = |text: &str| {
            fixture.write("guide.md", text.as_bytes());
            fixture.index();
        };
        holds([OverlayState::On, OverlayState::On]);
        index(&format!("Some words before it all.\n\n{GUIDE}\n\n## More\n\nAnd some after it.\n"));
        holds([OverlayState::On, OverlayState::On]);
        index(&GUIDE.replace('\n', "\r\n"));
        holds([OverlayState::On, OverlayState::On]);
        index(&GUIDE.replace("Then run the installer from there", "Then start the installer from there"));
        holds([OverlayState::On, OverlayState::Carried]);
        index(GUIDE);
        holds([OverlayState::On, OverlayState::On]);
        // Other settings, and back.
        let config = ChunkConfig { max_size: 200, target_size: 180, ..chunker().config().clone() };
        let smaller = Chunker::new(config, Arc::new(Words)).unwrap();
        let other = Pipeline::new(Arc::clone(&fixture.store), COLLECTION, smaller, "other")
            .with_embedder(fixture.bag.clone());
        other.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        holds([OverlayState::On, OverlayState::On]);
        fixture.index();
        holds([OverlayState::On, OverlayState::On]);
        // The text is gone, and comes back.
        index("# Guide\n\nNothing of that is left.\n");
        assert_eq!(states(&fixture), [OverlayState::Orphaned, OverlayState::Orphaned], "{kind}");
        assert_eq!(fixture.index().indexed, 0, "{kind}: it is not cut again and again");
        index(GUIDE);
        holds([OverlayState::On, OverlayState::On]);
    });
}

#[test]
fn boundaries_follow_a_document_that_is_renamed() {
    for_each_store(|kind| {
        for prune in [Prune::Remove, Prune::Keep] {
            let mut fixture = corpus(kind);
            fixture.options.prune = prune;
            set(&fixture, "guide.md", GUIDE.find("Then run").unwrap(), BoundaryKind::Split).unwrap();
            let divided = contents(&fixture, "guide.md");
            fixture.remove("guide.md");
            fixture.write("manual.md", GUIDE.as_bytes());
            fixture.index();
            assert_eq!(contents(&fixture, "manual.md"), divided, "{kind} {prune:?}");
            let kept = if prune == Prune::Keep { 2 } else { 1 };
            assert_eq!(states(&fixture), vec![OverlayState::On; kept], "{kind} {prune:?}");
        }
    });
}

#[test]
fn a_boundary_that_was_kept_and_not_cut_is_listed_as_pending_until_the_next_run() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        keep(&fixture, "guide.md", GUIDE.find("Then run").unwrap(), BoundaryKind::Split).unwrap();
        assert!(listed(&fixture)[0].pending, "{kind}");
        let dry = IndexOptions { dry_run: true, ..fixture.options.clone() };
        let forecast = fixture.pipeline.index(&[fixture.root()], &dry, &|_| {}).unwrap();
        assert_eq!((forecast.overlays.on, forecast.added), (1, 1), "{kind}");
        assert!(listed(&fixture)[0].pending, "{kind}");
        // A run over another folder does it too.
        let elsewhere = fixture.folder.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::write(elsewhere.join("new.md"), "# New\n").unwrap();
        let report = fixture.pipeline.index(&[elsewhere], &fixture.options, &|_| {}).unwrap();
        assert_eq!((report.overlays, report.carried), (forecast.overlays, 1), "{kind}");
        assert!(!listed(&fixture)[0].pending, "{kind}");
    });
}

#[test]
fn places_that_could_not_be_found_again_are_refused() {
    let fixture = corpus("memory");
    let text = "# A\n\nThe same.\n\nThe same.\n\nThe same.\n\n".repeat(200);
    fixture.write("same.md", text.as_bytes());
    fixture.index();
    let middle = text[..text.len() / 2].rfind("same.").unwrap();
    let refused = set(&fixture, "same.md", middle, BoundaryKind::Split);
    assert!(matches!(refused, Err(AmendError::AmbiguousBoundary { .. })), "{refused:?}");
    assert!(listed(&fixture).is_empty());
}

#[test]
fn a_changed_chunk_that_is_divided_keeps_its_change_where_it_is_recognized() {
    for_each_local_store(|kind| {
        let fixture = corpus(kind);
        let store = &*fixture.store;
        let chunk = records(&fixture, "guide.md")
            .into_iter()
            .find(|record| record.content.contains("Download"))
            .unwrap();
        let hidden = Overlay { disabled: true, ..Overlay::of(&chunk) };
        store.put_overlay(COLLECTION, &hidden).unwrap();
        set(&fixture, "guide.md", GUIDE.find("all of its work").unwrap(), BoundaryKind::Split).unwrap();
        let listed = listed(&fixture);
        let of_chunk = listed.iter().find(|listed| listed.overlay.disabled).unwrap();
        assert_eq!(of_chunk.state, OverlayState::Carried, "{kind}");
        let on = of_chunk.on.as_ref().unwrap().parse().unwrap();
        let on = store.chunks(&now(store), &[on]).unwrap().pop().flatten().unwrap();
        assert!(!on.enabled && on.record.content.contains("Download"), "{kind}");
    });
}

/// Something that is done.
#[derive(Clone, Debug)]
enum Step {
    Set { at: prop::sample::Index, is_split: bool },
    TakeBack { which: prop::sample::Index },
    Edit { at: prop::sample::Index, word: String },
    Index,
    Smaller,
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        3 => (index(), any::<bool>()).prop_map(|(at, is_split)| Step::Set { at, is_split }),
        1 => index().prop_map(|which| Step::TakeBack { which }),
        2 => (index(), "[a-zа-я]{1,6}|\n\n|# Новое\n\n").prop_map(|(at, word)| Step::Edit { at, word }),
        2 => Just(Step::Index),
        1 => Just(Step::Smaller),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 240 / one_in(20) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is done in whatever order, what is stored depends on the text, the settings and the boundaries alone.
    #[test]
    fn what_is_stored_is_what_cutting_with_the_boundaries_gives(steps in prop::collection::vec(step(), 1..24)) {
        for_each_local_store(|kind| {
            let fixture = corpus(kind);
            let config = ChunkConfig { max_size: 150, target_size: 120, ..chunker().config().clone() };
            let smaller = Chunker::new(config, Arc::new(Words)).unwrap();
            let other = Pipeline::new(Arc::clone(&fixture.store), COLLECTION, smaller.clone(), "other").with_embedder(fixture.bag.clone());
            let mut text = GUIDE.to_owned();
            let (mut pipeline, mut own) = (&fixture.pipeline, chunker());
            for step in &steps {
                let store: &dyn Store = &*fixture.store;
                match step {
                    Step::Set { at, is_split } => {
                        let document = parsed(store, &now(store), "guide.md").unwrap().unwrap();
                        let mut place = at.index(document.source().len());
                        while !document.source().is_char_boundary(place) {
                            place -= 1;
                        }
                        let kind = if *is_split { BoundaryKind::Split } else { BoundaryKind::Merge };
                        if kind == BoundaryKind::Merge {
                            let records = records(&fixture, "guide.md");
                            place = at.get(&records).start_byte as usize;
                        }
                        let overlays = store.overlays(COLLECTION).unwrap();
                        let own = own.clone().with_window(Arc::new(Words), 10_000);
                        let Ok(changes) = plan_boundary(&overlays, &own, &document, (place as u32, kind), "") else { continue };
                        for overlay in changes {
                            store.put_overlay(COLLECTION, &overlay).unwrap();
                        }
                        run(&fixture, pipeline);
                        // The chunk begins there now, or none does.
                        let begins = records(&fixture, "guide.md").iter().any(|record| {
                            let start = record.start_byte as usize;
                            document.source()[start.min(place)..start.max(place)].trim().is_empty()
                        });
                        assert_eq!(begins, *is_split, "{place} in {:?}", document.source());
                    }
                    Step::TakeBack { which } => {
                        let overlays = store.overlays(COLLECTION).unwrap();
                        let all: Vec<&Overlay> = overlays.boundaries().collect();
                        if all.is_empty() { continue }
                        let taken = Overlay { chunk_id: which.get(&all).chunk_id.clone(), ..Overlay::default() };
                        store.put_overlay(COLLECTION, &taken).unwrap();
                        run(&fixture, pipeline);
                    }
                    Step::Edit { at, word } => {
                        let mut place = at.index(text.len());
                        while !text.is_char_boundary(place) {
                            place -= 1;
                        }
                        text.insert_str(place, word);
                        fixture.write("guide.md", text.as_bytes());
                        continue;
                    }
                    Step::Index => {}
                    Step::Smaller => (pipeline, own) = (&other, smaller.clone()),
                }
                pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
                let document = parsed(store, &now(store), "guide.md").unwrap().unwrap();
                assert_eq!(document.source(), text);
                let windowed = own.clone().with_window(Arc::new(Words), 10_000);
                let overlays = store.overlays(COLLECTION).unwrap();
                let (chunks, applied) = overlays.cut(&windowed, &document);
                let expected: Vec<_> = chunks.iter().map(|chunk| (chunk.id, chunk.cut, chunk.content().to_owned())).collect();
                let stored = records(&fixture, "guide.md");
                let stored: Vec<_> = stored.into_iter().map(|record| (record.chunk_id, record.cut, record.content)).collect();
                assert_eq!(stored, expected);
                let listed = listed(&fixture);
                assert_eq!(listed.len(), applied.len());
                for (listed, applied) in listed.iter().zip(&applied) {
                    assert_eq!((&listed.overlay.chunk_id, listed.state, &listed.on), (&applied.id, applied.state, &applied.on));
                    assert!(!listed.pending);
                }
            }
        });
    }
}
