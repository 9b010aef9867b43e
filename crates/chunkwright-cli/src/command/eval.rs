//! `chunkwright eval`

mod report;

use std::path::PathBuf;

use anyhow::Result;
use chunkwright_engine::{EditsRequest, EvaluateRequest, Mode};

use crate::app::{CutFlags, Global, Outcome};
use crate::evaluation::{EvaluationFlags, Steps, presets};
use crate::output::{Output, OutputFlags};
use crate::searching::{mode, request_of};
use crate::text::count;

/// Measure how well presets serve your documents: what searches find and edits keep
///
/// Questions are JSON Lines: {"question": .., "doc_id": .., "excerpt": ..}. `excerpt` is text that occurs once in the
/// document. Instead of it, `lines` ("L10-L20"), `start_char` and `end_char`, or `start_byte` and `end_byte` can
/// locate the answer; `gold` is a list of several answers. An invalid question is reported with its line, the others
/// are asked, and the exit status is 2.
///
/// R@1000, the measure to optimise, is the share of the answers' characters within the first 1,000 returned tokens,
/// in rank order. recall, precision, IoU and nDCG are taken over a number of chunks, and `intact` is the share of
/// answers that lie inside one chunk. All have 95 % confidence intervals over questions. Presets after the first are
/// compared with it question by question; `*` marks differences beyond noise.
///
/// --preset takes one preset, several separated by commas, or `all`. The search is the one of `chunkwright search`,
/// on an index in memory.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Eval {
    #[command(flatten)]
    evaluation: EvaluationFlags,
    /// Also measure the chunks in this file, which another program made: JSON Lines with `doc_id` (or `source`) and
    /// `text` (or `content`, `page_content`), and where the text stands if that is known
    ///
    /// The place is `start_char` and `end_char`, `start_index`, or `start_byte` and `end_byte`; without one the text is
    /// looked for in the document. May be given several times.
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    chunks: Vec<PathBuf>,
    /// Search modes to measure; by default `hybrid`, or `lexical` without an embedder
    #[arg(short, long, value_delimiter = ',', value_parser = mode(), help_heading = "Searching")]
    mode: Vec<Mode>,
    /// Budgets of tokens for R@N
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [500, 1000, 2000], help_heading = "Measuring")]
    budget: Vec<usize>,
    /// Numbers of chunks for recall@K, precision@K, IoU@K and nDCG@K
    #[arg(short, long, value_name = "K,...", value_delimiter = ',', default_values_t = [1, 5, 10], help_heading = "Measuring")]
    k: Vec<usize>,
    /// Add a line per question with its figures and the returned chunks (not in text)
    #[arg(long, help_heading = "Output")]
    per_question: bool,
    /// Also measure what edits change: random edits of one line, and those of the git history if there is one
    #[arg(long, help_heading = "Stability")]
    stability: bool,
    /// Measure the edits in this file: JSON Lines with `doc_id`, `old`, `new` (both complete texts) and `kind`
    #[arg(long, value_name = "FILE", help_heading = "Stability")]
    edits: Option<PathBuf>,
    /// Number of random edits, and of edits of each kind from the history
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
  chunkwright eval questions.jsonl docs --chunks langchain.jsonl
  chunkwright eval --stability docs --preset all";

impl Eval {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[&self.evaluation, &self.chunks, &self.edits, &self.cut])?;
        let flags = &self.evaluation;
        let engine = flags.engine(global, &self.cut)?;
        let search = request_of(&flags.fusion.0)?;
        let request = EvaluateRequest {
            questions: flags.questions(),
            presets: presets(&self.cut),
            chunks: self.chunks.clone(),
            sizes: flags.sizes.clone(),
            modes: self.mode.clone(),
            fusion: search.fusion,
            names: search.names,
            budgets: self.budget.clone(),
            ks: self.k.clone(),
            per_question: self.per_question,
            edits: match &self.edits {
                Some(path) => Some(EditsRequest::File(path.clone())),
                None => self.stability.then_some(EditsRequest::Drawn(self.edit_count as usize)),
            },
            budget_tokenizer: flags.budget_tokenizer.clone(),
            seed: flags.seed,
            ..EvaluateRequest::default()
        };
        let mut steps = Steps::new(global, "presets");
        let answer = engine.evaluate(&flags.documents(&results), &request, &mut |step| steps.take(step))?;
        let Some(answer) = answer else { return Ok(steps.ended(Outcome::Nothing)) };
        let report = &answer.report;
        let lines = |output: &mut Output| {
            output.objects(&report.retrieval)?;
            output.objects(&report.stability)?;
            output.objects(&report.questions)?;
            output.object(&report.run)
        };
        results.answer(report, lines, |_| report::describe(&answer))?;
        let refused = report.run.refused;
        let outcome = steps.ended(if refused == 0 { Outcome::Success } else { Outcome::Failed });
        if refused > 0 {
            global.say(&format!("{} could not be used; the rest was measured", count(refused, "line")));
        }
        Ok(outcome)
    }
}
