//! `config_hash`: equal settings share a generation, whichever version of the program began it.

use std::sync::Arc;

use chunkwright::{ChunkConfig, Chunker, Words};
use chunkwright_index::{Access, IndexOptions, Models, Pipeline, SearchOptions, SqliteStore, Store, search};
use chunkwright_source::NewSource;
use rusqlite::Connection;

/// Written by the last version that made hashes of debug output.
const STORE: &str = include_str!("../stores/debug_hash.sql");

fn pipeline(store: &Arc<dyn Store>, config: ChunkConfig) -> Pipeline {
    let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
    Pipeline::new(Arc::clone(store), "docs", chunker, "auto").with_summaries(true)
}

fn config() -> ChunkConfig {
    ChunkConfig { min_size: 0, ..ChunkConfig::default() }
}

#[test]
fn a_store_of_the_version_before_is_searched_and_updated_without_indexing_again() {
    let folder = tempfile::tempdir().unwrap();
    Connection::open(folder.path().join(SqliteStore::FILE)).unwrap().execute_batch(STORE).unwrap();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(folder.path(), Access::Write).unwrap());
    assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
    let before = store.open("docs").unwrap();
    assert_eq!(before.spec.config_hash, "0834c85906c058b2+summaries");
    let documents = store.documents(&before).unwrap();
    let found = |query: &str| {
        let now = store.open("docs").unwrap();
        let answer = search(&*store, &now, Models::default(), query, &SearchOptions::default()).unwrap();
        answer.hits.into_iter().map(|hit| hit.record).collect::<Vec<_>>()
    };
    assert_eq!(found("fare")[0].content_type, "table", "a keyword given by hand");
    assert_eq!(found("паром"), [], "disabled by hand");

    let pipeline = pipeline(&store, config());
    assert_ne!(pipeline.spec().config_hash, before.spec.config_hash);
    let stored = |doc_id: &str| store.document(&before, doc_id).unwrap().unwrap().source.to_string();
    let source =
        |doc_id: &str, text: String| NewSource { doc_id: doc_id.into(), bytes: text.into(), hint: None };
    let mut sources: Vec<NewSource> =
        documents.iter().map(|info| source(&info.doc_id, stored(&info.doc_id))).collect();
    let put =
        |sources: &[NewSource]| pipeline.put(sources.to_vec(), &IndexOptions::default(), &|_| {}).unwrap();
    let report = put(&sources);
    assert_eq!((report.unchanged, report.indexed, report.carried), (3, 0, 0));
    assert_eq!(store.open("docs").unwrap(), before);

    let changed = stored("guide/boats.md") + "\nThe last boat returns at six.\n";
    sources[0] = source("guide/boats.md", changed);
    let report = put(&sources);
    assert_eq!((report.unchanged, report.indexed, report.carried, report.generation), (2, 1, 0, Some(1)));
    assert_eq!(store.open("docs").unwrap().spec, before.spec);
    let hit = &found("last")[0];
    assert_eq!((hit.doc_id.as_str(), hit.config_hash.as_str()), ("guide/boats.md", "0834c85906c058b2"));
    assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
}

#[test]
fn other_settings_are_another_generation_and_those_before_are_found_again() {
    let folder = tempfile::tempdir().unwrap();
    Connection::open(folder.path().join(SqliteStore::FILE)).unwrap().execute_batch(STORE).unwrap();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(folder.path(), Access::Write).unwrap());
    let before = store.open("docs").unwrap();
    let none = || Vec::<NewSource>::new();
    let put = |config| pipeline(&store, config).put(none(), &IndexOptions::default(), &|_| {}).unwrap();
    put(ChunkConfig { max_size: 300, ..config() });
    let other = store.open("docs").unwrap();
    assert_ne!(other.spec.config_hash, before.spec.config_hash);
    assert_eq!(store.documents(&other).unwrap().len(), 3);
    put(config());
    assert_eq!(store.open("docs").unwrap(), before);
    assert_eq!(store.collections().unwrap()[0].generations.len(), 2);
}
