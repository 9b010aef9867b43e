//! `chunkwright diff`

use std::io::{BufWriter, IntoInnerError};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use chunkwright::diff::{Change, ChangeKind, Diff as Difference, Summary};
use chunkwright_engine::files::Existing;
use chunkwright_engine::{Access, DiffAnswer, DiffSide};
use serde::Serialize;

use crate::app::{CutFlags, Global, Outcome};
use crate::input::{ThreadFlags, input, report};
use crate::keys::FileFlags;
use crate::output::{Output, OutputFlags, OutputPath, Reads as _};
use crate::progress::Progress;
use crate::text::{Table, bold, count, dim, green, grouped, plain, preview, red, terminal_width, yellow};

/// Compare the chunks of two versions of a file or folder
///
/// Says which chunks survive: kept (same id, same lines), moved (same id, other lines), changed (another text or path
/// in the same place), added, removed; and how many tokens have to be embedded again: those of texts that the old
/// side does not have.
///
/// Two files are compared as versions of one document, whatever their names. Documents of two folders are compared if
/// they have the same path. A renamed document is found by its text; its chunks are `renamed`. JSON Lines have one
/// change per line and the summary last.
///
/// A side can also be a file of chunks that `chunk` or `export` wrote, or a git revision: `HEAD~1` means the other side's
/// path as it was then, `HEAD~1:docs` or `docs@HEAD~1` another path.
///
/// With --operations, the output is what a vector database has to do, one JSON object per line, in order: `upsert` (embed
/// the text of `record`, or copy the vector of the chunk `vector_of`), `rename` (keep the vector under another id),
/// `update` (keep id and vector, replace the record), `delete`.
///
/// With --state, the old side is what FILE holds: the chunks of the run before, and none at first. The operations are
/// printed, and when they are written whole, FILE is replaced by the chunks as they are now. A run that is interrupted, or
/// whose output could not be written, leaves it as it was, so that the next one tells the same again.
///
/// An empty file of chunks, or `/dev/null`, is a side without a chunk. The exit status is 0 with and without differences.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Diff {
    /// The old file or folder, file of chunks, or git revision; `-` is standard input
    old: PathBuf,
    /// The new one; with --state, only one side is given
    new: Option<PathBuf>,
    /// Print what a vector database has to do instead of what changed
    #[arg(long)]
    operations: bool,
    /// List kept chunks too on a terminal
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    files: FileFlags,
    #[command(flatten)]
    threads: ThreadFlags,
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    output: OutputFlags,
    /// Print the operations since the run before, and keep in FILE what they lead to, as JSON Lines or `.parquet`
    #[arg(long, value_name = "FILE")]
    state: Option<OutputPath>,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright diff old.md new.md
  chunkwright diff HEAD~1 docs
  chunkwright diff v1.0:docs v2.0:docs
  chunkwright diff yesterday.jsonl docs --operations
  chunkwright diff --state chunks.jsonl docs | load-into-my-database
  curl -s URL | chunkwright diff - guide.md";

/// The last line of JSON Lines.
#[derive(Serialize)]
struct SummaryLine<'a> {
    kind: &'static str,
    #[serde(flatten)]
    summary: &'a Summary,
}

impl Diff {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[&self.old, &self.new, &self.state, &self.cut])?;
        let (old, new) = self.sides()?;
        let engine = global.engine_on(Some(self.threads), &[&self.cut, &self.files], Access::NoStore)?;
        let mut progress = None;
        let kept = self.state.iter().filter_map(|state| state.path().canonicalize().ok());
        let exclude: Vec<PathBuf> = results.replaced.iter().cloned().chain(kept).collect();
        let answer = engine.diff(&old, &new, &exclude, &mut |done, total| {
            let bar = progress.get_or_insert_with(|| Progress::new(global, total, "documents"));
            bar.advance(1);
            if done == total {
                progress.take().into_iter().for_each(Progress::finish);
            }
        })?;
        answer.reports.iter().for_each(|read| report(global, read));
        global.tell(&answer.notices);
        if self.operations || self.state.is_some() {
            let mut output = results.open()?;
            output.objects(&answer.operations())?;
            output.end_list()?;
            output.finish()?;
            // Only now, because operations that were not written completely must be printed again.
            self.state.iter().try_for_each(|state| write_state(state, &answer))?;
            return Ok(Outcome::Success);
        }
        let diff = &answer.diff;
        let lines = |output: &mut Output| {
            output.objects(&diff.changes)?;
            output.object(&SummaryLine { kind: "summary", summary: &diff.summary })
        };
        results.answer(&answer, lines, |_| self.describe(diff))?;
        Ok(Outcome::Success)
    }

    /// The two sides, one of which may be a state.
    fn sides(&self) -> Result<(DiffSide, DiffSide)> {
        let Some(state) = &self.state else {
            let new = self.new.as_ref().context("a comparison has two sides; give the new one too, or `--state FILE`")?;
            return Ok((side(&self.old), side(new)));
        };
        if let Some(new) = &self.new {
            let new = plain(&new.display().to_string());
            bail!("with `--state`, the old side is the state; leave out `{new}` or `--state`");
        }
        let path = state.path();
        if state.is_stdout() || path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            bail!("`{state}` cannot keep a state; name a regular file, which need not exist");
        }
        if self.output.is_lost() {
            bail!(
                "standard output is closed, so that the operations would be lost; write them to a file with `--output`"
            );
        }
        state.check(&self.old.files(), Existing::Replaced)?;
        Ok((DiffSide::state(path)?, side(&self.old)))
    }

    fn describe(&self, diff: &Difference) -> String {
        let mut table = Table::new(["change", "lines before", "lines now", "tokens", "document", "path"]);
        let width = terminal_width();
        for change in diff.changes.iter().filter(|change| self.all || change.kind != ChangeKind::Kept) {
            let lines = |place: &Option<chunkwright::diff::Place>| {
                place.as_ref().map(|place| format!("{}-{}", place.start_line, place.end_line)).unwrap_or_default()
            };
            table.row([
                paint(change),
                lines(&change.old),
                lines(&change.new),
                change.new.as_ref().or(change.old.as_ref()).map_or(0, |place| place.token_count).to_string(),
                preview(&change.doc_id, width / 4),
                preview(&change.header_path, width / 3),
            ]);
        }
        let summary = &diff.summary;
        let counts = [
            (summary.kept, "kept"),
            (summary.moved, "moved"),
            (summary.renamed, "renamed"),
            (summary.changed, "changed"),
            (summary.added, "added"),
            (summary.removed, "removed"),
        ];
        let is_shown = |&(number, kind): &(usize, &str)| number > 0 || kind != "renamed";
        let counts = counts.into_iter().filter(is_shown).map(|(number, kind)| format!("{number} {kind}"));
        let counts: Vec<String> = counts.collect();
        let before = count(summary.old_chunks, "chunk");
        let total = format!("{before} before, {} now: {}", summary.new_chunks, counts.join(", "));
        let (tokens, texts) = (count(summary.tokens_to_embed, "token"), count(summary.texts_to_embed, "text"));
        let cost = format!("{tokens} in {texts} have to be embedded again, of {}", grouped(summary.new_tokens));
        let changes = if table.is_empty() { String::new() } else { format!("{table}\n") };
        format!("{changes}{}\n{}\n", bold(&total), dim(&cost))
    }
}

/// Writes the records after the operations to a file that appears when the command has succeeded.
fn write_state(state: &OutputPath, answer: &DiffAnswer) -> Result<()> {
    let unwritten = || format!("the state `{state}` could not be written");
    let sink = BufWriter::with_capacity(1 << 16, state.begin(Existing::Replaced)?);
    let sink = answer.write_state(sink, state.extension().as_deref() == Some("parquet"))?;
    let file = sink.into_inner().map_err(IntoInnerError::into_error).with_context(unwritten)?;
    file.finish();
    Ok(())
}

/// Resolves a side; `-` is standard input.
fn side(path: &Path) -> DiffSide {
    if path == Path::new("-") { DiffSide::Documents(input(path, "-")) } else { DiffSide::named(path) }
}

fn paint(change: &Change) -> String {
    let name = change.kind.as_str();
    match change.kind {
        ChangeKind::Kept | ChangeKind::Moved | ChangeKind::Renamed => dim(name),
        ChangeKind::Changed => yellow(name),
        ChangeKind::Added => green(name),
        ChangeKind::Removed => red(name),
    }
}
