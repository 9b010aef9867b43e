//! The resources of the API, one a file: each adds its operations, and with them itself to the OpenAPI document.

mod collections;
mod search;

use std::sync::Arc;

use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;

use crate::app::Shared;
use crate::guard::Scopes;
use crate::openapi::Resources;
use crate::problem::Problem;

/// What stands before every path.
pub(crate) const PREFIX: &str = "/api/v1";

/// Everything below `/api`, and which scope each operation needs.
pub(crate) fn router(app: &Shared) -> (Router, Scopes) {
    let resources = Resources::new();
    let resources = collections::add(resources);
    let resources = search::add(resources);
    let info = json!({
        "title": "Chunkwright",
        "summary": "Stable, explainable, token-bounded chunks of documents and source code, and hybrid search over them.",
        "version": env!("CARGO_PKG_VERSION"),
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    });
    let (router, document, scopes) = resources.finish(info);
    let scopes = scopes.into_iter().map(|(method, path, scope)| ((method.into(), format!("{PREFIX}{path}")), scope)).collect();
    let document: Arc<str> = document.to_string().into();
    let openapi = move || async move { ([(CONTENT_TYPE, "application/json")], document.to_string()) };
    let router = Router::new()
        .nest(PREFIX, router.with_state(Shared::clone(app)))
        .route("/api/openapi.json", get(openapi))
        .fallback(|| async { Problem::no_such_path() })
        .method_not_allowed_fallback(|| async { Problem::method() });
    (router, scopes)
}

/// An answer as JSON, or what went wrong.
pub(crate) type Answer<T> = Result<Json<T>, Problem>;
