//! Measurements of how well presets serve documents.

use std::path::PathBuf;

use chunkwright::Unit;
use chunkwright_eval::made::Origin;
use chunkwright_eval::{Interval, Report, Sizes};
use chunkwright_index::{Fusion, Mode, NameRanking};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::notice::Notice;
use crate::request::documents::ReadReport;

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct EvaluateRequest {
    /// A file of questions, JSON Lines; without questions edits are measured alone.
    pub questions: Option<PathBuf>,
    /// Questions in place of such a file: what its lines would hold.
    pub inline: Vec<Map<String, Value>>,
    /// The collection whose stored documents are measured, in place of files.
    pub collection: Option<String>,
    /// The presets, the first of which the others are compared with; `all` is every built-in one. Without any, that of
    /// the settings.
    pub presets: Vec<String>,
    /// Files of chunks that other programs made, JSON Lines, measured beside the presets.
    pub chunks: Vec<PathBuf>,
    /// Limits to try in place of the presets' own, in their unit.
    pub sizes: Vec<usize>,
    /// Modes of the search; without any `hybrid`, or `lexical` where there is no embedder.
    pub modes: Vec<Mode>,
    /// How the rankings of the stages become one.
    pub fusion: Fusion,
    /// Whether what a name in a question means comes first.
    pub names: NameRanking,
    /// Budgets of tokens for `R@N`.
    pub budgets: Vec<usize>,
    /// Numbers of chunks for the other measures.
    pub ks: Vec<usize>,
    /// Whether every question has a line of its own.
    pub per_question: bool,
    /// Which edits are measured; none without it.
    pub edits: Option<EditsRequest>,
    /// What counts the tokens of a reader's budget; without it what counts those of chunks.
    pub budget_tokenizer: Option<String>,
    /// What is drawn at random is drawn from this number.
    pub seed: u64,
}

/// Which edits are measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EditsRequest {
    /// Those of a file, JSON Lines.
    File(PathBuf),
    /// So many drawn at random, and of each kind from the git history of the paths.
    Drawn(usize),
}

impl EvaluateRequest {
    /// The files named by the request.
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let edits = match &mut self.edits {
            Some(EditsRequest::File(path)) => Some(path),
            _ => None,
        };
        self.questions.iter_mut().chain(&mut self.chunks).chain(edits)
    }
}

impl Default for EvaluateRequest {
    fn default() -> Self {
        Self {
            questions: None,
            inline: Vec::new(),
            collection: None,
            presets: Vec::new(),
            chunks: Vec::new(),
            sizes: Vec::new(),
            modes: Vec::new(),
            fusion: Fusion::default(),
            names: NameRanking::default(),
            budgets: vec![500, 1000, 2000],
            ks: vec![1, 5, 10],
            per_question: false,
            edits: None,
            budget_tokenizer: None,
            seed: 0,
        }
    }
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvaluateAnswer {
    /// The figures.
    #[serde(flatten)]
    pub report: Report,
    /// Names of the measures that people steer by.
    #[serde(skip)]
    pub main_measures: Vec<String>,
}

/// Events of a running evaluation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EvaluationStep {
    /// A line of a file of questions or edits cannot be used.
    Refused {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why, in one sentence.
        reason: String,
    },
    /// A notice for the caller.
    Notice(Notice),
    /// Measuring begins, with at most this number of candidates.
    Begun {
        /// The number.
        total: usize,
    },
    /// One candidate is measured.
    Measured,
    /// Everything was read; the report lists what could not be. Sent last.
    Read(ReadReport),
}

/// A tuning request: candidates, questions and limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TuneRequest {
    /// A file of questions, JSON Lines; by default, questions are generated from the documents.
    pub questions: Option<PathBuf>,
    /// The origins of generated questions; by default, what suits the documents.
    pub from: Vec<Origin>,
    /// The presets; by default, all built-in ones. `auto` is always included, since the others are compared with it.
    pub presets: Vec<String>,
    /// Limits to try beside the presets' own, in their unit; by default, the best preset and `auto` are tried at usual
    /// limits.
    pub sizes: Vec<usize>,
    /// Search mode; by default `hybrid`, or `lexical` without an embedder.
    pub mode: Option<Mode>,
    /// How the rankings of the stages become one.
    pub fusion: Fusion,
    /// Maximum number of questions.
    pub max_questions: usize,
    /// Maximum number of bytes to read; a larger corpus is sampled.
    pub max_bytes: usize,
    /// Token counter for a reader's budget; by default, the one that counts chunks.
    pub budget_tokenizer: Option<String>,
    /// Seed of random draws.
    pub seed: u64,
}

impl Default for TuneRequest {
    fn default() -> Self {
        Self {
            questions: None,
            from: Vec::new(),
            presets: Vec::new(),
            sizes: Vec::new(),
            mode: None,
            fusion: Fusion::default(),
            max_questions: 300,
            max_bytes: 4 << 20,
            budget_tokenizer: None,
            seed: 0,
        }
    }
}

/// What was measured, and what is proposed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuneAnswer {
    /// The ways of cutting, best first.
    pub candidates: Vec<TuneCandidate>,
    /// The one to use.
    pub proposal: Proposal,
    /// Number of questions of the file that could not be asked.
    #[serde(skip)]
    pub refused: usize,
}

/// A way of cutting, measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuneCandidate {
    /// `candidate`.
    pub kind: &'static str,
    /// The preset.
    pub preset: String,
    /// Its limit, in `unit`.
    pub max_size: usize,
    /// What sizes are counted in.
    pub unit: Unit,
    /// How large its chunks are.
    pub sizes: Sizes,
    /// Share of the answers inside the first 1,000 tokens returned.
    #[serde(rename = "R@1000")]
    pub value: Interval,
    /// To `auto`.
    pub difference: Interval,
    /// Whether it is the best, or within noise of the best on the same questions.
    pub tied: bool,
    /// Chunks changed by an edit of one line, on average.
    pub changed: f64,
}

/// What is proposed, and what it was measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Proposal {
    /// `proposal`.
    pub kind: &'static str,
    /// The preset.
    pub preset: String,
    /// Its limit.
    pub max_size: usize,
    /// Whether it is better than `auto` beyond noise.
    pub better: bool,
    /// For `chunkwright.toml`.
    pub toml: String,
    /// Number of questions that were asked.
    pub questions: usize,
    /// Where they are from, in words: `links`, or `links (180) and symbols (120)`.
    pub questions_from: String,
    /// What to hold against questions of this origin; none for those of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<String>,
    /// Number of documents that were searched.
    pub documents: usize,
    /// Number of documents found.
    pub documents_found: usize,
    /// The mode of the search.
    pub mode: &'static str,
    /// The model of the vectors; `null` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedder: Option<String>,
    /// What chance was drawn from.
    pub seed: u64,
}
