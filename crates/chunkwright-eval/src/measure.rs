//! Measures of one answer, by characters.
//!
//! All are shares from 0 to 1. The answer to a question is a set of gold passages, merged where they overlap. Text
//! shared by overlapping chunks counts once as found and each time it is returned as read. A chunk counts as its own
//! text without blank ends: borrowed text is not a place in the document.
//!
//! | Name | What it is |
//! |---|---|
//! | `R@1000` | gold characters inside the first 1,000 tokens returned, in rank order, the last chunk cut at the budget |
//! | `recall@5` | gold characters inside the first 5 chunks |
//! | `precision@5` | gold characters among all characters of the first 5 chunks |
//! | `IoU@5` | gold characters returned, of all characters returned or gold |
//! | `nDCG@10` | discounted gain of the first 10 chunks, of that of the best order; a chunk's gain is its share of the gold |
//! | `intact` | gold passages that lie inside one chunk; the ranking plays no part |
//!
//! Steer by `R@1000`: recall at a fixed k rewards large chunks.

use std::fmt;

use crate::corpus::Passage;

/// A measure; its name is in the table above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Recall within a number of tokens.
    Budget(usize),
    /// Recall within a number of chunks.
    Recall(usize),
    /// Precision within a number of chunks.
    Precision(usize),
    /// Intersection over union within a number of chunks.
    Iou(usize),
    /// Normalized discounted cumulative gain of a number of chunks.
    Ndcg(usize),
    /// Gold passages inside one chunk.
    Intact,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(tokens) => write!(f, "R@{tokens}"),
            Self::Recall(k) => write!(f, "recall@{k}"),
            Self::Precision(k) => write!(f, "precision@{k}"),
            Self::Iou(k) => write!(f, "IoU@{k}"),
            Self::Ndcg(k) => write!(f, "nDCG@{k}"),
            Self::Intact => f.write_str("intact"),
        }
    }
}

/// The chunks of a corpus, as measures see them.
#[derive(Debug, Default)]
pub struct Chunks {
    /// The place of each; ordered by document and place.
    pub places: Vec<Passage>,
    /// Tokens of each.
    pub tokens: Vec<usize>,
}

impl Chunks {
    /// Positions of the chunks that touch `passage`. Chunks may overlap, so that their ends need not be in order.
    pub fn touching(&self, passage: Passage) -> impl Iterator<Item = usize> + '_ {
        let start = self.places.partition_point(|place| place.document < passage.document);
        let before = |place: &Passage| (place.document, place.start) < (passage.document, passage.end);
        let until = self.places.partition_point(before).max(start);
        (start..until).filter(move |&at| self.places[at].end > passage.start)
    }
}

/// The values of `measures` for one question: `ranking` holds indices of `chunks`, best first; `fits` returns the
/// number of characters in the first so many tokens of a chunk.
pub fn figures(
    measures: &[Measure],
    gold: &[Passage],
    chunks: &Chunks,
    ranking: &[usize],
    fits: &dyn Fn(usize, usize) -> usize,
) -> Vec<f64> {
    let gold = merged(gold);
    let total: usize = gold.iter().map(|passage| passage.len()).sum();
    let answer = Answer { gold, total: total.max(1), chunks, ranking };
    measures
        .iter()
        .map(|measure| match *measure {
            Measure::Budget(tokens) => answer.within(tokens, fits),
            Measure::Recall(k) => answer.found(k) / answer.total as f64,
            Measure::Precision(k) => answer.found(k) / answer.returned(k).max(1.0),
            Measure::Iou(k) => {
                let found = answer.found(k);
                found / (answer.returned(k) + answer.total as f64 - found)
            }
            Measure::Ndcg(k) => answer.ndcg(k),
            Measure::Intact => answer.intact(),
        })
        .collect()
}

/// `passages` in order, those that touch or overlap as one.
fn merged(passages: &[Passage]) -> Vec<Passage> {
    let mut ordered: Vec<Passage> = passages.iter().copied().filter(|passage| !passage.is_empty()).collect();
    ordered.sort_unstable();
    let mut merged: Vec<Passage> = Vec::with_capacity(ordered.len());
    for passage in ordered {
        match merged.last_mut() {
            Some(last) if last.document == passage.document && passage.start <= last.end => {
                last.end = last.end.max(passage.end);
            }
            _ => merged.push(passage),
        }
    }
    merged
}

struct Answer<'a> {
    gold: Vec<Passage>,
    /// Characters of the gold.
    total: usize,
    chunks: &'a Chunks,
    ranking: &'a [usize],
}

impl Answer<'_> {
    /// Gold characters inside `place`.
    fn gold_in(&self, place: Passage) -> usize {
        self.gold.iter().map(|gold| gold.overlap(place)).sum()
    }

    /// Gold characters inside any of `places`, each counted once.
    fn gold_in_any(&self, places: impl Iterator<Item = Passage>) -> usize {
        merged(&places.collect::<Vec<_>>()).into_iter().map(|place| self.gold_in(place)).sum()
    }

    fn first(&self, k: usize) -> impl Iterator<Item = Passage> + '_ {
        self.ranking.iter().take(k).map(|&chunk| self.chunks.places[chunk])
    }

    fn found(&self, k: usize) -> f64 {
        self.gold_in_any(self.first(k)) as f64
    }

    fn returned(&self, k: usize) -> f64 {
        self.first(k).map(Passage::len).sum::<usize>() as f64
    }

    fn within(&self, budget: usize, fits: &dyn Fn(usize, usize) -> usize) -> f64 {
        let (mut left, mut read) = (budget, Vec::new());
        for &chunk in self.ranking {
            let place = self.chunks.places[chunk];
            let tokens = self.chunks.tokens[chunk];
            if tokens > left {
                // Without gold, cutting gains nothing.
                if self.gold_in(place) > 0 {
                    let end = (place.start + fits(chunk, left)).min(place.end);
                    read.push(Passage { end, ..place });
                }
                break;
            }
            left -= tokens;
            read.push(place);
        }
        self.gold_in_any(read.into_iter()) as f64 / self.total as f64
    }

    fn ndcg(&self, k: usize) -> f64 {
        let gain = |gains: &mut dyn Iterator<Item = f64>| {
            gains.enumerate().map(|(rank, gain)| gain / (rank as f64 + 2.0).log2()).sum::<f64>()
        };
        let mut touched: Vec<usize> = self.gold.iter().flat_map(|&gold| self.chunks.touching(gold)).collect();
        touched.sort_unstable();
        touched.dedup();
        let share = |place: Passage| self.gold_in(place) as f64 / self.total as f64;
        let mut best: Vec<f64> = touched.into_iter().map(|chunk| share(self.chunks.places[chunk])).collect();
        best.sort_unstable_by(|a, b| b.total_cmp(a));
        let ideal = gain(&mut best.into_iter().take(k));
        if ideal > 0.0 { gain(&mut self.first(k).map(share)) / ideal } else { 0.0 }
    }

    fn intact(&self) -> f64 {
        let is_whole = |gold: &&Passage| {
            self.chunks.touching(**gold).any(|chunk| self.chunks.places[chunk].holds(**gold))
        };
        self.gold.iter().filter(is_whole).count() as f64 / self.gold.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks of 10 characters and 10 tokens each, over two documents of 100 characters; `expected` holds
    /// R@15, recall@2, precision@2, IoU@2, nDCG@2 and intact.
    #[track_caller]
    fn check(gold: &[(usize, usize, usize)], ranking: &[usize], expected: [f64; 6]) {
        let place = |document, start, end| Passage { document, start, end };
        let places: Vec<Passage> =
            (0..20).map(|at| place(at / 10, at % 10 * 10, at % 10 * 10 + 10)).collect();
        let chunks = Chunks { tokens: vec![10; places.len()], places };
        let gold: Vec<Passage> =
            gold.iter().map(|&(document, start, end)| place(document, start, end)).collect();
        let measures = [
            Measure::Budget(15),
            Measure::Recall(2),
            Measure::Precision(2),
            Measure::Iou(2),
            Measure::Ndcg(2),
            Measure::Intact,
        ];
        let found = figures(&measures, &gold, &chunks, ranking, &|_, tokens| tokens);
        for ((found, expected), measure) in found.iter().zip(expected).zip(measures) {
            assert!((found - expected).abs() < 1e-4, "{measure} is {found}, not {expected}");
        }
    }

    #[test]
    fn what_overlapping_chunks_share_is_found_once() {
        let place = |start, end| Passage { document: 0, start, end };
        // The second holds the third; the gold is in all of them.
        let places = vec![place(0, 20), place(10, 40), place(15, 30), place(50, 60)];
        let chunks = Chunks { tokens: vec![10; places.len()], places };
        let gold = [place(15, 20), place(18, 25)];
        let measures = [
            Measure::Budget(1000),
            Measure::Recall(3),
            Measure::Precision(3),
            Measure::Ndcg(3),
            Measure::Intact,
        ];
        let found = figures(&measures, &gold, &chunks, &[1, 2, 0, 3], &|_, tokens| tokens);
        assert_eq!(found, [1.0, 1.0, 10.0 / 65.0, 1.0, 1.0]);
        assert_eq!(chunks.touching(place(35, 55)).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn gold_in_the_first_chunk_is_found_whole() {
        check(&[(0, 2, 8)], &[0, 5], [1.0, 1.0, 0.3, 0.3, 1.0, 1.0]);
    }

    #[test]
    fn a_budget_cuts_the_last_chunk() {
        // 6 of its 10 characters are gold, 3 of those in its first 5 tokens.
        check(&[(0, 2, 8)], &[5, 0], [0.5, 1.0, 0.3, 0.3, 0.6309, 1.0]);
    }

    #[test]
    fn gold_cut_in_two_is_not_intact_and_needs_both_chunks() {
        // 2 of 8 in the first chunk and 5 more in the first 5 tokens of the second. Gains 0.25 and 0.75; the
        // best order gives 0.75 + 0.25 / log2(3).
        check(&[(0, 8, 16)], &[0, 1], [0.875, 1.0, 0.4, 0.4, 0.7967, 0.0]);
    }

    #[test]
    fn overlapping_golds_count_once() {
        check(&[(0, 0, 6), (0, 3, 10)], &[0, 1], [1.0, 1.0, 0.5, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn golds_in_two_documents_are_one_answer() {
        check(&[(0, 0, 5), (1, 0, 5)], &[10, 3], [0.5, 0.5, 0.25, 0.2, 0.6131, 1.0]);
    }

    #[test]
    fn nothing_found_is_zero_and_nothing_asked_is_no_panic() {
        check(&[(0, 0, 5)], &[], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        check(&[(0, 0, 5)], &[7], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        check(&[], &[1, 2], [0.0; 6]);
        check(&[(0, 5, 5)], &[0], [0.0; 6]);
    }

    #[test]
    fn gold_outside_every_chunk_is_never_found() {
        check(&[(2, 0, 5)], &[0, 1], [0.0; 6]);
    }
}
