//! The tool `index`: bringing a collection up to date.
//!
//! It reads the folders of the collection again, and never a path that a model names: only people decide what is
//! indexed.

use std::sync::Arc;

use chunkwright_engine::{Background, IndexRequest, IndexState, Snapshot, Then};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::status::{StatusAnswer, status};
use crate::mcp::McpServer;
use crate::mcp::answer::Format;
use crate::mcp::arguments::output;
use crate::mcp::scope::{self, CallError};
use crate::mcp::tool::{Effect, Tool, logged};

pub(super) struct Index;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// See `status`
    #[serde(default)]
    #[schemars(with = "String")]
    collection: Option<String>,
    #[serde(default)]
    #[schemars(with = "Format")]
    format: Option<Format>,
}

impl Tool for Index {
    const NAME: &'static str = "index";
    const TITLE: &'static str = "Update the index";
    const DESCRIPTION: &'static str = "Bring a collection up to date with the folders it was made of. Returns at once; `status` says how far it is.";
    const EFFECT: Effect = Effect::Writes;
    type Arguments = Arguments;
    type Answer = StatusAnswer;

    fn output() -> Option<Arc<JsonObject>> {
        Some(output::<StatusAnswer>())
    }

    fn format(arguments: &Arguments) -> Option<Format> {
        arguments.format
    }

    fn work(server: &McpServer, arguments: &Arguments) -> Result<StatusAnswer, CallError> {
        let named = arguments.collection.as_deref();
        logged::<Self>(server, "", named, || index(server, named))
    }
}

/// Starts a run unless one is in progress, and returns its progress. The run continues after the call.
fn index(server: &McpServer, named: Option<&str>) -> Result<StatusAnswer, CallError> {
    let running = server.background().map(|background| background.state());
    if !matches!(running, Some(IndexState::Indexing { .. } | IndexState::Waiting)) {
        let engine = server.lasting_engine();
        let collection = engine.collection(scope::collection(engine, named)?);
        let paths = collection.read(Snapshot::paths)?;
        let request = IndexRequest { paths, ..IndexRequest::default() };
        server.set_background(Background::start(collection, request, Then::Stop, |_| {})?);
    }
    status(server)
}
