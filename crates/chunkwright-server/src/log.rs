//! What does the log of a server look like?
//!
//! Lines go to standard error, as text for people or as JSON for programs that collect them. Every line about a request has the
//! id of the request. Whatever a library puts into a line, secrets of known forms do not leave the process by it.

use std::io::{self, Write};
use std::str::FromStr;

use chunkwright_engine::redact;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// How lines of the log are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One object a line.
    Json,
}

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// A level that is none.
    #[error(
        "`{level}` is not a level of the log; expected `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `warn,chunkwright_server=debug`"
    )]
    Level {
        /// What was given.
        level: String,
    },
    /// A log that was begun before.
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

/// Begins to log what is at least as important as `level`, which may be a filter by module.
///
/// # Errors
///
/// A level that is none, a log that was begun before.
pub fn begin_log(format: LogFormat, level: &str) -> Result<(), LogError> {
    let wrong = |_| LogError::Level { level: level.to_owned() };
    let filter = EnvFilter::builder().parse(level).map_err(wrong)?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(Redacted).with_target(false);
    let begun = match format {
        LogFormat::Text => log.with_ansi(false).try_init(),
        LogFormat::Json => log.json().flatten_event(true).with_span_list(false).try_init(),
    };
    begun.map_err(|_| LogError::Twice)
}

/// Standard error, without secrets.
struct Redacted;

impl<'a> MakeWriter<'a> for Redacted {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Self
    }
}

impl Write for Redacted {
    /// Takes a whole line, as the log hands them over.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut out = io::stderr().lock();
        match str::from_utf8(line).ok().and_then(redact) {
            Some(redacted) => out.write_all(redacted.as_bytes())?,
            None => out.write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
