//! Is the server there, and can it answer?

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chunkwright_engine::ListCollectionsRequest;
use serde_json::json;

use crate::app::Shared;
use crate::guard::refusal::METADATA;
use crate::problem::Problem;

/// `/health`: the process answers. `/ready`: its store does, too. They tell nothing of what is indexed, and need no key.
pub(crate) fn router(app: &Shared) -> Router {
    Router::new()
        .route("/health", get(|| async { Json(json!({ "status": "ok" })) }))
        .route("/ready", get(ready))
        .route(METADATA, get(resource))
        .route(&format!("{METADATA}/mcp"), get(resource_mcp))
        .with_state(Arc::clone(app))
}

/// Whether requests should be sent here: not while the server starts or stops, nor while its store fails.
async fn ready(State(app): State<Shared>) -> Response {
    if !app.is_ready() {
        return Problem::not_ready().into_response();
    }
    let one = ListCollectionsRequest { limit: 1, ..ListCollectionsRequest::default() };
    match app.call(move |engine| engine.list_collections(&one)).await {
        Ok(_) => Json(json!({ "status": "ready" })).into_response(),
        Err(problem) => {
            tracing::warn!(?problem, "the store does not answer");
            Problem::not_ready().into_response()
        }
    }
}

async fn resource(State(app): State<Shared>) -> Response {
    metadata(&app, "")
}

async fn resource_mcp(State(app): State<Shared>) -> Response {
    metadata(&app, "/mcp")
}

/// Who issues tokens for what is at a path, as RFC 9728 has it.
fn metadata(app: &Shared, path: &str) -> Response {
    let Some(authorization) = &app.options.admission.authorization else {
        return Problem::no_such_path().into_response();
    };
    let url = authorization.public_url.trim_end_matches('/');
    Json(json!({
        "resource": format!("{url}{path}"),
        "resource_name": "Chunkwright",
        "authorization_servers": authorization.servers,
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["read", "write", "admin"],
    }))
    .into_response()
}
