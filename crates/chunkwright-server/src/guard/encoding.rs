//! Content encodings: rejects encoded request bodies, and gives compressed answers their own tags.

use axum::extract::Request;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

/// Suffix of the tag of a compressed answer, whose bytes differ.
const COMPRESSED: &str = "-gzip\"";

/// The encoding of a body, if it is one that cannot be read.
pub(super) fn of(headers: &HeaderMap) -> Option<String> {
    let values =
        headers.get_all(CONTENT_ENCODING).into_iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let names: Vec<String> = values
        .flat_map(|value| value.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>())
        .collect();
    names.into_iter().find(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
}

/// Returns whether a client accepts gzip.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_gzip = parts
            .next()
            .is_some_and(|name| ["gzip", "x-gzip", "*"].iter().any(|it| name.eq_ignore_ascii_case(it)));
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
        is_gzip && weight.is_none_or(|weight| weight > 0.0)
    })
}

/// The tag of a content, from the tag of its encoding.
pub(crate) fn unencoded(tag: &str) -> String {
    tag.strip_suffix(COMPRESSED).map_or_else(|| tag.to_owned(), |content| format!("{content}\""))
}

/// Gives compressed answers a tag of their own. In answers to clients that already have the content, returns the tag by
/// which the client knows it.
pub(super) async fn tag(mut request: Request, next: Next) -> Response {
    // Encodings are optional: a client that accepts none of ours gets the plain answer, not 406.
    if !takes_gzip(request.headers()) {
        request.headers_mut().remove(ACCEPT_ENCODING);
    }
    let known = request.headers().get(IF_NONE_MATCH).cloned();
    let mut response = next.run(request).await;
    let Some(tag) = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok()) else { return response };
    let compressed = format!("{}{COMPRESSED}", tag.trim_end_matches('"'));
    let is_known =
        || known.is_some_and(|known| known.to_str().is_ok_and(|known| known.contains(&compressed)));
    let is_unchanged = response.status() == StatusCode::NOT_MODIFIED;
    let is_compressed = response.headers().contains_key(CONTENT_ENCODING) || is_unchanged && is_known();
    let headers = response.headers_mut();
    if is_compressed && let Ok(tag) = HeaderValue::from_str(&compressed) {
        headers.insert(ETAG, tag);
    }
    if is_unchanged && !headers.contains_key(VARY) {
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    }
    response
}
