//! Checks the destination of results before a command begins.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use chunkwright_engine::files::{Existing, OutputError, check_output};
use clap::Args;
use serde::Serialize;

use super::{FieldFlags, Format, Output, OutputPath, ResultFile, Sink, unwritable};
use crate::app::Global;
use crate::input::file_and_line;
use crate::keys::KeyFlags;
use crate::text::plain;

/// The file of results.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TargetFlags {
    /// Write the results to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<OutputPath>,
    /// Replace the file of the results if it exists; it is replaced atomically
    #[arg(long)]
    pub(crate) force: bool,
}

/// Flags or arguments that name files and folders which a command reads.
pub(crate) trait Reads {
    /// The files and folders, some of which may not exist.
    fn files(&self) -> Vec<PathBuf>;
}

/// Keys such as `tokenizer` may name files.
impl<T: KeyFlags> Reads for T {
    fn files(&self) -> Vec<PathBuf> {
        let values = self.values().iter().filter_map(|(_, value)| value.as_str());
        values.map(PathBuf::from).filter(|path| path.is_file()).collect()
    }
}

impl Reads for PathBuf {
    fn files(&self) -> Vec<PathBuf> {
        vec![match file_and_line(self) {
            Some((file, _)) => file,
            None if self == Path::new("-") => "/dev/stdin".into(),
            None => self.clone(),
        }]
    }
}

impl Reads for OutputPath {
    fn files(&self) -> Vec<PathBuf> {
        vec![self.path().to_owned()]
    }
}

impl<T: Reads> Reads for Option<T> {
    fn files(&self) -> Vec<PathBuf> {
        self.iter().flat_map(T::files).collect()
    }
}

impl<T: Reads> Reads for Vec<T> {
    fn files(&self) -> Vec<PathBuf> {
        self.iter().flat_map(T::files).collect()
    }
}

/// A checked destination and format of results; writing there loses no data.
#[derive(Debug)]
pub(crate) struct Destination {
    format: Option<Format>,
    /// The file; `None` for standard output.
    file: Option<OutputPath>,
    existing: Existing,
    fields: FieldFlags,
    /// The file, if it lies in a folder that is read and holds the results of an earlier run: it is not a document.
    pub(crate) replaced: Option<PathBuf>,
}

impl TargetFlags {
    /// The file; `None` for standard output.
    pub(crate) fn file(&self) -> Option<&OutputPath> {
        self.output.as_ref().filter(|path| !path.is_stdout())
    }

    /// The destination of results of a command that reads these files, and those of the configuration.
    ///
    /// # Errors
    ///
    /// A file that exists, unless it may be replaced; one that is read or lies in a store; one that cannot be written.
    pub(crate) fn check(
        &self,
        global: &Global,
        reads: &[&dyn Reads],
        format: Option<Format>,
        fields: FieldFlags,
    ) -> Result<Destination> {
        let (file, existing) = (self.file().cloned(), existing(self.force));
        let replaced = match &file {
            None => None,
            Some(file) => {
                let mut inputs = global.layers()?.files();
                inputs.extend(reads.iter().flat_map(|reads| reads.files()));
                file.check(&inputs, existing)?
            }
        };
        Ok(Destination { format, file, existing, fields, replaced })
    }
}

/// What to do with an existing file, depending on `--force`.
pub(crate) fn existing(force: bool) -> Existing {
    if force { Existing::Replaced } else { Existing::Kept }
}

impl OutputPath {
    /// As [`TargetFlags::check`], for something that reads `inputs`.
    pub(crate) fn check(&self, inputs: &[PathBuf], existing: Existing) -> Result<Option<PathBuf>> {
        check_output(self.path(), inputs, existing).map_err(|error| refused(self, &error))
    }
}

/// The error for a refused output, with its name.
fn refused(output: &OutputPath, error: &OutputError) -> anyhow::Error {
    match error {
        OutputError::Unwritable(error) => unwritable(output, error),
        OutputError::Exists => exists(output),
        OutputError::IsInput { input } => {
            let input = plain(&input.display().to_string());
            let same = if output.to_string() == input {
                String::new()
            } else {
                format!(" is the same file as `{input}`, which")
            };
            anyhow!("`{output}`{same} is an input of this command; write the results to another file")
        }
        OutputError::InStore { store } => {
            let store = plain(&store.display().to_string());
            anyhow!("`{output}` lies in the store `{store}`; write the results outside of it")
        }
        other => anyhow!("`{output}` cannot be written: {other}"),
    }
}

/// The error for a file that exists.
pub(super) fn exists(output: &OutputPath) -> anyhow::Error {
    anyhow!("`{output}` exists; name another file, or replace this one with `--force`")
}

impl Destination {
    /// Writes the only result, or for people the text from `describe`.
    pub(crate) fn only<T: Serialize>(&self, result: &T, describe: impl FnOnce(&T) -> String) -> Result<()> {
        self.answer(result, |output| output.only(result), describe)
    }

    /// Writes an answer: as one JSON document, as `lines` of JSON, or for people the text from `describe`.
    pub(crate) fn answer<T: Serialize>(
        &self,
        answer: &T,
        lines: impl FnOnce(&mut Output) -> Result<()>,
        describe: impl FnOnce(&T) -> String,
    ) -> Result<()> {
        let mut output = self.open()?;
        match output.format {
            Format::Json => output.only(answer)?,
            Format::Jsonl => lines(&mut output)?,
            Format::Text => output.text(&describe(answer))?,
        }
        output.finish()
    }

    /// Writes results, or for people the text from `describe` for all of them.
    pub(crate) fn list<T: Serialize>(
        &self,
        results: &[T],
        describe: impl FnOnce(&[T]) -> String,
    ) -> Result<()> {
        let mut output = self.open()?;
        if output.is_text() {
            output.text(&describe(results))?;
        } else {
            output.objects(results)?;
        }
        output.end_list()?;
        output.finish()
    }

    /// Opens the destination.
    pub(crate) fn open(&self) -> Result<Output> {
        let file = self.file.as_ref();
        let to_terminal = file.is_none() && io::stdout().is_terminal();
        let fields = self.fields.fields.clone();
        let usual = if to_terminal && fields.is_none() { Format::Text } else { Format::Jsonl };
        let by_extension = || match file?.extension()?.as_str() {
            "json" => Some(Format::Json),
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            _ => None,
        };
        let format = self.format.or_else(by_extension).unwrap_or(usual);
        if format == Format::Text && fields.is_some() {
            return Err(anyhow!(
                "`--fields` needs `--format jsonl` or `--format json`; text has its own columns"
            ));
        }
        let sink = match file {
            None if format == Format::Text => Sink::Stdout(Box::new(BufWriter::new(anstream::stdout()))),
            None => Sink::Stdout(Box::new(BufWriter::with_capacity(1 << 16, io::stdout()))),
            Some(path) if path.path().metadata().is_ok_and(|metadata| !metadata.is_file()) => {
                let device = File::create(path.path()).map_err(|error| unwritable(path, &error))?;
                Sink::Device(BufWriter::new(device))
            }
            Some(path) => {
                Sink::File(BufWriter::with_capacity(1 << 16, ResultFile::create(path, self.existing)?))
            }
        };
        Ok(Output { format, sink, fields, begun: false })
    }
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;
    use std::fs;

    use clap::{Arg, Command, CommandFactory};

    use super::*;
    use crate::app::Cli;

    /// Every command and subcommand, with the words that name it.
    fn commands() -> Vec<(Vec<String>, Command)> {
        fn add(words: &[String], command: &Command, all: &mut Vec<(Vec<String>, Command)>) {
            for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
                let words = [words, &[inner.get_name().to_owned()]].concat();
                all.push((words.clone(), inner.clone()));
                add(&words, inner, all);
            }
        }
        let mut command = Cli::command();
        command.build();
        let mut all = Vec::new();
        add(&[], &command, &mut all);
        all
    }

    #[test]
    fn every_file_that_a_command_writes_is_an_output_path_which_needs_force_to_be_replaced() {
        let mut found = 0;
        for (words, command) in commands() {
            let is_output =
                |argument: &&Arg| argument.get_value_parser().type_id() == TypeId::of::<OutputPath>();
            for argument in command.get_arguments() {
                let named = argument.get_long() == Some("output") || argument.get_short() == Some('o');
                assert!(!named || is_output(&argument), "{words:?} {}", argument.get_id());
            }
            if command.get_arguments().any(|argument| is_output(&argument)) {
                found += 1;
                let has_force = command.get_arguments().any(|argument| argument.get_long() == Some("force"));
                assert!(has_force, "{words:?} has no `--force`");
            }
        }
        assert!(found > 20, "{found}");
    }

    #[test]
    fn no_command_writes_a_file_but_through_this_module() {
        fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.path().is_dir() {
                    sources(&entry.path(), all);
                } else {
                    all.push(entry.path());
                }
            }
        }
        let mut all = Vec::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        sources(&folder, &mut all);
        let own = [folder.join("output.rs"), folder.join("output/destination.rs")];
        for path in all.iter().filter(|path| !own.contains(path)) {
            let source = fs::read_to_string(path).unwrap();
            for call in [
                "File::create",
                "fs::write",
                "OpenOptions",
                "AtomicFile",
                "NamedTempFile",
                "fs::rename",
                "fs::copy",
            ] {
                assert!(!source.contains(call), "{} has {call}", path.display());
            }
        }
    }
}
