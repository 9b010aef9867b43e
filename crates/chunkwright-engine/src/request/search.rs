//! Searches and their answers.

pub(crate) mod hit;
pub(crate) mod options;
#[cfg(feature = "schema")]
pub(crate) mod schema;

use std::collections::BTreeMap;
use std::ops::Range;

use chunkwright::ChunkId;
use chunkwright_index::{Below, Filter, Mode, SearchError, SearchOptions, check_query};
use serde::Serialize;

use crate::error::Error;
use crate::notice::Notice;
use crate::request::search::hit::{FoundPassage, Hit};
use crate::request::search::options::SearchRequest;

/// Maximum number of queries of a search.
const MAX_QUERIES: usize = 10;

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

impl Found {
    /// The chunks that were found, by collection.
    pub fn chunks(&self) -> BTreeMap<String, Vec<ChunkId>> {
        let mut chunks = BTreeMap::<String, Vec<ChunkId>>::new();
        let mut add = |collection: &str, id| chunks.entry(collection.to_owned()).or_default().push(id);
        match self {
            Self::Hits { hits } => {
                for hit in hits {
                    add(&hit.collection, hit.found.record.chunk_id);
                }
            }
            Self::Passages { passages } => {
                for passage in passages {
                    for hit in &passage.found.hits {
                        add(&passage.collection, hit.chunk_id);
                    }
                }
            }
        }
        chunks
    }
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
    /// The positions of the hits on the page, if the request is valid.
    pub(crate) fn page(&self) -> Result<Range<usize>, Error> {
        let Self { offset, top_k, .. } = *self;
        for query in [&self.query].into_iter().chain(&self.queries) {
            check_query(query).map_err(SearchError::from)?;
        }
        if self.queries.len() >= MAX_QUERIES {
            return Err(Error::TooManyQueries { given: self.queries.len() + 1, most: MAX_QUERIES });
        }
        self.check()?;
        // More candidates would rescale the scores, and hits of later pages could move to earlier ones.
        let most = self.last_page_end();
        match offset.checked_add(top_k) {
            Some(end) if offset == 0 || end <= most => Ok(offset..end),
            _ => Err(Error::Offset { offset, top_k, most }),
        }
    }

    /// The same search for one of its queries.
    pub(crate) fn asking(&self, query: &str) -> Self {
        Self { query: query.to_owned(), queries: Vec::new(), ..self.clone() }
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
            names: self.names,
            translate: None,
        }
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
    /// The `offset` of a search that begins with it.
    pub offset: usize,
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
