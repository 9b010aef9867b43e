//! Overlays across edits, other configurations and interruptions: the list agrees with what searches do.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chunkwright::{ChunkConfig, ChunkId, Chunker, Record, Unit, Words};
use chunkwright_index::{
    AmendError, Change, Generation, IndexOptions, IndexReport, ListedOverlay, Mode, Models, NewChunk,
    Outcome, Overlay, OverlayCounts, OverlayState, Pipeline, Review, SearchOptions, Store, Tools, amend,
    amend_all, list_overlays, search, search_all_versions,
};

use crate::fixture::{Fixture, for_each_store, now};
use crate::kinds::for_each_local_store;

const INSTALL: &str = "Download the archive and unpack it into a folder of its own, then run the installer from \
there and wait until it has finished all of its work.";
const CONFIGURE: &str = "Set the size of chunks in the configuration file before the first start of the program, \
and restart it after every change that you make.";

fn guide() -> String {
    format!("# Guide\n\n## Install\n\n{INSTALL}\n\n## Configure\n\n{CONFIGURE}\n")
}

fn corpus(kind: &str) -> Fixture {
    let fixture =
        Fixture::new(kind, &[("guide.md", &guide()), ("other.md", "# Other\n\nNothing of interest.\n")]);
    fixture.index();
    fixture
}

/// Cuts smaller pieces than the fixture does.
fn smaller() -> Chunker {
    let config =
        ChunkConfig { max_size: 120, target_size: 100, ..crate::fixture::chunker().config().clone() };
    Chunker::new(config, Arc::new(Words)).unwrap()
}

fn other(fixture: &Fixture) -> Pipeline {
    Pipeline::new(Arc::clone(&fixture.store), "test", smaller(), "test").with_embedder(fixture.bag.clone())
}

fn run(fixture: &Fixture, pipeline: &Pipeline) -> IndexReport {
    pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap()
}

fn lexical() -> SearchOptions {
    SearchOptions { mode: Mode::Lexical, top_k: 50, ..SearchOptions::default() }
}

fn found(store: &dyn Store, generation: &Generation, query: &str) -> Vec<ChunkId> {
    let answer = search(store, generation, Models::default(), query, &lexical()).unwrap();
    answer.hits.into_iter().map(|hit| hit.record.chunk_id).collect()
}

fn change(fixture: &Fixture, query: &str, change: &dyn Fn(&mut Overlay)) -> Overlay {
    let store = &*fixture.store;
    let id = found(store, &now(store), query)[0];
    amend(store, &now(store), Some(&*fixture.bag), None, id, change).unwrap()
}

fn hide(overlay: &mut Overlay) {
    overlay.disabled = true;
}

/// What is listed of the generation, after it was verified that searches do just that.
#[track_caller]
fn listed(store: &dyn Store, generation: &Generation) -> Vec<ListedOverlay> {
    let listed = list_overlays(store, generation).unwrap();
    let mut on: BTreeMap<&str, &ListedOverlay> = BTreeMap::new();
    for listed in &listed {
        assert!(!listed.pending, "{listed:?}");
        assert_eq!(listed.on.is_none(), listed.state == OverlayState::Orphaned, "{listed:?}");
        let twice = listed.on.as_ref().and_then(|id| on.insert(id, listed));
        assert!(twice.is_none(), "two overlays are on one chunk: {listed:?} and {twice:?}");
    }
    for info in store.documents(generation).unwrap() {
        for record in store.records(generation, &info.doc_id).unwrap() {
            let id: ChunkId = record.chunk_id;
            let chunk = store.chunks(generation, &[id]).unwrap().pop().flatten().unwrap();
            let overlay = on.get(record.chunk_id.to_string().as_str());
            let disabled = overlay.is_some_and(|listed| listed.overlay.disabled);
            assert_eq!(chunk.enabled, !disabled, "{record:?}");
            let given = overlay.filter(|listed| listed.state != OverlayState::Conflict);
            let given = given.and_then(|listed| listed.overlay.text.as_ref());
            assert!(given.is_none_or(|text| *text == record.text), "{record:?}");
            assert!(given.is_some() || record.text.contains(&record.content), "{record:?}");
            assert_eq!(record.char_count as usize, record.text.chars().count(), "{record:?}");
            for keyword in overlay.into_iter().flat_map(|listed| &listed.overlay.keywords) {
                let hits = found(store, generation, keyword);
                assert_eq!(hits.contains(&record.chunk_id), !disabled, "{keyword}: {record:?}");
            }
        }
    }
    listed
}

fn states(listed: &[ListedOverlay]) -> Vec<OverlayState> {
    listed.iter().map(|listed| listed.state).collect()
}

#[test]
fn going_back_to_an_earlier_configuration_brings_overlays_onto_its_chunks() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let (store, first) = (&*fixture.store, now(&*fixture.store));
        run(&fixture, &other(&fixture));
        let overlay = change(&fixture, "archive", &hide);
        assert_ne!(now(store), first);
        assert!(found(store, &now(store), "archive").is_empty());
        assert_eq!(states(&listed(store, &now(store))), [OverlayState::On]);
        // The earlier generation is searched by its name, and with all others.
        let state = listed(store, &first)[0].state;
        assert_eq!(found(store, &first, "archive").is_empty(), state != OverlayState::Orphaned);
        let all = search_all_versions(store, "test", Models::default(), "archive", &lexical()).unwrap();
        assert_eq!(all.hits.is_empty(), state != OverlayState::Orphaned);
        let report = fixture.index();
        assert_eq!(now(store), first);
        assert_eq!(states(&listed(store, &first)), [state]);
        assert_eq!(report.overlays.on + report.overlays.carried + report.overlays.orphaned, 1);
        // And forth again.
        run(&fixture, &other(&fixture));
        assert!(found(store, &now(store), "archive").is_empty());
        assert_eq!(listed(store, &now(store))[0].on, Some(overlay.chunk_id.clone()));
        // Taken back, it is nowhere.
        amend(store, &now(store), None, None, overlay.chunk_id.parse().unwrap(), &|overlay| {
            overlay.disabled = false;
        })
        .unwrap();
        assert!(listed(store, &now(store)).is_empty() && listed(store, &first).is_empty());
        assert!(!found(store, &first, "archive").is_empty());
        fixture.index();
        assert!(!found(store, &first, "archive").is_empty());
    });
}

#[test]
fn a_chunk_with_equal_content_in_both_configurations_stays_hidden_in_both() {
    for_each_store(|kind| {
        let fixture =
            Fixture::new(kind, &[("a.md", "# One\n\nA short paragraph.\n\n# Two\n\nAnother one.\n")]);
        fixture.index();
        let (store, first) = (&*fixture.store, now(&*fixture.store));
        run(&fixture, &other(&fixture));
        change(&fixture, "paragraph", &hide);
        for generation in [first.clone(), now(store)] {
            assert!(found(store, &generation, "paragraph").is_empty());
            assert_eq!(states(&listed(store, &generation)), [OverlayState::On]);
        }
        fixture.index();
        assert_eq!(now(store), first);
        assert!(found(store, &first, "paragraph").is_empty());
    });
}

#[test]
fn what_is_changed_while_the_next_generation_is_built_is_in_force_when_it_is_switched_to() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let (store, before) = (&*fixture.store, now(&*fixture.store));
        fixture.bag.down.store(true, Ordering::Relaxed);
        let withheld = run(&fixture, &other(&fixture));
        assert!(withheld.withheld.is_some() && now(store) == before);
        fixture.bag.down.store(false, Ordering::Relaxed);
        let overlay = change(&fixture, "interest", &|overlay| overlay.keywords = vec!["zebra".into()]);
        let report = run(&fixture, &other(&fixture));
        assert!(report.switched.is_some());
        assert_eq!(report.overlays, OverlayCounts { on: 1, ..OverlayCounts::default() });
        assert_eq!(found(store, &now(store), "zebra").len(), 1);
        let listed = listed(store, &now(store));
        assert_eq!((&listed[0].overlay.chunk_id, listed[0].state), (&overlay.chunk_id, OverlayState::On));
    });
}

#[test]
fn an_overlay_that_was_kept_and_not_put_on_is_listed_as_pending_and_put_on_by_the_next_run() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let store = &*fixture.store;
        let record = store.records(&now(store), "other.md").unwrap().remove(0);
        // A run that was killed did no more.
        store.put_overlay("test", &Overlay { disabled: true, ..Overlay::of(&record) }).unwrap();
        let pending = list_overlays(store, &now(store)).unwrap().remove(0);
        assert_eq!((pending.state, pending.on, pending.pending), (OverlayState::Orphaned, None, true));
        assert!(!found(store, &now(store), "interest").is_empty());
        let report = fixture.index();
        assert_eq!((report.unchanged, report.overlays.on), (2, 1));
        assert!(found(store, &now(store), "interest").is_empty());
        assert_eq!(states(&listed(store, &now(store))), [OverlayState::On]);
    });
}

#[test]
fn a_dry_run_leaves_what_was_taken_back_by_a_run_that_was_killed() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let store = &*fixture.store;
        let overlay = change(&fixture, "interest", &hide);
        // The overlay is forgotten, and still on its chunk.
        store.put_overlay("test", &Overlay { disabled: false, ..overlay }).unwrap();
        let dry = IndexOptions { dry_run: true, ..fixture.options.clone() };
        fixture.pipeline.index(&[fixture.root()], &dry, &|_| {}).unwrap();
        assert!(found(store, &now(store), "interest").is_empty());
        fixture.index();
        assert!(!found(store, &now(store), "interest").is_empty());
    });
}

#[test]
fn an_overlay_of_an_edited_chunk_is_carried_and_listed_until_it_is_accepted() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let store = &*fixture.store;
        change(&fixture, "installer", &hide);
        fixture.write("guide.md", guide().replace("all of its work", "everything").as_bytes());
        let forecast = fixture.pipeline.index(
            &[fixture.root()],
            &IndexOptions { dry_run: true, ..fixture.options.clone() },
            &|_| {},
        );
        let report = fixture.index();
        assert_eq!(report.overlays, OverlayCounts { carried: 1, ..OverlayCounts::default() });
        assert_eq!(forecast.unwrap().overlays, report.overlays);
        assert!(found(store, &now(store), "installer").is_empty());
        let carried = listed(store, &now(store)).remove(0);
        assert_eq!(carried.state, OverlayState::Carried);
        let id: ChunkId = carried.on.unwrap().parse().unwrap();
        amend_all(
            store,
            (&now(store), store.overlays(&now(store).collection).unwrap()),
            Tools::default(),
            &[id],
            Review::Accept,
            &|_| {},
        )
        .unwrap();
        let accepted = listed(store, &now(store)).remove(0);
        assert_eq!((accepted.state, &accepted.overlay.chunk_id), (OverlayState::On, &id.to_string()));
        assert!(found(store, &now(store), "installer").is_empty());
        assert_eq!(fixture.index().overlays, OverlayCounts { on: 1, ..OverlayCounts::default() });
    });
}

#[test]
fn a_text_given_by_hand_is_not_put_over_a_source_that_changed() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let store = &*fixture.store;
        change(&fixture, "installer", &|overlay| {
            overlay.text = Some("Use the wizard.".into());
            overlay.keywords = vec!["assistant".into()];
        });
        let edited = guide().replace("all of its work", "everything");
        fixture.write("guide.md", edited.as_bytes());
        assert_eq!(fixture.index().overlays, OverlayCounts { conflict: 1, ..OverlayCounts::default() });
        // The source is found, the text is not; what does not depend on the source is in force.
        assert_eq!(found(store, &now(store), "everything").len(), 1);
        assert!(found(store, &now(store), "wizard").is_empty());
        assert_eq!(found(store, &now(store), "assistant").len(), 1);
        let conflict = listed(store, &now(store)).remove(0);
        assert_eq!(conflict.state, OverlayState::Conflict);
        assert_eq!(conflict.overlay.text.as_deref(), Some("Use the wizard."));
        assert!(conflict.overlay.original.unwrap().contains("all of its work"));
        assert!(conflict.source.unwrap().contains("everything"));
        // It is no conflict when the source is what it was.
        fixture.write("guide.md", guide().as_bytes());
        assert_eq!(fixture.index().overlays.on, 1);
        assert_eq!(found(store, &now(store), "wizard").len(), 1);
        fixture.write("guide.md", edited.as_bytes());
        fixture.index();
        let id: ChunkId = conflict.on.unwrap().parse().unwrap();
        let accept = |change: &dyn Fn(&mut Overlay)| {
            amend_all(
                store,
                (&now(store), store.overlays(&now(store).collection).unwrap()),
                Tools::default(),
                &[id],
                Review::Accept,
                change,
            )
            .unwrap();
            assert_eq!(states(&listed(store, &now(store))), [OverlayState::On]);
        };
        // One way: the text. The other: the source.
        accept(&|_| {});
        assert_eq!(found(store, &now(store), "wizard").len(), 1);
        assert!(found(store, &now(store), "everything").is_empty());
        accept(&|overlay| overlay.text = None);
        assert!(found(store, &now(store), "wizard").is_empty());
        assert_eq!(found(store, &now(store), "everything").len(), 1);
        assert_eq!(found(store, &now(store), "assistant").len(), 1);
    });
}

#[test]
fn an_overlay_without_a_chunk_is_kept_and_returns_with_its_chunk() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let store = &*fixture.store;
        change(&fixture, "installer", &hide);
        fixture.write(
            "guide.md",
            guide().replace(INSTALL, "See the manual, which says how it is done.").as_bytes(),
        );
        assert_eq!(fixture.index().overlays, OverlayCounts { orphaned: 1, ..OverlayCounts::default() });
        assert_eq!(states(&listed(store, &now(store))), [OverlayState::Orphaned]);
        let id = listed(store, &now(store))[0].overlay.chunk_id.parse().unwrap();
        let accepted = amend_all(
            store,
            (&now(store), store.overlays(&now(store).collection).unwrap()),
            Tools::default(),
            &[id],
            Review::Accept,
            &|_| {},
        );
        assert!(matches!(accepted, Err(AmendError::Orphaned { .. })), "{accepted:?}");
        fixture.write("guide.md", guide().as_bytes());
        assert_eq!(fixture.index().overlays, OverlayCounts { on: 1, ..OverlayCounts::default() });
        assert!(found(store, &now(store), "installer").is_empty());
        // One that is on no chunk can be taken back.
        fixture.write("guide.md", b"# Guide\n");
        fixture.index();
        amend(store, &now(store), None, None, id, &|overlay| overlay.disabled = false).unwrap();
        assert!(store.overlays("test").unwrap().is_empty());
    });
}

#[test]
fn overlays_follow_a_document_that_is_renamed_and_no_copy_of_one_that_is_there() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let store = &*fixture.store;
        let pruning = IndexOptions { prune: chunkwright_index::Prune::Force, ..fixture.options.clone() };
        let index = || fixture.pipeline.index(&[fixture.root()], &pruning, &|_| {}).unwrap();
        change(&fixture, "installer", &hide);
        change(&fixture, "configuration", &|overlay| overlay.keywords = vec!["zebra".into()]);
        // A copy is another document.
        fixture.write("copy.md", guide().as_bytes());
        assert_eq!(index().overlays, OverlayCounts { on: 2, ..OverlayCounts::default() });
        assert_eq!(found(store, &now(store), "installer").len(), 1);
        fixture.remove("copy.md");
        index();
        // Moved and edited a little.
        fixture.remove("guide.md");
        fixture.write("docs/start.md", guide().replace("every change", "each change").as_bytes());
        let dry = IndexOptions { dry_run: true, ..pruning.clone() };
        let forecast = fixture.pipeline.index(&[fixture.root()], &dry, &|_| {}).unwrap();
        let report = index();
        assert_eq!(report.overlays, OverlayCounts { on: 1, carried: 1, ..OverlayCounts::default() });
        assert_eq!(forecast.overlays, report.overlays);
        assert!(found(store, &now(store), "installer").is_empty());
        assert_eq!(found(store, &now(store), "zebra").len(), 1);
        let all = listed(store, &now(store));
        assert!(all.iter().all(|listed| listed.on_doc_id.as_deref() == Some("docs/start.md")), "{all:?}");
        // They stay there over another edit, and come home with the file.
        fixture.write("docs/start.md", guide().replace("every change", "any change").as_bytes());
        assert_eq!(index().overlays, report.overlays);
        listed(store, &now(store));
        fixture.remove("docs/start.md");
        fixture.write("guide.md", guide().as_bytes());
        assert_eq!(index().overlays, OverlayCounts { on: 2, ..OverlayCounts::default() });
        listed(store, &now(store));
    });
}

#[test]
fn an_overlay_that_may_belong_to_two_documents_is_not_put_on_one_by_another_run() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let pruning = IndexOptions { prune: chunkwright_index::Prune::Force, ..fixture.options.clone() };
        let index = || fixture.pipeline.index(&[fixture.root()], &pruning, &|_| {}).unwrap();
        change(&fixture, "installer", &hide);
        change(&fixture, "configuration", &hide);
        fixture.remove("guide.md");
        // The first has one successor, the second two.
        let edited = guide().replace("all of its work", "its work").replace("every change", "each change");
        fixture.write("start.md", edited.as_bytes());
        let configure =
            format!("# Guide\n\n## Configure\n\n{CONFIGURE}\n").replace("every change", "any change");
        fixture.write("later.md", configure.as_bytes());
        let counts = OverlayCounts { carried: 1, orphaned: 1, ..OverlayCounts::default() };
        assert_eq!(index().overlays, counts);
        let before = listed(&*fixture.store, &now(&*fixture.store));
        assert_eq!(index().overlays, counts);
        assert_eq!(listed(&*fixture.store, &now(&*fixture.store)), before);
    });
}

#[test]
fn two_overlays_are_never_merged_on_one_chunk() {
    for_each_store(|kind| {
        let sections = ["Install", "Configure"].map(|title| {
            format!("## {title}\n\nThe same words stand in both of these sections, but for one that is {title}.\n\n")
        });
        let fixture = Fixture::new(kind, &[("a.md", &sections.concat())]);
        fixture.index();
        let store = &*fixture.store;
        let records = store.records(&now(store), "a.md").unwrap();
        assert_eq!(records.len(), 2);
        for (record, keyword) in records.iter().zip(["zebra", "giraffe"]) {
            let id = record.chunk_id;
            let put = |overlay: &mut Overlay| overlay.keywords = vec![keyword.into()];
            amend(store, &now(store), None, None, id, &put).unwrap();
        }
        fixture.write("a.md", sections[0].replace("but for one that is", "except").as_bytes());
        let report = fixture.index();
        assert_eq!(report.overlays.on + report.overlays.carried, 1);
        assert_eq!(report.overlays.orphaned, 1);
        listed(store, &now(store));
        assert!(found(store, &now(store), "giraffe").is_empty());
    });
}

#[test]
fn an_amended_chunk_has_the_counts_of_its_text_and_restored_it_is_as_it_was() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let store = &*fixture.store;
        let chunker = crate::fixture::chunker().with_window(Arc::new(Words), 10_000);
        let before = store.records(&now(store), "guide.md").unwrap();
        let id: ChunkId = before[0].chunk_id;
        let set = |text: Option<&str>, chunker: &Chunker| {
            let put = |overlay: &mut Overlay| overlay.text = text.map(str::to_owned);
            amend(store, &now(store), Some(&*fixture.bag), Some(chunker), id, &put)
        };
        let long = "слово ".repeat(60);
        let refused = set(Some(&long), &chunker);
        assert!(
            matches!(refused, Err(AmendError::TooLong { size: 360, limit: 240, unit: "chars" })),
            "{refused:?}"
        );
        assert_eq!(store.records(&now(store), "guide.md").unwrap(), before);
        set(Some("Нажмите кнопку."), &chunker).unwrap();
        let amended = store.records(&now(store), "guide.md").unwrap().remove(0);
        assert_eq!((amended.char_count, amended.word_count, amended.token_count), (15, 2, 2));
        assert!(!amended.oversize);
        // By another chunker than the generation's it is counted, and says that it is over the limit.
        set(Some(&long), &smaller()).unwrap();
        let amended: Record = store.records(&now(store), "guide.md").unwrap().remove(0);
        assert_eq!((amended.char_count, amended.word_count, amended.oversize), (360, 60, true));
        // What the run counts stays what it is.
        assert_eq!(fixture.index().unchanged, 2);
        set(None, &chunker).unwrap();
        assert_eq!(store.records(&now(store), "guide.md").unwrap(), before);
        assert!(store.overlays("test").unwrap().is_empty());
    });
}

#[test]
fn chunks_of_a_version_that_is_gone_are_not_changed() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let (store, generation) = (&*fixture.store, now(&*fixture.store));
        let infos = store.documents(&generation).unwrap();
        let records = store.records(&generation, "guide.md").unwrap();
        let guide = infos.iter().find(|info| info.doc_id == "guide.md").unwrap();
        let amend = |base: i64, record: &Record| Change::Amend {
            doc_id: "guide.md".into(),
            chunks: vec![NewChunk { enabled: false, ..NewChunk::new(record.clone()) }],
            base,
            overlays: format!(
                r#"[{{"on":"{0}","of":"{0}","state":"on","effect":"hidden"}}]"#,
                record.chunk_id
            ),
        };
        let foreign = store.records(&generation, "other.md").unwrap().remove(0);
        for stale in [amend(guide.version + 1000, &records[0]), amend(guide.version, &foreign)] {
            assert_eq!(store.write(&generation, &[stale]).unwrap(), [Outcome::Stale]);
        }
        assert_eq!(store.documents(&generation).unwrap(), infos);
        let change = amend(guide.version, &records[0]);
        assert_eq!(store.write(&generation, std::slice::from_ref(&change)).unwrap(), [Outcome::Written]);
        assert_eq!(store.write(&generation, &[change]).unwrap(), [Outcome::Stale]);
        assert_eq!(store.records(&generation, "guide.md").unwrap(), records);
        assert!(found(store, &generation, "installer").is_empty());
    });
}

#[test]
fn keywords_stay_when_the_words_of_a_store_are_analysed_again() {
    let fixture = corpus("sqlite");
    change(&fixture, "interest", &|overlay| overlay.keywords = vec!["zebra".into()]);
    let path = fixture.store_path();
    let Fixture { store, pipeline, folder, .. } = fixture;
    drop((store, pipeline));
    let file = rusqlite::Connection::open(path.join(chunkwright_index::SqliteStore::FILE)).unwrap();
    assert_eq!(file.execute("UPDATE meta SET value = 0 WHERE key = 'analysis'", []).unwrap(), 1);
    drop(file);
    let store = crate::fixture::open("sqlite", &folder.path().join("store"));
    assert_eq!(found(&*store, &now(&*store), "zebra").len(), 1);
    assert_eq!(states(&listed(&*store, &now(&*store))), [OverlayState::On]);
}

/// A pseudo-random sequence.
struct Rng(u64);

impl Rng {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % count
    }
}

const VOCABULARIES: [&[&str]; 3] = [
    &[
        "river", "window", "engine", "paper", "garden", "silver", "morning", "letter", "bridge", "summer",
        "copper",
    ],
    &["река", "окно", "двигатель", "бумага", "сад", "серебро", "утро", "письмо", "мост", "лето", "медь"],
    &["河流", "窗户", "引擎", "纸张", "花园", "白银", "早晨", "信件", "桥梁", "夏天", "黄铜"],
];

/// A paragraph that no other number has.
fn paragraph(rng: &mut Rng, language: usize, number: usize) -> String {
    let words = VOCABULARIES[language];
    let separator = if language == 2 { "" } else { " " };
    let words: Vec<String> = (0..14)
        .map(|at| format!("{}{}", words[rng.below(words.len())], (number * 31 + at * 7) % 97))
        .collect();
    words.join(separator)
}

/// What became of a section since its overlay was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edited {
    No,
    Word,
    All,
    Gone,
}

struct Section {
    original: String,
    text: String,
    edited: Edited,
    /// Whether it has an overlay, and whether that gives a text.
    overlay: Option<(String, bool)>,
}

#[test]
fn states_are_what_a_model_says_over_random_edits_in_three_languages() {
    for_each_local_store(|kind| {
        for seed in 0..6 {
            let mut rng = Rng(seed);
            let mut number = 0;
            let mut documents: Vec<(String, Vec<Section>)> = (0..3)
                .map(|language| {
                    let sections = (0..6).map(|_| {
                        number += 1;
                        let original = paragraph(&mut rng, language, number);
                        Section { text: original.clone(), original, edited: Edited::No, overlay: None }
                    });
                    (format!("{language}.md"), sections.collect())
                })
                .collect();
            let fixture = Fixture::new(kind, &[]);
            let store = &*fixture.store;
            let write = |documents: &[(String, Vec<Section>)]| {
                for (name, sections) in documents {
                    let mut text = String::new();
                    for (at, section) in sections.iter().enumerate() {
                        if section.edited != Edited::Gone {
                            write!(text, "# Section {at}\n\n{}\n\n", section.text).unwrap();
                        }
                    }
                    fixture.write(name, text.as_bytes());
                }
            };
            write(&documents);
            fixture.index();
            let pipelines = [fixture.pipeline.clone(), wider(&fixture)];
            let mut pipeline = 0;
            for step in 0..24 {
                let language = rng.below(3);
                let (name, sections) = &mut documents[language];
                let at = rng.below(sections.len());
                let section = &mut sections[at];
                match rng.below(7) {
                    0 if section.edited == Edited::No && section.overlay.is_none() => {
                        let records = store.records(&now(store), name).unwrap();
                        let record = records.iter().find(|record| record.content.contains(&section.text));
                        let id = record.unwrap().chunk_id;
                        let kind = rng.below(4);
                        let put = |overlay: &mut Overlay| match kind {
                            0 => overlay.disabled = true,
                            1 => overlay.keywords = vec![format!("keyword{step}")],
                            2 => overlay.pins = vec![format!("query {step}")],
                            _ => overlay.text = Some(format!("Text given at step {step}.")),
                        };
                        let overlay = amend(store, &now(store), None, None, id, &put).unwrap();
                        section.overlay = Some((overlay.chunk_id, overlay.text.is_some()));
                    }
                    1 => {
                        let end = section.original.char_indices().nth(section.original.chars().count() / 2);
                        let (head, tail) = section.original.split_at(end.unwrap().0);
                        section.text = format!("{head} edited{step} {tail}");
                        section.edited = Edited::Word;
                    }
                    2 => {
                        number += 1;
                        section.text = format!("{} {step}", paragraph(&mut rng, language, 1000 + number));
                        section.edited = Edited::All;
                    }
                    3 => section.edited = Edited::Gone,
                    4 => pipeline = 1 - pipeline,
                    _ => {
                        section.text.clone_from(&section.original);
                        section.edited = Edited::No;
                    }
                }
                write(&documents);
                let options = IndexOptions { dry_run: true, ..fixture.options.clone() };
                let index = |options| pipelines[pipeline].index(&[fixture.root()], options, &|_| {}).unwrap();
                let forecast = index(&options);
                let report = index(&fixture.options);
                assert_eq!(forecast.overlays, report.overlays, "seed {seed}, step {step}");
                let listed = listed(store, &now(store));
                for (sections, listed) in
                    documents.iter().flat_map(|(_, sections)| sections).filter_map(|section| {
                        let (id, gives_text) = section.overlay.as_ref()?;
                        let listed = listed.iter().find(|listed| listed.overlay.chunk_id == *id).unwrap();
                        Some(((section.edited, *gives_text), listed))
                    })
                {
                    let expected = match sections {
                        (Edited::No, _) => OverlayState::On,
                        (Edited::Word, false) => OverlayState::Carried,
                        (Edited::Word, true) => OverlayState::Conflict,
                        (Edited::All | Edited::Gone, _) => OverlayState::Orphaned,
                    };
                    assert_eq!(listed.state, expected, "seed {seed}, step {step}: {listed:?}");
                }
            }
        }
    });
}

/// Another configuration that cuts these documents into the same chunks.
fn wider(fixture: &Fixture) -> Pipeline {
    let config = ChunkConfig {
        unit: Unit::Chars,
        max_size: 250,
        target_size: 200,
        min_size: 0,
        ..crate::fixture::chunker().config().clone()
    };
    let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
    Pipeline::new(Arc::clone(&fixture.store), "test", chunker, "test").with_embedder(fixture.bag.clone())
}
