//! How relevant are the chunks of one search, and is that enough?

use super::choose::Chosen;
use super::rank::Asked;
use super::relevance::{Calibration, LEXICAL, QueryWords};
use super::{Mode, Ranked, SearchError, SearchOptions, places};
use crate::store::{Generation, Store, StoredChunk};

/// How relevant chunks are, in order, and what is the least that is wanted.
pub(super) struct Judged {
    pub(super) relevance: Vec<Option<f64>>,
    /// None where no relevance is known.
    pub(super) least: Option<f64>,
}

/// Judges chunks that were chosen. The cosine of a chunk that is no candidate of the dense stage is that of its
/// vector in the cache, from which the stage has it too.
pub(super) fn judged(
    store: &dyn Store,
    generation: &Generation,
    asked: &Asked,
    (query, ranked): (&str, &Ranked),
    chosen: &[Chosen],
    options: &SearchOptions,
) -> Result<Judged, SearchError> {
    let Some(scale) = scale(generation, query, ranked) else {
        return match options.min_relevance.filter(|least| *least > 0.0) {
            Some(_) => Err(no_relevance(generation)),
            None => Ok(Judged { relevance: vec![None; chosen.len()], least: None }),
        };
    };
    let least = options.min_relevance.unwrap_or_else(|| scale.min_relevance());
    let dense = places(ranked.dense.as_deref().filter(|_| scale.reads_cosine()));
    let mut relevance = Vec::with_capacity(chosen.len());
    for (scored, chunk, _) in chosen {
        let mut cosine = dense.get(&scored.id).map(|stage| stage.score);
        if cosine.is_none() && chunk.embedded && scale.reads_cosine() {
            cosine = asked.cosine_of(store, generation, &chunk.record.text)?;
        }
        relevance.push(scale.relevance(cosine, chunk));
    }
    Ok(Judged { relevance, least: Some(least) })
}

/// How the hits of a search are judged. A model that reads less than half of the query has no say in the ranking, and
/// none in this.
pub(super) fn scale(generation: &Generation, query: &str, ranked: &Ranked) -> Option<Scale> {
    let model = generation.spec.model.as_ref().map(|model| model.name.as_str());
    match ranked.mode() {
        Mode::Sparse => None,
        Mode::Lexical => Scale::new(query, None),
        Mode::Hybrid if ranked.dense_share < 0.5 => Scale::new(query, None),
        Mode::Hybrid | Mode::Dense => Scale::new(query, model),
    }
}

fn no_relevance(generation: &Generation) -> SearchError {
    let model = generation.spec.model.as_ref().map_or("none", |model| &model.name);
    SearchError::NoRelevance(format!("the scores of model `{model}` have no calibration in this mode"))
}

/// How the hits of one search are judged.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    words: QueryWords,
    /// Of the model whose vectors were compared, or of words.
    calibration: &'static Calibration,
}

impl Scale {
    /// The scale of a search; none where no relevance is known. `model` is that whose vectors were compared.
    fn new(query: &str, model: Option<&str>) -> Option<Self> {
        let calibration = model.map_or(Some(&LEXICAL), Calibration::of_model)?;
        Some(Self { words: QueryWords::of(query), calibration })
    }

    /// Whether it reads cosines.
    pub(super) fn reads_cosine(&self) -> bool {
        self.calibration.model.is_some()
    }

    /// The relevance of a chunk; none where it is not known. One without a vector is judged by its words.
    pub(super) fn relevance(&self, cosine: Option<f64>, chunk: &StoredChunk) -> Option<f64> {
        let coverage = self.words.coverage(&chunk.terms);
        match cosine {
            Some(_)
                if self.calibration.is_multilingual && self.words.is_question_across(&chunk.record.text) =>
            {
                None
            }
            Some(cosine) => Some(self.calibration.relevance(cosine, coverage)),
            None => Some(LEXICAL.relevance(0.0, coverage)),
        }
    }

    /// The least relevance of a hit where the search names none.
    fn min_relevance(&self) -> f64 {
        self.calibration.min_relevance
    }
}
