//! Fault injection: a store that fails at every step in turn, readers beside writers, and faults of a disk.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use chunkwright::{ChunkConfig, ChunkId, Chunker, Record, Words};
use chunkwright_index::bm25::TermId;
use chunkwright_index::transfer::Vectors;
use chunkwright_index::{
    Cache, CacheUsage, Change, CheckReport, ChunkPage, ChunkStore, Collection, CollectionStore,
    CollectionsBehind, DocumentInfo, DocumentStore, DocumentsBehind, Filter, Generation, GenerationSpec,
    GenerationStore, IndexError, ListRequest, ListedCollections, ListedDocuments, Mode, Models, Origin,
    Outcome, Overlay, OverlayStore, Overlays, PastRun, Pipeline, Prune, Scored, SearchOptions, SourcePart,
    SourceRange, Statistics, StatisticsRequest, Store, StoreError, StoredChunk, StoredDocument, Vector,
    amend, list_overlays, search,
};
use chunkwright_models::{RerankError, Reranker, TextHash};
use chunkwright_source::NewSource;

use crate::fixture::{COLLECTION, Fixture, Lines, chunker, for_each_store, now};
use crate::kinds::for_each_local_store;
use crate::stride::one_in;
use crate::transfer;

/// Does what another store does, but fails at one of its calls, and at every one after it.
struct Failing {
    inner: Arc<dyn Store>,
    /// Calls that are left before the failure.
    left: AtomicI64,
    /// A document one of whose chunks has the id of another's.
    colliding: Option<&'static str>,
}

impl Failing {
    fn step(&self) -> Result<(), StoreError> {
        if self.left.fetch_sub(1, Ordering::Relaxed) > 0 {
            return Ok(());
        }
        Err(StoreError::Io { path: "disk".into(), error: std::io::ErrorKind::StorageFull.into() })
    }
}

macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> Result<$result, StoreError> {
            self.step()?;
            let result = self.inner.$name($($argument),*)?;
            // The engine did it and the answer was lost.
            self.step()?;
            Ok(result)
        })*
    };
}

impl CollectionStore for Failing {
    forward! {
        list_collections(request: &CollectionsBehind<'_>) -> ListedCollections;
        collection(name: &str) -> Option<Collection>;
        visible() -> Vec<Generation>;
        rename(from: &str, to: &str) -> ();
    }
}

impl GenerationStore for Failing {
    forward! {
        lookup(name: &str) -> Option<Generation>;
        find(collection: &str, spec: &GenerationSpec) -> Option<Generation>;
        begin(collection: &str, spec: &GenerationSpec) -> Generation;
        switch(generation: &Generation) -> ();
        is_complete(generation: &Generation) -> bool;
        remove(generation: &Generation) -> ();
    }
}

impl DocumentStore for Failing {
    forward! {
        documents(generation: &Generation) -> Vec<DocumentInfo>;
        list_documents(generation: &Generation, request: &DocumentsBehind<'_>) -> ListedDocuments;
        document_infos(generation: &Generation, doc_ids: &[&str]) -> Vec<Option<DocumentInfo>>;
        document(generation: &Generation, doc_id: &str) -> Option<StoredDocument>;
        source(generation: &Generation, range: SourceRange<'_>) -> Option<SourcePart>;
        records(generation: &Generation, doc_id: &str) -> Vec<Record>;
    }

    fn write(&self, generation: &Generation, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        self.step()?;
        for change in changes {
            if let Change::Replace(new) = change
                && let Some(doc_id) =
                    self.colliding.filter(|colliding| new.document.info.doc_id == *colliding)
            {
                return Err(StoreError::IdCollision {
                    id: new.chunks[0].record.chunk_id,
                    doc_id: doc_id.into(),
                });
            }
        }
        let outcomes = self.inner.write(generation, changes)?;
        self.step()?;
        Ok(outcomes)
    }
}

impl ChunkStore for Failing {
    forward! {
        chunks(generation: &Generation, ids: &[ChunkId]) -> Vec<Option<Arc<StoredChunk>>>;
        origins(generation: &Generation, ids: &[ChunkId]) -> Vec<Option<Origin>>;
        codes(generation: &Generation, ids: &[ChunkId]) -> Vec<Option<Vec<u8>>>;
        list(generation: &Generation, request: &ListRequest) -> ChunkPage;
        statistics(generation: &Generation, request: &StatisticsRequest) -> Statistics;
        dense(generation: &Generation, query: &[f32], filter: &Filter, limit: usize) -> Vec<Scored>;
        sparse(generation: &Generation, query: &[(u32, f32)], filter: &Filter, limit: usize) -> Vec<Scored>;
        lexical(generation: &Generation, terms: &[(TermId, f32)], filter: &Filter, limit: usize) -> Vec<Scored>;
    }
}

impl OverlayStore for Failing {
    forward! {
        overlays(collection: &str) -> Overlays;
        put_overlays(collection: &str, overlays: &[Overlay]) -> ();
        runs(collection: &str) -> Vec<PastRun>;
        add_run(collection: &str, run: &PastRun) -> ();
    }

    fn overlays_revision(&self) -> u64 {
        self.inner.overlays_revision()
    }
}

impl Store for Failing {
    forward! {
        check_documents_of(collection: Option<&str>) -> CheckReport;
    }

    fn cache(&self) -> &dyn Cache {
        self
    }
}

macro_rules! forward_cache {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> Result<$result, StoreError> {
            self.step()?;
            self.inner.cache().$name($($argument),*)
        })*
    };
}

impl Cache for Failing {
    forward_cache! {
        vectors(model: &str, hashes: &[TextHash]) -> Vec<Option<Vector>>;
        put_vectors(model: &str, vectors: &[(TextHash, Vector)]) -> ();
        notes(keys: &[TextHash]) -> Vec<Option<String>>;
        put_notes(notes: &[(TextHash, String)]) -> ();
        usage() -> Vec<CacheUsage>;
        clear() -> usize;
    }
}

fn smaller() -> Chunker {
    let config = ChunkConfig { max_size: 120, target_size: 100, ..chunker().config().clone() };
    Chunker::new(config, Arc::new(Words)).unwrap()
}

fn text(file: usize, word: &str) -> String {
    let section = |n| {
        format!("## Part {n}\n\nFile {file} speaks of {word} in part {n}, at some length and with care.\n\n")
    };
    (0..6).map(section).collect()
}

/// What searches see: documents and their contents, all of one configuration.
fn visible(store: &dyn Store) -> Vec<(String, String, usize)> {
    let Ok(current) = store.open(COLLECTION) else { return Vec::new() };
    let of = |info: DocumentInfo| {
        let records = store.records(&current, &info.doc_id).unwrap();
        assert!(records.iter().all(|record| record.config_hash == current.spec.config_hash));
        assert_eq!(records.len(), info.chunks as usize);
        (
            info.doc_id.clone(),
            store.document(&current, &info.doc_id).unwrap().unwrap().source.to_string(),
            records.len(),
        )
    };
    store.documents(&current).unwrap().into_iter().map(of).collect()
}

#[test]
fn a_failure_at_any_step_leaves_the_old_or_the_new_and_the_next_run_makes_it_good() {
    for_each_local_store(|kind| {
        let mut step = 0;
        loop {
            let mut fixture = Fixture::new(kind, &[]);
            for file in 0..5 {
                fixture.write(format!("{file}.md"), text(file, "apples").as_bytes());
            }
            fixture.index();
            let before = visible(&*fixture.store);
            fixture.write("1.md", text(1, "pears").as_bytes());
            fixture.write("9.md", text(9, "plums").as_bytes());
            fixture.remove("2.md");
            fixture.options.prune = Prune::Remove;
            let failing = Arc::new(Failing {
                inner: Arc::clone(&fixture.store),
                left: AtomicI64::new(step),
                colliding: None,
            });
            let run = |store: Arc<dyn Store>| {
                let pipeline =
                    Pipeline::new(store, COLLECTION, smaller(), "test").with_embedder(fixture.bag.clone());
                pipeline.index(&[fixture.root()], &fixture.options, &|_| {})
            };
            let failed = run(Arc::clone(&failing) as _);
            if let Err(error) = &failed {
                assert!(matches!(error, IndexError::Store(StoreError::Io { .. })), "{error}");
            }
            assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new(), "{kind} step {step}");
            let after = visible(&*fixture.store);
            run(Arc::clone(&fixture.store)).unwrap();
            let good = visible(&*fixture.store);
            assert_eq!(
                good.iter().map(|(doc_id, ..)| doc_id.as_str()).collect::<Vec<_>>(),
                ["0.md", "1.md", "3.md", "4.md", "9.md"]
            );
            assert!(good[1].1.contains("pears"));
            // The old generation is seen, or the new one, and nothing between.
            assert!(after == before || after == good, "{kind} step {step}: {after:?}");
            assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
            if failed.is_ok() {
                break;
            }
            // Odd, since failures before and after a call take turns.
            step += i64::try_from(one_in(3)).unwrap();
        }
        assert!(step > 20, "{kind}: only {step} steps");
    });
}

#[test]
fn a_failure_at_any_step_of_a_put_leaves_the_old_or_the_new_and_the_next_one_makes_it_good() {
    for_each_local_store(|kind| {
        let mut step = 0;
        loop {
            let fixture = Fixture::new(kind, &[]);
            let source = |file: usize, word: &str| NewSource::new(format!("{file}.md"), text(file, word));
            let first = (0..5).map(|file| source(file, "apples"));
            fixture.pipeline.put(first, &fixture.options, &|_| {}).unwrap();
            let before = visible(&*fixture.store);
            let failing = Arc::new(Failing {
                inner: Arc::clone(&fixture.store),
                left: AtomicI64::new(step),
                colliding: None,
            });
            // Cut otherwise: what is not put is cut again of what the store has.
            let put = |store: Arc<dyn Store>| {
                let pipeline =
                    Pipeline::new(store, COLLECTION, smaller(), "test").with_embedder(fixture.bag.clone());
                pipeline.put([source(1, "pears"), source(9, "plums")], &fixture.options, &|_| {})
            };
            let failed = put(Arc::clone(&failing) as _);
            if let Err(error) = &failed {
                assert!(matches!(error, IndexError::Store(StoreError::Io { .. })), "{error}");
            }
            assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new(), "{kind} step {step}");
            let after = visible(&*fixture.store);
            put(Arc::clone(&fixture.store)).unwrap();
            let good = visible(&*fixture.store);
            let names: Vec<&str> = good.iter().map(|(doc_id, ..)| doc_id.as_str()).collect();
            assert_eq!(names, ["0.md", "1.md", "2.md", "3.md", "4.md", "9.md"]);
            assert!(good[1].1.contains("pears"));
            assert!(after == before || after == good, "{kind} step {step}: {after:?}");
            assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
            if failed.is_ok() {
                break;
            }
            step += i64::try_from(one_in(3)).unwrap();
        }
        assert!(step > 20, "{kind}: only {step} steps");
    });
}

#[test]
fn a_failure_at_any_step_of_an_import_shows_the_old_or_the_new_and_the_next_one_makes_it_good() {
    let other = Fixture::new("memory", &[]);
    for file in 0..5 {
        other.write(format!("{file}.md"), text(file, "pears").as_bytes());
    }
    let pipeline = Pipeline::new(Arc::clone(&other.store), COLLECTION, smaller(), "test");
    let pipeline = pipeline.with_embedder(other.bag.clone());
    pipeline.index(&[other.root()], &other.options, &|_| {}).unwrap();
    let rows = transfer::rows(&*other.store, Vectors::Moved);
    let (first, second) = rows.into_iter().partition(|row| row.record.doc_id.as_str() < "2.md");
    let shards = [Lines(first), Lines(second)];
    for_each_local_store(|kind| {
        let mut step = 0;
        loop {
            let fixture = Fixture::new(kind, &[]);
            for file in 0..5 {
                fixture.write(format!("{file}.md"), text(file, "apples").as_bytes());
            }
            fixture.index();
            let before = visible(&*fixture.store);
            let failing =
                Failing { inner: Arc::clone(&fixture.store), left: AtomicI64::new(step), colliding: None };
            let failed = transfer::import_files(&failing, &shards, &|_| None);
            let after = visible(&*fixture.store);
            transfer::import_files(&*fixture.store, &shards, &|_| None).unwrap();
            let good = visible(&*fixture.store);
            assert!(good.len() == 5 && good.iter().all(|(_, source, _)| source.contains("pears")), "{kind}");
            assert!(after == before || after == good, "{kind} step {step}: {after:?}");
            assert_eq!(fixture.store.check().unwrap().problems, Vec::<String>::new());
            if failed.is_ok() {
                break;
            }
            step += i64::try_from(one_in(3)).unwrap();
        }
        assert!(step > 20, "{kind}: only {step} steps");
    });
}

#[test]
fn a_document_with_the_chunk_id_of_another_fails_alone() {
    for_each_local_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        for file in 0..3 {
            fixture.write(format!("{file}.md"), text(file, "apples").as_bytes());
        }
        fixture.index();
        for file in 0..3 {
            fixture.write(format!("{file}.md"), text(file, "pears").as_bytes());
        }
        let store = Failing {
            inner: Arc::clone(&fixture.store),
            left: AtomicI64::new(i64::MAX),
            colliding: Some("1.md"),
        };
        let pipeline = Pipeline::new(Arc::new(store), COLLECTION, chunker(), "test");
        let pipeline = pipeline.with_embedder(fixture.bag.clone());
        let report = pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        assert!(report.adds_up() && report.indexed == 2, "{report:?}");
        let [failed] = &report.failed[..] else { panic!("{:?}", report.failed) };
        assert!(failed.doc_id == "1.md" && failed.message.contains("another"), "{}", failed.message);
        let words = visible(&*fixture.store).into_iter().map(|(_, source, _)| source.contains("pears"));
        assert_eq!(words.collect::<Vec<_>>(), [true, false, true], "{kind}");
    });
}

#[test]
fn a_reader_sees_one_generation_and_one_version_whatever_is_written_meanwhile() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        for file in 0..8 {
            fixture.write(format!("{file}.md"), text(file, "apples").as_bytes());
        }
        fixture.index();
        let done = AtomicBool::new(false);
        let options = SearchOptions { top_k: 50, mode: Mode::Hybrid, ..SearchOptions::default() };
        let seen = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut generations = std::collections::BTreeSet::new();
                while !done.load(Ordering::Relaxed) {
                    let generation = now(&*fixture.store);
                    let models = Models::embedder(&*fixture.bag);
                    let answer =
                        search(&*fixture.store, &generation, models, "part speaks apples pears", &options);
                    // It may have been pruned since it was opened, which a reader is told.
                    let answer = match answer {
                        Ok(answer) => answer,
                        Err(error) => {
                            assert!(error.to_string().contains("unknown generation"), "{error}");
                            continue;
                        }
                    };
                    assert!(!answer.hits.is_empty());
                    let mut versions: HashMap<String, String> = HashMap::new();
                    for hit in &answer.hits {
                        assert_eq!(hit.generation, generation.number);
                        assert_eq!(hit.record.config_hash, generation.spec.config_hash);
                        let version =
                            versions.entry(hit.record.doc_id.clone()).or_insert(hit.record.file_hash.clone());
                        assert_eq!(*version, hit.record.file_hash, "two versions of {}", hit.record.doc_id);
                    }
                    generations.insert(generation.number);
                }
                generations
            });
            for round in 0..12 {
                for file in 0..8 {
                    let word = if round % 2 == 0 { "pears" } else { "apples" };
                    fixture.write(format!("{file}.md"), text(file, &format!("{word} {round}")).as_bytes());
                }
                let chunker = if round % 2 == 0 { smaller() } else { chunker() };
                let pipeline = Pipeline::new(Arc::clone(&fixture.store), COLLECTION, chunker, "test")
                    .with_embedder(fixture.bag.clone());
                pipeline.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
                if round == 6 {
                    let current = now(&*fixture.store);
                    for status in fixture.store.collections().unwrap().remove(0).generations {
                        if status.generation != current {
                            fixture.store.remove(&status.generation).unwrap();
                        }
                    }
                }
            }
            done.store(true, Ordering::Relaxed);
            reader.join().unwrap()
        });
        assert!(!seen.is_empty(), "{kind}");
    });
}

/// Replaces every document once, while it is asked how well the texts of the old ones answer.
struct Meddler<'a> {
    fixture: &'a Fixture,
    is_done: AtomicBool,
}

impl Reranker for Meddler<'_> {
    fn name(&self) -> &'static str {
        "meddler"
    }

    fn rerank(&self, _query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        if !self.is_done.swap(true, Ordering::Relaxed) {
            for file in 0..4 {
                self.fixture.write(format!("{file}.md"), text(file, "pears").as_bytes());
            }
            self.fixture.index();
        }
        Ok(texts.iter().map(|_| 1.0).collect())
    }
}

#[test]
fn a_document_that_is_replaced_while_it_is_searched_is_found_as_it_is_now() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        for file in 0..4 {
            fixture.write(format!("{file}.md"), text(file, "apples").as_bytes());
        }
        fixture.index();
        let generation = now(&*fixture.store);
        let meddler = Meddler { fixture: &fixture, is_done: AtomicBool::new(false) };
        let models = Models { reranker: Some(&meddler), ..Models::embedder(&*fixture.bag) };
        let options = SearchOptions { top_k: 50, ..SearchOptions::default() };
        let calls = fixture.bag.calls.load(Ordering::Relaxed);
        let answer = search(&*fixture.store, &generation, models, "part speaks", &options).unwrap();
        assert_eq!(
            answer.hits.len(),
            fixture.store.records(&generation, "0.md").unwrap().len() * 4,
            "{kind}"
        );
        assert!(answer.hits.iter().all(|hit| hit.record.content.contains("pears")), "{kind}");
        // The question is embedded once, beside the passages.
        let passages = fixture.bag.take_texts();
        assert!(passages.iter().any(|passage| passage.contains("pears")));
        assert!(fixture.bag.calls.load(Ordering::Relaxed) - calls <= 1 + 4, "{kind}");
    });
}

#[test]
fn what_was_changed_by_hand_while_a_generation_was_built_is_in_force_when_it_is_the_current_one() {
    for_each_local_store(|kind| {
        let mut step = 0;
        loop {
            let fixture = Fixture::new(kind, &[]);
            for file in 0..3 {
                fixture.write(format!("{file}.md"), text(file, "apples").as_bytes());
            }
            fixture.index();
            let run = |store: Arc<dyn Store>| {
                let pipeline =
                    Pipeline::new(store, COLLECTION, smaller(), "test").with_embedder(fixture.bag.clone());
                pipeline.index(&[fixture.root()], &fixture.options, &|_| {})
            };
            // The run that builds it ends somewhere.
            let failing =
                Failing { inner: Arc::clone(&fixture.store), left: AtomicI64::new(step), colliding: None };
            let is_built = run(Arc::new(failing)).is_ok();
            let store = &*fixture.store;
            for (file, disabled) in [("0.md", false), ("1.md", true)] {
                let id = store.records(&now(store), file).unwrap()[0].chunk_id;
                let change = |overlay: &mut Overlay| {
                    (overlay.keywords, overlay.disabled) = (vec!["wizard".into()], disabled);
                };
                amend(store, &now(store), None, None, id, &change).unwrap();
            }
            run(Arc::clone(&fixture.store)).unwrap();
            let options = SearchOptions { mode: Mode::Lexical, ..SearchOptions::default() };
            let hits = search(store, &now(store), Models::default(), "wizard", &options).unwrap().hits;
            let listed = list_overlays(store, &now(store)).unwrap();
            assert_eq!(listed.len(), 2);
            for listed in listed {
                let is_found = hits.iter().any(|hit| Some(hit.record.chunk_id.to_string()) == listed.on);
                let is_shown = listed.on.is_some() && !listed.overlay.disabled;
                assert!(!listed.pending && is_found == is_shown, "{kind} step {step}: {listed:?}");
            }
            if is_built {
                break;
            }
            step += if ["sqlite", "memory"].contains(&kind) { 1 } else { 11 };
        }
        assert!(step > 10, "{kind}: only {step} steps");
    });
}

#[test]
fn a_change_by_hand_follows_its_renamed_document_wherever_the_run_before_failed() {
    for_each_store(|kind| {
        let mut step = 0;
        loop {
            let mut fixture = Fixture::new(kind, &[]);
            fixture.options.prune = Prune::Force;
            for file in 0..3 {
                fixture.write(format!("{file}.md"), text(file, "apples").as_bytes());
            }
            fixture.index();
            let store = &*fixture.store;
            let id = store.records(&now(store), "1.md").unwrap()[0].chunk_id;
            amend(store, &now(store), None, None, id, &|overlay| overlay.disabled = true).unwrap();
            fixture.remove("1.md");
            // As the collection has no such document, every other one is searched for the chunk, and that once.
            fixture.write("9.md", format!("{}\n\nAnd more.\n", text(1, "apples").trim_end()).as_bytes());
            let failing =
                Failing { inner: Arc::clone(&fixture.store), left: AtomicI64::new(step), colliding: None };
            let run = |store: Arc<dyn Store>| {
                let pipeline = Pipeline::new(store, COLLECTION, chunker(), "test");
                let pipeline = pipeline.with_embedder(fixture.bag.clone());
                pipeline.index(&[fixture.root()], &fixture.options, &|_| {})
            };
            let is_over = run(Arc::new(failing)).is_ok();
            run(Arc::clone(&fixture.store)).unwrap();
            let listed = list_overlays(store, &now(store)).unwrap();
            let on: Vec<_> = listed.iter().map(|listed| listed.on_doc_id.as_deref()).collect();
            assert_eq!(on, [Some("9.md")], "{kind} step {step}: {listed:?}");
            if is_over {
                break;
            }
            step += if ["sqlite", "memory"].contains(&kind) { 1 } else { 11 };
        }
        assert!(step > 10, "{kind}: only {step} steps");
    });
}
