//! The options of a server: its address, access rules and limits.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use crate::guard::keys::Keys;
use crate::mcp::McpOptions;
use crate::proxy::Proxy;

/// The options of a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address to listen on; port 0 means any free port.
    pub listen: SocketAddr,
    /// The folders in which requests may name paths. Without any, no request may name a path.
    pub roots: Vec<PathBuf>,
    /// Access rules.
    pub admission: Admission,
    /// The proxy in front of the server.
    pub proxy: Proxy,
    /// The options of MCP at `/mcp`.
    pub mcp: McpOptions,
    /// The limits of the server.
    pub limits: Limits,
    /// The certificate and its key; without them, the server speaks plain HTTP.
    pub tls: Option<TlsFiles>,
    /// Whether queries are logged in a file beside the store.
    pub log_queries: bool,
}

/// The access rules of a server.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    /// The keys of clients; if there is at least one, every client needs one.
    pub keys: Keys,
    /// Whether clients on other machines need no key, because a proxy or the network authenticates them.
    pub anonymous: bool,
    /// Names by which clients may call the server, beside those of this machine: `NAME` or `NAME:PORT`, as in `Host`.
    pub hosts: Vec<String>,
    /// Origins whose pages may call the server from a browser, beside its own, such as `https://example.com`.
    pub origins: Vec<String>,
    /// The authorization servers that are announced to MCP clients.
    pub authorization: Option<Authorization>,
}

/// The authorization metadata of a server, by RFC 9728.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    /// The address of this server as clients know it, such as `https://docs.example.com`.
    pub public_url: String,
    /// The addresses of the authorization servers.
    pub servers: Vec<String>,
}

/// The files of a certificate. They are read again when they change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate and its chain, in PEM.
    pub certificate: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
}

/// Limits on size, rate and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bytes in a request body.
    pub body_bytes: usize,
    /// Maximum number of connections. At the limit, the connection that has been idle longest is closed; if none is
    /// idle, further connections wait to be accepted.
    pub connections: usize,
    /// Maximum number of concurrent engine calls; as many again wait, and further ones are refused.
    pub calls: usize,
    /// Maximum number of requests per second of one client, identified by its key or address; `None` for no limit.
    pub rate: Option<NonZeroU32>,
    /// Timeout for the head of a request, and for an idle connection.
    pub header_timeout: Duration,
    /// Time that may be spent waiting for the body of a request, in addition to the time that it takes at `body_rate`.
    pub body_timeout: Duration,
    /// Minimum rate of a body in bytes per second, once `body_timeout` is used up.
    pub body_rate: u32,
    /// Timeout for a client that does not read a waiting answer.
    pub write_timeout: Duration,
    /// Timeout until the answer to a request begins.
    pub request_timeout: Duration,
    /// Graceful shutdown timeout.
    pub shutdown_timeout: Duration,
}

/// Why a server cannot run with its options.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// An address that other machines can reach, without authentication.
    #[error(
        "`{listen}` can be reached from other machines and there is no API key; give keys (`--keys FILE`, made by `chunkwright key`, or `CHUNKWRIGHT_API_KEY`), listen on 127.0.0.1, or, behind a proxy that asks who clients are, give `--allow-anonymous`"
    )]
    Open {
        /// The address.
        listen: SocketAddr,
    },
    /// An invalid host.
    #[error("`{host}` is not a host; expected `NAME` or `NAME:PORT`, as clients write it in an address")]
    Host {
        /// The given value.
        host: String,
    },
    /// An invalid origin.
    #[error(
        "`{origin}` is not an origin; expected a scheme and a host without a path, such as `https://example.com`"
    )]
    Origin {
        /// The given value.
        origin: String,
    },
    /// An invalid address of an authorization server or of this server.
    #[error(
        "`{url}` is not an address that clients can use; expected `https://HOST`, or `http://` on this machine"
    )]
    Url {
        /// The given value.
        url: String,
    },
}

impl Authorization {
    /// The address without a `/` at its end.
    pub(crate) fn url(&self) -> &str {
        self.public_url.trim_end_matches('/')
    }

    /// The path of the address; empty at the root of a host.
    pub(crate) fn path(&self) -> &str {
        let authority = self.url().split_once("://").map_or("", |(_, rest)| rest);
        authority.find('/').map_or("", |at| &authority[at..])
    }
}

impl Default for ServerOptions {
    fn default() -> Self {
        let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7878);
        Self {
            listen,
            roots: Vec::new(),
            admission: Admission::default(),
            proxy: Proxy::default(),
            mcp: McpOptions::default(),
            limits: Limits::default(),
            tls: None,
            log_queries: false,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 64 << 20,
            connections: 1_024,
            calls: 32,
            rate: None,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(10),
            body_rate: 16 << 10,
            write_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_mins(1),
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}

impl ServerOptions {
    /// Returns whether, as far as is known, only users of this machine can reach the server: it listens on loopback,
    /// and no anonymous access, further host, origin or proxy is configured.
    pub(crate) fn is_of_this_machine(&self) -> bool {
        let Self { listen, admission, proxy, .. } = self;
        let is_called_otherwise =
            admission.anonymous || !admission.hosts.is_empty() || !admission.origins.is_empty();
        listen.ip().is_loopback() && !is_called_otherwise && *proxy == Proxy::default()
    }

    /// Checks what can be checked before the server listens.
    ///
    /// # Errors
    ///
    /// What [`OptionsError`] lists.
    pub fn check(&self) -> Result<(), OptionsError> {
        let Admission { keys, anonymous, hosts, origins, authorization } = &self.admission;
        if !self.listen.ip().is_loopback() && keys.is_empty() && !anonymous {
            return Err(OptionsError::Open { listen: self.listen });
        }
        let is_authority = |text: &str| {
            let authority = text.parse::<axum::http::uri::Authority>();
            authority.is_ok_and(|authority| !authority.as_str().contains('@') && !authority.host().is_empty())
        };
        if let Some(host) = hosts.iter().find(|host| !is_authority(host)) {
            return Err(OptionsError::Host { host: host.clone() });
        }
        let has_scheme = |text: &str, schemes: &[&str]| {
            schemes.iter().any(|scheme| text.strip_prefix(scheme).is_some_and(is_authority))
        };
        if let Some(origin) = origins.iter().find(|origin| !has_scheme(origin, &["https://", "http://"])) {
            return Err(OptionsError::Origin { origin: origin.clone() });
        }
        if let Some(Authorization { public_url, servers }) = authorization {
            let is_url = |url: &&String| {
                let url = url.parse::<axum::http::Uri>().unwrap_or_default();
                match (url.scheme_str(), url.host()) {
                    (Some("https"), Some(_)) => true,
                    (Some("http"), Some(host)) => ["localhost", "127.0.0.1", "[::1]"].contains(&host),
                    _ => false,
                }
            };
            if let Some(url) = std::iter::once(public_url).chain(servers).find(|url| !is_url(url)) {
                return Err(OptionsError::Url { url: url.clone() });
            }
        }
        Ok(())
    }
}
