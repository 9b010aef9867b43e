//! How does a server run: where it listens, whom it answers, and how much it takes at once?

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// How a server runs.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Where it listens; with port 0 on one that is free.
    pub listen: SocketAddr,
    /// The folders that requests may name paths in. Without any, no request may name a path.
    pub roots: Vec<PathBuf>,
    /// How much it takes at once.
    pub limits: Limits,
}

/// How much a server takes at once, and how long it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of the body of a request.
    pub body_bytes: usize,
    /// Most connections; further ones wait to be accepted.
    pub connections: usize,
    /// Most calls of the engine that are worked on at once; as many again wait, and further ones are refused.
    pub calls: usize,
    /// How long a client may take for the head of a request.
    pub header_timeout: Duration,
    /// How long a request may take, but for streams.
    pub request_timeout: Duration,
    /// How long requests may go on once the server was told to stop.
    pub shutdown_timeout: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7878);
        Self { listen, roots: Vec::new(), limits: Limits::default() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 64 << 20,
            connections: 1_024,
            calls: 64,
            header_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(60),
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}
