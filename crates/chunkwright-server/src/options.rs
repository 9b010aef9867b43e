//! The options of a server: its address, access rules and limits.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use crate::guard::keys::Keys;
use crate::mcp::McpOptions;
use crate::proxy::Proxy;

/// How a server runs.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Where it listens; with port 0 on one that is free.
    pub listen: SocketAddr,
    /// The folders that requests may name paths in. Without any, no request may name a path.
    pub roots: Vec<PathBuf>,
    /// Whom it answers.
    pub admission: Admission,
    /// What is known of a proxy before it.
    pub proxy: Proxy,
    /// What it offers to agents at `/mcp`.
    pub mcp: McpOptions,
    /// How much it takes at once.
    pub limits: Limits,
    /// The certificate and its key; without them it speaks plain HTTP.
    pub tls: Option<TlsFiles>,
    /// Whether queries are kept in a file beside the store.
    pub log_queries: bool,
}

/// Whom a server answers.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    /// The keys of clients; with at least one, every client needs one.
    pub keys: Keys,
    /// Whether clients of other machines need no key, because a proxy or the network asks who they are.
    pub anonymous: bool,
    /// What clients may call it by beside the names of this machine: `NAME` or `NAME:PORT`, as in the header `Host`.
    pub hosts: Vec<String>,
    /// Whose pages may call it from a browser beside its own: origins, such as `https://example.com`.
    pub origins: Vec<String>,
    /// Who issues tokens for it, as clients of MCP are told.
    pub authorization: Option<Authorization>,
}

/// Who issues tokens for a server, as RFC 9728 has it.
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
    /// The certificate and those that it hangs by, PEM.
    pub certificate: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
}

/// How much a server takes at once, and how long it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of the body of a request.
    pub body_bytes: usize,
    /// Most connections. Where there are more, the one that has been idle longest is closed; where none is idle, further
    /// ones wait to be accepted.
    pub connections: usize,
    /// Most calls of the engine that are worked on at once; as many again wait, and further ones are refused.
    pub calls: usize,
    /// Most requests a second of one client, known by its key or else its address; none for no limit.
    pub rate: Option<NonZeroU32>,
    /// How long a client may take for the head of a request, and how long a connection may be idle.
    pub header_timeout: Duration,
    /// How long the body of a request may be waited for, beside the time that it takes at `body_rate`.
    pub body_timeout: Duration,
    /// Bytes a second that a body has to come by at least, once `body_timeout` is spent.
    pub body_rate: u32,
    /// How long a client may read nothing of an answer that waits for it.
    pub write_timeout: Duration,
    /// How long a request may take until its answer begins.
    pub request_timeout: Duration,
    /// How long requests may go on once the server was told to stop.
    pub shutdown_timeout: Duration,
}

/// Why a server cannot run with its options.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// An address of other machines, and nobody is asked who they are.
    #[error(
        "`{listen}` can be reached from other machines and there is no API key; give keys (`--keys FILE`, made by `chunkwright key`, or `CHUNKWRIGHT_API_KEY`), listen on 127.0.0.1, or, behind a proxy that asks who clients are, give `--allow-anonymous`"
    )]
    Open {
        /// The address.
        listen: SocketAddr,
    },
    /// A host that is none.
    #[error("`{host}` is not a host; expected `NAME` or `NAME:PORT`, as clients write it in an address")]
    Host {
        /// What was given.
        host: String,
    },
    /// An origin that is none.
    #[error(
        "`{origin}` is not an origin; expected a scheme and a host without a path, such as `https://example.com`"
    )]
    Origin {
        /// What was given.
        origin: String,
    },
    /// An address of an authorization server or of this one that is none.
    #[error(
        "`{url}` is not an address that clients can use; expected `https://HOST`, or `http://` on this machine"
    )]
    Url {
        /// What was given.
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
    /// Whether only users of this machine can call it, as far as is known: nothing is before it that others could come through.
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
