//! What `eval` and `tune` share: which documents and questions there are, and how they are searched.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use chunkwright::preset::PRESETS;
use chunkwright::{Chunker, Document};
use chunkwright_engine::Settings;
use chunkwright_eval::{Corpus, Questions};
use chunkwright_models::Embedder;
use chunkwright_source::{Inputs, ReadSource, Unread};
use clap::Args;

use crate::app::{self, CutFlags, Global};
use crate::input::{ThreadFlags, gather, ordered, read, report};
use crate::keys::EmbedderFlags;
use crate::output::note;
use crate::searching::{FusionFlags, ModeFlag};
use crate::text::{count, plain, red};

/// Flags of commands that evaluate.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct EvaluationFlags {
    /// A file of questions, if the first name ends in `.jsonl`; then files and folders of documents
    #[arg(value_name = "[QUESTIONS.jsonl] PATH", help_heading = "Arguments")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: ThreadFlags,
    /// Limits to try in place of the presets' own, in their unit, such as 180,200,220; other sizes follow
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Cutting")]
    pub(crate) sizes: Vec<usize>,
    #[command(flatten)]
    pub(crate) embedder: EmbedderFlags,
    #[command(flatten)]
    pub(crate) fusion: FusionFlags,
    /// What counts the tokens of a reader's budget; by default what counts those of chunks
    #[arg(long, value_name = "NAME|FILE", help_heading = "Measuring")]
    budget_tokenizer: Option<String>,
    /// What is drawn at random is drawn from this number; the same number gives the same figures
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Measuring")]
    pub(crate) seed: u64,
}

/// The documents, and what could not be read.
#[derive(Default)]
pub(crate) struct Documents {
    pub(crate) corpus: Corpus,
    /// The paths that were walked.
    pub(crate) paths: Vec<PathBuf>,
    inputs: Inputs,
}

/// A preset with the chunkers of all its sizes.
pub(crate) struct Variant {
    pub(crate) preset: String,
    pub(crate) sizes: Vec<usize>,
    pub(crate) chunkers: Vec<Chunker>,
}

/// The presets that `--preset` names where a command compares several: separated by commas, `all` for every built-in
/// one. Empty if it names none.
pub(crate) fn presets(cut: &CutFlags) -> Vec<String> {
    let names = cut.get("preset").unwrap_or_default().split(',').map(str::trim);
    let mut presets: Vec<String> = Vec::new();
    for name in names.filter(|name| !name.is_empty()) {
        let meant = match name {
            "all" => PRESETS.iter().map(|preset| preset.name).collect(),
            name => vec![name],
        };
        for name in meant {
            if !presets.iter().any(|preset| preset == name) {
                presets.push(name.to_owned());
            }
        }
    }
    presets
}

impl EvaluationFlags {
    /// The file of questions, if there is one, and the other paths.
    pub(crate) fn split(&self) -> (Option<&Path>, Vec<PathBuf>) {
        let is_questions = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
        let (questions, paths) = match self.paths.split_first() {
            Some((first, rest)) if is_questions(first) => (Some(first.as_path()), rest),
            _ => (None, self.paths.as_slice()),
        };
        (questions, if paths.is_empty() { vec![PathBuf::from(".")] } else { paths.to_vec() })
    }

    /// Reads and parses all documents but the files of `others`, which are no documents.
    pub(crate) fn documents(&self, global: &Global, others: &[&Path]) -> Result<Documents> {
        let (_, paths) = self.split();
        let mut inputs = gather(global, &paths, "stdin")?;
        let others: HashSet<PathBuf> = others.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let is_other = |path: &Path| path.canonicalize().is_ok_and(|path| others.contains(&path));
        inputs.items.retain(|item| !item.file().is_some_and(is_other));
        let items = std::mem::take(&mut inputs.items);
        let mut documents: Vec<Document> = Vec::with_capacity(items.len());
        ordered(
            self.threads.get(),
            &items,
            |item| read(item).map(ReadSource::parse),
            |_| 0,
            |read| {
                match read {
                    Ok(document) => documents.push(document),
                    Err(Unread::Skipped(skipped)) => inputs.skipped.push(skipped),
                    Err(Unread::Failed(sentence)) => inputs.errors.push(sentence),
                }
                Ok(())
            },
        )?;
        Ok(Documents { corpus: Corpus::new(documents), paths, inputs })
    }

    /// What counts the tokens of a reader's budget.
    pub(crate) fn counter(&self, settings: &Settings) -> Result<Arc<dyn chunkwright::TokenCounter>> {
        match &self.budget_tokenizer {
            None => app::counter(settings),
            Some(name) => {
                Ok(chunkwright_models::counter(name, &app::data_dir(settings).unwrap_or_default())?)
            }
        }
    }
}

impl Variant {
    /// The chunkers of one preset, of all `sizes` or of its own. `None`: the preset in force.
    pub(crate) fn new(
        global: &Global,
        cut: &CutFlags,
        preset: Option<&str>,
        sizes: &[usize],
    ) -> Result<Self> {
        let sizes: Vec<Option<usize>> = match sizes {
            [] => vec![None],
            sizes => sizes.iter().copied().map(Some).collect(),
        };
        let mut variant = Self { preset: String::new(), sizes: Vec::new(), chunkers: Vec::new() };
        for size in sizes {
            let mut cut = cut.without("preset");
            if let Some(preset) = preset {
                cut = cut.with("preset", &preset);
            }
            if let Some(size) = size {
                cut = cut.with("max_size", &size);
            }
            let settings = global.settings(&[&cut])?;
            variant.chunkers.push(app::chunker(&settings)?);
            variant.sizes.push(settings.chunk.max_size);
            variant.preset = settings.preset;
        }
        Ok(variant)
    }
}

impl Documents {
    /// The questions of `path`; those that cannot be asked are named, each with its line.
    pub(crate) fn questions(&self, path: &Path) -> Result<Questions> {
        let bytes = fs::read(path)
            .with_context(|| format!("the questions `{}` could not be read", path.display()))?;
        let Ok(jsonl) = String::from_utf8(bytes) else {
            bail!(
                "the questions `{}` are no UTF-8; save them as UTF-8, one JSON object a line",
                path.display()
            );
        };
        let questions = Questions::read(&jsonl, &self.corpus);
        for (line, error) in &questions.refused {
            refuse(path, *line, &error.to_string());
        }
        if questions.questions.is_empty() {
            let refused = match questions.refused.len() {
                0 => "it is empty; a line is {\"question\": .., \"doc_id\": .., \"excerpt\": ..}".to_owned(),
                number => format!("none of its {} can be", count(number, "line")),
            };
            bail!("no question of `{}` can be asked: {refused}", path.display());
        }
        Ok(questions)
    }

    /// Whether everything that was asked for could be read; says what could not.
    pub(crate) fn report(&self, global: &Global) -> bool {
        report(&self.inputs, global);
        self.inputs.errors.is_empty()
    }
}

/// Names a line that could not be used.
pub(crate) fn refuse(path: &Path, line: usize, why: &str) {
    note(&format!("{} {}:{line}: {}", red("error:"), plain(&path.display().to_string()), plain(why)));
}

/// The embedder for `modes`; none is loaded for words alone.
pub(crate) fn embedder(settings: &Settings, modes: &[ModeFlag]) -> Result<Option<Arc<dyn Embedder>>> {
    if modes.iter().all(|mode| *mode == ModeFlag::Lexical) && !modes.is_empty() {
        return Ok(None);
    }
    let embedder = app::embedder(settings)?;
    if embedder.is_none() && modes.contains(&ModeFlag::Dense) {
        bail!("mode `dense` needs an embedder; install one (`chunkwright doctor` says how) or use `lexical`");
    }
    let gives_sparse = embedder.as_ref().is_some_and(|embedder| embedder.model().sparse);
    if !gives_sparse && modes.contains(&ModeFlag::Sparse) {
        bail!(
            "mode `sparse` needs an embedder that gives sparse vectors; configure one with `sparse` or `sparse_url`"
        );
    }
    Ok(embedder)
}
