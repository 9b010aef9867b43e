//! The MCP server over streamable HTTP.
//!
//! Every request is answered separately, as JSON. There are no sessions, not even for older clients, whose
//! specification makes them optional. So nothing can expire, and clients take no memory between requests.

use parking_lot::Mutex;
use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, to_bytes};
use axum::http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use http_body_util::BodyExt as _;
use rmcp::model::JsonRpcError;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::{McpServer, Profile, message};
use crate::app::Shared;
use crate::extract::Parameters;
use crate::guard::{Caller, Scopes};
use crate::openapi::Scope;

/// The path of the MCP server.
pub(crate) const PATH: &str = "/mcp";

const JSON: &str = "application/json";

/// Maximum number of bytes of an SDK refusal.
const MAX_SAID: usize = 16 << 10;

/// Checks on requests over HTTP.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Allowed values of `Host`, with or without a port; empty allows all, if another layer checks them.
    pub allowed_hosts: Vec<String>,
    /// Allowed values of `Origin`, such as `https://app.example.com:443` or `http://localhost:*`. A request from a page
    /// at another origin is refused; a request without an origin does not come from a page.
    pub allowed_origins: Vec<String>,
    /// Maximum number of bytes in a request.
    pub max_body_bytes: usize,
    /// Ends all requests and refuses new ones when cancelled.
    pub cancel: CancellationToken,
}

impl Default for HttpOptions {
    /// The checks of a server on loopback.
    fn default() -> Self {
        let hosts = ["localhost", "127.0.0.1", "::1"];
        // Pages served by this machine are trusted.
        let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
        Self {
            allowed_hosts: hosts.map(str::to_owned).to_vec(),
            allowed_origins: origins.map(str::to_owned).to_vec(),
            max_body_bytes: message::MAX_BYTES,
            cancel: CancellationToken::new(),
        }
    }
}

type Served = StreamableHttpService<McpServer, NeverSessionManager>;

/// Answers requests over HTTP, with the tools named by `?tools=`: `all` (the default) or `chatgpt`.
#[derive(Clone)]
pub struct HttpService {
    told: Profiles,
    /// For callers who may not know where files are on this machine.
    discreet: Profiles,
}

/// The service with each of the profiles that a request may name.
#[derive(Clone)]
struct Profiles {
    usual: Served,
    all: Served,
    chatgpt: Served,
}

impl Profiles {
    fn new(server: &McpServer, options: &HttpOptions) -> Self {
        Self {
            usual: served(server.clone(), options),
            all: served(server.with_profile(Profile::All), options),
            chatgpt: served(server.with_profile(Profile::ChatGpt), options),
        }
    }
}

impl std::fmt::Debug for HttpService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpService").finish_non_exhaustive()
    }
}

/// A service for `server`, to be mounted at a path.
pub fn http_service(server: &McpServer, options: &HttpOptions) -> HttpService {
    let discreet = Profiles::new(&server.without_places(), options);
    HttpService { told: Profiles::new(server, options), discreet }
}

fn served(server: McpServer, options: &HttpOptions) -> Served {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(&options.allowed_hosts)
        .with_allowed_origins(&options.allowed_origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(options.max_body_bytes)
        .with_cancellation_token(options.cancel.clone());
    StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config)
}

impl Service<Request<Body>> for HttpService {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // Without a guard, the service belongs to the embedding program.
        let sees_places = request.extensions().get::<Caller>().is_none_or(|caller| caller.sees_places);
        let profiles = if sees_places { &self.told } else { &self.discreet };
        let served = match profile(request.uri().query().unwrap_or_default()) {
            Ok(None) => profiles.usual.clone(),
            Ok(Some(Profile::All)) => profiles.all.clone(),
            Ok(Some(Profile::ChatGpt)) => profiles.chatgpt.clone(),
            Err(said) => {
                return Box::pin(ready(Ok(refused(StatusCode::BAD_REQUEST, &message::invalid(None, said)))));
            }
        };
        Box::pin(async move { Ok(answer(&served, request).await) })
    }
}

/// The profile that a query asks for.
fn profile(query: &str) -> Result<Option<Profile>, String> {
    Parameters::one("tools").check(query).map_err(|problem| problem.detail().to_owned())?;
    match query.split('&').find_map(|pair| pair.strip_prefix("tools=")) {
        None => Ok(None),
        Some("all") => Ok(Some(Profile::All)),
        Some("chatgpt") => Ok(Some(Profile::ChatGpt)),
        Some(other) => Err(format!("unknown `tools` `{other}`; known are all, chatgpt")),
    }
}

/// Lets the SDK answer, and converts refusals that the SDK writes as text to JSON.
async fn answer(served: &Served, request: Request<Body>) -> Response {
    let (mut head, body) = request.into_parts();
    if head.method == Method::POST {
        if !takes_json(&head.headers) {
            let said = "the answer is `application/json`, which `Accept` does not take";
            return refused(StatusCode::NOT_ACCEPTABLE, &message::invalid(None, said));
        }
        // The SDK requires both media types, whatever it answers.
        head.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
    let sends_json = head.headers.get(CONTENT_TYPE).is_some_and(is_json);
    let read = Arc::new(Mutex::new(Vec::new()));
    let body = Body::new(body.map_frame({
        let read = Arc::clone(&read);
        move |frame| {
            if let Some(data) = frame.data_ref() {
                read.lock().extend_from_slice(data);
            }
            frame
        }
    }));
    let response = served.handle(Request::from_parts(head, body)).await.into_response();
    let status = response.status();
    if status.is_success() || response.headers().get(CONTENT_TYPE).is_some_and(is_json) {
        return response;
    }
    if status == StatusCode::UNSUPPORTED_MEDIA_TYPE && sends_json {
        // The SDK read the body, but did not understand it.
        let read = read.lock();
        let notification = || message::invalid(None, "`params` are not what the notification takes");
        return refused(StatusCode::BAD_REQUEST, &message::refusal(&read).unwrap_or_else(notification));
    }
    let (head, body) = response.into_parts();
    let said = to_bytes(body, MAX_SAID).await.unwrap_or_default();
    let mut response = refused(status, &message::invalid(None, String::from_utf8_lossy(&said)));
    response.headers_mut().extend(head.headers.get(ALLOW).map(|allow| (ALLOW, allow.clone())));
    response
}

/// Returns whether a client accepts JSON, the format of all answers.
fn takes_json(headers: &HeaderMap) -> bool {
    let mut ranges = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    let takes = |range: &str| {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_refused = |part: &str| {
            let weight = part.strip_prefix("q=").or(part.strip_prefix("Q="));
            weight.is_some_and(|weight| weight.parse() == Ok(0.0))
        };
        [JSON, "application/*", "*/*"].contains(&kind.as_str()) && !parts.any(is_refused)
    };
    ranges.peek().is_none() || ranges.flat_map(|value| value.split(',')).any(takes)
}

fn is_json(kind: &HeaderValue) -> bool {
    let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case(JSON)
}

fn refused(status: StatusCode, error: &JsonRpcError) -> Response {
    (status, Json(error)).into_response()
}

/// The service at `/mcp` of the server, inside its guard, and the scopes of its requests.
pub(crate) fn mounted(app: &Shared) -> (Router, Scopes) {
    let options = &app.options;
    let server = McpServer::working(app.engine.clone(), options.mcp.clone(), app.work.clone());
    let usual = HttpOptions::default();
    let named = options.admission.hosts.iter();
    let named = named.flat_map(|host| [format!("http://{host}"), format!("https://{host}")]);
    let origins = usual.allowed_origins.iter().cloned().chain(options.admission.origins.iter().cloned());
    let http = HttpOptions {
        // The guard has already checked it.
        allowed_hosts: Vec::new(),
        allowed_origins: origins.chain(named).collect(),
        max_body_bytes: usual.max_body_bytes.min(options.limits.body_bytes),
        cancel: app.stopping.clone(),
    };
    let scope = if options.mcp.allow_write { Scope::Write } else { Scope::Read };
    let scopes = [Method::POST, Method::GET, Method::DELETE];
    let scopes = scopes.map(|method| ((method, PATH.to_owned()), scope));
    (Router::new().route_service(PATH, http_service(&server, &http)), scopes.into_iter().collect())
}
