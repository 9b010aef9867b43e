//! The tool `fetch` of `OpenAI`'s clients.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fetch::{self, Fetch, FetchAnswer};
use crate::mcp::McpServer;
use crate::mcp::answer::{Answer, Format};
use crate::mcp::scope::CallError;
use crate::mcp::tool::{Effect, Tool};

pub(super) struct ChatGptFetch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The `id` of a result, or `metadata.next` of an earlier answer.
    id: String,
}

/// A document, as specified for `OpenAI`'s connectors.
#[derive(Clone, Debug)]
pub(super) struct Document {
    answer: FetchAnswer,
}

impl Tool for ChatGptFetch {
    const NAME: &'static str = "fetch";
    const TITLE: &'static str = "Fetch";
    const DESCRIPTION: &'static str = "Read a result of `search` by its id.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = Arguments;
    type Answer = Document;

    fn output() -> Option<Arc<JsonObject>> {
        None
    }

    fn format(_arguments: &Arguments) -> Option<Format> {
        None
    }

    fn work(server: &McpServer, Arguments { id }: &Arguments) -> Result<Document, CallError> {
        let answer = Fetch::work(server, &fetch::Arguments::new(id.clone()))?;
        Ok(Document { answer })
    }
}

impl Serialize for Document {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FetchAnswer { id, title, text, url, metadata, next, .. } = &self.answer;
        let mut metadata = metadata.clone();
        if let Some(next) = next {
            metadata.insert("next".into(), json!(next));
        }
        json!({ "id": id, "title": title, "text": text, "url": url, "metadata": metadata })
            .serialize(serializer)
    }
}

impl Answer for Document {
    fn steps(&self) -> usize {
        self.answer.steps()
    }

    fn reduced(&self, steps: usize) -> Self {
        Self { answer: self.answer.reduced(steps) }
    }

    fn markdown(&self) -> String {
        self.answer.markdown()
    }
}
