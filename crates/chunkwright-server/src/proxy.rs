//! A reverse proxy in front of the server, which may serve it below a path: `/lamp/` of `https://example.com/lamp/`.
//!
//! A proxy forwards requests with that path, or strips it. [`Front`] strips it if it is still there, before a request
//! is routed, and stores it as the [`Prefix`] of every path in an answer. A proxy that strips the path may send it in
//! `X-Forwarded-Prefix`, and the client's address in `X-Forwarded-For`; both are believed only from trusted addresses.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request};
use axum::http::header::LOCATION;
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::middleware::Next;
use axum::response::Response;
use ipnet::IpNet;

use crate::guard::Peer;
use crate::problem::Problem;

/// What the server knows about the proxy in front of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxy {
    /// The path below which clients find the server.
    pub base_path: BasePath,
    /// The addresses of proxies whose `X-Forwarded-Prefix` and `X-Forwarded-For` are believed.
    pub trusted: Vec<TrustedProxy>,
}

/// A path below which clients find the server, such as `/lamp`; `/` by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BasePath(String);

/// An address, or a network, of proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustedProxy(IpNet);

/// Why a value about a proxy cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// A base path with invalid characters.
    #[error(
        "`{0}` is not a base path; expected `/NAME` or `/NAME/NAME`, of letters, digits, `-`, `.`, `_` and `~`"
    )]
    Path(String),
    /// A base path that begins like a path of the server.
    #[error("`{path}` cannot be a base path, because `{own}` is a path of the server; choose another name")]
    Own {
        /// The given path.
        path: String,
        /// The path of the server.
        own: &'static str,
    },
    /// An address that cannot be read.
    #[error("`{0}` is not an address of a proxy; expected an IP address or a network, such as `10.0.0.0/8`")]
    Address(String),
}

/// The first segments of the server's own paths, except those of its page.
pub(crate) const OWN_PATHS: &[&str] =
    &["/api", "/mcp", "/compat", "/health", "/ready", "/metrics", "/assets", "/.well-known"];

impl BasePath {
    /// The path without a `/` at its end; empty for none.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of a header: as in an option, but any path is allowed.
    fn parse(text: &str) -> Option<Self> {
        let path = text.trim_end_matches('/');
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_segment = |segment: &str| !matches!(segment, "" | "." | "..") && segment.bytes().all(is_plain);
        let mut segments = path.split('/');
        (segments.next() == Some("") && !text.is_empty() && segments.all(is_segment))
            .then(|| Self(path.to_owned()))
    }
}

impl FromStr for BasePath {
    type Err = ProxyError;

    fn from_str(text: &str) -> Result<Self, ProxyError> {
        let parsed = Self::parse(text).ok_or_else(|| ProxyError::Path(text.to_owned()))?;
        match OWN_PATHS.iter().find(|own| below(&parsed.0, own).is_some()) {
            Some(own) => Err(ProxyError::Own { path: text.to_owned(), own }),
            None => Ok(parsed),
        }
    }
}

impl FromStr for TrustedProxy {
    type Err = ProxyError;

    fn from_str(text: &str) -> Result<Self, ProxyError> {
        let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map(Self).map_err(|_| ProxyError::Address(text.to_owned()))
    }
}

/// The part of `path` below `base`: empty, or beginning with `/`.
pub(crate) fn below<'a>(path: &'a str, base: &str) -> Option<&'a str> {
    path.strip_prefix(base).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The prefix of the server's paths in an answer: empty at the root of a host, or if unknown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefix(Arc<str>);

impl Prefix {
    pub(crate) fn of(request: &Request) -> Self {
        request.extensions().get().cloned().unwrap_or_default()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Prefix {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get().cloned().unwrap_or_default())
    }
}

/// Receives requests before they are routed.
pub(crate) struct Front {
    base: Prefix,
    trusted: Vec<TrustedProxy>,
    /// Segments that may follow the id of a document in paths, such as `source`.
    parts: Vec<String>,
}

/// The path of documents, by collection.
const COLLECTIONS: &str = "/api/v1/collections/";
const DOCUMENTS: &str = "/documents/";

impl Front {
    /// The front of a server with these paths.
    pub(crate) fn new<'a>(proxy: &Proxy, paths: impl Iterator<Item = &'a str>) -> Self {
        let of_document = format!("{COLLECTIONS}{{collection}}{DOCUMENTS}{{doc_id}}/");
        let parts = paths.filter_map(|path| path.strip_prefix(&of_document).map(str::to_owned));
        let base = Prefix(proxy.base_path.as_str().into());
        Self { base, trusted: proxy.trusted.clone(), parts: parts.collect() }
    }

    /// Determines the client and the prefix of a request, and strips the prefix from its path.
    pub(crate) fn receive<B>(&self, request: &mut axum::http::Request<B>, peer: SocketAddr) {
        let is_trusted = self.trusts(peer.ip());
        let prefix = is_trusted.then(|| forwarded_prefix(request.headers())).flatten();
        let peer = is_trusted.then(|| self.client(request.headers())).flatten().map_or(peer, |client| {
            // The port is not forwarded.
            SocketAddr::new(client, 0)
        });
        let path = request.uri().path();
        let inner = below(path, &self.base.0).filter(|_| !self.base.0.is_empty());
        let inner = inner.map(|rest| if rest.is_empty() { "/" } else { rest });
        let whole = self.with_whole_id(inner.unwrap_or(path));
        if let Some(path) = whole.or_else(|| inner.map(str::to_owned))
            && let Some(uri) = with_path(request.uri(), &path)
        {
            *request.uri_mut() = uri;
        }
        request.extensions_mut().insert(prefix.unwrap_or_else(|| self.base.clone()));
        request.extensions_mut().insert(Peer(peer));
    }

    fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.trusted.iter().any(|TrustedProxy(network)| network.contains(&address))
    }

    /// The last address in `X-Forwarded-For` that is not a trusted proxy: a client may have written those before it.
    fn client(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let values = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let named: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
        named
            .iter()
            .rev()
            .map_while(|address| address.parse().ok())
            .find(|address: &IpAddr| !self.trusts(*address))
    }

    /// Restores the document id as one segment of the path: many proxies decode `%2F` when they strip a prefix. A
    /// document called `NAME/source` can only be reached behind proxies that do not.
    fn with_whole_id(&self, path: &str) -> Option<String> {
        let (collection, rest) = path.strip_prefix(COLLECTIONS)?.split_once('/')?;
        let rest = rest.strip_prefix(DOCUMENTS.trim_start_matches('/'))?;
        let part = rest.rsplit_once('/').filter(|(_, part)| self.parts.iter().any(|known| known == part));
        let (doc_id, part) =
            part.map_or((rest, String::new()), |(doc_id, part)| (doc_id, format!("/{part}")));
        let doc_id = doc_id.contains('/').then(|| doc_id.replace('/', "%2F"))?;
        Some(format!("{COLLECTIONS}{collection}{DOCUMENTS}{doc_id}{part}"))
    }
}

/// The path in `X-Forwarded-Prefix`: each of several proxies adds a value or a line.
fn forwarded_prefix(headers: &HeaderMap) -> Option<Prefix> {
    let mut prefix = String::new();
    for value in headers.get_all("x-forwarded-prefix") {
        for part in value.to_str().ok()?.split(',') {
            prefix.push_str(BasePath::parse(part.trim())?.as_str());
        }
    }
    (headers.contains_key("x-forwarded-prefix")).then(|| Prefix(prefix.into()))
}

/// The same address with another path.
fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(format!("{path}{query}")).ok()?);
    Uri::from_parts(parts).ok()
}

/// Adds the prefix to paths in an answer.
pub(crate) async fn links(request: Request, next: Next) -> Response {
    let prefix = Prefix::of(&request);
    let mut response = next.run(request).await;
    if prefix.as_str().is_empty() {
        return response;
    }
    if let Some(location) = response.headers().get(LOCATION).and_then(|location| location.to_str().ok())
        && location.starts_with('/')
        && let Ok(location) = HeaderValue::from_str(&format!("{}{location}", prefix.as_str()))
    {
        response.headers_mut().insert(LOCATION, location);
    }
    match response.extensions().get::<Problem>().and_then(|problem| problem.below(prefix.as_str())) {
        Some(problem) => problem.again(response),
        None => response,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_path_is_plain_and_not_one_of_the_servers_own() {
        for (text, path) in
            [("/", ""), ("/lamp", "/lamp"), ("/lamp/", "/lamp"), ("/a/b~1.x", "/a/b~1.x"), ("/apis", "/apis")]
        {
            assert_eq!(text.parse(), Ok(BasePath(path.to_owned())), "{text}");
        }
        for text in [
            "",
            "lamp",
            "//",
            "/a//b",
            "//evil.com",
            "/..",
            "/a/./b",
            "/a b",
            "/ä",
            "/a?b",
            "/a%2F",
            "/\"",
            "http://x/",
        ] {
            let is_root = text.trim_end_matches('/').is_empty() && text.starts_with('/');
            assert_eq!(text.parse::<BasePath>().is_ok(), is_root, "{text}");
        }
        for text in ["/api", "/api/", "/mcp/x", "/metrics", "/.well-known/x"] {
            assert!(matches!(text.parse::<BasePath>(), Err(ProxyError::Own { .. })), "{text}");
        }
    }

    #[test]
    fn the_client_is_the_last_address_that_no_trusted_proxy_has() {
        let trusted = ["127.0.0.1", "10.0.0.0/8", "::1"].map(|text| text.parse().expect("an address"));
        let front = Front { base: Prefix::default(), trusted: trusted.to_vec(), parts: Vec::new() };
        for (header, client) in [
            ("203.0.113.7", Some("203.0.113.7")),
            ("198.51.100.1, 203.0.113.7, 10.1.2.3", Some("203.0.113.7")),
            ("203.0.113.7, nonsense, 10.1.2.3", None),
            ("10.1.2.3", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(
                "x-forwarded-for".parse().expect("a name"),
                header.parse().expect("a value"),
            )]);
            assert_eq!(
                front.client(&headers),
                client.map(|client| client.parse().expect("an address")),
                "{header}"
            );
        }
        assert!(front.trusts("::ffff:10.9.9.9".parse().expect("an address")));
        assert!(!front.trusts("192.0.2.1".parse().expect("an address")));
    }

    #[test]
    fn an_id_that_a_proxy_decoded_is_one_segment_again() {
        let front = Front::new(
            &Proxy::default(),
            ["/api/v1/collections/{collection}/documents/{doc_id}/source"].into_iter(),
        );
        let of = |rest: &str| format!("{COLLECTIONS}{rest}");
        for (path, whole) in [
            ("c/documents/a/b.md", Some("c/documents/a%2Fb.md")),
            ("c/documents/a/b/c.md/source", Some("c/documents/a%2Fb%2Fc.md/source")),
            ("c/documents/a/b/outlines", Some("c/documents/a%2Fb%2Foutlines")),
            ("c/documents/a%2Fb.md", None),
            ("c/documents/a/source", None),
            ("c/documents", None),
            ("c/chunks/a/b", None),
            ("a/b/documents/c/d", None),
        ] {
            assert_eq!(front.with_whole_id(&of(path)), whole.map(of), "{path}");
        }
    }
}
