//! Problem details as in RFC 9457, from the engine's table of codes.

use std::borrow::Cow;

use axum::Json;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chunkwright_engine::{Error, without_places};
use schemars::JsonSchema;
use serde::Serialize;

/// A failure, as RFC 9457 has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// What kind of failure this is: `urn:chunkwright:` and the code.
    #[serde(rename = "type")]
    kind: String,
    /// What the code means, the same for every failure of this kind.
    title: Cow<'static, str>,
    /// The status of HTTP.
    status: u16,
    /// What was wrong here, and what would be right.
    detail: String,
    /// The name of the kind, for programs.
    pub(crate) code: Cow<'static, str>,
    /// The path of the server that `detail` names.
    #[serde(skip)]
    link: Option<&'static str>,
}

/// Declares the problems that the server itself detects, before or beside the engine.
macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident: $status:literal, $code:literal, $title:literal, $detail:literal $(, $link:expr)?;)*) => {
        impl Problem {
            $($(#[$doc])* pub(crate) fn $name() -> Self {
                Self::new($status, $code, $title, $detail)$(.naming($link))?
            })*
        }
    };
}

/// The path of the OpenAPI document.
const DOCUMENT: &str = "/api/openapi.json";

problems! {
    /// The server has too many requests in progress.
    overloaded: 503, "overloaded", "The server has too much to do.", "too many requests are being worked on; try again later";
    /// The server starts or stops, or its store does not answer.
    not_ready: 503, "not_ready", "The server is not ready.", "the server starts, stops, or its store does not answer; try again later";
    /// The disk is full.
    disk_full: 503, "disk_full", "The disk is full; what is stored is intact.", "the disk is full: searches are answered, and nothing can be stored; free space";
    /// A call ended without an answer.
    internal: 500, "internal", "The server failed.", "the request ended without an answer; the log of the server says why";
    /// No such path.
    no_such_path: 404, "no_such_path", "There is nothing at this path.", "nothing is at this path; `/api/openapi.json` lists what there is", DOCUMENT;
    /// A path that does not take the method.
    method: 405, "method_not_allowed", "The path does not take this method.", "the path does not take this method; `/api/openapi.json` lists what it takes", DOCUMENT;
    /// A request that took too long.
    timeout: 504, "timeout", "The request took too long.", "the request took too long; what it changed by then stays";
}

impl Problem {
    pub(crate) fn new(
        status: u16,
        code: impl Into<Cow<'static, str>>,
        title: impl Into<Cow<'static, str>>,
        detail: impl Into<String>,
    ) -> Self {
        let code = code.into();
        let kind = format!("urn:chunkwright:{code}");
        Self { kind, title: title.into(), status, detail: detail.into(), code, link: None }
    }

    /// A request that cannot be read.
    pub(crate) fn unreadable(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::new(status.as_u16(), "invalid_request", "The request has an invalid value.", detail)
    }

    /// A request has an invalid value.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::unreadable(StatusCode::BAD_REQUEST, detail)
    }

    /// The same problem with the path of the server that `detail` mentions.
    pub(crate) fn naming(self, link: &'static str) -> Self {
        Self { link: Some(link), ..self }
    }

    /// The same problem with the path below `prefix`; `None` if it mentions no path.
    pub(crate) fn below(&self, prefix: &str) -> Option<Self> {
        let link = self.link?;
        let detail = self.detail.replacen(&format!("`{link}`"), &format!("`{prefix}{link}`"), 1);
        Some(Self { detail, ..self.clone() })
    }

    /// The same problem for callers who may not know where files are on this machine; `None` if nothing has to be
    /// hidden.
    pub(crate) fn without_places(&self) -> Option<Self> {
        // Paths of the server are not paths of files.
        match without_places(&self.detail) {
            Cow::Owned(detail) if self.link.is_none() => Some(Self { detail, ..self.clone() }),
            _ => None,
        }
    }

    /// An answer with this problem in place of another one of the same kind.
    pub(crate) fn again(self, response: Response) -> Response {
        let (mut parts, _) = response.into_parts();
        let (new, body) = self.into_response().into_parts();
        parts.extensions.extend(new.extensions);
        parts.headers.remove(CONTENT_LENGTH);
        Response::from_parts(parts, body)
    }

    /// The detail of the problem.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let code = error.code();
        Self::new(code.http, code.name, code.summary, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut response = (status, Json(&self)).into_response();
        response.extensions_mut().insert(self);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
