//! Stores on servers under failures: the promises hold whichever requests and responses are lost.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chunkwright::ChunkId;
use chunkwright_http::HttpOptions;
use chunkwright_index::analysis::{self, terms};
use chunkwright_index::bm25::{alike, query_ids};
use chunkwright_index::{
    Access, Change, Filter, GenerationSpec, IndexError, IndexOptions, IndexReport, Model, NewDocument,
    Outcome, Overlay, PastRun, Pipeline, Prune, Store, StoreError, StoreLocation,
};
use chunkwright_models::text_hash;

use crate::contract::document;
use crate::fixture::{Bag, chunker};
use crate::kinds::{self, on_server, unique};
use crate::proxy::{Fault, Proxy};
use crate::servers;
use crate::stride::one_in;
use crate::world::for_each_world;

const C: &str = "notes";

/// Runs `body` with the address of each server that is to be had.
pub(crate) fn for_each_server(body: impl Fn(&str)) {
    kinds::kinds().filter_map(servers::url).for_each(|url| body(&url));
}

/// A store on the server at `url`. `retries` of a request follow at once.
pub(crate) fn open(url: &str, prefix: &str, folder: &Path, retries: u32) -> Arc<dyn Store> {
    let http = HttpOptions { retries, backoff_ms: 1, ..HttpOptions::default() };
    let location = on_server(url, prefix);
    let place = StoreLocation { location, cache: folder.to_owned(), http, ..StoreLocation::default() };
    chunkwright_index::open_store(&place, Access::Write).unwrap()
}

#[test]
fn writers_of_one_machine_are_kept_apart_by_its_lock_and_readers_are_not() {
    for_each_server(|url| {
        // Transactions keep them apart there.
        if url.starts_with("postgres") {
            return;
        }
        let (folder, prefix) = (tempfile::tempdir().unwrap(), unique());
        let place = StoreLocation {
            location: on_server(url, &prefix),
            cache: folder.path().join("cache"),
            lock: Some(folder.path().join("lock")),
            ..StoreLocation::default()
        };
        let open = |access| chunkwright_index::open_store(&place, access);
        let first = open(Access::Write).unwrap();
        write(&*first, revision(&*first, "a.txt", 0, 1)).unwrap();
        let refused = |result: Result<(), StoreError>| match result.unwrap_err() {
            StoreError::Locked { path, holder } => {
                assert!(url.starts_with(&path), "{path}");
                assert_eq!(holder, format!("process {}", std::process::id()));
            }
            error => panic!("{error}"),
        };
        refused(open(Access::Write).map(drop));
        assert_eq!(seen(&*open(Access::Read).unwrap(), url).len(), 3);
        // Who pauses lets the other write, and has to wait for it.
        first.release();
        let second = open(Access::Write).unwrap();
        write(&*second, revision(&*second, "b.txt", 0, 2)).unwrap();
        refused(first.claim());
        refused(write(&*first, revision(&*second, "c.txt", 0, 3)).map(drop));
        drop(second);
        first.claim().unwrap();
        write(&*first, revision(&*first, "c.txt", 0, 3)).unwrap();
        assert_eq!(seen(&*first, url).len(), 9);
    });
}

fn spec() -> GenerationSpec {
    let model = Model { name: "m".into(), dimension: 2, sparse: false };
    GenerationSpec { model: Some(model), ..GenerationSpec::default() }
}

/// A document of three chunks of a revision, all of which have vectors in the cache of `store`.
fn revision(store: &dyn Store, doc_id: &str, base: i64, revision: usize) -> NewDocument {
    // Long enough that no two are one chunk.
    let filling = "Words that fill a line, as many as it takes to be a chunk alone. ".repeat(3);
    let texts = ["First", "Second", "Third"]
        .map(|which| format!("{which} common part of revision {revision}. {filling}"));
    let new = document(doc_id, base, &texts.each_ref().map(String::as_str));
    assert_eq!(new.chunks.len(), 3);
    let angle = revision as f32 / 100.0;
    let vectors: Vec<_> = new
        .chunks
        .iter()
        .map(|chunk| (text_hash(&chunk.record.text), vec![angle.cos(), angle.sin()].into()))
        .collect();
    store.cache().put_vectors("m", &vectors).unwrap();
    new
}

fn write(store: &dyn Store, new: NewDocument) -> Result<Vec<Outcome>, StoreError> {
    let generation = store.begin(C, &spec())?;
    store.write(&generation, &[Change::Replace(Box::new(new))])
}

fn ids(new: &NewDocument) -> Vec<ChunkId> {
    let mut ids: Vec<ChunkId> = new.chunks.iter().map(|chunk| chunk.record.chunk_id).collect();
    ids.sort();
    ids
}

/// What every way of reading sees of the collection, which must be the same for all of them.
fn seen(store: &dyn Store, place: &str) -> Vec<ChunkId> {
    seen_in(store, C, place)
}

fn seen_in(store: &dyn Store, collection: &str, place: &str) -> Vec<ChunkId> {
    let generation = store.open(collection).unwrap();
    let sorted = |mut ids: Vec<ChunkId>| {
        ids.sort();
        ids
    };
    let filter = Filter::default();
    let lexical = store.lexical(&generation, &alike(&query_ids(terms("common"))), &filter, 50).unwrap();
    let lexical = sorted(lexical.iter().map(|hit| hit.id).collect());
    let dense = store.dense(&generation, &[1.0, 1.0], &filter, 50).unwrap();
    assert_eq!(sorted(dense.iter().map(|hit| hit.id).collect()), lexical, "{place}");
    let records = store.documents(&generation).unwrap();
    let records = records.iter().flat_map(|info| store.records(&generation, &info.doc_id).unwrap());
    assert_eq!(sorted(records.map(|record| record.chunk_id).collect()), lexical, "{place}");
    assert!(store.chunks(&generation, &lexical).unwrap().iter().all(Option::is_some), "{place}");
    lexical
}

#[test]
fn a_crash_at_any_request_leaves_one_version_and_the_next_write_clears_up() {
    for_each_world(|world| {
        for fault in [Fault::LostFrom as fn(usize) -> Fault, Fault::UnansweredFrom] {
            let folder = tempfile::tempdir().unwrap();
            world.renew();
            let (mut old_seen, mut new_seen) = (0, 0);
            for at in world.faults(11) {
                let place = format!("{} {:?}", world.name(), fault(at));
                world.set(Fault::None);
                let store = world.open(folder.path());
                let old = revision(&*store, "a.txt", 0, 1);
                write(&*store, old.clone()).unwrap();
                let base = store.documents(&store.open(C).unwrap()).unwrap()[0].version;
                let new = revision(&*store, "a.txt", base, 2);
                world.set(fault(at));
                let written = write(&*store, new.clone());
                let is_over = world.requests() <= at;
                let reader = world.beside(folder.path());
                let found = seen(&*reader, &place);
                assert!([ids(&old), ids(&new)].contains(&found), "{place}: {found:?}");
                if written.is_ok() {
                    assert_eq!(found, ids(&new), "{place}");
                }
                old_seen += usize::from(found == ids(&old));
                new_seen += usize::from(found == ids(&new));
                let other = revision(&*reader, "b.txt", 0, 3);
                assert_eq!(write(&*reader, other.clone()).unwrap(), [Outcome::Written], "{place}");
                assert_eq!(reader.check().unwrap().problems, Vec::<String>::new(), "{place}");
                let mut both = [found, ids(&other)].concat();
                both.sort();
                assert_eq!(seen(&*reader, &place), both, "{place}");
                reader.remove(&reader.open(C).unwrap()).unwrap();
                if is_over {
                    break;
                }
            }
            assert!(old_seen > 0 && new_seen > 0, "{old_seen} {new_seen}");
        }
    });
}

/// Something done to a store that has a document, and a specification to do it with.
type Step = fn(&dyn Store, &GenerationSpec) -> Result<(), StoreError>;

#[test]
fn a_crash_while_a_generation_is_begun_switched_to_or_removed_is_named_and_put_right_by_the_next_run() {
    for_each_world(|world| {
        let folder = tempfile::tempdir().unwrap();
        let other = || GenerationSpec { config_hash: "other".into(), ..spec() };
        let steps: [(&str, Step); 3] = [
            ("begin", |store, other| store.begin(C, other).map(drop)),
            ("switch", |store, other| store.switch(&store.begin(C, other)?)),
            ("remove", |store, _| store.remove(&store.open(C)?)),
        ];
        let mut found = HashMap::new();
        for (step, run) in steps {
            for at in world.faults(11) {
                let place = format!("{} {step} {at}", world.name());
                world.set(Fault::None);
                let store = world.open(folder.path());
                write(&*store, revision(&*store, "a.txt", 0, 1)).unwrap();
                let (chunk_id, pins) = ("0".repeat(32), vec!["how".to_owned()]);
                store.put_overlay(C, &Overlay { chunk_id, pins, ..Overlay::default() }).unwrap();
                world.set(Fault::LostFrom(at));
                let done = run(&*store, &other());
                let is_over = world.requests() <= at;
                assert_eq!(done.is_ok(), is_over, "{place}");
                let later = world.beside(folder.path());
                let problems = later.check().unwrap().problems;
                assert!(problems.len() < 3, "{place}: {problems:?}");
                for problem in problems {
                    let known = ["not made to its end", "shown another under its name"];
                    let known = known.into_iter().find(|known| problem.contains(known));
                    *found.entry(known.unwrap_or_else(|| panic!("{place}: {problem}"))).or_insert(0) += 1;
                }
                let is_removed = later.open(C).is_err();
                later.begin(C, &other()).unwrap();
                // What was changed by hand goes with its collection, and does not return with its name.
                assert_eq!(later.overlays(C).unwrap().is_empty(), is_removed, "{place}");
                assert_eq!(later.check().unwrap().problems, Vec::<String>::new(), "{place}");
                later.remove(&later.open(C).unwrap()).unwrap();
                assert_eq!(later.check().unwrap().problems, Vec::<String>::new(), "{place}");
                if is_over {
                    break;
                }
            }
        }
        // Names point at generations on Qdrant and Chroma only, and PostgreSQL has transactions.
        let expected = match world.name().split("://").next() {
            Some("postgres") => 0..=0,
            Some("qdrant" | "chroma") => 1..=2,
            _ => 1..=1,
        };
        assert!(expected.contains(&found.len()), "{}: {found:?}", world.name());
    });
}

#[test]
fn a_crash_while_a_collection_is_renamed_leaves_it_whole_under_one_name_and_the_next_run_ends_it() {
    const NEW: &str = "handbook";
    for_each_world(|world| {
        for fault in [Fault::LostFrom as fn(usize) -> Fault, Fault::UnansweredFrom] {
            let folder = tempfile::tempdir().unwrap();
            let mut counts = [0, 0];
            for at in world.faults(11) {
                let place = format!("{} {:?}", world.name(), fault(at));
                world.renew();
                world.set(Fault::None);
                let store = world.open(folder.path());
                let stored = revision(&*store, "a.txt", 0, 1);
                write(&*store, stored.clone()).unwrap();
                store.switch(&store.open(C).unwrap()).unwrap();
                let (chunk_id, pins) = ("0".repeat(32), vec!["how".to_owned()]);
                store.put_overlay(C, &Overlay { chunk_id, pins, ..Overlay::default() }).unwrap();
                store.add_run(C, &PastRun::default()).unwrap();
                world.set(fault(at));
                let done = store.rename(C, NEW);
                let is_over = world.requests() <= at;
                let later = world.beside(folder.path());
                let check = |when: &str| {
                    let place = format!("{place}, {when}");
                    let names: Vec<String> =
                        later.collections().unwrap().into_iter().map(|it| it.name).collect();
                    let [name] = &names[..] else { panic!("{place}: {names:?}") };
                    let other = if name == C { NEW } else { C };
                    assert_eq!(later.lookup(other).unwrap(), None, "{place}");
                    assert_eq!(seen_in(&*later, name, &place), ids(&stored), "{place}");
                    let own = (later.overlays(name).unwrap().len(), later.runs(name).unwrap().len());
                    assert_eq!(own, (1, 1), "{place}");
                    (name.clone(), other)
                };
                let (name, other) = check("at once");
                if done.is_ok() {
                    assert_eq!(name, NEW, "{place}");
                }
                counts[usize::from(name == NEW)] += 1;
                later.begin(&name, &spec()).unwrap();
                assert_eq!(check("after the next run"), (name.clone(), other));
                assert_eq!(later.check().unwrap().problems, Vec::<String>::new(), "{place}");
                // The other name has nothing of it, and the rename can be tried again, or undone.
                later.begin(other, &spec()).unwrap();
                assert!(later.overlays(other).unwrap().is_empty() && later.runs(other).unwrap().is_empty());
                later.remove(&later.open(other).unwrap()).unwrap();
                later.rename(&name, other).unwrap();
                assert_eq!(seen_in(&*later, other, &place), ids(&stored), "{place}");
                assert_eq!(later.check().unwrap().problems, Vec::<String>::new(), "{place}");
                if is_over {
                    break;
                }
            }
            assert!(counts[0] > 0 && counts[1] > 0, "{}: {counts:?}", world.name());
        }
    });
}

#[test]
fn a_request_that_is_sent_again_because_its_answer_was_lost_does_no_harm() {
    for_each_server(|url| {
        let proxy = Proxy::before(url);
        for at in (0..).step_by(one_in(13)) {
            let (folder, prefix) = (tempfile::tempdir().unwrap(), unique());
            let place = format!("{url} {at}");
            let store = open(&proxy.url(url), &prefix, folder.path(), 2);
            proxy.set(Fault::Unanswered(at));
            write(&*store, revision(&*store, "a.txt", 0, 1)).unwrap();
            let base = store.documents(&store.open(C).unwrap()).unwrap()[0].version;
            let new = revision(&*store, "a.txt", base, 2);
            assert_eq!(write(&*store, new.clone()).unwrap(), [Outcome::Written], "{place}");
            let is_over = proxy.requests() <= at;
            assert_eq!(seen(&*store, &place), ids(&new), "{place}");
            assert_eq!(store.check().unwrap().problems, Vec::<String>::new(), "{place}");
            store.remove(&store.open(C).unwrap()).unwrap();
            if is_over {
                break;
            }
        }
    });
}

#[test]
fn two_writers_at_once_leave_one_version_whole() {
    for_each_server(|url| {
        let proxy = Proxy::before(url);
        let (folder, prefix) = (tempfile::tempdir().unwrap(), unique());
        // Who waits there for a transaction does so while the other waits for it.
        let soon = if url.starts_with("postgres") { "&options=-c%20lock_timeout%3D100" } else { "" };
        for at in (0..).step_by(one_in(7)) {
            let place = format!("{url} {at}");
            let (slow, fast) = (
                open(&proxy.url(url), &prefix, folder.path(), 0),
                open(&format!("{url}{soon}"), &prefix, folder.path(), 0),
            );
            proxy.set(Fault::None);
            write(&*slow, revision(&*slow, "a.txt", 0, 1)).unwrap();
            let base = slow.documents(&slow.open(C).unwrap()).unwrap()[0].version;
            let (ours, theirs) = (revision(&*slow, "a.txt", base, 2), revision(&*slow, "a.txt", base, 3));
            let (other, new) = (Arc::clone(&fast), theirs.clone());
            let (sender, receiver) = std::sync::mpsc::channel();
            proxy.before_request(at, move || sender.send(write(&*other, new)).unwrap());
            let written = write(&*slow, ours.clone());
            let is_over = proxy.requests() <= at;
            if is_over {
                break;
            }
            let done = |written: &Result<Vec<Outcome>, StoreError>| matches!(written, Ok(outcome) if outcome[..] == [Outcome::Written]);
            let refused = |written: &Result<Vec<Outcome>, StoreError>| {
                matches!(written, Ok(outcome) if outcome[..] == [Outcome::Stale])
                    || matches!(written, Err(StoreError::Locked { .. }))
            };
            let other = receiver.recv().unwrap();
            assert!(done(&written) || refused(&written), "{place} {written:?}");
            assert!(done(&other) || refused(&other), "{place} {other:?}");
            assert!(done(&written) || done(&other), "{place} {written:?} {other:?}");
            let found = seen(&*fast, &place);
            assert!([ids(&ours), ids(&theirs)].contains(&found), "{place} {found:?}");
            write(&*fast, revision(&*fast, "b.txt", 0, 4)).unwrap();
            fast.remove(&fast.open(C).unwrap()).unwrap();
        }
    });
}

#[test]
fn a_reader_beside_a_writer_sees_one_version_whole() {
    for_each_server(|url| {
        let (folder, prefix) = (tempfile::tempdir().unwrap(), unique());
        let writer = open(url, &prefix, folder.path(), 0);
        let mut of: HashMap<ChunkId, usize> = HashMap::new();
        for n in 0..20 {
            of.extend(ids(&revision(&*writer, "a.txt", 0, n)).into_iter().map(|id| (id, n)));
        }
        write(&*writer, revision(&*writer, "a.txt", 0, 0)).unwrap();
        let (reader, done) = (open(url, &prefix, folder.path(), 0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let generation = reader.open(C).unwrap();
                let (mut last, mut reads) = (0, 0);
                while !done.load(Ordering::Relaxed) {
                    let filter = Filter::default();
                    let found = match reads % 2 {
                        0 => reader.lexical(&generation, &alike(&query_ids(terms("common"))), &filter, 50),
                        _ => reader.dense(&generation, &[1.0, 1.0], &filter, 50),
                    };
                    let revisions: Vec<usize> = found.unwrap().iter().map(|hit| of[&hit.id]).collect();
                    assert!(
                        revisions.len() == 3 && revisions.iter().all(|n| *n == revisions[0]),
                        "{url} {revisions:?}"
                    );
                    assert!(revisions[0] >= last, "{url} {revisions:?} after {last}");
                    (last, reads) = (revisions[0], reads + 1);
                    assert_eq!(reader.records(&generation, "a.txt").unwrap().len(), 3, "{url}");
                }
                reads
            });
            for n in 1..20 {
                let base = writer.documents(&writer.open(C).unwrap()).unwrap()[0].version;
                assert_eq!(
                    write(&*writer, revision(&*writer, "a.txt", base, n)).unwrap(),
                    [Outcome::Written]
                );
            }
            done.store(true, Ordering::Relaxed);
            assert!(reading.join().unwrap() > 0);
        });
    });
}

#[test]
fn a_record_that_chroma_loses_while_it_is_read_fails_no_request() {
    for_each_server(|url| {
        if !url.starts_with("chroma") {
            return;
        }
        let (folder, prefix, proxy) = (tempfile::tempdir().unwrap(), unique(), Proxy::before(url));
        let written = revision(&*open(url, &prefix, folder.path(), 0), "a.txt", 0, 1);
        write(&*open(url, &prefix, folder.path(), 0), written.clone()).unwrap();
        for at in 0.. {
            // A store that has asked for nothing yet.
            let store = open(&proxy.url(url), &prefix, folder.path(), 0);
            proxy.set(Fault::Deleted(at, 2));
            assert_eq!(seen(&*store, &format!("{at}")), ids(&written));
            if proxy.requests() <= at {
                assert!(at > 4, "{at} requests");
                break;
            }
        }
        // One that stays lost is told, in the server's words.
        let store = open(&proxy.url(url), &prefix, folder.path(), 0);
        let generation = store.open(C).unwrap();
        proxy.set(Fault::Deleted(0, usize::MAX));
        let error = store.dense(&generation, &[1.0, 1.0], &Filter::default(), 50).unwrap_err();
        assert!(error.to_string().ends_with("Error finding id"), "{error}");
        assert!(proxy.requests() < 12, "{}", proxy.requests());
    });
}

/// What an index run through `store` embeds anew, and its report.
fn index(store: &Arc<dyn Store>, files: &Path) -> Result<(Vec<String>, IndexReport), IndexError> {
    let bag = Bag::with_sparse(8);
    let pipeline = Pipeline::new(Arc::clone(store), C, chunker(), "test").with_embedder(bag.clone());
    let options = IndexOptions { prune: Prune::Keep, ..IndexOptions::default() };
    let report = pipeline.index(&[files.to_owned()], &options, &|_| {})?;
    Ok((bag.take_texts(), report))
}

#[test]
fn terms_of_another_analysis_are_not_searched_and_are_made_again_beside() {
    let recorded = format!("\"analysis\":{}", analysis::VERSION);
    let before = format!("\"analysis\":{}", analysis::VERSION - 1);
    let unrecorded = recorded.replace("analysis", "ANALYSIS");
    for_each_world(|world| {
        // Without a fault, and stopped at requests.
        let stops = [(&unrecorded, usize::MAX), (&before, usize::MAX)].into_iter();
        let (mut old_seen, mut new_seen) = (0, 0);
        for (version, at) in stops.chain(world.faults(6).step_by(one_in(3)).map(|at| (&before, at))) {
            let place = format!("{} {version} {at}", world.name());
            let folder = tempfile::tempdir().unwrap();
            world.renew();
            let (files, cache) = (folder.path().join("files"), folder.path().join("cache"));
            std::fs::create_dir(&files).unwrap();
            for name in ["a.md", "b.md"] {
                std::fs::write(files.join(name), format!("# {name}\n\nSome common words of {name}.\n"))
                    .unwrap();
            }
            let store = world.open(&cache);
            index(&store, &files).unwrap();
            let old = store.open(C).unwrap();
            // Puts what is known of the generation anew.
            world.rewrite(&recorded, version);
            store.switch(&old).unwrap();
            let store = world.beside(&cache);
            // What was stored can be read, and only taken away from.
            let info = store.documents(&old).unwrap().remove(0);
            assert!(!store.records(&old, &info.doc_id).unwrap().is_empty(), "{place}");
            let searched = |generation| {
                let (query, filter) = (alike(&query_ids(terms("common"))), Filter::default());
                let lexical = store.lexical(generation, &query, &filter, 9);
                let dense = store.dense(generation, &[1.0; 8], &filter, 9);
                let sparse = store.sparse(generation, &[(1, 1.0)], &filter, 9);
                assert_eq!((lexical.is_ok(), lexical.is_ok()), (dense.is_ok(), sparse.is_ok()), "{place}");
                lexical
            };
            let sentence = "the search terms in `notes@1` were made by another version of the program; run `index` once to rebuild them";
            assert_eq!(searched(&old).unwrap_err().to_string(), sentence, "{place}");
            assert_eq!(store.find(C, &old.spec).unwrap(), None, "{place}");
            let new = Change::Replace(Box::new(document(&info.doc_id, info.version, &["Other words."])));
            assert_eq!(store.write(&old, &[new]).unwrap_err().to_string(), sentence, "{place}");
            // One has no file any more. The run may be stopped; the next one goes on with it.
            std::fs::remove_file(files.join("b.md")).unwrap();
            world.rewrite(&recorded, &recorded);
            world.set(Fault::LostFrom(at));
            let run = index(&world.open(&cache), &files);
            let is_over = at != usize::MAX && world.requests() <= at;
            let current = store.open(C).unwrap();
            match searched(&current) {
                Ok(found) => assert_eq!(found.len(), 2, "{place}"),
                Err(error) => assert_eq!(error.to_string(), sentence, "{place}"),
            }
            new_seen += usize::from(current != old);
            old_seen += usize::from(current == old);
            let is_stopped = run.map_or(true, |(_, report)| report.withheld.is_some());
            assert!(is_stopped || current != old, "{place}");
            // All vectors are those that were there.
            assert_eq!(index(&store, &files).unwrap().0, Vec::<String>::new(), "{place}");
            let current = store.open(C).unwrap();
            assert_eq!((searched(&current).unwrap().len(), &current.spec), (2, &old.spec), "{place}");
            assert_eq!(store.find(C, &old.spec).unwrap(), Some(current.clone()), "{place}");
            assert_eq!(store.collections().unwrap()[0].generations.len(), 2, "{place}");
            assert_eq!(store.check().unwrap().problems, Vec::<String>::new(), "{place}");
            // The next run finds nothing to do.
            assert_eq!(index(&store, &files).unwrap().1.unchanged, 1, "{place}");
            assert_eq!(store.open(C).unwrap(), current, "{place}");
            store.remove(&current).unwrap();
            if is_over {
                break;
            }
        }
        assert!(old_seen > 0 && new_seen > 0, "{old_seen} {new_seen}");
    });
}

#[test]
fn a_server_that_is_down_is_named() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for scheme in ["qdrant", "chroma", "postgres"] {
        let folder = tempfile::tempdir().unwrap();
        let shown = if scheme == "postgres" { scheme } else { "http" };
        let store = open(&format!("{scheme}://127.0.0.1:{port}"), "x", folder.path(), 1);
        let errors = [
            store.open(C).unwrap_err(),
            store.collections().unwrap_err(),
            store.begin(C, &GenerationSpec::default()).unwrap_err(),
        ];
        for error in errors {
            let error = error.to_string();
            assert!(
                error.starts_with(&format!("the store at `{shown}://127.0.0.1:{port}` does not answer: ")),
                "{error}"
            );
            assert!(error.ends_with("; is it running?"), "{error}");
        }
    }
}

#[test]
fn an_address_that_is_none_of_a_store_is_refused_with_what_would_be_right() {
    for (location, right) in [
        ("redis://h", "it must be a folder or one of `qdrant://HOST`"),
        ("qdrant://h?size=1", "the option `size` is not understood; options are `prefix`"),
        (
            "postgres://h?sslmode=always",
            "invalid value for option `sslmode`; options are those of libpq's URLs",
        ),
        ("postgres://h?sslcert=a", "unknown option `sslcert`; options are"),
        ("postgres:///db", "it names no host; a folder of sockets is"),
        (
            "postgres://me:secret@h/db?schema=",
            "`postgres://h/db` cannot be a store: the option `schema` is not",
        ),
        ("chroma://h?prefix=a/b", "the option `prefix` is not understood; options are `tenant`"),
    ] {
        let place = StoreLocation { location: location.into(), ..StoreLocation::default() };
        let error = chunkwright_index::open_store(&place, Access::Read).err().unwrap().to_string();
        assert!(error.contains(right), "{error}");
    }
}
