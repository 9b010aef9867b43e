//! Merges the hits of several collections into one order.
//!
//! Scores of different collections are seldom comparable: BM25 depends on how rare a word is in each collection, and a
//! fused score is scaled to the candidates of its own search. Pinned hits come first, then those that the query names,
//! by the scores of their roles. The order of the others is by the first of these that is comparable:
//!
//! * the score, if the same measure ordered every list: a reranker, or the dot product of a dense or sparse search in
//!   which all vectors are of one model;
//! * the relevance, which is on one scale for every model: among the next hits of all lists, the most relevant comes
//!   first;
//! * the rank, which is reciprocal rank fusion of lists without a common member: every collection's best hit comes
//!   before any second best. Equal ranks are ordered by the dense score if all vectors are of one model, and otherwise
//!   by the order in which the collections were named.
//!
//! Each list keeps its own order, so that the first `n` hits of the answer are among the first `n` of each list. Pages
//! depend on that.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use chunkwright_index::{Answer, Duplicates, Hit as FoundHit, Kept, Mode, Model, Named};

use crate::noun::snapshot::Snapshot;
use crate::request::search::hit::{Hit, HitPlace};

/// How the hits of several lists are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// By the score that ordered each list.
    Score,
    /// By relevance.
    Relevance,
    /// By rank, equal ranks by dense score.
    RankThenDense,
    /// By rank.
    Rank,
}

fn order(found: &[(&Snapshot, Answer)]) -> Order {
    let model = |(snapshot, _): &(&Snapshot, Answer)| snapshot.generation().spec.model.clone();
    let models: Vec<Option<Model>> = found.iter().map(model).collect();
    let is_one_model = models.windows(2).all(|pair| pair[0] == pair[1]);
    let ran = |mode: Mode| found.iter().all(|(_, answer)| answer.mode == mode);
    if found.iter().all(|(_, answer)| answer.rerank_used) {
        return Order::Score;
    }
    if is_one_model && (ran(Mode::Dense) || ran(Mode::Sparse)) {
        return Order::Score;
    }
    if found.iter().flat_map(|(_, answer)| &answer.hits).all(|hit| hit.relevance.is_some()) {
        return Order::Relevance;
    }
    if is_one_model && ran(Mode::Hybrid) { Order::RankThenDense } else { Order::Rank }
}

/// Merges the hits of all lists into one order, ranked from 1. Earlier lists win ties.
pub(super) fn merged(found: &[(&Snapshot, Answer)], duplicates: Duplicates) -> Vec<Hit> {
    let order = order(found);
    let mut lists: Vec<_> = found.iter().map(|(_, answer)| answer.hits.iter()).collect();
    let next = |list: usize, lists: &mut Vec<std::slice::Iter<'_, FoundHit>>| {
        lists[list].next().map(|hit| Head { order, list, hit: hit.clone() })
    };
    let mut heads: BinaryHeap<Head> = (0..found.len()).filter_map(|list| next(list, &mut lists)).collect();
    let mut hits = Vec::new();
    while let Some(Head { list, hit, .. }) = heads.pop() {
        hits.push(Hit::new(&found[list].0.generation().collection, hit));
        heads.extend(next(list, &mut lists));
    }
    if found.len() > 1 && duplicates != Duplicates::Keep {
        hits = collapsed(hits);
    }
    for (index, hit) in hits.iter_mut().enumerate() {
        hit.found.rank = index + 1;
    }
    hits
}

/// The first remaining hit of a list; the greatest head comes next.
struct Head {
    order: Order,
    list: usize,
    hit: FoundHit,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.hit, &other.hit);
        let is_pinned = |hit: &FoundHit| hit.kept == Kept::Pinned;
        let by_rank = || b.rank.cmp(&a.rank);
        let dense = |hit: &FoundHit| hit.dense.map_or(f64::MIN, |dense| dense.score);
        let relevance = |hit: &FoundHit| hit.relevance.unwrap_or_default();
        let by_order = match self.order {
            Order::Score => a.score.total_cmp(&b.score),
            Order::Relevance => relevance(a).total_cmp(&relevance(b)),
            Order::RankThenDense => by_rank().then_with(|| dense(a).total_cmp(&dense(b))),
            Order::Rank => by_rank(),
        };
        let precedence = |hit: &FoundHit| Named::precedence(hit.names.as_ref());
        let by_name = precedence(a).total_cmp(&precedence(b));
        is_pinned(a).cmp(&is_pinned(b)).then(by_name).then(by_order).then(other.list.cmp(&self.list))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

/// Removes hits whose content equals that of a better hit in another collection, which lists them as copies.
fn collapsed(hits: Vec<Hit>) -> Vec<Hit> {
    let mut kept: Vec<Hit> = Vec::with_capacity(hits.len());
    let mut seen: HashMap<String, usize> = HashMap::new();
    for hit in hits {
        let first = *seen.entry(hit.record.content.clone()).or_insert(kept.len());
        match kept.get_mut(first) {
            // Within one collection, the copies are of several generations.
            Some(better) if better.collection != hit.collection => {
                let ids = [hit.record.chunk_id].into_iter().chain(hit.duplicates.iter().copied());
                let place = |chunk_id| HitPlace { collection: hit.collection.clone(), chunk_id };
                better.copies.extend(ids.map(place));
            }
            _ => kept.push(hit),
        }
    }
    kept
}
