//! Limits the size of a request body, and the time spent waiting for it.
//!
//! A client that sends a byte every few seconds never exceeds a time limit between two bytes. Therefore waiting has a
//! budget: some seconds, plus the time that the received bytes take at the least acceptable rate. The time that the
//! server takes is not counted.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_LENGTH;
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Body as _, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use super::refusal::Refusal;
use super::{Guard, encoding, refuse};
use crate::options::Limits;

const FINE: u8 = 0;
const TOO_LARGE: u8 = 1;
const SLOW: u8 = 2;

/// Limits the size and the duration of a body. If a body is cut off, the client gets the reason, whatever the handler
/// answers.
pub(crate) async fn watch(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let limits = guard.app().options.limits;
    let too_large = Refusal::TooLarge { most: limits.body_bytes };
    let length =
        request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limits.body_bytes as u64) {
        return refuse(&guard, &too_large);
    }
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    if let Some(name) = encoding::of(request.headers()) {
        return refuse(&guard, &Refusal::Encoding { name });
    }
    let fault = Arc::new(AtomicU8::new(FINE));
    let request = request.map(|body| Body::new(Watched::new(body, &limits, Arc::clone(&fault))));
    let response = next.run(request).await;
    match fault.load(Ordering::Relaxed) {
        TOO_LARGE => refuse(&guard, &too_large),
        SLOW => refuse(&guard, &Refusal::SlowBody),
        _ => response,
    }
}

/// Why a body was cut off.
#[derive(Debug, thiserror::Error)]
enum BodyError {
    #[error("the body is larger than the limit")]
    TooLarge,
    #[error("the body did not come in time")]
    Slow,
    #[error(transparent)]
    Inner(#[from] axum::Error),
}

/// A body with limits.
struct Watched {
    inner: Body,
    left: usize,
    rate: u32,
    /// The remaining time that may be spent waiting for it.
    patience: Duration,
    /// When the current wait began, and when it times out.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
    fault: Arc<AtomicU8>,
}

impl Watched {
    fn new(inner: Body, limits: &Limits, fault: Arc<AtomicU8>) -> Self {
        let (left, rate, patience) = (limits.body_bytes, limits.body_rate.max(1), limits.body_timeout);
        Self { inner, left, rate, patience, waiting: None, fault }
    }
}

impl hyper::body::Body for Watched {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(context) else {
            let patience = this.patience;
            let (_, until) = this.waiting.get_or_insert_with(|| (Instant::now(), Box::pin(sleep(patience))));
            ready!(until.as_mut().poll(context));
            this.fault.store(SLOW, Ordering::Relaxed);
            return Poll::Ready(Some(Err(BodyError::Slow)));
        };
        if let Some((since, _)) = this.waiting.take() {
            this.patience = this.patience.saturating_sub(since.elapsed());
        }
        let Some(frame) = frame else { return Poll::Ready(None) };
        let frame = frame?;
        let length = frame.data_ref().map_or(0, Bytes::len);
        let Some(left) = this.left.checked_sub(length) else {
            this.fault.store(TOO_LARGE, Ordering::Relaxed);
            return Poll::Ready(Some(Err(BodyError::TooLarge)));
        };
        this.left = left;
        this.patience += Duration::from_secs_f64(length as f64 / f64::from(this.rate));
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
