//! Hybrid search: lexical, dense and sparse, each stage accounted for.

use chunkwright::{ChunkId, Record};
use chunkwright_models::{EmbedError, Embedder, RerankError, Reranker};
use serde::{Deserialize, Serialize};

mod choose;
mod duplicates;
mod explain;
mod judge;
mod late;
mod names;
mod proximity;
mod rank;
mod relevance;
mod standing;

use crate::fuse::Fusion;
use crate::query::QueryError;
use crate::script::Script;
use chunkwright_store::{Filter, Generation, Model, Scored, Store, StoreError, StoredChunk};

pub use explain::{Explained, Verdict, explain};
pub use names::{Named, Role, SymbolPlace, SymbolPlaces, symbol_places};
pub use proximity::Proximity;
use rank::{Asked, LookedAgain, ask, place, places};
pub use rank::{Ranked, rank};
pub use relevance::{CALIBRATIONS, Calibration, LEXICAL, QueryWords, WEAK, WordMatch};
pub use standing::{Standing, Stands};

use choose::{Choice, chosen, pinned, rerank};
use judge::Judge;

/// How to search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SearchOptions {
    /// Which stages run.
    pub mode: Mode,
    /// Number of hits wanted, at least 1.
    pub top_k: usize,
    /// Which chunks may be found.
    pub filter: Filter,
    /// How the rankings of the stages become one.
    pub fusion: Fusion,
    /// Number of candidates that each stage hands to the fusion; at least `top_k` are taken.
    pub candidates: usize,
    /// Number of the best that a reranker, where there is one, puts in its own order.
    pub rerank: usize,
    /// Maximum number of hits per document, at least 1; none for no limit.
    pub per_document: Option<usize>,
    /// What becomes of hits that say what a better one says.
    pub duplicates: Duplicates,
    /// The least [relevance](Hit::relevance) of a hit, from 0 to 1; none for that of the [`Calibration`] in use. Hits
    /// without a relevance, pinned ones, and those that the query names are kept.
    pub min_relevance: Option<f64>,
    /// Whether what a name in the query means ranks first: the definition of an identifier, the section of a title; and
    /// whether tests, examples, copies and change logs rank behind source and documentation.
    pub names: NameRanking,
    /// The script of the documents, if the query is in another language: words of it that are known in theirs are looked
    /// for in both.
    pub translate: Option<Script>,
}

/// Whether what a name in the query means ranks before what mentions it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NameRanking {
    /// The definition of a name that the query asks for comes first.
    #[default]
    First,
    /// A name is a word as any other, and a test a document as any other.
    Off,
}

/// What becomes of hits whose content is that of a better one: copies of a file, repeated notices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// They are named by the better one, and leave their place to others: those with the same words, and those of the
    /// same file in another programming language.
    #[default]
    Near,
    /// As with `Near`, but only those with the same text.
    Collapse,
    /// They are hits as any other.
    Keep,
}

/// The models that a search may use.
#[derive(Clone, Copy, Default)]
pub struct Models<'a> {
    /// Makes the query's vector, which the dense stage needs.
    pub embedder: Option<&'a dyn Embedder>,
    /// Reorders the best chunks by reading each with the query.
    pub reranker: Option<&'a dyn Reranker>,
    /// Measures the stages.
    pub watch: Option<&'a dyn StageWatch>,
    /// Share of the chunks that have no vector yet, from 0 to 1. Vectors weigh less by it, so that chunks do not rank first
    /// for having one.
    pub missing: f64,
}

/// Measures how long the stages of searches take.
pub trait StageWatch: Sync {
    /// Nanoseconds since a fixed moment.
    fn nanos(&self) -> i64;

    /// Receives the duration of a stage: `analyse` (terms and vector of the query), `lexical`, `dense`, `sparse`,
    /// `late`, `standing`, `names`, `fuse` or `rerank`.
    fn took(&self, stage: &'static str, nanos: u64);
}

impl<'a> Models<'a> {
    /// This embedder and no other model.
    pub fn embedder(embedder: &'a dyn Embedder) -> Self {
        Self { embedder: Some(embedder), ..Self::default() }
    }
}

/// Runs the work of a stage, and measures it if there is a watch.
fn measured<T>(watch: Option<&dyn StageWatch>, stage: &'static str, work: impl FnOnce() -> T) -> T {
    let Some(watch) = watch else { return work() };
    let started = watch.nanos();
    let done = work();
    watch.took(stage, u64::try_from(watch.nanos() - started).unwrap_or(0));
    done
}

/// Which stages of the search run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Words and meaning, and the model's weights of tokens where it gives such.
    #[default]
    Hybrid,
    /// Meaning: dot product with the query's vector.
    Dense,
    /// Weights that the model gives tokens: dot product with the query's sparse vector.
    Sparse,
    /// Words: BM25.
    Lexical,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The stages that ran: `lexical` where `hybrid` was asked for and there are no vectors.
    pub mode: Mode,
    /// Why the dense stage, or the sparse one alone, did not run although it was asked for; none if all ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// The script of the language into which words of the query were translated; none if they were not.
    #[serde(skip)]
    pub translated: Option<Script>,
    /// Whether a reranker put the best in its order.
    pub rerank_used: bool,
    /// Why it did not although there is one; the order is that of the stages then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_error: Option<String>,
    /// The least relevance that a hit had to have; none where no relevance is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_relevance: Option<f64>,
    /// Hits that were left out because their relevance is below that; none if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Below>,
}

/// Chunks that are not relevant enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Below {
    /// How many rank above the last hit; where the hits are fewer than were asked for, how many of all candidates.
    pub count: usize,
    /// The greatest relevance among them.
    pub best: f64,
}

/// A chunk that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hit {
    /// Position in the answer, from 1.
    pub rank: usize,
    /// What the hits are ordered by: the reranker's score where it was asked, else the fused score, or the
    /// only stage's.
    pub score: f64,
    /// How well it answers the query, from 0 to 1, on one scale for every query, to 3 decimals; none where that is not
    /// known: vectors of a model without a [`Calibration`], or sparse ones alone, were compared, or the text is in another
    /// script than the question.
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
    /// Rank and score by late interaction, a second look at the best, which leaves the other stages the rest of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<Stage>,
    /// Where its document stands, if that is not in the project itself or the query asks for it, and what that adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Stands>,
    /// How close to each other the words of the query stand in its text, if any are close, and what that adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proximity: Option<Proximity>,
    /// Rank and score that the reranker gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<Stage>,
    /// What it is to a name that the query asks for, with its rank and score in that stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Named>,
    /// Terms of the query that the chunk is found by: those of its text, as the analysis sees them, and of
    /// keywords that were given by hand.
    pub matched_terms: Vec<String>,
    /// Why it is in the answer.
    pub kept: Kept,
    /// Ids of chunks that say the same and were ranked lower.
    pub duplicates: Vec<ChunkId>,
    /// What fetches the lines of the first of them: `DOC_ID#L10-L80`.
    #[serde(skip)]
    pub duplicates_at: Vec<String>,
    /// Number of the generation that it is of.
    pub generation: i64,
    /// Outline of the chunk's document.
    pub doc_toc: String,
    /// What a chat model said the document is about; empty for nothing.
    pub doc_summary: String,
    /// The chunk.
    #[serde(flatten)]
    pub record: Record,
}

/// Why a chunk is in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// Somebody said that it answers this query.
    Pinned,
    /// More than one stage put it among the best.
    Both,
    /// Only words found it, or only words were asked.
    Lexical,
    /// Only meaning found it, or only meaning was asked.
    Dense,
    /// Only the model's weights of tokens found it, or only they were asked.
    Sparse,
    /// The query names it, and no other stage found it.
    Named,
}

/// What one stage of the search thought of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stage {
    /// Position in the stage's ranking, from 1.
    pub rank: usize,
    /// The stage's score, in its own unit.
    pub score: f64,
    /// What it adds to the fused score. Absent where scores were not fused, and where the model does not read the query, so
    /// that its stage is left out of the fusion.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub contribution: Option<f64>,
}

/// Errors of searches.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// `per_document` is 0, which no hit could pass.
    #[error("`per_document` is `0`; it must be at least 1")]
    PerDocument,
    /// `top_k` is 0 or more than [`SearchOptions::MAX_TOP_K`].
    #[error("`top_k` is `{0}`; it must be from 1 to {max}", max = SearchOptions::MAX_TOP_K)]
    TopK(usize),
    /// A number, of the fusion or the least relevance, is out of its range.
    #[error("`{field}` is `{value}`; it must be {range}")]
    FusionParameter {
        /// Name of the parameter.
        field: &'static str,
        /// Its value.
        value: f64,
        /// The valid range.
        range: &'static str,
    },
    /// The query has no visible character.
    #[error("the query is empty; say what to look for")]
    EmptyQuery,
    /// The query is too long.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Dense search was requested but is unavailable.
    #[error("dense search is not possible: {0}; use the mode `lexical` or `hybrid`")]
    NoDense(String),
    /// Sparse search was requested but is unavailable.
    #[error("sparse search is not possible: {0}; use the mode `lexical` or `hybrid`")]
    NoSparse(String),
    /// A least relevance was requested, but the relevance of hits is unknown.
    #[error("`min_relevance` is not possible: {0}; use the mode `lexical`, or leave it out")]
    NoRelevance(String),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The reranker failed. No search fails because of it.
    #[error(transparent)]
    Rerank(#[from] RerankError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SearchOptions {
    /// Most hits of one search.
    pub const MAX_TOP_K: usize = 1000;

    /// The default of [`top_k`](Self::top_k).
    pub const TOP_K: usize = 5;

    /// The default of [`candidates`](Self::candidates).
    pub const CANDIDATES: usize = 200;

    /// The default of [`rerank`](Self::rerank).
    pub const RERANK: usize = 50;

    fn check(&self) -> Result<(), SearchError> {
        if !(1..=Self::MAX_TOP_K).contains(&self.top_k) {
            return Err(SearchError::TopK(self.top_k));
        }
        if self.per_document == Some(0) {
            return Err(SearchError::PerDocument);
        }
        let mut parameters = match self.fusion {
            Fusion::Rrf { k } => vec![("k", k, k.is_finite() && k >= 0.0, "a number from 0")],
            Fusion::WeightedSum { dense_weight, sparse_weight, late_weight } => {
                let weight = |field, value| (field, value, (0.0..=1.0).contains(&value), "from 0 to 1");
                vec![
                    weight("dense_weight", dense_weight.unwrap_or(Fusion::DENSE_WEIGHT)),
                    weight("sparse_weight", sparse_weight),
                    weight("late_weight", late_weight),
                ]
            }
        };
        if let Some(least) = self.min_relevance {
            parameters.push(("min_relevance", least, (0.0..=1.0).contains(&least), "from 0 to 1"));
        }
        match parameters.into_iter().find(|(.., legal, _)| !legal) {
            Some((field, value, _, range)) => Err(SearchError::FusionParameter { field, value, range }),
            None => Ok(()),
        }
    }
}

impl Below {
    /// Combines the counts of two lists.
    pub fn sum(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(Self { count: a.count + b.count, best: a.best.max(b.best) }),
            (a, b) => a.or(b),
        }
    }
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            top_k: Self::TOP_K,
            filter: Filter::default(),
            fusion: Fusion::default(),
            candidates: Self::CANDIDATES,
            rerank: Self::RERANK,
            per_document: None,
            duplicates: Duplicates::default(),
            min_relevance: Some(0.0),
            names: NameRanking::First,
            translate: None,
        }
    }
}

impl Mode {
    /// The name that configuration uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Dense => "dense",
            Self::Sparse => "sparse",
            Self::Lexical => "lexical",
        }
    }
}

/// Searches `generation` for `query`. An embedder is needed for the dense and the sparse stage only.
///
/// # Errors
///
/// Options out of range, a removed generation, an embedder of another model than the generation's, a failing store. If
/// the embedder is missing or fails, a hybrid search becomes lexical and its answer says so; it also says so if only
/// the sparse stage is missing. A dense or sparse search fails in these cases. A failing reranker leaves the order
/// unchanged.
pub fn search(
    store: &dyn Store,
    generation: &Generation,
    models: Models<'_>,
    query: &str,
    options: &SearchOptions,
) -> Result<Answer, SearchError> {
    let asked = measured(models.watch, "analyse", || ask(generation, models.embedder, query, options))?;
    search_for(store, generation, models, &asked, options)
}

/// [Searches](search) for a query that was analysed.
fn search_for(
    store: &dyn Store,
    generation: &Generation,
    models: Models<'_>,
    asked: &Asked<'_>,
    options: &SearchOptions,
) -> Result<Answer, SearchError> {
    let attempt = || attempt(store, generation, models, asked, options);
    let (answer, is_whole) = attempt()?;
    // A ranked chunk was replaced before it was read: its new version may be a hit.
    if is_whole { Ok(answer) } else { Ok(attempt()?.0) }
}

/// Runs a query; also returns whether all ranked chunks still existed.
fn attempt(
    store: &dyn Store,
    generation: &Generation,
    models: Models<'_>,
    asked: &Asked<'_>,
    options: &SearchOptions,
) -> Result<(Answer, bool), SearchError> {
    let ranked = Ranked { missing: models.missing, ..asked.rank(store, generation, models.watch, options)? };
    let contributions = ranked.contributions(options.fusion);
    let stages: [_; 3] = std::array::from_fn(|at| {
        let stage = [&ranked.dense, &ranked.sparse, &ranked.lexical][at];
        places(stage.as_deref(), contributions[at])
    });
    let pinned = pinned(store, generation, asked, options)?;
    let mut fused = measured(models.watch, "fuse", || ranked.at_first(options.fusion));
    let LookedAgain { late, standing, proximity } = ranked.look_again(options.fusion, &mut fused);
    let named = ranked.names.places(&fused);
    ranked.names.add_to(&mut fused);
    let reranked = models.reranker.map(|reranker| {
        measured(models.watch, "rerank", || {
            rerank(store, generation, reranker, asked.query, options, &mut fused)
        })
    });
    let (reranked, rerank_error) = match reranked {
        Some(Ok(reranked)) => (Some(reranked), None),
        Some(Err(SearchError::Rerank(error))) => (None, Some(error.to_string())),
        Some(Err(error)) => return Err(error),
        None => (None, None),
    };
    let rerank_used = reranked.is_some();
    let reranked = places(reranked.as_deref(), None);
    ranked.names.put_first(&mut fused);
    let best = fused.first().map_or(0.0, |best| best.score);
    fused.retain(|scored| !pinned.contains(&scored.id));
    let order: Vec<Scored> = pinned.iter().map(|&id| Scored { id, score: best }).chain(fused).collect();
    let judge = Judge::new((store, generation), asked, &ranked, options)?;
    let hit = |scored: Scored, chunk: &StoredChunk, relevance| {
        let late = late.get(&scored.id).copied();
        let rest = 1.0 - late.map_or(0.0, |_| ranked.late_weight(options.fusion));
        let [dense, sparse, lexical] =
            stages.each_ref().map(|stage| Some(stage.get(&scored.id)?.with_share(rest)));
        let kept = match (dense, sparse, lexical) {
            _ if pinned.contains(&scored.id) => Kept::Pinned,
            (Some(_), None, None) => Kept::Dense,
            (None, Some(_), None) => Kept::Sparse,
            (None, None, Some(_)) => Kept::Lexical,
            (None, None, None) => Kept::Named,
            _ => Kept::Both,
        };
        Hit {
            rank: 0,
            score: scored.score,
            relevance,
            dense,
            sparse,
            lexical,
            late,
            standing: standing.get(&scored.id).copied(),
            proximity: proximity.get(&scored.id).copied(),
            rerank: reranked.get(&scored.id).copied(),
            names: named.get(&scored.id).cloned(),
            matched_terms: asked.matched(&chunk.terms),
            kept,
            duplicates: Vec::new(),
            duplicates_at: Vec::new(),
            generation: generation.number,
            doc_toc: chunk.doc_toc.clone(),
            doc_summary: chunk.doc_summary.clone(),
            record: chunk.record.clone(),
        }
    };
    let is_kept = |id| pinned.contains(&id) || named.get(&id).is_some_and(Named::is_it);
    let Choice { hits, below, is_whole } =
        chosen((store, generation), &order, &is_kept, &judge, options, &hit)?;
    let answer = Answer {
        hits,
        mode: ranked.mode(),
        degraded: ranked.degraded,
        translated: options.translate,
        rerank_used,
        rerank_error,
        min_relevance: judge.least(),
        below,
    };
    Ok((answer, is_whole))
}

/// Searches every generation of `collection`, and orders all hits by score. Generations of another model than the
/// embedder's get a lexical search.
///
/// # Errors
///
/// As [`search`].
pub fn search_all_versions(
    store: &dyn Store,
    collection: &str,
    models: Models<'_>,
    query: &str,
    options: &SearchOptions,
) -> Result<Answer, SearchError> {
    let current = store.open(collection)?;
    let mut answer = search(store, &current, models, query, options)?;
    let others = store.collection(&current.collection)?;
    for status in others.into_iter().flat_map(|known| known.generations) {
        if status.generation.number == current.number {
            continue;
        }
        let given = models.embedder.map(Embedder::model);
        let fits = status
            .generation
            .spec
            .model
            .as_ref()
            .zip(given)
            .is_some_and(|(model, given)| *model == Model::from(given));
        let models = Models { embedder: models.embedder.filter(|_| fits), ..models };
        let old = search(store, &status.generation, models, query, options);
        match old {
            Ok(old) => {
                answer.hits.extend(old.hits);
                answer.below = Below::sum(answer.below, old.below);
            }
            // It was removed meanwhile, has terms of another analysis, or has no dense search.
            Err(
                SearchError::Store(StoreError::UnknownGeneration { .. } | StoreError::Analysis { .. })
                | SearchError::NoDense(_)
                | SearchError::NoSparse(_),
            ) => {}
            Err(error) => return Err(error),
        }
    }
    let order = |a: &Hit, b: &Hit| {
        let precedence = |hit: &Hit| Named::precedence(hit.names.as_ref());
        let by_score = precedence(b).total_cmp(&precedence(a)).then(b.score.total_cmp(&a.score));
        by_score.then(b.generation.cmp(&a.generation)).then(a.rank.cmp(&b.rank))
    };
    answer.hits.sort_by(order);
    answer.hits.truncate(options.top_k);
    for (index, hit) in answer.hits.iter_mut().enumerate() {
        hit.rank = index + 1;
    }
    Ok(answer)
}
