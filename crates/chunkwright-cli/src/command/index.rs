//! `chunkwright index`

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use chunkwright_engine::{
    Access, IndexAnswer, IndexReport, IndexRequest, Indexer, NewSource, Prefix, Progress as Step, Prune, Watched,
};

use crate::app::{CollectionFlags, CutFlags, Global, Outcome};
use crate::input::{ThreadFlags, read_stdin, report_skipped};
use crate::interrupt;
use crate::keys::WriterFlags;
use crate::output::{OutputFlags, note};
use crate::progress::Progress;
use crate::text::{Table, bold, count, grouped, plain, red};

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
    /// Files and folders, walked as ripgrep does; `-` alone is standard input, one document
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
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
        let flags: [&dyn crate::keys::KeyFlags; 3] = [&self.cut, &self.collection, &self.writer];
        let engine = global.engine_on(Some(self.threads), &flags, Access::Write)?;
        let is_stdin = self.is_stdin()?;
        let indexer = engine.default_collection().indexer(self.request(global))?;
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

    /// Whether the document is on standard input.
    fn is_stdin(&self) -> Result<bool> {
        if !self.paths.iter().any(|path| path == Path::new("-")) {
            return Ok(false);
        }
        if self.paths.len() > 1 {
            bail!("standard input must be indexed alone; index the other paths in another run");
        }
        let is_of_folder = self.prefix.is_some() || self.root.is_some() || self.moved_from.is_some();
        if self.watch || self.prune.is_some() || is_of_folder {
            bail!("standard input belongs to no folder; omit `--watch`, `--prune`, `--prefix`, `--root` and `--moved-from`");
        }
        Ok(true)
    }

    fn request(&self, global: &Global) -> IndexRequest {
        IndexRequest {
            paths: self.paths.clone(),
            dry_run: self.dry_run,
            prune: match self.prune {
                None => Prune::Keep,
                Some(PruneFlag::Gone) => Prune::Remove,
                Some(PruneFlag::Force) => Prune::Force,
            },
            prefix: self.prefix.clone(),
            root: self.root.clone(),
            moved_from: self.moved_from.clone(),
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
                    if is_first || answer.changed_anything() {
                        self.show(global, &answer)?;
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
        self.output.only(answer, |answer| describe(&answer.report, self.dry_run))?;
        report_skipped(global, &answer.report.skipped);
        for failure in &answer.report.failed {
            note(&format!("{} `{}`: {}", red("failed"), plain(&failure.doc_id), plain(&failure.message)));
        }
        global.tell(&answer.notices);
        Ok(match (answer.report.failed.is_empty(), answer.is_empty()) {
            (false, _) => Outcome::Partial,
            (true, true) => Outcome::Nothing,
            (true, false) => Outcome::Success,
        })
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
    done: usize,
    /// How many files were found.
    total: usize,
}

impl<'a> Steps<'a> {
    fn new(global: &'a Global, dry_run: bool) -> Self {
        Self { global, state: Mutex::default(), dry_run }
    }

    fn advance(&self, step: Step<'_>) {
        let mut bar = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match step {
            Step::Found { files } => {
                let shown = Progress::new(self.global, files, "files");
                *bar = Bar { shown: Some(shown), done: 0, total: files };
            }
            Step::Read { files } => {
                if let Some(shown) = &bar.shown {
                    shown.advance(files.saturating_sub(bar.done));
                }
                // What is to be read again may be read twice, once as a file and once out of the store.
                bar.done = files.min(bar.total);
            }
            _ => return,
        }
        interrupt::keeps(if self.dry_run {
            "nothing was changed".to_owned()
        } else {
            let (done, total) = (grouped(bar.done), count(bar.total, "file"));
            format!("{done} of {total} were indexed and are kept; run the same command again to index the rest")
        });
    }

    fn finish(&self) {
        let mut bar = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = bar.shown.take() {
            bar.finish();
        }
    }
}

/// Rows that are news only if there are any.
const CHANGES: [&str; 5] = ["chunks kept", "chunks moved", "chunks changed", "chunks added", "chunks removed"];

fn describe(report: &IndexReport, dry_run: bool) -> String {
    let mut table = Table::new(["", ""]);
    let rows = [
        (if dry_run { "would be indexed" } else { "indexed" }, report.indexed),
        ("unchanged", report.unchanged),
        ("empty", report.empty),
        ("skipped", report.skipped.len()),
        ("failed", report.failed.len()),
        (if dry_run { "would be pruned" } else { "pruned" }, report.pruned.len()),
        ("generated among them", report.generated),
        ("minified among them", report.minified),
        ("documents of other paths", report.carried),
        ("chunks written", report.chunks),
        ("chunks kept", report.kept),
        ("chunks moved", report.moved),
        ("chunks changed", report.changed),
        ("chunks added", report.added),
        ("chunks removed", report.removed),
        (if dry_run { "tokens to embed" } else { "tokens embedded" }, report.tokens_to_embed),
        ("notes written", report.notes),
        ("notes reused", report.notes_reused),
        ("notes missing", report.notes_pending),
        ("tokens of notes", report.notes_tokens),
        ("texts embedded", report.embedded),
        ("vectors reused", report.reused),
        ("chunks without vector", report.pending),
        ("overlays applied", report.overlays.on),
        ("overlays carried", report.overlays.carried),
        ("overlays in conflict", report.overlays.conflict),
        ("overlays orphaned", report.overlays.orphaned),
        ("texts longer than the model reads", report.truncated),
    ];
    let only_if_any = |name: &str| name.ends_with("among them") || name.ends_with("other paths") || name.contains("notes") || name.starts_with("overlays") || CHANGES.contains(&name);
    let is_news = |(name, number): &(&str, usize)| *number > 0 || !only_if_any(name);
    for (name, number) in rows.into_iter().filter(is_news) {
        table.row([name.to_owned(), bold(&grouped(number))]);
    }
    if let Some(cost) = report.notes_cost {
        table.row(["cost of notes".to_owned(), bold(&format!("{cost:.4}"))]);
    }
    if let Some(cost) = report.cost {
        table.row(["cost of embedding".to_owned(), bold(&format!("{cost:.4}"))]);
    }
    table.to_string()
}
