//! The client seen from outside.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod client;
mod server;
