//! Reasons to refuse a request, and the answer to each.

use std::time::Duration;

use axum::http::HeaderValue;
use axum::http::header::{ACCEPT_ENCODING, CONNECTION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;

use crate::mcp::MCP;
use crate::openapi::Scope;
use crate::options::Authorization;
use crate::problem::Problem;

/// The path of the metadata of RFC 9728.
pub(crate) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// `Host` is missing, or is not a name of this server.
    Host,
    /// A page of another site.
    Origin,
    /// A key is needed.
    NoKey,
    /// The key is unknown.
    WrongKey,
    /// The key has expired.
    ExpiredKey { at: Timestamp },
    /// The key lacks the scope.
    Scope { needs: Scope, has: Scope },
    /// Too many requests.
    Rate { wait: Duration },
    /// A body over the limit, in bytes.
    TooLarge { most: usize },
    /// A body that arrives too slowly.
    SlowBody,
    /// A body in an unsupported encoding.
    Encoding { name: String },
}

impl Refusal {
    /// The name of the reason in metrics.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Origin => "origin",
            Self::NoKey => "no_key",
            Self::WrongKey => "wrong_key",
            Self::ExpiredKey { .. } => "expired_key",
            Self::Scope { .. } => "scope",
            Self::Rate { .. } => "rate",
            Self::TooLarge { .. } => "too_large",
            Self::SlowBody => "slow_body",
            Self::Encoding { .. } => "encoding",
        }
    }

    pub(crate) fn problem(&self) -> Problem {
        let (status, code, title, detail) = match self {
            Self::Host => (
                403,
                "unknown_host",
                "The server is not known by this name.",
                "the header `Host` has no name of this server; `--allowed-host NAME` adds one".to_owned(),
            ),
            Self::Origin => (
                403,
                "foreign_origin",
                "Pages of other sites may not call the server.",
                "the request comes from a page of another site; `--allowed-origin ORIGIN` lets its pages call".to_owned(),
            ),
            Self::NoKey => (
                401,
                "unauthorized",
                "An API key is needed.",
                "no API key; send `Authorization: Bearer KEY`".to_owned(),
            ),
            Self::WrongKey => (
                401,
                "unauthorized",
                "An API key is needed.",
                "invalid API key; send `Authorization: Bearer KEY` with one that the server has".to_owned(),
            ),
            Self::ExpiredKey { at } => (
                401,
                "unauthorized",
                "An API key is needed.",
                format!("the API key expired at {at}; `chunkwright key` makes another"),
            ),
            Self::Scope { needs, has } => (
                403,
                "insufficient_scope",
                "The API key does not allow this.",
                format!("the key has the scope `{has}`; this needs `{needs}`"),
            ),
            Self::Rate { wait } => (
                429,
                "too_many_requests",
                "The client sends too many requests.",
                format!("too many requests; the next one is taken in {} ms", wait.as_millis().max(1)),
            ),
            Self::TooLarge { most } => (
                413,
                "body_too_large",
                "The body of the request is too large.",
                format!("the body has more than {most} bytes, the limit of this server"),
            ),
            Self::SlowBody => (
                408,
                "slow_body",
                "The body of the request came too slowly.",
                "the body did not come in time".to_owned(),
            ),
            Self::Encoding { name } => (
                415,
                "unsupported_encoding",
                "The body of the request has an encoding that is not read.",
                format!("the body is encoded as `{name}`; send it as it is, without `Content-Encoding`"),
            ),
        };
        Problem::new(status, code, title, detail)
    }

    /// The answer to a request for `path`, with what the client needs to correct it.
    pub(crate) fn answer(&self, authorization: Option<&Authorization>, path: &str) -> Response {
        let mut response = self.problem().into_response();
        let headers = response.headers_mut();
        let metadata = authorization.map(|authorization| {
            // The metadata must name the resource that the client asked for.
            let resource = if path == MCP { MCP } else { "" };
            format!(", resource_metadata=\"{}{METADATA}{resource}\"", authorization.url())
        });
        let metadata = metadata.unwrap_or_default();
        let challenge = match self {
            Self::NoKey => format!("Bearer realm=\"chunkwright\"{metadata}"),
            Self::WrongKey | Self::ExpiredKey { .. } => {
                format!("Bearer realm=\"chunkwright\", error=\"invalid_token\"{metadata}")
            }
            Self::Scope { needs, .. } => {
                format!(
                    "Bearer realm=\"chunkwright\", error=\"insufficient_scope\", scope=\"{needs}\"{metadata}"
                )
            }
            _ => String::new(),
        };
        if let Some(challenge) = HeaderValue::from_str(&challenge).ok().filter(|value| !value.is_empty()) {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        match self {
            Self::Rate { wait } => {
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
            }
            // The rest of the body is not read.
            Self::TooLarge { .. } | Self::SlowBody => {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Self::Encoding { .. } => {
                headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            }
            _ => {}
        }
        response
    }
}
