//! Destinations and formats of results.
//!
//! A command checks its flags before it begins ([`OutputFlags::check`]): a file that exists is refused without
//! `--force`, and a file that the command reads is refused even then. Only the resulting [`Destination`] can be opened,
//! so no command can omit the check. A complete file is moved into place only when the exit status is known
//! ([`settle`]), since a failed run replaces nothing.

mod destination;

use parking_lot::Mutex;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow};
use chunkwright_engine::Fields;
use chunkwright_engine::files::{AtomicFile, Existing};
use chunkwright_engine::json_lines::{add_line, escaped};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::app::{Global, Outcome};
use crate::interrupt;
use crate::text::plain;
pub(crate) use destination::{Destination, Reads, TargetFlags, existing};

/// The path of a result file; `-` is standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutputPath(PathBuf);

impl From<OsString> for OutputPath {
    fn from(path: OsString) -> Self {
        Self(path.into())
    }
}

impl fmt::Display for OutputPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(&self.0.display().to_string()))
    }
}

impl OutputPath {
    /// Returns whether it is another name of standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.0 == Path::new("-") || self.0 == Path::new("/dev/stdout")
    }

    /// The extension of the file's name, in lower case.
    pub(crate) fn extension(&self) -> Option<String> {
        Some(self.0.extension()?.to_str()?.to_ascii_lowercase())
    }

    /// Starts the file, which was checked, and which appears if the command succeeds.
    pub(crate) fn begin(&self, existing: Existing) -> Result<ResultFile> {
        ResultFile::create(self, existing)
    }

    /// The path itself, for code that writes files by other means.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Flags of every command that has results.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    /// Format of the results; by default `text` on a terminal, `jsonl` in a pipe, in a file what its extension says
    #[arg(short, long)]
    format: Option<Format>,
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    fields: FieldFlags,
}

/// Which fields of results are written.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FieldFlags {
    /// Write only these fields of each result, in this order; `a.b` is field `b` of the object `a`
    #[arg(long, value_name = "NAME,...")]
    pub(crate) fields: Option<Fields>,
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
    fields: Option<Fields>,
    /// Whether the JSON array has an object yet.
    begun: bool,
}

enum Sink {
    Stdout(Box<dyn Write + Send>),
    File(BufWriter<ResultFile>),
    /// A device or pipe, which renaming would replace.
    Device(BufWriter<File>),
}

impl OutputFlags {
    /// Checks the destination of a command that reads these files.
    ///
    /// # Errors
    ///
    /// Those of [`TargetFlags::check`].
    pub(crate) fn check(&self, global: &Global, reads: &[&dyn Reads]) -> Result<Destination> {
        self.target.check(global, reads, self.format, self.fields.clone())
    }

    /// Returns whether `--force` is given.
    pub(crate) fn force(&self) -> bool {
        self.target.force
    }

    /// Returns whether standard output was closed by the caller: the system then put the null device in its place, open
    /// for both reading and writing, whereas a caller who discards results opens it only for writing.
    pub(crate) fn is_lost(&self) -> bool {
        let is_stdout = self.target.file().is_none();
        let is_null = || fs::read_link("/proc/self/fd/1").is_ok_and(|path| path == Path::new("/dev/null"));
        let about = || fs::read_to_string("/proc/self/fdinfo/1").unwrap_or_default();
        // The last octal digit of the flags is the access mode: 2 is both.
        let is_both = |line: &str| line.starts_with("flags:") && line.ends_with('2');
        is_stdout && is_null() && about().lines().any(is_both)
    }

    /// Returns whether `--fields` names a field.
    pub(crate) fn names(&self, field: &str) -> bool {
        self.fields.fields.as_ref().is_some_and(|fields| fields.names().any(|name| name == field))
    }
}

fn unwritable(path: &OutputPath, error: &io::Error) -> anyhow::Error {
    let kind = match error.kind() {
        // The error has its own message.
        io::ErrorKind::Other => error.to_string(),
        kind => kind.to_string(),
    };
    anyhow!("`{path}` could not be written ({kind}); name a file in a folder you can write to")
}

/// A result file that is being written.
#[derive(Debug)]
pub(crate) struct ResultFile {
    file: AtomicFile,
    path: OutputPath,
    existing: Existing,
}

/// Complete files that wait for the exit status.
static WHOLE: Mutex<Vec<ResultFile>> = Mutex::new(Vec::new());

impl ResultFile {
    /// Creates a file.
    fn create(path: &OutputPath, existing: Existing) -> Result<Self> {
        let file = AtomicFile::create(&path.0).map_err(|error| unwritable(path, &error))?;
        Ok(Self { file, path: path.clone(), existing })
    }

    /// Marks the file as complete, to appear if the command succeeds.
    pub(crate) fn finish(self) {
        WHOLE.lock().push(self);
    }
}

impl Write for ResultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Moves finished result files into place, or drops them: a run that ends with 1 or 2 replaces no file. With 1, a
/// finished result is still written if its path is free.
pub(crate) fn settle(global: &Global, outcome: Outcome) -> Result<()> {
    interrupt::check()?;
    let whole = std::mem::take(&mut *WHOLE.lock());
    for ResultFile { file, path, existing } in whole {
        let persisted = match outcome {
            Outcome::Success | Outcome::Partial => file.persist_over(existing),
            Outcome::Nothing => file.persist_new(),
            Outcome::Failed => {
                let state = if path.0.exists() { "is as it was" } else { "was not written" };
                global.say(&format!("`{path}` {state}, because the exit status is 2"));
                continue;
            }
        };
        match persisted {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(error).with_context(|| format!("`{path}` could not be written"));
            }
            Err(_) if existing == Existing::Kept => return Err(destination::exists(&path)),
            Err(_) => global.say(&format!("`{path}` was not replaced, because the exit status is 1")),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Discards the files of a failed run.
pub(crate) fn discard() {
    WHOLE.lock().clear();
}

/// Whether the reader of the results has closed the pipe (`| head`).
static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Returns whether the reader of the results has closed the pipe, which is not reported as an error.
pub(crate) fn is_reader_gone() -> bool {
    READER_GONE.load(Ordering::Relaxed)
}

/// Notes whether the reader has closed the pipe, before a library hides the error.
fn noted<T>(result: io::Result<T>) -> io::Result<T> {
    result.inspect_err(|error| {
        if error.kind() == io::ErrorKind::BrokenPipe {
            READER_GONE.store(true, Ordering::Relaxed);
        }
    })
}

/// The result of a write, with our message.
fn written(result: io::Result<()>) -> Result<()> {
    noted(result).context("the results could not be written")
}

/// Writes bytes to standard output.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    written(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

impl Output {
    /// Returns whether results are for people.
    pub(crate) fn is_text(&self) -> bool {
        self.format == Format::Text
    }

    /// Returns whether results are streamed to a terminal.
    pub(crate) fn is_on_terminal(&self) -> bool {
        matches!(self.sink, Sink::Stdout(_)) && io::stdout().is_terminal()
    }

    /// The format of the results.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Says which collection the results are of.
    pub(crate) fn of_collection(&mut self, collection: &str) {
        self.fields = self.fields.take().map(|fields| fields.in_collection(collection));
    }

    /// The selected fields; `None` for all.
    pub(crate) fn fields(&self) -> Option<&Fields> {
        self.fields.as_ref()
    }

    /// Writes several results.
    pub(crate) fn objects<'a, T: Serialize + 'a>(
        &mut self,
        objects: impl IntoIterator<Item = &'a T>,
    ) -> Result<()> {
        objects.into_iter().try_for_each(|object| self.object(object))
    }

    /// Writes one result.
    pub(crate) fn object(&mut self, object: &impl Serialize) -> Result<()> {
        let line = json_line(object, self.fields.as_ref())?;
        self.lines(&line)
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
        let chosen = self.fields.as_ref().map(|fields| fields.of_answer(object)).transpose()?;
        if self.format != Format::Json {
            let line = chosen.map_or_else(|| json_line(object, None), |chosen| json_line(&chosen, None))?;
            return self.bytes(&line);
        }
        let document =
            chosen.map_or_else(|| serde_json::to_vec_pretty(object), |it| serde_json::to_vec_pretty(&it));
        let mut document = escaped(document?);
        document.push(b'\n');
        self.bytes(&document)
    }

    /// Writes text for people, with colours only where supported.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        match &self.sink {
            Sink::Stdout(_) => self.bytes(text.as_bytes()),
            Sink::File(_) | Sink::Device(_) => {
                self.bytes(anstream::adapter::strip_str(text).to_string().as_bytes())
            }
        }
    }

    /// Writes raw bytes. Fails if a signal was received.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        interrupt::check()?;
        written(self.write_all(bytes))
    }

    /// Closes the array of results, if the format has one.
    pub(crate) fn end_list(&mut self) -> Result<()> {
        match (self.format, self.begun) {
            (Format::Json, true) => self.bytes(b"]\n"),
            (Format::Json, false) => self.bytes(b"[]\n"),
            _ => Ok(()),
        }
    }

    /// Completes the results; a file appears when the command has succeeded.
    pub(crate) fn finish(self) -> Result<()> {
        let unseen = self.fields.as_ref().map(Fields::unseen).unwrap_or_default();
        if !unseen.is_empty() {
            note(&format!("no result has the field {}", listed(&unseen)));
        }
        match self.sink {
            Sink::Stdout(mut sink) => written(sink.flush()),
            Sink::Device(mut sink) => written(sink.flush()),
            Sink::File(sink) => {
                let file = sink.into_inner().map_err(io::IntoInnerError::into_error);
                file.context("the results could not be written")?.finish();
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        noted(match &mut self.sink {
            Sink::Stdout(sink) => sink.write(bytes),
            Sink::File(sink) => sink.write(bytes),
            Sink::Device(sink) => sink.write(bytes),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        noted(match &mut self.sink {
            Sink::Stdout(sink) => sink.flush(),
            Sink::File(sink) => sink.flush(),
            Sink::Device(sink) => sink.flush(),
        })
    }
}

/// An object, or its selected fields, as one line of JSON.
pub(crate) fn json_line(object: &impl Serialize, fields: Option<&Fields>) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    add_json_line(object, fields, &mut line)?;
    Ok(line)
}

/// Adds an object, or its selected fields, as one line of JSON.
pub(crate) fn add_json_line(
    object: &impl Serialize,
    fields: Option<&Fields>,
    lines: &mut Vec<u8>,
) -> Result<()> {
    let Some(fields) = fields else { return Ok(add_line(object, lines)?) };
    Ok(add_line(&fields.of(object)?, lines)?)
}

/// Names as listed in a sentence.
fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{}`", plain(name))).collect::<Vec<_>>().join(", ")
}

/// Prints a sentence to standard error.
pub(crate) fn note(sentence: &str) {
    // If standard error is closed, the sentence is lost.
    let _ = writeln!(anstream::stderr(), "{sentence}");
}
