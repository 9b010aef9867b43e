//! The server log.
//!
//! Lines go to standard error, as text for people or as JSON for programs that collect them. Every line about a request
//! has the id of the request. Secrets of known forms are redacted from all lines, including those of libraries.

use std::io::{self, Write};
use std::str::FromStr;

use chunkwright_engine::json_lines::escaped;
use chunkwright_engine::{TRACE, redact};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::traces::Traces;

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Why logging could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// An invalid level.
    #[error(
        "`{level}` is not a level of the log; expected `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `warn,chunkwright_server=debug`"
    )]
    Level {
        /// The given level.
        level: String,
    },
    /// Logging had already started.
    #[error("the log was begun before")]
    Twice,
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            other => Err(format!("unknown format `{other}`; known are `text`, `json`")),
        }
    }
}

/// Starts to log everything at least as important as `level`, which may be a filter by module, and to make traces if
/// they are exported.
///
/// # Errors
///
/// A level that is none, a log that was begun before.
pub fn begin_log(format: LogFormat, level: &str, traces: Option<&Traces>) -> Result<(), LogError> {
    let wrong = |_| LogError::Level { level: level.to_owned() };
    let filter = EnvFilter::builder().parse(level).map_err(wrong)?;
    let filter = filter.and(filter_fn(|metadata| metadata.target() != TRACE));
    let log = tracing_subscriber::fmt::layer().with_writer(Redacted).with_target(false);
    let log = match format {
        LogFormat::Text => log.with_ansi(false).boxed(),
        LogFormat::Json => log.json().flatten_event(true).with_span_list(false).boxed(),
    };
    let subscriber = tracing_subscriber::registry().with(log.with_filter(filter));
    subscriber.with(traces.map(Traces::layer)).try_init().map_err(|_| LogError::Twice)
}

/// Standard error, with secrets redacted.
struct Redacted;

impl<'a> MakeWriter<'a> for Redacted {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Self
    }
}

impl Write for Redacted {
    /// Writes a whole line, since the log passes whole lines.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut out = io::stderr().lock();
        let redacted = str::from_utf8(line).ok().and_then(redact);
        out.write_all(&escaped(redacted.map_or_else(|| line.to_vec(), String::into_bytes)))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
