//! Self-attention of one text: each token's mean of all tokens' values, weighted by how well its query fits their keys.

#[cfg(target_arch = "x86_64")]
mod x86;

use multiversion::multiversion;

use super::math::exponentials;
use crate::e5_file::WIDTH;

/// Queries that share what is read of keys and values.
const QUERIES: usize = 4;

/// Tokens whose keys and values are read together, as many as a vector has numbers: so products with keys and with values
/// are of one shape.
const GROUP: usize = WIDTH;

/// The score of a token that is not there: its weight is too small to change a sum.
const ABSENT: f32 = -1e30;

/// A matrix of one group, or of the same shape.
type Square = [[f32; WIDTH]; GROUP];

/// The keys and values of one head, packed in the order in which they are read, and what a few queries make of them.
#[derive(Default)]
pub(super) struct Heads {
    /// For each group, the first numbers of its keys, the second, and so on.
    keys: Vec<Square>,
    /// For each group, its values.
    values: Vec<Square>,
    /// Scores of each query, which become weights.
    weights: [Vec<f32>; QUERIES],
}

impl Heads {
    /// Sets `out`, a row of `hidden` numbers for each token, by the queries, keys and values of all heads in `all`.
    pub(super) fn attend(&mut self, all: &[f32], hidden: usize, out: &mut [f32]) {
        let tokens = out.len() / hidden;
        let groups = tokens.div_ceil(GROUP);
        self.keys.resize(groups, [[0.0; WIDTH]; GROUP]);
        self.values.resize(groups, [[0.0; WIDTH]; GROUP]);
        self.weights.iter_mut().for_each(|weights| weights.resize(groups * GROUP, 0.0));
        for first in (0..hidden).step_by(WIDTH) {
            self.pack(all, hidden, first, tokens);
            for token in (0..tokens).step_by(QUERIES) {
                self.attend_few(all, hidden, first, token, out);
            }
        }
    }

    fn pack(&mut self, all: &[f32], hidden: usize, first: usize, tokens: usize) {
        if let Some(last) = self.values.last_mut() {
            last.fill([0.0; WIDTH]);
        }
        for (token, row) in all.chunks_exact(3 * hidden).take(tokens).enumerate() {
            let (group, place) = (token / GROUP, token % GROUP);
            let (key, value) = (&row[hidden + first..][..WIDTH], &row[2 * hidden + first..][..WIDTH]);
            for (keys, &number) in self.keys[group].iter_mut().zip(key) {
                keys[place] = number;
            }
            self.values[group][place].copy_from_slice(value);
        }
    }

    /// The rows of a few tokens from `token` on.
    fn attend_few(&mut self, all: &[f32], hidden: usize, first: usize, token: usize, out: &mut [f32]) {
        let tokens = out.len() / hidden;
        let scale = 1.0 / (WIDTH as f32).sqrt();
        let mut queries = [[0.0; WIDTH]; QUERIES];
        for (query, row) in queries.iter_mut().zip(all.chunks_exact(3 * hidden).skip(token)) {
            query.iter_mut().zip(&row[first..]).for_each(|(query, number)| *query = number * scale);
        }
        score(&queries, &self.keys, &mut self.weights);
        let totals = self.weights.each_mut().map(|weights| {
            weights[tokens..].fill(ABSENT);
            exponentials(weights)
        });
        let sums = mix(&self.weights, &self.values);
        for ((out, sums), total) in out.chunks_exact_mut(hidden).skip(token).zip(sums).zip(totals) {
            out[first..].iter_mut().zip(sums).for_each(|(out, sum)| *out = sum / total);
        }
    }
}

/// Sets the scores of each query by the keys of all groups.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn score(queries: &[[f32; WIDTH]; QUERIES], keys: &[Square], scores: &mut [Vec<f32>; QUERIES]) {
    multiversion::target::match_target! {
        "x86_64+avx512f" => x86::score_512(queries, keys, scores),
        "x86_64+avx2" => x86::score_256(queries, keys, scores),
        _ => score_plain(queries, keys, scores),
    }
}

/// The sums of all values, by the weights of each query.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn mix(weights: &[Vec<f32>; QUERIES], values: &[Square]) -> [[f32; WIDTH]; QUERIES] {
    multiversion::target::match_target! {
        "x86_64+avx512f" => x86::mix_512(weights, values),
        "x86_64+avx2" => x86::mix_256(weights, values),
        _ => mix_plain(weights, values),
    }
}

/// The loops over groups around a function that adds to the sums of each query the rows times its factors.
macro_rules! loops {
    ($score:ident, $mix:ident, $add_products:ident $(, $features:literal)?) => {
        $(#[target_feature(enable = $features)])?
        pub(super) fn $score(
            queries: &[[f32; WIDTH]; QUERIES],
            keys: &[Square],
            scores: &mut [Vec<f32>; QUERIES],
        ) {
            for (group, keys) in keys.iter().enumerate() {
                let mut sums = [[0.0; WIDTH]; QUERIES];
                $add_products(&mut sums, queries, keys);
                for (scores, sums) in scores.iter_mut().zip(&sums) {
                    scores[group * GROUP..][..GROUP].copy_from_slice(sums);
                }
            }
        }

        $(#[target_feature(enable = $features)])?
        pub(super) fn $mix(
            weights: &[Vec<f32>; QUERIES],
            values: &[Square],
        ) -> [[f32; WIDTH]; QUERIES] {
            let mut sums = [[0.0; WIDTH]; QUERIES];
            for (group, values) in values.iter().enumerate() {
                let mut factors = [[0.0; WIDTH]; QUERIES];
                for (factors, weights) in factors.iter_mut().zip(weights) {
                    factors.copy_from_slice(&weights[group * GROUP..][..GROUP]);
                }
                $add_products(&mut sums, &factors, values);
            }
            sums
        }
    };
}
use loops;

loops!(score_plain, mix_plain, add_products);

fn add_products(sums: &mut [[f32; WIDTH]; QUERIES], factors: &[[f32; GROUP]; QUERIES], rows: &Square) {
    for (sums, factors) in sums.iter_mut().zip(factors) {
        for (row, factor) in rows.iter().zip(factors) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += factor * x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_gives_the_same_bits() {
        let mut seed = 5_u32;
        let mut square = |_| {
            [[0.0_f32; WIDTH]; GROUP].map(|row| {
                row.map(|_| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (seed >> 8) as f32 / (1 << 22) as f32 - 2.0
                })
            })
        };
        let rows: Vec<Square> = (0..4).map(&mut square).collect();
        let queries: [[f32; WIDTH]; QUERIES] = std::array::from_fn(|query| rows[3][query]);
        let scores = || [(); QUERIES].map(|()| vec![0.0; 3 * GROUP]);
        let (mut plain, mut found) = (scores(), scores());
        score_plain(&queries, &rows[..3], &mut plain);
        score(&queries, &rows[..3], &mut found);
        assert_eq!(found, plain);
        assert_eq!(mix(&plain, &rows[..3]), mix_plain(&plain, &rows[..3]));
        #[cfg(target_arch = "x86_64")]
        {
            let mut narrow = scores();
            assert_eq!(without_avx512(&queries, &rows[..3], &mut narrow), mix_plain(&plain, &rows[..3]));
            assert_eq!(narrow, plain);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[multiversion(targets("x86_64+avx2"))]
    fn without_avx512(
        queries: &[[f32; WIDTH]; QUERIES],
        rows: &[Square],
        scores: &mut [Vec<f32>; QUERIES],
    ) -> [[f32; WIDTH]; QUERIES] {
        multiversion::target::match_target! {
            "x86_64+avx2" => {
                x86::score_256(queries, rows, scores);
                x86::mix_256(scores, rows)
            }
            _ => {
                score_plain(queries, rows, scores);
                mix_plain(scores, rows)
            }
        }
    }

    #[test]
    fn attention_is_the_mean_of_values_by_the_exponentials_of_products() {
        let (hidden, most) = (2 * WIDTH, 37);
        let mut seed = 3_u32;
        let mut next = |_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(seed >> 8) / f64::from(1 << 22) - 2.0
        };
        let numbers: Vec<f64> = (0..3 * hidden * most).map(&mut next).collect();
        let mut heads = Heads::default();
        for tokens in (1..=most).rev() {
            let all: Vec<f32> = numbers[..3 * hidden * tokens].iter().map(|&x| x as f32).collect();
            let mut out = vec![9.0; hidden * tokens];
            heads.attend(&all, hidden, &mut out);
            for (token, first) in (0..tokens).flat_map(|token| [(token, 0), (token, WIDTH)]) {
                let part = |token: usize, which: usize| {
                    &numbers[3 * hidden * token + which * hidden + first..][..WIDTH]
                };
                let fit = |other: usize| {
                    let product: f64 = part(token, 0).iter().zip(part(other, 1)).map(|(a, b)| a * b).sum();
                    (product / (WIDTH as f64).sqrt()).exp()
                };
                let total: f64 = (0..tokens).map(fit).sum();
                for at in 0..WIDTH {
                    let expected: f64 = (0..tokens).map(|other| fit(other) * part(other, 2)[at]).sum();
                    let found = f64::from(out[hidden * token + first + at]);
                    assert!((found - expected / total).abs() < 1e-5, "{token} of {tokens}: {found}");
                }
            }
        }
    }
}
