//! Values in PostgreSQL's binary form: ids, vectors and sparse vectors.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use chunkwright_store::bm25::TermId;

/// The bytes of a `uuid`, `vector` or `sparsevec`.
#[derive(Clone, Debug)]
pub(super) struct Raw(pub(super) Vec<u8>);

impl Raw {
    /// A `uuid`.
    pub(super) fn id(bytes: [u8; 16]) -> Self {
        Self(bytes.to_vec())
    }

    /// The bytes of a `uuid`.
    pub(super) fn as_id(&self) -> Option<[u8; 16]> {
        self.0.as_slice().try_into().ok()
    }

    /// A `vector`.
    pub(super) fn vector(numbers: &[f32]) -> Self {
        let mut bytes = Vec::with_capacity(4 + 4 * numbers.len());
        bytes.put_u16(numbers.len() as u16);
        bytes.put_u16(0);
        for number in numbers {
            bytes.put_f32(*number);
        }
        Self(bytes)
    }

    /// The numbers of a `vector`.
    pub(super) fn as_vector(&self) -> Vec<f32> {
        let (numbers, _) = self.0.get(4..).unwrap_or_default().as_chunks::<4>();
        numbers.iter().map(|number| f32::from_be_bytes(*number)).collect()
    }

    /// A `sparsevec` of the weights of terms.
    pub(super) fn terms(weights: impl Iterator<Item = (TermId, f32)>) -> Self {
        let mut pairs: Vec<(u32, f32)> =
            weights.map(|(term, weight)| (term % MOST_DIMENSIONS, weight)).collect();
        pairs.sort_unstable_by_key(|(at, _)| *at);
        pairs.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            kept.1 += if is_same { later.1 } else { 0.0 };
            is_same
        });
        if pairs.len() > MOST_WEIGHTS {
            pairs.select_nth_unstable_by(MOST_WEIGHTS, |a, b| b.1.total_cmp(&a.1));
            pairs.truncate(MOST_WEIGHTS);
            pairs.sort_unstable_by_key(|(at, _)| *at);
        }
        let mut bytes = Vec::with_capacity(12 + 8 * pairs.len());
        bytes.put_u32(MOST_DIMENSIONS);
        bytes.put_u32(pairs.len() as u32);
        bytes.put_u32(0);
        for (at, _) in &pairs {
            bytes.put_u32(*at);
        }
        for (_, weight) in &pairs {
            bytes.put_f32(*weight);
        }
        Self(bytes)
    }
}

/// Dimensions of a `sparsevec` at most. Ids of terms go further and are taken modulo it: two terms of a chunk and a
/// query share a place once in a billion.
const MOST_DIMENSIONS: u32 = 1_000_000_000;

/// Weights of a `sparsevec` at most. Of a chunk with more terms, the heaviest count.
const MOST_WEIGHTS: usize = 16_000;

impl ToSql for Raw {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }

    fn accepts(of: &Type) -> bool {
        is_raw(of)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Raw {
    fn from_sql(_: &Type, bytes: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(bytes.to_vec()))
    }

    fn accepts(of: &Type) -> bool {
        is_raw(of)
    }
}

fn is_raw(of: &Type) -> bool {
    ["uuid", "vector", "sparsevec"].contains(&of.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_that_share_a_place_are_added_up() {
        let Raw(bytes) = Raw::terms([(7, 1.0), (MOST_DIMENSIONS + 7, 2.0), (3, 0.5)].into_iter());
        let numbers: Vec<u32> =
            bytes[..20].as_chunks::<4>().0.iter().map(|number| u32::from_be_bytes(*number)).collect();
        assert_eq!(numbers, [MOST_DIMENSIONS, 2, 0, 3, 7]);
        assert_eq!(Raw(bytes[16..].to_vec()).as_vector(), [0.5, 3.0]);
    }

    #[test]
    fn of_more_terms_than_it_takes_a_sparse_vector_has_the_heaviest() {
        let Raw(bytes) = Raw::terms((0..16_002).map(|term| (term, 1.0 + term as f32)));
        assert_eq!(bytes.len(), 12 + 8 * MOST_WEIGHTS);
        assert_eq!(bytes[12..16], 2_u32.to_be_bytes());
    }

    #[test]
    fn a_vector_is_read_as_it_was_written() {
        let numbers = [0.0, -1.5, f32::MIN_POSITIVE];
        assert_eq!(Raw::vector(&numbers).as_vector(), numbers);
        assert_eq!(Raw(Vec::new()).as_vector(), [0.0; 0]);
    }
}
