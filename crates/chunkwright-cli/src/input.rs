//! Inputs of commands: files, folders and standard input, and the report on what could not be read.

use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use chunkwright_engine::{
    Documents, DocumentsRequest, Input, ReadReport, Shard, Skipped, Stream, skipped_in_words,
};
use clap::Args;

use crate::app::{Global, Outcome};
use crate::keys::FileFlags;
use crate::output::{Destination, Reads, note};
use crate::text::{plain, red, yellow};

/// Flags of commands that read documents.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputFlags {
    /// Files, folders and quoted globs such as `'docs/**/*.md'`; `-` is standard input
    ///
    /// Without a path, standard input is read if it is a pipe or a file, else the working folder. Folders are walked as
    /// ripgrep does: hidden files, binary files and what `.gitignore` excludes are skipped and counted. Drawings, lock
    /// files, source maps, minified and encoded content are left out. A file that is given by name is always taken.
    #[arg(value_name = "PATH", help_heading = "Arguments")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) files: FileFlags,
    /// Name of the document on standard input: its id, and by its extension its format
    #[arg(long, value_name = "NAME", default_value = "stdin")]
    pub(crate) stdin_filename: String,
    #[command(flatten)]
    pub(crate) threads: ThreadFlags,
}

/// How many threads work.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ThreadFlags {
    /// Number of threads; by default one per processor. Results are the same with any number
    #[arg(short = 'j', long, value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,
}

/// Maximum number of threads: more than any machine has processors, and fewer than a system refuses to start.
const MAX_THREADS: usize = 1024;

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MAX_THREADS);
    number.ok_or_else(|| format!("it must be a number from 1 to {MAX_THREADS}"))
}

impl ThreadFlags {
    /// The given number.
    pub(crate) fn number(self) -> Option<NonZeroUsize> {
        self.threads
    }
}

impl InputFlags {
    /// The request for the given documents.
    pub(crate) fn request(&self, results: &Destination, shard: Option<Shard>) -> DocumentsRequest {
        let paths = paths_or_default(&self.paths);
        let inputs = paths.iter().map(|path| input(path, &self.stdin_filename)).collect();
        DocumentsRequest { inputs, shard, exclude: results.replaced.iter().cloned().collect() }
    }
}

impl Reads for InputFlags {
    fn files(&self) -> Vec<PathBuf> {
        paths_or_default(&self.paths).files()
    }
}

/// The given paths; without any, standard input if it can be read, else the working folder, as in ripgrep.
pub(crate) fn paths_or_default(paths: &[PathBuf]) -> Vec<PathBuf> {
    match paths {
        [] if stdin_can_be_read() => vec!["-".into()],
        [] => vec![".".into()],
        paths => paths.to_vec(),
    }
}

/// Returns whether standard input is a pipe, a socket or a file.
#[cfg(unix)]
fn stdin_can_be_read() -> bool {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileTypeExt as _;
    let kind =
        io::stdin().as_fd().try_clone_to_owned().and_then(|stdin| std::fs::File::from(stdin).metadata());
    kind.is_ok_and(|metadata| {
        let kind = metadata.file_type();
        kind.is_file() || kind.is_fifo() || kind.is_socket()
    })
}

/// On other systems, returns whether it is not a terminal.
#[cfg(not(unix))]
fn stdin_can_be_read() -> bool {
    use std::io::IsTerminal as _;
    !io::stdin().is_terminal()
}

/// Resolves a path: `-` is standard input, called `stdin_filename`.
pub(crate) fn input(path: &Path, stdin_filename: &str) -> Input {
    if path != Path::new("-") {
        return Input::Path(path.to_owned());
    }
    Input::Stream {
        doc_id: stdin_filename.to_owned(),
        place: "-".to_owned(),
        stream: Stream::new(read_stdin),
    }
}

/// Splits `FILE:LINE`, unless a file has that name.
pub(crate) fn file_and_line(path: &Path) -> Option<(PathBuf, usize)> {
    let (file, line) = path.to_str()?.rsplit_once(':')?;
    let line = line.parse().ok()?;
    path.symlink_metadata().is_err().then(|| (file.into(), line))
}

/// All of standard input.
pub(crate) fn read_stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    let said = |error| io::Error::other(format!("standard input could not be read: {error}"));
    read.map(|_| bytes).map_err(said)
}

/// Reports on standard error what was not read, and returns the outcome of the command.
pub(crate) fn ended(global: &Global, documents: &Documents) -> Outcome {
    let read = documents.report();
    report(global, &read);
    if read.errors.is_empty() {
        global.found(read.found, "no document was found at the given paths")
    } else {
        Outcome::Failed
    }
}

/// Reports on standard error what was not read.
pub(crate) fn report(global: &Global, read: &ReadReport) {
    for error in &read.errors {
        note(&format!("{} {}", red("error:"), plain(error)));
    }
    global.tell(&read.notices);
    report_skipped(global, &read.skipped);
}

/// Reports on standard error what was left out: every entry with `--verbose`, otherwise the number.
pub(crate) fn report_skipped(global: &Global, skipped: &[Skipped]) {
    if global.verbose {
        for Skipped { path, reason } in skipped {
            global.say(&format!("{} `{}`: {}", yellow("skipped"), plain(path), reason.sentence()));
        }
    } else if let Some(entries) = skipped_in_words(skipped) {
        global.say(&format!("{} {entries} (`--verbose` lists them)", yellow("skipped")));
    }
}
