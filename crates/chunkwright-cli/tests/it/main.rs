//! The binary, run as a user runs it.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod chunk;
mod cli;
mod config;
mod diff;
mod eval;
mod explain;
mod index;
mod outline;
mod page;
mod services;
mod stats;
