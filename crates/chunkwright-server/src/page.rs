//! The web page: it holds no data and needs no key, what it shows it asks the API for.
//!
//! Its places are paths as well (`/c/handbook`), which only its script knows. So a browser that visits a path where nothing
//! else is gets the page; programs get the answer that they always got.

use axum::Router;
use axum::extract::{Path, Request};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chunkwright_page::{File, HOW_TO_BUILD};

use crate::problem::Problem;

/// What is below these is never a place of the page.
const NOT_PLACES: &[&str] =
    &["/api", "/mcp", "/compat", "/health", "/ready", "/metrics", "/assets", "/.well-known"];

/// The page and its parts.
pub(crate) fn router() -> Router {
    Router::new().route("/", get(|| async { index() })).route("/assets/{*name}", get(asset))
}

/// Answers visits of the page's places by the page, before a key is asked for.
pub(crate) async fn visits(request: Request, next: Next) -> Response {
    if is_visit(&request) { index() } else { next.run(request).await }
}

fn is_visit(request: &Request) -> bool {
    let path = request.uri().path();
    let is_below = |prefix: &&str| {
        path.strip_prefix(*prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let wants_markup = || {
        let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
        accept.is_some_and(|accept| accept.contains("text/html"))
    };
    matches!(*request.method(), Method::GET | Method::HEAD)
        && !NOT_PLACES.iter().any(is_below)
        && wants_markup()
}

fn index() -> Response {
    match chunkwright_page::app("index.html") {
        Some(page) => answer(page),
        None => (
            StatusCode::NOT_FOUND,
            [(CONTENT_TYPE, "text/plain; charset=utf-8")],
            format!("This program was built without its web page: {HOW_TO_BUILD}. The API is described at /api/docs.\n"),
        )
            .into_response(),
    }
}

async fn asset(Path(name): Path<String>) -> Response {
    chunkwright_page::app(&format!("assets/{name}"))
        .map_or_else(|| Problem::no_such_path().into_response(), answer)
}

fn answer(File { bytes, media_type, is_immutable }: File) -> Response {
    let kept = if is_immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    ([(CONTENT_TYPE, media_type), (CACHE_CONTROL, kept)], bytes).into_response()
}
