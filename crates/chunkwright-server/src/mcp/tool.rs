//! The trait of a tool: its name, its schemas, its effect and its work.
//!
//! A tool is one file below `tools` that implements [`Tool`], and an entry in the list of its profile there. This
//! module has what all tools share: arguments are validated by the schema, and an answer is sent in the format and
//! within the token budget of its client.

use std::sync::Arc;

use chunkwright::TokenCounter;
use rmcp::model::{self, CallToolResult, JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::answer::{Answer, Form, Format, sent};
use super::arguments::{Invalid, input, read};
use super::scope::CallError;
use super::{McpOptions, McpServer};

/// A tool that a model can call.
pub(super) trait Tool {
    /// The name that a model calls; unique within a profile.
    const NAME: &'static str;
    /// The name for people.
    const TITLE: &'static str;
    /// The text by which a model chooses between tools.
    const DESCRIPTION: &'static str;
    /// What a call changes.
    const EFFECT: Effect;
    /// The arguments. Field docs are the descriptions that a model reads.
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;
    /// The answer.
    type Answer: Answer;

    /// The schema of a structured [`Tool::Answer`], which a server lists whose answers are structured; `None` for clients
    /// that read only text blocks.
    fn output() -> Option<Arc<JsonObject>>;

    /// The format that a call asks for, if any.
    fn format(arguments: &Self::Arguments) -> Option<Format>;

    /// The most tokens of the answer that a call asks for, if any.
    fn budget(_: &Self::Arguments) -> Option<usize> {
        None
    }

    /// Does the work and logs that the tool was used. May block. The engine stops when the client leaves.
    fn work(server: &McpServer, arguments: &Self::Arguments) -> Result<Self::Answer, CallError>;
}

/// What a call of a tool changes. No tool reaches anything outside the index or loses data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// A call changes nothing.
    Reads,
    /// A call changes the index. Such a tool is listed only if the server allows writes.
    Writes,
}

/// A tool in the list of a profile.
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) effect: Effect,
    /// The tool as clients see it. Its schemas are generated once.
    tool: model::Tool,
    prepare: fn(&model::Tool, Option<Value>) -> Result<Call, Invalid>,
}

/// A call whose arguments are valid.
pub(super) struct Call {
    /// The requested format, if any.
    pub(super) format: Option<Format>,
    work: Box<Work>,
}

type Work = dyn FnOnce(&McpServer, Form) -> Result<CallToolResult, CallError> + Send;

impl Member {
    pub(super) fn of<T: Tool>() -> Self {
        let annotations = ToolAnnotations::with_title(T::TITLE)
            .read_only(T::EFFECT == Effect::Reads)
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        let mut tool = model::Tool::new(T::NAME, T::DESCRIPTION, input::<T::Arguments>())
            .with_title(T::TITLE)
            .with_annotations(annotations);
        tool.output_schema = T::output();
        Self { name: T::NAME, effect: T::EFFECT, tool, prepare: prepare::<T> }
    }

    /// The tool as clients see it whose answers have this format.
    pub(super) fn listed(&self, format: Format) -> model::Tool {
        let mut listed = self.tool.clone();
        if format == Format::Text {
            listed.output_schema = None;
        }
        listed
    }

    /// Checks the arguments of a call.
    ///
    /// # Errors
    ///
    /// Arguments that the schema of the tool refuses.
    pub(super) fn prepare(&self, arguments: Option<Value>) -> Result<Call, Invalid> {
        (self.prepare)(&self.tool, arguments)
    }
}

impl Call {
    /// Does the work. May block.
    pub(super) fn answer(self, server: &McpServer, form: Form) -> Result<CallToolResult, CallError> {
        (self.work)(server, form)
    }
}

fn prepare<T: Tool>(listed: &model::Tool, arguments: Option<Value>) -> Result<Call, Invalid> {
    let arguments: T::Arguments = read(listed, arguments)?;
    let format = T::format(&arguments);
    let work = move |server: &McpServer, form| {
        let answer = T::work(server, &arguments)?;
        let counter: &dyn TokenCounter = &*server.engine().counter()?;
        let most = server.options().max_tokens;
        let asked = T::budget(&arguments).map_or(most, |asked| asked.clamp(McpOptions::LEAST_TOKENS, most));
        Ok(sent(&answer, form, asked, counter)?)
    };
    Ok(Call { format, work: Box::new(work) })
}

/// Does the work of a tool that finds no chunks, and logs that the tool was used, even if it fails.
pub(super) fn logged<T: Tool>(
    server: &McpServer,
    query: &str,
    collection: Option<&str>,
    work: impl FnOnce() -> Result<T::Answer, CallError>,
) -> Result<T::Answer, CallError> {
    let started = Instant::now();
    let answer = work();
    server.log(T::NAME, query, collection, started, None);
    answer
}
