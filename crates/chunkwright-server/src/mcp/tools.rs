//! Which tools are there, and what does each do?

use std::sync::LazyLock;

use chunkwright::TokenCounter;
use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use schemars::JsonSchema;
use serde_json::Value;
use tokio::time::Instant;

use super::answer::{Answer, Form, failed, sent};
use super::arguments::{self, ChatGptFetch, ChatGptSearch, Invalid, input, output, read};
use super::scope::CallError;
use super::{McpOptions, McpServer, Profile, fetch, index, outline, search, status, unknown};

const SEARCH: &str = "Search the index of documents and source code. Answers the best chunks with their texts, documents and lines, \
best first. Use it first; then `fetch` to read more.";

const FETCH: &str = "Read the exact source of a document, a chunk, or lines such as `guide.md#L10-L80`. A long text comes in pages: \
fetch `next` to read on.";

const OUTLINE: &str = "List the sections of a document with their lines: headings, classes, functions. Without `id`, list the documents \
of the collection.";

const STATUS: &str =
    "List the collections that can be searched, with their sizes and models, and say how far indexing is.";

const INDEX: &str = "Bring a collection up to date with the folders it was made of. Returns at once; `status` says how far it is.";

const CHATGPT_SEARCH: &str =
    "Search documents and source code. Answers a list of results with id, title and url.";

const CHATGPT_FETCH: &str = "Read a result of `search` by its id.";

/// The tools, whoever sees them: their schemas are made once.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    vec![
        described::<arguments::Search>("search", "Search the index", SEARCH, reads)
            .with_raw_output_schema(output::<search::SearchAnswer>()),
        described::<arguments::Fetch>("fetch", "Read a source", FETCH, reads)
            .with_raw_output_schema(output::<fetch::FetchAnswer>()),
        described::<arguments::Outline>("outline", "List sections or documents", OUTLINE, reads)
            .with_raw_output_schema(output::<outline::OutlineAnswer>()),
        described::<arguments::Status>("status", "Show the index", STATUS, reads)
            .with_raw_output_schema(output::<status::StatusAnswer>()),
        described::<arguments::Index>("index", "Update the index", INDEX, writes)
            .with_raw_output_schema(output::<status::StatusAnswer>()),
    ]
});

/// The tools of `OpenAI`'s clients.
static CHATGPT_TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    vec![
        described::<ChatGptSearch>("search", "Search", CHATGPT_SEARCH, reads),
        described::<ChatGptFetch>("fetch", "Fetch", CHATGPT_FETCH, reads),
    ]
});

/// The tools that a client sees.
pub(super) fn list(options: &McpOptions) -> impl Iterator<Item = &'static Tool> {
    let tools = match options.profile {
        Profile::All => &TOOLS,
        Profile::ChatGpt => &CHATGPT_TOOLS,
    };
    let allow_write = options.allow_write;
    tools.iter().filter(move |tool| allow_write || tool.name != "index")
}

fn described<T: JsonSchema>(
    name: &'static str,
    title: &str,
    description: &'static str,
    annotations: fn(&str) -> ToolAnnotations,
) -> Tool {
    Tool::new(name, description, input::<T>()).with_title(title).with_annotations(annotations(title))
}

fn reads(title: &str) -> ToolAnnotations {
    writes(title).read_only(true)
}

/// Nothing outside of the index is reached, and nothing is lost.
fn writes(title: &str) -> ToolAnnotations {
    ToolAnnotations::with_title(title).open_world(false).read_only(false).destructive(false).idempotent(true)
}

/// Calls a tool. What the tool does not take, and what the engine refuses, is an answer that the model reads; a tool that
/// does not exist is an error of the protocol.
pub(super) async fn call(
    server: &McpServer,
    name: &str,
    arguments: Option<Value>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let mut tools = list(server.options());
    let Some(tool) = tools.find(|tool| tool.name == name) else {
        let known: Vec<&str> = list(server.options()).map(|tool| &*tool.name).collect();
        return Err(unknown("tool", name, &known));
    };
    match answer(server, tool, arguments, context).await {
        Err(NotCalled::Arguments(invalid)) => Ok(failed(invalid.to_string())),
        Err(NotCalled::Server(error)) => Err(error),
        Ok(answer) => Ok(answer),
    }
}

/// Why a tool gave no answer.
#[derive(Debug, thiserror::Error)]
enum NotCalled {
    #[error(transparent)]
    Arguments(#[from] Invalid),
    #[error(transparent)]
    Server(#[from] ErrorData),
}

async fn answer(
    server: &McpServer,
    tool: &Tool,
    arguments: Option<Value>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, NotCalled> {
    let answer = match (server.options().profile, &*tool.name) {
        (Profile::ChatGpt, "search") => {
            let call = arguments::Search::from(read::<ChatGptSearch>(tool, arguments)?);
            let form = server.form(None, context);
            answered(server, context, form, move |server| Ok(search::search(server, &call)?.for_openai()))
                .await
        }
        (Profile::ChatGpt, _) => {
            let call = arguments::Fetch::from(read::<ChatGptFetch>(tool, arguments)?);
            let form = server.form(None, context);
            answered(server, context, form, move |server| Ok(fetched(server, &call)?.for_openai())).await
        }
        (Profile::All, "search") => {
            let call = read::<arguments::Search>(tool, arguments)?;
            let form = server.form(call.format, context);
            answered(server, context, form, move |server| search::search(server, &call)).await
        }
        (Profile::All, "fetch") => {
            let call = read::<arguments::Fetch>(tool, arguments)?;
            let form = server.form(call.format, context);
            answered(server, context, form, move |server| fetched(server, &call)).await
        }
        (Profile::All, "outline") => {
            let call = read::<arguments::Outline>(tool, arguments)?;
            let form = server.form(call.format, context);
            let outlined = move |server: &McpServer| {
                let (id, named) = (call.id.as_deref().unwrap_or_default(), call.collection.as_deref());
                logged(server, "outline", id, named, || outline::outline(server, &call))
            };
            answered(server, context, form, outlined).await
        }
        (Profile::All, "status") => {
            let call = read::<arguments::Status>(tool, arguments)?;
            let form = server.form(call.format, context);
            answered(server, context, form, |server| {
                logged(server, "status", "", None, || status::status(server))
            })
            .await
        }
        (Profile::All, _) => {
            let call = read::<arguments::Index>(tool, arguments)?;
            let form = server.form(call.format, context);
            // What it starts goes on when the call is over.
            let lasting = server.clone();
            let indexed = move |_: &McpServer| {
                logged(&lasting, "index", "", call.collection.as_deref(), || index::index(&lasting, &call))
            };
            answered(server, context, form, indexed).await
        }
    };
    Ok(answer?)
}

fn fetched(server: &McpServer, call: &arguments::Fetch) -> Result<fetch::FetchAnswer, CallError> {
    logged(server, "fetch", &call.id, call.collection.as_deref(), || fetch::fetch(server, call))
}

/// Does the work of a tool that searches nothing, and keeps that it was used.
fn logged<A>(
    server: &McpServer,
    kind: &str,
    query: &str,
    collection: Option<&str>,
    work: impl FnOnce() -> Result<A, CallError>,
) -> Result<A, CallError> {
    let started = Instant::now();
    let answer = work();
    server.log(kind, query, collection, started, None);
    answer
}

/// Does the work of a tool where it may block, and puts its answer into the form and the tokens that are wanted.
async fn answered<A: Answer + Send + 'static>(
    server: &McpServer,
    context: &RequestContext<RoleServer>,
    form: Form,
    work: impl FnOnce(&McpServer) -> Result<A, CallError> + Send + 'static,
) -> Result<CallToolResult, ErrorData> {
    let answer = move |server: &McpServer| -> Result<CallToolResult, CallError> {
        let answer = work(server)?;
        let counter: &dyn TokenCounter = &*server.engine().counter()?;
        Ok(sent(&answer, form, server.options().max_tokens, counter)?)
    };
    let answered = server.blocking(context, answer).await?;
    Ok(answered.unwrap_or_else(|error| failed(server.said(error.to_string()))))
}
