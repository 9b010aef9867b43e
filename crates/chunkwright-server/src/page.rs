//! The web page: static files that need no key; the page gets its data from the API.
//!
//! Its views are also paths (`/c/handbook`), which only its script knows. Therefore a browser that visits a path
//! without any other content gets the page; programs get the same answer as always.
//!
//! The page refers to its files by relative paths. Unless a proxy names the path below which the server is, it derives
//! the base from the depth of the visited path. So the page also works behind a proxy that strips a prefix silently.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chunkwright_engine::web::{File, HOW_TO_BUILD};

use crate::problem::Problem;
use crate::proxy::{OWN_PATHS, Prefix, below};

/// The page and its files.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/", get(|request: Request| async move { index(&request) }))
        .route("/assets/{*name}", get(asset))
}

/// Answers browser visits to views of the page, before a key is required.
pub(crate) async fn visits(request: Request, next: Next) -> Response {
    if is_visit(&request) { index(&request) } else { next.run(request).await }
}

fn is_visit(request: &Request) -> bool {
    let path = request.uri().path();
    let wants_markup = || {
        let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
        accept.is_some_and(|accept| accept.contains("text/html"))
    };
    matches!(*request.method(), Method::GET | Method::HEAD)
        && !OWN_PATHS.iter().any(|own| below(path, own).is_some())
        && wants_markup()
}

fn index(request: &Request) -> Response {
    match chunkwright_engine::web::app("index.html") {
        Some(File { bytes, media_type, is_immutable }) => {
            let named = format!("\"{}", root(Prefix::of(request).as_str(), request.uri().path()));
            let page = String::from_utf8_lossy(bytes).replace("\"./", &named);
            answer(page.into_bytes(), media_type, is_immutable)
        }
        None => (
            StatusCode::NOT_FOUND,
            [(CONTENT_TYPE, "text/plain; charset=utf-8")],
            format!("This program was built without its web page: {HOW_TO_BUILD}. The API is described at /api/docs.\n"),
        )
            .into_response(),
    }
}

async fn asset(Path(name): Path<String>) -> Response {
    chunkwright_engine::web::app(&format!("assets/{name}")).map_or_else(
        || Problem::no_such_path().into_response(),
        |File { bytes, media_type, is_immutable }| answer(bytes, media_type, is_immutable),
    )
}

/// The relative path from a view to the folder of the page.
fn root(prefix: &str, path: &str) -> String {
    match (prefix, path.matches('/').count()) {
        ("", 0 | 1) => "./".to_owned(),
        ("", slashes) => "../".repeat(slashes - 1),
        (prefix, _) => format!("{prefix}/"),
    }
}

fn answer(bytes: impl Into<Body>, media_type: &'static str, is_immutable: bool) -> Response {
    let kept = if is_immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    ([(CONTENT_TYPE, media_type), (CACHE_CONTROL, kept)], bytes.into()).into_response()
}
