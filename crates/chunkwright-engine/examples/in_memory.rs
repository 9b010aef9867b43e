//! Searches documents in memory. Builds without `SQLite`, TLS, converters, local models and grammars:
//! `cargo run --no-default-features --example in_memory`.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::error::Error;
use std::sync::Arc;

use chunkwright_engine::settings::{Layers, Source};
use chunkwright_engine::{Access, Engine, Found, IndexRequest, MemoryStore, NewSource, SearchRequest};

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let settings = Layers::default().settings(Source::Request, [])?;
    let engine = Engine::builder(settings).store(Arc::new(MemoryStore::default())).open(Access::Write)?;
    let kitchen = engine.collection("kitchen");
    let bread = NewSource::new("bread.md", "# Bread\n\nFold the dough four times, then let it rest.\n");
    let tea = NewSource::new("tea.md", "# Tea\n\nPour at 80 degrees and wait two minutes.\n");
    kitchen.put(IndexRequest::default(), [bread, tea], &|_| {})?;
    let answer = kitchen.search(&SearchRequest::new("how often is dough folded?"))?;
    let Found::Hits { hits } = &answer.found else { return Err("hits were expected".into()) };
    for hit in hits {
        println!("{} {:.3} {}", hit.rank, hit.score, hit.record.doc_id);
    }
    assert_eq!(hits[0].record.doc_id, "bread.md");
    Ok(())
}
