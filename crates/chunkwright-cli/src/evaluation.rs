//! Flags that `eval` and `tune` share, and the progress they report.

use std::path::PathBuf;

use anyhow::Result;
use chunkwright_engine::{Access, DocumentsRequest, Engine, EvaluationStep, Notice, NoticeCode, ReadReport};
use clap::Args;

use crate::app::{CutFlags, Global, Outcome};
use crate::input::{ThreadFlags, input, report};
use crate::keys::{EmbedderFlags, FileFlags};
use crate::output::{Destination, Reads, note};
use crate::progress::Progress;
use crate::searching::FusionFlags;
use crate::text::{plain, red};

/// Flags of commands that evaluate.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct EvaluationFlags {
    /// A file of questions if the first name ends in `.jsonl`, then files and folders of documents
    #[arg(value_name = "[QUESTIONS.jsonl] PATH", help_heading = "Arguments")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) files: FileFlags,
    #[command(flatten)]
    pub(crate) threads: ThreadFlags,
    /// Limits to try instead of those of the presets, in their unit, such as 180,200,220; other sizes follow
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Measuring")]
    pub(crate) sizes: Vec<usize>,
    #[command(flatten)]
    pub(crate) embedder: EmbedderFlags,
    #[command(flatten)]
    pub(crate) fusion: FusionFlags,
    /// Tokenizer for the budgets; by default the one that counts the tokens of chunks
    #[arg(long, value_name = "NAME|FILE", help_heading = "Measuring", hide_short_help = true)]
    pub(crate) budget_tokenizer: Option<String>,
    /// Seed of random draws; the same seed gives the same figures
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Measuring", hide_short_help = true)]
    pub(crate) seed: u64,
}

/// The presets in `--preset` for a command that compares several.
pub(crate) fn presets(cut: &CutFlags) -> Vec<String> {
    cut.get("preset").into_iter().flat_map(|names| names.split(',')).map(str::to_owned).collect()
}

impl EvaluationFlags {
    /// The file of questions, if the first name is one.
    pub(crate) fn questions(&self) -> Option<PathBuf> {
        let is_questions = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
        self.paths.first().filter(is_questions).cloned()
    }

    /// The documents that are named, or those of the working folder.
    pub(crate) fn documents(&self, results: &Destination) -> DocumentsRequest {
        DocumentsRequest {
            inputs: self.document_paths().iter().map(|path| input(path, "stdin")).collect(),
            shard: None,
            exclude: results.replaced.iter().cloned().collect(),
        }
    }

    fn document_paths(&self) -> Vec<PathBuf> {
        let paths = self.paths[usize::from(self.questions().is_some())..].to_vec();
        if paths.is_empty() { vec![".".into()] } else { paths }
    }

    /// An engine for all compared presets.
    pub(crate) fn engine(&self, global: &Global, cut: &CutFlags) -> Result<Engine> {
        let flags = cut.without("preset");
        global.engine_on(Some(self.threads), &[&flags, &self.embedder, &self.files], Access::NoStore)
    }
}

impl Reads for EvaluationFlags {
    fn files(&self) -> Vec<PathBuf> {
        let tokenizer = self.budget_tokenizer.iter().map(PathBuf::from);
        self.questions()
            .into_iter()
            .chain(self.document_paths())
            .chain(tokenizer)
            .flat_map(|path| path.files())
            .collect()
    }
}

/// Reports the events of an evaluation.
pub(crate) struct Steps<'a> {
    global: &'a Global,
    /// What the progress bar counts.
    noun: &'static str,
    progress: Option<Progress>,
    read: ReadReport,
    /// Why there is no answer.
    nothing: Option<Notice>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(global: &'a Global, noun: &'static str) -> Self {
        Self { global, noun, progress: None, read: ReadReport::default(), nothing: None }
    }

    pub(crate) fn take(&mut self, step: EvaluationStep) {
        match step {
            EvaluationStep::Refused { path, line, reason } => {
                let path = plain(&path.display().to_string());
                note(&format!("{} {path}:{line}: {}", red("error:"), plain(&reason)));
            }
            EvaluationStep::Notice(notice) if notice.code == NoticeCode::Nothing => {
                self.nothing = Some(notice);
            }
            EvaluationStep::Notice(notice) => self.global.tell(&[notice]),
            EvaluationStep::Begun { total } => {
                self.progress = Some(Progress::new(self.global, total, self.noun));
            }
            EvaluationStep::Measured => self.progress.iter().for_each(|progress| progress.advance(1)),
            EvaluationStep::Read(read) => {
                self.progress.take().into_iter().for_each(Progress::finish);
                self.read = read;
            }
            _ => {}
        }
    }

    /// Reports what could not be read, and returns the outcome of the command.
    pub(crate) fn ended(&self, outcome: Outcome) -> Outcome {
        report(self.global, &self.read);
        self.global.tell(self.nothing.as_slice());
        if self.read.errors.is_empty() { outcome } else { Outcome::Failed }
    }
}
