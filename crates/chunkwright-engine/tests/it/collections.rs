//! Many collections: operations on one and on all, whose cost grows only with what is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use chunkwright::{ChunkId, Record};
use chunkwright_engine::settings::{Layers, Source};
use chunkwright_engine::{
    Access, AmendRequest, CollectionSort, Direction, Engine, Filter, Found, GivenDocument, Jobs,
    ListCollectionsRequest, ListRequest, NoticeCode, PutRequest, SearchRequest, Statistics,
    StatisticsRequest,
};
use chunkwright_index::bm25::TermId;
use chunkwright_index::{
    Cache, Change, CheckReport, ChunkPage, ChunkStore, Collection, CollectionStore, CollectionsBehind,
    DocumentInfo, DocumentStore, DocumentsBehind, Generation, GenerationSpec, GenerationStore,
    ListedCollections, ListedDocuments, MemoryStore, Origin, Outcome, Overlay, OverlayStore, Overlays,
    PastRun, Scored, SourcePart, SourceRange, Store, StoreError, StoredChunk, StoredDocument,
};
use serde_json::json;

/// Does what a store in memory does, counts its calls, and holds statistics back while it is told to.
#[derive(Default)]
struct Counting {
    inner: MemoryStore,
    calls: AtomicUsize,
    /// How often each method was called, since the test began.
    named: Mutex<BTreeMap<&'static str, usize>>,
    holds: AtomicBool,
    statistics: Mutex<usize>,
    changed: Condvar,
}

impl Counting {
    fn take(&self) -> usize {
        self.calls.swap(0, Ordering::Relaxed)
    }

    /// The calls of each method since this was asked last.
    fn take_named(&self) -> BTreeMap<&'static str, usize> {
        std::mem::take(&mut self.named.lock().unwrap())
    }

    fn release(&self) {
        self.holds.store(false, Ordering::SeqCst);
        self.changed.notify_all();
    }

    /// Waits until statistics of so many generations were read.
    fn wait_for(&self, generations: usize) {
        let read = self.statistics.lock().unwrap();
        drop(self.changed.wait_while(read, |read| *read < generations).unwrap());
    }
}

macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> Result<$result, StoreError> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            *self.named.lock().unwrap().entry(stringify!($name)).or_default() += 1;
            self.inner.$name($($argument),*)
        })*
    };
}

impl CollectionStore for Counting {
    forward! {
        list_collections(request: &CollectionsBehind<'_>) -> ListedCollections;
        collection(name: &str) -> Option<Collection>;
        visible() -> Vec<Generation>;
        rename(from: &str, to: &str) -> ();
    }
}

impl GenerationStore for Counting {
    forward! {
        lookup(name: &str) -> Option<Generation>;
        find(collection: &str, spec: &GenerationSpec) -> Option<Generation>;
        begin(collection: &str, spec: &GenerationSpec) -> Generation;
        switch(generation: &Generation) -> ();
        is_complete(generation: &Generation) -> bool;
        remove(generation: &Generation) -> ();
    }
}

impl DocumentStore for Counting {
    forward! {
        write(generation: &Generation, changes: &[Change]) -> Vec<Outcome>;
        documents(generation: &Generation) -> Vec<DocumentInfo>;
        list_documents(generation: &Generation, request: &DocumentsBehind<'_>) -> ListedDocuments;
        document_infos(generation: &Generation, doc_ids: &[&str]) -> Vec<Option<DocumentInfo>>;
        document(generation: &Generation, doc_id: &str) -> Option<StoredDocument>;
        source(generation: &Generation, range: SourceRange<'_>) -> Option<SourcePart>;
        records(generation: &Generation, doc_id: &str) -> Vec<Record>;
    }
}

impl ChunkStore for Counting {
    forward! {
        chunks(generation: &Generation, ids: &[ChunkId]) -> Vec<Option<Arc<StoredChunk>>>;
        origins(generation: &Generation, ids: &[ChunkId]) -> Vec<Option<Origin>>;
        codes(generation: &Generation, ids: &[ChunkId]) -> Vec<Option<Vec<u8>>>;
        list(generation: &Generation, request: &ListRequest) -> ChunkPage;
        dense(generation: &Generation, query: &[f32], filter: &Filter, limit: usize) -> Vec<Scored>;
        sparse(generation: &Generation, query: &[(u32, f32)], filter: &Filter, limit: usize) -> Vec<Scored>;
        lexical(generation: &Generation, terms: &[(TermId, f32)], filter: &Filter, limit: usize) -> Vec<Scored>;
    }

    fn statistics(
        &self,
        generation: &Generation,
        request: &StatisticsRequest,
    ) -> Result<Statistics, StoreError> {
        let read = self.statistics.lock().unwrap();
        let mut read = self.changed.wait_while(read, |_| self.holds.load(Ordering::SeqCst)).unwrap();
        *read += 1;
        let statistics = self.inner.statistics(generation, request);
        self.changed.notify_all();
        statistics
    }
}

impl OverlayStore for Counting {
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

impl Store for Counting {
    forward! {
        check_documents_of(collection: Option<&str>) -> CheckReport;
        check() -> CheckReport;
    }

    fn cache(&self) -> &dyn Cache {
        self.inner.cache()
    }
}

fn engine(store: &Arc<Counting>) -> Engine {
    let values = [("tokenizer", "words"), ("embedder", "none")];
    let values = values.map(|(key, value)| (key.to_owned(), json!(value)));
    let settings = Layers::default().settings(Source::Request, values).unwrap();
    Engine::builder(settings).store(Arc::clone(store) as Arc<dyn Store>).open(Access::Write).unwrap()
}

fn put(engine: &Engine, collection: &str, documents: usize) {
    let document = |number| GivenDocument {
        doc_id: format!("{number}.md"),
        text: Some(format!("# Lamp {number}\n\nThe lamp of {collection}, its wire and its switch.\n")),
        ..GivenDocument::default()
    };
    let request = PutRequest { documents: (0..documents).map(document).collect(), ..PutRequest::default() };
    engine.collection(collection).put_documents(request).unwrap();
}

fn many(collections: usize) -> (Arc<Counting>, Engine) {
    let store = Arc::new(Counting::default());
    let engine = engine(&store);
    for number in 0..collections {
        put(&engine, &format!("team-{number:04}"), 1 + number % 3);
    }
    store.take();
    (store, engine)
}

fn all(query: &str) -> SearchRequest {
    SearchRequest { all_collections: true, ..SearchRequest::new(query) }
}

#[test]
fn making_finding_and_removing_a_collection_asks_the_store_the_same_however_many_there_are() {
    let mut one = None;
    for n in [1, 2, 4, 8] {
        let (store, engine) = many(20 * n);
        put(&engine, "new", 2);
        let made = store.take();
        let request =
            ListCollectionsRequest { name: "EW".into(), limit: 5, ..ListCollectionsRequest::default() };
        assert_eq!(engine.list_collections(&request).unwrap().total, 1);
        engine.collection("new").listed().unwrap();
        engine.collection("new").search(&SearchRequest::new("lamp")).unwrap();
        let found = store.take();
        let request =
            chunkwright_engine::DeleteRequest { what: chunkwright_engine::Deleted::All, dry_run: false };
        engine.collection("new").delete(&request).unwrap();
        let calls = (made, found, store.take());
        assert_eq!(*one.get_or_insert(calls), calls, "{n}");
    }
}

#[test]
fn a_search_of_all_collections_asks_each_the_same_and_its_answer_does_not_grow_with_them() {
    let mut one = None;
    for n in [1, 2, 4, 8] {
        let (store, engine) = many(30 * n);
        let answer = engine.search(&SearchRequest { top_k: 3, ..all("wire of a lamp") }).unwrap();
        let calls = store.take();
        let most = *one.get_or_insert(calls) * n;
        assert!(calls <= most, "{calls} at {n}, {most} allowed");
        assert_eq!((answer.searched, answer.collections.len()), (30 * n, (30 * n).min(100)));
        assert!(answer.notices.len() <= 6, "{:?}", answer.notices);
        let Found::Hits { hits } = answer.found else { panic!("no hits") };
        assert_eq!(hits.len(), 3);
        for hit in hits {
            assert!(answer.collections.iter().any(|searched| searched.collection == hit.collection));
        }
    }
}

#[test]
fn notices_that_many_collections_share_are_a_few_and_a_number() {
    let (_, engine) = many(12);
    let answer = engine.search(&all("lamp")).unwrap();
    let about = answer.notices.iter().filter(|notice| notice.code == NoticeCode::NoVectors);
    let messages: Vec<&str> = about.map(|notice| notice.message.as_str()).collect();
    assert_eq!(messages.len(), 6, "{messages:?}");
    assert!(messages[0].starts_with("collection `team-0000`: searched lexical only"), "{messages:?}");
    assert_eq!(messages[5], "the same holds for 7 more collections");
}

#[test]
fn pages_of_collections_follow_one_another_in_every_order() {
    let (_, engine) = many(25);
    for (sort, direction) in [
        (CollectionSort::Name, Direction::Ascending),
        (CollectionSort::Name, Direction::Descending),
        (CollectionSort::Documents, Direction::Descending),
        (CollectionSort::Chunks, Direction::Ascending),
    ] {
        let mut request =
            ListCollectionsRequest { sort, direction, limit: 7, ..ListCollectionsRequest::default() };
        let mut names = Vec::new();
        loop {
            let page = engine.list_collections(&request).unwrap();
            assert_eq!(page.total, 25);
            names.extend(page.collections.iter().map(|listed| listed.name().to_owned()));
            request.after = page.next;
            let Some(cursor) = &request.after else { break };
            let other = ListCollectionsRequest {
                name: "team".into(),
                after: Some(cursor.clone()),
                ..request.clone()
            };
            assert_eq!(engine.list_collections(&other).unwrap_err().code().name, "invalid_request");
        }
        assert_eq!((names.len(), names.iter().collect::<BTreeSet<_>>().len()), (25, 25), "{sort:?}");
    }
}

/// The values of the label `collection` in metrics.
fn labels(metrics: &str) -> BTreeSet<&str> {
    let of = metrics.lines().filter_map(|line| Some(line.split_once("collection=\"")?.1.split_once('"')?.0));
    of.collect()
}

#[test]
fn metrics_at_hand_do_not_wait_for_chunks_to_be_read() {
    let (store, engine) = many(3);
    store.holds.store(true, Ordering::SeqCst);
    let first = engine.metrics_at_hand().unwrap();
    assert!(first.contains("chunkwright_chunks{collection=\"team-0002\"} 3"), "{first}");
    assert!(!first.contains("token_level_chunks{"), "{first}");
    // Asking again begins no second thread.
    engine.metrics_at_hand().unwrap();
    store.release();
    store.wait_for(3);
    let whole = loop {
        let metrics = engine.metrics_at_hand().unwrap();
        if metrics.matches("chunkwright_optimal_ratio{").count() == 3 {
            break metrics;
        }
        std::thread::yield_now();
    };
    assert!(
        whole.contains("chunkwright_token_level_chunks{collection=\"team-0002\",level=\"normal\"} 3"),
        "{whole}"
    );
    assert_eq!(*store.statistics.lock().unwrap(), 3, "each was read once");
    // Series are in no order.
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(lines(&engine.metrics().unwrap()), lines(&whole));
}

#[test]
fn metrics_have_series_of_the_largest_collections_and_sums_of_the_others() {
    let (store, engine) = many(130);
    let metrics = engine.metrics().unwrap();
    let labels = labels(&metrics);
    assert_eq!(labels.len(), 101);
    assert!(labels.contains("_other") && labels.contains("team-0002"), "{labels:?}");
    assert_eq!(*store.statistics.lock().unwrap(), 100, "chunks of the others are not read");
    assert!(metrics.contains("chunkwright_collections 130"), "{metrics}");
    let sum: usize = metrics
        .lines()
        .filter_map(|line| {
            line.strip_prefix("chunkwright_documents{")?.rsplit_once(' ')?.1.parse::<usize>().ok()
        })
        .sum();
    assert_eq!(sum, (0..130).map(|number| 1 + number % 3).sum::<usize>());
}

#[test]
fn a_store_on_disk_is_listed_and_searched_the_same_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = |access| {
        let values =
            [("store", json!(folder.path())), ("embedder", json!("none")), ("tokenizer", json!("words"))];
        let values = values.map(|(key, value)| (key.to_owned(), value));
        Engine::open(Layers::default().settings(Source::Request, values).unwrap(), access).unwrap()
    };
    let seen = |engine: &Engine| {
        let page = engine
            .list_collections(&ListCollectionsRequest { limit: 1000, ..ListCollectionsRequest::default() })
            .unwrap();
        (page, engine.search(&all("switch")).unwrap())
    };
    let engine = open(Access::Write);
    (0..15).for_each(|number| put(&engine, &format!("team-{number:04}"), 2));
    let before = seen(&engine);
    drop(engine);
    assert_eq!(seen(&open(Access::Write)), before);
    assert_eq!(seen(&open(Access::Read)), before);
}

#[test]
fn jobs_of_many_collections_run_a_few_at_a_time_and_all_end() {
    let (_, engine) = many(0);
    let folder = tempfile::tempdir().unwrap();
    let jobs = Jobs::open(engine.clone(), Path::new(&folder.path().join("jobs"))).unwrap();
    for number in 0..60 {
        let document = chunkwright_engine::PutDocument {
            doc_id: "a.md".into(),
            bytes: b"# Lamp\n\nA lamp.\n".to_vec(),
            hint: None,
        };
        let task = chunkwright_engine::Task::Put {
            collection: format!("team-{number:04}"),
            request: chunkwright_engine::IndexRequest::default(),
            documents: vec![document],
        };
        jobs.submit(task, serde_json::Map::new()).unwrap();
        let running =
            jobs.list().iter().filter(|job| job.state == chunkwright_engine::JobState::Running).count();
        assert!(running <= 16, "{running}");
    }
    for id in 1..=60 {
        let mut job = jobs.get(id).unwrap();
        while !job.state.is_over() {
            job = jobs
                .wait_newer(id, job.revision, std::time::Duration::from_mins(1))
                .unwrap()
                .expect("the job goes on");
        }
        assert_eq!(job.state, chunkwright_engine::JobState::Succeeded, "{:?}", job.error);
    }
    assert_eq!(engine.collection_names().unwrap().len(), 60);
    assert!(!jobs.is_busy("team-0000"));
}

#[test]
fn a_change_of_one_chunk_reads_its_document_and_overlays_once_however_many_there_are() {
    let mut one = None;
    for n in [1, 2, 4, 8] {
        let store = Arc::new(Counting::default());
        let engine = engine(&store);
        put(&engine, "notes", 20 * n);
        let notes = engine.collection("notes");
        let change = |chunk: String, pin: &str| AmendRequest {
            chunks: vec![chunk],
            pins: Some(vec![pin.into()]),
            ..AmendRequest::default()
        };
        for number in 1..20 * n {
            notes.amend(&change(format!("{number}.md#0"), "lantern")).unwrap();
        }
        store.take_named();
        notes.amend(&change("0.md#0".into(), "lamp")).unwrap();
        let calls = store.take_named();
        assert_eq!((calls.get("overlays"), calls.get("documents")), (Some(&1), None), "{calls:?}");
        assert_eq!(*one.get_or_insert(calls.clone()), calls, "{n}");
        let Found::Hits { hits } = notes.search(&SearchRequest::new("lamp")).unwrap().found else {
            panic!("no hits")
        };
        assert_eq!(hits[0].record.doc_id, "0.md");
    }
}

#[test]
fn a_run_reads_overlays_again_only_where_they_changed() {
    let mut one = None;
    for n in [1, 2, 4, 8] {
        let store = Arc::new(Counting::default());
        let engine = engine(&store);
        put(&engine, "notes", 1);
        let hidden =
            AmendRequest { chunks: vec!["0.md#0".into()], enabled: Some(false), ..AmendRequest::default() };
        engine.collection("notes").amend(&hidden).unwrap();
        store.take_named();
        put(&engine, "notes", 1_000 * n);
        let calls = store.take_named();
        assert!(calls["write"] >= n, "{calls:?}");
        assert_eq!(*one.get_or_insert(calls["overlays"]), calls["overlays"], "{n}: {calls:?}");
    }
}
