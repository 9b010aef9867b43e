//! What every store promises: the same bodies run over all of [`STORES`](chunkwright_index::STORES).

use std::sync::Arc;

use chunkwright::parse::Text;
use chunkwright::{ChunkId, Document, RecordContext};
use chunkwright_index::analysis::terms;
use chunkwright_index::format;
use chunkwright_index::{
    Change, DocumentInfo, Filter, Model, NewChunk, NewDocument, Outcome, Scored, Store, StoreError,
    StoredDocument,
};
use chunkwright_models::{TextHash, text_hash};

use crate::fixture::{chunker, for_each_store, open};

const C: &str = "notes";

/// Runs `body` over an empty store of each kind.
fn check(body: impl Fn(Arc<dyn Store>)) {
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, &folder.path().join("store"));
        body(Arc::clone(&store));
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new(), "{kind}");
    });
}

/// A document of paragraphs, each of which is a chunk, to be stored over version `base`.
fn document(doc_id: &str, base: i64, paragraphs: &[&str]) -> NewDocument {
    let source = paragraphs.join("\n\n");
    let parsed = Document::parse(doc_id, source.as_str(), &Text);
    let file_hash = format::file_hash(source.as_bytes());
    let context = RecordContext { preset: "test".into(), file_hash, ..RecordContext::default() };
    let mut chunks = Vec::new();
    let chunker = chunker();
    for chunk in chunker.chunk(&parsed) {
        chunks.push(chunk);
    }
    let records = chunker.records(&parsed, &chunks, &context);
    let info = DocumentInfo {
        doc_id: doc_id.into(),
        file_hash: context.file_hash,
        bytes: source.len() as u64,
        ..DocumentInfo::default()
    };
    NewDocument {
        base,
        document: StoredDocument { info, source, raw: None, doc_toc: String::new() },
        chunks: records.into_iter().map(NewChunk::new).collect(),
    }
}

fn replace(store: &dyn Store, new: NewDocument) -> Outcome {
    store.write(C, &[Change::Replace(Box::new(new))]).unwrap()[0]
}

/// Stores a new version whatever the one before is.
fn put(store: &dyn Store, doc_id: &str, paragraphs: &[&str]) -> Outcome {
    let listed = store.documents(C).unwrap_or_default();
    let base = listed.iter().find(|info| info.doc_id == doc_id).map_or(0, |info| info.version);
    replace(store, document(doc_id, base, paragraphs))
}

fn lexical(store: &dyn Store, query: &str, filter: &Filter) -> Vec<Scored> {
    store.lexical(C, &terms(query), filter, 100).unwrap()
}

fn texts(store: &dyn Store, hits: &[Scored]) -> Vec<String> {
    hits.iter().map(|hit| store.chunk(C, hit.id).unwrap().unwrap().record.content).collect()
}

fn hash_of(store: &dyn Store, hit: &Scored) -> TextHash {
    text_hash(&store.chunk(C, hit.id).unwrap().unwrap().record.text)
}

#[test]
fn a_document_comes_back_as_it_was_stored() {
    check(|store| {
        let new = document("a.txt", 0, &["First words.", "数据库连接。", "Третий абзац."]);
        let (source, records): (_, Vec<_>) =
            (new.document.source.clone(), new.chunks.iter().map(|chunk| chunk.record.clone()).collect());
        assert_eq!(replace(&*store, new), Outcome::Written);
        let stored = store.document(C, "a.txt").unwrap().unwrap();
        assert_eq!(stored.source, source);
        assert_eq!(store.records(C, "a.txt").unwrap(), records);
        assert_eq!(stored.info.chunks as usize, records.len());
        for record in records {
            let id = record.chunk_id.parse().unwrap();
            assert_eq!(store.chunk(C, id).unwrap().unwrap().record, record);
        }
        assert_eq!(store.document(C, "b.txt").unwrap(), None);
        assert_eq!(store.chunk(C, ChunkId([0; 16])).unwrap(), None);
    });
}

#[test]
fn storing_the_same_again_changes_nothing() {
    check(|store| {
        put(&*store, "a.txt", &["One.", "Two."]);
        let before = store.collections().unwrap();
        assert_eq!(put(&*store, "a.txt", &["One.", "Two."]), Outcome::Unchanged);
        assert_eq!(store.collections().unwrap(), before);
    });
}

#[test]
fn a_replaced_document_leaves_nothing_behind() {
    check(|store| {
        put(&*store, "a.txt", &["The apple is red."]);
        put(&*store, "b.txt", &["The apple is green."]);
        put(&*store, "a.txt", &["The pear is yellow."]);
        assert_eq!(texts(&*store, &lexical(&*store, "apple", &Filter::default())), ["The apple is green."]);
        store.write(C, &[Change::Remove { doc_id: "b.txt".into() }]).unwrap();
        assert!(lexical(&*store, "apple", &Filter::default()).is_empty());
        assert_eq!(store.documents(C).unwrap().len(), 1);
    });
}

#[test]
fn bm25_after_changes_is_that_of_a_fresh_store() {
    let paragraphs = |n: usize| format!("Entry {n} speaks of topic{} and of common things.", n % 7);
    check(|churned| {
        for round in 0..3 {
            for n in 0..30 {
                put(&*churned, &format!("{n}.txt"), &[&paragraphs(n + 100 * (2 - round))]);
            }
        }
        for n in (0..30).step_by(3) {
            churned.write(C, &[Change::Remove { doc_id: format!("{n}.txt") }]).unwrap();
        }
        check(|fresh| {
            for n in (0..30).filter(|n| n % 3 != 0) {
                put(&*fresh, &format!("{n}.txt"), &[&paragraphs(n)]);
            }
            let (a, b) = (
                lexical(&*churned, "topic3 entry things", &Filter::default()),
                lexical(&*fresh, "topic3 entry things", &Filter::default()),
            );
            assert_eq!(a.len(), 20);
            for (a, b) in a.iter().zip(&b) {
                assert_eq!(a.id, b.id);
                assert!((a.score - b.score).abs() < 1e-9, "{a:?} {b:?}");
            }
        });
    });
}

#[test]
fn an_older_reading_never_replaces_a_newer_one() {
    check(|store| {
        put(&*store, "a.txt", &["Old."]);
        let listed = store.documents(C).unwrap()[0].version;
        let (late, early) =
            (document("a.txt", listed, &["Read first."]), document("a.txt", listed, &["Read second."]));
        assert_eq!(replace(&*store, early), Outcome::Written);
        assert_eq!(replace(&*store, late), Outcome::Stale);
        assert_eq!(store.document(C, "a.txt").unwrap().unwrap().source, "Read second.");
        store.write(C, &[Change::Remove { doc_id: "a.txt".into() }]).unwrap();
        assert_eq!(replace(&*store, document("a.txt", listed, &["Old."])), Outcome::Stale);
        assert_eq!(store.documents(C).unwrap(), []);
    });
}

#[test]
fn a_write_happens_whole_or_not_at_all() {
    check(|store| {
        put(&*store, "a.txt", &["Kept."]);
        let mut thief = document("c.txt", 0, &["Kept."]);
        thief.chunks[0].record.chunk_id = store.records(C, "a.txt").unwrap()[0].chunk_id.clone();
        let changes = [
            Change::Replace(Box::new(document("b.txt", 0, &["New."]))),
            Change::Remove { doc_id: "a.txt".into() },
            Change::Replace(Box::new(document("a.txt", 0, &["Kept."]))),
            Change::Replace(Box::new(thief)),
        ];
        let error = store.write(C, &changes).unwrap_err();
        assert!(matches!(error, StoreError::IdCollision { .. }), "{error}");
        let names: Vec<String> = store.documents(C).unwrap().into_iter().map(|info| info.doc_id).collect();
        assert_eq!(names, ["a.txt"]);
    });
}

#[test]
fn an_empty_document_is_known_and_can_be_filled() {
    check(|store| {
        assert_eq!(put(&*store, "a.txt", &[]), Outcome::Written);
        assert_eq!(store.documents(C).unwrap()[0].chunks, 0);
        put(&*store, "a.txt", &["Now there is text."]);
        assert_eq!(lexical(&*store, "text", &Filter::default()).len(), 1);
        put(&*store, "a.txt", &[]);
        assert!(lexical(&*store, "text", &Filter::default()).is_empty());
    });
}

#[test]
fn collections_do_not_see_each_other() {
    check(|store| {
        put(&*store, "a.txt", &["Shared words here."]);
        let new = document("a.txt", 0, &["Shared words there."]);
        store.write("other", &[Change::Replace(Box::new(new))]).unwrap();
        assert_eq!(texts(&*store, &lexical(&*store, "shared", &Filter::default())), ["Shared words here."]);
        store.drop_collection("other").unwrap();
        assert_eq!(store.collections().unwrap().len(), 1);
        let error = store.documents("other").unwrap_err();
        assert_eq!(error.to_string(), "unknown collection `other`; known are `notes`");
        assert!(matches!(store.write("no/name", &[]), Err(StoreError::CollectionName { .. })));
    });
}

#[test]
fn dense_search_is_exact_and_ordered() {
    check(|store| {
        let model = Model { name: "m".into(), dimension: 3 };
        store.set_model(C, &model).unwrap();
        put(&*store, "a.txt", &["North."]);
        put(&*store, "b.txt", &["East."]);
        put(&*store, "c.txt", &["North again."]);
        assert_eq!(store.dense(C, &[1.0, 0.0, 0.0], &Filter::default(), 9).unwrap(), []);
        assert_eq!(store.collections().unwrap()[0].pending, 3);
        let vector =
            |name: &str| if name.starts_with("North") { vec![1.0, 0.0, 0.0] } else { vec![0.0, 1.0, 0.5] };
        let all = ["North.", "East.", "North again."];
        let vectors: Vec<_> = all.iter().map(|text| (text_hash(text), vector(text))).collect();
        store.put_vectors("m", &vectors).unwrap();
        let hits = store.dense(C, &[0.5, 1.0, 0.0], &Filter::default(), 9).unwrap();
        let scores: Vec<f64> = hits.iter().map(|hit| hit.score).collect();
        assert_eq!(scores, [1.0, 0.5, 0.5]);
        assert_eq!(texts(&*store, &hits[..1]), ["East."]);
        assert!(hits[1].id < hits[2].id);
        assert_eq!(store.dense(C, &[0.5, 1.0, 0.0], &Filter::default(), 2).unwrap(), hits[..2]);
        let only = Filter { doc_id: Some("c.*".into()), ..Filter::default() };
        assert_eq!(texts(&*store, &store.dense(C, &[0.5, 1.0, 0.0], &only, 9).unwrap()), ["North again."]);
    });
}

#[test]
fn vectors_belong_to_texts_and_outlive_chunks() {
    check(|store| {
        store.set_model(C, &Model { name: "m".into(), dimension: 2 }).unwrap();
        put(&*store, "a.txt", &["Same text."]);
        let hash = hash_of(&*store, &lexical(&*store, "same", &Filter::default())[0]);
        store.put_vectors("m", &[(hash, vec![1.0, 2.0])]).unwrap();
        store.write(C, &[Change::Remove { doc_id: "a.txt".into() }]).unwrap();
        assert_eq!(store.vectors("m", &[hash, [0; 16]]).unwrap(), [Some(vec![1.0, 2.0]), None]);
        assert_eq!(store.vectors("other", &[hash]).unwrap(), [None]);
        put(&*store, "b.txt", &["Same text."]);
        assert_eq!(store.collect_garbage().unwrap(), 0);
        assert_eq!(store.dense(C, &[1.0, 0.0], &Filter::default(), 9).unwrap().len(), 1);
        store.write(C, &[Change::Remove { doc_id: "b.txt".into() }]).unwrap();
        assert_eq!(store.dense(C, &[1.0, 0.0], &Filter::default(), 9).unwrap(), []);
        assert_eq!(store.collect_garbage().unwrap(), 1);
    });
}

#[test]
fn vectors_that_cannot_be_compared_are_refused() {
    check(|store| {
        store.set_model(C, &Model { name: "m".into(), dimension: 2 }).unwrap();
        for (vector, problem) in [
            (vec![1.0, f32::NAN], "has a number that is not finite"),
            (vec![f32::INFINITY, 1.0], "has a number that is not finite"),
            (vec![0.0, 0.0], "is all 0"),
            (vec![1.0], "has another length"),
        ] {
            let error = store.dense(C, &vector, &Filter::default(), 5).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        assert!(store.put_vectors("m", &[([1; 16], vec![f32::NAN, 1.0])]).is_err());
        let error = store.set_model(C, &Model { name: "n".into(), dimension: 2 }).unwrap_err();
        assert_eq!(
            error.to_string(),
            "collection `notes` holds vectors of `m` (2 dimensions), not of `n` (2); use that model, or index into another collection"
        );
    });
}

#[test]
fn filters_hold_in_words_too() {
    check(|store| {
        put(&*store, "docs/a[1].txt", &["A word."]);
        put(&*store, "docs/a1.txt", &["A word."]);
        put(&*store, "src/b.txt", &["A word."]);
        let count = |filter: Filter| lexical(&*store, "word", &filter).len();
        let by_id = |pattern: &str| Filter { doc_id: Some(pattern.into()), ..Filter::default() };
        assert_eq!(count(by_id("docs/*")), 2);
        assert_eq!(count(by_id("docs/a[1].txt")), 1);
        assert_eq!(count(by_id("*b*")), 1);
        assert_eq!(count(Filter { category: Some("doc".into()), ..Filter::default() }), 3);
        assert_eq!(count(Filter { language: Some("rust".into()), ..Filter::default() }), 0);
        assert_eq!(count(Filter { content_type: Some("paragraph".into()), ..by_id("src/*") }), 1);
    });
}

#[test]
fn a_disabled_chunk_is_hidden_for_as_long_as_its_id_lives() {
    check(|store| {
        put(&*store, "a.txt", &["Hidden words."]);
        let hit = lexical(&*store, "hidden", &Filter::default())[0];
        assert_eq!(store.write(C, &[Change::Disable(hit.id)]).unwrap(), [Outcome::Written]);
        assert_eq!(store.write(C, &[Change::Disable(hit.id)]).unwrap(), [Outcome::Unchanged]);
        assert!(lexical(&*store, "hidden", &Filter::default()).is_empty());
        assert!(!store.chunk(C, hit.id).unwrap().unwrap().enabled);
        put(
            &*store,
            "a.txt",
            &["Hidden words.", "", "And other words, long enough to stand alone. ".repeat(6).trim()],
        );
        assert!(
            lexical(&*store, "hidden", &Filter::default()).is_empty()
                || store.chunk(C, hit.id).unwrap().is_none()
        );
        store.write(C, &[Change::Enable(hit.id)]).unwrap();
        assert_eq!(lexical(&*store, "hidden", &Filter::default()).len(), 1);
    });
}

#[test]
fn one_character_of_an_unspaced_script_finds_its_words() {
    check(|store| {
        put(&*store, "a.txt", &["黑猫很可爱。"]);
        put(&*store, "b.txt", &["狗也可爱。"]);
        assert_eq!(texts(&*store, &lexical(&*store, "猫", &Filter::default())), ["黑猫很可爱。"]);
        assert_eq!(lexical(&*store, "可爱", &Filter::default()).len(), 2);
    });
}

#[test]
fn no_query_is_a_syntax_error() {
    check(|store| {
        put(&*store, "a.txt", &["Plain words."]);
        for query in
            ["\" OR", "NEAR(", "*", "a AND NOT b", "col:term", "'; DROP TABLE chunks", "\0", "^x", "{a b}: c"]
        {
            let _ = lexical(&*store, query, &Filter::default());
        }
        assert_eq!(lexical(&*store, &"word ".repeat(10_000), &Filter::default()).len(), 1);
        let long: String = (0..2000).map(|n| format!("plain{n} ")).collect();
        let _ = lexical(&*store, &long, &Filter::default());
    });
}
