//! Which preset and size serve a corpus best.
//!
//! Many candidates are measured on the same questions, and the best of many looks better than it is. So
//! the interval of each difference is widened for their number (Bonferroni): with a probability of 95 %
//! all intervals hold together. A candidate is proposed only if its interval leaves out 0.

use crate::bootstrap::{Interval, RESAMPLES};

/// What a candidate is worth beside the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Position among the candidates.
    pub candidate: usize,
    /// Its own mean, with a 95 % interval.
    pub value: Interval,
    /// The difference to the first candidate, question by question; the interval holds for all candidates
    /// together.
    pub difference: Interval,
}

/// Ranks candidates by their figures on the same questions; the first candidate is what the others are
/// compared with. Best first, equal ones in their order.
pub fn ranked(candidates: &[Vec<f64>], seed: u64) -> Vec<Ranked> {
    let others = candidates.len().saturating_sub(1).max(1);
    // As many samples lie outside of each interval as of an ordinary one.
    let resamples = RESAMPLES * others.min(16);
    let level = 1.0 - 0.05 / others as f64;
    let baseline = candidates.first().map_or(&[][..], Vec::as_slice);
    let mut ranked: Vec<Ranked> = candidates
        .iter()
        .enumerate()
        .map(|(candidate, figures)| {
            let differences: Vec<f64> = figures.iter().zip(baseline).map(|(a, b)| a - b).collect();
            Ranked {
                candidate,
                value: Interval::of(figures, 0.95, seed),
                difference: Interval::with_resamples(&differences, level, seed, resamples),
            }
        })
        .collect();
    ranked.sort_by(|a, b| b.value.mean.total_cmp(&a.value.mean));
    ranked
}

/// The candidate to use: the best of those that are better than the first beyond noise, or the first.
pub fn proposal(ranked: &[Ranked]) -> usize {
    let best = ranked.iter().find(|it| it.difference.low > 0.0);
    best.map_or(0, |it| it.candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_better_beyond_noise_is_proposed() {
        let first: Vec<f64> = (0..60).map(|at| f64::from(at % 3) / 2.0).collect();
        let noisy: Vec<f64> =
            first.iter().enumerate().map(|(at, it)| it + if at % 2 == 0 { 0.3 } else { -0.28 }).collect();
        let better: Vec<f64> = first.iter().map(|it| it + 0.02).collect();
        let ranking = ranked(&[first.clone(), noisy.clone(), better], 0);
        assert_eq!(ranking[0].candidate, 2);
        assert_eq!(proposal(&ranking), 2);
        assert_eq!(proposal(&ranked(&[first.clone(), noisy], 0)), 0);
        assert_eq!(proposal(&ranked(&[first], 0)), 0);
        assert_eq!(proposal(&ranked(&[], 0)), 0);
    }
}
