//! The server as its clients meet it: over sockets.
#![expect(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod client;
mod security;
mod served;
mod slow;
mod tls;
