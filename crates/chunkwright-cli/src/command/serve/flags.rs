//! Flags of `chunkwright serve`: access rules, limits, log.

use std::env;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(not(feature = "otlp"))]
use anyhow::ensure;
use anyhow::{Context, Result};
use chunkwright_engine::settings::{API_KEY, LOG_LEVEL};
use chunkwright_server::{
    Admission, Authorization, BasePath, Key, Keys, Limits, LogFormat, Proxy, Scope, TlsFiles, Traces, TrustedProxy,
    begin_log,
};
#[cfg(feature = "otlp")]
use chunkwright_server::TraceOptions;

/// The OpenTelemetry variables that set the destination of traces.
#[cfg(feature = "otlp")]
const OTLP_ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Default limit of requests per second of one client on another machine.
const USUAL_RATE: u32 = 100;

/// Whom it answers.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Clients")]
pub(super) struct AdmissionFlags {
    /// File of the API keys of clients, as `chunkwright key` makes it, read again when it changes; a key with every scope may
    /// also be in the variable CHUNKWRIGHT_API_KEY. With a key, every client needs one
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Answer other machines without a key, behind a proxy that asks who clients are or in a network of friends
    #[arg(long)]
    allow_anonymous: bool,
    /// Name that clients call the server by, beside those of this machine: NAME or NAME:PORT; may be given several times
    #[arg(long, value_name = "NAME")]
    allowed_host: Vec<String>,
    /// Origin whose pages may call the server from a browser, such as https://example.com; may be given several times
    #[arg(long, value_name = "ORIGIN")]
    allowed_origin: Vec<String>,
    /// Certificate and its chain, in PEM, to serve TLS; read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Address of the server as clients know it, for the OAuth metadata of MCP
    #[arg(long, value_name = "URL", requires = "authorization_server")]
    public_url: Option<String>,
    /// OAuth server that MCP clients are sent to; a proxy has to check its tokens. May be given several times
    #[arg(long, value_name = "URL", requires = "public_url")]
    authorization_server: Vec<String>,
}

/// What stands before it.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Behind a proxy")]
pub(super) struct ProxyFlags {
    /// Path below which clients find the server, such as /lamp; the proxy may pass it on or take it off
    #[arg(long, value_name = "PATH", default_value = "/", hide_default_value = true)]
    base_path: BasePath,
    /// Address or network of a proxy whose X-Forwarded-Prefix and X-Forwarded-For are believed; may be given several times
    #[arg(long, value_name = "ADDRESS")]
    trusted_proxy: Vec<TrustedProxy>,
}

/// How much it takes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitFlags {
    /// Most requests a second of one client, by its key or address; 0 for no limit. By default 100 where other machines can
    /// reach the server, else none
    #[arg(long, value_name = "N")]
    rate_limit: Option<u32>,
    /// Most bytes of the body of a request
    #[arg(long, value_name = "BYTES")]
    max_body: Option<usize>,
    /// Most connections; idle ones make room for new ones
    #[arg(long, value_name = "N")]
    max_connections: Option<usize>,
    /// Most requests that are worked on at once; as many again wait, and further ones are answered with 503
    #[arg(long, value_name = "N")]
    max_calls: Option<usize>,
    /// Seconds until a request has to be answered, streams aside
    #[arg(long, value_name = "SECONDS")]
    request_timeout: Option<u32>,
    /// Seconds that requests have to end when the server stops
    #[arg(long, value_name = "SECONDS")]
    shutdown_timeout: Option<u32>,
}

/// What it logs.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Log")]
pub(super) struct LogFlags {
    /// How lines of the log are written, on standard error: `text` or `json`
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log: LogFormat,
    /// What is logged: `error`, `warn`, `info` (a line for each request), `debug`, or a filter by module; also in the variable
    /// CHUNKWRIGHT_LOG_LEVEL. By default `warn` as text and `info` as JSON
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// Send traces to the OpenTelemetry collector at this address, by OTLP over HTTP, such as http://127.0.0.1:4318; also in
    /// the variable OTEL_EXPORTER_OTLP_ENDPOINT
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
}

impl AdmissionFlags {
    /// Reads the flags, the files that they name, and the variable; also returns warnings.
    pub(super) fn read(&self) -> Result<(Admission, Vec<String>)> {
        let mut warnings = Vec::new();
        let mut keys = Keys::default();
        if let Some(path) = &self.keys {
            let (of_file, warning) = Keys::open(path)?;
            keys = of_file;
            warnings.extend(warning);
        }
        if let Ok(secret) = env::var(API_KEY) {
            keys.add(Key::new("environment", Scope::Admin, secret.trim()).with_context(|| format!("`{API_KEY}`"))?)?;
        }
        let authorization = self.public_url.as_ref().map(|public_url| Authorization {
            public_url: public_url.clone(),
            servers: self.authorization_server.clone(),
        });
        let admission = Admission {
            keys,
            anonymous: self.allow_anonymous,
            hosts: self.allowed_host.clone(),
            origins: self.allowed_origin.clone(),
            authorization,
        };
        Ok((admission, warnings))
    }

    pub(super) fn tls(&self) -> Option<TlsFiles> {
        let (certificate, key) = (self.tls_cert.clone()?, self.tls_key.clone()?);
        Some(TlsFiles { certificate, key })
    }
}

impl ProxyFlags {
    pub(super) fn read(&self) -> Proxy {
        Proxy { base_path: self.base_path.clone(), trusted: self.trusted_proxy.clone() }
    }
}

impl LimitFlags {
    /// The limits of a server on this address.
    pub(super) fn read(&self, listen: SocketAddr) -> Limits {
        let usual = Limits::default();
        let usual_rate = if listen.ip().is_loopback() { 0 } else { USUAL_RATE };
        let seconds = |given: Option<u32>, usual| given.map_or(usual, |given| Duration::from_secs(given.into()));
        Limits {
            rate: NonZeroU32::new(self.rate_limit.unwrap_or(usual_rate)),
            body_bytes: self.max_body.unwrap_or(usual.body_bytes),
            connections: self.max_connections.unwrap_or(usual.connections),
            calls: self.max_calls.unwrap_or(usual.calls),
            request_timeout: seconds(self.request_timeout, usual.request_timeout),
            shutdown_timeout: seconds(self.shutdown_timeout, usual.shutdown_timeout),
            ..usual
        }
    }
}

impl LogFlags {
    /// Starts to log, and to send traces if requested, until the returned value is dropped.
    pub(super) fn begin(&self) -> Result<Option<Traces>> {
        let traces = self.traces()?;
        let usual = if self.log == LogFormat::Json { "info" } else { "warn" };
        let level = self.log_level.clone().or_else(|| env::var(LOG_LEVEL).ok());
        begin_log(self.log, level.as_deref().unwrap_or(usual), traces.as_ref())?;
        Ok(traces)
    }

    #[cfg(feature = "otlp")]
    fn traces(&self) -> Result<Option<Traces>> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
        let is_named = OTLP_ENDPOINTS.iter().any(|name| variable(name).is_some()) && !is_off;
        if self.otlp.is_none() && !is_named {
            return Ok(None);
        }
        let service = variable("OTEL_SERVICE_NAME").is_none().then(|| "chunkwright".to_owned());
        Ok(Some(Traces::begin(&TraceOptions { endpoint: self.otlp.clone(), service })?))
    }

    #[cfg(not(feature = "otlp"))]
    fn traces(&self) -> Result<Option<Traces>> {
        ensure!(self.otlp.is_none(), "this program was built without traces; build it with `--features otlp`");
        Ok(None)
    }
}
