//! Unread bodies of requests that are already answered, for example because they had no key.
//!
//! The rest of a body precedes the next request on the connection. A short rest is read and discarded; otherwise the
//! client is told that the connection ends, and gets time to read that.

use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, EXPECT, HeaderValue};
use hyper::{HeaderMap, Response};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time;

/// Maximum number of bytes that are read to keep a connection.
const MOST: u64 = 256 << 10;

/// Time limit for reading them.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time that a client which is still sending has to read that the connection ends.
const LINGER: Duration = Duration::from_secs(2);

/// The body of a request, kept with the connection after the handler has dropped its end.
#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<Left>>);

struct Left {
    body: Incoming,
    is_read: bool,
    /// Whether the client sends it only when asked to (`Expect`).
    is_awaited: bool,
}

impl Shared {
    pub(super) fn new(body: Incoming, headers: &HeaderMap) -> Self {
        let is_awaited = headers.contains_key(EXPECT);
        Self(Arc::new(Mutex::new(Left { body, is_read: false, is_awaited })))
    }

    /// Keeps the connection usable for the next request: reads the rest of the body, or announces in the answer that
    /// the connection closes. Returns whether it closes with data unread.
    pub(super) async fn settle<B>(mut self, response: &mut Response<B>) -> bool {
        let close = HeaderValue::from_static("close");
        let is_closing = response.headers().get(CONNECTION) == Some(&close);
        let (is_read, is_short) = {
            let left = self.0.lock();
            let is_short = !left.is_awaited && left.body.size_hint().lower() <= MOST;
            (left.is_read || left.body.is_end_stream(), is_short && !is_closing)
        };
        let is_read = is_read || is_short && time::timeout(PATIENCE, self.drained()).await.unwrap_or(false);
        if !is_read {
            response.headers_mut().insert(CONNECTION, close);
        }
        !is_read
    }

    /// Reads the rest; returns whether that was everything.
    async fn drained(&mut self) -> bool {
        let mut bytes = 0;
        while let Some(frame) = self.frame().await {
            let Ok(frame) = frame else { return false };
            bytes += frame.data_ref().map_or(0, Bytes::len) as u64;
            if bytes > MOST {
                return false;
            }
        }
        true
    }
}

impl Body for Shared {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let mut left = self.0.lock();
        let polled = Pin::new(&mut left.body).poll_frame(context);
        left.is_read |= matches!(polled, Poll::Ready(None));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().body.size_hint()
    }
}

/// Reads what a client still sends after the connection was ended. If the system discarded it, it would reset the
/// connection, and the client might lose the answer.
pub(super) async fn linger(stream: &mut (impl AsyncRead + Unpin)) {
    let mut bytes = vec![0; 64 << 10];
    let ended = async { while stream.read(&mut bytes).await.is_ok_and(|read| read > 0) {} };
    let _ = time::timeout(LINGER, ended).await;
}
