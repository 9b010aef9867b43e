//! Sparse vectors: a weight for each of a few tokens of a model's vocabulary (SPLADE, the lexical weights of
//! BGE-M3). They are compared by dot product, as dense ones are.
//!
//! Services give them as lists that may hold anything. Stored ones have a single form, so that equal vectors are equal
//! bytes and two of them are multiplied in one pass.

use serde_json::Value;

use crate::service::{Malformed, number};

/// Most tokens of one vector. A chunk has a few hundred; this is more than the whole vocabulary of BERT, over
/// which SPLADE spreads a text, and more than BGE-M3 reads of one.
pub const MAX_WEIGHTS: usize = 32_768;

/// Whether `weights` are a sparse vector: by ascending token, each weight finite and above zero, at most
/// [`MAX_WEIGHTS`]. An empty one is valid.
pub fn is_sparse_vector(weights: &[(u32, f32)]) -> bool {
    weights.len() <= MAX_WEIGHTS
        && weights.iter().all(|(_, weight)| weight.is_finite() && *weight > 0.0)
        && weights.is_sorted_by(|a, b| a.0 < b.0)
}

/// The dot product of two sparse vectors.
pub fn sparse_dot(a: &[(u32, f32)], b: &[(u32, f32)]) -> f32 {
    let (mut sum, mut b) = (0.0, b.iter().peekable());
    for &(token, weight) in a {
        while b.next_if(|(other, _)| *other < token).is_some() {}
        if let Some((_, other)) = b.next_if(|(other, _)| *other == token) {
            sum += weight * other;
        }
    }
    sum
}

/// The sparse vector in `entries`, each with a token in the field `token` and its weight in the field `weight`: sorted,
/// without zeros. Anything else that is not a sparse vector is rejected.
pub(super) fn sparse_vector(
    entries: &Value,
    token: &'static str,
    weight: &'static str,
) -> Result<Vec<(u32, f32)>, Malformed> {
    let entries = entries.as_array().ok_or(Malformed::Field("vector"))?;
    let mut weights = Vec::with_capacity(entries.len());
    for entry in entries {
        let id = entry.get(token).and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
        let given = number(entry.get(weight).ok_or(Malformed::Field(weight))?)?;
        if given < 0.0 {
            return Err(Malformed::NegativeWeight);
        }
        weights.push((id.ok_or(Malformed::Field(token))?, given));
    }
    weights.retain(|(_, weight)| *weight > 0.0);
    weights.sort_unstable_by_key(|(id, _)| *id);
    match weights.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(Malformed::TokenTwice { token: pair[0].0 }),
        None => bounded(weights),
    }
}

/// Refuses more weights than a vector has.
pub(super) fn bounded(weights: Vec<(u32, f32)>) -> Result<Vec<(u32, f32)>, Malformed> {
    let found = weights.len();
    if found <= MAX_WEIGHTS { Ok(weights) } else { Err(Malformed::TooManyWeights { found }) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_one_form_is_a_sparse_vector() {
        let many: Vec<(u32, f32)> = (0..=MAX_WEIGHTS as u32).map(|token| (token, 1.0)).collect();
        for (weights, expected) in [
            (&[][..], true),
            (&[(0, 0.5), (7, 1e-9), (u32::MAX, 3.0)], true),
            (&many[1..], true),
            (&many, false),
            (&[(7, 1.0), (0, 1.0)], false),
            (&[(7, 1.0), (7, 2.0)], false),
            (&[(7, 0.0)], false),
            (&[(7, -1.0)], false),
            (&[(7, f32::NAN)], false),
            (&[(7, f32::INFINITY)], false),
        ] {
            assert_eq!(is_sparse_vector(weights), expected, "{:?}", weights.first());
        }
    }

    #[test]
    fn what_a_service_gives_is_put_in_order_or_refused() {
        let read = |entries: Value| sparse_vector(&entries, "index", "value");
        let entry = |index: i64, value: f64| json!({"index": index, "value": value});
        assert_eq!(read(json!([entry(9, 0.5), entry(2, 1.5), entry(4, 0.0)])), Ok(vec![(2, 1.5), (9, 0.5)]));
        assert_eq!(read(json!([])), Ok(vec![]));
        assert_eq!(read(json!([entry(1, -0.5)])), Err(Malformed::NegativeWeight));
        assert_eq!(read(json!([entry(1, 1.0), entry(1, 2.0)])), Err(Malformed::TokenTwice { token: 1 }));
        assert_eq!(read(json!([entry(1, 1e300)])), Err(Malformed::NotFinite));
        let found = MAX_WEIGHTS + 1;
        let many: Vec<Value> = (0..found).map(|token| json!({"index": token, "value": 1})).collect();
        assert_eq!(read(json!(many)), Err(Malformed::TooManyWeights { found }));
    }

    #[test]
    fn a_product_is_of_the_tokens_that_both_have() {
        let (a, b) = ([(1, 2.0), (3, 1.0), (9, 4.0)], [(0, 9.0), (3, 0.5), (8, 1.0), (9, 2.0)]);
        assert_eq!((sparse_dot(&a, &b), sparse_dot(&b, &a), sparse_dot(&a, &[])), (8.5, 8.5, 0.0));
    }
}
