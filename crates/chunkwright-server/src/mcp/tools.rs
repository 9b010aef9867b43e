//! Which tools are there, and what does each do?

use chunkwright::TokenCounter;
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio::time::Instant;

use super::answer::{Answer, Form, failed, sent};
use super::arguments::{self, ChatGptFetch, ChatGptSearch};
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

/// The tools that a client sees.
pub(super) fn list(options: &McpOptions) -> Vec<Tool> {
    let reads = |title| annotations(title).read_only(true).destructive(false).idempotent(true);
    if options.profile == Profile::ChatGpt {
        return vec![
            described("search", "Search", CHATGPT_SEARCH)
                .with_input_schema::<ChatGptSearch>()
                .with_annotations(reads("Search")),
            described("fetch", "Fetch", CHATGPT_FETCH)
                .with_input_schema::<ChatGptFetch>()
                .with_annotations(reads("Fetch")),
        ];
    }
    let mut tools = vec![
        described("search", "Search the index", SEARCH)
            .with_input_schema::<arguments::Search>()
            .with_output_schema::<search::SearchAnswer>()
            .with_annotations(reads("Search the index")),
        described("fetch", "Read a source", FETCH)
            .with_input_schema::<arguments::Fetch>()
            .with_output_schema::<fetch::FetchAnswer>()
            .with_annotations(reads("Read a source")),
        described("outline", "List sections or documents", OUTLINE)
            .with_input_schema::<arguments::Outline>()
            .with_output_schema::<outline::OutlineAnswer>()
            .with_annotations(reads("List sections or documents")),
        described("status", "Show the index", STATUS)
            .with_input_schema::<arguments::Status>()
            .with_output_schema::<status::StatusAnswer>()
            .with_annotations(reads("Show the index")),
    ];
    if options.allow_write {
        let writes = annotations("Update the index").read_only(false).destructive(false).idempotent(true);
        tools.push(
            described("index", "Update the index", INDEX)
                .with_input_schema::<arguments::Index>()
                .with_output_schema::<status::StatusAnswer>()
                .with_annotations(writes),
        );
    }
    tools
}

fn described(name: &'static str, title: &str, description: &'static str) -> Tool {
    Tool::new(name, description, JsonObject::new()).with_title(title)
}

/// Nothing outside of the index is reached.
fn annotations(title: &str) -> ToolAnnotations {
    ToolAnnotations::with_title(title).open_world(false)
}

/// Calls a tool. Arguments of other types than its schema says are an error of the protocol; what the engine refuses is
/// one that the model reads.
pub(super) async fn call(
    server: &McpServer,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let CallToolRequestParams { name, arguments, .. } = request;
    let tools = list(server.options());
    if tools.iter().all(|tool| tool.name != name) {
        let known: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        return Err(unknown("tool", &name, &known));
    }
    match (server.options().profile, &*name) {
        (Profile::ChatGpt, "search") => {
            let call = arguments::Search::from(arguments::read::<ChatGptSearch>(arguments)?).check()?;
            let form = server.form(None, context);
            answered(server, context, form, move |server| Ok(search::search(server, &call)?.for_openai()))
                .await
        }
        (Profile::ChatGpt, _) => {
            let call = arguments::Fetch::from(arguments::read::<ChatGptFetch>(arguments)?);
            let form = server.form(None, context);
            answered(server, context, form, move |server| Ok(fetched(server, &call)?.for_openai())).await
        }
        (Profile::All, "search") => {
            let call = arguments::read::<arguments::Search>(arguments)?.check()?;
            let form = server.form(call.format, context);
            answered(server, context, form, move |server| search::search(server, &call)).await
        }
        (Profile::All, "fetch") => {
            let call = arguments::read::<arguments::Fetch>(arguments)?;
            let form = server.form(call.format, context);
            answered(server, context, form, move |server| fetched(server, &call)).await
        }
        (Profile::All, "outline") => {
            let call = arguments::read::<arguments::Outline>(arguments)?;
            let form = server.form(call.format, context);
            let outlined = move |server: &McpServer| {
                let (id, named) = (call.id.as_deref().unwrap_or_default(), call.collection.as_deref());
                logged(server, "outline", id, named, || outline::outline(server, &call))
            };
            answered(server, context, form, outlined).await
        }
        (Profile::All, "status") => {
            let call = arguments::read::<arguments::Status>(arguments)?;
            let form = server.form(call.format, context);
            answered(server, context, form, |server| {
                logged(server, "status", "", None, || status::status(server))
            })
            .await
        }
        (Profile::All, _) => {
            let call = arguments::read::<arguments::Index>(arguments)?;
            let form = server.form(call.format, context);
            // What it starts goes on when the call is over.
            let lasting = server.clone();
            let indexed = move |_: &McpServer| {
                logged(&lasting, "index", "", call.collection.as_deref(), || index::index(&lasting, &call))
            };
            answered(server, context, form, indexed).await
        }
    }
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
