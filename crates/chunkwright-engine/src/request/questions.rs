//! Questions that are kept with the lines that answer them.

#[cfg(feature = "schema")]
use chunkwright_index::MAX_QUERY_CHARS;
use chunkwright_index::{GenerationState, Mode};
use serde::{Deserialize, Serialize};

/// A question that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SavedQuestion {
    /// Its number in the collection.
    pub id: u64,
    /// What is asked.
    pub question: String,
    /// Where the answer is; never empty.
    pub expected: Vec<ExpectedLines>,
    /// When it was kept, ISO 8601.
    pub created_at: String,
}

/// Lines that hold an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectedLines {
    /// The document.
    pub doc_id: String,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, 1-based, inclusive.
    pub end_line: u32,
}

/// A question to be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SaveQuestionRequest {
    /// What is asked.
    #[cfg_attr(feature = "schema", schemars(length(max = MAX_QUERY_CHARS)))]
    pub question: String,
    /// Where the answer is, one place at least: ids of documents or chunks, `DOC_ID#INDEX` or `DOC_ID#L10-L80`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub expected: Vec<String>,
}

/// How the questions are asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AskQuestionsRequest {
    /// The modes of the search.
    pub modes: Vec<Mode>,
    /// Number of hits that are looked at, from 1 to 1,000.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub k: usize,
}

/// How well searches answer the questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskedQuestions {
    /// Number of hits that were looked at.
    pub k: usize,
    /// The generations of the collection, each in every mode that it can be searched in.
    pub versions: Vec<AskedVersion>,
}

/// How well searches of one generation answer them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskedVersion {
    /// The generation.
    pub generation: i64,
    /// What it is to searches.
    pub state: GenerationState,
    /// The strategy that cut it, and its version.
    pub strategy_version: String,
    /// The mode that was asked for.
    pub mode: Mode,
    /// Mean share of the expected places that a hit touches.
    pub recall: f64,
    /// Mean of 1 / rank of the first hit that touches one; 0 where none does.
    pub mrr: f64,
    /// Mean gain of hits that touch an expected place for the first time, each worth 1 / log2(rank + 1), as a share of what
    /// the best order would gain (Järvelin and Kekäläinen, 2002).
    pub ndcg: f64,
    /// Each question.
    pub questions: Vec<AskedQuestion>,
}

/// A question that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskedQuestion {
    /// Its number.
    pub id: u64,
    /// Rank of the first hit that touches an expected place, from 1; none if no hit does.
    pub rank: Option<usize>,
}

impl Default for AskQuestionsRequest {
    fn default() -> Self {
        Self { modes: vec![Mode::Hybrid], k: 10 }
    }
}
