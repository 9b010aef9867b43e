//! How is the MCP server reached over HTTP?
//!
//! Every request is answered by itself, as JSON: there are no sessions, for older clients neither, who may do without by
//! their own specification. So nothing has to expire, and any number of clients take no memory between two requests.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::{McpServer, Profile};
use crate::app::Shared;
use crate::extract::Parameters;
use crate::guard::{Caller, Scopes};
use crate::openapi::Scope;

/// Where the server has it.
pub(crate) const PATH: &str = "/mcp";

/// How requests over HTTP are checked.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Values of `Host` that are answered, with or without a port; none for all, where another layer checks them.
    pub allowed_hosts: Vec<String>,
    /// Values of `Origin` that are answered, such as `https://app.example.com:443` or `http://localhost:*`. A request
    /// from a page at another origin is refused; a request without an origin is of no page.
    pub allowed_origins: Vec<String>,
    /// Most bytes of a request.
    pub max_body_bytes: usize,
    /// Ends every request and refuses new ones.
    pub cancel: CancellationToken,
}

impl Default for HttpOptions {
    /// As a server on loopback checks requests.
    fn default() -> Self {
        let hosts = ["localhost", "127.0.0.1", "::1"];
        // A page that this machine serves is no page of somebody else.
        let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
        Self {
            allowed_hosts: hosts.map(str::to_owned).to_vec(),
            allowed_origins: origins.map(str::to_owned).to_vec(),
            max_body_bytes: 1 << 20,
            cancel: CancellationToken::new(),
        }
    }
}

type Served = StreamableHttpService<McpServer, NeverSessionManager>;

/// Answers requests over HTTP, with the tools that `?tools=` names: `all`, which is the default, or `chatgpt`.
#[derive(Clone)]
pub struct HttpService {
    told: Profiles,
    /// For those who are not told where files of this machine are.
    discreet: Profiles,
}

/// The service with each of the tools that a request may name.
#[derive(Clone)]
struct Profiles {
    usual: Served,
    all: Served,
    chatgpt: Served,
}

impl Profiles {
    fn new(server: &McpServer, options: &HttpOptions) -> Self {
        Self {
            usual: streamable_http(server.clone(), options),
            all: streamable_http(server.with_profile(Profile::All), options),
            chatgpt: streamable_http(server.with_profile(Profile::ChatGpt), options),
        }
    }
}

impl std::fmt::Debug for HttpService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpService").finish_non_exhaustive()
    }
}

/// The service of `server`, to be mounted at a path.
pub fn http_service(server: &McpServer, options: &HttpOptions) -> HttpService {
    let discreet = Profiles::new(&server.without_places(), options);
    HttpService { told: Profiles::new(server, options), discreet }
}

/// Any handler of the protocol over HTTP, as [`http_service`] serves ours.
pub fn streamable_http<S: ServerHandler + Clone>(
    handler: S,
    options: &HttpOptions,
) -> StreamableHttpService<S, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(&options.allowed_hosts)
        .with_allowed_origins(&options.allowed_origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(options.max_body_bytes)
        .with_cancellation_token(options.cancel.clone());
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config)
}

impl Service<Request<Body>> for HttpService {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let query = request.uri().query().unwrap_or_default();
        if let Err(problem) = Parameters::one("tools").check(query) {
            return Box::pin(async move { Ok(problem.into_response()) });
        }
        // Outside a guard it is the program's own.
        let sees_places = request.extensions().get::<Caller>().is_none_or(|caller| caller.sees_places);
        let profiles = if sees_places { &self.told } else { &self.discreet };
        let served = match tools(query) {
            None => profiles.usual.clone(),
            Some("all") => profiles.all.clone(),
            Some("chatgpt") => profiles.chatgpt.clone(),
            Some(_) => {
                let refused = (StatusCode::BAD_REQUEST, "unknown `tools`; known are all, chatgpt\n");
                return Box::pin(async move { Ok(refused.into_response()) });
            }
        };
        Box::pin(async move { Ok(served.handle(request).await.into_response()) })
    }
}

/// The value of `tools` in a query.
fn tools(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("tools="))
}

/// The service at `/mcp` of the server, inside its guard, and what its requests need.
pub(crate) fn mounted(app: &Shared) -> (Router, Scopes) {
    let options = &app.options;
    let server = McpServer::working(app.engine.clone(), options.mcp.clone(), app.work.clone());
    let usual = HttpOptions::default();
    let named = options.admission.hosts.iter();
    let named = named.flat_map(|host| [format!("http://{host}"), format!("https://{host}")]);
    let origins = usual.allowed_origins.iter().cloned().chain(options.admission.origins.iter().cloned());
    let http = HttpOptions {
        // The guard has checked it.
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
