//! Problem details as in RFC 9457, from the engine's table of codes.

use std::borrow::Cow;

use axum::Json;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chunkwright_engine::words::without_flags;
use chunkwright_engine::{Error, FieldError, without_places};
use schemars::JsonSchema;
use serde::Serialize;

/// A failure, as RFC 9457 has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// What kind of failure this is: `urn:chunkwright:` and the code.
    #[serde(rename = "type")]
    kind: Box<str>,
    /// What the code means, the same for every failure of this kind.
    title: Cow<'static, str>,
    /// The status of HTTP.
    status: u16,
    /// What was wrong here, and what would be right.
    detail: Box<str>,
    /// The name of the kind, for programs.
    pub(crate) code: Cow<'static, str>,
    /// The members and parameters of the request that the problem is about.
    #[serde(skip_serializing_if = "<[Fault]>::is_empty")]
    errors: Box<[Fault]>,
    /// The path of the server that `detail` names.
    #[serde(skip)]
    link: Option<&'static str>,
}

/// What is wrong with a part of a request: a member of its body, or a parameter of its address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Fault {
    /// The member of the body, as a JSON pointer in the form of a fragment: `#/settings/max_size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<String>,
    /// The parameter of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    /// What was wrong with it, and what would be right.
    detail: String,
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
        detail: impl Into<Box<str>>,
    ) -> Self {
        let code = code.into();
        let kind = format!("urn:chunkwright:{code}").into();
        let detail: Box<str> = detail.into();
        Self {
            kind,
            title: title.into(),
            status,
            detail: without_flags(&detail).into(),
            code,
            errors: Box::default(),
            link: None,
        }
    }

    /// A request that cannot be read.
    pub(crate) fn unreadable(status: StatusCode, detail: impl Into<Box<str>>) -> Self {
        Self::new(status.as_u16(), "invalid_request", "The request has an invalid value.", detail)
    }

    /// A request has an invalid value.
    pub(crate) fn invalid(detail: impl Into<Box<str>>) -> Self {
        Self::unreadable(StatusCode::BAD_REQUEST, detail)
    }

    /// The same problem, about the member of the body at this JSON pointer, with which this is wrong.
    pub(crate) fn at(self, pointer: &str, detail: &str) -> Self {
        let FieldError { pointer, detail } = FieldError::new(pointer, detail);
        Self { errors: [Fault { pointer: Some(pointer), parameter: None, detail }].into(), ..self }
    }

    /// The same problem, about a parameter of the query.
    pub(crate) fn of_parameter(self, name: &str) -> Self {
        let (parameter, detail) = (Some(name.to_owned()), self.detail.to_string());
        Self { errors: [Fault { pointer: None, parameter, detail }].into(), ..self }
    }

    /// The same problem of a request without a body, whose members are these parameters; `None` if nothing changes.
    pub(crate) fn of_parameters<'a>(&self, mut known: impl Iterator<Item = &'a str>) -> Option<Self> {
        let pointer = self.errors.first()?.pointer.as_deref()?;
        let member = pointer.trim_start_matches("#/").split('/').next().unwrap_or_default();
        let plain = Self { errors: Box::default(), ..self.clone() };
        Some(if known.any(|name| name == member) { plain.of_parameter(member) } else { plain })
    }

    /// The same problem with the path of the server that `detail` mentions.
    pub(crate) fn naming(self, link: &'static str) -> Self {
        Self { link: Some(link), ..self }
    }

    /// The same problem with the path below `prefix`; `None` if it mentions no path.
    pub(crate) fn below(&self, prefix: &str) -> Option<Self> {
        let link = self.link?;
        let detail = self.detail.replacen(&format!("`{link}`"), &format!("`{prefix}{link}`"), 1);
        Some(Self { detail: detail.into(), ..self.clone() })
    }

    /// The same problem for callers who may not know where files are on this machine; `None` if nothing has to be
    /// hidden.
    pub(crate) fn without_places(&self) -> Option<Self> {
        // Paths of the server are not paths of files.
        match without_places(&self.detail) {
            Cow::Owned(detail) if self.link.is_none() => {
                let mut problem = Self { detail: detail.into(), ..self.clone() };
                for fault in &mut problem.errors {
                    fault.detail = without_places(&fault.detail).into_owned();
                }
                Some(problem)
            }
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
        let (detail, pointer) = (error.to_string(), error.pointer());
        let problem = Self::new(code.http, code.name, code.summary, &*detail);
        match pointer {
            Some(pointer) => problem.at(&pointer, &detail),
            None => problem,
        }
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
