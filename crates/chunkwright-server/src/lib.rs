//! An HTTP server for an index: its API, its web page, and MCP.
//!
//! This is the only crate with an async runtime, and it has no policy: it translates a request into a call of the
//! engine, runs the call on a thread that may block, and translates the answer.
//!
//! ```text
//! socket --accept--> connection --guard--> router --api--> Engine --Problem or JSON--> client
//! ```

mod accept;
pub mod agents;
mod answer;
mod api;
mod app;
mod compat;
mod docs;
mod extract;
mod files;
mod guard;
mod health;
mod log;
pub mod mcp;
mod metrics;
mod observe;
mod openapi;
mod options;
mod page;
mod problem;
mod proxy;
mod room;
mod run;
mod traces;
mod watch;
mod work;

pub use accept::{Running, StartError, Stopped, TlsError};
pub use app::Server;
pub use files::{FileError, append_line, readable_by_us_alone};
pub use guard::keys::{Key, KeyError, KeyFileError, Keys, Scope, ScopeError};
pub use log::{LogError, LogFormat, begin_log};
pub use options::{Admission, Authorization, Limits, OptionsError, ServerOptions, TlsFiles};
pub use proxy::{BasePath, Proxy, ProxyError, TrustedProxy};
pub use traces::Traces;
#[cfg(feature = "otlp")]
pub use traces::{TraceError, TraceOptions};
pub use watch::Watch;
