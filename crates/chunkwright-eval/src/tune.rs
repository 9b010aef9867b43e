//! Picks the preset and size that serve a corpus best.
//!
//! Many candidates are measured on the same questions, and the best of many looks better than it is. So
//! the interval of each difference is widened for their number (Bonferroni): with a probability of 95 %
//! all intervals hold together. A candidate is proposed only if its interval leaves out 0.

use chunkwright::{Chunker, Document, Unit};

use crate::bootstrap::{Interval, RESAMPLES, Rng};
use crate::corpus::{Corpus, Passage};
use crate::edit::Edit;
use crate::measure::Measure;
use crate::question::Question;
use crate::retrieval::{Bench, EvalError};
use crate::size::Sizes;
use crate::stability;

/// The measure by which candidates are ranked.
pub const MEASURE: Measure = Measure::Budget(1000);

/// Number of edits that the stability of a candidate is measured by.
pub const EDITS: usize = 60;

/// Limits that the best preset and the first are tried at, in tokens.
const SIZES: [usize; 6] = [128, 192, 256, 320, 384, 512];

/// A way of cutting, measured.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The preset.
    pub preset: String,
    /// Its limit, in `unit`.
    pub max_size: usize,
    /// The unit of sizes.
    pub unit: Unit,
    /// Whether the size is the preset's own.
    pub own_size: bool,
    /// The sizes of its chunks.
    pub sizes: Sizes,
    /// The figure of each question.
    pub figures: Vec<f64>,
    /// Chunks changed by an edit of one line, on average.
    pub changed: f64,
}

/// Most ways of cutting that [`candidates`] tries.
pub fn most_candidates(presets: usize, sizes: usize) -> usize {
    presets * (1 + sizes) + 2 * SIZES.len()
}

impl Candidate {
    /// Measures one way of cutting.
    ///
    /// # Errors
    ///
    /// A search or an embedder that fails.
    pub fn measure(
        bench: &Bench<'_>,
        chunker: Chunker,
        preset: &str,
        own_size: bool,
        edits: &[Edit],
    ) -> Result<Self, EvalError> {
        let chunkers = [chunker];
        let retrieved = bench.run(&chunkers)?;
        let stability = bench.on_threads(|| stability::stability(&chunkers, edits));
        let config = chunkers[0].config();
        Ok(Self {
            preset: preset.to_owned(),
            max_size: config.max_size,
            unit: config.unit,
            own_size,
            sizes: retrieved.sizes,
            figures: retrieved.figures.iter().flatten().flatten().copied().collect(),
            changed: stability.first().map_or(0.0, |it| it.changed.mean),
        })
    }
}

/// Measures every preset at its own size and at `sizes`; without those, the best preset and the first are tried at
/// others. `measure` measures a preset at a size, or at its own.
///
/// # Errors
///
/// Those of `measure`.
pub fn candidates<E>(
    presets: &[String],
    sizes: &[usize],
    mut measure: impl FnMut(&str, Option<usize>) -> Result<Candidate, E>,
) -> Result<Vec<Candidate>, E> {
    let mut candidates = Vec::new();
    for preset in presets {
        candidates.push(measure(preset, None)?);
        for &size in sizes {
            candidates.push(measure(preset, Some(size))?);
        }
    }
    let sum = |candidate: &Candidate| candidate.figures.iter().sum::<f64>();
    let best = candidates.iter().max_by(|a, b| sum(a).total_cmp(&sum(b)));
    if let (true, Some(best), Some(first)) = (sizes.is_empty(), best, candidates.first()) {
        // The best of many is partly luck, so the first is tried at other sizes as well.
        let mut others = vec![(best.preset.clone(), best.max_size, best.unit)];
        if first.preset != best.preset {
            others.push((first.preset.clone(), first.max_size, first.unit));
        }
        for (preset, own, unit) in others {
            let per_token = if unit == Unit::Chars { 4 } else { 1 };
            for size in SIZES.map(|size| size * per_token).into_iter().filter(|size| *size != own) {
                candidates.push(measure(&preset, Some(size))?);
            }
        }
    }
    // A size may be the preset's own.
    let mut seen: Vec<(String, usize)> = Vec::new();
    candidates.retain(|it| {
        let key = (it.preset.clone(), it.max_size);
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
    Ok(candidates)
}

/// Samples the documents that answer `questions`, and others drawn by `seed` up to `max_bytes`; answers and exclusions
/// are updated to point into the sample.
pub fn sampled(corpus: &Corpus, questions: &mut [Question], max_bytes: usize, seed: u64) -> Corpus {
    let all = corpus.documents();
    let needed = |at: usize| {
        let mut gold = questions.iter().flat_map(|question| &question.gold);
        gold.any(|passage| passage.document == at)
    };
    let mut taken: Vec<bool> = (0..all.len()).map(needed).collect();
    let mut bytes: usize =
        all.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(it, _)| it.source().len()).sum();
    let mut rng = Rng::new(seed);
    let mut rest: Vec<usize> = (0..all.len()).filter(|&at| !taken[at]).collect();
    while !rest.is_empty() {
        let at = rest.swap_remove(rng.below(rest.len()));
        let len = all[at].source().len();
        // One document is measured however large it is.
        if bytes == 0 || bytes + len <= max_bytes {
            bytes += len;
            taken[at] = true;
        }
    }
    let kept: Vec<Document> =
        all.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(document, _)| document.clone()).collect();
    let sample = Corpus::new(kept);
    let moved = |passage: &Passage| {
        let document = sample.find(all[passage.document].id())?;
        Some(Passage { document, ..*passage })
    };
    for question in questions {
        question.gold = question.gold.iter().filter_map(moved).collect();
        question.exclude = question.exclude.iter().filter_map(moved).collect();
    }
    sample
}

/// The value of a candidate compared with the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Position among the candidates.
    pub candidate: usize,
    /// Its own mean, with a 95 % interval.
    pub value: Interval,
    /// The difference to the first candidate, question by question; the interval holds for all candidates
    /// together.
    pub difference: Interval,
    /// Whether it is the best or within noise of it, question by question: which of those comes first is chance.
    pub tied: bool,
}

/// Ranks candidates by their figures on the same questions; the others are compared with the first candidate. Best
/// first, equal ones in their order.
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
                tied: false,
            }
        })
        .collect();
    ranked.sort_by(|a, b| b.value.mean.total_cmp(&a.value.mean));
    let best = ranked.first().map_or(&[][..], |best| candidates[best.candidate].as_slice());
    for it in &mut ranked {
        let differences: Vec<f64> = candidates[it.candidate].iter().zip(best).map(|(a, b)| a - b).collect();
        it.tied = !Interval::with_resamples(&differences, level, seed, resamples).leaves_out_zero();
    }
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
        assert_eq!(
            ranking.iter().map(|it| (it.candidate, it.tied)).collect::<Vec<_>>(),
            [(2, true), (1, true), (0, false)]
        );
        assert_eq!(proposal(&ranked(&[first.clone(), noisy], 0)), 0);
        assert_eq!(proposal(&ranked(&[first], 0)), 0);
        assert_eq!(proposal(&ranked(&[], 0)), 0);
    }
}
