//! The binary, run as users run it.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]
#![expect(clippy::print_stdout, reason = "a sweep says how many calls it struck")]

mod chunk;
mod chunks;
mod cli;
mod config;
mod diff;
mod docs;
mod eval;
mod explain;
mod faults;
mod files;
mod hostile;
mod index;
mod mcp;
#[cfg(unix)]
mod models;
mod options;
mod outline;
mod outputs;
mod page;
mod proxy;
#[cfg(unix)]
mod read_only;
mod replicas;
mod schema;
mod search;
mod serve;
mod served;
#[path = "../../../chunkwright-remote/tests/it/servers.rs"]
mod servers;
mod services;
mod shards;
mod sources;
mod stats;
#[path = "../../../chunkwright-index/tests/it/strace.rs"]
mod strace;
#[path = "../../../chunkwright/tests/it/stride.rs"]
mod stride;
mod sweep;
mod systems;
mod tables;
mod terminal;
mod threads;
mod traced;
#[cfg(feature = "otlp")]
mod traces;
