//! The report of an evaluation: its shape, and how it is told to people.

use std::fmt::Write as _;

use anyhow::Result;
use chunkwright::Unit;
use chunkwright_eval::{Corpus, Interval, Measure, Options, Passage, Question, Retrieved, Sizes, Stability};
use chunkwright_index::Mode;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::interval;
use crate::output::Output;
use crate::text::{Table, bold, count, green, grouped, plain, red};

/// The whole report.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    run: Run,
    retrieval: Vec<Line>,
    stability: Vec<EditLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<Value>,
}

/// What was measured, and with what.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    pub(super) kind: &'static str,
    pub(super) documents: usize,
    pub(super) questions: usize,
    /// Lines of questions or edits that could not be used.
    pub(super) refused: usize,
    pub(super) edits: usize,
    pub(super) edits_from: Vec<String>,
    /// What chunks are counted by.
    pub(super) tokenizer: String,
    /// What a reader's budget is counted by.
    pub(super) budget_tokenizer: String,
    pub(super) embedder: Option<String>,
    pub(super) seed: u64,
    /// The preset that differences are to.
    pub(super) baseline: String,
}

/// What was measured of one preset.
pub(super) struct OfPreset {
    pub(super) preset: String,
    pub(super) max_sizes: Vec<usize>,
    pub(super) unit: Unit,
    pub(super) strategy_version: String,
    pub(super) retrieved: Retrieved,
    pub(super) stability: Vec<Stability>,
    pub(super) seed: u64,
}

/// What was asked.
pub(super) struct Asked<'a> {
    pub(super) questions: &'a [Question],
    pub(super) corpus: &'a Corpus,
    pub(super) modes: &'a [Mode],
    pub(super) per_question: bool,
}

/// Retrieval by one preset in one mode.
#[derive(Debug, Serialize)]
struct Line {
    kind: &'static str,
    preset: String,
    strategy_version: String,
    /// The limits whose figures are averaged, in `unit`.
    max_sizes: Vec<usize>,
    unit: Unit,
    mode: &'static str,
    sizes: Sizes,
    /// By name; empty without questions.
    measures: Map<String, Value>,
}

/// What edits change in the chunks of one preset.
#[derive(Debug, Serialize)]
struct EditLine {
    kind: &'static str,
    preset: String,
    #[serde(flatten)]
    stability: Stability,
}

/// A measure's interval, and that of its difference to the baseline.
#[derive(Clone, Copy, Serialize)]
struct Measured {
    #[serde(flatten)]
    own: Interval,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Interval>,
}

impl Report {
    pub(super) fn new(run: Run, asked: &Asked<'_>, options: &Options, presets: &[OfPreset]) -> Self {
        let mut report = Self { run, retrieval: Vec::new(), stability: Vec::new(), questions: Vec::new() };
        for (mode_index, mode) in asked.modes.iter().enumerate() {
            for (number, preset) in presets.iter().enumerate() {
                let figures = &preset.retrieved.figures[mode_index];
                let baseline = (number > 0).then(|| &presets[0].retrieved.figures[mode_index]);
                let mut measures = Map::new();
                for (column, measure) in options.measures.iter().enumerate().filter(|_| !figures.is_empty()) {
                    let values: Vec<f64> = figures.iter().map(|figures| figures[column]).collect();
                    let difference = baseline.map(|baseline| {
                        let pairs = values.iter().zip(baseline);
                        let differences: Vec<f64> = pairs.map(|(value, base)| value - base[column]).collect();
                        interval(&differences, preset.seed)
                    });
                    let value = Measured { own: interval(&values, preset.seed), difference };
                    measures.insert(measure.to_string(), json!(value));
                }
                report.retrieval.push(Line {
                    kind: "retrieval",
                    preset: preset.preset.clone(),
                    strategy_version: preset.strategy_version.clone(),
                    max_sizes: preset.max_sizes.clone(),
                    unit: preset.unit,
                    mode: mode.as_str(),
                    sizes: preset.retrieved.sizes,
                    measures,
                });
                if asked.per_question {
                    report.questions.extend(each(asked, options, preset, *mode, mode_index));
                }
            }
        }
        for preset in presets {
            report.stability.extend(preset.stability.iter().map(|stability| EditLine {
                kind: "stability",
                preset: preset.preset.clone(),
                stability: stability.clone(),
            }));
        }
        report
    }

    /// One object a line; the run is the last.
    pub(super) fn lines(&self, output: &mut Output) -> Result<()> {
        self.retrieval.iter().try_for_each(|line| output.object(line))?;
        self.stability.iter().try_for_each(|line| output.object(line))?;
        self.questions.iter().try_for_each(|line| output.object(line))?;
        output.object(&self.run)
    }

    /// The report for people: in percent, and of the measures those that are steered by.
    pub(super) fn describe(&self, options: &Options, budgets: &[usize], ks: &[usize]) -> String {
        let run = &self.run;
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", bold(&run.describe()));
        if run.documents > 0 {
            let _ = writeln!(out, "\n{}", self.sizes());
        }
        if run.questions > 0 {
            let middle = ks.get(ks.len() / 2).copied().unwrap_or(5);
            let mut columns: Vec<Measure> = budgets.iter().copied().map(Measure::Budget).collect();
            columns.extend([Measure::Recall(middle), Measure::Precision(middle), Measure::Iou(middle)]);
            columns.extend(ks.last().copied().map(Measure::Ndcg));
            columns.push(Measure::Intact);
            columns.retain(|measure| options.measures.contains(measure));
            let mut modes: Vec<&str> = self.retrieval.iter().map(|line| line.mode).collect();
            modes.dedup();
            for mode in modes {
                let _ = writeln!(out, "{}", self.figures(mode, &columns));
            }
        }
        if !self.stability.is_empty() {
            let _ = writeln!(out, "{}", self.edits());
        }
        out
    }

    fn sizes(&self) -> Table {
        let has_band = self.retrieval.iter().any(|line| line.sizes.in_band.is_some());
        let header = ["preset", "max_size", "chunks", "mean", "p50", "p95", "max", "covered", "over limit"];
        let mut table = Table::new(header.into_iter().chain(has_band.then_some("in band")));
        let first = self.retrieval.first().map(|line| line.mode);
        for line in self.retrieval.iter().filter(|line| Some(line.mode) == first) {
            let sizes = &line.sizes;
            let limits: Vec<String> = line.max_sizes.iter().map(ToString::to_string).collect();
            let over = match (sizes.oversize, sizes.over_limit) {
                (kept, 0) => grouped(kept),
                (kept, broken) => red(&format!("{kept} kept, {broken} broken")),
            };
            let mut cells = vec![
                plain(&line.preset),
                format!("{}{}", limits.join(","), if line.unit == Unit::Chars { " chars" } else { "" }),
                grouped(sizes.chunks),
                format!("{:.1}", sizes.mean),
                grouped(sizes.p50),
                grouped(sizes.p95),
                grouped(sizes.max),
                format!("{:.2}%", 100.0 * sizes.covered),
                over,
            ];
            cells.extend(sizes.in_band.map(|share| format!("{:.1}%", 100.0 * share)));
            table.row(cells);
        }
        table
    }

    fn figures(&self, mode: &str, columns: &[Measure]) -> String {
        let names: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let first = format!("{mode}, %");
        let mut table = Table::new(std::iter::once(&first).chain(&names));
        let mut differences = Table::new(std::iter::once(&format!("minus {}", self.run.baseline)).chain(&names));
        let get = |value: &Value, key: &str| value[key].as_f64().unwrap_or_default() * 100.0;
        for line in self.retrieval.iter().filter(|line| line.mode == mode) {
            let mut own = vec![plain(&line.preset)];
            let mut other = own.clone();
            for name in &names {
                let Some(value) = line.measures.get(name) else { continue };
                let half = (get(value, "high") - get(value, "low")) / 2.0;
                own.push(format!("{:.1} ±{half:.1}", get(value, "mean")));
                let Some(by) = value.get("difference") else { continue };
                let (mean, low, high) = (get(by, "mean"), get(by, "low"), get(by, "high"));
                let text = format!("{mean:+.1} [{low:+.1},{high:+.1}]");
                other.push(match (low > 0.0, high < 0.0) {
                    (true, _) => green(&format!("{text}*")),
                    (_, true) => red(&format!("{text}*")),
                    _ => text,
                });
            }
            table.row(own);
            if other.len() > 1 {
                differences.row(other);
            }
        }
        if differences.is_empty() { table.to_string() } else { format!("{table}\n{differences}") }
    }

    fn edits(&self) -> Table {
        let header =
            ["preset", "edits", "number", "changed", "p50", "p99", "max", "own text", "p99", "max", "kept"];
        let rest = ["ids != texts", "ids renamed", "tokens to embed"];
        let mut table = Table::new(header.into_iter().chain(rest));
        for line in &self.stability {
            let it = &line.stability;
            table.row([
                plain(&line.preset),
                plain(&it.edits),
                grouped(it.count),
                format!("{:.2}", it.changed.mean),
                grouped(it.changed.p50),
                grouped(it.changed.p99),
                grouped(it.changed.max),
                format!("{:.2}", it.own_changed.mean),
                grouped(it.own_changed.p99),
                grouped(it.own_changed.max),
                format!("{:.1}%", 100.0 * it.kept),
                grouped(it.unequal),
                if it.renamed == 0 { "0".into() } else { red(&grouped(it.renamed)) },
                format!("{:.0}", it.tokens_to_embed),
            ]);
        }
        table
    }
}

impl Run {
    fn describe(&self) -> String {
        let mut parts = Vec::new();
        if self.questions > 0 {
            let asked = count(self.questions, "question");
            let embedder = self.embedder.as_deref().unwrap_or("words only");
            parts.push(format!("{asked} on {}, {embedder}", count(self.documents, "document")));
        } else {
            parts.push(count(self.documents, "document"));
        }
        if self.edits > 0 {
            parts.push(format!("{} ({})", count(self.edits, "edit"), self.edits_from.join(", ")));
        }
        parts.push(format!("tokens by {}", self.budget_tokenizer));
        plain(&parts.join("; "))
    }
}

/// The lines of all questions in one mode.
fn each<'a>(
    asked: &'a Asked<'_>,
    options: &'a Options,
    preset: &'a OfPreset,
    mode: Mode,
    mode_index: usize,
) -> impl Iterator<Item = Value> + 'a {
    let figures = &preset.retrieved.figures[mode_index];
    let returned = &preset.retrieved.returned[mode_index];
    asked.questions.iter().zip(figures).zip(returned).map(move |((question, figures), returned)| {
        let measures: Map<String, Value> =
            options.measures.iter().zip(figures).map(|(measure, figure)| (measure.to_string(), json!(figure))).collect();
        let place = |passage: &Passage| {
            let doc_id = asked.corpus.documents()[passage.document].id();
            json!({"doc_id": doc_id, "start_char": passage.start, "end_char": passage.end})
        };
        json!({
            "kind": "question",
            "preset": preset.preset,
            "mode": mode.as_str(),
            "id": question.id,
            "question": question.text,
            "measures": measures,
            "gold": question.gold.iter().map(place).collect::<Vec<_>>(),
            "returned": returned.iter().map(place).collect::<Vec<_>>(),
        })
    })
}
