//! Tests that a persisted index changes no answer, whatever happens to the store.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use chunkwright::parse::Text;
use chunkwright::{ChunkConfig, Chunker, Document, RecordContext, Words};
use chunkwright_models::text_hash;
use rusqlite::Connection;

use super::Limits;
use crate::analysis;
use crate::bm25::{alike, query_ids};
use crate::contract::{Access, GenerationStore, Store};
use crate::document::{Change, DocumentInfo, NewChunk, NewDocument, Outcome, StoredDocument};
use crate::filter::Filter;
use crate::generation::{Generation, GenerationSpec, Model};
use crate::memory::MemoryStore;
use crate::scored::Scored;
use crate::sqlite::{SqliteStore, persist};
use crate::vector::Vector;

const DIMENSION: usize = 12;

/// Limits that make many small parts, which are made again now and then.
const SMALL: Limits = Limits { least: 12, lacking: 4, share: 8, part: 20, parts: 3 };

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn words(&mut self, count: u64) -> String {
        (0..count).map(|_| format!("word{} ", self.below(30).min(self.below(30)))).collect()
    }

    fn vector(&mut self) -> Vector {
        let dense = (0..DIMENSION).map(|_| self.below(2000) as f32 / 1000.0 - 0.9995).collect();
        let sparse = (0..20).filter(|_| self.below(4) == 0).map(|token| (token, 0.25)).collect();
        Vector { dense, sparse: Some(sparse), codes: None }
    }
}

fn open(folder: &Path, access: Access) -> SqliteStore {
    let store = SqliteStore::open(folder, access).expect("a store").with_memory(40_000);
    SqliteStore { limits: SMALL, ..store }
}

fn spec(hash: &str) -> GenerationSpec {
    let model = Model { name: "m".into(), dimension: DIMENSION, sparse: true };
    GenerationSpec { strategy_version: "test-v1.0".into(), config_hash: hash.into(), model: Some(model) }
}

/// A version of a document with some vectors of its texts, both of chance.
fn document(doc_id: &str, random: &mut Random) -> (NewDocument, Vec<([u8; 16], Vector)>) {
    let paragraphs = random.below(9);
    let source: String = (0..paragraphs)
        .map(|_| {
            let count = 3 + random.below(5);
            random.words(count) + "\n\n"
        })
        .collect();
    let config = ChunkConfig { max_size: 8, target_size: 1, min_size: 0, ..ChunkConfig::default() };
    let chunker = Chunker::new(config, Arc::new(Words)).expect("a configuration");
    let records =
        chunker.chunk(&Document::parse(doc_id, source.as_str(), &Text)).records(&RecordContext::default());
    let mut vectors = Vec::new();
    let mut chunk = |mut record: chunkwright::Record| {
        record.category = if random.below(3) == 0 { "code" } else { "doc" }.into();
        record.language = (random.below(2) == 0).then(|| "rust".into());
        // A text has the same vector wherever it is, or none.
        let hash = text_hash(&record.text);
        if !hash[0].is_multiple_of(5) {
            vectors.push((hash, Random(u64::from(hash[1]) << 8 | u64::from(hash[2])).vector()));
        }
        NewChunk { enabled: random.below(10) > 0, ..NewChunk::new(record) }
    };
    let chunks = records.into_iter().map(&mut chunk).collect();
    let info = DocumentInfo {
        doc_id: doc_id.into(),
        file_hash: text_hash(&source).iter().map(|byte| format!("{byte:02x}")).collect(),
        ..DocumentInfo::default()
    };
    let document = StoredDocument { info, source: source.into(), ..StoredDocument::default() };
    (NewDocument { document, base: 0, chunks }, vectors)
}

/// Makes the same changes of chance in all stores.
fn change(stores: &[(&dyn Store, Generation)], random: &mut Random) {
    let doc_id = format!("folder{}/d{}.txt", random.below(2), random.below(12));
    let (new, vectors) = document(&doc_id, random);
    let (kind, at) = (random.below(8), random.below(100));
    for (store, generation) in stores {
        let known = store.document_info(generation, &doc_id).expect("read");
        let base = known.as_ref().map_or(0, |info| info.version);
        let records = store.records(generation, &doc_id).expect("records");
        store.cache().put_vectors("m", &vectors).expect("written");
        let change = match records.get(at as usize % records.len().max(1)) {
            _ if kind == 0 => Change::Remove { doc_id: doc_id.clone() },
            Some(record) if kind == 1 => Change::Amend {
                doc_id: doc_id.clone(),
                chunks: vec![NewChunk { enabled: at.is_multiple_of(2), ..NewChunk::new(record.clone()) }],
                base,
                overlays: String::new(),
            },
            _ => Change::Replace(Box::new(NewDocument { base, ..new.clone() })),
        };
        let outcomes = store.write(generation, &[change]).expect("written");
        assert!(outcomes.iter().all(|outcome| *outcome != Outcome::Stale));
    }
}

/// The answers to some questions of chance.
fn answers(store: &dyn Store, generation: &Generation, seed: u64) -> Vec<Vec<Scored>> {
    let mut random = Random(seed);
    let mut answers = Vec::new();
    for filter in [
        "null",
        r#"{"field":"category","is":"code"}"#,
        r#"{"and":[{"field":"doc_id","prefix":"folder1"},{"not":{"field":"language","is":"rust"}}]}"#,
        r#"{"field":"text","word":"word2"}"#,
        r#"{"or":[{"field":"text","phrase":"word1 word2"},{"field":"text","word":"word7"}]}"#,
    ] {
        let filter: Filter = serde_json::from_str(filter).expect(filter);
        let terms = alike(&query_ids(analysis::terms(&random.words(4))));
        let Vector { dense, sparse, .. } = random.vector();
        for limit in [3, 1_000] {
            answers.push(store.lexical(generation, &terms, &filter, limit).expect("ranked"));
            answers.push(store.dense(generation, &dense, &filter, limit).expect("ranked"));
            answers.push(
                store
                    .sparse(generation, sparse.as_deref().unwrap_or_default(), &filter, limit)
                    .expect("ranked"),
            );
        }
    }
    answers
}

/// Checks answers one by one: all of them together fill pages.
fn check(store: &dyn Store, generation: &Generation, seed: u64, right: &[Vec<Scored>]) {
    for (at, (found, right)) in answers(store, generation, seed).iter().zip(right).enumerate() {
        assert_eq!(found, right, "answer {at} of {seed}");
    }
}

/// The answers of a store that uses no persisted index.
fn answers_without(folder: &Path, generation: &Generation, seed: u64) -> Vec<Vec<Scored>> {
    let store = open(folder, Access::Read);
    store.unreadable.lock().insert(generation.number);
    answers(&store, generation, seed)
}

fn persisted_rows(store: &SqliteStore, generation: &Generation) -> u32 {
    store.read(|transaction| persist::coverage(transaction, generation)).expect("read").rows
}

#[test]
fn changes_and_reopening_at_random_give_the_answers_of_an_index_in_memory() {
    let mut most = 0;
    for seed in 0..3 {
        let mut random = Random(seed);
        let folder = tempfile::tempdir().expect("a folder");
        let model = MemoryStore::default();
        let wanted = model.begin("c", &spec("one")).expect("a generation");
        let mut store = open(folder.path(), Access::Write);
        let generation = store.begin("c", &spec("one")).expect("a generation");
        let reader = open(folder.path(), Access::Read);
        for step in 0..120 {
            for _ in 0..=random.below(4) {
                change(&[(&model, wanted.clone()), (&store, generation.clone())], &mut random);
            }
            match random.below(6) {
                0 => {
                    drop(store);
                    store = open(folder.path(), Access::Write);
                }
                1 | 2 => store.switch(&generation).expect("a switch"),
                3 => {
                    // Another generation comes and goes.
                    let other = store.begin("c", &spec("other")).expect("a generation");
                    (0..6).for_each(|_| change(&[(&store, other.clone())], &mut random));
                    store.persist_index(&other).expect("persisted");
                    answers(&store, &other, step);
                    store.remove(&other).expect("removed");
                }
                _ => {}
            }
            let right = answers(&model, &wanted, step);
            check(&store, &generation, step, &right);
            if random.below(2) == 0 {
                check(&reader, &generation, step, &right);
            }
            most = most.max(persisted_rows(&store, &generation));
        }
        assert!(persisted_rows(&store, &generation) > 0);
        store.remove(&generation).expect("removed");
        let left: i64 = store
            .read(|transaction| {
                Ok(transaction.query_row(
                    "SELECT (SELECT count(*) FROM search_parts) + (SELECT count(*) FROM search_blocks)",
                    [],
                    |row| row.get(0),
                )?)
            })
            .expect("read");
        assert_eq!(left, 0, "nothing is left of what is gone");
    }
    assert!(most > 40, "several parts were persisted");
}

#[test]
fn a_persisted_index_is_right_wherever_the_log_of_the_database_ends() {
    let mut random = Random(5);
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path(), Access::Write);
    let generation = store.begin("c", &spec("one")).expect("a generation");
    for _ in 0..30 {
        change(&[(&store, generation.clone())], &mut random);
    }
    let file = folder.path().join(SqliteStore::FILE);
    let database = fs::read(&file).expect("a file");
    for _ in 0..40 {
        change(&[(&store, generation.clone())], &mut random);
        store.persist_index(&generation).expect("persisted");
    }
    assert!(persisted_rows(&store, &generation) > 40);
    let log = fs::read(file.with_extension("sqlite3-wal")).expect("a log");
    assert_eq!(database, fs::read(&file).expect("a file"), "the log has everything");
    let mut persisted = Vec::new();
    for cut in 0..60 {
        let copy = tempfile::tempdir().expect("a folder");
        let file = copy.path().join(SqliteStore::FILE);
        fs::write(&file, &database).expect("written");
        fs::write(file.with_extension("sqlite3-wal"), &log[..log.len() * cut / 60]).expect("written");
        let store = open(copy.path(), Access::Write);
        let Some(generation) = store.lookup("c").ok().flatten() else { continue };
        let wanted = answers_without(copy.path(), &generation, cut as u64);
        persisted.push(persisted_rows(&store, &generation));
        check(&open(copy.path(), Access::Read), &generation, cut as u64, &wanted);
        check(&store, &generation, cut as u64, &wanted);
    }
    persisted.dedup();
    assert!(persisted.len() > 5, "{persisted:?}");
}

#[test]
fn a_damaged_index_is_not_used_and_is_made_again() {
    for damage in [
        "UPDATE search_blocks SET block = zeroblob(length(block))",
        "UPDATE search_blocks SET block = x''",
        "DELETE FROM search_blocks WHERE id % 2 = 0",
        "DELETE FROM search_parts WHERE first > 0",
        "UPDATE search_parts SET rows = zeroblob(length(rows))",
        "UPDATE search_parts SET rows = substr(rows, 1, length(rows) - 1)",
        "UPDATE search_parts SET sketches = x'00'",
        "UPDATE search_parts SET terms = substr(terms, 2)",
        "UPDATE search_indexes SET format = format + 1",
        "UPDATE search_indexes SET rows = rows - 1",
        "DELETE FROM search_indexes",
    ] {
        let mut random = Random(9);
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path(), Access::Write);
        let generation = store.begin("c", &spec("one")).expect("a generation");
        (0..40).for_each(|_| change(&[(&store, generation.clone())], &mut random));
        store.switch(&generation).expect("a switch");
        assert!(persisted_rows(&store, &generation) > 20);
        drop(store);
        let connection = Connection::open(folder.path().join(SqliteStore::FILE)).expect("a connection");
        assert!(connection.execute(damage, []).expect(damage) > 0);
        drop(connection);
        let wanted = answers_without(folder.path(), &generation, 1);
        check(&open(folder.path(), Access::Read), &generation, 1, &wanted);
        let store = open(folder.path(), Access::Write);
        check(&store, &generation, 1, &wanted);
        store.switch(&generation).expect("a switch");
        assert!(persisted_rows(&store, &generation) > 20, "{damage}");
        drop(store);
        let store = open(folder.path(), Access::Read);
        check(&store, &generation, 1, &wanted);
        assert!(store.unreadable.lock().is_empty(), "{damage}");
    }
}
