//! The registry of tools: one list per profile, one file per tool.

mod chatgpt_fetch;
mod chatgpt_search;
pub(super) mod fetch;
mod index;
mod outline;
mod references;
mod search;
mod status;

use std::sync::LazyLock;

use rmcp::model::CallToolResult;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use super::answer::failed;
use super::tool::{Effect, Member};
use super::{McpOptions, McpServer, Profile, unknown};

/// The tools of [`Profile::All`].
static ALL: LazyLock<Vec<Member>> = LazyLock::new(|| {
    vec![
        Member::of::<search::Search>(),
        Member::of::<fetch::Fetch>(),
        Member::of::<outline::Outline>(),
        Member::of::<references::References>(),
        Member::of::<status::Status>(),
        Member::of::<index::Index>(),
    ]
});

/// The tools of [`Profile::ChatGpt`].
static CHATGPT: LazyLock<Vec<Member>> = LazyLock::new(|| {
    vec![Member::of::<chatgpt_search::ChatGptSearch>(), Member::of::<chatgpt_fetch::ChatGptFetch>()]
});

/// The tools that a client sees.
pub(super) fn list(options: &McpOptions) -> impl Iterator<Item = &'static Member> {
    let members = match options.profile {
        Profile::All => &ALL,
        Profile::ChatGpt => &CHATGPT,
    };
    let allow_write = options.allow_write;
    members.iter().filter(move |member| allow_write || member.effect == Effect::Reads)
}

/// The tool of this name, if the client sees it.
pub(super) fn find(options: &McpOptions, name: &str) -> Option<&'static Member> {
    list(options).find(|member| member.name == name)
}

/// Calls a tool. Invalid arguments and engine failures are answers for the model to read; an unknown tool is a protocol
/// error.
pub(super) async fn call(
    server: &McpServer,
    name: &str,
    arguments: Option<Value>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let Some(tool) = find(server.options(), name) else {
        let known: Vec<&str> = list(server.options()).map(|member| member.name).collect();
        return Err(unknown("tool", name, &known));
    };
    let call = match tool.prepare(arguments) {
        Ok(call) => call,
        Err(invalid) => return Ok(failed(invalid.to_string())),
    };
    let form = server.form(call.format, context);
    let answer = server.blocking(context, move |server| call.answer(server, form)).await?;
    Ok(answer.unwrap_or_else(|error| failed(server.said(&error.to_string()))))
}
