//! Connecting agents: the configuration of every client.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agents::{AGENTS, Agent, Reach, Snippet};
use crate::app::Shared;
use crate::extract::Query;
use crate::openapi::{Method, Operation, Resources};
use crate::problem::Problem;

pub(super) fn add(resources: Resources) -> Resources {
    let list = Operation::read(
        Method::Get,
        "/api/v1/agents",
        "list_agents",
        "Lists the clients that speak MCP, with the configuration that connects each, and rules that make it search.",
    );
    resources.add("agents", &list, agents)
}

/// Where the server is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Address of the server's `/mcp`, as the client reaches it.
    address: String,
}

/// How agents are connected.
#[derive(Serialize, JsonSchema)]
struct Agents {
    /// Whether the server asks for a key.
    has_keys: bool,
    /// The clients.
    agents: Vec<ConnectedAgent>,
}

/// How a client is connected.
#[derive(Serialize, JsonSchema)]
struct ConnectedAgent {
    /// Its name.
    name: &'static str,
    /// Its name, as people write it.
    title: &'static str,
    /// By a command that the client starts on the machine of the documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Connection>,
    /// By the address of this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<Connection>,
    /// Files that make its agent search before it greps.
    rules: Vec<Snippet>,
}

/// What connects a client.
#[derive(Serialize, JsonSchema)]
struct Connection {
    /// The configuration.
    #[serde(flatten)]
    config: Snippet,
    /// A command line that does the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
}

impl Connection {
    fn of(agent: &Agent, reach: &Reach) -> Option<Self> {
        Some(Self { config: agent.config(reach)?, run: agent.adds(reach) })
    }
}

async fn agents(State(app): State<Shared>, Query(asked): Query<Asked>) -> Result<Json<Agents>, Problem> {
    let has_keys = !app.options.admission.keys.is_empty();
    let address = Reach::Address { url: asked.address, has_keys };
    let connected = |agent: &Agent| ConnectedAgent {
        name: agent.name,
        title: agent.title,
        command: Connection::of(agent, &Reach::Command(Vec::new())),
        address: Connection::of(agent, &address),
        rules: agent.rules(),
    };
    Ok(Json(Agents { has_keys, agents: AGENTS.iter().map(connected).collect() }))
}
