//! Health and readiness endpoints.

use std::sync::Arc;

use axum::extract::State;
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chunkwright_engine::ListCollectionsRequest;
use serde_json::json;

use crate::app::Shared;
use crate::extract::no_parameters;
use crate::guard::refusal::METADATA;
use crate::mcp::MCP;
use crate::options::Authorization;
use crate::problem::Problem;

/// `/health`: the process answers. `/ready`: the store answers too, and has free space. Neither reveals what is
/// indexed, nor needs a key.
pub(crate) fn router(app: &Shared) -> Router {
    let router = Router::new()
        .route("/health", get(|| async { Json(json!({ "status": "ok" })) }))
        .route("/ready", get(ready));
    // By RFC 9728, the path of a resource follows the name of its metadata.
    let public = app.options.admission.authorization.as_ref().map_or("", Authorization::path);
    let places = std::iter::once("").chain(Some(public).filter(|path| !path.is_empty()));
    let router = places.fold(router, |router, path| {
        let at = format!("{METADATA}{path}");
        router.route(&at, get(resource)).route(&format!("{at}{MCP}"), get(resource_mcp))
    });
    router.route_layer(from_fn(no_parameters)).with_state(Arc::clone(app))
}

/// Reports whether the server should get requests: not while it starts or stops, nor while its store fails or the disk
/// is full.
async fn ready(State(app): State<Shared>) -> Response {
    if !app.is_ready() {
        return Problem::not_ready().into_response();
    }
    if app.room.is_missing() {
        return Problem::disk_full().into_response();
    }
    let one = ListCollectionsRequest { limit: 1, ..ListCollectionsRequest::default() };
    match app.call(move |engine| engine.list_collections(&one)).await {
        Ok(_) => {
            let mut answer = json!({ "status": "ready" });
            if app.engine.is_read_only() {
                answer["read_only"] = true.into();
            }
            Json(answer).into_response()
        }
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
    metadata(&app, MCP)
}

/// The authorization servers for a path, by RFC 9728.
fn metadata(app: &Shared, path: &str) -> Response {
    let Some(authorization) = &app.options.admission.authorization else {
        return Problem::no_such_path().into_response();
    };
    let url = authorization.url();
    Json(json!({
        "resource": format!("{url}{path}"),
        "resource_name": "Chunkwright",
        "authorization_servers": authorization.servers,
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["read", "write", "admin"],
    }))
    .into_response()
}
