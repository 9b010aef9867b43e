//! Explains why a chunk is not among the hits of a search.

use std::fmt;

use chunkwright::ChunkId;
use serde::Serialize;

use super::judge::scale;
use super::{
    Answer, Models, Named, Proximity, Ranked, SearchError, SearchOptions, Stage, Stands, ask, place,
    search_for,
};
use chunkwright_store::{Generation, Scored, Store};

/// What became of one chunk in a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explained {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Its document; none if there is no such chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_id: Option<String>,
    /// What decided.
    pub verdict: Verdict,
    /// Rank and dot product among all chunks that pass the filter; none if meaning was not asked, or the
    /// chunk has no vector or does not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dense: Option<Stage>,
    /// Rank and dot product of sparse vectors among all chunks that pass the filter; none if it has no token of
    /// the query's, or they were not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparse: Option<Stage>,
    /// Rank and BM25 among all chunks that pass the filter; none if it has no term of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical: Option<Stage>,
    /// Rank and score by late interaction, a second look at the best, which leaves the other stages the rest of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<Stage>,
    /// Where its document stands, if that is not in the project itself or the query asks for it, and what that adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Stands>,
    /// How close to each other the words of the query stand in its text, if any are close, and what that adds; none if it
    /// is not among the best that are looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proximity: Option<Proximity>,
    /// What it is to a name that the query asks for, with its rank and score in that stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Named>,
    /// Position and score after fusion, among all chunks that pass the filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fused: Option<Stage>,
    /// How well it answers the query, from 0 to 1; none where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// Terms of the query.
    pub query_terms: Vec<String>,
    /// Those that the chunk's text has.
    pub matched_terms: Vec<String>,
    /// Whether it has a vector.
    pub embedded: bool,
    /// Score of the last hit of the answer: what it would have had to reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<f64>,
}

/// What decided whether a chunk is in an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// It is in the answer.
    Found {
        /// Its rank there, from 1.
        rank: usize,
    },
    /// There is no such chunk in this generation.
    Missing,
    /// It was disabled by hand.
    Disabled,
    /// The filter does not let it pass.
    Filtered,
    /// A hit says the same and was ranked higher.
    Duplicate {
        /// Id of that hit.
        of: ChunkId,
    },
    /// It is among the best, and its relevance is below what a hit must have.
    Irrelevant {
        /// What a hit must have.
        min_relevance: f64,
    },
    /// It has no term of the query, and no vector or meaning was not asked.
    NoMatch,
    /// Each stage found as many as it hands on that were better.
    NoCandidate {
        /// How many each stage hands on.
        candidates: usize,
    },
    /// Its document has as many better hits as are allowed.
    PerDocument {
        /// How many are allowed.
        per_document: usize,
    },
    /// The hits are all better.
    Outranked {
        /// How many hits were wanted.
        top_k: usize,
    },
}

impl fmt::Display for Verdict {
    /// The verdict as a clause.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found { rank } => write!(f, "it is hit {rank}"),
            Self::Missing => f.write_str("this generation has no such chunk"),
            Self::Disabled => f.write_str("it is disabled"),
            Self::Filtered => f.write_str("the filter excludes it"),
            Self::Duplicate { of } => write!(f, "it duplicates hit {of}"),
            Self::Irrelevant { min_relevance } => {
                write!(f, "its relevance is below {min_relevance}, which a hit must have")
            }
            Self::NoMatch => {
                f.write_str("it shares no term with the query, and no vector of it was compared")
            }
            Self::NoCandidate { candidates } => {
                write!(f, "it is not among the best {candidates} of any stage")
            }
            Self::PerDocument { per_document } => {
                write!(f, "its document already has {per_document} better hits")
            }
            Self::Outranked { top_k } => write!(f, "{top_k} hits rank higher"),
        }
    }
}

/// Explains why the chunk `id` is or is not among the hits for `query`.
///
/// # Errors
///
/// As [`search`].
pub fn explain(
    store: &dyn Store,
    generation: &Generation,
    models: Models<'_>,
    query: &str,
    options: &SearchOptions,
    id: ChunkId,
) -> Result<Explained, SearchError> {
    let asked = ask(generation, models.embedder, query, options)?;
    let answer = search_for(store, generation, models, &asked, options)?;
    let mut explained = Explained {
        chunk_id: id,
        doc_id: None,
        verdict: Verdict::Missing,
        dense: None,
        sparse: None,
        lexical: None,
        late: None,
        standing: None,
        proximity: None,
        names: None,
        fused: None,
        relevance: None,
        query_terms: asked.terms.iter().chain(&asked.synonyms).cloned().collect(),
        matched_terms: Vec::new(),
        embedded: false,
        needed: answer.hits.last().map(|hit| hit.score),
    };
    let Some(Some(chunk)) = store.chunks(generation, &[id])?.pop() else { return Ok(explained) };
    explained.doc_id = Some(chunk.record.doc_id.clone());
    explained.matched_terms = asked.matched(&chunk.terms);
    explained.embedded = chunk.embedded;
    // Every chunk of the generation is a candidate, so that each stage ranks this one.
    let all = SearchOptions { candidates: usize::MAX / 2, ..options.clone() };
    let ranked = Ranked { missing: models.missing, ..asked.rank(store, generation, None, &all)? };
    let find = |ranking: &[Scored], contribution| {
        let index = ranking.iter().position(|scored| scored.id == id)?;
        Some(place(index, ranking[index].score, contribution))
    };
    let [dense, sparse, lexical] = ranked.contributions(options.fusion);
    let mut fused = ranked.at_first(options.fusion);
    let mut again = ranked.look_again(options.fusion, &mut fused);
    explained.late = again.late.remove(&id);
    explained.standing = again.standing.remove(&id);
    explained.proximity = again.proximity.remove(&id);
    let rest = 1.0 - explained.late.map_or(0.0, |_| ranked.late_weight(options.fusion));
    let stage = |ranking: &Option<Vec<Scored>>, contribution| {
        Some(find(ranking.as_deref()?, contribution)?.with_share(rest))
    };
    explained.dense = stage(&ranked.dense, dense);
    explained.sparse = stage(&ranked.sparse, sparse);
    explained.lexical = stage(&ranked.lexical, lexical);
    explained.names = ranked.names.places(&fused).remove(&id);
    explained.fused = find(&ranked.named(fused), None);
    let cosine = explained.dense.map(|stage| stage.score);
    explained.relevance = scale(generation, &asked.words, &ranked)
        .and_then(|scale| scale.relevance(cosine.filter(|_| scale.reads_cosine()), &chunk));
    let candidates = options.candidates.max(options.top_k);
    let handed_on = |stage: Option<Stage>| stage.is_some_and(|stage| stage.rank <= candidates);
    let is_left_out = match answer.below {
        Some(_) => {
            let all = SearchOptions { min_relevance: Some(0.0), ..options.clone() };
            in_answer(&search_for(store, generation, models, &asked, &all)?, id).is_some()
        }
        None => false,
    };
    explained.verdict = if let Some(verdict) = in_answer(&answer, id) {
        verdict
    } else if let Some(min_relevance) = answer.min_relevance.filter(|_| is_left_out) {
        Verdict::Irrelevant { min_relevance }
    } else if !chunk.enabled {
        Verdict::Disabled
    } else if !options.filter.passes_record(&chunk.record) {
        Verdict::Filtered
    } else if stages(&explained).iter().all(Option::is_none) && explained.names.is_none() {
        Verdict::NoMatch
    } else if !stages(&explained).into_iter().any(handed_on) && explained.names.is_none() {
        Verdict::NoCandidate { candidates }
    } else {
        match options.per_document {
            Some(per_document) if is_crowded(&answer, &chunk.record.doc_id, per_document) => {
                Verdict::PerDocument { per_document }
            }
            _ => Verdict::Outranked { top_k: options.top_k },
        }
    };
    Ok(explained)
}

/// Its place in each stage.
fn stages(explained: &Explained) -> [Option<Stage>; 3] {
    [explained.dense, explained.sparse, explained.lexical]
}

fn in_answer(answer: &Answer, id: ChunkId) -> Option<Verdict> {
    answer.hits.iter().find_map(|hit| {
        if hit.record.chunk_id == id {
            return Some(Verdict::Found { rank: hit.rank });
        }
        hit.duplicates.contains(&id).then_some(Verdict::Duplicate { of: hit.record.chunk_id })
    })
}

fn is_crowded(answer: &Answer, doc_id: &str, most: usize) -> bool {
    answer.hits.iter().filter(|hit| hit.record.doc_id == doc_id).count() >= most
}
