//! `chunkwright index`

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use chunkwright_engine::{
    Access, IndexAnswer, IndexReport, IndexRequest, Indexer, NewSource, Prefix, Progress as Step, Prune, Timings, Watched, meta,
};

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::input::{ThreadFlags, paths_or_default, read_stdin, report_skipped};
use crate::interrupt;
use crate::keys::{FileFlags, WriterFlags};
use crate::output::{OutputFlags, note};
use crate::progress::Progress;
use crate::text::{bold, count, grouped, plain, red};

/// Index files into a collection
///
/// Cuts, embeds and stores every document that is new or changed; unchanged documents are neither embedded nor
/// written. Updates are atomic: a search sees the old version of a document or the new one, also after a power
/// failure. Documents whose files are gone stay unless --prune is given.
///
/// With another configuration or model than the collection was made with, a new generation is built beside the
/// current one, which searches use until the new one is complete. An interrupted run resumes where it stopped.
///
/// A document that cannot be indexed keeps its last good version; the others are indexed, and the exit status is 3.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Index {
    /// Files, folders and quoted globs, walked as ripgrep does; `-` alone is standard input, one document
    ///
    /// Without a path, standard input is read if it is a pipe or a file, else the working folder. Drawings, lock files,
    /// source maps, minified and encoded content in folders are left out; documents of such files leave the collection.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
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
    #[arg(long, conflicts_with_all = ["dry_run", "output"])]
    watch: bool,
    /// Remove documents below the given paths whose files are gone
    ///
    /// Refused if more than half of them are gone, because a folder that is not mounted looks the same.
    /// `--prune=force` removes them anyway.
    #[arg(long, value_name = "force", num_args = 0..=1, require_equals = true, default_missing_value = "gone")]
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
    cut: CutFlags,
    #[command(flatten)]
    output: OutputFlags,
}

fn price(text: &str) -> Result<f64, String> {
    let price = text.parse().ok().filter(|price: &f64| price.is_finite() && *price >= 0.0);
    price.ok_or_else(|| "it must be a number from 0".into())
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum PruneFlag {
    #[value(hide = true)]
    Gone,
    Force,
}

impl Index {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let flags: [&dyn crate::keys::KeyFlags; 4] = [&self.cut, &self.files, &self.collection, &self.writer];
        let engine = if self.watch {
            // What other commands write while this one runs, they write through it.
            global.builder(Some(self.threads), &flags)?.owner().open(Access::Write)?
        } else {
            global.engine_on(Some(self.threads), &flags, Access::Write)?
        };
        let paths = self.paths();
        let is_stdin = self.is_stdin(&paths)?;
        let indexer = engine.default_collection().indexer(self.request(global, paths))?;
        let steps = Steps::new(global, self.dry_run);
        if self.watch {
            return self.follow(global, &indexer, &steps);
        }
        let answer = if is_stdin {
            let document = NewSource::new(&self.stdin_filename, read_stdin()?);
            indexer.put([document], &|step| steps.advance(step))?
        } else {
            indexer.run(&|step| steps.advance(step))?
        };
        steps.finish();
        self.show(global, &answer)
    }

    /// The paths that are meant. Flags that are about folders mean the working folder.
    fn paths(&self) -> Vec<PathBuf> {
        if self.paths.is_empty() && self.is_about_folders() { vec![".".into()] } else { paths_or_default(&self.paths) }
    }

    fn is_about_folders(&self) -> bool {
        let is_of_folder = self.prefix.is_some() || self.root.is_some() || self.moved_from.is_some();
        self.watch || self.prune.is_some() || is_of_folder
    }

    /// Whether the document is on standard input.
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

    fn request(&self, global: &Global, paths: Vec<PathBuf>) -> IndexRequest {
        IndexRequest {
            paths,
            dry_run: self.dry_run,
            prune: match self.prune {
                None => Prune::Keep,
                Some(PruneFlag::Gone) => Prune::Remove,
                Some(PruneFlag::Force) => Prune::Force,
            },
            prefix: self.prefix.clone(),
            root: self.root.clone(),
            moved_from: self.moved_from.clone(),
            meta: self.meta.iter().cloned().collect(),
            rehash: self.rehash,
            price: self.price,
            summaries: self.summaries,
            skip_generated: self.skip_generated,
            context_notes: self.context_notes,
            document_summaries: self.document_summaries,
            exclude: global.replaced.clone(),
        }
    }

    /// Indexes after every change. A run that wrote nothing, after an event that was no change, is not reported.
    fn follow(&self, global: &Global, indexer: &Indexer, steps: &Steps<'_>) -> Result<Outcome> {
        let mut is_first = true;
        indexer.watch(&|step| steps.advance(step), |event| -> Result<()> {
            match event {
                Watched::Run(answer) => {
                    steps.finish();
                    if is_first {
                        self.show(global, &answer)?;
                    } else if answer.changed_anything() {
                        self.show_change(global, &answer, &steps.written())?;
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

    fn show(&self, global: &Global, answer: &IndexAnswer) -> Result<Outcome> {
        self.output.only(answer, |answer| describe(&answer.report, self.dry_run, global.verbose))?;
        Ok(tell(global, answer))
    }

    /// Says a run that followed a change, in one line.
    fn show_change(&self, global: &Global, answer: &IndexAnswer, written: &str) -> Result<Outcome> {
        let report = &answer.report;
        let line = |_: &IndexAnswer| {
            let parts = [chunks(report), texts(report, false)].into_iter().flatten();
            let parts: Vec<String> = [written.to_owned()].into_iter().chain(parts).collect();
            format!("{}\n", parts.join("; "))
        };
        self.output.only(answer, line)?;
        Ok(tell(global, answer))
    }

}

/// Says on standard error what a caller should know, and answers how the run ended.
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

/// The bar of the step that a run is in.
struct Steps<'a> {
    global: &'a Global,
    state: Mutex<Bar>,
    dry_run: bool,
}

#[derive(Default)]
struct Bar {
    shown: Option<Progress>,
    /// Files done, which is to say stored, and how many were found.
    done: usize,
    total: usize,
    /// Bytes of the files done.
    bytes: u64,
    /// Texts embedded, and their tokens. How many there will be is not known before all files are cut.
    texts: (usize, usize),
    /// Ids of documents that were written.
    written: Vec<String>,
}

impl Bar {
    fn words(&self) -> String {
        let files = format!("{} of {}", grouped(self.done), count(self.total, "file"));
        let (texts, tokens) = self.texts;
        let Some(shown) = self.shown.as_ref().filter(|_| texts > 0) else { return files };
        let (rate, texts, tokens) = (shown.rate(texts), count(texts, "text"), count(tokens, "token"));
        format!("{files}; {texts} embedded, {tokens}, {rate:.1} texts/s")
    }
}

impl<'a> Steps<'a> {
    fn new(global: &'a Global, dry_run: bool) -> Self {
        Self { global, state: Mutex::default(), dry_run }
    }

    fn advance(&self, step: Step<'_>) {
        let mut bar = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match step {
            Step::Found { files, bytes } => {
                let shown = Progress::of_bytes(self.global, bytes);
                *bar = Bar { shown: Some(shown), total: files, ..Bar::default() };
            }
            Step::Read { files, bytes } => {
                // What is to be read again may be read twice, once as a file and once out of the store.
                bar.done = files.min(bar.total);
                bar.bytes = bytes;
            }
            Step::Embedded { texts, tokens, .. } => bar.texts = (texts, tokens),
            Step::Committed { doc_ids } => {
                bar.written.extend(doc_ids.iter().cloned());
                return;
            }
            _ => return,
        }
        if let Some(shown) = &bar.shown {
            shown.reach(bar.bytes, bar.words());
        }
        interrupt::keeps(if self.dry_run {
            "nothing was changed".to_owned()
        } else {
            let (done, total) = (grouped(bar.done), count(bar.total, "file"));
            let vectors = match bar.texts.0 {
                0 => String::new(),
                texts => format!(", with {}", count(texts, "vector")),
            };
            format!("{done} of {total} were indexed and are kept{vectors}; run the same command again to index the rest")
        });
    }

    /// The documents that the last run wrote, in words.
    fn written(&self) -> String {
        let bar = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match bar.written.as_slice() {
            [] => "no document".to_owned(),
            [one] => format!("`{}`", plain(one)),
            [first, rest @ ..] => format!("`{}` and {} more", plain(first), grouped(rest.len())),
        }
    }

    fn finish(&self) {
        let mut bar = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = bar.shown.take() {
            bar.finish();
        }
    }
}

/// A report in lines: documents, chunks, texts; and what else there is to say.
fn describe(report: &IndexReport, dry_run: bool, verbose: bool) -> String {
    let mut lines = vec![documents(report, dry_run)];
    lines.extend(renames(report));
    lines.extend(chunks(report));
    lines.extend(texts(report, dry_run));
    lines.extend(others(report));
    let is_long = |timings: &Timings| verbose || timings.total_ms >= LONG_MS;
    if let Some(timings) = report.timings.filter(is_long) {
        let seconds = |ms: u64| format!("{:.1}", ms as f64 / 1e3);
        let [total, read, cut, embed, store] =
            [timings.total_ms, timings.read_ms, timings.cut_ms, timings.embed_ms, timings.store_ms].map(seconds);
        lines.push(format!("{total} s: reading {read}, cutting {cut} (on all threads), embedding {embed}, storing {store}"));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Runs that take longer than this, in milliseconds, say where the time went.
const LONG_MS: u64 = 10_000;

/// Those of the numbers that are not 0, each with what it counts, one after the other.
fn listed(numbers: &[(usize, &str)]) -> String {
    let some = numbers.iter().filter(|(number, _)| *number > 0);
    some.map(|(number, what)| format!("{} {what}", grouped(*number))).collect::<Vec<_>>().join(", ")
}

fn documents(report: &IndexReport, dry_run: bool) -> String {
    let verb = if dry_run { "would be indexed" } else { "indexed" };
    let rest = listed(&[
        (report.unchanged, "unchanged"),
        (report.empty, "empty"),
        (report.carried, "of other paths"),
        (report.pruned.len(), if dry_run { "would be pruned" } else { "pruned" }),
        (report.left_out.len(), if dry_run { "would be left out" } else { "left out" }),
        (report.skipped.len(), "skipped"),
        (report.failed.len(), "failed"),
        (report.generated, "generated"),
        (report.minified, "minified"),
    ]);
    let documents = bold(&format!("{} {verb}", count(report.indexed, "document")));
    if rest.is_empty() { documents } else { format!("{documents}; {rest}") }
}

/// Renamed documents that are named.
const NAMED: usize = 5;

fn renames(report: &IndexReport) -> Option<String> {
    let named = report.renamed.iter().take(NAMED);
    let mut parts: Vec<String> =
        named.map(|it| format!("`{}` to `{}`", plain(&it.from), plain(&it.to))).collect();
    if report.renamed.len() > NAMED {
        parts.push(format!("{} more", grouped(report.renamed.len() - NAMED)));
    }
    (!parts.is_empty()).then(|| format!("renamed: {}", parts.join(", ")))
}

fn chunks(report: &IndexReport) -> Option<String> {
    let changes = listed(&[
        (report.added, "added"),
        (report.changed, "changed"),
        (report.moved, "moved"),
        (report.removed, "removed"),
        (report.kept, "kept"),
    ]);
    (!changes.is_empty()).then(|| format!("chunks: {changes}"))
}

fn texts(report: &IndexReport, dry_run: bool) -> Option<String> {
    let cost = report.cost.map_or(String::new(), |cost| format!(", cost {cost:.4}"));
    let (verb, tokens) = (if dry_run { "to embed" } else { "embedded" }, count(report.tokens_to_embed, "token"));
    let embedded = match report.embedded {
        0 => None,
        number => Some(format!("{} {verb} ({tokens}{cost})", count(number, "text"))),
    };
    let rest = listed(&[
        (report.reused, "vectors reused"),
        (report.pending, "chunks without a vector"),
        (report.truncated, "texts longer than the model reads"),
    ]);
    let parts: Vec<String> = embedded.into_iter().chain((!rest.is_empty()).then_some(rest)).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Notes and overlays, where there are any.
fn others(report: &IndexReport) -> Vec<String> {
    let notes = listed(&[
        (report.notes, "written"),
        (report.notes_reused, "reused"),
        (report.notes_pending, "missing"),
        (report.notes_tokens, "tokens"),
    ]);
    let cost = report.notes_cost.map_or(String::new(), |cost| format!(", cost {cost:.4}"));
    let overlays = listed(&[
        (report.overlays.on, "applied"),
        (report.overlays.carried, "carried"),
        (report.overlays.conflict, "in conflict"),
        (report.overlays.orphaned, "orphaned"),
    ]);
    let line = |name: &str, text: String| (!text.is_empty()).then(|| format!("{name}: {text}"));
    line("notes", notes).map(|line| line + &cost).into_iter().chain(line("overlays", overlays)).collect()
}
