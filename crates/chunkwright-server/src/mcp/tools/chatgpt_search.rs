//! The tool `search` of `OpenAI`'s clients.

use std::sync::Arc;

use chunkwright_engine::MAX_QUERY_CHARS;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::{self, Search, SearchResult};
use crate::mcp::McpServer;
use crate::mcp::answer::{Answer, Format};
use crate::mcp::scope::CallError;
use crate::mcp::tool::{Effect, Tool};

pub(super) struct ChatGptSearch;

/// Number of results, which these clients cannot choose.
const LIMIT: usize = 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// What to look for.
    #[schemars(length(max = MAX_QUERY_CHARS))]
    query: String,
}

/// The results, as specified for `OpenAI`'s connectors.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Results {
    results: Vec<OpenAiResult>,
}

#[derive(Clone, Debug, Serialize)]
struct OpenAiResult {
    id: String,
    title: String,
    url: String,
    text: String,
}

impl Tool for ChatGptSearch {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search";
    const DESCRIPTION: &'static str =
        "Search documents and source code. Answers a list of results with id, title and url.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Arguments;
    type Answer = Results;

    fn output() -> Option<Arc<JsonObject>> {
        None
    }

    fn format(_arguments: &Arguments) -> Option<Format> {
        None
    }

    fn work(server: &McpServer, Arguments { query }: &Arguments) -> Result<Results, CallError> {
        let found = Search::work(server, &search::Arguments::new(query.clone(), LIMIT))?;
        let results = found.results.into_iter().filter_map(OpenAiResult::new).collect();
        Ok(Results { results })
    }
}

impl Answer for Results {
    fn steps(&self) -> usize {
        self.results.len()
    }

    fn reduced(&self, steps: usize) -> Self {
        let kept = self.results.len().saturating_sub(steps);
        Self { results: self.results[..kept].to_vec() }
    }

    fn markdown(&self) -> String {
        self.results.iter().map(|result| format!("{} {}\n", result.id, result.title)).collect()
    }
}

impl OpenAiResult {
    fn new(result: SearchResult) -> Option<Self> {
        let title = result.title().to_owned();
        let full = result.full?;
        let text = full.text.unwrap_or(full.content_preview);
        Some(Self { id: result.id, title, url: full.url, text })
    }
}
