//! Hybrid search: by words and by meaning, each stage accounted for.

use chunkwright::Record;
use chunkwright_models::{EmbedError, Embedder};
use serde::{Deserialize, Serialize};

use crate::fuse::Fusion;
use crate::store::{Filter, Store, StoreError};

/// How to search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchOptions {
    /// Which stages run.
    pub mode: Mode,
    /// Number of hits wanted, at least 1.
    pub top_k: usize,
    /// Which chunks may be found.
    pub filter: Filter,
    /// How two rankings become one.
    pub fusion: Fusion,
    /// Number of candidates that each stage hands to the fusion; at least `top_k` are taken.
    pub candidates: usize,
}

/// Which stages of the search run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Words and meaning.
    #[default]
    Hybrid,
    /// Meaning: dot product with the query's vector.
    Dense,
    /// Words: BM25.
    Lexical,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The stages that ran: `lexical` where `hybrid` was asked for and there are no vectors.
    pub mode: Mode,
    /// Why the dense stage did not run although it was asked for; none if it ran.
    pub degraded: Option<String>,
}

/// A chunk that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// Position in the answer, from 1.
    pub rank: usize,
    /// What the hits are ordered by: the fused score, or the only stage's.
    pub score: f64,
    /// Rank and dot product in the dense stage.
    pub dense: Option<Stage>,
    /// Rank and BM25 in the lexical stage.
    pub lexical: Option<Stage>,
    /// Terms of the query that the chunk's text has, as the analysis sees them.
    pub matched_terms: Vec<String>,
    /// Outline of the chunk's document.
    pub doc_toc: String,
    /// The chunk.
    #[serde(flatten)]
    pub record: Record,
}

/// What one stage of the search thought of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Position in the stage's ranking, from 1.
    pub rank: usize,
    /// The stage's score, in its own unit.
    pub score: f64,
}

/// Why a search has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// `top_k` is 0 or more than [`SearchOptions::MAX_TOP_K`].
    #[error("`top_k` is `{0}`; it must be from 1 to {}", SearchOptions::MAX_TOP_K)]
    TopK(usize),
    /// A fusion's parameter is out of its range.
    #[error("`{field}` is `{value}`; it must be {range}")]
    FusionParameter {
        /// Name of the parameter.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What would be right.
        range: &'static str,
    },
    /// The query has no visible character.
    #[error("the query is empty; say what to look for")]
    EmptyQuery,
    /// Dense search was asked for and cannot be done.
    #[error("dense search is not possible: {0}; search by `lexical` or `hybrid`")]
    NoDense(String),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Searches `collection` for `query`. `embedder` is needed for the dense stage only.
///
/// # Errors
///
/// Options out of range, an unknown collection, an embedder of another model than the collection's,
/// a store that fails. An embedder that fails makes a hybrid search lexical, and the answer says so.
pub fn search(
    store: &dyn Store,
    collection: &str,
    embedder: Option<&dyn Embedder>,
    query: &str,
    options: &SearchOptions,
) -> Result<Answer, SearchError> {
    unimplemented!()
}
