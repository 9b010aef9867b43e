//! Where results go, and in which format.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use chunkwright_index::durable;
use clap::{Args, ValueEnum};
use serde::Serialize;
use tempfile::NamedTempFile;

/// Flags of every command that has results.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    /// Format of the results; by default `text` on a terminal, `jsonl` when piped or in a file
    #[arg(short, long)]
    format: Option<Format>,
    /// Write the results to this file instead of standard output; it appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object a line
    Jsonl,
    /// One JSON document
    Json,
    /// For people
    Text,
}

/// An open destination of results.
pub(crate) struct Output {
    format: Format,
    sink: Sink,
    /// Whether an object was written to the JSON array.
    begun: bool,
}

enum Sink {
    Stdout(Box<dyn Write>),
    /// Written beside its destination, then renamed.
    File(BufWriter<NamedTempFile>, PathBuf),
    /// A device or pipe: renaming would replace it.
    Device(BufWriter<File>),
}

impl OutputFlags {
    /// Flags that say this.
    pub(crate) fn new(format: Option<Format>, output: Option<PathBuf>) -> Self {
        Self { format, output }
    }

    /// Opens the destination.
    pub(crate) fn open(&self) -> Result<Output> {
        let to_terminal = self.output.is_none() && io::stdout().is_terminal();
        let format = self.format.unwrap_or(if to_terminal { Format::Text } else { Format::Jsonl });
        let sink = match &self.output {
            None if format == Format::Text => {
                Sink::Stdout(Box::new(BufWriter::new(anstream::stdout().lock())))
            }
            None => Sink::Stdout(Box::new(BufWriter::with_capacity(1 << 16, io::stdout().lock()))),
            Some(path) => open_file(path).map_err(|error| {
                let (path, kind) = (path.display(), error.kind());
                anyhow!("`{path}` could not be written ({kind}); name a file in a folder you can write to")
            })?,
        };
        Ok(Output { format, sink, begun: false })
    }
}

fn open_file(path: &Path) -> io::Result<Sink> {
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Ok(Sink::Device(BufWriter::new(File::create(path)?)));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".chunkwright-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    Ok(Sink::File(BufWriter::with_capacity(1 << 16, builder.tempfile_in(folder)?), path.to_owned()))
}

impl Output {
    /// Whether results are for people.
    pub(crate) fn is_text(&self) -> bool {
        self.format == Format::Text
    }

    /// Whether results appear on a terminal as they come.
    pub(crate) fn is_on_terminal(&self) -> bool {
        matches!(self.sink, Sink::Stdout(_)) && io::stdout().is_terminal()
    }

    /// The format of the results.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Writes one of the results.
    pub(crate) fn object(&mut self, object: &impl Serialize) -> Result<()> {
        self.lines(&json_line(object)?)
    }

    /// Writes results that are serialised already, one a line.
    pub(crate) fn lines(&mut self, lines: &[u8]) -> Result<()> {
        if self.format != Format::Json {
            return self.bytes(lines);
        }
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            self.bytes(if self.begun { b"," } else { b"[\n" })?;
            self.begun = true;
            self.bytes(line)?;
        }
        Ok(())
    }

    /// Writes the only result: one line, or a document on several.
    pub(crate) fn only(&mut self, object: &impl Serialize) -> Result<()> {
        if self.format != Format::Json {
            return self.bytes(&json_line(object)?);
        }
        let mut document = serde_json::to_vec_pretty(object)?;
        document.push(b'\n');
        self.bytes(&document)
    }

    /// Writes text for people. Colours stay only where they are wanted.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        match &self.sink {
            Sink::Stdout(_) => self.bytes(text.as_bytes()),
            Sink::File(..) | Sink::Device(_) => {
                self.bytes(anstream::adapter::strip_str(text).to_string().as_bytes())
            }
        }
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.sink {
            Sink::Stdout(sink) => sink.write_all(bytes),
            Sink::File(sink, _) => sink.write_all(bytes),
            Sink::Device(sink) => sink.write_all(bytes),
        }
        .context(WRITE)
    }

    /// Ends an array of results, if the format has one.
    pub(crate) fn end_list(&mut self) -> Result<()> {
        match (self.format, self.begun) {
            (Format::Json, true) => self.bytes(b"]\n"),
            (Format::Json, false) => self.bytes(b"[]\n"),
            _ => Ok(()),
        }
    }

    /// Makes the results appear.
    pub(crate) fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Stdout(mut sink) => sink.flush().context(WRITE),
            Sink::Device(mut sink) => sink.flush().context(WRITE),
            Sink::File(sink, path) => {
                let file = sink.into_inner().map_err(io::IntoInnerError::into_error).context(WRITE)?;
                durable::persist(file, &path)
                    .with_context(|| format!("`{}` could not be replaced", path.display()))
            }
        }
    }
}

const WRITE: &str = "the results could not be written";

/// An object as one line of JSON.
pub(crate) fn json_line(object: &impl Serialize) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(object)?;
    line.push(b'\n');
    Ok(line)
}

/// Says something on standard error.
pub(crate) fn note(sentence: &str) {
    // Nobody is left to tell if standard error is closed.
    let _ = writeln!(anstream::stderr(), "{sentence}");
}
