//! Judges the chunks of one search: computes their relevance and the threshold for it.

use std::collections::HashMap;

use chunkwright::{ChunkId, Record};

use super::rank::Asked;
use super::relevance::{Calibration, LEXICAL, QueryWords};
use super::{Mode, Ranked, SearchError, SearchOptions, Stage, places};
use crate::script::Script;
use chunkwright_store::{Generation, Store, StoreError, StoredChunk};

/// Judges the relevance of the chunks of one search.
pub(super) struct Judge<'a> {
    store: &'a dyn Store,
    generation: &'a Generation,
    asked: &'a Asked<'a>,
    scale: Option<Scale<'a>>,
    /// The candidates of the dense stage, if cosines are used.
    dense: HashMap<ChunkId, Stage>,
    least: Option<f64>,
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
        Ok(Self { store, generation, asked, scale, dense, least })
    }

    /// The least relevance of a hit; `None` if relevance is unknown.
    pub(super) fn least(&self) -> Option<f64> {
        self.least
    }

    /// The relevance of chunks. If a chunk is not a candidate of the dense stage, its cosine is computed from its vector.
    pub(super) fn relevance(&self, chunks: &[&StoredChunk]) -> Result<Vec<Option<f64>>, StoreError> {
        let Some(scale) = &self.scale else { return Ok(vec![None; chunks.len()]) };
        let known = |chunk: &StoredChunk| self.dense.get(&chunk.record.chunk_id).map(|stage| stage.score);
        let mut cosines: Vec<Option<f64>> = chunks.iter().map(|chunk| known(chunk)).collect();
        if scale.reads_cosine() {
            let is_unknown = |at: &usize| cosines[*at].is_none() && chunks[*at].embedded;
            let unknown: Vec<usize> = (0..chunks.len()).filter(is_unknown).collect();
            let records: Vec<&Record> = unknown.iter().map(|at| &chunks[*at].record).collect();
            let found = self.asked.cosines_of(self.store, self.generation, &records)?;
            unknown.into_iter().zip(found).for_each(|(at, cosine)| cosines[at] = cosine);
        }
        Ok(cosines.into_iter().zip(chunks).map(|(cosine, chunk)| scale.relevance(cosine, chunk)).collect())
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
        let words = self.words.matched(&chunk.record.text, &chunk.terms);
        match cosine {
            Some(_)
                if self.calibration.is_multilingual
                    && self.words.is_question_across(Script::of_record(&chunk.record)) =>
            {
                None
            }
            Some(cosine) => Some(self.calibration.relevance(cosine, words)),
            None => Some(LEXICAL.relevance(0.0, words)),
        }
    }

    /// The default least relevance of a hit.
    fn min_relevance(&self) -> f64 {
        self.calibration.min_relevance
    }
}
