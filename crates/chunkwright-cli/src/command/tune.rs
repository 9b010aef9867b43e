//! `chunkwright tune`

use std::fmt::Write as _;

use anyhow::{Result, bail};
use chunkwright::Unit;
use chunkwright_engine::{Mode, Origin, Proposal, TuneCandidate, TuneRequest};

use crate::app::{CutFlags, Global, Outcome};
use crate::evaluation::{EvaluationFlags, Steps, presets};
use crate::output::{Output, OutputFlags};
use crate::searching::{mode, request_of};
use crate::text::{Table, bold, count, dim, green, grouped, plain, yellow};

/// Propose the preset and the size that find the most on your documents
///
/// Every preset is measured at its own size, then the best one and `auto` at other sizes, by R@1000: the share of the
/// answers within the first 1,000 returned tokens. Questions come from QUESTIONS.jsonl (see `chunkwright help eval`).
/// Without one they are made of the documents: of links (the sentence around a link asks for the section that it leads
/// to) where prose has enough of them, else of sentences (some of the words of a passage and some others ask for it); of
/// the doc comments of source code (hidden meanwhile), in proportion to its share. `--from` chooses otherwise. The report
/// says which were used and how they are biased; how far they agree with questions that people wrote is measured in
/// `eval/agreement.md`.
///
/// The proposal is the best candidate that beats `auto` beyond noise, or else `auto`. Confidence intervals are
/// widened for the number of candidates; candidates within noise of the best are listed as such. Large corpora are sampled, and the report says so. The same input and seed
/// give the same proposal.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tune {
    #[command(flatten)]
    evaluation: EvaluationFlags,
    /// What to make questions of, instead of what suits the documents; several in equal parts
    #[arg(long, value_name = "ORIGIN,...", value_delimiter = ',', help_heading = "Measuring")]
    from: Vec<OriginFlag>,
    /// Search mode to measure; by default `hybrid`, or `lexical` without an embedder
    #[arg(short, long, value_parser = mode(), help_heading = "Searching")]
    mode: Option<Mode>,
    /// Maximum number of questions
    #[arg(long, value_name = "N", default_value_t = 300, help_heading = "Measuring")]
    questions: usize,
    /// Maximum number of bytes to read; a larger corpus is sampled
    #[arg(long, value_name = "N", default_value_t = 4 << 20, help_heading = "Measuring")]
    max_bytes: usize,
    #[command(flatten)]
    cut: CutFlags,
    #[command(flatten)]
    output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  chunkwright tune docs
  chunkwright tune questions.jsonl docs --preset auto,docs,stable --sizes 128,256,512

Without --embedder the fast English model is used if it is installed, else words alone: `e5` takes
minutes for a thousand chunks, and many ways of cutting are tried.";

/// What questions are made of.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OriginFlag {
    /// Links of Markdown from one document to another
    Links,
    /// Doc comments of source code
    Symbols,
    /// Sentences of prose
    Sentences,
    /// Section titles, hidden meanwhile
    Titles,
}

impl OriginFlag {
    fn origin(self) -> Origin {
        match self {
            Self::Links => Origin::Links,
            Self::Symbols => Origin::Symbols,
            Self::Sentences => Origin::Sentences,
            Self::Titles => Origin::Titles,
        }
    }
}

impl Tune {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let results = self.output.check(global, &[&self.evaluation, &self.cut])?;
        let flags = &self.evaluation;
        if flags.questions().is_some() && !self.from.is_empty() {
            bail!("`--from` makes questions of the documents; omit it, or the file of questions");
        }
        let engine = flags.engine(global, &self.cut)?;
        let request = TuneRequest {
            questions: flags.questions(),
            from: self.from.iter().map(|it| it.origin()).collect(),
            presets: presets(&self.cut),
            sizes: flags.sizes.clone(),
            mode: self.mode,
            fusion: request_of(&flags.fusion.0)?.fusion,
            max_questions: self.questions,
            max_bytes: self.max_bytes,
            budget_tokenizer: flags.budget_tokenizer.clone(),
            seed: flags.seed,
        };
        let mut steps = Steps::new(global, "ways of cutting");
        let answer = engine.tune(&flags.documents(&results), &request, &mut |step| steps.take(step))?;
        let Some(answer) = answer else { return Ok(steps.ended(Outcome::Nothing)) };
        let lines = |output: &mut Output| {
            output.objects(&answer.candidates)?;
            output.object(&answer.proposal)
        };
        results.answer(&answer, lines, |answer| describe(&answer.candidates, &answer.proposal))?;
        let outcome = steps.ended(if answer.refused == 0 { Outcome::Success } else { Outcome::Failed });
        if answer.refused > 0 {
            global.say(&format!("{} could not be asked; the others were", count(answer.refused, "question")));
        }
        Ok(outcome)
    }
}

fn describe(lines: &[TuneCandidate], proposal: &Proposal) -> String {
    let mut table = Table::new(["preset", "max_size", "chunks", "mean", "p95", "R@1000, %", "minus auto", "changed by an edit"]);
    for line in lines {
        let percent = |value: f64| 100.0 * value;
        let own = format!("{:.1} ±{:.1}", percent(line.value.mean), percent(line.value.high - line.value.low) / 2.0);
        let by = &line.difference;
        let star = if by.leaves_out_zero() { "*" } else { "" };
        let difference = format!("{:+.1} [{:+.1},{:+.1}]{star}", percent(by.mean), percent(by.low), percent(by.high));
        table.row([
            plain(&line.preset),
            format!("{}{}", line.max_size, if line.unit == Unit::Chars { " chars" } else { "" }),
            grouped(line.sizes.chunks),
            format!("{:.1}", line.sizes.mean),
            grouped(line.sizes.p95),
            own,
            difference,
            format!("{:.2}", line.changed),
        ]);
    }
    let questions = format!("{} from {}", count(proposal.questions, "question"), proposal.questions_from);
    let of = match proposal.documents_found - proposal.documents {
        0 => count(proposal.documents, "document"),
        _ => format!("a sample of {} of {}", grouped(proposal.documents), count(proposal.documents_found, "document")),
    };
    let embedder = proposal.embedder.as_deref().unwrap_or("words only");
    let mut out = format!("{}\n\n{table}\n", bold(&plain(&format!("{questions} on {of}, {}, {embedder}", proposal.mode))));
    let sentence = if proposal.better {
        green("better than `auto` beyond noise; for `chunkwright.toml`:")
    } else {
        "no candidate is better than `auto` beyond noise; for `chunkwright.toml`:".to_owned()
    };
    // Writing to a string cannot fail.
    let _ = write!(out, "{sentence}\n\n{}", plain_toml(&proposal.toml));
    let tied = lines.iter().filter(|line| line.tied).map(|line| format!("{} {}", plain(&line.preset), line.max_size));
    let tied: Vec<String> = tied.collect();
    if tied.len() > 1 {
        let _ = writeln!(out, "\nwithin noise of the best: {}", tied.join(", "));
    }
    if let Some(bias) = &proposal.bias {
        let _ = writeln!(out, "\n{} {}", yellow("note:"), dim(bias));
    }
    if proposal.questions < 50 {
        let _ = writeln!(out, "\n{} {}", yellow("note:"), dim("with fewer than 50 questions, only large differences are beyond noise"));
    }
    out
}

fn plain_toml(toml: &str) -> String {
    toml.lines().map(|line| format!("{}\n", plain(line))).collect()
}
