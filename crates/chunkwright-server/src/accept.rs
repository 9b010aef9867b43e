//! How do connections come in, and how does a server stop?
//!
//! `axum::serve` waits for ever for the head of a request, takes any number of connections and never stops while one is
//! open: a handful of slow clients would keep others out and the process alive.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time;
use tower::ServiceExt;

use crate::app::Server;

/// A server that listens and does not answer yet.
pub struct Running {
    server: Server,
    listener: TcpListener,
}

/// How a server stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Every request was answered.
    Finished,
    /// Requests that took longer than the limit were ended.
    CutShort,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// An address that cannot be listened on.
    pub async fn listen(self) -> io::Result<Running> {
        let listener = TcpListener::bind(self.options().listen).await?;
        Ok(Running { server: self, listener })
    }
}

impl Running {
    /// Where it listens.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `stop` is ready. Requests that were begun by then are answered, as far as the limit of time allows.
    pub async fn answer_until(self, stop: impl Future<Output = ()>) -> Stopped {
        let limits = self.server.options().limits;
        let connections = Arc::new(Semaphore::new(limits.connections));
        let service = TowerToHyperService::new(
            self.server.router().into_service().map_request(|request: hyper::Request<Incoming>| request),
        );
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout).max_buf_size(64 << 10);
        let graceful = GracefulShutdown::new();
        tokio::pin!(stop);
        loop {
            let accepted = async {
                let permit = Arc::clone(&connections).acquire_owned().await;
                (permit, self.listener.accept().await)
            };
            let (permit, stream) = tokio::select! {
                () = &mut stop => break,
                (permit, accepted) = accepted => match accepted {
                    Ok((stream, _)) => (permit, stream),
                    // No descriptor is free, or the client is gone already.
                    Err(error) => {
                        tracing::warn!(%error, "a connection was not accepted");
                        time::sleep(limits.header_timeout.min(time::Duration::from_millis(50))).await;
                        continue;
                    }
                },
            };
            let connection = http.serve_connection(TokioIo::new(quick(stream)), service.clone());
            let connection = graceful.watch(connection);
            tokio::spawn(async move {
                let _permit = permit;
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection ended early");
                }
            });
        }
        drop(self.listener);
        match time::timeout(limits.shutdown_timeout, graceful.shutdown()).await {
            Ok(()) => Stopped::Finished,
            Err(_) => Stopped::CutShort,
        }
    }
}

/// Sends small answers at once.
fn quick(stream: TcpStream) -> TcpStream {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "small answers wait for larger ones");
    }
    stream
}
