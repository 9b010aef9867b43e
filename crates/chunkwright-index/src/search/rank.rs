//! Runs the stages of a search, before their rankings are fused.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use chunkwright::ChunkId;
use chunkwright_models::late::Tokens;
use chunkwright_models::{EmbedError, Embedder, Embedding};

use super::late::Late;
use super::names::{MOST_READ, Names};
use super::proximity::{Pairs, Proximities, Proximity};
use super::relevance::{Calibration, QueryTerm, QueryWords};
use super::standing::{Standings, Stands, Subject};
use super::{Mode, NameRanking, SearchError, SearchOptions, Stage, StageWatch, measured};
use crate::fuse::{Contribution, Fusion};
use crate::glossary::{Known, in_words_of, synonyms, translated};
use crate::query::check_query;
use chunkwright_store::analysis::{self, TermKind};
use chunkwright_store::bm25::{TermCounts, TermField, TermId, alike, query_ids, term_id};
use chunkwright_store::cancel;
use chunkwright_store::{Generation, Scored, Store, StoreError};

/// The rankings of the stages of a search, before fusion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The dense stage's candidates, best first; `None` if it did not run.
    pub dense: Option<Vec<Scored>>,
    /// The sparse stage's candidates, best first; `None` if it did not run, such as for a model without sparse vectors.
    pub sparse: Option<Vec<Scored>>,
    /// The lexical stage's candidates, best first; `None` if it did not run.
    pub lexical: Option<Vec<Scored>>,
    /// The reason why the dense stage, or the sparse one alone, did not run although requested; `None` if all ran.
    pub degraded: Option<String>,
    /// Share of the query that the model reads, from 0 to 1. The ranking of a Chinese question by an English model is
    /// noise, and weighs accordingly less.
    pub dense_share: f64,
    /// Share of the chunks that have no vector yet, from 0 to 1.
    pub missing: f64,
    /// The weight of the dense stage that goes with the model; `None` if it has none of its own.
    pub(super) dense_weight: Option<f64>,
    /// What late interaction says of the best; `None` if it did not run.
    pub(super) late: Option<Late>,
    /// Where the documents of the best stand.
    pub(super) standings: Standings,
    /// How close to each other the words of the query stand in the best.
    pub(super) proximities: Proximities,
    /// The chunks of names that the query asks for.
    pub(super) names: Names,
}

/// What the stages that look at the best again say of them.
pub(super) struct LookedAgain {
    pub(super) late: HashMap<ChunkId, Stage>,
    /// Chunks of tests, examples, copies and other places beside the project itself.
    pub(super) standing: HashMap<ChunkId, Stands>,
    /// Chunks that have words of the query close together.
    pub(super) proximity: HashMap<ChunkId, Proximity>,
}

impl Ranked {
    /// The stages that ran.
    pub fn mode(&self) -> Mode {
        match (&self.dense, &self.sparse, &self.lexical) {
            (Some(_), None, None) => Mode::Dense,
            (None, Some(_), None) => Mode::Sparse,
            (None, None, _) => Mode::Lexical,
            _ => Mode::Hybrid,
        }
    }

    /// The share of its weight that the dense stage has.
    fn weight(&self) -> f64 {
        self.dense_share * (1.0 - self.missing)
    }

    /// The contributions of the dense, the sparse and the lexical stage to the fused score; `None` for a stage that is
    /// left out of the fusion, and for all if only one stage ran.
    pub(crate) fn contributions(&self, fusion: Fusion) -> [Option<Contribution>; 3] {
        let (dense, sparse, lexical) =
            (self.dense.as_deref(), self.sparse.as_deref(), self.lexical.as_deref());
        if [dense, sparse, lexical].iter().flatten().count() < 2 {
            return [None; 3];
        }
        let (dense, lexical) = (dense.unwrap_or_default(), lexical.unwrap_or_default());
        self.of_model(fusion).contributions(self.weight(), dense, sparse, lexical)
    }

    /// The fusion with the weight of the model, if it sets none.
    fn of_model(&self, fusion: Fusion) -> Fusion {
        self.dense_weight.map_or(fusion, |weight| fusion.or_dense_weight(weight))
    }

    /// A single ranking: all stages fused by `fusion`, or the only one, and the stage of names.
    pub fn fused(&self, fusion: Fusion) -> Vec<Scored> {
        self.named(self.compared(fusion))
    }

    /// The ranking of some stages with that of names.
    pub fn named(&self, mut ranking: Vec<Scored>) -> Vec<Scored> {
        self.names.add_to(&mut ranking);
        self.names.put_first(&mut ranking);
        ranking
    }

    /// Drops the chunks of names that `keep` returns false for.
    pub fn retain_names(&mut self, keep: impl Fn(ChunkId) -> bool) {
        self.names.retain(keep);
    }

    /// A single ranking of the stages that compare texts, of where their documents stand, and of how close words are.
    pub(super) fn compared(&self, fusion: Fusion) -> Vec<Scored> {
        let mut ranking = self.at_first(fusion);
        self.look_again(fusion, &mut ranking);
        ranking
    }

    /// Puts the best of a ranking in the order that they have with the stages that look at them again, one after the other;
    /// returns what each of these says of them.
    pub(super) fn look_again(&self, fusion: Fusion, ranking: &mut [Scored]) -> LookedAgain {
        let late = self.late.as_ref().map(|late| late.reorder(self.late_weight(fusion), ranking));
        let standing = self.standings.reorder(ranking);
        let proximity = self.proximities.reorder(ranking);
        LookedAgain { late: late.unwrap_or_default(), standing, proximity }
    }

    /// The share that the stage `late` has in the score of what it looked at; the other stages have the rest.
    pub(super) fn late_weight(&self, fusion: Fusion) -> f64 {
        fusion.late_weight() * self.dense_share
    }

    /// A single ranking of the stages that compare every text.
    pub(super) fn at_first(&self, fusion: Fusion) -> Vec<Scored> {
        let stages = (self.dense.as_deref(), self.sparse.as_deref(), self.lexical.as_deref());
        match stages {
            (None, None, None) => Vec::new(),
            (Some(only), None, None) | (None, Some(only), None) | (None, None, Some(only)) => only.to_vec(),
            (dense, sparse, lexical) => {
                let (dense, lexical) = (dense.unwrap_or_default(), lexical.unwrap_or_default());
                self.of_model(fusion).fuse_with_share(self.weight(), dense, sparse, lexical)
            }
        }
    }
}

/// Ranks the chunks of `generation` for `query`, stage by stage, as [`search`] does before fusion. For comparing modes
/// and fusions.
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
    ask(generation, embedder, query, options)?.rank(store, generation, None, options)
}

/// What a synonym weighs beside the word itself. Of whole weight, they lost 2.2 points [0.6, 4.0] of lexical recall in 1,000
/// tokens on `mdlinks-en`, sentences of the documents themselves; of half, no question set loses. By it, of 836 questions
/// in people's own words those in Russian gain 5.3 [1.6, 9.6], in Chinese 1.5 [-1.2, 4.3], in English and about code 0.3.
const SYNONYM: f32 = 0.5;

/// A query as every part of a search reads it.
pub(super) struct Asked<'q> {
    pub(super) query: &'q str,
    /// Its terms, each once.
    pub(super) terms: Vec<String>,
    /// Their numbers.
    pub(super) ids: Vec<TermId>,
    /// The numbers by which chunks are named: of terms in texts, and in names of files and symbols.
    fields: Vec<TermId>,
    /// The same with their synonyms, by which chunks are found, and what each weighs.
    weighted: Vec<(TermId, f32)>,
    /// The terms of synonyms, each once.
    pub(super) synonyms: Vec<String>,
    pub(super) words: QueryWords,
    pairs: Pairs,
    /// The vectors, and the reason a sparse vector is missing; `None` if not requested or unavailable.
    vectors: Option<(Embedding, Option<String>)>,
    /// The reason why the vectors are unavailable.
    degraded: Option<String>,
    dense_share: f64,
}

/// The numbers of the terms that may be in the name of a file or a symbol: of a name with marks, such as `C++`, not its
/// plain words.
fn names(terms: &[QueryTerm]) -> Vec<TermId> {
    let symbols: Vec<_> = terms.iter().filter(|term| term.kind == TermKind::Symbol).collect();
    let is_plain = |term: &QueryTerm| {
        let is_in = |outer: &Range<usize>| outer.start <= term.range.start && term.range.end <= outer.end;
        term.kind != TermKind::Symbol && symbols.iter().any(|symbol| is_in(&symbol.range))
    };
    let mut ids: Vec<TermId> =
        terms.iter().filter(|term| !is_plain(term)).map(|term| term_id(&term.text)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.iter().flat_map(|id| [TermField::File, TermField::Symbols].map(|field| field.id(*id))).collect()
}

/// The terms of the forms by which words of a query are known.
fn terms_of(known: &[Known]) -> Vec<QueryTerm> {
    let mut terms = Vec::new();
    for (it, form) in known.iter().flat_map(|it| it.forms.iter().map(move |form| (it, form))) {
        analysis::analyze(form, &mut |term| {
            terms.push(QueryTerm { range: it.range.clone(), ..QueryTerm::from(term) });
        });
    }
    terms
}

/// The texts of terms, each once, in order.
fn each_once(terms: Vec<QueryTerm>) -> Vec<String> {
    let mut seen = HashSet::new();
    terms.into_iter().map(|term| term.text).filter(|term| seen.insert(term.clone())).collect()
}

/// Analyses and embeds a query, once for all rankings of it.
pub(super) fn ask<'q>(
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
    query: &'q str,
    options: &SearchOptions,
) -> Result<Asked<'q>, SearchError> {
    options.check()?;
    if query.trim().is_empty() {
        return Err(SearchError::EmptyQuery);
    }
    check_query(query)?;
    let mut found = Vec::new();
    analysis::analyze(query, &mut |term| found.push(QueryTerm::from(term)));
    let mut words = QueryWords::of_terms(query, &found);
    let pairs = Pairs::of(query);
    let mut others = Vec::new();
    if let Some(into) = options.translate {
        let known = translated(query, into);
        if !known.is_empty() {
            words.translate(&known);
            found.extend(terms_of(&known));
        }
    } else {
        let known = synonyms(query);
        words.add_synonyms(&known);
        others = terms_of(&known);
    }
    let mut fields = query_ids(found.iter().map(|term| &*term.text));
    let ids = fields.clone();
    fields.extend(names(&found));
    let mut weighted = alike(&fields);
    let own: HashSet<TermId> = fields.iter().copied().collect();
    others.retain(|term| !own.contains(&term_id(&term.text)));
    let synonymous = query_ids(others.iter().map(|term| &*term.text)).into_iter().chain(names(&others));
    weighted.extend(synonymous.filter(|id| !own.contains(id)).map(|id| (id, SYNONYM)));
    let mut asked = Asked {
        query,
        terms: each_once(found),
        ids,
        fields,
        weighted,
        synonyms: each_once(others),
        words,
        pairs,
        vectors: None,
        degraded: None,
        dense_share: 0.0,
    };
    if options.mode != Mode::Lexical {
        // Models compare texts of one language better than across languages.
        let in_words = options.translate.and_then(|into| in_words_of(query, into));
        let read = in_words.as_deref().unwrap_or(query);
        asked.dense_share = embedder.map_or(0.0, |embedder| embedder.model().reads.share_of(read));
        match query_vectors(generation, embedder, read) {
            Ok((embedding, failed)) => {
                asked.vectors = Some((embedding, failed.map(|error| error.to_string())));
            }
            Err(SearchError::NoDense(why)) if options.mode == Mode::Hybrid => asked.degraded = Some(why),
            Err(SearchError::Embed(error)) if options.mode == Mode::Hybrid => {
                asked.degraded = Some(error.to_string());
            }
            Err(SearchError::NoDense(why)) if options.mode == Mode::Sparse => {
                return Err(SearchError::NoSparse(why));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(asked)
}

impl Asked<'_> {
    /// The terms that a text has, of the query or synonymous.
    pub(super) fn matched(&self, terms: &TermCounts) -> Vec<String> {
        let all = self.terms.iter().chain(&self.synonyms);
        all.filter(|term| terms.has(term_id(term))).cloned().collect()
    }

    /// The query's dense vector.
    pub(super) fn vector(&self) -> Option<&[f32]> {
        self.vectors.as_ref().map(|(embedding, _)| &*embedding.vector)
    }

    /// Runs the stages over the present chunks.
    pub(super) fn rank(
        &self,
        store: &dyn Store,
        generation: &Generation,
        watch: Option<&dyn StageWatch>,
        options: &SearchOptions,
    ) -> Result<Ranked, SearchError> {
        cancel::check()?;
        let calibration = generation.spec.model.as_ref().and_then(|model| Calibration::of_model(&model.name));
        let mut ranked = Ranked {
            degraded: self.degraded.clone(),
            dense_share: self.dense_share,
            dense_weight: calibration.map(|calibration| calibration.dense_weight),
            ..Ranked::default()
        };
        if let Some((embedding, failed)) = &self.vectors {
            by_vectors(store, generation, (options, watch), &mut ranked, embedding, failed.as_deref())?;
        }
        if matches!(options.mode, Mode::Hybrid | Mode::Lexical) {
            let limit = options.candidates.max(options.top_k);
            let stage = || store.lexical(generation, &self.weighted, &options.filter, limit);
            ranked.lexical = Some(measured(watch, "lexical", stage)?);
        }
        if let Some((Embedding { tokens: Some(Tokens::Query(tokens)), .. }, _)) = &self.vectors
            && options.mode == Mode::Hybrid
            && options.fusion.late_weight() > 0.0
            && self.dense_share >= 0.5
        {
            let first = ranked.at_first(options.fusion);
            let stage = || Late::compare(store, generation, tokens, &first);
            ranked.late = Some(measured(watch, "late", stage)?);
        }
        // Reciprocal ranks are too close to each other for shares of them.
        let is_scored = ranked.lexical.is_some() && !matches!(options.fusion, Fusion::Rrf { .. });
        if options.names == NameRanking::First && is_scored {
            let mut best = ranked.compared(options.fusion);
            let stage = || Standings::find(store, generation, Subject::of(&self.terms), &best);
            ranked.standings = measured(watch, "standing", stage)?;
            ranked.standings.reorder(&mut best);
            let stage = || Proximities::find(store, generation, &self.pairs, &best);
            ranked.proximities = measured(watch, "proximity", stage)?;
        }
        if options.names == NameRanking::First {
            let is_long = options.candidates.max(options.top_k) >= MOST_READ;
            let lexical = ranked.lexical.as_deref().filter(|_| is_long);
            let query = (self.query, &*self.fields);
            let stage = || Names::find(store, generation, query, &options.filter, lexical);
            ranked.names = measured(watch, "names", stage)?;
        }
        Ok(ranked)
    }
}

/// Runs the stages that compare vectors. `failed` is the reason why the query has no sparse vector.
fn by_vectors(
    store: &dyn Store,
    generation: &Generation,
    (options, watch): (&SearchOptions, Option<&dyn StageWatch>),
    ranked: &mut Ranked,
    embedding: &Embedding,
    failed: Option<&str>,
) -> Result<(), SearchError> {
    let limit = options.candidates.max(options.top_k);
    if options.mode != Mode::Sparse {
        let stage = || store.dense(generation, &embedding.vector, &options.filter, limit);
        ranked.dense = Some(measured(watch, "dense", stage)?);
    }
    let gives_sparse = generation.spec.model.as_ref().is_some_and(|model| model.sparse);
    if options.mode == Mode::Dense || (options.mode == Mode::Hybrid && !gives_sparse) {
        return Ok(());
    }
    let why = match (&embedding.sparse, failed) {
        (Some(weights), _) if gives_sparse => {
            let stage = || store.sparse(generation, weights, &options.filter, limit);
            ranked.sparse = Some(measured(watch, "sparse", stage)?);
            return Ok(());
        }
        (_, Some(error)) if gives_sparse => error.into(),
        (None, None) if gives_sparse => "the embedder gave no sparse vector of the query".into(),
        _ => format!(
            "collection `{}` has no sparse vectors, since its model gives none",
            generation.collection
        ),
    };
    if options.mode == Mode::Sparse {
        return Err(SearchError::NoSparse(why));
    }
    ranked.degraded = Some(why);
    Ok(())
}

/// The query's vectors, and the reason a sparse vector is missing.
fn query_vectors(
    generation: &Generation,
    embedder: Option<&dyn Embedder>,
    query: &str,
) -> Result<(Embedding, Option<EmbedError>), SearchError> {
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
    Ok(embedder.embed_query(query)?)
}

/// Rank and score by chunk.
pub(super) fn places(
    ranking: Option<&[Scored]>,
    contribution: Option<Contribution>,
) -> HashMap<ChunkId, Stage> {
    let ranking = ranking.unwrap_or_default().iter().enumerate();
    ranking.map(|(index, scored)| (scored.id, place(index, scored.score, contribution))).collect()
}

impl Stage {
    /// With this share of its contribution.
    pub(super) fn with_share(self, share: f64) -> Self {
        Self { contribution: self.contribution.map(|contribution| share * contribution), ..self }
    }
}

/// The place at `index` of a ranking, counted from 0.
pub(super) fn place(index: usize, score: f64, contribution: Option<Contribution>) -> Stage {
    let contribution = contribution.map(|contribution| contribution.of(index, score));
    Stage { rank: index + 1, score, contribution }
}
