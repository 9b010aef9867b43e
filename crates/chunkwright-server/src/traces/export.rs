//! Exports spans to a collector.
//!
//! They are sent by OTLP over HTTP, from a separate thread. A span that ends is put into a queue; if the queue is full,
//! because the collector is slow or down, the span is dropped. No request waits for it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, Request, Response, Uri};
use chunkwright_engine::TRACE;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Span as _, TraceContextExt as _, Tracer as _, TracerProvider as _};
use opentelemetry::{KeyValue, time};
use opentelemetry_http::{HeaderExtractor, HttpClient, HttpError};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

/// Time to send the last spans when the process ends.
const FLUSH: Duration = Duration::from_secs(3);

/// Timeout of a collector for one batch.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of bytes read of a collector's answer.
const MOST_ANSWER: u64 = 64 << 10;

/// The path of traces, below the address of the collector.
const PATH: &str = "/v1/traces";

/// The tracer of the process, once set.
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// The destination of traces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceOptions {
    /// The address of the collector, such as `http://127.0.0.1:4318`; by default, that of the OpenTelemetry variables,
    /// which also set headers, sampling and batch sizes.
    pub endpoint: Option<String>,
    /// The service name; by default, that of the OpenTelemetry variables.
    pub service: Option<String>,
}

/// Why traces could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// An invalid address.
    #[error("`{endpoint}` is not the address of a collector; expected one such as `http://127.0.0.1:4318`")]
    Endpoint {
        /// The given address.
        endpoint: String,
    },
    /// OpenTelemetry variables that cannot be used.
    #[error("traces cannot be sent: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// Traces had already started.
    #[error("traces were begun before")]
    Twice,
}

/// Sends traces until it is dropped; dropping waits briefly for the last spans.
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Starts to send traces.
    ///
    /// # Errors
    ///
    /// An address that is none, variables that cannot be used, traces that were begun before. A collector that does not
    /// answer is no error.
    pub fn begin(options: &TraceOptions) -> Result<Self, TraceError> {
        let mut exporter = SpanExporter::builder().with_http().with_http_client(Collector::new());
        if let Some(endpoint) = &options.endpoint {
            exporter = exporter.with_endpoint(address(endpoint)?);
        }
        let mut resource =
            Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        if let Some(service) = &options.service {
            resource = resource.with_service_name(service.clone());
        }
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter.build()?)
            .with_resource(resource.build())
            .build();
        TRACER.set(provider.tracer("chunkwright")).map_err(|_| TraceError::Twice)?;
        Ok(Self { provider })
    }

    /// The `tracing` layer that makes traces of our spans.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        let layer = tracing_opentelemetry::layer().with_tracer(self.provider.tracer("chunkwright"));
        let layer = layer.with_location(false).with_threads(false).with_level(false).with_target(false);
        layer
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(|metadata| metadata.is_span() && metadata.target() == TRACE))
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown_with_timeout(FLUSH) {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traces").finish_non_exhaustive()
    }
}

/// The address to post traces to, from that of a collector.
fn address(endpoint: &str) -> Result<String, TraceError> {
    let wrong = || TraceError::Endpoint { endpoint: endpoint.to_owned() };
    let uri: Uri = endpoint.parse().map_err(|_| wrong())?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if !is_http || uri.host().is_none_or(str::is_empty) || uri.query().is_some() {
        return Err(wrong());
    }
    let base = endpoint.trim_end_matches('/');
    Ok(if base.ends_with(PATH) { base.to_owned() } else { format!("{base}{PATH}") })
}

/// Continues the trace named in the headers of a request.
pub(crate) fn continues(span: &Span, headers: &HeaderMap) {
    let context = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    if context.span().span_context().is_valid() {
        // A new span has no parent yet.
        let _ = span.set_parent(context);
    }
}

/// Adds a span that has just ended below the current one, if there is one.
pub(crate) fn ended<const N: usize>(
    name: &'static str,
    took: Duration,
    attributes: [(&'static str, String); N],
) {
    let Some(tracer) = TRACER.get() else { return };
    let parent = Span::current().context();
    if !parent.span().span_context().is_valid() {
        return;
    }
    let end = time::now();
    let attributes = attributes.map(|(name, value)| KeyValue::new(name, value));
    let builder = tracer.span_builder(name).with_start_time(end - took).with_attributes(attributes);
    builder.start_with_context(tracer, &parent).end_with_timestamp(end);
}

/// Adds an attribute to the current span, if there is one.
pub(crate) fn attribute(name: &'static str, value: impl FnOnce() -> String) {
    if TRACER.get().is_some() {
        Span::current().set_attribute(name, value());
    }
}

/// Posts to a collector, from the exporting thread, which may block.
#[derive(Debug)]
struct Collector {
    agent: ureq::Agent,
    is_down: AtomicBool,
}

impl Collector {
    fn new() -> Self {
        // Data and headers for one address must not follow a redirect to another.
        let config = ureq::Agent::config_builder().timeout_global(Some(TIMEOUT)).max_redirects(0);
        let config = config.max_redirects_will_error(false).http_status_as_error(false).build();
        Self { agent: config.into(), is_down: AtomicBool::new(false) }
    }

    fn post(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = self.agent.run(request.map(|body| body.to_vec()))?.into_parts();
        let body = body.into_with_config().limit(MOST_ANSWER).read_to_vec()?;
        Ok(Response::from_parts(head, body.into()))
    }

    /// Logs once that traces are not accepted, and once that they are again.
    fn note(&self, failure: Option<String>) {
        let was_down = self.is_down.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(error) if !was_down => {
                tracing::warn!(%error, "traces cannot be sent; they are dropped meanwhile");
            }
            None if was_down => tracing::warn!("traces are sent again"),
            _ => {}
        }
    }
}

impl HttpClient for Collector {
    fn send_bytes<'collector, 'sent>(
        &'collector self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sent>>
    where
        'collector: 'sent,
        Self: 'sent,
    {
        Box::pin(async move {
            let answer = self.post(request);
            self.note(match &answer {
                Ok(answer) if answer.status().is_success() => None,
                Ok(answer) => Some(format!("the collector answered {}", answer.status())),
                Err(error) => Some(error.to_string()),
            });
            answer
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_posted_below_the_address_of_a_collector() {
        for (endpoint, expected) in [
            ("http://127.0.0.1:4318", Some("http://127.0.0.1:4318/v1/traces")),
            ("https://otel.example.com/", Some("https://otel.example.com/v1/traces")),
            ("http://host/base", Some("http://host/base/v1/traces")),
            ("http://host/v1/traces", Some("http://host/v1/traces")),
            ("localhost:4318", None),
            ("ftp://host", None),
            ("", None),
            ("http://", None),
        ] {
            assert_eq!(address(endpoint).ok().as_deref(), expected, "{endpoint}");
        }
    }
}
