//! HTTP for services that hold models or vectors, JSON in and JSON out, and for pages that are read ([`Client::page`]).
//!
//! One small blocking client serves embedders, rerankers, writers of notes and remote stores, because all of them fail
//! in the same ways: a service is busy, slow, down, behind a proxy, or hostile. A caller gets the JSON of a successful
//! answer or an [`HttpError`] that says what would be right, within [`HttpOptions::deadline_ms`].
//!
//! * Temporary errors (408, 429, 500, 502, 503, 504, a connection that fails) are retried, with exponential backoff and
//!   full jitter, or when `Retry-After` says. Other errors are not.
//! * Redirects are not followed and no proxy is used: a configured address is the one that gets the key.
//! * Addresses of link-local and metadata services, and on request all private ones, are refused after names are
//!   resolved, and the connection goes to the address that was checked.
//! * Keys travel in headers only. A server's messages are printed with every key in them replaced.

mod address;
mod clock;
mod failure;
mod page;
mod retry;
mod secret;

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use ureq::config::Config;
use ureq::http::{HeaderName, HeaderValue, Request, Response};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body};

pub use address::{is_private, path_segment};
pub use clock::{Clock, SystemClock};
pub use failure::{HttpError, error_message};
pub use page::Page;
pub use secret::{Secret, SecretError};

use address::{Guard, checked_url, joined};
use failure::Failure;

/// Bytes that are read of the body of a refusal.
const MAX_WORDS: usize = 64 << 10;

/// Timeouts, retries and limits of a client. All times are milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// Longest time to connect, names and TLS included.
    pub connect_ms: u64,
    /// Longest time without a byte.
    pub read_ms: u64,
    /// Longest time of one attempt, from the first byte sent to the last received.
    pub timeout_ms: u64,
    /// Longest time of a call, all attempts and waits included. A wait that would end after it is not
    /// begun.
    pub deadline_ms: u64,
    /// Attempts after the first.
    pub retries: u32,
    /// The wait before the first retry is at most this; it doubles with each.
    pub backoff_ms: u64,
    /// Largest body of an answer, in bytes.
    pub max_body_bytes: usize,
    /// Whether link-local addresses (`169.254.0.0/16`, `fe80::/10`) and metadata services may be called.
    pub allow_link_local: bool,
    /// Whether addresses of private networks and of this machine may be called ([`is_private`]).
    pub allow_private: bool,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connect_ms: 10_000,
            read_ms: 60_000,
            timeout_ms: 120_000,
            deadline_ms: 180_000,
            retries: 4,
            backoff_ms: 500,
            max_body_bytes: 64 << 20,
            allow_link_local: false,
            allow_private: true,
        }
    }
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the methods of HTTP")]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// A client of one service. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct Client {
    base: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    secrets: Vec<Secret>,
    options: HttpOptions,
    agent: Agent,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the service at `url`: `http` or `https`, a host, optionally a port and a path. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// If `url` is another kind of address, or holds a user, a password, a query or a fragment: keys
    /// belong into headers.
    pub fn new(url: &str, options: HttpOptions) -> Result<Self, HttpError> {
        let base = checked_url(url)?;
        let config = Config::builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .user_agent(concat!("chunkwright/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(Duration::from_millis(options.connect_ms)))
            .timeout_per_read(Some(Duration::from_millis(options.read_ms)))
            .build();
        let agent = Agent::with_parts(config, DefaultConnector::default(), Guard::new(&options));
        let clock = Arc::new(SystemClock);
        Ok(Self { base, headers: Vec::new(), secrets: Vec::new(), options, agent, clock })
    }

    /// Sends `Authorization: Bearer <key>` with every request.
    ///
    /// # Errors
    ///
    /// If the key holds what a header cannot.
    pub fn with_bearer(self, key: &Secret) -> Result<Self, HttpError> {
        let bearer = Secret::new(format!("Bearer {}", key.expose()));
        let mut client = self.with_header("authorization", &bearer)?;
        // An echo may hold the key without the word before it.
        client.secrets = vec![key.clone()];
        Ok(client)
    }

    /// Sends the header `name` (lower case) with every request, such as `api-key` of Qdrant.
    ///
    /// # Errors
    ///
    /// If the value holds what a header cannot.
    pub fn with_header(mut self, name: &'static str, value: &Secret) -> Result<Self, HttpError> {
        let mut header =
            HeaderValue::from_str(value.expose()).map_err(|_| HttpError::Key { header: name })?;
        header.set_sensitive(true);
        self.headers.push((HeaderName::from_static(name), header));
        self.secrets.push(value.clone());
        Ok(self)
    }

    /// Waits and reads the time by `clock` between attempts.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The address of the service, which holds no secrets.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Asks for `path`.
    ///
    /// # Errors
    ///
    /// As [`Client::send`].
    pub fn get(&self, path: &str) -> Result<Value, HttpError> {
        self.send(Method::Get, path, None)
    }

    /// Sends `body` to `path`.
    ///
    /// # Errors
    ///
    /// As [`Client::send`].
    pub fn post(&self, path: &str, body: &Value) -> Result<Value, HttpError> {
        self.send(Method::Post, path, Some(body))
    }

    /// Sends a request and answers the JSON of a status below 300; `null` for an empty body.
    ///
    /// `path` begins with `/` and may hold a query. If the service's address ends with the first segment of `path`
    /// (`https://host/v1` and `/v1/embeddings`), that segment is not repeated. A request may reach the service several
    /// times, so it must be safe to repeat.
    ///
    /// # Errors
    ///
    /// The error of the last attempt, see [`HttpError`].
    pub fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, HttpError> {
        let url = joined(&self.base, path);
        let body = body.map(ToString::to_string);
        self.repeated(|left| self.attempt(method, &url, body.as_deref(), left))
    }

    /// Makes attempts, each of which gets the time that is left, until one succeeds or another would be in vain.
    fn repeated<T>(&self, attempt_in: impl Fn(Duration) -> Result<T, Failure>) -> Result<T, HttpError> {
        let deadline = self.clock.elapsed().saturating_add(Duration::from_millis(self.options.deadline_ms));
        let mut attempt = 0;
        loop {
            let left = deadline.saturating_sub(self.clock.elapsed());
            let failure = match attempt_in(left) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            if !failure.may_pass || attempt == self.options.retries {
                return Err(failure.error);
            }
            let wait =
                failure.retry_after.unwrap_or_else(|| retry::backoff(self.options.backoff_ms, attempt));
            // A retry after the deadline would be in vain: the caller no longer waits.
            if self.clock.elapsed().saturating_add(wait) >= deadline {
                return Err(failure.error);
            }
            self.clock.sleep(wait);
            attempt += 1;
        }
    }

    fn attempt(
        &self,
        method: Method,
        url: &str,
        body: Option<&str>,
        left: Duration,
    ) -> Result<Value, Failure> {
        let mut response = self
            .response(method, url, &[("accept", "application/json")], body, left)
            .map_err(|error| Failure::connection(url, &error))?;
        let status = response.status().as_u16();
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        if (300..400).contains(&status) {
            let location =
                self.printable(header("location").unwrap_or("elsewhere").split('?').next().unwrap_or(""));
            return Err(HttpError::Redirect { url: url.into(), status, location }.into());
        }
        let retry_after =
            header("retry-after").and_then(|value| retry::after(value, self.clock.unix_seconds()));
        let limit = self.options.max_body_bytes;
        if status >= 300 {
            // As much of the server's message as arrives; the status counts without it.
            let mut words = Vec::new();
            let _ = response.body_mut().as_reader().take(MAX_WORDS.min(limit) as u64).read_to_end(&mut words);
            let message = self.printable(&failure::message(&words));
            return Err(Failure::status(url, status, message, retry_after));
        }
        let body = body_of(&mut response, url, limit)?;
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(|error| {
            HttpError::NotJson { url: url.into(), reason: self.printable(&failure::not_json(&body, &error)) }
                .into()
        })
    }

    fn response(
        &self,
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
        left: Duration,
    ) -> Result<Response<Body>, ureq::Error> {
        let timeout = Duration::from_millis(self.options.timeout_ms).min(left);
        let method = match method {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        };
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(body) = body {
            let request = request.header("content-type", "application/json").body(body)?;
            let request = self.agent.configure_request(request).timeout_global(Some(timeout)).build();
            self.agent.run(request)
        } else {
            let request = request.body(())?;
            let request = self.agent.configure_request(request).timeout_global(Some(timeout)).build();
            self.agent.run(request)
        }
    }

    /// The printable form of a server's text: one line, bounded, without keys.
    pub fn printable(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = secret.hidden_in(&text);
        }
        failure::one_line(&text)
    }
}

/// The body of a response, if it is at most `limit` bytes.
fn body_of(response: &mut Response<Body>, url: &str, limit: usize) -> Result<Vec<u8>, Failure> {
    let too_much = || HttpError::BodyTooLarge { url: url.into(), limit }.into();
    let length =
        response.headers().get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > limit as u64) {
        return Err(too_much());
    }
    match response.body_mut().with_config().limit(limit as u64).read_to_vec() {
        Ok(body) => Ok(body),
        Err(ureq::Error::BodyExceedsLimit(_)) => Err(too_much()),
        Err(error) => Err(Failure::connection(url, &error)),
    }
}
