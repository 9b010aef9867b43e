//! `chunkwright diff`

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use chunkwright::diff::{Change, ChangeKind, Diff as Difference, Summary};
use chunkwright::{Chunker, Record, RecordContext};
use chunkwright_source::{Item, Unread};
use serde::Serialize;

use crate::app::{self, CutFlags, Global, Outcome};
use crate::input::{ThreadFlags, gather, ordered, read, read_one, report};
use crate::output::OutputFlags;
use crate::progress::Progress;
use crate::text::{Table, bold, count, dim, green, grouped, plain, preview, red, terminal_width, yellow};

/// Compare the chunks of two versions of a file or folder
///
/// Says which chunks survive: kept (same id, same lines), moved (same id, other lines), changed (another
/// text or path in the same place), added, removed; and how many tokens have to be embedded again, which
/// are those of texts that the old side does not have.
///
/// Two files are taken as two versions of one document, whatever their names. Documents of two folders
/// are the same if their paths in them are. JSON Lines have one change a line and the summary last.
///
/// The exit status is 0 whether there are differences or not.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Diff {
    /// The old file or folder; `-` is standard input
    old: PathBuf,
    /// The new file or folder
    new: PathBuf,
    /// List kept chunks too on a terminal
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    threads: ThreadFlags,
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright diff old.md new.md
  git show HEAD~1:guide.md | chunkwright diff - guide.md";

/// The last line of JSON Lines.
#[derive(Serialize)]
struct SummaryLine<'a> {
    kind: &'static str,
    #[serde(flatten)]
    summary: &'a Summary,
}

impl Diff {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let settings = global.settings(&[&self.cut])?;
        let chunker = app::chunker(&settings)?;
        let (old, new) = if self.old.is_dir() && self.new.is_dir() {
            (self.folder(global, &chunker, &self.old)?, self.folder(global, &chunker, &self.new)?)
        } else if self.old.is_dir() || self.new.is_dir() {
            bail!("one of `{}` and `{}` is a folder; give two files or two folders", self.old.display(), self.new.display());
        } else {
            let name = file_name(if self.new == Path::new("-") { &self.old } else { &self.new });
            (one(global, &chunker, &self.old, &name)?, one(global, &chunker, &self.new, &name)?)
        };
        let diff = Difference::of(&old, &new);
        let mut output = self.output.open()?;
        match output.format() {
            crate::output::Format::Json => output.only(&diff)?,
            crate::output::Format::Jsonl => {
                for change in &diff.changes {
                    output.object(change)?;
                }
                output.object(&SummaryLine { kind: "summary", summary: &diff.summary })?;
            }
            crate::output::Format::Text => output.text(&self.describe(&diff))?,
        }
        output.finish()?;
        Ok(Outcome::Success)
    }

    /// The records of all documents of a folder.
    fn folder(&self, global: &Global, chunker: &Chunker, path: &Path) -> Result<Vec<Record>> {
        let mut inputs = gather(global, &[path.to_owned()], "")?;
        let items = std::mem::take(&mut inputs.items);
        let progress = Progress::new(global, items.len(), "documents");
        let mut all = Vec::new();
        let cut = |item: &Item| {
            read(item).map(|source| {
                let document = source.parse();
                chunker.records(&document, &chunker.chunk(&document), &RecordContext::default())
            })
        };
        let result = ordered(self.threads.get(), &items, cut, |_| 0, |records| {
            progress.advance(1);
            match records {
                Ok(records) => all.extend(records),
                Err(Unread::Skipped(skipped)) => inputs.skipped.push(skipped),
                Err(Unread::Failed(sentence)) => inputs.errors.push(sentence),
            }
            Ok(())
        });
        progress.finish();
        result?;
        if let Some(error) = inputs.errors.into_iter().next() {
            bail!(error);
        }
        inputs.errors = Vec::new();
        report(&inputs, global);
        Ok(all)
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
            (summary.changed, "changed"),
            (summary.added, "added"),
            (summary.removed, "removed"),
        ]
        .map(|(number, kind)| format!("{number} {kind}"));
        let before = count(summary.old_chunks, "chunk");
        let total = format!("{before} before, {} now: {}", summary.new_chunks, counts.join(", "));
        let (tokens, texts) = (count(summary.tokens_to_embed, "token"), count(summary.texts_to_embed, "text"));
        let cost = format!("{tokens} in {texts} to embed again, of {}", grouped(summary.new_tokens));
        let changes = if table.is_empty() { String::new() } else { format!("{table}\n") };
        format!("{changes}{}\n{}\n", bold(&total), dim(&cost))
    }
}

fn paint(change: &Change) -> String {
    let name = change.kind.as_str();
    match change.kind {
        ChangeKind::Kept | ChangeKind::Moved => dim(name),
        ChangeKind::Changed => yellow(name),
        ChangeKind::Added => green(name),
        ChangeKind::Removed => red(name),
    }
}

/// The records of one file, as a document called `name`.
fn one(global: &Global, chunker: &Chunker, path: &Path, name: &str) -> Result<Vec<Record>> {
    let mut source = read_one(global, path, name)?;
    name.clone_into(&mut source.doc_id);
    let document = source.parse();
    Ok(chunker.records(&document, &chunker.chunk(&document), &RecordContext::default()))
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| "stdin".into(), |name| plain(&name.to_string_lossy()))
}
