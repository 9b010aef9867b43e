//! The contract of every store: the same bodies run over all of [`STORES`](chunkwright_index::STORES).

use std::sync::Arc;

use chunkwright::parse::Text;
use chunkwright::{ChunkId, Document, Record, RecordContext};
use chunkwright_index::analysis::terms;
use chunkwright_index::bm25::{TermCounts, TermField, TermId, alike, query_ids};
use chunkwright_index::{
    Change, DocumentInfo, Filter, Generation, GenerationSpec, GenerationState, IndexedChunk, Model, NewChunk,
    NewDocument, Outcome, Overlay, PastRun, Scored, Store, StoreError, StoredChunk, StoredDocument,
};
use chunkwright_models::text_hash;
use chunkwright_source::format;

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
pub(crate) fn document(doc_id: &str, base: i64, paragraphs: &[&str]) -> NewDocument {
    let source = paragraphs.join("\n\n");
    let parsed = Document::parse(doc_id, source.as_str(), &Text);
    let file_hash = format::file_hash(source.as_bytes());
    let context = RecordContext { preset: "test".into(), file_hash, ..RecordContext::default() };
    let records = chunker().chunk(&parsed).records(&context);
    let info = DocumentInfo {
        doc_id: doc_id.into(),
        file_hash: context.file_hash,
        bytes: source.len() as u64,
        preset: context.preset,
        ..DocumentInfo::default()
    };
    NewDocument {
        base,
        document: StoredDocument { info, source: source.into(), ..StoredDocument::default() },
        chunks: records.into_iter().map(NewChunk::new).collect(),
    }
}

/// The generation that tests write to.
fn g(store: &dyn Store) -> Generation {
    store.open(C).unwrap_or_else(|_| store.begin(C, &GenerationSpec::default()).unwrap())
}

/// Begins the collection with vectors of the model `m`.
fn with_model(store: &dyn Store, dimension: usize) {
    store.begin(C, &spec("m", dimension)).unwrap();
}

fn spec(model: &str, dimension: usize) -> GenerationSpec {
    GenerationSpec {
        model: Some(Model { name: model.into(), dimension, sparse: false }),
        ..GenerationSpec::default()
    }
}

fn chunk(store: &dyn Store, id: ChunkId) -> Option<Arc<StoredChunk>> {
    let chunk = store.chunks(&g(store), &[id]).unwrap().remove(0);
    let origin = store.origins(&g(store), &[id]).unwrap().remove(0);
    assert_eq!(origin.map(|it| it.doc_id), chunk.as_ref().map(|chunk| chunk.record.doc_id.clone()));
    chunk
}

fn replace(store: &dyn Store, new: NewDocument) -> Outcome {
    store.write(&g(store), &[Change::Replace(Box::new(new))]).unwrap()[0]
}

/// Stores a new version whatever the one before is.
fn put(store: &dyn Store, doc_id: &str, paragraphs: &[&str]) -> Outcome {
    let listed = store.documents(&g(store)).unwrap();
    let base = listed.iter().find(|info| info.doc_id == doc_id).map_or(0, |info| info.version);
    replace(store, document(doc_id, base, paragraphs))
}

fn lexical(store: &dyn Store, query: &str, filter: &Filter) -> Vec<Scored> {
    store.lexical(&g(store), &alike(&query_ids(terms(query))), filter, 100).unwrap()
}

fn texts(store: &dyn Store, hits: &[Scored]) -> Vec<String> {
    hits.iter().map(|hit| chunk(store, hit.id).unwrap().record.content.clone()).collect()
}

#[test]
fn a_document_comes_back_as_it_was_stored() {
    check(|store| {
        let new = document("a.txt", 0, &["First words.", "数据库连接。", "Третий абзац."]);
        let (source, records): (_, Vec<_>) =
            (new.document.source.clone(), new.chunks.iter().map(|chunk| chunk.record.clone()).collect());
        assert_eq!(replace(&*store, new), Outcome::Written);
        let stored = store.document(&g(&*store), "a.txt").unwrap().unwrap();
        assert_eq!(stored.source, source);
        assert_eq!(store.records(&g(&*store), "a.txt").unwrap(), records);
        assert_eq!(stored.info.chunks as usize, records.len());
        for record in records {
            let id = record.chunk_id;
            assert_eq!(chunk(&*store, id).unwrap().record, record);
        }
        assert_eq!(store.document(&g(&*store), "b.txt").unwrap(), None);
        assert_eq!(chunk(&*store, ChunkId([0; 16])), None);
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
        store.write(&g(&*store), &[Change::Remove { doc_id: "b.txt".into() }]).unwrap();
        assert!(lexical(&*store, "apple", &Filter::default()).is_empty());
        assert_eq!(store.documents(&g(&*store)).unwrap().len(), 1);
    });
}

#[test]
fn bm25_after_changes_is_that_of_a_fresh_store() {
    let paragraphs = |n: usize| format!("Entry {n} speaks of topic{} and of common things.", n % 7);
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let [churned, fresh] = ["churned", "fresh"].map(|name| open(kind, &folder.path().join(name)));
        let put_all = |store: &dyn Store, numbers: &[usize], add: usize| {
            let listed = store.documents(&g(store)).unwrap();
            let change = |n: &usize| {
                let doc_id = format!("{n}.txt");
                let base = listed.iter().find(|info| info.doc_id == doc_id).map_or(0, |info| info.version);
                Change::Replace(Box::new(document(&doc_id, base, &[&paragraphs(n + add)])))
            };
            store.write(&g(store), &numbers.iter().map(change).collect::<Vec<_>>()).unwrap();
        };
        let (gone, kept): (Vec<usize>, Vec<usize>) = (0..30).partition(|n| n % 3 == 0);
        for round in 0..3 {
            // Some alone, some together.
            let numbers: Vec<usize> = (0..30).collect();
            let (alone, together) = numbers.split_at(round);
            for n in alone {
                put_all(&*churned, &[*n], 100 * (2 - round));
            }
            put_all(&*churned, together, 100 * (2 - round));
        }
        let remove = |n: &usize| Change::Remove { doc_id: format!("{n}.txt") };
        churned.write(&g(&*churned), &gone.iter().map(remove).collect::<Vec<_>>()).unwrap();
        put_all(&*fresh, &kept, 0);
        let [a, b] =
            [churned, fresh].map(|store| lexical(&*store, "topic3 entry things", &Filter::default()));
        assert_eq!(a.len(), 20, "{kind}");
        for (a, b) in a.iter().zip(&b) {
            assert_eq!(a.id, b.id, "{kind}");
            assert!((a.score - b.score).abs() < 1e-9, "{kind} {a:?} {b:?}");
        }
    });
}

#[test]
fn a_term_counts_by_its_weight() {
    check(|store| {
        for text in ["red boat", "blue boat", "boat"] {
            put(&*store, text, &[text]);
        }
        let score = |weights: [f32; 2], text: &str| {
            let ids = ["red", "blue"].map(|word| query_ids(terms(word))[0]);
            let weighted: Vec<_> = ids.into_iter().zip(weights).collect();
            let found = store.lexical(&g(&*store), &weighted, &Filter::default(), 9).unwrap();
            let at = texts(&*store, &found).iter().position(|found| found == text);
            at.map_or(0.0, |at| found[at].score)
        };
        let whole = score([1.0, 1.0], "red boat");
        assert!(whole > 0.0 && (score([1.0, 1.0], "blue boat") - whole).abs() < 1e-4 * whole);
        assert!((score([0.5, 1.0], "red boat") - whole / 2.0).abs() < 1e-4 * whole);
        assert!(score([0.5, 1.0], "boat") < 1e-9);
    });
}

#[test]
fn an_older_reading_never_replaces_a_newer_one() {
    check(|store| {
        put(&*store, "a.txt", &["Old."]);
        let listed = store.documents(&g(&*store)).unwrap()[0].version;
        let (late, early) =
            (document("a.txt", listed, &["Read first."]), document("a.txt", listed, &["Read second."]));
        assert_eq!(replace(&*store, early), Outcome::Written);
        assert_eq!(replace(&*store, late), Outcome::Stale);
        assert_eq!(store.document(&g(&*store), "a.txt").unwrap().unwrap().source.to_string(), "Read second.");
        store.write(&g(&*store), &[Change::Remove { doc_id: "a.txt".into() }]).unwrap();
        assert_eq!(replace(&*store, document("a.txt", listed, &["Old."])), Outcome::Stale);
        assert_eq!(store.documents(&g(&*store)).unwrap(), []);
    });
}

#[test]
fn a_write_happens_whole_or_not_at_all() {
    check(|store| {
        put(&*store, "a.txt", &["Kept."]);
        let mut thief = document("c.txt", 0, &["Kept."]);
        thief.chunks[0].record.chunk_id = store.records(&g(&*store), "a.txt").unwrap()[0].chunk_id;
        let changes = [
            Change::Replace(Box::new(document("b.txt", 0, &["New."]))),
            Change::Remove { doc_id: "a.txt".into() },
            Change::Replace(Box::new(document("a.txt", 0, &["Kept."]))),
            Change::Replace(Box::new(thief)),
        ];
        let error = store.write(&g(&*store), &changes).unwrap_err();
        assert!(matches!(error, StoreError::IdCollision { .. }), "{error}");
        let names: Vec<String> =
            store.documents(&g(&*store)).unwrap().into_iter().map(|info| info.doc_id).collect();
        assert_eq!(names, ["a.txt"]);
    });
}

#[test]
fn an_empty_document_is_known_and_can_be_filled() {
    check(|store| {
        assert_eq!(put(&*store, "a.txt", &[]), Outcome::Written);
        assert_eq!(store.documents(&g(&*store)).unwrap()[0].chunks, 0);
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
        let other = store.begin("other", &GenerationSpec::default()).unwrap();
        let new = document("a.txt", 0, &["Shared words there."]);
        store.write(&other, &[Change::Replace(Box::new(new))]).unwrap();
        assert_eq!(texts(&*store, &lexical(&*store, "shared", &Filter::default())), ["Shared words here."]);
        store.remove(&other).unwrap();
        assert_eq!(store.collections().unwrap().len(), 1);
        let error = store.open("other").unwrap_err();
        assert_eq!(error.to_string(), "unknown collection `other`; known are `notes`");
        assert!(matches!(store.documents(&other), Err(StoreError::UnknownGeneration { .. })));
        let error = store.begin("no/name", &GenerationSpec::default()).unwrap_err();
        assert!(matches!(error, StoreError::CollectionName { .. }));
    });
}

#[test]
fn a_generation_is_built_beside_the_current_one_and_switched_to() {
    check(|store| {
        put(&*store, "a.txt", &["The first cut."]);
        let first = g(&*store);
        let next = GenerationSpec { config_hash: "other".into(), ..GenerationSpec::default() };
        assert_eq!(store.find(C, &next).unwrap(), None, "a look begins nothing");
        let second = store.begin(C, &next).unwrap();
        assert_eq!(store.find(C, &next).unwrap().as_ref(), Some(&second));
        assert_eq!(store.begin(C, &next).unwrap(), second, "a generation is begun once");
        assert!(second.number > first.number);
        let new = document("a.txt", 0, &["The second cut."]);
        store.write(&second, &[Change::Replace(Box::new(new))]).unwrap();
        assert_eq!(g(&*store), first);
        assert_eq!(texts(&*store, &lexical(&*store, "cut", &Filter::default())), ["The first cut."]);
        let states = || -> Vec<GenerationState> {
            let collections = store.collections().unwrap();
            collections[0].generations.iter().map(|status| status.state).collect()
        };
        assert_eq!(states(), [GenerationState::Building, GenerationState::Building]);
        assert!(!store.is_complete(&first).unwrap());
        store.switch(&first).unwrap();
        assert!(store.is_complete(&first).unwrap() && !store.is_complete(&second).unwrap());
        assert_eq!(states(), [GenerationState::Current, GenerationState::Building]);
        store.switch(&second).unwrap();
        assert_eq!(states(), [GenerationState::Old, GenerationState::Current]);
        assert_eq!(texts(&*store, &lexical(&*store, "cut", &Filter::default())), ["The second cut."]);
        // A reader stays with the generation that it began with.
        let old = store.lexical(&first, &alike(&query_ids(terms("cut"))), &Filter::default(), 9).unwrap();
        let old = store.chunks(&first, &[old[0].id]).unwrap().remove(0).unwrap();
        assert_eq!(old.record.content, "The first cut.");
        assert_eq!(store.open(&first.to_string()).unwrap(), first);
        store.remove(&first).unwrap();
        assert_eq!(states(), [GenerationState::Current]);
        let error = store.open(&first.to_string()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("unknown generation `{first}`")), "{error}");
    });
}

#[test]
fn a_touched_file_changes_nothing_that_readers_see() {
    check(|store| {
        put(&*store, "a.txt", &["As it was."]);
        let before = store.collections().unwrap();
        let touch = Change::Touch { doc_id: "a.txt".into(), modified: 7 };
        assert_eq!(store.write(&g(&*store), &[touch]).unwrap(), [Outcome::Written]);
        assert_eq!(store.documents(&g(&*store)).unwrap()[0].modified, 7);
        assert_eq!(store.collections().unwrap(), before);
    });
}

#[test]
fn threads_of_one_process_write_in_turns() {
    check(|store| {
        g(&*store);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let store = &*store;
                scope.spawn(move || {
                    for number in 0..12 {
                        let new = document(&format!("{thread}/{number}.txt"), 0, &["As it was."]);
                        assert_eq!(replace(store, new), Outcome::Written);
                    }
                });
            }
        });
        assert_eq!(store.documents(&g(&*store)).unwrap().len(), 48);
    });
}

#[test]
fn dense_search_is_exact_and_ordered() {
    check(|store| {
        with_model(&*store, 3);
        let vector =
            |name: &str| if name.starts_with("North") { vec![1.0, 0.0, 0.0] } else { vec![0.0, 0.6, 0.8] };
        let all = ["North.", "East.", "North again."];
        let vectors: Vec<_> = all.iter().map(|text| (text_hash(text), vector(text).into())).collect();
        store.cache().put_vectors("m", &vectors).unwrap();
        put(&*store, "a.txt", &["North."]);
        put(&*store, "b.txt", &["East."]);
        put(&*store, "c.txt", &["North again."]);
        put(&*store, "d.txt", &["Not embedded."]);
        assert_eq!(store.collections().unwrap()[0].generations[0].pending, 1);
        let hits = store.dense(&g(&*store), &[0.5, 1.0, 0.0], &Filter::default(), 9).unwrap();
        let scores: Vec<f64> = hits.iter().map(|hit| hit.score).collect();
        assert!((scores[0] - 0.6).abs() < 1e-6 && scores[1..] == [0.5, 0.5], "{scores:?}");
        assert_eq!(texts(&*store, &hits[..1]), ["East."]);
        assert!(hits[1].id < hits[2].id);
        assert_eq!(store.dense(&g(&*store), &[0.5, 1.0, 0.0], &Filter::default(), 2).unwrap(), hits[..2]);
        // The same products for chunks that were read, in any order, and from the index.
        let records = ["d.txt", "c.txt", "b.txt"].map(|doc_id| store.records(&g(&*store), doc_id).unwrap());
        let records: Vec<&Record> = records.iter().flatten().collect();
        let ids: Vec<ChunkId> = records.iter().map(|record| record.chunk_id).collect();
        let products = store.products(&g(&*store), &[0.5, 1.0, 0.0], &records).unwrap();
        let near = |product: Option<f64>, wanted: f64| product.is_some_and(|it| (it - wanted).abs() < 1e-6);
        assert!(products[0].is_none() && near(products[1], 0.5) && near(products[2], 0.6), "{products:?}");
        let indexed = store.indexed(&g(&*store), &ids, &[], Some(&[0.5, 1.0, 0.0])).unwrap();
        for (product, indexed) in products.iter().zip(indexed) {
            assert!(indexed.is_none_or(|indexed| indexed.product == *product), "{product:?}");
        }
        let short = store.products(&g(&*store), &[0.5], &records).unwrap_err();
        assert!(short.to_string().contains("another length"), "{short}");
        let only = Filter::parse("doc_id~c.*").unwrap();
        assert_eq!(
            texts(&*store, &store.dense(&g(&*store), &[0.5, 1.0, 0.0], &only, 9).unwrap()),
            ["North again."]
        );
    });
}

#[test]
fn an_index_knows_of_chunks_what_they_have() {
    let often = "bee ".repeat(300);
    let texts = ["The bee dances.", "蜜蜂在跳舞。", "Пчела танцует: a bee, a bee.", &often, "Nothing of it."];
    let query = ["bee", "dances", "Пчела", "跳舞", "hive"];
    let ids = query_ids(query.iter().flat_map(|word| terms(word)));
    for_each_store(|kind| {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, &folder.path().join("store"));
        put(&*store, "bee.txt", &texts[..3]);
        put(&*store, "b.txt", &texts[3..]);
        put(&*store, "bee.txt", &texts[1..3]);
        let wanted = ids.iter().flat_map(|id| [*id, TermField::File.id(*id)]);
        let mut wanted: Vec<TermId> = wanted.collect();
        wanted.sort_unstable();
        let records = ["bee.txt", "b.txt"].map(|doc_id| store.records(&g(&*store), doc_id).unwrap());
        let mut chunks: Vec<ChunkId> = records.iter().flatten().map(|record| record.chunk_id).collect();
        chunks.push(ChunkId([7; 16]));
        let indexed = store.indexed(&g(&*store), &chunks, &wanted, None).unwrap();
        let read = store.chunks(&g(&*store), &chunks).unwrap();
        assert_eq!(indexed.len(), read.len());
        for (indexed, chunk) in indexed.iter().zip(&read) {
            let Some(chunk) = chunk else {
                assert_eq!(indexed, &None, "{kind}");
                continue;
            };
            let mut counts = chunk.terms.counts.clone();
            counts.retain(|(id, _)| wanted.binary_search(id).is_ok());
            let is_known =
                matches!(kind, "sqlite" | "memory") && counts.iter().all(|(_, count)| *count < 255);
            let terms = TermCounts { length: chunk.terms.length, counts };
            let expected = is_known.then_some(IndexedChunk { terms, product: None });
            assert_eq!(indexed, &expected, "{kind}: {}", chunk.record.content);
        }
    });
}

#[test]
fn vectors_belong_to_texts_and_outlive_chunks() {
    check(|store| {
        with_model(&*store, 2);
        let hash = text_hash("Same text.");
        store.cache().put_vectors("m", &[(hash, vec![0.6, 0.8].into())]).unwrap();
        put(&*store, "a.txt", &["Same text."]);
        store.write(&g(&*store), &[Change::Remove { doc_id: "a.txt".into() }]).unwrap();
        assert_eq!(
            store.cache().vectors("m", &[hash, [0; 16]]).unwrap(),
            [Some(vec![0.6, 0.8].into()), None]
        );
        assert_eq!(store.cache().vectors("other", &[hash]).unwrap(), [None]);
        put(&*store, "b.txt", &["Same text."]);
        assert_eq!(store.cache().clear().unwrap(), 0);
        assert_eq!(store.dense(&g(&*store), &[1.0, 0.0], &Filter::default(), 9).unwrap().len(), 1);
        store.write(&g(&*store), &[Change::Remove { doc_id: "b.txt".into() }]).unwrap();
        assert_eq!(store.dense(&g(&*store), &[1.0, 0.0], &Filter::default(), 9).unwrap(), []);
        let usage = store.cache().usage().unwrap();
        assert_eq!(
            (usage[0].model.as_deref(), usage[0].entries, usage[0].bytes, usage[0].used),
            (Some("m"), 1, 8, 0)
        );
        assert_eq!(store.cache().clear().unwrap(), 1);
    });
}

#[test]
fn vectors_that_cannot_be_compared_are_refused() {
    check(|store| {
        with_model(&*store, 2);
        for (vector, problem) in [
            (vec![1.0, f32::NAN], "has a number that is not finite"),
            (vec![f32::INFINITY, 1.0], "has a number that is not finite"),
            (vec![0.0, 0.0], "is all 0"),
            (vec![1.0], "has another length"),
        ] {
            let error = store.dense(&g(&*store), &vector, &Filter::default(), 5).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        assert!(store.cache().put_vectors("m", &[([1; 16], vec![f32::NAN, 1.0].into())]).is_err());
        let error = store.begin(C, &spec("m", 3)).unwrap_err().to_string();
        assert!(
            error.starts_with("`m` returns vectors of 3 numbers, but its stored vectors have 2"),
            "{error}"
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
        let parse = |text: &str| Filter::parse(text).unwrap();
        for (filter, expected) in [
            ("category=doc", 3),
            ("language=rust", 0),
            ("content_type=paragraph and doc_id~src/**", 1),
            ("doc_id~docs/*", 2),
            ("doc_id=docs/a[1].txt", 1),
            ("doc_id~docs/a[1].txt", 2),
            ("doc_id~**/b*", 1),
            ("doc_id~*.txt", 0),
            ("doc_id^=docs/ and not doc_id~**/*1.txt", 1),
            ("doc_id=src/b.txt or doc_id=docs/a1.txt", 2),
            ("start_line=1", 3),
            ("start_line>1", 0),
            ("char_count>=7 and char_count<=7 and content=\"A word.\"", 3),
            ("oversize=true", 0),
            ("not (oversize=true or category=code)", 3),
        ] {
            assert_eq!(count(parse(filter)), expected, "{filter}");
        }
    });
}

#[test]
fn a_filter_for_one_document_finds_it_alone_whatever_its_name_is() {
    let names = [
        "a\"b.txt",
        "a*b.txt",
        "a{b.txt",
        "a\\b.txt",
        "a'b.txt",
        "[a]?.txt",
        "\\\"",
        "\u{8336}\"*.txt",
        "axb.txt",
        "ab.txt",
    ];
    check(|store| {
        for name in names {
            put(&*store, name, &["A word."]);
        }
        for name in names {
            let text = format!("doc_id=\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
            let filter = Filter::parse(&text).unwrap();
            let found = lexical(&*store, "word", &filter);
            assert_eq!(found.len(), 1, "{text}");
            let own = store.records(&g(&*store), name).unwrap()[0].chunk_id;
            assert_eq!(found[0].id, own, "{text}");
            assert_eq!(lexical(&*store, "word", &filter.negated()).len(), names.len() - 1, "{text}");
        }
    });
}

#[test]
fn a_chunk_that_is_not_enabled_is_hidden_and_there() {
    check(|store| {
        let mut new = document("a.txt", 0, &["Hidden words."]);
        new.chunks[0].enabled = false;
        let id = new.chunks[0].record.chunk_id;
        new.document.info.overlays =
            format!(r#"[{{"on":"{id}","of":"{id}","state":"on","effect":"hidden"}}]"#);
        replace(&*store, new);
        assert!(lexical(&*store, "hidden", &Filter::default()).is_empty());
        let id = store.records(&g(&*store), "a.txt").unwrap()[0].chunk_id;
        assert!(!chunk(&*store, id).unwrap().enabled);
    });
}

#[test]
fn overlays_are_kept_apart_from_chunks() {
    check(|store| {
        put(&*store, "a.txt", &["Some words."]);
        let record = &store.records(&g(&*store), "a.txt").unwrap()[0];
        let overlay = Overlay { disabled: true, keywords: vec!["alias".into()], ..Overlay::of(record) };
        store.put_overlay(C, &overlay).unwrap();
        store.write(&g(&*store), &[Change::Remove { doc_id: "a.txt".into() }]).unwrap();
        let overlays = store.overlays(C).unwrap();
        assert_eq!(overlays.iter().collect::<Vec<_>>(), [&overlay]);
        store.put_overlay(C, &Overlay::of(record)).unwrap();
        assert!(store.overlays(C).unwrap().is_empty());
        assert!(store.put_overlay("other", &overlay).is_err());
    });
}

#[test]
fn notes_are_remembered_by_their_keys() {
    check(|store| {
        let cache = store.cache();
        cache.put_notes(&[([1; 16], "первая".into()), ([2; 16], "二".into())]).unwrap();
        let found = cache.notes(&[[2; 16], [3; 16], [1; 16]]).unwrap();
        assert_eq!(found, [Some("二".to_owned()), None, Some("первая".to_owned())]);
        assert_eq!(cache.usage().unwrap().last().unwrap().entries, 2);
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

#[test]
fn the_last_runs_of_a_collection_are_remembered_until_it_is_removed() {
    check(|store| {
        let run = |indexed| PastRun { indexed, at: "2026-01-01T00:00:00Z".into(), ..PastRun::default() };
        store.add_run(C, &run(0)).unwrap();
        assert!(store.runs(C).unwrap().is_empty(), "there is no such collection");
        let generation = g(&*store);
        for indexed in 1..=PastRun::KEPT + 2 {
            store.add_run(C, &run(indexed)).unwrap();
        }
        let runs = store.runs(C).unwrap();
        let numbers: Vec<u64> = runs.iter().map(|run| run.number).collect();
        assert_eq!(numbers, (3..=PastRun::KEPT as u64 + 2).rev().collect::<Vec<_>>());
        assert!(runs.iter().all(|run| run.indexed as u64 == run.number));
        store.remove(&generation).unwrap();
        g(&*store);
        assert!(store.runs(C).unwrap().is_empty());
    });
}

/// What a collection has, but for its name.
fn all_of(store: &dyn Store, name: &str) -> impl PartialEq + std::fmt::Debug + use<> {
    let collection = store.collection(name).unwrap().unwrap();
    let generations = collection.generations.into_iter().map(|status| {
        let records: Vec<_> = store.documents(&status.generation).unwrap();
        let records =
            records.iter().flat_map(|info| store.records(&status.generation, &info.doc_id).unwrap());
        let records: Vec<_> = records.collect();
        let sources = ["a.txt", "b.txt"].map(|doc_id| store.document(&status.generation, doc_id).unwrap());
        let found = store
            .lexical(&status.generation, &alike(&query_ids(terms("words"))), &Filter::default(), 100)
            .unwrap();
        let Generation { number, spec, .. } = status.generation;
        (
            (number, spec, status.state, status.documents, status.chunks, status.change),
            records,
            sources,
            found,
        )
    });
    let visible = store.open(name).unwrap().number;
    (generations.collect::<Vec<_>>(), visible, store.overlays(name).unwrap(), store.runs(name).unwrap())
}

fn names(store: &dyn Store) -> Vec<String> {
    let visible: Vec<String> =
        store.visible().unwrap().into_iter().map(|generation| generation.collection).collect();
    let listed: Vec<String> = store.collections().unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(visible, listed);
    listed
}

#[test]
fn a_renamed_collection_keeps_everything_and_its_old_name_is_free() {
    let cut_by =
        |config_hash: &str| GenerationSpec { config_hash: config_hash.into(), ..GenerationSpec::default() };
    let put_into = |store: &dyn Store, generation: &Generation, doc_id: &str, text: &str| {
        let base = store.document_info(generation, doc_id).unwrap().map_or(0, |info| info.version);
        let change = Change::Replace(Box::new(document(doc_id, base, &[text])));
        assert_eq!(store.write(generation, &[change]).unwrap(), [Outcome::Written], "{generation}");
    };
    check(|store| {
        let store = &*store;
        let first = store.begin(C, &cut_by("1")).unwrap();
        put_into(store, &first, "a.txt", "Words of the first.");
        store.switch(&first).unwrap();
        let second = store.begin(C, &cut_by("2")).unwrap();
        put_into(store, &second, "a.txt", "Words of the second.");
        put_into(store, &second, "b.txt", "Other words.");
        store.switch(&second).unwrap();
        let (chunk_id, pins) = ("0".repeat(32), vec!["how".to_owned()]);
        store.put_overlay(C, &Overlay { chunk_id, pins, ..Overlay::default() }).unwrap();
        store.add_run(C, &PastRun { at: "then".into(), indexed: 2, ..PastRun::default() }).unwrap();
        store.begin("taken", &cut_by("1")).unwrap();

        for (from, to) in [(C, "a b"), (C, ""), (C, "a@1")] {
            let error = store.rename(from, to).unwrap_err();
            assert!(matches!(error, StoreError::CollectionName { .. }), "{error}");
        }
        for (from, to) in [(C, "taken"), (C, C)] {
            assert!(matches!(store.rename(from, to), Err(StoreError::NameTaken { name }) if name == to));
        }
        let unknown = store.rename("none", "new").unwrap_err();
        assert!(matches!(unknown, StoreError::UnknownCollection { .. }), "{unknown}");

        let before = all_of(store, C);
        // Names are normalized, here and there.
        store.rename(C, "\u{438}\u{306}-2").unwrap();
        let new = "й-2";
        assert_eq!(all_of(store, new), before);
        assert_eq!((store.lookup(C).unwrap(), store.collection(C).unwrap()), (None, None));
        assert_eq!(names(store), ["taken", new]);
        // Who has the name of before reads what it was, or nothing.
        if let Ok(info) = store.document_info(&second, "b.txt") {
            assert!(info.is_some());
        }
        let _ = store.switch(&first);
        store.remove(&second).unwrap();
        assert_eq!(all_of(store, new), before, "a generation by the old name changes nothing");
        assert_eq!(store.lookup(C).unwrap(), None);

        // It goes on by its new name.
        assert_eq!(store.find(new, &cut_by("1")).unwrap().unwrap().number, first.number);
        let third = store.begin(new, &cut_by("3")).unwrap();
        put_into(store, &third, "a.txt", "Words of the third.");
        store.switch(&third).unwrap();
        store.remove(&store.open(&format!("{new}@{}", first.number)).unwrap()).unwrap();
        store.add_run(new, &PastRun::default()).unwrap();
        assert_eq!(store.runs(new).unwrap().iter().map(|run| run.number).collect::<Vec<_>>(), [2, 1]);
        let renamed = all_of(store, new);

        // The old name is that of another collection, which has nothing of it, through further renames too.
        let other = store.begin(C, &cut_by("3")).unwrap();
        assert!(store.documents(&other).unwrap().is_empty());
        assert!(store.overlays(C).unwrap().is_empty() && store.runs(C).unwrap().is_empty());
        put_into(store, &other, "a.txt", "Words of another.");
        store.switch(&other).unwrap();
        let others = all_of(store, C);
        store.rename(C, "third").unwrap();
        store.rename(new, C).unwrap();
        assert_eq!((all_of(store, C), all_of(store, "third")), (renamed, others));
        assert_eq!(names(store), [C, "taken", "third"]);
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
        let fourth = store.begin("third", &cut_by("4")).unwrap();
        put_into(store, &fourth, "a.txt", "Words of the fourth.");
        store.remove(&store.open(C).unwrap()).unwrap();
        assert_eq!(names(store), ["taken", "third"]);
        store.remove(&store.open("third").unwrap()).unwrap();
        assert_eq!(names(store), ["taken"]);
    });
}
