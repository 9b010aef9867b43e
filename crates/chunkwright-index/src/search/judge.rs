//! Judges the chunks of one search: computes their relevance and the threshold for it.

use std::collections::HashMap;
use std::sync::Arc;

use chunkwright::{ChunkId, Record};

use super::rank::Asked;
use super::relevance::{Calibration, LEXICAL, QueryWords, WordMatch};
use super::{Mode, Ranked, SearchError, SearchOptions, Stage, places};
use crate::script::Script;
use chunkwright_store::bm25::{TermCounts, TermId};
use chunkwright_store::{Generation, IndexedChunk, Store, StoreError, StoredChunk};

/// Judges the relevance of the chunks of one search.
pub(super) struct Judge<'a> {
    store: &'a dyn Store,
    generation: &'a Generation,
    asked: &'a Asked<'a>,
    scale: Option<Scale<'a>>,
    /// The terms that the scale asks for.
    terms: Vec<TermId>,
    /// The candidates of the dense stage, if cosines are used.
    dense: HashMap<ChunkId, Stage>,
    least: Option<f64>,
}

/// What is known of a chunk before it is read.
#[derive(Clone, Copy, Debug, Default)]
struct Glance {
    /// Its cosine, if it is used.
    cosine: Option<f64>,
    /// Its relevance, if it does not depend on the text.
    relevance: Option<f64>,
}

/// A judged chunk.
pub(super) enum Judged {
    /// It is gone.
    Missing,
    /// Searches may not find it.
    Disabled,
    /// Its relevance is below what a hit must have.
    Below(f64),
    /// The chunk is relevant enough, or kept anyway; with its relevance if that is known.
    Enough(Arc<StoredChunk>, Option<f64>),
}

impl<'a> Judge<'a> {
    /// The judge of the chunks `ranked` for `query`.
    pub(super) fn new(
        (store, generation): (&'a dyn Store, &'a Generation),
        asked: &'a Asked<'a>,
        ranked: &Ranked,
        options: &SearchOptions,
    ) -> Result<Self, SearchError> {
        let scale = scale(generation, &asked.words, ranked);
        let least = match &scale {
            Some(scale) => Some(options.min_relevance.unwrap_or_else(|| scale.min_relevance())),
            None if options.min_relevance.is_some_and(|least| least > 0.0) => {
                return Err(no_relevance(generation));
            }
            None => None,
        };
        let reads_cosine = scale.as_ref().is_some_and(Scale::reads_cosine);
        let dense = places(ranked.dense.as_deref().filter(|_| reads_cosine), None);
        let terms = scale.as_ref().map(|_| asked.words.terms()).unwrap_or_default();
        Ok(Self { store, generation, asked, scale, terms, dense, least })
    }

    /// The least relevance of a hit; `None` if relevance is unknown.
    pub(super) fn least(&self) -> Option<f64> {
        self.least
    }

    /// Judges chunks, in order. Those of which the store knows that they are not relevant enough are not read.
    pub(super) fn judge(
        &self,
        ids: &[ChunkId],
        is_kept: &dyn Fn(ChunkId) -> bool,
    ) -> Result<Vec<Judged>, StoreError> {
        let is_below =
            |id: ChunkId, relevance: &f64| self.least.is_some_and(|least| *relevance < least) && !is_kept(id);
        let glances = self.glance(ids)?;
        let is_read =
            |(id, glance): (&ChunkId, &Glance)| !glance.relevance.is_some_and(|it| is_below(*id, &it));
        let read: Vec<bool> = ids.iter().zip(&glances).map(is_read).collect();
        let wanted: Vec<ChunkId> =
            ids.iter().zip(&read).filter(|(_, read)| **read).map(|(id, _)| *id).collect();
        let mut chunks = self.store.chunks(self.generation, &wanted)?.into_iter();
        let chunks: Vec<_> =
            read.into_iter().map(|read| if read { chunks.next().flatten() } else { None }).collect();
        let relevance = self.relevance(&glances, &chunks)?;
        let judged =
            |((id, chunk), relevance): ((&ChunkId, Option<Arc<StoredChunk>>), Option<f64>)| match chunk {
                Some(chunk) if !chunk.enabled => Judged::Disabled,
                chunk => match (relevance.filter(|it| is_below(*id, it)), chunk) {
                    (Some(relevance), _) => Judged::Below(relevance),
                    (None, Some(chunk)) => Judged::Enough(chunk, relevance),
                    (None, None) => Judged::Missing,
                },
            };
        Ok(ids.iter().zip(chunks).zip(relevance).map(judged).collect())
    }

    /// What the store knows of chunks without reading them.
    fn glance(&self, ids: &[ChunkId]) -> Result<Vec<Glance>, StoreError> {
        let Some(scale) = &self.scale else { return Ok(vec![Glance::default(); ids.len()]) };
        let query = self.asked.vector().filter(|_| scale.reads_cosine());
        let indexed = self.store.indexed(self.generation, ids, &self.terms, query)?;
        let glance = |(id, indexed): (&ChunkId, Option<IndexedChunk>)| {
            let product = indexed.as_ref().and_then(|indexed| indexed.product);
            let cosine = self.dense.get(id).map(|stage| stage.score).or(product);
            let relevance = indexed.and_then(|indexed| scale.relevance_by(cosine, &indexed.terms));
            Glance { cosine, relevance }
        };
        Ok(ids.iter().zip(indexed).map(glance).collect())
    }

    /// The relevance of chunks, of which some were read. A cosine that nothing knew is computed from the vector.
    fn relevance(
        &self,
        glances: &[Glance],
        chunks: &[Option<Arc<StoredChunk>>],
    ) -> Result<Vec<Option<f64>>, StoreError> {
        let Some(scale) = &self.scale else { return Ok(vec![None; chunks.len()]) };
        let mut cosines: Vec<Option<f64>> = glances.iter().map(|glance| glance.cosine).collect();
        if let Some(query) = self.asked.vector().filter(|_| scale.reads_cosine()) {
            let embedded = |at: usize| {
                chunks[at].as_ref().filter(|chunk| chunk.embedded).map(|chunk| (at, &chunk.record))
            };
            let unknown = (0..chunks.len()).filter(|at| cosines[*at].is_none()).filter_map(embedded);
            let (places, records): (Vec<usize>, Vec<&Record>) = unknown.unzip();
            let found = self.store.products(self.generation, query, &records)?;
            places.into_iter().zip(found).for_each(|(at, cosine)| cosines[at] = cosine);
        }
        let relevance = |(at, cosine): (usize, Option<f64>)| match &chunks[at] {
            Some(chunk) => scale.relevance(cosine, chunk),
            None => glances[at].relevance,
        };
        Ok(cosines.into_iter().enumerate().map(relevance).collect())
    }
}

/// The relevance scale of a search. A model that reads less than half of the query affects neither the ranking nor the
/// scale.
pub(super) fn scale<'a>(
    generation: &Generation,
    words: &'a QueryWords,
    ranked: &Ranked,
) -> Option<Scale<'a>> {
    let model = generation.spec.model.as_ref().map(|model| model.name.as_str());
    match ranked.mode() {
        Mode::Sparse => None,
        Mode::Lexical => Scale::new(words, None),
        Mode::Hybrid if ranked.dense_share < 0.5 => Scale::new(words, None),
        Mode::Hybrid | Mode::Dense => Scale::new(words, model),
    }
}

fn no_relevance(generation: &Generation) -> SearchError {
    let model = generation.spec.model.as_ref().map_or("none", |model| &model.name);
    SearchError::NoRelevance(format!("the scores of model `{model}` have no calibration in this mode"))
}

/// The relevance scale of one search.
#[derive(Clone, Debug)]
pub(super) struct Scale<'a> {
    words: &'a QueryWords,
    /// That of the model whose vectors were compared, or the lexical one.
    calibration: &'static Calibration,
}

impl<'a> Scale<'a> {
    /// The scale of a search; `None` if relevance is unknown. `model` is the one whose vectors were compared.
    fn new(words: &'a QueryWords, model: Option<&str>) -> Option<Self> {
        let calibration = model.map_or(Some(&LEXICAL), Calibration::of_model)?;
        Some(Self { words, calibration })
    }

    /// Returns whether it uses cosines.
    pub(super) fn reads_cosine(&self) -> bool {
        self.calibration.model.is_some()
    }

    /// The relevance of a chunk; `None` if unknown. A chunk without a vector is judged lexically.
    pub(super) fn relevance(&self, cosine: Option<f64>, chunk: &StoredChunk) -> Option<f64> {
        if self.is_across(cosine, |words| words.is_question_across(Script::of_record(&chunk.record))) {
            return None;
        }
        Some(self.judged(cosine, self.words.matched(&chunk.record.text, &chunk.terms)))
    }

    /// The relevance of a chunk that has these of the query's terms; `None` if it depends on its text.
    fn relevance_by(&self, cosine: Option<f64>, terms: &TermCounts) -> Option<f64> {
        if self.is_across(cosine, QueryWords::is_question) {
            return None;
        }
        Some(self.judged(cosine, self.words.matched_by(terms)?))
    }

    /// Whether a model that reads several scripts compared what `is_across` says may be in two.
    fn is_across(&self, cosine: Option<f64>, is_across: impl FnOnce(&QueryWords) -> bool) -> bool {
        cosine.is_some() && self.calibration.is_multilingual && is_across(self.words)
    }

    fn judged(&self, cosine: Option<f64>, words: WordMatch) -> f64 {
        match cosine {
            Some(cosine) => self.calibration.relevance(cosine, words),
            None => LEXICAL.relevance(0.0, words),
        }
    }

    /// The default least relevance of a hit.
    fn min_relevance(&self) -> f64 {
        self.calibration.min_relevance
    }
}
