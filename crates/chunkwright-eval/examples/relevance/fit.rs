//! A logistic regression.

/// Strength of the regularization of coefficients, with a set's answers weighing as much as what its off-topic
/// questions find: where the classes hardly overlap, every relevance would be 0 or 1 without it.
const RIDGE: f64 = 0.0015;

/// Number of coefficients.
pub(crate) const N: usize = 4;

/// A hit: 1, cosine, coverage and evidence; whether it is an answer; its weight.
pub(crate) type Row = ([f64; N], bool, f64);

/// Intercept and the weights of cosine, coverage and evidence, of a logistic regression, by Newton's method.
pub(crate) fn fit(rows: &[Row]) -> [f64; N] {
    // A cosine has a narrower range in some models than in others: the ridge is on standard deviations.
    let total: f64 = rows.iter().map(|(.., weight)| weight).sum();
    let mean = |at: usize| rows.iter().map(|(x, _, weight)| x[at] * weight).sum::<f64>() / total;
    let means = [0.0, mean(1), mean(2), mean(3)];
    let deviation = |at: usize| {
        let sum: f64 = rows.iter().map(|(x, _, weight)| (x[at] - means[at]).powi(2) * weight).sum();
        (sum / total).sqrt().max(1e-9)
    };
    let scales = [1.0, deviation(1), deviation(2), deviation(3)];
    let mut b = [0.0; N];
    for _ in 0..100 {
        let (mut gradient, mut hessian) = ([0.0; N], [[0.0; N]; N]);
        for (x, is_answer, weight) in rows {
            let z: [f64; N] = std::array::from_fn(|at| (x[at] - means[at]) / scales[at]);
            let p = 1.0 / (1.0 + (-b.iter().zip(z).map(|(b, z)| b * z).sum::<f64>()).exp());
            for i in 0..N {
                gradient[i] += weight * (f64::from(u8::from(*is_answer)) - p) * z[i];
                (0..N).for_each(|j| hessian[i][j] += weight * p * (1.0 - p) * z[i] * z[j]);
            }
        }
        for i in 1..N {
            gradient[i] -= RIDGE * total * b[i];
            hessian[i][i] += RIDGE * total;
        }
        let step = solved(hessian, gradient);
        (0..N).for_each(|i| b[i] += step[i]);
    }
    let mut fitted: [f64; N] = std::array::from_fn(|at| b[at] / scales[at]);
    fitted[0] -= (1..N).map(|at| fitted[at] * means[at]).sum::<f64>();
    fitted
}

/// Solves linear equations whose matrix is positive definite, by elimination.
fn solved(mut matrix: [[f64; N]; N], mut right: [f64; N]) -> [f64; N] {
    for i in 0..N {
        for row in i + 1..N {
            let factor = matrix[row][i] / matrix[i][i];
            (i..N).for_each(|column| matrix[row][column] -= factor * matrix[i][column]);
            right[row] -= factor * right[i];
        }
    }
    for i in (0..N).rev() {
        let known: f64 = (i + 1..N).map(|column| matrix[i][column] * right[column]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    right
}
