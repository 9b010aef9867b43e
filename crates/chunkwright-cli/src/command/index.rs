//! `chunkwright index`

use std::cell::{Cell, RefCell};
use std::path::PathBuf;

use std::sync::Arc;

use anyhow::{Result, bail};
use chunkwright_index::{
    Access, FolderOptions, IndexOptions, IndexReport, NoteOptions, Pipeline, Prefix, Progress as Step, Prune,
};
use serde::Serialize;

use crate::app::{self, CollectionFlags, CutFlags, Global, IndexEmbedder, Outcome};
use crate::input::{ThreadFlags, note_nuls, report_skipped};
use crate::interrupt;
use crate::output::OutputFlags;
use crate::progress::Progress;
use crate::services::WriterFlags;
use crate::settings::Settings;
use crate::text::{Table, bold, count, grouped, plain, red, yellow};
use crate::watch::watch;

/// Bring a collection to the state of files
///
/// Cuts, embeds and stores every document that is new or changed; what is unchanged is neither embedded
/// nor written. A document is replaced whole: a search, and a machine that loses power, sees its old
/// version or its new one. Documents whose files are gone stay, unless --prune is given.
///
/// With another configuration or model than the collection was made with, all of it is made again beside
/// the old one, which searches see until the new one is whole. A run that is stopped is gone on with.
///
/// A document that cannot be indexed keeps its last good version; the rest is indexed, and the exit
/// status is 3.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Index {
    /// Files and folders, walked as ripgrep does
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// Say what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Go on after the run, and run again after every change of a file, until the process is stopped
    ///
    /// A burst of changes is one run. A process that is killed loses nothing: the next sees what changed.
    #[arg(long, conflicts_with_all = ["dry_run", "output"])]
    watch: bool,
    /// Remove the documents of the paths given whose files are gone
    ///
    /// Refused if more than half of them are: a folder that was not mounted looks just like that.
    /// `--prune=force` removes them all the same.
    #[arg(long, value_name = "force", num_args = 0..=1, require_equals = true, default_missing_value = "gone")]
    prune: Option<PruneFlag>,
    /// What stands before the ids of the documents of the paths given: NAME makes `NAME/README.md` of README.md
    ///
    /// For several folders in one collection. It is remembered: later runs over a folder, or over what is in it,
    /// keep its ids without being told.
    #[arg(long, value_name = "NAME")]
    prefix: Option<Prefix>,
    /// Make ids relative to this folder, which holds the paths given, instead of to each path
    ///
    /// `index a b --root .` gives `a/README.md` and `b/README.md`. Remembered as a prefix is.
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
    /// The path given is this folder of the collection, in a new place: its documents stay what they are
    ///
    /// A folder that is gone, and whose files are in the path given, is recognised without it.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["prefix", "root"])]
    moved_from: Option<PathBuf>,
    /// Read every file, also those whose time and length are as they were
    #[arg(long)]
    rehash: bool,
    /// What a million tokens cost to embed, to have the cost told
    #[arg(long, value_name = "MONEY", value_parser = price, allow_negative_numbers = true)]
    price: Option<f64>,
    /// Store summaries of functions, classes and files of source code beside their chunks
    #[arg(long)]
    summaries: bool,
    /// Leave out files that a program wrote or minified
    #[arg(long)]
    skip_generated: bool,
    /// Have the writer say before each chunk what it is about, within the limit
    #[arg(long)]
    context_notes: bool,
    /// Have the writer summarise each document, to be shown with what is found in it
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

/// A report and what it is of.
#[derive(Serialize)]
struct Row<'a> {
    collection: &'a str,
    store: String,
    model: Option<&'a str>,
    dry_run: bool,
    #[serde(flatten)]
    report: &'a IndexReport,
}

impl Index {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.cut, &self.collection, &self.writer])?;
        let chunker = app::chunker(&settings)?;
        let store = app::store(&settings, Access::Write)?;
        let embedder = match app::index_embedder(&settings, &*store)? {
            IndexEmbedder::One(embedder) => Some(embedder),
            IndexEmbedder::Nothing => None,
            // Words are enough to be found by. Vectors need a generation of their own, since how long they are
            // is a part of it; the first run that is told makes it.
            IndexEmbedder::Away(error) => {
                let why = plain(&error.to_string());
                global.say(&format!(
                    "{} no chunk gets a vector: {why}; they are found by words, and a run that reaches the service adds vectors",
                    yellow("pending")
                ));
                None
            }
        };
        let price = embedder.as_ref().and_then(|embedder| embedder.model().price_per_million_tokens);
        let model = embedder.as_ref().map(|embedder| embedder.model().name.clone());
        let mut pipeline = Pipeline::new(store, &settings.collection, chunker, &settings.preset)
            .with_summaries(self.summaries);
        if let Some(embedder) = embedder {
            pipeline = pipeline.with_embedder(embedder);
        } else if settings.embedder.is_none() {
            global.say("no model is installed, so search will be by words only; `chunkwright doctor` says how to install one");
        }
        if self.context_notes || self.document_summaries {
            let Some(writer) = app::writer(&settings)? else {
                bail!("notes need a chat model; name it by `--writer`, such as `--writer ollama:llama3.2`");
            };
            pipeline = pipeline.with_notes(NoteOptions {
                writer: Arc::new(writer),
                contexts: self.context_notes,
                summaries: self.document_summaries,
            });
        }
        let runner = Runner { index: self, global, settings: &settings, pipeline, model, price };
        self.threads.apply()?;
        if self.watch { runner.watch() } else { runner.run(Quiet::No) }
    }
}

/// Whether a run is told of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quiet {
    No,
    /// Not if it wrote nothing: a run after an event that was no change.
    IfUnchanged,
}

/// All that a run needs.
struct Runner<'a> {
    index: &'a Index,
    global: &'a Global,
    settings: &'a Settings,
    pipeline: Pipeline,
    model: Option<String>,
    price: Option<f64>,
}

impl Runner<'_> {
    /// Runs again and again.
    fn watch(&self) -> Result<Outcome> {
        let mut quiet = Quiet::No;
        watch(self.global, &self.index.paths, &app::store_dir(self.settings)?, || {
            self.run(quiet)?;
            quiet = Quiet::IfUnchanged;
            Ok(())
        })?;
        Ok(Outcome::Success)
    }

    fn options(&self) -> IndexOptions {
        let Index { rehash, price, prune, dry_run, skip_generated, .. } = *self.index;
        let Index { prefix, root, moved_from, .. } = self.index;
        IndexOptions {
            folders: FolderOptions {
                prefix: prefix.clone(),
                root: root.clone(),
                moved_from: moved_from.clone(),
            },
            indexed_at: app::now(),
            started: app::now_nanos(),
            rehash,
            price: price.or(self.price),
            prune: match prune {
                None => Prune::Keep,
                Some(PruneFlag::Gone) => Prune::Remove,
                Some(PruneFlag::Force) => Prune::Force,
            },
            dry_run,
            skip_generated,
            walk: self.global.walk(),
            cancel: Some(interrupt::flag()),
        }
    }

    fn run(&self, quiet: Quiet) -> Result<Outcome> {
        let (index, global, settings) = (self.index, self.global, self.settings);
        let options = self.options();
        let progress = Steps { global, bar: RefCell::default(), total: Cell::default(), dry_run: index.dry_run };
        let on_step = |step: Step<'_>| progress.advance(step);
        let report = self.pipeline.index(&index.paths, &options, &on_step)?;
        progress.finish();
        if report.cancelled {
            interrupt::check()?;
        }
        let wrote = report.indexed + report.empty + report.carried + report.pruned.len() + report.failed.len() > 0;
        if quiet == Quiet::IfUnchanged && !wrote && report.switched.is_none() {
            return Ok(Outcome::Success);
        }
        let mut output = index.output.open()?;
        if output.is_text() {
            output.text(&describe(&report, index.dry_run))?;
        } else {
            output.only(&Row {
                collection: &settings.collection,
                store: app::store_name(settings)?,
                model: self.model.as_deref(),
                dry_run: index.dry_run,
                report: &report,
            })?;
        }
        output.finish()?;
        tell(global, settings, &report);
        if !report.failed.is_empty() {
            return Ok(Outcome::Partial);
        }
        let nothing = report.indexed + report.unchanged + report.empty == 0;
        if nothing {
            global.say("no document was found at the paths given");
        }
        Ok(if nothing { Outcome::Nothing } else { Outcome::Success })
    }
}

/// Says on standard error what somebody should know.
fn tell(global: &Global, settings: &Settings, report: &IndexReport) {
    report_skipped(global, &report.skipped);
    for nuls in &report.nuls {
        note_nuls(global, &nuls.doc_id, nuls.count);
    }
    for failure in &report.failed {
        crate::output::note(&format!("{} `{}`: {}", red("failed"), plain(&failure.doc_id), plain(&failure.message)));
    }
    for moved in &report.moved_folders {
        global.say(&format!(
            "{} {} of `{}` {} taken as those of `{}`, where its files are now",
            yellow("moved"),
            count(moved.documents, "document"),
            plain(&moved.from),
            if moved.documents == 1 { "is" } else { "are" },
            plain(&moved.to)
        ));
    }
    if let Some(before) = report.switched {
        let collection = &settings.collection;
        let generation = report.generation.unwrap_or_default();
        global.say(&format!(
            "searches see `{collection}@{generation}` now; `{collection}@{before}` is kept until `chunkwright prune`"
        ));
    }
    if let Some(why) = &report.withheld {
        global.say(&format!(
            "{} searches still see the generation before, since {}; the next run goes on with the new one",
            yellow("note:"),
            plain(why)
        ));
    }
    let overlays = &report.overlays;
    if overlays.need_review() {
        global.say(&format!(
            "{} of the changes by hand, {} carried to edited chunks, {} in conflict, {} orphaned; `chunkwright overlays --review` lists them",
            yellow("review"),
            grouped(overlays.carried),
            grouped(overlays.conflict),
            grouped(overlays.orphaned),
        ));
    }
    if report.pending > 0 {
        let why = report.embed_error.as_deref().unwrap_or("the embedder failed");
        let pending = grouped(report.pending);
        global.say(&format!("{} {pending} chunks have no vector yet: {}; the next run tries again", yellow("pending"), plain(why)));
    }
    if report.notes_pending > 0 {
        let why = report.notes_error.as_deref().unwrap_or("the writer failed");
        global.say(&format!("{} {} notes are missing: {}; the next run tries again", yellow("pending"), grouped(report.notes_pending), plain(why)));
    }
}

/// The bar of the step the pipeline is in.
struct Steps<'a> {
    global: &'a Global,
    bar: RefCell<Option<(Progress, usize)>>,
    /// How many files were found.
    total: Cell<usize>,
    dry_run: bool,
}

impl Steps<'_> {
    fn advance(&self, step: Step<'_>) {
        let mut bar = self.bar.borrow_mut();
        match step {
            Step::Found { files } => {
                *bar = Some((Progress::new(self.global, files, "files"), 0));
                self.total.set(files);
                self.keeps(0);
            }
            Step::Read { files } => {
                if let Some((bar, done)) = &mut *bar {
                    bar.advance(files.saturating_sub(*done));
                    *done = files;
                }
                self.keeps(files);
            }
            _ => {}
        }
    }

    /// What a signal leaves.
    fn keeps(&self, done: usize) {
        let total = self.total.get();
        // What is to be read again may be read twice, once as a file and once out of the store.
        let done = done.min(total);
        interrupt::keeps(if self.dry_run {
            "nothing was changed".to_owned()
        } else {
            let (done, total) = (grouped(done), count(total, "file"));
            format!("{done} of {total} are indexed and kept; run the same command again to index the rest")
        });
    }

    fn finish(self) {
        if let Some((bar, _)) = self.bar.into_inner() {
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
        ("overlays on their chunks", report.overlays.on),
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
