//! `chunkwright tune`

use std::fmt::Write as _;

use anyhow::{Result, bail};
use chunkwright::{Document, Unit};
use chunkwright_eval::heading::{self, Hidden};
use chunkwright_eval::{Bench, Corpus, Interval, Measure, Options, Passage, Question, Rng, Sizes, edit, stability, tune};
use chunkwright_index::Mode;
use serde::Serialize;

use crate::app::{CutFlags, Global, Outcome};
use crate::evaluation::{EvaluationFlags, Variant, embedder};
use crate::output::{Format, OutputFlags};
use crate::progress::Progress;
use crate::searching::ModeFlag;
use crate::text::{Table, bold, count, dim, green, grouped, plain, yellow};

/// Propose the preset and the size that find most on your documents
///
/// Every preset is measured at its own size, then the best and `auto` at others, by R@1000: the share of the answers
/// inside the first 1,000 tokens returned. Questions are those of QUESTIONS.jsonl (see `chunkwright help
/// eval`). Where there are none they are made of section titles: the title and those above it are the
/// question, the section's text is the answer, and the title itself is hidden from what is indexed, so
/// that it does not give the answer away. Titles that name several sections are skipped.
///
/// The proposal is the best candidate that is better than `auto` beyond noise, or `auto`. Intervals of
/// differences are widened for the number of candidates. Large corpora are sampled, and the report says
/// so. The same input and seed give the same proposal.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tune {
    #[command(flatten)]
    evaluation: EvaluationFlags,
    /// Which mode of the search; by default `hybrid`, or `lexical` where there is no embedder
    #[arg(short, long, help_heading = "Searching")]
    mode: Option<ModeFlag>,
    /// How many questions are asked at most
    #[arg(long, value_name = "N", default_value_t = 300, help_heading = "Measuring")]
    questions: usize,
    /// How many bytes of documents are read at most: a larger corpus is sampled
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

/// Edits that the stability of a candidate is measured by.
const EDITS: usize = 60;

/// What candidates are ranked by.
const MEASURE: Measure = Measure::Budget(1000);

/// Limits that the best preset and `auto` are tried at, in tokens.
const SIZES: [usize; 6] = [128, 192, 256, 320, 384, 512];

/// A way of cutting, measured.
struct Candidate {
    preset: String,
    max_size: usize,
    unit: Unit,
    /// Whether the size is the preset's own.
    own_size: bool,
    sizes: Sizes,
    figures: Vec<f64>,
    changed: f64,
}

/// A candidate in the report.
#[derive(Serialize)]
struct Line {
    kind: &'static str,
    preset: String,
    max_size: usize,
    unit: Unit,
    sizes: Sizes,
    #[serde(rename = "R@1000")]
    value: Interval,
    /// To the first candidate.
    difference: Interval,
    /// Chunks changed by an edit of one line, on average.
    changed: f64,
}

/// What is proposed, and what it was measured on.
#[derive(Serialize)]
struct Proposal {
    kind: &'static str,
    preset: String,
    max_size: usize,
    /// Whether it is better than `auto` beyond noise.
    better: bool,
    /// For `chunkwright.toml`.
    toml: String,
    questions: usize,
    questions_from: &'static str,
    documents: usize,
    documents_found: usize,
    mode: &'static str,
    embedder: Option<String>,
    seed: u64,
}

impl Tune {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let fusion = self.evaluation.fusion.fusion()?;
        self.evaluation.threads.apply()?;
        let settings = global.settings(&[&self.cut.without("preset"), &self.evaluation.embedder])?;
        let (questions_path, _) = self.evaluation.split();
        let documents = self.evaluation.documents(global, questions_path.as_slice())?;
        let found = documents.corpus.documents().len();
        if found == 0 {
            let complete = documents.report(global);
            global.say("no document was found at the paths given");
            return Ok(if complete { Outcome::Nothing } else { Outcome::Failed });
        }
        let asked = questions_path.map(|path| documents.questions(path)).transpose()?;
        let refused = asked.as_ref().map_or(0, |asked| asked.refused.len());
        let seed = self.evaluation.seed;
        let mut questions = asked.map(|asked| asked.questions).unwrap_or_default();
        let drawn = Rng::new(seed).sample(questions.len(), self.questions);
        questions = drawn.into_iter().map(|at| questions[at].clone()).collect();
        let corpus = sampled(&documents.corpus, &mut questions, self.max_bytes, seed);
        let mut hidden = Hidden::default();
        if questions_path.is_none() {
            (questions, hidden) = heading::questions(&corpus, self.questions, seed);
        }
        if questions.is_empty() {
            documents.report(global);
            global.say("no question could be made: no section title of the documents names one section with text of its own; write questions (see `chunkwright help eval`)");
            return Ok(Outcome::Nothing);
        }
        let mut settings = settings;
        if settings.embedder.is_none() {
            let is_installed = crate::app::data_dir(&settings).is_ok_and(|data| {
                chunkwright_models::MODELS.iter().any(|model| model.name == "static" && model.is_installed(&data))
            });
            settings.embedder = Some(if is_installed { "static".into() } else { "none".into() });
        }
        let embedder = embedder(&settings, self.mode.as_slice())?;
        let model = embedder.as_ref().map(|embedder| embedder.model().name.clone());
        let mode = match (self.mode, &embedder) {
            (_, None) => Mode::Lexical,
            (None, Some(_)) => Mode::Hybrid,
            (Some(mode), Some(_)) => mode.mode(),
        };
        let options = Options {
            modes: vec![mode],
            fusion,
            measures: vec![MEASURE],
            ..Options::default()
        };
        let bench = Bench::new(&corpus, &questions, self.evaluation.counter(&settings)?, embedder, options).hiding(hidden);
        let candidates = self.measure(global, &bench, &corpus)?;
        let figures: Vec<Vec<f64>> = candidates.iter().map(|candidate| candidate.figures.clone()).collect();
        let ranked = tune::ranked(&figures, seed);
        let chosen = tune::proposal(&ranked);
        let best = &candidates[chosen];
        let proposal = Proposal {
            kind: "proposal",
            preset: best.preset.clone(),
            max_size: best.max_size,
            better: chosen != 0,
            toml: toml(best),
            questions: questions.len(),
            questions_from: if questions_path.is_some() { "a file" } else { "section titles" },
            documents: corpus.documents().len(),
            documents_found: found,
            mode: mode.as_str(),
            embedder: model,
            seed,
        };
        let lines: Vec<Line> = ranked
            .into_iter()
            .map(|it| {
                let candidate = &candidates[it.candidate];
                Line {
                    kind: "candidate",
                    preset: candidate.preset.clone(),
                    max_size: candidate.max_size,
                    unit: candidate.unit,
                    sizes: candidate.sizes,
                    value: it.value,
                    difference: it.difference,
                    changed: candidate.changed,
                }
            })
            .collect();
        let mut output = self.output.open()?;
        match output.format() {
            Format::Json => output.only(&serde_json::json!({"candidates": lines, "proposal": proposal}))?,
            Format::Jsonl => {
                lines.iter().try_for_each(|line| output.object(line))?;
                output.object(&proposal)?;
            }
            Format::Text => output.text(&describe(&lines, &proposal))?,
        }
        output.finish()?;
        let complete = documents.report(global);
        if refused > 0 {
            global.say(&format!("{} could not be asked; the rest was", count(refused, "question")));
        }
        Ok(if complete && refused == 0 { Outcome::Success } else { Outcome::Failed })
    }

    /// Measures the candidates; the first is `auto`.
    fn measure(&self, global: &Global, bench: &Bench<'_>, corpus: &Corpus) -> Result<Vec<Candidate>> {
        let mut presets = crate::evaluation::presets(&self.cut);
        if presets.is_empty() {
            presets = chunkwright::preset::PRESETS.iter().map(|preset| preset.name.to_owned()).collect();
        }
        presets.retain(|preset| preset != "auto");
        presets.insert(0, "auto".into());
        let edits = edit::synthetic(corpus, EDITS, self.evaluation.seed);
        let one = |preset: &str, size: Option<usize>| -> Result<Candidate> {
            let Variant { preset, sizes, chunkers } = Variant::new(global, &self.cut, Some(preset), size.as_slice())?;
            let retrieved = bench.run(&chunkers)?;
            let changed = stability::stability(&chunkers, &edits).first().map_or(0.0, |it| it.changed.mean);
            let figures = retrieved.figures.iter().flatten().flatten().copied().collect();
            let max_size = sizes.first().copied().unwrap_or_default();
            let unit = chunkers.first().map(|chunker| chunker.config().unit).unwrap_or_default();
            Ok(Candidate { preset, max_size, unit, own_size: size.is_none(), sizes: retrieved.sizes, figures, changed })
        };
        let progress = Progress::new(global, presets.len() * (1 + self.evaluation.sizes.len()) + 2 * SIZES.len(), "ways of cutting");
        let mut candidates = Vec::new();
        for preset in &presets {
            candidates.push(one(preset, None)?);
            progress.advance(1);
            for &size in &self.evaluation.sizes {
                candidates.push(one(preset, Some(size))?);
                progress.advance(1);
            }
        }
        if self.evaluation.sizes.is_empty() {
            let mean = |candidate: &Candidate| candidate.figures.iter().sum::<f64>();
            let Some(best) = candidates.iter().max_by(|a, b| mean(a).total_cmp(&mean(b))) else {
                bail!("there is no preset to measure; name one with `--preset`");
            };
            // The best of many is partly luck, so `auto` is tried at other sizes as well.
            let mut others = vec![(best.preset.clone(), best.max_size, best.unit)];
            let first = &candidates[0];
            if first.preset != best.preset {
                others.push((first.preset.clone(), first.max_size, first.unit));
            }
            for (preset, own, unit) in others {
                let per_token = if unit == Unit::Chars { 4 } else { 1 };
                for size in SIZES.map(|size| size * per_token).into_iter().filter(|size| *size != own) {
                    candidates.push(one(&preset, Some(size))?);
                    progress.advance(1);
                }
            }
        }
        progress.finish();
        // A size may be the preset's own.
        let mut seen: Vec<(String, usize)> = Vec::new();
        candidates.retain(|it| {
            let key = (it.preset.clone(), it.max_size);
            let is_new = !seen.contains(&key);
            seen.push(key);
            is_new
        });
        Ok(candidates)
    }
}

/// The documents that answer `questions`, and others drawn by `seed` up to `max_bytes`; answers and
/// exclusions then point into the sample.
fn sampled(corpus: &Corpus, questions: &mut [Question], max_bytes: usize, seed: u64) -> Corpus {
    let all = corpus.documents();
    let needed = |at: usize| {
        let mut gold = questions.iter().flat_map(|question| &question.gold);
        gold.any(|passage| passage.document == at)
    };
    let mut taken: Vec<bool> = (0..all.len()).map(needed).collect();
    let mut bytes: usize = all.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(it, _)| it.source().len()).sum();
    let mut rng = Rng::new(seed);
    let mut rest: Vec<usize> = (0..all.len()).filter(|&at| !taken[at]).collect();
    while !rest.is_empty() {
        let at = rest.swap_remove(rng.below(rest.len()));
        let len = all[at].source().len();
        // One document is measured however large it is.
        if bytes == 0 || bytes + len <= max_bytes {
            bytes += len;
            taken[at] = true;
        }
    }
    let kept: Vec<Document> =
        all.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(document, _)| document.clone()).collect();
    let sample = Corpus::new(kept);
    let moved = |passage: &Passage| {
        let document = sample.find(all[passage.document].id())?;
        Some(Passage { document, ..*passage })
    };
    for question in questions {
        question.gold = question.gold.iter().filter_map(moved).collect();
        question.exclude = question.exclude.iter().filter_map(moved).collect();
    }
    sample
}

/// The lines of `chunkwright.toml` that say this.
fn toml(candidate: &Candidate) -> String {
    let preset = toml::Value::String(candidate.preset.clone());
    let size = if candidate.own_size { String::new() } else { format!("max_size = {}\n", candidate.max_size) };
    format!("preset = {preset}\n{size}")
}

fn describe(lines: &[Line], proposal: &Proposal) -> String {
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
        "nothing is better than `auto` beyond noise; for `chunkwright.toml`:".to_owned()
    };
    // Writing to a string cannot fail.
    let _ = write!(out, "{sentence}\n\n{}", plain_toml(&proposal.toml));
    if proposal.questions < 50 {
        let _ = writeln!(out, "\n{} {}", yellow("note:"), dim("with less than 50 questions only large differences are beyond noise"));
    }
    out
}

fn plain_toml(toml: &str) -> String {
    toml.lines().map(|line| format!("{}\n", plain(line))).collect()
}
