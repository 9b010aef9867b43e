//! Is the server there, and can it answer?

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;

use crate::app::Shared;

/// `/health`: the process answers. `/ready`: its store does, too.
pub(crate) fn router(app: &Shared) -> Router {
    Router::new()
        .route("/health", get(|| async { Json(json!({ "status": "ok" })) }))
        .route("/ready", get(ready))
        .with_state(Shared::clone(app))
}

async fn ready(State(app): State<Shared>) -> Response {
    match app.call(|engine| engine.list_collections()).await {
        Ok(collections) => {
            Json(json!({ "status": "ready", "collections": collections.len() })).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}
