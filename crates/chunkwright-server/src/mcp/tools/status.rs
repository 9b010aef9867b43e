//! The tool `status`: the collections, and the progress of indexing.

use std::fmt::Write as _;
use std::sync::Arc;

use chunkwright_engine::{IndexState, ListCollectionsRequest, ListedCollection};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::McpServer;
use crate::mcp::answer::{Answer, Format};
use crate::mcp::arguments::output;
use crate::mcp::markdown::name;
use crate::mcp::scope::{self, CallError};
use crate::mcp::tool::{Effect, Tool, logged};

pub(super) struct Status;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    #[serde(default)]
    #[schemars(with = "Format")]
    format: Option<Format>,
}

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

impl Tool for Status {
    const NAME: &'static str = "status";
    const TITLE: &'static str = "Show the index";
    const DESCRIPTION: &'static str = "List the collections, and say how far indexing is.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Arguments;
    type Answer = StatusAnswer;

    fn output() -> Option<Arc<JsonObject>> {
        Some(output::<StatusAnswer>())
    }

    fn format(arguments: &Arguments) -> Option<Format> {
        arguments.format
    }

    fn work(server: &McpServer, _arguments: &Arguments) -> Result<StatusAnswer, CallError> {
        logged::<Self>(server, "", None, || status(server))
    }
}

/// Returns the status of the index.
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
        indexing: server.said(&state.to_string()),
        read_only: engine.is_read_only(),
        default_collection: scope::collection(engine, None)?,
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

    fn markdown(&self) -> String {
        let mut out = format!("{}{}\n", self.indexing, if self.read_only { ", read only" } else { "" });
        for row in &self.collections {
            let CollectionRow { collection, documents, chunks, pending, model, .. } = row;
            let model = model.as_deref().unwrap_or("words alone");
            // Writing to a string cannot fail.
            let _ = write!(out, "- {}: {documents} documents, {chunks} chunks, {model}", name(collection));
            if *pending > 0 {
                let _ = write!(out, ", {pending} wait for vectors");
            }
            out.push_str(if *collection == self.default_collection { " (default)\n" } else { "\n" });
        }
        if self.collections.len() < self.total {
            let _ = writeln!(out, "and {} more", self.total - self.collections.len());
        }
        out.push_str(&self.next_step);
        out
    }
}
