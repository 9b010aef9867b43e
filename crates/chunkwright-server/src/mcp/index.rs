//! What does `index` do?
//!
//! It reads again the folders that a collection was made of, and no path that a model names: what may be indexed is what
//! a person indexed.

use chunkwright_engine::{Background, IndexRequest, IndexState, Snapshot, Then};

use super::McpServer;
use super::arguments;
use super::scope::{self, CallError};
use super::status::{StatusAnswer, status};

/// Starts a run, unless one goes on, and says how far it is.
pub(super) fn index(server: &McpServer, call: &arguments::Index) -> Result<StatusAnswer, CallError> {
    let engine = server.engine();
    let running = server.background().map(|background| background.state());
    if !matches!(running, Some(IndexState::Indexing { .. } | IndexState::Waiting)) {
        let name = scope::collection(engine, call.collection.as_deref())?;
        let collection = engine.collection(&name);
        let paths = collection.read(Snapshot::paths)?;
        let request = IndexRequest { paths, ..IndexRequest::default() };
        server.set_background(Background::start(collection, request, Then::Stop, |_| {})?);
    }
    status(server)
}
