//! `chunkwright index`

use std::path::{Path, PathBuf};
use parking_lot::{Mutex, MutexGuard};

use anyhow::{Result, bail};
use chunkwright_engine::{
    Access, IndexAnswer, IndexRequest, IndexSummary, Indexer, NewSource, Prefix, Progress as Step, Prune, RunProgress,
    Watched, meta,
};

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::input::{ThreadFlags, paths_or_default, read_stdin, report_skipped};
use crate::interrupt;
use crate::keys::{FileFlags, GenerationFlags, WriterFlags};
use crate::output::{Destination, OutputFlags, note};
use crate::progress::Progress;
use crate::text::{bold, grouped, plain, red};

/// Index files into a collection
///
/// Cuts, embeds and stores every document that is new or changed; unchanged documents are neither embedded nor
/// written. Updates are atomic: a search sees the old version of a document or the new one, also after a power
/// failure. Documents whose files are gone are removed, but never more than half of a path's.
///
/// With another configuration or model than the collection was made with, a new generation is built beside the
/// current one, which searches use until the new one is complete. An interrupted run resumes where it stopped.
///
/// A document that cannot be indexed keeps its last good version; the others are indexed, and the exit status is 3.
#[derive(Debug, clap::Args)]
#[command(mut_arg("force", |force| force.help(FORCE)))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Index {
    /// Files, folders, quoted globs, addresses; `-` alone is standard input, one document
    ///
    /// Folders are walked as ripgrep does. Of a site, the pages that a sitemap lists (`https://HOST/sitemap.xml`) or one
    /// page (`https://HOST/PAGE`); of a repository, the files of a branch, tag or commit (`git+https://HOST/REPOSITORY@REF`).
    /// A later run fetches what changed. Only the named host is asked, as its `robots.txt` allows.
    ///
    /// Without a path, standard input is read if it is a pipe or a file, else the working folder. Drawings, lock files,
    /// source maps, minified and encoded content in folders are left out; documents of such files leave the collection.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Index the pages that this file lists, one address a line; `#` begins a comment
    ///
    /// Each is fetched as a page given as PATH, from the host of its address alone, and removed when it leaves the list.
    /// A file that is given as PATH is a document, whatever it holds.
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    urls: Option<PathBuf>,
    #[command(flatten)]
    files: FileFlags,
    /// Name of the document on standard input: its id, and by its extension its format
    #[arg(long, value_name = "NAME", default_value = "stdin")]
    stdin_filename: String,
    /// Show what would be done and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Keep running, and index again after every change of a file
    ///
    /// A burst of changes is one run. If the process is killed nothing is lost: the next run finds what changed.
    /// Documents whose files are gone are removed, but not where a folder is missing, cannot be read or may not be
    /// mounted, and not more than half of a path's: `--prune=force` removes those too, `--prune=keep` none.
    #[arg(long, conflicts_with_all = ["dry_run", "output"])]
    watch: bool,
    /// Remove every document below the given paths that this run does not find, also of files that it leaves out
    ///
    /// Without it, documents are removed whose files are gone; those of files that are there and left out stay. More than
    /// half of a path's documents stay in any case, because a folder that is not mounted looks the same:
    /// `--prune=force` removes them, `--prune=keep` none.
    #[arg(long, value_name = "keep|force", num_args = 0..=1, require_equals = true, default_missing_value = "missing", hide_possible_values = true)]
    prune: Option<PruneFlag>,
    /// Prefix of the ids of documents below the given paths: with NAME, README.md becomes `NAME/README.md`
    ///
    /// For several folders in one collection. Later runs over the folder, or a part of it, remember its prefix.
    #[arg(long, value_name = "NAME")]
    prefix: Option<Prefix>,
    /// Make ids relative to this folder, which contains the given paths, instead of to each path
    ///
    /// `index a b --root .` gives `a/README.md` and `b/README.md`. It is remembered like a prefix.
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
    /// The given path is this folder of the collection in a new place: its documents keep their ids
    ///
    /// A folder that is gone and whose files are in the given path is recognised without it.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["prefix", "root"])]
    moved_from: Option<PathBuf>,
    /// Say this of every document; it is in the records, and filters find it as `meta.NAME`. An empty text takes it back
    ///
    /// Documents keep it, and new files of the folder get what all its documents have. For folders, see the table `meta`
    /// of `chunkwright.toml`.
    #[arg(long, value_name = "NAME=TEXT", value_parser = meta::parse_pair)]
    meta: Vec<(String, String)>,
    /// Fetch from hosts in a private network or on this machine
    ///
    /// `localhost`, addresses by number and names such as `wiki` and `wiki.internal` are fetched without it.
    #[arg(long)]
    allow_private: bool,
    /// Re-read every file, even if its size and modification time are unchanged
    #[arg(long)]
    rehash: bool,
    /// Price per million tokens; adds the cost to the report
    #[arg(long, value_name = "MONEY", value_parser = price, allow_negative_numbers = true)]
    price: Option<f64>,
    /// Store summaries of functions, classes and files of source code beside their chunks
    #[arg(long)]
    summaries: bool,
    /// Skip generated and minified files
    #[arg(long)]
    skip_generated: bool,
    /// Let the writer add a note to each chunk that says what it is about, within the limit
    #[arg(long)]
    context_notes: bool,
    /// Let the writer summarise each document; hits in it show the summary
    #[arg(long)]
    document_summaries: bool,
    #[command(flatten)]
    writer: WriterFlags,
    #[command(flatten)]
    threads: ThreadFlags,
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    generations: GenerationFlags,
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// Help of the one flag for everything that is refused by default.
const FORCE: &str = "Replace the file of the results if it exists; index standard input even if its name or content is that of a file with credentials";

fn price(text: &str) -> Result<f64, String> {
    let price = text.parse().ok().filter(|price: &f64| price.is_finite() && *price >= 0.0);
    price.ok_or_else(|| "it must be a number from 0".into())
}

/// What becomes of documents whose files are not found.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum PruneFlag {
    /// They are removed
    #[value(hide = true)]
    Missing,
    /// They stay
    Keep,
    /// They are removed however many they are
    Force,
}

impl PruneFlag {
    /// The pruning of a run, or of one that follows folders.
    pub(crate) fn prune(self, is_following: bool) -> Prune {
        match self {
            Self::Missing if is_following => Prune::Follow,
            Self::Missing => Prune::Remove,
            Self::Keep => Prune::Keep,
            Self::Force => Prune::Force,
        }
    }
}

impl Index {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let paths = self.paths();
        let results = self.output.check(global, &[&paths, &self.cut])?;
        let flags: [&dyn crate::keys::KeyFlags; 5] =
            [&self.cut, &self.files, &self.collection, &self.generations, &self.writer];
        let engine = if self.watch {
            // Other commands write through this one while it runs.
            global.builder(Some(self.threads), &flags)?.owner().open(Access::Write)?
        } else {
            global.engine_on(Some(self.threads), &flags, Access::Write)?
        };
        let is_stdin = self.is_stdin(&paths)?;
        let indexer = engine.default_collection().indexer(self.request(&results, paths))?;
        let steps = Steps::new(global, self.dry_run);
        if self.watch {
            return Self::follow(global, &results, &indexer, &steps);
        }
        let answer = if is_stdin {
            let document = NewSource::new(&self.stdin_filename, read_stdin()?);
            indexer.put([document], &|step| steps.advance(step))?
        } else {
            indexer.run(&|step| steps.advance(step))?
        };
        steps.finish();
        Self::show(global, &results, &answer)
    }

    /// The paths to index. Flags about folders imply the working folder.
    fn paths(&self) -> Vec<PathBuf> {
        if self.paths.is_empty() && self.urls.is_some() {
            return Vec::new();
        }
        if self.paths.is_empty() && self.is_about_folders() { vec![".".into()] } else { paths_or_default(&self.paths) }
    }

    fn is_about_folders(&self) -> bool {
        let is_of_folder = self.prefix.is_some() || self.root.is_some() || self.moved_from.is_some();
        self.watch || self.prune.is_some() || is_of_folder
    }

    /// Returns whether the document is on standard input.
    fn is_stdin(&self, paths: &[PathBuf]) -> Result<bool> {
        if !paths.iter().any(|path| path == Path::new("-")) {
            return Ok(false);
        }
        if paths.len() > 1 {
            bail!("standard input must be indexed alone; index the other paths in another run");
        }
        if self.is_about_folders() {
            bail!("standard input belongs to no folder; omit `--watch`, `--prune`, `--prefix`, `--root` and `--moved-from`");
        }
        Ok(true)
    }

    fn request(&self, results: &Destination, paths: Vec<PathBuf>) -> IndexRequest {
        let usual = if self.watch {
            IndexRequest::following(paths)
        } else {
            IndexRequest { paths, ..IndexRequest::default() }
        };
        IndexRequest {
            dry_run: self.dry_run,
            prune: self.prune.map_or(usual.prune, |flag| flag.prune(self.watch)),
            prefix: self.prefix.clone(),
            root: self.root.clone(),
            moved_from: self.moved_from.clone(),
            meta: self.meta.iter().cloned().collect(),
            urls: self.urls.iter().cloned().collect(),
            allow_private: self.allow_private,
            rehash: self.rehash,
            price: self.price,
            summaries: self.summaries,
            skip_generated: self.skip_generated,
            force: self.output.force(),
            context_notes: self.context_notes,
            document_summaries: self.document_summaries,
            exclude: results.replaced.clone(),
            ..usual
        }
    }

    /// Indexes after every change. A run that wrote nothing, because the event was not a change, is not reported.
    fn follow(
        global: &Global,
        results: &Destination,
        indexer: &Indexer,
        steps: &Steps<'_>,
    ) -> Result<Outcome> {
        let mut is_first = true;
        indexer.watch(&|step| steps.advance(step), |event| -> Result<()> {
            match event {
                Watched::Run(answer) => {
                    steps.finish();
                    if is_first {
                        Self::show(global, results, &answer)?;
                    } else if answer.changed_anything() {
                        let written = written(&steps.state().written);
                        show_change(global, results, &answer, written)?;
                    }
                    is_first = false;
                }
                Watched::Failed(error) => {
                    steps.finish();
                    global.say(&format!("error: {}; still watching", plain(&error.to_string())));
                }
                Watched::Notice(notice) => global.tell(&[notice]),
                Watched::Waiting => {
                    interrupt::keeps("what was indexed is kept; run the same command again to keep watching");
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(Outcome::Success)
    }

    fn show(global: &Global, results: &Destination, answer: &IndexAnswer) -> Result<Outcome> {
        let describe = |_: &IndexAnswer| describe(answer, global.verbose);
        if global.verbose {
            results.only(answer, describe)?;
        } else {
            results.only(&answer.brief(), describe)?;
        }
        Ok(tell(global, answer))
    }

}

/// Prints a one-line report of a run that followed a change.
fn show_change(
    global: &Global,
    results: &Destination,
    answer: &IndexAnswer,
    written: String,
) -> Result<Outcome> {
    let line = |answer: &IndexAnswer| {
        let IndexSummary { chunks, texts, .. } = answer.summary();
        let parts = [Some(written), chunks, texts].into_iter().flatten();
        format!("{}\n", plain(&parts.collect::<Vec<_>>().join("; ")))
    };
    results.only(answer, line)?;
    Ok(tell(global, answer))
}

/// Prints notices to standard error, and returns the outcome of the run.
fn tell(global: &Global, answer: &IndexAnswer) -> Outcome {
    report_skipped(global, &answer.report.skipped);
    for failure in &answer.report.failed {
        note(&format!("{} `{}`: {}", red("failed"), plain(&failure.doc_id), plain(&failure.message)));
    }
    global.tell(&answer.notices);
    match (answer.report.failed.is_empty(), answer.is_empty()) {
        (false, _) => Outcome::Partial,
        (true, true) => Outcome::Nothing,
        (true, false) => Outcome::Success,
    }
}

/// The progress bar of a run, and what is kept if it ends now.
struct Steps<'a> {
    global: &'a Global,
    state: Mutex<State>,
    dry_run: bool,
}

#[derive(Default)]
struct State {
    run: RunProgress,
    bar: Option<Progress>,
    /// Ids of the documents that were stored or removed.
    written: Vec<String>,
}

impl<'a> Steps<'a> {
    fn new(global: &'a Global, dry_run: bool) -> Self {
        Self { global, state: Mutex::default(), dry_run }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn advance(&self, step: Step<'_>) {
        let State { run, bar, written } = &mut *self.state();
        run.note_of_watch(step);
        match step {
            Step::Committed { doc_ids } => {
                written.extend(doc_ids.iter().cloned());
                return;
            }
            Step::Fetched(pages, found) => {
                let bar = bar.get_or_insert_with(|| Progress::new(self.global, found, "pages"));
                bar.advance_to(pages);
                interrupt::keeps("what was fetched is kept; run the same command again to fetch the rest".to_owned());
                return;
            }
            Step::Found { bytes, .. } => {
                bar.take().into_iter().for_each(Progress::finish);
                *bar = Some(Progress::of_bytes(self.global, bytes));
                written.clear();
            }
            _ => {}
        }
        if let Some(bar) = bar {
            bar.reach(run.bytes, run.in_words(bar.seconds()));
        }
        interrupt::keeps(if self.dry_run { "nothing was changed".to_owned() } else { run.kept() });
    }

    fn finish(&self) {
        self.state().bar.take().into_iter().for_each(Progress::finish);
    }
}

/// The documents that were stored or removed: `` `a.md` and 3 more``.
fn written(doc_ids: &[String]) -> String {
    match doc_ids {
        [] => "no document".to_owned(),
        [one] => format!("`{one}`"),
        [first, rest @ ..] => format!("`{first}` and {} more", grouped(rest.len())),
    }
}

/// A report in lines: documents, chunks, texts, and further topics if any.
fn describe(answer: &IndexAnswer, verbose: bool) -> String {
    let it = answer.summary();
    let others = it.others.map_or_else(String::new, |others| format!("; {others}"));
    let times = it.times.filter(|_| verbose || it.is_long);
    let rest = [it.renamed, it.chunks, it.texts, it.notes, it.overlays, times].into_iter().flatten();
    let rest: String = rest.map(|line| format!("{}\n", plain(&line))).collect();
    format!("{}{others}\n{rest}", bold(&it.indexed))
}
