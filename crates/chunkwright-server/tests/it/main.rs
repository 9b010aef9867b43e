//! The server over real sockets, as clients use it.
#![expect(clippy::unwrap_used, reason = "a test ends where something is not as expected")]

mod api;
mod client;
mod keys;
mod mcp;
mod operations;
mod page;
mod proxy;
mod security;
mod served;
mod slow;
mod tls;
