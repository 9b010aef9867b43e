//! Expansion: the text around hits.
//!
//! Small chunks are found well, but an answer often spans several of them. A reader gets the section around a chunk, or
//! its neighbours, as one passage of the source. Hits whose passages touch share one, so that no text is returned
//! twice.

mod area;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use chunkwright::{ChunkId, TokenCounter};
use serde::{Deserialize, Serialize};

use crate::search::{Answer, Hit, Mode, Named, Proximity, Stage, Stands};
use chunkwright_store::{Generation, Store, StoreError};

pub(crate) use area::Shown;

/// What a chunk is read with: `parent`, `merge`, or a number of neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("pattern" = "^(parent|merge|[0-9]{1,9})$")))]
#[serde(try_from = "String", into = "String")]
pub enum Expand {
    /// The section around it: its record's `parent`. Where that is over the limit, as many whole
    /// neighbours inside the section as fit.
    Parent,
    /// This number of neighbours on each side, or as many as fit.
    Neighbours(usize),
    /// Nothing but other hits: those that stand side by side are read as one.
    Merge,
}

/// An unknown expansion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an expansion; expected `parent`, `merge` or a number of neighbours, such as `1`")]
pub struct ParseExpandError(String);

impl FromStr for Expand {
    type Err = ParseExpandError;

    fn from_str(text: &str) -> Result<Self, ParseExpandError> {
        match text {
            "parent" => Ok(Self::Parent),
            "merge" => Ok(Self::Merge),
            number => number.parse().map(Self::Neighbours).map_err(|_| ParseExpandError(text.into())),
        }
    }
}

impl TryFrom<String> for Expand {
    type Error = ParseExpandError;

    fn try_from(text: String) -> Result<Self, ParseExpandError> {
        text.parse()
    }
}

impl From<Expand> for String {
    fn from(expand: Expand) -> Self {
        expand.to_string()
    }
}

impl fmt::Display for Expand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parent => f.write_str("parent"),
            Self::Merge => f.write_str("merge"),
            Self::Neighbours(number) => write!(f, "{number}"),
        }
    }
}

/// How to expand.
#[derive(Clone, Copy)]
pub struct Expansion<'a> {
    /// What a chunk is read with.
    pub expand: Expand,
    /// Most tokens of a passage; a larger chunk is a passage of its own. `None` means
    /// [`DEFAULT_TOKENS`](Self::DEFAULT_TOKENS), or no limit for a number of neighbours.
    pub max_tokens: Option<usize>,
    /// The counter of tokens.
    pub counter: &'a dyn TokenCounter,
}

/// Most bytes per token, averaged over a passage: a longer text counts as over the limit without being counted.
const TOKEN_BYTES: usize = 64;

impl Expansion<'_> {
    /// Most tokens of a section's text, or of merged hits, if no limit is given.
    pub const DEFAULT_TOKENS: usize = 1000;

    fn limit(&self) -> Option<usize> {
        let default = (!matches!(self.expand, Expand::Neighbours(_))).then_some(Self::DEFAULT_TOKENS);
        self.max_tokens.or(default)
    }

    fn fits(&self, text: &str) -> bool {
        self.limit().is_none_or(|limit| {
            text.len() <= limit.saturating_mul(TOKEN_BYTES) && self.counter.count(text) <= limit
        })
    }
}

/// A stretch of a document's source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Passage {
    /// The document.
    pub doc_id: String,
    /// What fetches the lines that hold it: `DOC_ID#L10-L80`.
    pub reference: String,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, 1-based, inclusive.
    pub end_line: u32,
    /// First byte.
    pub start_byte: u32,
    /// One past the last byte.
    pub end_byte: u32,
    /// Tokens of the text by `tokenizer`.
    pub token_count: usize,
    /// Name of the counter.
    pub tokenizer: String,
    /// Exactly `source[start_byte..end_byte]` of the decoded source; of HTML and notebooks as it renders.
    pub text: String,
}

/// A search's answer, expanded.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpandedAnswer {
    /// The passages, in the order of the best hit in each. No byte of a document is in two that were expanded.
    pub passages: Vec<FoundPassage>,
    /// The stages of the search that ran.
    pub mode: Mode,
    /// Why the dense stage did not run although it was asked for; none if it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
}

/// A passage and the hits inside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundPassage {
    /// Position in the answer, from 1.
    pub rank: usize,
    /// The passage.
    #[serde(flatten)]
    pub passage: Passage,
    /// Outline of the document.
    pub doc_toc: String,
    /// Why this is the text of the hit alone; none where it was expanded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unexpanded: Option<String>,
    /// What was found: every hit that is inside, best first, without its text.
    pub hits: Vec<FoundChunk>,
}

/// A hit without its text, which its passage has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundChunk {
    /// Position among the hits, from 1.
    pub rank: usize,
    /// What the hits are ordered by.
    pub score: f64,
    /// How well it answers the query, from 0 to 1; none where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// Rank and dot product in the dense stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dense: Option<Stage>,
    /// Rank and dot product in the sparse stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparse: Option<Stage>,
    /// Rank and BM25 in the lexical stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical: Option<Stage>,
    /// Rank and score by late interaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<Stage>,
    /// Where its document stands, if that is not in the project itself or the query asks for it, and what that adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Stands>,
    /// How close to each other the words of the query stand in its text, if any are close, and what that adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proximity: Option<Proximity>,
    /// What it is to a name that the query asks for, with its rank and score in that stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Named>,
    /// Terms of the query that the chunk's text has.
    pub matched_terms: Vec<String>,
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Its position in the document, from 0.
    pub chunk_index: u32,
    /// Its first line, 1-based.
    pub start_line: u32,
    /// Its last line, 1-based, inclusive.
    pub end_line: u32,
    /// Titles of the sections around it.
    pub section_path: Vec<String>,
}

impl FoundChunk {
    fn new(hit: &Hit) -> Self {
        let record = &hit.record;
        Self {
            rank: hit.rank,
            score: hit.score,
            relevance: hit.relevance,
            dense: hit.dense,
            sparse: hit.sparse,
            lexical: hit.lexical,
            late: hit.late,
            standing: hit.standing,
            proximity: hit.proximity,
            names: hit.names.clone(),
            matched_terms: hit.matched_terms.clone(),
            chunk_id: record.chunk_id,
            chunk_index: record.chunk_index,
            start_line: record.start_line,
            end_line: record.end_line,
            section_path: record.section_path.clone(),
        }
    }
}

/// Expands the hits of `answer`, each in its own generation. A hit whose document was replaced or removed since is left
/// out. A hit that cannot be expanded comes with its own text, and its passage says why; the others are unaffected.
///
/// # Errors
///
/// `generation` was removed.
pub fn expand(
    store: &dyn Store,
    generation: &Generation,
    answer: &Answer,
    expansion: Expansion<'_>,
) -> Result<ExpandedAnswer, StoreError> {
    let mut documents: HashMap<(i64, &str), Vec<&Hit>> = HashMap::new();
    for hit in &answer.hits {
        documents.entry((hit.generation, &hit.record.doc_id)).or_default().push(hit);
    }
    let mut passages = Vec::new();
    for ((number, doc_id), hits) in documents {
        let is_current = number == generation.number;
        let of = if is_current {
            Ok(generation.clone())
        } else {
            store.open(&format!("{}@{number}", generation.collection))
        };
        let shown = of.and_then(|of| Ok((Shown::load(store, &of, doc_id)?, of)));
        let (shown, of) = match shown {
            Ok(shown) => shown,
            Err(error @ StoreError::UnknownGeneration { .. }) if is_current => return Err(error),
            Err(error) => {
                let why = match error {
                    StoreError::Damaged { problem } => problem,
                    error => error.to_string(),
                };
                passages.extend(hits.iter().map(|hit| alone(hit, &why, expansion.counter)));
                continue;
            }
        };
        let index = |hit: &Hit| {
            let (id, index) = (hit.record.chunk_id, hit.record.chunk_index as usize);
            let is_it = |shown: &Shown| shown.records.get(index).is_some_and(|now| now.chunk_id == id);
            shown.as_ref().filter(|shown| is_it(shown)).map(|_| index)
        };
        let mut found = Vec::new();
        for hit in hits {
            match index(hit) {
                Some(index) => found.push((hit, index)),
                None if went_away(store, &of, hit) => {}
                None => {
                    let why = "its document does not have it as a chunk";
                    passages.push(alone(hit, why, expansion.counter));
                }
            }
        }
        let Some(shown) = shown else { continue };
        let indexes: Vec<usize> = found.iter().map(|(_, index)| *index).collect();
        for area in shown.areas(&indexes, expansion) {
            passages.push(FoundPassage {
                rank: 0,
                passage: shown.passage(area.span, expansion.counter),
                doc_toc: shown.document.doc_toc.clone(),
                unexpanded: None,
                hits: area.found.iter().map(|&position| FoundChunk::new(found[position].0)).collect(),
            });
        }
    }
    passages.sort_by_key(|passage| passage.hits.first().map(|hit| hit.rank));
    for (index, passage) in passages.iter_mut().enumerate() {
        passage.rank = index + 1;
    }
    Ok(ExpandedAnswer { passages, mode: answer.mode, degraded: answer.degraded.clone() })
}

/// Returns whether a hit is no longer stored. A summary is not a chunk of its document, but is stored.
fn went_away(store: &dyn Store, generation: &Generation, hit: &Hit) -> bool {
    store.chunks(generation, &[hit.record.chunk_id]).is_ok_and(|found| found == [None])
}

/// A hit that could not be expanded, with its own text.
fn alone(hit: &Hit, why: &str, counter: &dyn TokenCounter) -> FoundPassage {
    let record = &hit.record;
    FoundPassage {
        rank: 0,
        passage: Passage {
            doc_id: record.doc_id.clone(),
            reference: format!("{}#L{}-L{}", record.doc_id, record.start_line, record.end_line),
            start_line: record.start_line,
            end_line: record.end_line,
            start_byte: record.start_byte,
            end_byte: record.end_byte,
            token_count: counter.count(record.shown()),
            tokenizer: counter.name().to_owned(),
            text: record.shown().to_owned(),
        },
        doc_toc: hit.doc_toc.clone(),
        unexpanded: Some(why.to_owned()),
        hits: vec![FoundChunk::new(hit)],
    }
}
