//! What each stage of a search thinks, before it becomes one ranking.

use chunkwright_models::{Embedder, Role};

use super::{Mode, SearchError, SearchOptions};
use crate::analysis;
use crate::bm25::query_ids;
use crate::fuse::Fusion;
use crate::store::{Generation, Scored, Store, StoreError};

/// What the stages of a search ranked, before they become one ranking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The dense stage's candidates, best first; none if it did not run.
    pub dense: Option<Vec<Scored>>,
    /// The lexical stage's candidates, best first; none if it did not run.
    pub lexical: Option<Vec<Scored>>,
    /// Why the dense stage did not run although it was asked for; none if it ran.
    pub degraded: Option<String>,
    /// How much of the query the model reads, from 0 to 1: what a model of English thinks of a question in Chinese
    /// is noise, and weighs that much less.
    pub dense_share: f64,
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
            (Some(dense), Some(lexical)) => fusion.fuse_with_share(self.dense_share, dense, lexical),
            (Some(only), None) | (None, Some(only)) => only.clone(),
            (None, None) => Vec::new(),
        }
    }
}

/// Ranks the chunks of `generation` for `query`, stage by stage: what [`search`] does before fusion, for
/// whoever compares modes and fusions.
///
/// # Errors
///
/// As [`search`].
pub fn rank(
    store: &dyn Store,
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
    query: &str,
    options: &SearchOptions,
) -> Result<Ranked, SearchError> {
    options.check()?;
    if query.trim().is_empty() {
        return Err(SearchError::EmptyQuery);
    }
    let limit = options.candidates.max(options.top_k);
    let mut ranked = Ranked::default();
    if options.mode != Mode::Lexical {
        ranked.dense_share = embedder.map_or(0.0, |embedder| embedder.model().reads.share_of(query));
        match query_vector(generation, embedder, query) {
            Ok(vector) => ranked.dense = Some(store.dense(generation, &vector, &options.filter, limit)?),
            Err(error @ (SearchError::NoDense(_) | SearchError::Embed(_)))
                if options.mode == Mode::Hybrid =>
            {
                ranked.degraded = Some(error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    if options.mode != Mode::Dense {
        let terms = query_ids(&analysis::terms(query));
        ranked.lexical = Some(store.lexical(generation, &terms, &options.filter, limit)?);
    }
    Ok(ranked)
}

fn query_vector(
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
    query: &str,
) -> Result<Vec<f32>, SearchError> {
    let Some(stored) = &generation.spec.model else {
        return Err(SearchError::NoDense(format!("collection `{}` has no vectors", generation.collection)));
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
            collection: generation.collection.clone(),
            stored: stored.name.clone(),
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
