//! The server as its clients use it.

mod mcp;
