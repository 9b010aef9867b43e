//! The HTTP API and the MCP server.
