//! Our MCP server with what the conformance suite of the protocol calls: the suite has no use for an index, and asks a
//! server for tools, resources and prompts of its own. They stand beside ours here, behind the same HTTP.
//!
//! `cargo run -p chunkwright-server --example mcp_conformance FOLDER [ADDRESS]` indexes the folder into a temporary store and serves at `http://ADDRESS/mcp`; see
//! `eval/mcp.md`.

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use chunkwright_engine::settings::{Layers, Source};
use chunkwright_engine::{Access, Engine, IndexRequest};
use chunkwright_server::mcp::{HttpOptions, McpOptions, McpServer, streamable_http};
use rmcp::model::{
    AudioContent, CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
    CompleteRequestParams, CompleteResult, ContentBlock, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, ImageContent, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, Prompt,
    PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Reference, Resource, ResourceContents, ResourceTemplate, Role, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

/// A red pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A sound without a sample.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

type Context = RequestContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;

/// Our server, and beside it what the suite calls.
#[derive(Clone)]
struct Fixtures(McpServer);

fn embedded(uri: &str, text: &str) -> ContentBlock {
    let message = PromptMessage::new_resource(
        Role::User,
        uri.to_owned(),
        Some("text/plain".to_owned()),
        Some(text.to_owned()),
        None,
        None,
        None,
    );
    message.content
}

fn image() -> ContentBlock {
    ContentBlock::Image(ImageContent::new(PNG, "image/png"))
}

/// The tools of the suite.
fn tools() -> Vec<Tool> {
    let simple = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_tool_with_progress",
        "test_missing_capability",
        "test_streaming_elicitation",
        "test_logging_tool",
    ];
    let empty = || object(json!({ "type": "object", "properties": {} }));
    let schema = object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": {
            "$anchor": "addressDef", "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
        } },
        "properties": {
            "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" }, "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    }));
    let header = object(json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" }, "query": { "type": "string" },
        },
    }));
    let simple = simple.map(|name| Tool::new(name, "A tool of the conformance suite.", empty()));
    let mut tools = simple.to_vec();
    tools.push(Tool::new("json_schema_2020_12_tool", "A tool with a schema of all keywords.", schema));
    tools.push(Tool::new("test_headers", "A tool with an argument in a header.", header));
    tools
}

fn object(mut value: Value) -> Arc<JsonObject> {
    Arc::new(value.as_object_mut().map(std::mem::take).unwrap_or_default())
}

async fn call(name: &str, context: &Context) -> Option<Result<CallToolResult, ErrorData>> {
    let text = |text: &str| ContentBlock::text(text);
    let contents = match name {
        "test_simple_text" => vec![text("This is a simple text response for testing.")],
        "test_image_content" => vec![image()],
        "test_audio_content" => vec![ContentBlock::Audio(AudioContent::new(WAV, "audio/wav"))],
        "test_embedded_resource" => {
            vec![embedded("test://embedded-resource", "This is an embedded resource content.")]
        }
        "test_multiple_content_types" => vec![
            text("Multiple content types test:"),
            image(),
            embedded("test://mixed-content-resource", "{\"test\":\"data\",\"value\":123}"),
        ],
        "test_error_handling" => {
            let text = text("This tool intentionally returns an error for testing");
            return Some(Ok(CallToolResult::error(vec![text])));
        }
        "test_tool_with_progress" => {
            if let Some(token) = context.meta.get_progress_token() {
                for progress in [0.0, 50.0, 100.0] {
                    let step = ProgressNotificationParam::new(token.clone(), progress).with_total(100.0);
                    // A client that has gone needs no progress.
                    let _ = context.peer.notify_progress(step).await;
                }
            }
            vec![text("done")]
        }
        "test_missing_capability" => {
            #[expect(deprecated, reason = "it is what the suite looks for")]
            let required = ClientCapabilities::builder().enable_sampling().build();
            return Some(Err(ErrorData::missing_required_client_capability(required)));
        }
        // A server that asks its client for nothing and logs nothing to it does so here too.
        "json_schema_2020_12_tool" | "test_headers" | "test_streaming_elicitation" | "test_logging_tool" => {
            vec![text("done")]
        }
        _ => return None,
    };
    Some(Ok(CallToolResult::success(contents)))
}

fn prompts() -> Vec<Prompt> {
    let argument = |name: &str| PromptArgument::new(name).with_description("An argument").with_required(true);
    let prompt = |name: &str, arguments: Vec<PromptArgument>| {
        Prompt::new(name, Some("A prompt of the conformance suite"), Some(arguments))
    };
    vec![
        prompt("test_simple_prompt", Vec::new()),
        prompt("test_prompt_with_arguments", vec![argument("arg1"), argument("arg2")]),
        prompt("test_prompt_with_embedded_resource", vec![argument("resourceUri")]),
        prompt("test_prompt_with_image", Vec::new()),
    ]
}

fn prompt(request: &GetPromptRequestParams) -> Option<GetPromptResult> {
    let given = |name: &str| {
        let arguments = request.arguments.as_ref();
        arguments.and_then(|arguments| arguments.get(name)).and_then(Value::as_str).unwrap_or_default()
    };
    let text = |text: String| PromptMessage::new_text(Role::User, text);
    let messages = match &*request.name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            let (first, second) = (given("arg1"), given("arg2"));
            vec![text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = embedded(given("resourceUri"), "Embedded resource content for testing.");
            let please = "Please process the embedded resource above.".to_owned();
            vec![PromptMessage::new(Role::User, resource), text(please)]
        }
        "test_prompt_with_image" => {
            let please = "Please analyze the image above.".to_owned();
            vec![PromptMessage::new(Role::User, image()), text(please)]
        }
        _ => return None,
    };
    Some(GetPromptResult::new(messages))
}

fn resource(uri: &str) -> Option<ReadResourceResult> {
    let contents = match uri {
        "test://static-text" => {
            ResourceContents::text("This is the content of the static text resource.", uri)
        }
        "test://static-binary" => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let text = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            ResourceContents::text(text.to_string(), uri).with_mime_type("application/json")
        }
    };
    Some(ReadResourceResult::new(vec![contents]))
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    async fn list_tools(&self, page: Page, context: Context) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.0.list_tools(page, context).await?;
        // The suite calls the first tool without arguments.
        list.tools.splice(..0, tools());
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name).or_else(|| self.0.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        match call(&request.name, &context).await {
            Some(result) => Ok(result?.into()),
            None => self.0.call_tool(request, context).await,
        }
    }

    async fn list_resources(&self, page: Page, context: Context) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.0.list_resources(page, context).await?;
        let fixtures = ["test://static-text", "test://static-binary"];
        list.resources.extend(fixtures.map(|uri| Resource::new(uri, uri)));
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        page: Page,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.0.list_resource_templates(page, context).await?;
        list.resource_templates.push(ResourceTemplate::new("test://template/{id}/data", "template"));
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resource(&request.uri) {
            Some(result) => Ok(result.into()),
            None => self.0.read_resource(request, context).await,
        }
    }

    async fn list_prompts(&self, page: Page, context: Context) -> Result<ListPromptsResult, ErrorData> {
        let mut list = self.0.list_prompts(page, context).await?;
        list.prompts.extend(prompts());
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        match prompt(&request) {
            Some(result) => Ok(result.into()),
            None => self.0.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        match &request.r#ref {
            Reference::Prompt(prompt) if prompt.name.starts_with("test_") => Ok(CompleteResult::default()),
            Reference::Resource(resource) if resource.uri.starts_with("test://") => {
                Ok(CompleteResult::default())
            }
            _ => self.0.complete(request, context).await,
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("expected a folder to index")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:7879".to_owned());
    let store = tempfile::tempdir()?;
    let path = |name: &str| Value::from(store.path().join(name).to_string_lossy().into_owned());
    let values = [("store", path("store")), ("data", path("data")), ("embedder", json!("none"))];
    let values = values.map(|(key, value)| (key.to_owned(), value));
    let engine = Engine::open(Layers::default().settings(Source::Request, values)?, Access::Write)?;
    let request = IndexRequest { paths: vec![folder.into()], ..IndexRequest::default() };
    engine.default_collection().index(request, &|_| ())?;
    let server = Fixtures(McpServer::new(engine, McpOptions::default()));
    let service = streamable_http(server, &HttpOptions::default());
    let listener = tokio::net::TcpListener::bind(&address).await?;
    Ok(axum::serve(listener, Router::new().nest_service("/mcp", service)).await?)
}
