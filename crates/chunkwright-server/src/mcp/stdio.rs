//! The MCP server over stdio.
//!
//! Standard output belongs to the protocol: nothing else may write there while this serves.

mod transport;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio::runtime::Builder;

use super::McpServer;
use crate::options::Limits;
use transport::Lines;
pub(super) use transport::Place;

/// Interval at which the cancel flag is checked.
const STEP: Duration = Duration::from_millis(50);

/// Why stdio could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// Threads cannot be started.
    #[error("threads could not be started: {0}")]
    Threads(#[from] io::Error),
    /// A client that does not speak the protocol.
    #[error("the client did not begin as an MCP client does: {0}")]
    Client(Box<ServerInitializeError>),
}

/// Serves one client over standard input and output, until it closes its end or `cancel` becomes true.
///
/// # Errors
///
/// Threads that cannot be started, a client that does not speak the protocol.
pub fn serve_stdio(server: McpServer, cancel: &Arc<AtomicBool>) -> Result<(), StdioError> {
    // Requests are handled one after another; the engine's work is done on its own threads.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = serve(server) => ended,
            () = cancelled(cancel) => Ok(()),
        }
    });
    // Reading standard input cannot be interrupted on every system.
    runtime.shutdown_background();
    ended
}

async fn serve(server: McpServer) -> Result<(), StdioError> {
    let (input, output) = stdio_pipes();
    let lines = Lines::new(input, output, Limits::default().calls);
    let running = match server.serve(lines).await {
        Ok(running) => running,
        // A client may start a server only to see whether it starts.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(StdioError::Client(Box::new(error))),
    };
    // However the service ended, there is no client left to report it to.
    let _ = running.waiting().await;
    Ok(())
}

async fn cancelled(cancel: &AtomicBool) {
    while !cancel.load(Ordering::SeqCst) {
        tokio::time::sleep(STEP).await;
    }
}
