//! Accepts connections, and shuts the server down gracefully.
//!
//! `axum::serve` waits forever for the head of a request, takes any number of connections and never stops while one is
//! open: a handful of slow clients would keep others out and the process alive.

mod connections;
mod patient;
mod tls;
mod unread;

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::{task, time};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;

use crate::app::Server;
use crate::options::OptionsError;
use crate::proxy::Front;
use connections::{Connections, Place};
use patient::Patient;
use tls::Tls;

pub use tls::TlsError;

/// Delay before the next accept, after one failed.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

/// A server that listens but does not answer yet.
pub struct Running {
    server: Server,
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
}

/// How a server stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Every request was answered.
    Finished,
    /// Requests that took longer than the limit were ended.
    CutShort,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Options that it cannot run with.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// A certificate that cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// An address that cannot be listened on.
    #[error("`{address}` cannot be listened on: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system error.
        error: io::Error,
    },
    /// Threads that cannot be started.
    #[error("threads cannot be started: {0}")]
    Threads(io::Error),
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// Options that it cannot run with, an address that cannot be listened on.
    pub async fn listen(self) -> Result<Running, StartError> {
        let options = self.options();
        options.check()?;
        let tls = options.tls.as_ref().map(Tls::load).transpose()?.map(Arc::new);
        let address = options.listen;
        let listener =
            TcpListener::bind(address).await.map_err(|error| StartError::Listen { address, error })?;
        Ok(Running { server: self, listener, tls })
    }
}

impl Running {
    /// The address it listens on.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The address it was asked to listen on.
    pub(crate) fn server_address(&self) -> SocketAddr {
        self.server.options().listen
    }

    /// Answers until `stop` is ready. Requests that were in progress by then are still answered, as far as the time
    /// limit allows.
    ///
    /// # Errors
    ///
    /// What the system says of the address.
    pub async fn answer_until(self, stop: impl Future<Output = ()>) -> io::Result<Stopped> {
        let limits = self.server.options().limits;
        let app = Arc::clone(self.server.app());
        let connections = Connections::new(limits.connections);
        let (front, router) = self.server.router(self.listener.local_addr()?);
        let front = Arc::new(front);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout).max_buf_size(64 << 10);
        let (stopping, tasks) = (app.stopping.clone(), TaskTracker::new());
        let mut stop = pin!(stop);
        app.ready();
        loop {
            // A connection is accepted before it gets a place: idle connections are closed only for one that exists.
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok((stream, peer)) => (quick(stream), peer),
                // No descriptor is free, or the client is already gone.
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    time::sleep(AFTER_FAILURE).await;
                    continue;
                }
            };
            let place = tokio::select! {
                () = &mut stop => break,
                place = connections.place() => place,
            };
            let (http, router, stopping) = (http.clone(), router.clone(), stopping.clone());
            let front = Arc::clone(&front);
            let tls = self.tls.as_ref().map(|tls| tls.acceptor());
            let open = app.metrics.connection();
            tasks.spawn(async move {
                let _open = open;
                let connection = Connection { http, front, router, peer, place, stopping };
                let Some(tls) = tls else {
                    return connection.serve(Patient::new(stream, limits.write_timeout)).await;
                };
                match time::timeout(limits.header_timeout, tls.accept(stream)).await {
                    Ok(Ok(stream)) => connection.serve(Patient::new(stream, limits.write_timeout)).await,
                    Ok(Err(error)) => tracing::debug!(%error, "a handshake failed"),
                    Err(_) => tracing::debug!("a handshake took too long"),
                }
            });
        }
        drop(self.listener);
        stopping.cancel();
        tasks.close();
        // Jobs stop at their next step while requests are answered; both share the same timeout.
        let jobs = task::spawn_blocking(move || self.server.stop_jobs());
        let ended = async {
            tasks.wait().await;
            _ = jobs.await;
        };
        Ok(match time::timeout(limits.shutdown_timeout, ended).await {
            Ok(()) => Stopped::Finished,
            Err(_) => Stopped::CutShort,
        })
    }
}

/// An accepted connection.
struct Connection {
    http: http1::Builder,
    front: Arc<Front>,
    router: axum::Router,
    peer: SocketAddr,
    place: Place,
    stopping: CancellationToken,
}

impl Connection {
    /// Answers requests until the client or the server ends the connection.
    async fn serve(self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        let Self { http, front, router, peer, place, stopping } = self;
        let begin = place.requests();
        let is_unread = Arc::new(AtomicBool::new(false));
        let unread = Arc::clone(&is_unread);
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            front.receive(&mut request, peer);
            let (busy, mut router, unread) = (begin(), router.clone(), Arc::clone(&unread));
            async move {
                let (parts, body) = request.into_parts();
                let body = unread::Shared::new(body, &parts.headers);
                let mut answered = router.call(hyper::Request::from_parts(parts, body.clone())).await;
                if let Ok(response) = &mut answered {
                    unread.store(body.settle(response).await, Ordering::Relaxed);
                }
                // The request is in progress until its answer is sent completely.
                answered.map(|response| {
                    response.map(|body| {
                        body.map_frame(move |frame| {
                            let _ = &busy;
                            frame
                        })
                    })
                })
            }
        });
        {
            let mut connection = pin!(http.serve_connection(TokioIo::new(&mut stream), service));
            let mut is_stopping = false;
            loop {
                tokio::select! {
                    ended = connection.as_mut() => {
                        if let Err(error) = ended {
                            tracing::debug!(%error, "a connection ended early");
                        }
                        break;
                    }
                    () = stopping.cancelled(), if !is_stopping => {
                        is_stopping = true;
                        connection.as_mut().graceful_shutdown();
                    }
                    () = place.told_to_leave() => return,
                }
            }
        }
        if is_unread.load(Ordering::Relaxed) {
            tokio::select! {
                () = unread::linger(&mut stream) => {}
                () = stopping.cancelled() => {}
            }
        }
    }
}

/// Disables Nagle's algorithm, so that small answers are sent at once.
fn quick(stream: TcpStream) -> TcpStream {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "small answers wait for larger ones");
    }
    stream
}
