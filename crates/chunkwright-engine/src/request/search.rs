//! Searches and their answers.

pub(crate) mod hit;

use std::ops::Range;

use chunkwright::ChunkId;
use chunkwright_index::{
    Below, Duplicates, Expand, Expansion, Filter, Fusion, Mode, SearchError, SearchOptions, check_query,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::notice::Notice;
use crate::request::search::hit::{FoundPassage, Hit};

#[cfg(feature = "schema")]
use chunkwright_index::MAX_QUERY_CHARS;

/// A search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in the JSON of a request")]
pub struct SearchRequest {
    /// What to look for; may hold conditions such as `path:docs/ lang:rust`.
    #[cfg_attr(feature = "schema", schemars(length(max = MAX_QUERY_CHARS)))]
    pub query: String,
    /// Names of the collections to search, each may be one generation, `NAME@N`; without a name, that of the settings, or
    /// the only one that there is.
    /// A [`Collection`](crate::Collection) and a [`Snapshot`](crate::Snapshot) search themselves, whatever is named here.
    pub collections: Vec<String>,
    /// Whether every collection of the store is searched.
    pub all_collections: bool,
    /// Which stages run.
    pub mode: Mode,
    /// Number of hits, from 1 to 1,000.
    pub top_k: usize,
    /// Number of hits before the first of the answer: the hits of two pages are those of one page of both. A page ends
    /// at `candidates` at the latest.
    pub offset: usize,
    /// Only chunks that pass: an expression such as `language=rust and token_count<200`, or its conditions as JSON.
    #[serde(deserialize_with = "filter")]
    #[cfg_attr(feature = "schema", schemars(with = "FilterForm"))]
    pub filter: Filter,
    /// Whether every generation of the collection is searched, not the current one alone.
    pub all_versions: bool,
    /// How the rankings of the stages become one.
    pub fusion: Fusion,
    /// Number of candidates that each stage hands to the fusion.
    pub candidates: usize,
    /// Number of the best that the reranker, where there is one, puts in its own order.
    pub rerank: usize,
    /// Maximum number of hits per document; none for no limit.
    pub per_document: Option<usize>,
    /// What becomes of hits that say what a better one says.
    pub duplicates: Duplicates,
    /// Whether of the translations of one page only that of the best hit has hits. The others are named by it.
    pub collapse_translations: bool,
    /// Whether hits carry `text`, what is embedded and searched, beside the context and content that it is made of.
    pub text: bool,
    /// The least relevance of a hit, from 0 to 1, where 0 keeps all; none for the default of the model, or of words.
    pub min_relevance: Option<f64>,
    /// What hits are read with; none for the hits alone.
    pub expand: Option<ExpandRequest>,
    /// Most tokens of the text of the answer, at least 1; none for no limit. What does not fit is left out, best first.
    pub max_tokens: Option<usize>,
}

/// What a chunk is read with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExpandRequest {
    /// `parent`, `merge` or a number of neighbours.
    pub with: Expand,
    /// Most tokens of an expanded text, at least 1; by default 1,000, and no limit for neighbours.
    #[serde(default)]
    pub max_tokens: Option<usize>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchAnswer {
    /// The hits, or the passages that hold them.
    #[serde(flatten)]
    pub found: Found,
    /// Number of collections that were searched.
    pub searched: usize,
    /// Hits of all collections that were left out because they are not relevant enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Below>,
    /// How each collection was searched, in the order in which they were named; of more than 100 those with hits in the
    /// answer, then the first of the others.
    pub collections: Vec<SearchedCollection>,
    /// How much text this is and what was left out, where the request has a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// Hits, or passages where the request expands them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Found {
    /// Chunks.
    Hits {
        /// The hits, best first.
        hits: Vec<Hit>,
    },
    /// Stretches of documents.
    Passages {
        /// The passages, each with the hits that are inside, in the order of the best hit in each. No byte of a
        /// document is in two that were expanded.
        passages: Vec<FoundPassage>,
    },
}

/// How a collection was searched.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchedCollection {
    /// Its name.
    pub collection: String,
    /// Number of the generation that was searched.
    pub generation: i64,
    /// The stages that ran: `lexical` where `hybrid` was asked for and there are no vectors.
    pub mode: Mode,
    /// Why a stage did not run although it was asked for; none if all ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// Whether a reranker put the best in its order.
    pub rerank_used: bool,
    /// Why it did not although there is one; the order is that of the stages then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_error: Option<String>,
    /// The least relevance that a hit had to have; absent where no relevance is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_relevance: Option<f64>,
    /// Hits that were left out because their relevance is below that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Below>,
}

impl SearchRequest {
    /// A search for `query` with everything else at its default.
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), ..Self::default() }
    }

    /// The positions of the hits on the page, if the request is valid.
    pub(crate) fn page(&self) -> Result<Range<usize>, Error> {
        let Self { offset, top_k, .. } = *self;
        check_query(&self.query).map_err(SearchError::from)?;
        if !(1..=SearchOptions::MAX_TOP_K).contains(&top_k) {
            return Err(SearchError::TopK(top_k).into());
        }
        if self.max_tokens == Some(0) {
            return Err(Error::TooSmall { field: "max_tokens", value: 0, least: 1 });
        }
        // More candidates would rescale the scores, and hits of later pages could move to earlier ones.
        let most = self.last_page_end();
        match offset.checked_add(top_k) {
            Some(end) if offset == 0 || end <= most => Ok(offset..end),
            _ => Err(Error::Offset { offset, top_k, most }),
        }
    }

    /// The position where the last page ends.
    pub(crate) fn last_page_end(&self) -> usize {
        self.candidates.min(SearchOptions::MAX_TOP_K)
    }

    pub(crate) fn options(&self, filter: Filter, top_k: usize) -> SearchOptions {
        SearchOptions {
            mode: self.mode,
            top_k,
            filter,
            fusion: self.fusion,
            candidates: self.candidates,
            rerank: self.rerank,
            per_document: self.per_document,
            duplicates: self.duplicates,
            min_relevance: self.min_relevance,
        }
    }
}

impl Default for SearchRequest {
    fn default() -> Self {
        let usual = SearchOptions::default();
        Self {
            query: String::new(),
            collections: Vec::new(),
            all_collections: false,
            mode: usual.mode,
            top_k: usual.top_k,
            offset: 0,
            filter: usual.filter,
            all_versions: false,
            fusion: usual.fusion,
            candidates: usual.candidates,
            rerank: usual.rerank,
            per_document: usual.per_document,
            duplicates: usual.duplicates,
            collapse_translations: false,
            text: false,
            min_relevance: None,
            expand: None,
            max_tokens: None,
        }
    }
}

impl ExpandRequest {
    /// Checks the token limit.
    pub(crate) fn check(self) -> Result<Self, Error> {
        match self.max_tokens {
            Some(0) => Err(Error::TooSmall { field: "expand_tokens", value: 0, least: 1 }),
            _ => Ok(self),
        }
    }

    /// Lowers the limit to that of the whole answer.
    pub(crate) fn within(self, most: Option<usize>) -> Self {
        let usual = self.max_tokens.or(match self.with {
            Expand::Neighbours(_) => None,
            _ => Some(Expansion::DEFAULT_TOKENS),
        });
        Self { max_tokens: usual.into_iter().chain(most).min(), ..self }
    }
}

impl SearchAnswer {
    /// Returns whether there are no hits: none was found, or none fits into the budget.
    pub fn is_empty(&self) -> bool {
        match &self.found {
            Found::Hits { hits } => hits.is_empty(),
            Found::Passages { passages } => passages.is_empty(),
        }
    }
}

/// What a filter may be in JSON: an expression, or its conditions.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "it is for the schema only")]
pub(crate) enum FilterForm {
    #[schemars(extend("format" = "filter"))]
    Expression(String),
    Conditions(Filter),
}

pub(crate) fn filter<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Filter, D::Error> {
    let filter = match Value::deserialize(deserializer)? {
        Value::String(text) => return Filter::parse(&text).map_err(serde::de::Error::custom),
        conditions => Filter::deserialize(conditions),
    };
    filter.map_err(serde::de::Error::custom)
}

/// How much text an answer within a limit has, and what is missing in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Budget {
    /// Most tokens of the text of the answer.
    pub max_tokens: usize,
    /// Tokens of its text, never more.
    pub tokens: usize,
    /// What counted them.
    pub tokenizer: String,
    /// The hits or passages that did not fit, best first.
    pub left_out: Vec<LeftOutHit>,
}

/// A hit or passage that did not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutHit {
    /// Its rank.
    pub rank: usize,
    /// The collection.
    pub collection: String,
    /// What fetches its lines: `DOC_ID#L10-L80`.
    pub reference: String,
    /// Tokens of its text.
    pub token_count: usize,
}

/// A chunk of a document that is the page of a better hit in another language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Translation {
    /// The document.
    pub doc_id: String,
    /// The chunk that was found in it.
    pub chunk_id: ChunkId,
    /// The language of its prose, a code of ISO 639-1.
    pub prose_language: String,
}
