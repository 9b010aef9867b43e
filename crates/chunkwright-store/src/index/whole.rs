//! All vectors of an index in memory, where they are on disk too and there is room for them.
//!
//! Comparing a vector in an array takes a third of the time of finding it in a cache. So once searches have read a share
//! of the vectors, all of them are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::bits::Bits;
use super::disk::{Claim, Disk, DiskVector};
use crate::error::StoreError;

/// All are read once a share of one in so many was.
const SHARE: usize = 8;

/// The vectors of an index's rows, or none yet.
#[derive(Debug, Default)]
pub(super) struct Whole {
    vectors: Mutex<Arc<Vectors>>,
    /// Number of vectors that were read one by one since.
    read: AtomicUsize,
}

/// Vectors of the first rows.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    numbers: Vec<f32>,
    dimension: usize,
    /// Rows whose vector could be read.
    has: Bits,
    _claim: Option<Claim>,
}

impl Vectors {
    /// The vector of a row, if it is here.
    pub(super) fn get(&self, row: usize) -> Option<&[f32]> {
        (row < self.has.len() && self.has.has(row))
            .then(|| &self.numbers[row * self.dimension..][..self.dimension])
    }
}

impl Whole {
    pub(super) fn vectors(&self) -> Arc<Vectors> {
        Arc::clone(&self.vectors.lock())
    }

    /// Drops all vectors: rows have other numbers now.
    pub(super) fn clear(&self) {
        *self.vectors.lock() = Arc::default();
        self.read.store(0, Ordering::Relaxed);
    }

    /// Counts vectors that were read one by one. When they are many, reads the vectors with these keys, if there is room.
    pub(super) fn count(
        &self,
        read: usize,
        (keys, dimension): (&[i64], usize),
        disk: &dyn Disk,
    ) -> Result<(), StoreError> {
        let enough = keys.len() / SHARE;
        let before = self.read.fetch_add(read, Ordering::Relaxed);
        // One of the threads that search at once is the one that passes the mark.
        if before > enough || before + read <= enough {
            return Ok(());
        }
        let Some(claim) = disk.claim((keys.len() * dimension * size_of::<f32>()) as u64) else {
            return Ok(());
        };
        let mut numbers = vec![0.0; keys.len() * dimension];
        let mut rows: Vec<usize> = (0..keys.len()).filter(|row| keys[*row] != 0).collect();
        rows.sort_unstable_by_key(|row| keys[*row]);
        let wanted: Vec<_> = rows.iter().map(|row| DiskVector { key: keys[*row], version: 0 }).collect();
        let mut has = Vec::with_capacity(rows.len());
        disk.all_vectors(&wanted, &mut |at, vector| {
            if vector.len() == dimension {
                numbers[rows[at] * dimension..][..dimension].copy_from_slice(vector);
                has.push(rows[at]);
            }
        })?;
        let has = Bits::of(has, keys.len());
        *self.vectors.lock() = Arc::new(Vectors { numbers, dimension, has, _claim: Some(claim) });
        self.read.store(0, Ordering::Relaxed);
        Ok(())
    }
}
