//! Records each answered request: its id, a line in the log, and metrics.
//!
//! The log has the path of the matched route, not the path that the client sent: queries and names of documents are the
//! client's business.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;
use tracing::{Instrument as _, field};

use crate::app::Shared;
use crate::guard::peer;
use crate::traces::{self, RequestSpan};

/// The header with the id of a request, in both directions.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of an id from a client, in characters.
const LONGEST_ID: usize = 128;

/// The route name of paths without a route.
pub(crate) const NO_ROUTE: &str = "none";

/// Gives a request an id, and records its answer in the log and the metrics.
pub(crate) async fn observe(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers());
    let matched = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let method = known(request.method());
    // The log's span is inside the trace's span. What becomes known of the request later is recorded in the log's span,
    // and work for it is below both.
    let traced = traces::of_request(method, matched.as_deref(), &id, request.headers());
    request.extensions_mut().insert(RequestSpan(traced.clone()));
    let route = matched.unwrap_or_else(|| NO_ROUTE.to_owned());
    let logged = || tracing::info_span!("request", request_id = %id, method, route, key = field::Empty);
    let span = traced.in_scope(logged);
    let client = peer(&request);
    let in_flight = app.metrics.begin();
    let mut response = next.run(request).instrument(span.clone()).instrument(traced.clone()).await;
    drop(in_flight);
    let (status, took) = (response.status(), started.elapsed());
    app.metrics.answered(&route, method, status.as_u16(), took);
    traces::answered(&traced, status);
    span.in_scope(|| {
        tracing::info!(status = status.as_u16(), duration_ms = took.as_secs_f64() * 1e3, %client, "answered");
    });
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// The id from the client if it is safe to log, or else a new one.
fn request_id(headers: &HeaderMap) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_usable = |id: &&str| (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(is_plain);
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(is_usable);
    given.map_or_else(new_id, str::to_owned)
}

/// An id that is unique across requests and processes.
fn new_id() -> String {
    static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("{:016x}-{:x}", *PROCESS, NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// The method if HTTP defines it: a client may send any word.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
