//! Security headers of answers.
//!
//! The text of documents is data, whatever it holds: no answer may run scripts except those of the server's own page.

use axum::http::header::{CACHE_CONTROL, HeaderName};
use axum::http::{HeaderValue, Response};

/// Set on every answer, except that a handler may set its own caching.
const HEADERS: [(&str, &str); 8] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    // An answer may hold data for the holder of the key only.
    ("cache-control", "private, no-cache"),
];

/// Adds the headers.
pub(crate) async fn add<B>(mut response: Response<B>) -> Response<B> {
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        let name = HeaderName::from_static(name);
        if name == CACHE_CONTROL && headers.contains_key(CACHE_CONTROL) {
            continue;
        }
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
