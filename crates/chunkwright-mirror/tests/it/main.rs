//! Mirrors of sites and repositories, against servers on loopback.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod list;
mod parts;
mod repository;
mod server;
mod site;
