//! Bootstrap confidence intervals for a mean of few questions.
//!
//! Questions are drawn again, with replacement, many times; the spread of the means is the interval.
//! Differences are drawn by question: two ways of cutting that do well on the same questions differ by
//! less than their intervals suggest.

use serde::{Deserialize, Serialize};

/// Number of resamples of the questions.
pub const RESAMPLES: usize = 2000;

/// A mean and the interval in which it lies with the probability asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Arithmetic mean; 0 for no values.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// The interval that holds the mean of `values` with a probability of `level` (0.95), from [`RESAMPLES`] samples
    /// drawn by `seed`. Equal input has equal output on every machine.
    pub fn of(values: &[f64], level: f64, seed: u64) -> Self {
        Self::with_resamples(values, level, seed, RESAMPLES)
    }

    /// As [`of`](Self::of), from so many samples: the further out a level lies, the more it takes.
    pub fn with_resamples(values: &[f64], level: f64, seed: u64, resamples: usize) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let mut rng = Rng::new(seed);
        let count = values.len();
        let draw = |rng: &mut Rng| (0..count).map(|_| values[rng.below(count)]).sum::<f64>() / count as f64;
        let mut means: Vec<f64> = (0..resamples).map(|_| draw(&mut rng)).collect();
        means.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - level) / 2.0;
        Self {
            mean: values.iter().sum::<f64>() / count as f64,
            low: quantile(&means, tail),
            high: quantile(&means, 1.0 - tail),
        }
    }

    /// Whether the interval leaves out 0: for a difference, whether it is beyond noise.
    pub fn leaves_out_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// The quantile at `at` (0 to 1) of ordered values, between neighbours in proportion.
fn quantile(ordered: &[f64], at: f64) -> f64 {
    let Some(last) = ordered.len().checked_sub(1) else { return 0.0 };
    let place = at.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    ordered[below] + (ordered[above] - ordered[below]) * (place - below as f64)
}

/// Numbers that look random and are the same for the same seed, on every machine and in every version:
/// `SplitMix64`, by Steele, Lea and Flood.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The numbers of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        // The high half of a product is even but for one part in 2^64 / end.
        ((u128::from(self.next_u64()) * end as u128) >> 64) as usize
    }

    /// `count` of the numbers below `end`, in order; all of them if there are no more.
    pub fn sample(&mut self, end: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..end).collect();
        let count = count.min(end);
        for at in 0..count {
            let other = at + self.below(end - at);
            all.swap(at, other);
        }
        all.truncate(count);
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_no_spread() {
        let interval = Interval::of(&[0.5; 9], 0.95, 1);
        assert_eq!(interval, Interval { mean: 0.5, low: 0.5, high: 0.5 });
        assert_eq!(Interval::of(&[], 0.95, 1), Interval::default());
    }

    #[test]
    fn an_interval_is_about_two_standard_errors_wide() {
        // 100 coins: standard error 0.05.
        let coins: Vec<f64> = (0..100).map(|at| f64::from(at % 2)).collect();
        let interval = Interval::of(&coins, 0.95, 0);
        assert!((interval.mean - 0.5).abs() < 1e-12);
        assert!(
            (0.37..0.43).contains(&interval.low) && (0.57..0.63).contains(&interval.high),
            "{interval:?}"
        );
        assert_eq!(interval, Interval::of(&coins, 0.95, 0));
        assert!(!interval.low.eq(&Interval::of(&coins, 0.5, 0).low));
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert!((quantile(&[0.0, 1.0, 2.0], 0.25) - 0.5).abs() < 1e-12);
        assert!((quantile(&[3.0], 0.9) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn samples_have_no_doubles_and_follow_the_seed() {
        let sample = Rng::new(7).sample(50, 20);
        assert!(sample.is_sorted_by(|a, b| a < b) && sample.len() == 20);
        assert_eq!(sample, Rng::new(7).sample(50, 20));
        assert_eq!(Rng::new(7).sample(3, 20), [0, 1, 2]);
        // The first number of the published algorithm for seed 0.
        assert_eq!(Rng::new(0).next_u64(), 0xE220_A839_7B1D_CDAF);
    }
}
