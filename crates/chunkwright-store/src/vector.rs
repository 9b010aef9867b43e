//! The vectors of one text, as stores keep them: a dense vector, and from models that give them a sparse one and the codes
//! of its tokens beside it.
//!
//! They are kept as one value. A dense vector paired with the sparse one of another text would be found by words
//! that the text does not have, and no check could detect it, since any numbers are a vector.

use chunkwright_models::late::{Tokens, are_codes};
use chunkwright_models::{Embedding, MAX_WEIGHTS, is_sparse_vector};

use crate::bm25::{put, take};
use crate::error::StoreError;
use crate::generation::{Generation, Model};

/// The vectors of one text by one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// The dense vector.
    pub dense: Vec<f32>,
    /// Weights of tokens by ascending token, all above zero; `None` from models that give dense vectors only.
    pub sparse: Option<Vec<(u32, f32)>>,
    /// The codes of its tokens ([`are_codes`]); `None` from models that give none, and where a text was embedded without.
    pub codes: Option<Vec<u8>>,
}

impl From<Vec<f32>> for Vector {
    fn from(dense: Vec<f32>) -> Self {
        Self { dense, sparse: None, codes: None }
    }
}

impl From<Embedding> for Vector {
    fn from(embedding: Embedding) -> Self {
        let codes = embedding.tokens.and_then(Tokens::into_codes);
        Self { dense: embedding.vector, sparse: embedding.sparse, codes }
    }
}

impl Vector {
    /// Checks the vector before it is stored as one of `model`.
    ///
    /// # Errors
    ///
    /// A vector that does not fit the model.
    pub fn check(&self, model: &Model) -> Result<(), StoreError> {
        check_vector(&self.dense, model.dimension)?;
        if self.sparse.is_some() != model.sparse {
            return Err(StoreError::OtherVectors {
                model: model.name.clone(),
                stored: kinds(model.sparse),
                given: kinds(self.sparse.is_some()),
            });
        }
        self.sparse.as_deref().map_or(Ok(()), check_sparse)?;
        if self.codes.as_deref().is_none_or(are_codes) { Ok(()) } else { Err(StoreError::BadCodes) }
    }

    /// The model of `name` that gives such vectors.
    pub(super) fn model(&self, name: &str) -> Model {
        Model { name: name.into(), dimension: self.dense.len(), sparse: self.sparse.is_some() }
    }

    /// Bytes of its numbers as they are stored.
    pub(super) fn bytes(&self) -> u64 {
        let sparse = self.sparse.as_deref().map_or(0, |sparse| encode(sparse).len());
        (4 * self.dense.len() + sparse) as u64
    }
}

/// Checks that `given` agrees with the stored model of the same name.
///
/// # Errors
///
/// A model of another dimension, or with sparse vectors where none are stored, or the reverse.
pub fn check_model(stored: &Model, given: &Model) -> Result<(), StoreError> {
    let model = given.name.clone();
    if stored.dimension != given.dimension {
        let (stored, given) = (stored.dimension, given.dimension);
        return Err(StoreError::OtherDimension { model, stored, given });
    }
    if stored.sparse != given.sparse {
        let (stored, given) = (kinds(stored.sparse), kinds(given.sparse));
        return Err(StoreError::OtherVectors { model, stored, given });
    }
    Ok(())
}

/// Describes the vectors that a model gives, for messages.
fn kinds(sparse: bool) -> &'static str {
    if sparse { "dense and sparse vectors" } else { "dense vectors only" }
}

/// Checks a vector before it is stored or compared.
///
/// # Errors
///
/// A vector of another length, or with numbers that are not finite.
pub fn check_vector(vector: &[f32], dimension: usize) -> Result<(), StoreError> {
    let problem = if vector.len() != dimension {
        "has another length"
    } else if !vector.iter().all(|value| value.is_finite()) {
        "has a number that is not finite"
    } else if vector.iter().all(|&value| value == 0.0) {
        "is all 0"
    } else {
        return Ok(());
    };
    Err(StoreError::BadVector { problem, dimension })
}

/// A query's vector, checked, for a generation that has vectors.
pub(super) fn of_query<'q>(
    generation: &Generation,
    query: Option<&'q [f32]>,
) -> Result<Option<&'q [f32]>, StoreError> {
    let Some((query, model)) = query.zip(generation.spec.model.as_ref()) else { return Ok(None) };
    check_vector(query, model.dimension)?;
    Ok(Some(query))
}

/// Checks a sparse vector before it is stored or compared.
///
/// # Errors
///
/// Weights that are not finite numbers above 0, or tokens out of order.
pub fn check_sparse(weights: &[(u32, f32)]) -> Result<(), StoreError> {
    if is_sparse_vector(weights) { Ok(()) } else { Err(StoreError::BadSparseVector { most: MAX_WEIGHTS }) }
}

/// Encodes a sparse vector compactly: deltas of tokens as variable-length numbers, each followed by its weight.
pub fn encode(weights: &[(u32, f32)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(6 * weights.len());
    let mut before = 0;
    for &(token, weight) in weights {
        put(&mut bytes, u64::from(token - before));
        bytes.extend(weight.to_le_bytes());
        before = token;
    }
    bytes
}

/// Reads what [`encode`] wrote; `None` if it is malformed.
pub fn decode(mut bytes: &[u8]) -> Option<Vec<(u32, f32)>> {
    let mut weights: Vec<(u32, f32)> = Vec::with_capacity(bytes.len() / 5);
    let mut token: u32 = 0;
    while !bytes.is_empty() {
        token = token.checked_add(u32::try_from(take(&mut bytes)?).ok()?)?;
        let (weight, rest) = bytes.split_first_chunk()?;
        weights.push((token, f32::from_le_bytes(*weight)));
        bytes = rest;
    }
    is_sparse_vector(&weights).then_some(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_come_back_from_their_compact_form() {
        for weights in [
            vec![],
            vec![(0, 1.0)],
            vec![(3, 0.25), (250_001, f32::MIN_POSITIVE)],
            vec![(u32::MAX - 1, 1e30), (u32::MAX, 2.0)],
        ] {
            assert_eq!(decode(&encode(&weights)), Some(weights));
        }
        for bytes in [&[0][..], &[0x80], &[0xFF; 9], &[1, 0, 0, 0, 0], &encode(&[(1, 1.0)])[..4]] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }
}
