//! The guard: checks who sends a request, and limits how much a client may send.
//!
//! Every request passes the same layers, whichever service answers it, so that a new service is guarded before it has
//! its first handler. From the outside in:
//!
//! ```text
//! observe (id, metrics, log) > headers > panic > Host, Origin > CORS > compression > key, scope, rate > time > body > service
//! ```
//!
//! * A page of another site must not drive a server on this machine. `Host` must be a known name (a name that an
//!   attacker points at 127.0.0.1 is not), and `Origin`, if a browser sends one, must be that of the server or a listed
//!   one.
//! * The key is checked before any of the body is read.
//! * Time limits count only the time that the client makes the server wait, never the time that the server takes.

pub(crate) mod body;
pub(crate) mod encoding;
pub(crate) mod headers;
pub(crate) mod hosts;
pub(crate) mod keys;
pub(crate) mod rate;
pub(crate) mod refusal;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts, MatchedPath, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use schemars::SchemaGenerator;
use serde_json::{Map, Value};
use tokio::{task_local, time};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::app::Shared;
use crate::compat;
use crate::observe::observe;
use crate::openapi::{Input, Scope};
use crate::page;
use crate::problem::Problem;
use crate::proxy;
use hosts::Hosts;
use rate::{Client, Rate};
use refusal::Refusal;

/// The address of the client's end of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The caller of a request, stored as an extension of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The name of its key; `None` without keys.
    pub(crate) name: Option<Arc<str>>,
    /// Its scope.
    pub(crate) scope: Scope,
    /// Whether it may know where files are on this machine.
    pub(crate) sees_places: bool,
}

impl Caller {
    /// Fails unless the caller has the scope `needs`. For operations that need it only sometimes.
    pub(crate) fn check(&self, needs: Scope) -> Result<(), Problem> {
        if self.scope < needs { Err(Refusal::Scope { needs, has: self.scope }.problem()) } else { Ok(()) }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get().cloned().ok_or_else(Problem::internal)
    }
}

impl Input for Caller {
    fn describe(_: &mut Map<String, Value>, _: &mut SchemaGenerator) {}
}

task_local! {
    /// The caller of the request that a task answers.
    static CALLER: Caller;
}

/// Returns whether the caller of the current request may know where files are on this machine.
pub(crate) fn sees_places() -> bool {
    CALLER.try_with(|caller| caller.sees_places).unwrap_or_default()
}

/// The scope that each operation needs, by method and route.
pub(crate) type Scopes = HashMap<(Method, String), Scope>;

/// State shared by the layers.
pub(crate) struct Guard {
    app: Shared,
    hosts: Hosts,
    rate: Option<Rate>,
    scopes: Scopes,
}

impl Guard {
    /// Creates the guard of a server that listens on `address`.
    pub(crate) fn new(app: &Shared, address: SocketAddr, scopes: Scopes) -> Self {
        let options = &app.options;
        let hosts = Hosts::new(address, options.tls.is_some(), &options.admission);
        Self { app: Arc::clone(app), hosts, rate: options.limits.rate.map(Rate::new), scopes }
    }

    /// Wraps the layers around the routes: `private` ones need a key if there are any keys, `public` ones never do.
    pub(crate) fn around(self, private: Router, public: Router) -> Router {
        let cors = self.cors();
        let guard = Arc::new(self);
        let private =
            private.layer(from_fn_with_state(Arc::clone(&guard), admit)).layer(from_fn(page::visits));
        let router = private
            .merge(public)
            .layer(from_fn(proxy::links))
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn_with_state(Arc::clone(&guard), body::watch))
            .layer(from_fn_with_state(Arc::clone(&guard), in_time));
        let router = compat::translate_failures(router);
        let compressed = DefaultPredicate::new().and(NotForContentType::new("application/octet-stream"));
        let router = router.layer(CompressionLayer::new().gzip(true).compress_when(compressed));
        let router = router.layer(from_fn(encoding::tag));
        let router = match cors {
            Some(cors) => router.layer(cors),
            None => router,
        };
        router
            .layer(from_fn_with_state(Arc::clone(&guard), from_here))
            .layer(CatchPanicLayer::custom(answer_panic))
            .layer(map_response(headers::add))
            .layer(from_fn_with_state(Arc::clone(&guard.app), observe))
    }

    /// CORS headers for the allowed origins; `None` if there are none.
    fn cors(&self) -> Option<CorsLayer> {
        let origins = &self.app.options.admission.origins;
        let origins: Vec<HeaderValue> = origins.iter().filter_map(|origin| origin.parse().ok()).collect();
        let headers =
            ["accept", "authorization", "content-type", "if-match", "if-none-match", "last-event-id"];
        let of_mcp = ["mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "x-request-id"];
        let exposed =
            ["etag", "link", "location", "mcp-session-id", "retry-after", "www-authenticate", "x-request-id"];
        let cors = || {
            CorsLayer::new()
                .allow_origin(AllowOrigin::list(origins.clone()))
                .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
                .allow_headers(
                    headers
                        .iter()
                        .chain(&of_mcp)
                        .map(|name| HeaderName::from_static(name))
                        .collect::<Vec<_>>(),
                )
                .expose_headers(exposed.map(HeaderName::from_static))
        };
        (!origins.is_empty()).then(cors)
    }

    /// The scope that a request needs: that of its operation, or else `read` for reads and `admin` for the rest.
    fn needs(&self, method: &Method, path: Option<&MatchedPath>) -> Scope {
        let method = if method == Method::HEAD { Method::GET } else { method.clone() };
        let stated = path.and_then(|path| self.scopes.get(&(method.clone(), path.as_str().to_owned())));
        match stated {
            Some(scope) => *scope,
            // There is no such route, and nothing happens.
            None if path.is_none() || method == Method::GET => Scope::Read,
            None => Scope::Admin,
        }
    }

    /// The caller of a request with these headers.
    fn caller(&self, headers: &HeaderMap) -> Result<Caller, Refusal> {
        let keys = &self.app.options.admission.keys;
        if keys.is_empty() {
            return Ok(Caller {
                name: None,
                scope: Scope::Admin,
                sees_places: self.app.options.is_of_this_machine(),
            });
        }
        let given = headers.get(AUTHORIZATION).ok_or(Refusal::NoKey)?;
        let (scheme, key) =
            given.to_str().ok().and_then(|given| given.split_once(' ')).ok_or(Refusal::WrongKey)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(Refusal::WrongKey);
        }
        let key = keys.find(key.trim()).ok_or(Refusal::WrongKey)?;
        if let Some(at) = key.expires.filter(|at| *at <= Timestamp::now()) {
            return Err(Refusal::ExpiredKey { at });
        }
        Ok(Caller {
            name: Some(Arc::clone(&key.name)),
            scope: key.scope,
            sees_places: key.scope == Scope::Admin,
        })
    }
}

/// The address that a request comes from.
pub(crate) fn peer(request: &Request) -> IpAddr {
    request.extensions().get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip())
}

/// Passes requests that name this server and do not come from a page of another site.
async fn from_here(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.hosts.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refuse(&guard, &refusal),
    }
}

/// Passes requests that their key allows, within the rate limit.
async fn admit(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    let caller = guard.caller(request.headers());
    let path = request.uri().path().to_owned();
    let refuse = |refusal: &Refusal| refuse_at(&guard, refusal, &path);
    if let Some(rate) = &guard.rate {
        let client = match &caller {
            Ok(Caller { name: Some(name), .. }) => Client::Key(Arc::clone(name)),
            _ => Client::address(peer(&request)),
        };
        if let Err(refusal) = rate.check(&client) {
            return refuse(&refusal);
        }
    }
    let caller = match caller {
        Ok(caller) => caller,
        Err(refusal) => return refuse(&refusal),
    };
    let needs = guard.needs(request.method(), request.extensions().get::<MatchedPath>());
    if caller.scope < needs {
        return refuse(&Refusal::Scope { needs, has: caller.scope });
    }
    if needs > Scope::Read
        && !request.method().is_safe()
        && let Err(error) = guard.app.engine.check_writable()
    {
        return Problem::from(error).into_response();
    }
    if let Some(name) = &caller.name {
        tracing::Span::current().record("key", &**name);
    }
    request.extensions_mut().insert(caller.clone());
    let sees_places = caller.sees_places;
    let response = CALLER.scope(caller, next.run(request)).await;
    let hidden = response.extensions().get::<Problem>().filter(|_| !sees_places);
    match hidden.and_then(Problem::without_places) {
        Some(problem) => problem.again(response),
        None => response,
    }
}

/// Limits the time until the answer begins. A stream that has begun continues.
async fn in_time(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match time::timeout(guard.app.options.limits.request_timeout, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::timeout().into_response(),
    }
}

/// The answer to a refused request, which is counted by its reason.
pub(crate) fn refuse(guard: &Guard, refusal: &Refusal) -> Response {
    refuse_at(guard, refusal, "")
}

fn refuse_at(guard: &Guard, refusal: &Refusal, path: &str) -> Response {
    guard.app.metrics.refused(refusal.reason());
    refusal.answer(guard.app.options.admission.authorization.as_ref(), path)
}

impl Guard {
    pub(crate) fn app(&self) -> &Shared {
        &self.app
    }
}

/// The answer of a handler that panicked. The panic message is in the log, not in the answer.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands it over")]
fn answer_panic(panic: Box<dyn std::any::Any + Send>) -> Response {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    tracing::error!(panic = said, "a handler panicked");
    Problem::internal().into_response()
}
