//! How does a program without an async runtime run a server?

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime;
use tokio::time;

use crate::accept::{StartError, Stopped};
use crate::app::Server;

/// How often the server looks whether it shall stop.
const LOOK: Duration = Duration::from_millis(50);

impl Server {
    /// Answers until `cancel` becomes true; `on_listening` is told where. This thread waits meanwhile.
    ///
    /// # Errors
    ///
    /// Options that it cannot run with, an address that cannot be listened on, threads that cannot be started.
    pub fn run(
        self,
        cancel: &Arc<AtomicBool>,
        on_listening: impl FnOnce(SocketAddr),
    ) -> Result<Stopped, StartError> {
        let runtime = runtime::Builder::new_multi_thread().enable_all().thread_name("http").build();
        let runtime = runtime.map_err(StartError::Threads)?;
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
        // Calls of the engine that still run end with the process; what they change is changed whole.
        runtime.shutdown_background();
        stopped
    }
}
