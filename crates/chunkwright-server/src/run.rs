//! Runs a server from a program without an async runtime.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime;
use tokio::time;

use crate::accept::{StartError, Stopped};
use crate::app::Server;

/// Interval at which the cancel flag is checked.
const LOOK: Duration = Duration::from_millis(50);

/// How long an idle thread for engine calls is kept. Each thread has its own memory, so threads that come and go make a
/// server grow.
const KEEP: Duration = Duration::from_hours(1);

/// Number of threads besides those for engine calls: they wait for jobs and files.
const OTHERS: usize = 4;

impl Server {
    /// Answers until `cancel` becomes true; `on_listening` gets the address. Blocks the calling thread.
    ///
    /// # Errors
    ///
    /// Options that it cannot run with, an address that cannot be listened on, threads that cannot be started.
    pub fn run(
        self,
        cancel: &Arc<AtomicBool>,
        on_listening: impl FnOnce(SocketAddr),
    ) -> Result<Stopped, StartError> {
        let mut builder = runtime::Builder::new_multi_thread();
        let threads = self.options().limits.calls.max(1) + OTHERS;
        let builder = builder.enable_all().thread_name("http").thread_keep_alive(KEEP);
        let builder = builder.max_blocking_threads(threads);
        let runtime = builder.build().map_err(StartError::Threads)?;
        let stop = async {
            while !cancel.load(Ordering::SeqCst) {
                time::sleep(LOOK).await;
            }
        };
        let stopped = runtime.block_on(async {
            let running = self.listen().await?;
            let address = running.server_address();
            let failed = |error| StartError::Listen { address, error };
            on_listening(running.address().map_err(failed)?);
            running.answer_until(stop).await.map_err(failed)
        });
        // Engine calls that still run end with the process; their changes are atomic.
        runtime.shutdown_background();
        stopped
    }
}
