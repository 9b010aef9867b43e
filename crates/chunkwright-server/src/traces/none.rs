//! Stubs for a program that was built without traces.

use std::time::Duration;

use axum::http::HeaderMap;
use tracing::{Span, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Identity;

/// The type of traces, of which there are no values.
#[derive(Debug)]
pub enum Traces {}

impl Traces {
    #[expect(clippy::unused_self, reason = "as where there are traces")]
    pub(crate) fn layer<S: Subscriber>(&self) -> impl Layer<S> + use<S> {
        Identity::new()
    }
}

pub(crate) fn continues(_: &Span, _: &HeaderMap) {}

pub(crate) fn ended<const N: usize>(_: &'static str, _: Duration, _: [(&'static str, String); N]) {}

pub(crate) fn attribute(_: &'static str, _: impl FnOnce() -> String) {}
