//! Errors of requests, whether they are temporary, and the display of a server's own messages.

use std::time::Duration;

use serde_json::Value;

use crate::address::{Refused, is_link_local};

/// Statuses of troubles that pass.
const PASSING: &[u16] = &[408, 429, 500, 502, 503, 504];

/// Statuses by which services refuse requests for their size.
const REFUSING: &[u16] = &[400, 413, 422, 500];

/// Words of services about requests that are too large, in lower case. Statuses do not help: most use 400.
const SIZE_WORDS: &[&str] = &[
    "too large",
    "too long",
    "too big",
    "too many tokens",
    "too many inputs",
    "too many texts",
    "too many items",
    "maximum context",
    "context length",
    "context size",
    "maximum number of",
    "maximum tokens",
    "max tokens",
    "max_tokens",
    "maximum sequence",
    "token limit",
    "tokens limit",
    "fewer tokens",
    "batch size",
    "batch_size",
    "maximum batch",
    "max batch",
    "maximum allowed",
];

/// Longest text of a server that is shown, in characters.
const MAX_MESSAGE: usize = 300;

/// Why there is no answer. Messages hold addresses and messages of servers, never keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The address is not one of a service.
    #[error("`{url}` cannot be called: {reason}")]
    Url {
        /// The address, without what may be secret.
        url: String,
        /// The required form.
        reason: &'static str,
    },
    /// A key is not made of what headers hold.
    #[error(
        "the key for the header `{header}` holds a line break or another control character; it must be one line"
    )]
    Key {
        /// The header.
        header: &'static str,
    },
    /// The host's address is link-local, where metadata services are.
    #[error("`{url}` is not called: its address {address} is link-local; `allow_link_local` allows it")]
    LinkLocal {
        /// The address of the request.
        url: String,
        /// The address that the host resolved to.
        address: std::net::IpAddr,
    },
    /// The host's address is that of a private network, or of this machine.
    #[error("`{url}` is not called: its address {address} is private")]
    Private {
        /// The address of the request.
        url: String,
        /// The address that the host resolved to.
        address: std::net::IpAddr,
    },
    /// No connection, or it broke.
    #[error("`{url}` cannot be reached: {reason}")]
    Connection {
        /// The address of the request.
        url: String,
        /// The system's error.
        reason: String,
    },
    /// Nothing came in time.
    #[error("`{url}` did not answer in time ({which})")]
    Timeout {
        /// The address of the request.
        url: String,
        /// The limit that was reached.
        which: String,
    },
    /// The service refuses the request for its size: it may take a smaller one.
    #[error("`{url}` rejected the size of the request ({status}): {message}")]
    Size {
        /// The address of the request.
        url: String,
        /// The status.
        status: u16,
        /// What the service said.
        message: String,
    },
    /// The service refuses the request, or cannot serve it.
    #[error("`{url}` answered {status}{}: {message}", hint(*status))]
    Status {
        /// The address of the request.
        url: String,
        /// The status.
        status: u16,
        /// What the service said.
        message: String,
    },
    /// The service is elsewhere.
    #[error(
        "`{url}` redirects ({status}) to `{location}`; redirects are not followed, configure the address itself"
    )]
    Redirect {
        /// The address of the request.
        url: String,
        /// The status.
        status: u16,
        /// The target of the redirect.
        location: String,
    },
    /// The answer exceeds the size limit.
    #[error("the answer of `{url}` has more than {limit} bytes")]
    BodyTooLarge {
        /// The address of the request.
        url: String,
        /// The limit.
        limit: usize,
    },
    /// The answer is not JSON.
    #[error("the answer of `{url}` is not JSON: {reason}")]
    NotJson {
        /// The address of the request.
        url: String,
        /// Why not.
        reason: String,
    },
}

impl HttpError {
    /// The status that the service answered with, if it did.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Size { status, .. } | Self::Status { status, .. } | Self::Redirect { status, .. } => {
                Some(*status)
            }
            _ => None,
        }
    }

    /// Whether the service may answer the same request at another time: it is unreachable, busy or failing.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Connection { .. } | Self::Timeout { .. } => true,
            Self::Status { status, .. } => PASSING.contains(status),
            _ => false,
        }
    }

    /// Whether a smaller request may be accepted.
    pub fn is_size(&self) -> bool {
        matches!(self, Self::Size { .. })
    }
}

/// What would be right, for statuses that mean one thing.
fn hint(status: u16) -> &'static str {
    match status {
        401 | 403 => ", the key is missing, wrong, or not allowed to do this",
        404 => ", there is no such path or model",
        429 => ", too many requests",
        _ => "",
    }
}

/// Whether a status is that of a trouble that passes.
pub(crate) fn may_pass(status: u16) -> bool {
    PASSING.contains(&status)
}

/// An error of one attempt.
pub(crate) struct Failure {
    pub(crate) error: HttpError,
    /// Whether another attempt may succeed.
    pub(crate) may_pass: bool,
    /// The wait that the service asks for.
    pub(crate) retry_after: Option<Duration>,
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        Self { error, may_pass: false, retry_after: None }
    }
}

impl Failure {
    pub(crate) fn status(url: &str, status: u16, message: String, retry_after: Option<Duration>) -> Self {
        let url = url.to_owned();
        let said = message.to_lowercase();
        if status == 413 || REFUSING.contains(&status) && SIZE_WORDS.iter().any(|words| said.contains(words))
        {
            return HttpError::Size { url, status, message }.into();
        }
        let may_pass = may_pass(status);
        Self { error: HttpError::Status { url, status, message }, may_pass, retry_after }
    }

    pub(crate) fn connection(url: &str, error: &ureq::Error) -> Self {
        let url = url.to_owned();
        let failure = |error, may_pass| Self { error, may_pass, retry_after: None };
        match error {
            ureq::Error::Timeout(which) => {
                let which = which.to_string();
                failure(HttpError::Timeout { url, which }, true)
            }
            ureq::Error::Other(other) if let Some(Refused(address)) = other.downcast_ref() => {
                let address = *address;
                let is_link_local = is_link_local(address);
                if is_link_local {
                    HttpError::LinkLocal { url, address }
                } else {
                    HttpError::Private { url, address }
                }
                .into()
            }
            // An unknown name is far more often misspelt than temporarily unresolvable.
            ureq::Error::HostNotFound | ureq::Error::BadUri(_) => {
                failure(HttpError::Connection { url, reason: "the host is not known".into() }, false)
            }
            error => failure(HttpError::Connection { url, reason: one_line(&error.to_string()) }, true),
        }
    }
}

/// The message in the body of a refusal: that of its JSON, or its text.
pub(crate) fn message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let Ok(json) = serde_json::from_slice::<Value>(body) else {
        let html = text.trim_start().starts_with('<');
        return if html { "a page of HTML".into() } else { text.into_owned() };
    };
    error_message(&json).unwrap_or_else(|| text.into_owned())
}

/// The sentence in the JSON of an error, wherever services write it.
pub fn error_message(json: &Value) -> Option<String> {
    // If there are both, `error` is the error's name: `{"error": "InternalError", "message": "…"}`.
    let places = ["/error/message", "/message", "/error", "/detail", "/status/error"];
    let found = places.iter().find_map(|place| json.pointer(place).filter(|value| !value.is_null()))?;
    Some(found.as_str().map_or_else(|| found.to_string(), str::to_owned))
}

/// Describes a body that is not JSON.
pub(crate) fn not_json(body: &[u8], error: &serde_json::Error) -> String {
    if body.trim_ascii_start().first() == Some(&b'<') {
        return "it is a page of HTML; is the address that of the service?".into();
    }
    error.to_string()
}

/// The text in one line, without control characters and not too long.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None if line.is_empty() => "nothing was said".into(),
        None => line,
    }
}
