//! What does `status` answer?

use chunkwright_engine::{IndexState, ListCollectionsRequest, ListedCollection};
use schemars::JsonSchema;
use serde::Serialize;

use super::McpServer;
use super::answer::Answer;
use super::scope::CallError;

/// What is indexed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct StatusAnswer {
    /// How far indexing is: `indexing 43 %`, `indexed`, or why it failed.
    indexing: String,
    /// Whether the store can only be read, so that nothing is indexed here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    read_only: bool,
    /// The collection that is meant where a call names none.
    default_collection: String,
    /// The collections, by name: the first 100.
    collections: Vec<CollectionRow>,
    /// Number of collections.
    total: usize,
    /// What to do next.
    next_step: String,
}

/// A collection.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct CollectionRow {
    /// Its name.
    collection: String,
    /// Number of documents.
    documents: usize,
    /// Number of chunks.
    chunks: usize,
    /// Chunks that wait for a vector.
    pending: usize,
    /// The model of its vectors; absent where search is by words alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// What is searched: the number of its generation.
    generation: i64,
}

/// Shows what is indexed.
pub(super) fn status(server: &McpServer) -> Result<StatusAnswer, CallError> {
    let engine = server.engine();
    let row = |ListedCollection { status, .. }: ListedCollection| CollectionRow {
        collection: status.generation.collection,
        documents: status.documents,
        chunks: status.chunks,
        pending: status.pending,
        model: status.generation.spec.model.map(|model| model.name),
        generation: status.generation.number,
    };
    let page = engine.list_collections(&ListCollectionsRequest::default())?;
    let collections: Vec<CollectionRow> = page.collections.into_iter().map(row).collect();
    let state = server.background().map_or(IndexState::Ready, |background| background.state());
    let next_step = match (&state, collections.is_empty()) {
        (IndexState::Indexing { .. } | IndexState::Waiting, _) => {
            "Search now: what is indexed so far is found. Ask for `status` again to see how far it is."
        }
        (_, true) => "Nothing is indexed: `chunkwright index PATH` indexes files.",
        _ => "Call `search` with a question.",
    };
    Ok(StatusAnswer {
        indexing: server.said(state.to_string()),
        read_only: engine.is_read_only(),
        default_collection: super::scope::collection(engine, None)?,
        total: page.total,
        collections,
        next_step: next_step.to_owned(),
    })
}

impl Answer for StatusAnswer {
    fn steps(&self) -> usize {
        self.collections.len()
    }

    fn reduced(&self, steps: usize) -> Self {
        let mut reduced = self.clone();
        reduced.collections.truncate(self.collections.len().saturating_sub(steps));
        reduced
    }

    fn shell(&self, where_it_is: &str) -> Self {
        Self { collections: Vec::new(), next_step: where_it_is.to_owned(), ..self.clone() }
    }
}
