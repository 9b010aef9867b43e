//! Hybrid search: by words and by meaning, each stage accounted for.

use std::collections::{HashMap, HashSet};

use chunkwright::{ChunkId, Record};
use chunkwright_models::{EmbedError, Embedder, Role};
use serde::{Deserialize, Serialize};

use crate::analysis;
use crate::fuse::Fusion;
use crate::store::{Filter, Scored, Store, StoreError};

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
    #[error("`top_k` is `{0}`; it must be from 1 to {max}", max = SearchOptions::MAX_TOP_K)]
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

impl SearchOptions {
    /// Most hits of one search.
    pub const MAX_TOP_K: usize = 1000;

    fn check(&self) -> Result<(), SearchError> {
        if !(1..=Self::MAX_TOP_K).contains(&self.top_k) {
            return Err(SearchError::TopK(self.top_k));
        }
        let (field, value, legal, range) = match self.fusion {
            Fusion::Rrf { k } => ("k", k, k.is_finite() && k >= 0.0, "a number from 0"),
            Fusion::WeightedSum { dense_weight } => {
                ("dense_weight", dense_weight, (0.0..=1.0).contains(&dense_weight), "from 0 to 1")
            }
        };
        if legal { Ok(()) } else { Err(SearchError::FusionParameter { field, value, range }) }
    }
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            top_k: 5,
            filter: Filter::default(),
            fusion: Fusion::default(),
            candidates: 200,
        }
    }
}

impl Mode {
    /// The name that configuration uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Dense => "dense",
            Self::Lexical => "lexical",
        }
    }
}

/// What the stages of a search ranked, before they become one ranking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The dense stage's candidates, best first; none if it did not run.
    pub dense: Option<Vec<Scored>>,
    /// The lexical stage's candidates, best first; none if it did not run.
    pub lexical: Option<Vec<Scored>>,
    /// Why the dense stage did not run although it was asked for; none if it ran.
    pub degraded: Option<String>,
}

impl Ranked {
    /// The stages that ran.
    pub fn mode(&self) -> Mode {
        match (&self.dense, &self.lexical) {
            (Some(_), Some(_)) => Mode::Hybrid,
            (Some(_), None) => Mode::Dense,
            (None, _) => Mode::Lexical,
        }
    }

    /// One ranking: both stages by `fusion`, or the only one.
    pub fn fused(&self, fusion: Fusion) -> Vec<Scored> {
        match (&self.dense, &self.lexical) {
            (Some(dense), Some(lexical)) => fusion.fuse(dense, lexical),
            (Some(only), None) | (None, Some(only)) => only.clone(),
            (None, None) => Vec::new(),
        }
    }
}

/// Ranks the chunks of `collection` for `query`, stage by stage: what [`search`] does before fusion, for
/// whoever compares modes and fusions.
///
/// # Errors
///
/// As [`search`].
pub fn rank(
    store: &dyn Store,
    collection: &str,
    embedder: Option<&dyn Embedder>,
    query: &str,
    options: &SearchOptions,
) -> Result<Ranked, SearchError> {
    options.check()?;
    if query.trim().is_empty() {
        return Err(SearchError::EmptyQuery);
    }
    let limit = options.candidates.max(options.top_k).min(10 * SearchOptions::MAX_TOP_K);
    let mut ranked = Ranked::default();
    if options.mode != Mode::Lexical {
        match query_vector(store, collection, embedder, query) {
            Ok(vector) => ranked.dense = Some(store.dense(collection, &vector, &options.filter, limit)?),
            Err(error @ (SearchError::NoDense(_) | SearchError::Embed(_)))
                if options.mode == Mode::Hybrid =>
            {
                ranked.degraded = Some(error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    if options.mode != Mode::Dense {
        ranked.lexical = Some(store.lexical(collection, &query_terms(query), &options.filter, limit)?);
    }
    Ok(ranked)
}

/// Searches `collection` for `query`. `embedder` is needed for the dense stage only.
///
/// # Errors
///
/// Options out of range, an unknown collection, an embedder of another model than the collection's,
/// a store that fails. An embedder that is not there or fails makes a hybrid search lexical, and the
/// answer says so; a dense search is an error then.
pub fn search(
    store: &dyn Store,
    collection: &str,
    embedder: Option<&dyn Embedder>,
    query: &str,
    options: &SearchOptions,
) -> Result<Answer, SearchError> {
    let ranked = rank(store, collection, embedder, query, options)?;
    let terms = query_terms(query);
    let stages = (places(ranked.dense.as_deref()), places(ranked.lexical.as_deref()));
    let mut hits = Vec::with_capacity(options.top_k);
    for scored in ranked.fused(options.fusion) {
        if hits.len() == options.top_k {
            break;
        }
        // A chunk may have gone since it was ranked: another version of its document is there now.
        let Some(chunk) = store.chunk(collection, scored.id)? else { continue };
        let record = chunk.record;
        hits.push(Hit {
            rank: hits.len() + 1,
            score: scored.score,
            dense: stages.0.get(&scored.id).copied(),
            lexical: stages.1.get(&scored.id).copied(),
            matched_terms: matched(&terms, &record.text),
            doc_toc: chunk.doc_toc,
            record,
        });
    }
    Ok(Answer { hits, mode: ranked.mode(), degraded: ranked.degraded })
}

/// The query's terms, each once.
fn query_terms(query: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    analysis::terms(query).into_iter().filter(|term| seen.insert(term.clone())).collect()
}

fn matched(terms: &[String], text: &str) -> Vec<String> {
    let words: HashSet<String> = analysis::terms(text).into_iter().collect();
    let is_there = |term: &&String| {
        words.contains(*term)
            || analysis::is_prefix(term) && words.iter().any(|word| word.starts_with(term.as_str()))
    };
    terms.iter().filter(is_there).cloned().collect()
}

fn query_vector(
    store: &dyn Store,
    collection: &str,
    embedder: Option<&dyn Embedder>,
    query: &str,
) -> Result<Vec<f32>, SearchError> {
    let stored = store.model(collection)?;
    let Some(stored) = stored else {
        return Err(SearchError::NoDense(format!("collection `{collection}` has no vectors")));
    };
    let Some(embedder) = embedder else {
        return Err(SearchError::NoDense(format!(
            "no embedder was given, and the vectors are of `{}`",
            stored.name
        )));
    };
    let given = embedder.model();
    if given.name != stored.name || given.dimension != stored.dimension {
        let error = StoreError::OtherModel {
            collection: collection.into(),
            stored: stored.name,
            stored_dimension: stored.dimension,
            given: given.name.clone(),
            given_dimension: given.dimension,
        };
        return Err(error.into());
    }
    let vector = embedder.embed(&[query], Role::Query)?.pop();
    vector
        .map(|embedding| embedding.vector)
        .ok_or_else(|| SearchError::NoDense("the embedder gave no vector".into()))
}

/// Rank and score by chunk.
fn places(ranking: Option<&[Scored]>) -> HashMap<ChunkId, Stage> {
    let ranking = ranking.unwrap_or_default().iter().enumerate();
    ranking.map(|(index, scored)| (scored.id, Stage { rank: index + 1, score: scored.score })).collect()
}
