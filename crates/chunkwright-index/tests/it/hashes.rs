//! `config_hash`: equal settings share a generation.

use std::sync::Arc;

use chunkwright::{ChunkConfig, Chunker, Words};
use chunkwright_index::{IndexOptions, Pipeline};
use chunkwright_source::NewSource;

use crate::fixture::Fixture;
use crate::kinds::for_each_local_store;

fn config() -> ChunkConfig {
    ChunkConfig { min_size: 0, ..ChunkConfig::default() }
}

#[test]
fn other_settings_are_another_generation_and_those_before_are_found_again() {
    for_each_local_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        let store = &fixture.store;
        let put = |config, sources: Vec<NewSource>| {
            let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
            let pipeline = Pipeline::new(Arc::clone(store), "docs", chunker, "auto").with_summaries(true);
            pipeline.put(sources, &IndexOptions::default(), &|_| {}).unwrap()
        };
        let boats = NewSource::new("boats.md", "# Boats\n\nThe last boat returns at six.\n");
        let reise = NewSource::new("паром.md", "# Паром\n\nПаром отходит в девять.\n");
        put(config(), vec![boats.clone(), reise]);
        let before = store.open("docs").unwrap();
        put(ChunkConfig { max_size: 300, ..config() }, Vec::new());
        let other = store.open("docs").unwrap();
        assert_ne!(other.spec.config_hash, before.spec.config_hash);
        assert_eq!(store.documents(&other).unwrap().len(), 2);
        let report = put(config(), vec![boats]);
        assert_eq!((report.unchanged, report.indexed), (1, 0));
        assert_eq!(store.open("docs").unwrap(), before);
        assert_eq!(store.collections().unwrap()[0].generations.len(), 2);
    });
}
