//! What is read: files, folders, standard input.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};
use chunkwright_source::{Input, Inputs, Item, NewSource, ReadSource, Skipped, Unread};
use clap::Args;

use crate::app::Global;
use crate::interrupt;
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

/// Documents with NUL characters, and how many: they are read on many threads and reported in order.
static NULS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// Looks at `paths`, of which `-` is standard input. What cannot be read is noted, and the rest goes on.
pub(crate) fn gather(global: &Global, paths: &[PathBuf], stdin_filename: &str) -> Result<Inputs> {
    let mut given = Vec::with_capacity(paths.len());
    let mut has_stdin = false;
    for path in paths {
        if path != Path::new("-") {
            given.push(Input::Path(path.clone()));
        } else if !has_stdin {
            has_stdin = true;
            let document = NewSource::new(stdin_filename, read_stdin()?);
            given.push(Input::Memory { document, place: "-".to_owned() });
        }
    }
    Ok(Inputs::gather(&given, &global.walk()))
}

/// Reads a document, and notes its NUL characters.
pub(crate) fn read(item: &Item) -> Result<ReadSource, Unread> {
    let read = item.read()?;
    if read.source.nuls > 0 {
        NULS.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(item.doc_id().to_owned(), read.source.nuls);
    }
    Ok(read)
}

/// As [`chunkwright_source::ordered()`], but a signal ends it.
pub(crate) fn ordered<I: Sync, T: Send>(
    threads: usize,
    items: &[I],
    work: impl Fn(&I) -> T + Sync,
    size: impl Fn(&T) -> usize + Sync,
    mut emit: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    chunkwright_source::ordered(threads, items, work, size, |result| {
        interrupt::check()?;
        emit(result)
    })
}

/// Says on standard error what was not read. `verbose` lists every file; otherwise they are counted.
pub(crate) fn report(inputs: &Inputs, global: &Global) {
    for error in &inputs.errors {
        note(&format!("{} {}", red("error:"), plain(&error.to_string())));
    }
    for (doc_id, nuls) in NULS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        note_nuls(global, doc_id, *nuls);
    }
    report_skipped(global, &inputs.skipped);
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
            global.say(&format!("{} `{}`: {}", yellow("skipped"), plain(path), reason.sentence()));
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

/// All of standard input.
pub(crate) fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match io::stdin().lock().read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => bail!("standard input could not be read: {error}"),
    }
}

/// Reads the one document at `path`.
pub(crate) fn read_one(global: &Global, path: &Path, stdin_filename: &str) -> Result<ReadSource> {
    if path.is_dir() {
        bail!("`{}` is a folder; give one file", path.display());
    }
    let inputs = gather(global, &[path.to_owned()], stdin_filename)?;
    if let Some(error) = inputs.errors.into_iter().next() {
        bail!(error);
    }
    if let Some(skipped) = inputs.skipped.first() {
        bail!("`{}` was not read: {}", path.display(), skipped.reason.sentence());
    }
    let item = inputs.items.first().with_context(|| format!("`{}` holds no document", path.display()))?;
    read(item).map_err(|unread| match unread {
        Unread::Failed(error) => error.into(),
        Unread::Skipped(skipped) => {
            anyhow::anyhow!("`{}` was not read: {}", path.display(), skipped.reason.sentence())
        }
    })
}
