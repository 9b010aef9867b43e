//! Traces of the server's work.
//!
//! They are spans of `tracing` under the target [`TRACE`], which the log leaves out, and are sent to a collector if one
//! is configured. Spans hold names, numbers and outcomes: no text of a document, no key and no path, and a query only
//! if queries are logged anyway.

#[cfg(feature = "otlp")]
mod export;
#[cfg(not(feature = "otlp"))]
#[path = "traces/none.rs"]
mod export;

use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use chunkwright_engine::{TRACE, redact};
use tracing::field::Empty;
use tracing::{Level, Span, info_span, span_enabled};

pub use export::Traces;
#[cfg(feature = "otlp")]
pub use export::{TraceError, TraceOptions};
pub(crate) use export::{attribute, continues, ended};

/// The span of a request, for work that another task does for it.
#[derive(Clone, Debug)]
pub(crate) struct RequestSpan(pub(crate) Span);

/// Creates the span of a request, named after its `route` if there is one, which continues the trace of the client.
pub(crate) fn of_request(method: &'static str, route: Option<&str>, id: &str, headers: &HeaderMap) -> Span {
    if !span_enabled!(target: TRACE, Level::INFO) {
        return Span::none();
    }
    let name = route.map_or_else(|| method.to_owned(), |route| format!("{method} {route}"));
    let span = info_span!(
        target: TRACE,
        "request",
        otel.name = name,
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        request_id = id,
    );
    continues(&span, headers);
    span
}

/// Records the answer to a request.
pub(crate) fn answered(span: &Span, status: StatusCode) {
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
}

/// Creates the span of a tool call, below that of its request.
pub(crate) fn of_tool(tool: &'static str, request: Option<&Parts>) -> Span {
    if !span_enabled!(target: TRACE, Level::INFO) {
        return Span::none();
    }
    let request = request.and_then(|parts| parts.extensions.get::<RequestSpan>());
    let parent = request.map_or_else(|| Span::current().id(), |RequestSpan(span)| span.id());
    info_span!(
        target: TRACE,
        parent: parent,
        "tool",
        otel.name = format!("tools/call {tool}"),
        otel.status_code = Empty,
        mcp.method.name = "tools/call",
        gen_ai.tool.name = tool,
    )
}

/// Records that a tool call failed.
pub(crate) fn failed(span: &Span) {
    span.record("otel.status_code", "ERROR");
}

/// Records a query, with known forms of secrets redacted. Called only if queries are logged.
pub(crate) fn query(query: &str) {
    attribute("query", || redact(query).unwrap_or_else(|| query.to_owned()));
}
