//! The log of queries from people and agents.

use axum::Json;
use axum::extract::State;
use chunkwright_engine::{Cursor, LoggedQuery, LoggedRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Page};
use crate::answer::Done;
use crate::app::Shared;
use crate::extract::Query;
use crate::openapi::{Method, Operation, Resources, Scope};
use crate::problem::Problem;

const PATH: &str = "/api/v1/log";

pub(super) fn add(resources: Resources) -> Resources {
    let read =
        Operation::read(Method::Get, PATH, "list_queries", "Lists queries that were asked, latest first.");
    let clear = Operation::write(Method::Delete, PATH, "clear_queries", "Forgets all queries.");
    // Queries of others are not for everyone who may read the index.
    let [read, clear] = [read, clear].map(|operation| Operation { scope: Scope::Admin, ..operation });
    resources.add("log", &read, list).add("log", &clear, forget)
}

/// Which queries are listed.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Listed {
    /// Only those of this kind: `search`, or the name of a tool.
    kind: Option<String>,
    /// Only searches that found nothing.
    zero_hits: bool,
    /// Most entries of the page, from 1 to 1,000; by default 100.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// `next` of the page before; none for the first page.
    cursor: Option<String>,
}

/// Some of the queries that were asked.
#[derive(Serialize, JsonSchema)]
struct Log {
    /// Whether queries are kept: `serve --log-queries` keeps them.
    enabled: bool,
    /// The queries, latest first.
    entries: Vec<LoggedQuery>,
    /// Where the next page begins; none after the last query.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Cursor>,
}

async fn list(
    State(app): State<Shared>,
    Query(Listed { kind, zero_hits, limit, cursor }): Query<Listed>,
) -> Answer<Log> {
    let page = Page { limit, cursor };
    let request = LoggedRequest { kind, zero_hits, after: page.after(), limit: page.limit()? };
    let Some(log) = app.log.clone() else {
        return Ok(Json(Log { enabled: false, entries: Vec::new(), next: None }));
    };
    let (entries, next) = app.call(move |_| log.page(&request)).await?;
    Ok(Json(Log { enabled: true, entries, next }))
}

async fn forget(State(app): State<Shared>) -> Result<Done, Problem> {
    if let Some(log) = app.log.clone() {
        app.call(move |_| log.clear()).await?;
    }
    Ok(Done)
}
