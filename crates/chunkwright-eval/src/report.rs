//! The report of an evaluation: its figures, as tables of data.

use chunkwright::Unit;
use chunkwright_index::Mode;
use serde::{Serialize, Serializer};

use crate::bootstrap::Interval;
use crate::corpus::{Corpus, Passage};
use crate::measure::Measure;
use crate::question::Question;
use crate::retrieval::{Options, Retrieved};
use crate::size::Sizes;
use crate::stability::Stability;

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// What was measured, and with what.
    pub run: Run,
    /// Retrieval by each preset in each mode.
    pub retrieval: Vec<RetrievalLine>,
    /// What edits change in the chunks of each preset.
    pub stability: Vec<StabilityLine>,
    /// Every question by itself, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<QuestionLine>,
}

/// What was measured, and with what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// `run`.
    pub kind: &'static str,
    /// Number of documents.
    pub documents: usize,
    /// Number of questions that were asked.
    pub questions: usize,
    /// Lines of questions or edits that could not be used.
    pub refused: usize,
    /// Number of edits.
    pub edits: usize,
    /// Where they are from, in words.
    pub edits_from: Vec<String>,
    /// What chunks are counted by.
    pub tokenizer: String,
    /// What a reader's budget is counted by.
    pub budget_tokenizer: String,
    /// The model of the vectors; `null` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedder: Option<String>,
    /// What chance was drawn from.
    pub seed: u64,
    /// The preset that differences are to.
    pub baseline: String,
}

/// The measurements of one preset.
#[derive(Clone, Debug)]
pub struct MeasuredPreset {
    /// Its name.
    pub preset: String,
    /// The limits whose figures are averaged, in `unit`.
    pub max_sizes: Vec<usize>,
    /// What sizes are counted in.
    pub unit: Unit,
    /// The strategy and its version.
    pub strategy_version: String,
    /// The results of searches.
    pub retrieved: Retrieved,
    /// What edits change.
    pub stability: Vec<Stability>,
}

impl MeasuredPreset {
    /// Chunks of another program, under this name, with no limit and no strategy.
    pub fn foreign(name: &str, retrieved: Retrieved) -> Self {
        Self {
            preset: name.to_owned(),
            max_sizes: Vec::new(),
            unit: Unit::Tokens,
            strategy_version: FOREIGN.to_owned(),
            retrieved,
            stability: Vec::new(),
        }
    }
}

/// `strategy_version` of chunks that another program made.
const FOREIGN: &str = "foreign";

/// What was asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The questions.
    pub questions: &'a [Question],
    /// The documents.
    pub corpus: &'a Corpus,
    /// Whether every question has a line of its own.
    pub per_question: bool,
}

/// Retrieval by one preset in one mode.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetrievalLine {
    /// `retrieval`.
    pub kind: &'static str,
    /// The preset.
    pub preset: String,
    /// The strategy and its version.
    pub strategy_version: String,
    /// The limits whose figures are averaged, in `unit`.
    pub max_sizes: Vec<usize>,
    /// What sizes are counted in.
    pub unit: Unit,
    /// The mode of the search.
    pub mode: &'static str,
    /// How large the chunks are.
    pub sizes: Sizes,
    /// By name; empty without questions.
    #[serde(serialize_with = "as_map")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, MeasuredValue>"))]
    pub measures: Vec<(String, MeasuredValue)>,
}

/// What edits change in the chunks of one preset.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StabilityLine {
    /// `stability`.
    pub kind: &'static str,
    /// The preset.
    pub preset: String,
    /// What edits change.
    #[serde(flatten)]
    pub stability: Stability,
}

/// A measure's 95 % interval, and that of its difference to the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredValue {
    /// Of the preset itself.
    #[serde(flatten)]
    pub own: Interval,
    /// Of the differences to the first preset, question by question; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Interval>,
}

/// One question, asked in one mode of one preset.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuestionLine {
    /// `question`.
    pub kind: &'static str,
    /// The preset.
    pub preset: String,
    /// The mode of the search.
    pub mode: &'static str,
    /// Its name.
    pub id: String,
    /// What was asked.
    pub question: String,
    /// Its figures, by measure.
    #[serde(serialize_with = "as_map")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, f64>"))]
    pub measures: Vec<(String, f64)>,
    /// Where the answer stands.
    pub gold: Vec<PassagePlace>,
    /// The chunks returned, as far as any measure looked.
    pub returned: Vec<PassagePlace>,
}

/// Where a passage stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PassagePlace {
    /// The document.
    pub doc_id: String,
    /// First character.
    pub start_char: usize,
    /// One past the last character.
    pub end_char: usize,
}

fn as_map<T: Serialize, S: Serializer>(pairs: &[(String, T)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

/// Confidence of the intervals.
const LEVEL: f64 = 0.95;

impl Report {
    /// The report of what was measured of `presets`, of which the first is the baseline.
    pub fn new(run: Run, asked: Asked<'_>, options: &Options, presets: &[MeasuredPreset]) -> Self {
        let seed = run.seed;
        let mut report = Self { run, retrieval: Vec::new(), stability: Vec::new(), questions: Vec::new() };
        for (mode_index, mode) in options.modes.iter().enumerate() {
            for (number, preset) in presets.iter().enumerate() {
                let figures = &preset.retrieved.figures[mode_index];
                let baseline = (number > 0).then(|| &presets[0].retrieved.figures[mode_index]);
                let mut measures = Vec::new();
                for (column, measure) in options.measures.iter().enumerate().filter(|_| !figures.is_empty()) {
                    let values: Vec<f64> = figures.iter().map(|figures| figures[column]).collect();
                    let difference = baseline.map(|baseline| {
                        let pairs = values.iter().zip(baseline);
                        let differences: Vec<f64> = pairs.map(|(value, base)| value - base[column]).collect();
                        Interval::of(&differences, LEVEL, seed)
                    });
                    let value = MeasuredValue { own: Interval::of(&values, LEVEL, seed), difference };
                    measures.push((measure.to_string(), value));
                }
                report.retrieval.push(RetrievalLine {
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
            report.stability.extend(preset.stability.iter().map(|stability| StabilityLine {
                kind: "stability",
                preset: preset.preset.clone(),
                stability: stability.clone(),
            }));
        }
        report
    }
}

/// The measures that people steer by, of those that were measured: every budget, the middle number of chunks, the
/// gain of the largest, and whether answers are intact.
pub fn main_measures(measured: &[Measure], budgets: &[usize], ks: &[usize]) -> Vec<Measure> {
    let middle = ks.get(ks.len() / 2).copied().unwrap_or(5);
    let mut columns: Vec<Measure> = budgets.iter().copied().map(Measure::Budget).collect();
    columns.extend([Measure::Recall(middle), Measure::Precision(middle), Measure::Iou(middle)]);
    columns.extend(ks.last().copied().map(Measure::Ndcg));
    columns.push(Measure::Intact);
    columns.retain(|measure| measured.contains(measure));
    columns
}

/// The lines of all questions in one mode.
fn each<'a>(
    asked: Asked<'a>,
    options: &'a Options,
    preset: &'a MeasuredPreset,
    mode: Mode,
    mode_index: usize,
) -> impl Iterator<Item = QuestionLine> + 'a {
    let figures = &preset.retrieved.figures[mode_index];
    let returned = &preset.retrieved.returned[mode_index];
    asked.questions.iter().zip(figures).zip(returned).map(move |((question, figures), returned)| {
        let measures = options.measures.iter().zip(figures);
        let place = |passage: &Passage| PassagePlace {
            doc_id: asked.corpus.documents()[passage.document].id().to_owned(),
            start_char: passage.start,
            end_char: passage.end,
        };
        QuestionLine {
            kind: "question",
            preset: preset.preset.clone(),
            mode: mode.as_str(),
            id: question.id.clone(),
            question: question.text.clone(),
            measures: measures.map(|(measure, figure)| (measure.to_string(), *figure)).collect(),
            gold: question.gold.iter().map(place).collect(),
            returned: returned.iter().map(place).collect(),
        }
    })
}
