//! What is read: files, folders, standard input.

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};
use chunkwright::Document;
use chunkwright_index::source::{SourceFile, WalkOptions, read, walk};
use chunkwright_index::{SkipReason, Skipped, format};
use clap::Args;

use crate::app::Global;
use crate::output::note;
use crate::text::{count, grouped, plain, red, yellow};

/// Flags of commands that read documents.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputFlags {
    /// Files and folders; `-` is standard input
    ///
    /// Folders are walked as ripgrep does: hidden and binary files and what `.gitignore` says are left
    /// out and counted.
    #[arg(value_name = "PATH", default_value = ".", help_heading = "Arguments")]
    pub(crate) paths: Vec<PathBuf>,
    /// Name of what is read from standard input: its document id, and by its extension its format
    #[arg(long, value_name = "NAME", default_value = "stdin")]
    pub(crate) stdin_filename: String,
    #[command(flatten)]
    pub(crate) threads: ThreadFlags,
}

/// How many threads work.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ThreadFlags {
    /// Number of threads; by default one for each processor. The results are the same with any number
    #[arg(short = 'j', long, value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,
}

/// Most threads: more than any machine has processors, and fewer than a system refuses to begin.
const MAX_THREADS: usize = 1024;

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MAX_THREADS);
    number.ok_or_else(|| format!("it must be a number from 1 to {MAX_THREADS}"))
}

impl ThreadFlags {
    /// The number that was given.
    pub(crate) fn number(self) -> Option<NonZeroUsize> {
        self.threads
    }

    /// The number of threads.
    pub(crate) fn get(self) -> usize {
        self.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
    }

    /// Has everything that is done in parallel take this number of threads. Fails where something was before, such as
    /// walking folders.
    pub(crate) fn apply(self) -> Result<()> {
        Ok(rayon::ThreadPoolBuilder::new().num_threads(self.get()).build_global()?)
    }
}

/// What was found at the paths given.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// What to read, in order.
    pub(crate) items: Vec<Item>,
    /// What was left out, and why.
    pub(crate) skipped: Vec<Skipped>,
    /// What could not be read although it was asked for, one sentence each.
    pub(crate) errors: Vec<String>,
}

/// Something to read.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// A file. One that was `named`, not found in a folder, is an error if it may not be read.
    File { file: SourceFile, named: bool },
    /// Standard input, under this name.
    Stdin(String),
}

/// A document that was read.
pub(crate) struct Source {
    /// Its key in its collection.
    pub(crate) doc_id: String,
    source: format::Source,
}

/// Documents with NUL characters, and how many: they are read on many threads and reported in order.
static NULS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// Why an item was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It was left out, as a folder's binary files are.
    Skipped(Skipped),
    /// It was asked for by name and could not be read: one sentence.
    Failed(String),
}

impl Inputs {
    /// Looks at `paths`. What cannot be read is noted, and the rest goes on.
    pub(crate) fn gather(global: &Global, paths: &[PathBuf], stdin_filename: &str) -> Self {
        let mut inputs = Self::default();
        let (mut there, mut given) = (Vec::new(), HashSet::new());
        for path in paths {
            if path == Path::new("-") {
                if given.insert(path.clone()) {
                    inputs.items.push(Item::Stdin(stdin_filename.to_owned()));
                }
                continue;
            }
            match path.canonicalize() {
                // A path that is given twice is meant once.
                Ok(real) => there.extend(given.insert(real).then(|| path.clone())),
                // A path that cannot be read is no reason to leave the others out.
                Err(error) => inputs.errors.push(unreadable(path, &error)),
            }
        }
        match walk(&there, &global.walk()) {
            Ok(walk) => {
                let item = |file: SourceFile| Item::File { named: given.contains(&file.path), file };
                inputs.items.extend(walk.files.into_iter().map(item));
                inputs.skipped.extend(walk.skipped);
            }
            Err(error) => inputs.errors.push(error.to_string()),
        }
        inputs.refuse_doubles();
        inputs
    }

    /// Refuses a second document under an id: it would get the ids of the first one's chunks.
    fn refuse_doubles(&mut self) {
        let mut places: HashMap<String, String> = HashMap::new();
        let errors = &mut self.errors;
        self.items.retain(|item| match places.entry(item.doc_id().to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(item.place());
                true
            }
            Entry::Occupied(first) => {
                let (first, second, id) = (first.get(), item.place(), item.doc_id());
                errors.push(format!(
                    "`{first}` and `{second}` would both be the document `{id}`; give the folder that holds both"
                ));
                false
            }
        });
    }

    /// Says on standard error what was not read. `verbose` lists every file; otherwise they are counted.
    pub(crate) fn report(&self, global: &Global) {
        for error in &self.errors {
            note(&format!("{} {}", red("error:"), plain(error)));
        }
        for (doc_id, nuls) in NULS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            note_nuls(global, doc_id, *nuls);
        }
        report_skipped(global, &self.skipped);
    }
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("`{path}` does not exist; give a file, a folder, or `-` for standard input")
        }
        kind => format!("`{path}` cannot be read ({kind}); give a file or folder that can be"),
    }
}

/// Says on standard error that a document has NUL characters.
pub(crate) fn note_nuls(global: &Global, doc_id: &str, nuls: usize) {
    global.say(&format!(
        "{} `{}` has {}, kept in its text",
        yellow("note:"),
        plain(doc_id),
        count(nuls, "NUL character")
    ));
}

/// Says on standard error what was left out: every entry if `--verbose` is given, else how many.
pub(crate) fn report_skipped(global: &Global, skipped: &[Skipped]) {
    if global.verbose {
        for Skipped { path, reason } in skipped {
            global.say(&format!("{} `{}`: {}", yellow("skipped"), plain(path), in_words(*reason)));
        }
    } else if !skipped.is_empty() {
        let reasons: Vec<String> =
            reasons(skipped).into_iter().map(|(reason, number)| format!("{number} {reason}")).collect();
        let (entries, reasons) = (entries(skipped.len()), reasons.join(", "));
        global.say(&format!("{} {entries}: {reasons} (`--verbose` lists them)", yellow("skipped")));
    }
}

fn entries(number: usize) -> String {
    if number == 1 { "1 entry".into() } else { format!("{} entries", grouped(number)) }
}

/// How many entries were left out for each reason.
pub(crate) fn reasons(skipped: &[Skipped]) -> BTreeMap<&'static str, usize> {
    let mut reasons = BTreeMap::new();
    for skipped in skipped {
        *reasons.entry(skipped.reason.as_str()).or_default() += 1;
    }
    reasons
}

/// A reason, for people.
fn in_words(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Hidden => "its name starts with a dot",
        SkipReason::Ignored => "an ignore file says so",
        SkipReason::Binary => "it is not text, nor a document that can be converted",
        SkipReason::Encrypted => "it is encrypted",
        SkipReason::NoText => "it has no text, as a scan has none",
        SkipReason::Generated => "a program wrote it",
        SkipReason::Minified => "its line breaks were taken out",
        SkipReason::TooLarge => "it is larger than the limit",
        SkipReason::Secret => "its name is that of a file with secrets",
        SkipReason::NotRegular => "it is a pipe, a socket or a device",
        SkipReason::Permission => "it may not be read",
        SkipReason::Symlink => "it is a symbolic link; what it points at is read where it is",
        SkipReason::Dangling => "it is a symbolic link to nothing",
        SkipReason::OutsideRoot => "it is a symbolic link that leads out of the path given",
        SkipReason::Vanished => "it went away",
        SkipReason::Unstable => "it changed while it was read, twice",
        SkipReason::PathTooLong => "its path is too long",
        _ => "it could not be read",
    }
}

impl Item {
    /// The document's key in its collection.
    pub(crate) fn doc_id(&self) -> &str {
        match self {
            Self::File { file, .. } => &file.doc_id,
            Self::Stdin(name) => name,
        }
    }

    /// Where it is read from, for messages.
    fn place(&self) -> String {
        match self {
            Self::File { file, .. } => file.path.display().to_string(),
            Self::Stdin(_) => "-".into(),
        }
    }

    /// Reads and decodes it.
    pub(crate) fn read(&self) -> Result<Source, Unread> {
        let bytes = match self {
            Self::File { file, .. } => {
                read(file, &WalkOptions::default()).map_err(|reason| self.unread(reason))?.0
            }
            Self::Stdin(_) => read_stdin().map_err(|error| Unread::Failed(error.to_string()))?,
        };
        let name = match self {
            Self::File { file, .. } => &file.path,
            Self::Stdin(name) => Path::new(name),
        };
        let source = format::read(name, &bytes).map_err(|error| match (SkipReason::of(&error), self) {
            (Some(reason), Self::File { .. }) => self.unread(reason),
            _ => Unread::Failed(format!("`{}` was not read: {error}", self.place())),
        })?;
        if source.nuls > 0 {
            NULS.lock().unwrap_or_else(PoisonError::into_inner).insert(self.doc_id().to_owned(), source.nuls);
        }
        Ok(Source { doc_id: self.doc_id().to_owned(), source })
    }

    fn unread(&self, reason: SkipReason) -> Unread {
        match self {
            Self::File { file, named: true } if reason.is_temporary() => {
                Unread::Failed(format!("`{}` was not read: {}", file.path.display(), in_words(reason)))
            }
            item => Unread::Skipped(Skipped { path: item.doc_id().to_owned(), reason }),
        }
    }
}

/// All of standard input.
pub(crate) fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match io::stdin().lock().read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => bail!("standard input could not be read: {error}"),
    }
}

impl Source {
    /// BLAKE3 of the raw file, hex.
    pub(crate) fn file_hash(&self) -> &str {
        &self.source.file_hash
    }

    /// The document.
    pub(crate) fn parse(self) -> Document {
        self.source.parse(&self.doc_id)
    }
}

/// Reads the one document at `path`.
pub(crate) fn read_one(global: &Global, path: &Path, stdin_filename: &str) -> Result<Source> {
    if path.is_dir() {
        bail!("`{}` is a folder; give one file", path.display());
    }
    let inputs = Inputs::gather(global, &[path.to_owned()], stdin_filename);
    if let Some(error) = inputs.errors.into_iter().next() {
        bail!(error);
    }
    if let Some(skipped) = inputs.skipped.first() {
        bail!("`{}` was not read: {}", path.display(), in_words(skipped.reason));
    }
    let item = inputs.items.first().with_context(|| format!("`{}` holds no document", path.display()))?;
    item.read().map_err(|unread| match unread {
        Unread::Failed(sentence) => anyhow::anyhow!(sentence),
        Unread::Skipped(skipped) => {
            anyhow::anyhow!("`{}` was not read: {}", path.display(), in_words(skipped.reason))
        }
    })
}
