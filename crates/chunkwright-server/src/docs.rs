//! A page to try the API: it reads the OpenAPI document, and loads nothing from other hosts.

use axum::Router;
use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::routing::get;

/// What the page may load, and where it may send requests: only this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The files of the page.
const FILES: &[(&str, &str, &str)] = &[
    ("/api/docs", "text/html; charset=utf-8", include_str!("docs/page.html")),
    ("/api/docs/page.css", "text/css; charset=utf-8", include_str!("docs/page.css")),
    ("/api/docs/page.js", "text/javascript; charset=utf-8", include_str!("docs/page.js")),
    ("/api/docs/schema.js", "text/javascript; charset=utf-8", include_str!("docs/schema.js")),
];

/// The routes of the page.
pub(crate) fn router() -> Router {
    FILES.iter().fold(Router::new(), |router, &(path, media_type, text)| {
        let headers: [(HeaderName, &str); 4] = [
            (CONTENT_TYPE, media_type),
            (CONTENT_SECURITY_POLICY, POLICY),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (CACHE_CONTROL, "no-cache"),
        ];
        router.route(path, get(move || async move { (headers, text) }))
    })
}
