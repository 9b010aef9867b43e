//! The HTTP API: what an index answers to programs.
//!
//! The only crate with an async runtime, and one without policy: it translates a request into a call of the engine, runs the call on a
//! thread that may block, and translates the answer.
//!
//! ```text
//! socket --accept--> connection --guard--> router --api--> Engine --Problem or JSON--> client
//! ```

mod accept;
mod api;
mod app;
mod extract;
mod health;
pub mod mcp;
mod openapi;
mod options;
mod problem;
mod run;
mod watch;
mod work;

pub use accept::{Running, Stopped};
pub use app::Server;
pub use options::{Limits, ServerOptions};
pub use watch::Watch;
