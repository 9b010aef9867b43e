//! `chunkwright eval`

mod history;
mod report;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use chunkwright_eval::{Bench, Corpus, Edit, Interval, Options, edit, retrieval, stability};
use chunkwright_index::Mode;

use crate::app::{CutFlags, Global, Outcome};
use crate::evaluation::{Documents, EvaluationFlags, Variant, embedder, refuse};
use crate::output::{Format, OutputFlags};
use crate::progress::Progress;
use crate::searching::ModeFlag;
use crate::text::{count, yellow};
use report::{Asked, OfPreset, Report, Run};

/// Measure how well presets serve your documents: do searches find the answers, does an edit keep the rest
///
/// Questions are JSON Lines: {"question": .., "doc_id": .., "excerpt": ..}. In place of `excerpt`, which is
/// text of the document that occurs once, `lines` ("L10-L20"), `start_char` and `end_char`, or `start_byte`
/// and `end_byte` say where the answer stands; `gold` holds several of those. A question that cannot be
/// asked is named with its line, the others are asked, and the exit status is 2.
///
/// R@1000 is the share of the answers' characters inside the first 1,000 tokens returned, in rank order:
/// steer by it. recall, precision, IoU and nDCG look at a number of chunks, and `intact` is the share of
/// answers that lie inside one chunk. All come with 95 % intervals over questions, and the presets after
/// the first with their differences to it, question by question; `*` marks those beyond noise.
///
/// --preset names one preset or several, separated by commas, or `all`. The search is that of
/// `chunkwright search`, on an index in memory.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Eval {
    #[command(flatten)]
    evaluation: EvaluationFlags,
    /// Which modes of the search; by default `hybrid`, or `lexical` where there is no embedder
    #[arg(short, long, value_delimiter = ',', help_heading = "Searching")]
    mode: Vec<ModeFlag>,
    /// Budgets of tokens for R@N
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [500, 1000, 2000], help_heading = "Measuring")]
    budget: Vec<usize>,
    /// Numbers of chunks for recall@K, precision@K, IoU@K and nDCG@K
    #[arg(short, long, value_name = "K,...", value_delimiter = ',', default_values_t = [1, 5, 10], help_heading = "Measuring")]
    k: Vec<usize>,
    /// Add a line for each question: its figures, and the chunks returned (not in text)
    #[arg(long, help_heading = "Output")]
    per_question: bool,
    /// Also measure what edits change: of one line, drawn at random, and of the git history if there is one
    #[arg(long, help_heading = "Stability")]
    stability: bool,
    /// Measure the edits of this file: JSON Lines with `doc_id`, `old`, `new` (both texts whole) and `kind`
    #[arg(long, value_name = "FILE", help_heading = "Stability")]
    edits: Option<PathBuf>,
    /// How many edits are drawn at random, and of each kind from the history
    #[arg(long, value_name = "N", default_value_t = 180, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Stability")]
    edit_count: u32,
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright eval questions.jsonl docs --preset auto,recursive
  chunkwright eval questions.jsonl docs --preset all --sizes 180,200,220 --mode lexical,hybrid
  chunkwright eval --stability docs --preset all";

impl Eval {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let (questions_path, _) = self.evaluation.split();
        let measures_edits = self.stability || self.edits.is_some();
        if questions_path.is_none() && !measures_edits {
            bail!("there are no questions; give a file `QUESTIONS.jsonl` before the documents, or --stability, or let `chunkwright tune` make some");
        }
        if self.k.contains(&0) || self.budget.contains(&0) {
            bail!("`-k` and `--budget` must be at least 1");
        }
        let fusion = self.evaluation.fusion.fusion()?;
        self.evaluation.threads.apply()?;
        let settings = global.settings(&[&self.cut.without("preset"), &self.evaluation.embedder])?;
        let names = crate::evaluation::presets(&self.cut);
        let presets: Vec<Option<&str>> = match names.as_slice() {
            [] => vec![None],
            names => names.iter().map(|name| Some(name.as_str())).collect(),
        };
        let sizes = &self.evaluation.sizes;
        let variants: Result<Vec<Variant>> =
            presets.iter().map(|preset| Variant::new(global, &self.cut, *preset, sizes)).collect();
        let variants = variants?;
        let others: Vec<&Path> = questions_path.into_iter().chain(self.edits.as_deref()).collect();
        // Edits out of a file need no documents.
        let needs_documents = questions_path.is_some() || self.edits.is_none();
        let documents = if needs_documents { self.evaluation.documents(global, &others)? } else { Documents::default() };
        let corpus = &documents.corpus;
        if corpus.documents().is_empty() && needs_documents {
            let complete = documents.report(global);
            global.say("no document was found at the paths given");
            return Ok(if complete { Outcome::Nothing } else { Outcome::Failed });
        }
        let mut refused = 0;
        let (edits, edits_from) =
            if measures_edits { self.edits(global, corpus, &documents.paths, &mut refused)? } else { Default::default() };
        let questions = questions_path.map(|path| documents.questions(path)).transpose()?.unwrap_or_default();
        refused += questions.refused.len();
        let embedder = if questions_path.is_some() { embedder(&settings, &self.mode)? } else { None };
        let vectors = embedder.as_ref().map(|embedder| embedder.model().name.clone());
        let counter = self.evaluation.counter(&settings)?;
        let modes: Vec<Mode> = match (self.mode.as_slice(), &embedder) {
            ([], None) => vec![Mode::Lexical],
            ([], Some(_)) => vec![Mode::Hybrid],
            (modes, _) => modes.iter().map(|mode| mode.mode()).collect(),
        };
        if embedder.is_none() && modes.contains(&Mode::Hybrid) {
            global.say(&format!("{} there is no embedder: `hybrid` is by words only", yellow("note:")));
        }
        let mut budgets = self.budget.clone();
        let mut ks = self.k.clone();
        for numbers in [&mut budgets, &mut ks] {
            numbers.sort_unstable();
            numbers.dedup();
        }
        let options = Options {
            modes: modes.clone(),
            fusion,
            measures: retrieval::measures(&budgets, &ks),
            band: global.settings(&[&self.cut.without("preset")])?.chunk.band_wanted(),
            ..Options::default()
        };
        let run = Run {
            kind: "run",
            documents: corpus.documents().len(),
            questions: questions.questions.len(),
            refused,
            edits: edits.len(),
            edits_from,
            tokenizer: settings.tokenizer.clone(),
            budget_tokenizer: counter.name().to_owned(),
            embedder: vectors,
            seed: self.evaluation.seed,
            baseline: variants.first().map(|variant| variant.preset.clone()).unwrap_or_default(),
        };
        let bench = Bench::new(corpus, &questions.questions, counter, embedder, options);
        let progress = Progress::new(global, variants.len(), "presets");
        let measured: Result<Vec<OfPreset>> =
            variants.iter().map(|variant| self.measure(variant, &bench, &edits, &progress)).collect();
        progress.finish();
        let asked = Asked { questions: &questions.questions, corpus, modes: &modes, per_question: self.per_question };
        let report = Report::new(run, &asked, bench.options(), &measured?);
        let mut output = self.output.open()?;
        match output.format() {
            Format::Json => output.only(&report)?,
            Format::Jsonl => report.lines(&mut output)?,
            Format::Text => output.text(&report.describe(bench.options(), &budgets, &ks))?,
        }
        output.finish()?;
        let complete = documents.report(global);
        if refused > 0 {
            global.say(&format!("{} could not be used; the rest was measured", count(refused, "line")));
        }
        Ok(if complete && refused == 0 { Outcome::Success } else { Outcome::Failed })
    }

    fn measure(&self, variant: &Variant, bench: &Bench<'_>, edits: &[Edit], progress: &Progress) -> Result<OfPreset> {
        let retrieved = bench.run(&variant.chunkers)?;
        let stability = if edits.is_empty() { Vec::new() } else { stability::stability(&variant.chunkers, edits) };
        progress.advance(1);
        let chunker = variant.chunkers.first();
        Ok(OfPreset {
            preset: variant.preset.clone(),
            max_sizes: variant.sizes.clone(),
            unit: chunker.map(|chunker| chunker.config().unit).unwrap_or_default(),
            strategy_version: chunker.map(chunkwright::Chunker::strategy_version).unwrap_or_default(),
            retrieved,
            stability,
            seed: self.evaluation.seed,
        })
    }

    /// The edits to measure, and where they are from, in words.
    fn edits(
        &self,
        global: &Global,
        corpus: &Corpus,
        paths: &[PathBuf],
        refused: &mut usize,
    ) -> Result<(Vec<Edit>, Vec<String>)> {
        let mut from = Vec::new();
        if let Some(path) = &self.edits {
            let jsonl = fs::read_to_string(path)
                .with_context(|| format!("the edits `{}` could not be read; give UTF-8, one JSON object a line", path.display()))?;
            let (edits, wrong) = edit::read(&jsonl);
            for (line, error) in &wrong {
                refuse(path, *line, &error.to_string());
            }
            *refused += wrong.len();
            if edits.is_empty() {
                bail!("`{}` holds no edit; a line is {{\"doc_id\": .., \"old\": .., \"new\": .., \"kind\": ..}}", path.display());
            }
            return Ok((edits, vec!["a file".into()]));
        }
        let mut edits = edit::synthetic(corpus, self.edit_count as usize, self.evaluation.seed);
        from.push(format!("{} drawn at random", edits.len()));
        let before = edits.len();
        for path in paths {
            match history::edits(path, self.edit_count as usize, self.evaluation.seed) {
                Ok(found) => edits.extend(found),
                Err(why) => global.say(&format!("{} {why}", yellow("note:"))),
            }
        }
        if edits.len() > before {
            from.push(format!("{} from the git history", edits.len() - before));
        }
        Ok((edits, from))
    }
}

/// The 95 % interval of figures.
fn interval(figures: &[f64], seed: u64) -> Interval {
    Interval::of(figures, 0.95, seed)
}
