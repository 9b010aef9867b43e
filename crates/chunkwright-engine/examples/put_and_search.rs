//! Puts two documents into a collection, searches it, fetches a source and lists the chunks.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::error::Error;

use chunkwright_engine::settings::{Layers, Source};
use chunkwright_engine::{
    Access, Engine, FetchRequest, Found, IndexRequest, ListRequest, NewSource, SearchRequest,
};
use serde_json::json;

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = ("store".to_owned(), json!(folder.path().join("store")));
    let embedder = ("embedder".to_owned(), json!("none")); // lexical search; no model has to be installed
    let settings = Layers::default().settings(Source::Request, [store, embedder])?;
    let engine = Engine::open(settings, Access::Write)?;
    let kitchen = engine.collection("kitchen");

    let bread = NewSource::new("bread.md", "# Bread\n\nFold the dough four times, then let it rest.\n");
    let tea = NewSource::new("tea.md", "# Tea\n\nPour at 80 degrees and wait two minutes.\n");
    let put = kitchen.put(IndexRequest::default(), [bread, tea], &|_| {})?;
    println!("{} documents, {} chunks", put.report.indexed, put.report.chunks);

    let answer = kitchen.search(&SearchRequest::new("how often is dough folded?"))?;
    let Found::Hits { hits } = &answer.found else { return Err("hits were expected".into()) };
    for hit in hits {
        println!("{} {:.3} {}", hit.rank, hit.score, hit.record.doc_id);
    }

    let snapshot = kitchen.snapshot()?; // one moment of the collection, whatever is written meanwhile
    print!("{}", snapshot.fetch(&FetchRequest::new("tea.md"))?.text);
    for listed in &snapshot.chunks(&ListRequest::default())?.chunks {
        println!("{} {}", listed.record.chunk_id, listed.record.header_path);
    }
    assert_eq!((put.report.indexed, hits[0].record.doc_id.as_str()), (2, "bread.md"));
    Ok(())
}
